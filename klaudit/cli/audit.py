"""`audit` and `check`: files in, a report out, an exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from klaudit.cli import options
from klaudit.cli.output import make_view, opened, refuse_overwriting
from klaudit.cli.values import Pair
from klaudit.errors import UsageError
from klaudit.formats import FORMATS, needs_every_row, write
from klaudit.verdict import Verdict

if TYPE_CHECKING:
    from klaudit.board import Board
    from klaudit.catalog import Catalog
    from klaudit.cli.progress import ProgressLine
    from klaudit.leaderboard import Leaderboard
    from klaudit.readers import ReadOptions
    from klaudit.report import Audit, Summary
    from klaudit.verdict import Policy

FOUND: Final = 1
NOTHING_JUDGED: Final = 3
# What each --fail-on counts; each includes those before it.
_FAIL_ON: Final[Mapping[str, tuple[Verdict, ...]]] = {
    "impossible": (Verdict.IMPOSSIBLE, Verdict.INCONSISTENT),
    "conditional": (Verdict.IMPOSSIBLE, Verdict.INCONSISTENT, Verdict.CONDITIONAL),
    "unjudged": (Verdict.IMPOSSIBLE, Verdict.INCONSISTENT, Verdict.CONDITIONAL, Verdict.UNJUDGED),
    "never": (),
}


def _options(default_format: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    return options.together(
        click.argument("files", nargs=-1, required=True, metavar="FILE..."),
        options.workload_options,
        click.option("--gpu", metavar="NAME", help="The card, for files without a GPU column."),
        options.policy_options,
        click.option(
            "--column",
            multiple=True,
            type=Pair("FIELD=HEADER"),
            help="Which column is which, such as time=median_us.  [repeatable]",
        ),
        click.option("--input-format", metavar="NAME", help="How the files are written.  [default: by their content]"),
        click.option("--decimal", type=click.Choice([".", ","]), help="The decimal mark of the files."),
        click.option("--trust-columns", is_flag=True, help="Let a row's own counts and dtype differ from the board's."),
        click.option(
            "--format", type=click.Choice(list(FORMATS)), default=default_format, show_default=True,
            help="How the report is written.",
        ),
        options.output,
        click.option(
            "--rows", type=click.Choice(["flagged", "all"]), default="flagged", show_default=True,
            help="Which rows a report for people shows.",
        ),
        click.option(
            "--max-findings", type=click.IntRange(min=0), default=10_000, show_default=True, metavar="N",
            help="Flagged rows listed at most; the others are counted.",
        ),
        click.option(
            "--fail-on", type=click.Choice(list(_FAIL_ON)), default="impossible", show_default=True,
            help="The mildest verdict that makes the exit code 1; impossible includes inconsistent.",
        ),
        click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever is found."),
        options.specs,
    )  # fmt: skip


@click.command()
@_options("table")
def audit(**given: Any) -> int:
    """Judge the submissions of each FILE against the roofline ("-" is standard input)."""
    return _run(given)


@click.command()
@_options("concise")
def check(**given: Any) -> int:
    """Judge each FILE for CI: one line per finding, and an exit code."""
    return _run(given)


def _run(given: Mapping[str, Any]) -> int:
    files: tuple[str, ...] = given["files"]
    if files.count("-") > 1:
        raise UsageError("standard input (-) is named twice. Name it once")
    refuse_overwriting(given["output"], files)
    view = make_view(given["output"], given["rows"])
    found = _judge(files, given, keep_rows=needs_every_row(given["format"], view))
    with opened(given["output"]) as out:
        write(given["format"], found, out, view)
    return exit_code(found.summary, given["fail_on"], given["exit_zero"])


def _judge(files: tuple[str, ...], given: Mapping[str, Any], keep_rows: bool) -> Audit:
    catalog = options.load(given["specs"])
    board = options.find_board(catalog, given["board"])
    policy = options.make_policy(given, catalog)
    read_options = _read_options(given, catalog, board, policy)
    from klaudit.audit import audit as judge
    from klaudit.cli.progress import ProgressLine

    line = ProgressLine(files)
    try:
        return judge(
            _batches(files, read_options, line),
            catalog,
            board,
            policy,
            sources=files,
            keep_rows=keep_rows,
            max_findings=given["max_findings"],
        )
    finally:
        line.close()


def _batches(files: tuple[str, ...], read_options: ReadOptions, line: ProgressLine) -> Iterator[Leaderboard]:
    from klaudit.readers import read

    for file in files:
        line.next_file()
        yield from read(file, replace(read_options, progress=line.update))


def _read_options(given: Mapping[str, Any], catalog: Catalog, board: Board | None, policy: Policy) -> ReadOptions:
    from klaudit.readers import ReadOptions

    columns: dict[str, str] = {}
    for field, header in given["column"]:
        if columns.setdefault(field, header) != header:
            raise UsageError(f"--column names two headers for {field!r}: {columns[field]!r} and {header!r}. Name one")
    name = (board.workload if board else None) or policy.workload
    workload = catalog.workload(name) if name else None
    names = {size: ((workload.size_aliases or {}).get(size, ())) for size in workload.sizes} if workload else {}
    return ReadOptions(
        columns=columns,
        board=board,
        decimal=given["decimal"],
        input_format=given["input_format"],
        size_names=names,
    )


def exit_code(summary: Summary, fail_on: str, exit_zero: bool) -> int:
    """The exit code that counts of verdicts amount to."""
    if not summary.judged:
        return NOTHING_JUDGED
    found = sum(summary.counts[verdict] for verdict in _FAIL_ON[fail_on])
    return FOUND if found and not exit_zero else 0
