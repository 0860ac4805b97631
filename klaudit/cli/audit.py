"""`audit` and `check`: files in, a report out, an exit code."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from klaudit.cli import acceptance, actions, cleaning, options, plots
from klaudit.cli.output import make_view, opened, refuse_overwriting
from klaudit.cli.values import Pair
from klaudit.errors import UsageError
from klaudit.formats import FORMATS, needs_every_row, write
from klaudit.verdict import Verdict

if TYPE_CHECKING:
    from klaudit.audit.standing import Ranking
    from klaudit.baseline import Acceptance
    from klaudit.board import Board
    from klaudit.bounds import Settled
    from klaudit.catalog import Catalog
    from klaudit.cli.progress import ProgressLine
    from klaudit.formats.picture import Picture
    from klaudit.leaderboard import Leaderboard
    from klaudit.readers import ReadOptions
    from klaudit.report import Audit
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
        plots.option,
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
        acceptance.baseline_options,
        click.option(
            "--against", metavar="BOARD.csv",
            help="Also say which rank each row would take there, and how far from the best row within it is.",
        ),
        cleaning.option,
        options.specs,
    )  # fmt: skip


@click.command()
@_options("table")
def audit(**given: Any) -> int:
    """Judge the submissions of each FILE against the roofline ("-" is standard input, a folder its leaderboards)."""
    return _run(given, given["format"])


@click.command()
@_options("concise")
def check(**given: Any) -> int:
    """Judge each FILE for CI: one line per finding, and an exit code.

    "-" is standard input, and a folder stands for the leaderboards in it. On GitHub Actions findings become
    annotations, and the step gets a summary.
    """
    return _run(given, actions.chosen_format(given["format"], given["output"]), in_ci=True)


def _run(given: Mapping[str, Any], style: str, in_ci: bool = False) -> int:
    from klaudit.readers.folder import expand

    summary_file = actions.summary_file() if in_ci else None
    files = expand(given["files"])
    if given["files"].count("-") > 1:
        raise UsageError("standard input (-) is named twice. Name it once")
    _check_targets(given, files)
    pictures = plots.checked(
        given["plot"], (*files, *(given[n] for n in ("output", "against", "baseline", "write_baseline", "write_clean")))
    )
    accept = acceptance.gather(given, FORMATS[style].worst_first or summary_file is not None)
    fails = _FAIL_ON[given["fail_on"]]
    view = make_view(given["output"], given["rows"])._replace(fails=fails, suppressed=given["show_suppressed"])
    keep_rows = needs_every_row(style, view) or bool(pictures)
    # A format that writes every row needs no second copy of the flagged ones.
    most = 0 if FORMATS[style].every_row and summary_file is None else given["max_findings"]
    found = _judge(files, given, accept, keep_rows, most)
    messages = accept.messages(files, given["show_suppressed"])
    found = found._replace(suppressed=found.suppressed._replace(messages=messages))
    # The report comes last: who has it on standard output may take it for the whole result.
    plots.draw(pictures, lambda: _picture(found))
    written = list(_write_others(given, found, accept))
    with opened(given["output"], whole=in_ci) as out:
        write(style, found, out, view)
    acceptance.note(*messages)
    if summary_file is not None:
        actions.append_summary(summary_file, found, view)
    acceptance.note(*written)
    return exit_code(found, given["fail_on"], given["exit_zero"] or not FORMATS[style].found_is_1)


def _write_others(given: Mapping[str, Any], found: Audit, accept: Acceptance) -> Iterator[str]:
    """Write what a run makes besides its report and its pictures, and tell what to say of it."""
    if not found.summary.judged and (given["write_baseline"] or given["write_clean"]):
        yield "only the report was written, for no row could be judged"
        return
    if given["write_baseline"] is not None:
        yield acceptance.write_baseline(given["write_baseline"], accept)
    if given["write_clean"] is not None:
        yield cleaning.write(given["write_clean"], found.sources[0], found, _FAIL_ON[given["fail_on"]])


def _picture(found: Audit) -> Picture:
    from klaudit.formats.picture import of_audit

    return of_audit(found)


def _check_targets(given: Mapping[str, Any], files: tuple[str, ...]) -> None:
    """Stop before a result replaces a file that is read, or another result."""
    read = (*files, given["against"] or "-")
    # A baseline may be read and written anew.
    known = (*read, given["baseline"] or "-")
    taken: dict[str, str] = {}
    for name, others in (("output", known), ("write_baseline", read), ("write_clean", known)):
        option, target = f"--{name.replace('_', '-')}", given[name]
        refuse_overwriting(target, others, option)
        if target is not None and taken.setdefault(os.path.abspath(target), option) != option:
            raise UsageError(f"{taken[os.path.abspath(target)]} and {option} both name {target!r}. Name two files")
    if given["write_clean"] is not None:
        from klaudit.readers.cleaned import check_cleanable

        check_cleanable(files)


def _judge(
    files: tuple[str, ...], given: Mapping[str, Any], accept: Acceptance, keep_rows: bool, max_findings: int
) -> Audit:
    catalog = options.load(given["specs"])
    board = options.find_board(catalog, given["board"])
    policy = options.make_policy(given, catalog)
    read_options = _read_options(given, catalog, board, policy)
    from klaudit.audit import audit as judge
    from klaudit.audit.settling import settler
    from klaudit.cli.progress import ProgressLine

    line = ProgressLine(files)
    ranked, cleaned = given["against"] is not None, given["write_clean"] is not None
    every = keep_rows or ranked or cleaned
    # Where no report asks for every row, a large file's rows within may come out counted.
    settle = None if every else settler(catalog, board, policy)
    try:
        found = judge(
            _batches(files, read_options if every else read_options._replace(settle=settle), line),
            catalog,
            board,
            policy,
            sources=files,
            keep_rows=every,
            max_findings=max_findings,
            # Where nothing was accepted, only reports of every row show what findings could be accepted by.
            accept=accept if accept.every or keep_rows else None,
        )
    finally:
        line.close()
    if cleaned:
        found = cleaning.with_podiums(found, board, _FAIL_ON[given["fail_on"]])
    if not ranked:
        return found
    ranking = _ranking(given["against"], catalog, board, policy, read_options)
    return found._replace(standings=ranking.of(found.rows()))


def _ranking(against: str, catalog: Catalog, board: Board | None, policy: Policy, read_options: ReadOptions) -> Ranking:
    """The rows of another board, judged by the same rules."""
    from klaudit.audit import judge
    from klaudit.audit.standing import Ranking
    from klaudit.readers import read

    ranking = Ranking(against, board, policy.gpu)
    for batch in read(against, read_options):
        ranking.add(judge(batch, catalog, board, policy))
    return ranking


def _batches(files: tuple[str, ...], read_options: ReadOptions, line: ProgressLine) -> Iterator[Leaderboard | Settled]:
    from klaudit.readers import read_or_settle

    for file in files:
        line.next_file()
        yield from read_or_settle(file, read_options._replace(progress=line.update))


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


def exit_code(found: Audit, fail_on: str, exit_zero: bool) -> int:
    """The exit code that the findings amount to, without those accepted beforehand."""
    if not found.summary.judged:
        return NOTHING_JUDGED
    accepted = found.suppressed.summary.counts
    failing = sum(found.summary.counts[verdict] - accepted[verdict] for verdict in _FAIL_ON[fail_on])
    return FOUND if failing and not exit_zero else 0
