"""`calibrate`: measures this machine's card, lets the judge look at the result, and writes what the audit can use."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from klaudit.cli import options
from klaudit.cli.audit import FOUND
from klaudit.cli.output import ensure_stdout, make_view, opened, report_target, side_target
from klaudit.cli.streams import say
from klaudit.errors import InputError, UsageError

if TYPE_CHECKING:
    from klaudit.calibrate.claims import Standing
    from klaudit.calibrate.record import Calibration, Device, Point
    from klaudit.catalog import Catalog
    from klaudit.formats.calibration import Findings
    from klaudit.gpu import Gpu

_SPEC: Final = "spec"
_ID: Final = re.compile(r"[a-z0-9]+(?:[.-][a-z0-9]+)*")


@click.command()
@click.option("--quick", is_flag=True, help="Fewer sizes and runs: seconds instead of the better part of a minute.")
@click.option("--device", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Which card.")
@click.option("--gpu", metavar="NAME", help="The spec that the card is held against.  [default: by the driver's name]")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=report_target,
    help="Write the measured spec (my-card.yaml), or with --board the CSV.",
)
@click.option("--report", metavar="FILE", callback=side_target, help="Write everything that was measured as JSON.")
@click.option(
    "--compare",
    is_flag=False,
    flag_value=_SPEC,
    metavar="[FILE]",
    help="Show how far the card is from its spec, or from the calibration that --report wrote to FILE.",
)
@click.option("--from", metavar="FILE", help="Take the calibration that --report wrote to FILE, and measure nothing.")
@click.option("--board", metavar="NAME", help="Measure this board's cases by its method, with entries of known truth.")
@click.option(
    "--repeats", type=click.IntRange(1, 100), default=1, show_default=True, metavar="N", help="Rounds of --board."
)
@options.plain_format
@options.specs
def calibrate(**given: Any) -> int:
    """Measure this machine's GPU: bandwidths, cache, arithmetic, launches. Needs the extra `gpu`.

    klaudit audits its own result and writes none that holds an impossible figure. No setting of the card is changed.
    """  # fmt: skip
    _check_options(given)
    catalog = options.load(given["specs"])
    if given["board"] is not None:
        return _measure_board(given, catalog)
    other = _load(given["compare"]) if given["compare"] not in (None, _SPEC) else None
    found = _load(given["from"]) if given["from"] is not None else _measure(given)
    return _report(given, catalog, found, other)


def _check_options(given: Mapping[str, Any]) -> None:
    """Stop before minutes are spent on what cannot be written."""
    board, output = given["board"], given["output"]
    for name in ("quick", "compare", "from"):
        if board is not None and given[name]:
            raise UsageError(f"--board measures a leaderboard, and --{name} is about a calibration. Give one of them")
    if given["from"] is not None and given["quick"]:
        raise UsageError("--from measures nothing, so --quick has no meaning. Drop one of them")
    if board is None and given["repeats"] != 1:
        raise UsageError("--repeats is about --board. Name a board, or drop it")
    if board is None and output is not None:
        path = Path(output)
        if path.suffix not in (".yaml", ".yml") or not _ID.fullmatch(path.stem):
            raise UsageError(
                f"--output {output!r}: a spec's file is named after its id. Expected lower-case letters, digits and"
                " dashes and the ending .yaml, such as my-card.yaml"
            )
    if board is None:
        # Beside the spec there is always a report.
        ensure_stdout()


def _measure(given: Mapping[str, Any]) -> Calibration:
    from klaudit.calibrate.run import calibrate as measure

    with _progress() as progress:
        return measure(given["device"], given["quick"], _command(), progress)


def _command() -> str:
    return shlex.join(["klaudit", *sys.argv[1:]])


def _load(file: str) -> Calibration:
    import json

    from klaudit.calibrate.record import from_object

    try:
        data = json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"{file}: cannot be read: {error.strerror}. Expected a file of klaudit calibrate --report"
        ) from None
    except ValueError:
        raise InputError(f"{file}: no JSON. Expected a file that klaudit calibrate --report wrote") from None
    return from_object(data, file)


def _report(given: Mapping[str, Any], catalog: Catalog, found: Calibration, other: Calibration | None) -> int:
    from klaudit.calibrate.spec import driver_card, find_card, measured_card
    from klaudit.formats.calibration import FORMATS, write_json

    published = find_card(found.device, catalog, given["gpu"])
    card = published or driver_card(found.device, _card_id(found.device))
    standings = _judge(found, card)
    if refusal := _refusal(found, card, standings):
        say(refusal)
        return FOUND
    findings = _findings(given, found, other, card, standings, known=published is not None)
    if given["output"] is not None:
        _write_spec(given["output"], measured_card(found, published, Path(given["output"]).stem))
    if given["report"] is not None:
        with opened(given["report"], option="--report") as out:
            write_json(findings, out, make_view(given["report"]))
    with opened(None) as out:
        FORMATS[given["format"]](findings, out, make_view(None))
    return 0


def _card_id(device: Device) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", device.name.lower())) or "card"


def _judge(found: Calibration, card: Gpu) -> dict[Point, Standing]:
    """What klaudit's own judge says of each bandwidth."""
    from klaudit.audit import audit
    from klaudit.calibrate.claims import Standing, catalog_of, claims

    standings: dict[Point, Standing] = {}
    for claim in claims(found, card):
        judged = audit([claim.rows], catalog_of(card), claim.board, claim.policy, keep_rows=True)
        for point, row in zip(claim.points, judged.rows(), strict=True):
            standings[point] = Standing(str(row.verdict), row.conditions, row.message)
    return standings


def _refusal(found: Calibration, card: Gpu, standings: Mapping[Point, Standing]) -> str:
    """Why a calibration is not written, or nothing."""
    from klaudit.calibrate.claims import roof_checks
    from klaudit.formats.text import clean

    wrong = [f"{p.label}: {s.verdict}: {s.message}" for p, s in standings.items() if s.refused]
    wrong += [f"{c.name}: {c.detail}" for c in (*found.failed, *roof_checks(found, card)) if not c.passed]
    if not wrong:
        return ""
    said = "\n".join(f"  {clean(line)}" for line in wrong[:10])
    more = f"\n  and {len(wrong) - 10} more" if len(wrong) > 10 else ""
    return (
        f"klaudit: the calibration is not true, and nothing is written:\n{said}{more}\n"
        f"expected: right outputs, and no figure above what {card.id} can do under any condition of its method\n"
        "what to do: run it again on an idle card; if it stays so, the spec is of another card (--gpu) or it is a bug"
    )


def _findings(
    given: Mapping[str, Any], found: Calibration, other: Calibration | None, card: Gpu,
    standings: Mapping[Point, Standing], known: bool,
) -> Findings:  # fmt: skip
    from klaudit.calibrate.compare import disagreements, with_other, with_spec
    from klaudit.formats.calibration import Findings

    unknown = f"No spec is called {found.device.name!r}: the card is held against what its driver says."
    notes = () if known else (unknown,)
    if other is not None:
        lines, differ = tuple(with_other(found, other)), disagreements(found, other)
        return Findings(found, card, standings, lines, Path(given["compare"]).name, differ, notes)
    lines = tuple(with_spec(found, card)) if given["compare"] is not None else ()
    return Findings(found, card, standings, lines, card.id, None, notes)


def _write_spec(output: str, card: Gpu) -> None:
    from klaudit.formats.gpu_spec import spec_text
    from klaudit.readers.gpu_spec import read_gpu

    text = spec_text(card, "Written by klaudit calibrate: the card's published figures, and what this one reached.")
    # A spec that the strict reader refuses is never written.
    read_gpu(text, output)
    with opened(output) as out:
        out.write(text)
    folder = Path(output).parent
    say(f"klaudit: wrote {output}; use it with --specs {folder} and --gpu-label LABEL={card.id}")


def _measure_board(given: Mapping[str, Any], catalog: Catalog) -> int:
    from klaudit.calibrate.board import measure_board, runnable
    from klaudit.calibrate.spec import find_card
    from klaudit.formats.calibration import board_summary, write_board, write_board_report
    from klaudit.formats.text import clean

    board = catalog.board(given["board"])
    runnable(board)

    def label(device: Device) -> str:
        card = find_card(device, catalog, given["gpu"])
        means = next((g.label for g in board.gpu_labels if card is not None and g.means == (card.id,)), None)
        return means or (device.name if card is None else card.id)

    with _progress() as progress:
        run = measure_board(board, label, given["device"], given["repeats"], _command(), progress)
    if given["report"] is not None:
        with opened(given["report"], option="--report") as out:
            write_board_report(run, out)
    with opened(given["output"]) as out:
        write_board(run, out)
    for sentence in board_summary(run):
        say(f"klaudit: {clean(sentence)}")
    return 0


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar on a terminal's stderr, and nowhere else."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("klaudit"), BarColumn(), TextColumn("{task.fields[what]}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, what="compiling kernels")

        def update(what: str, done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, what=what)

        yield update
