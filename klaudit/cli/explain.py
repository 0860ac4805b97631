"""`explain`: one claim, judged as a leaderboard of one row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from klaudit._version import __version__
from klaudit.cli import options
from klaudit.cli.audit import NOTHING_JUDGED
from klaudit.cli.output import make_view, opened
from klaudit.cli.values import PrintedFigure
from klaudit.errors import UsageError
from klaudit.verdict import Verdict

if TYPE_CHECKING:
    from klaudit.leaderboard import FigureColumn, FigureKind, Leaderboard
    from klaudit.units import Printed


@click.command()
@click.option("--gpu", required=True, metavar="NAME", help="The card, as the claim names it.")
@click.option("--gflops", type=PrintedFigure("rate", "GFLOPS"), help="The rate claimed, in GFLOP/s.")
@click.option("--tflops", type=PrintedFigure("rate", "TFLOPS"), help="The rate claimed, in TFLOP/s.")
@click.option("--time", type=PrintedFigure("time"), metavar='"12.3 us"', help="The time claimed, with its unit.")
@click.option("--bandwidth", type=PrintedFigure("bandwidth"), metavar='"900 GB/s"', help="The bandwidth claimed.")
@options.workload_options
@options.policy_options
@options.plain_format
@options.output
@options.specs
def explain(**given: Any) -> int:
    """Judge one claim and show the arithmetic step by step, every figure with its source."""
    claim = _claim(given)
    catalog = options.load(given["specs"])
    board = options.find_board(catalog, given["board"])
    policy = options.make_policy({**given, "gpu": None}, catalog)
    from klaudit.audit.explain import explain as judge
    from klaudit.audit.run import conditions_named
    from klaudit.formats.explain import FORMATS
    from klaudit.formats.provenance import Stamp

    explanation = judge(claim, catalog, board, policy)
    ruled_out, allowed = conditions_named(board, policy)
    stamp = Stamp(__version__, catalog.date, catalog.sha256, board.id if board else "", ruled_out, allowed)
    with opened(given["output"]) as out:
        FORMATS[given["format"]](explanation, out, make_view(given["output"]), stamp)
    return NOTHING_JUDGED if explanation.report.verdict is Verdict.UNJUDGED else 0


def _claim(given: dict[str, Any]) -> Leaderboard:
    """The claim as a leaderboard of one row."""
    if given["gflops"] is not None and given["tflops"] is not None:
        raise UsageError("--gflops and --tflops are both given, and a claim has one rate. Give one")
    rate = given["gflops"] if given["gflops"] is not None else given["tflops"]
    figures: list[tuple[FigureKind, Printed | None, str]] = [
        ("rate", rate, "GFLOP/s" if given["gflops"] is not None else "TFLOP/s"),
        ("time", given["time"], ""),
        ("bandwidth", given["bandwidth"], ""),
    ]
    claimed = [_figure(kind, printed, unit) for kind, printed, unit in figures if printed is not None]
    if not claimed:
        raise UsageError("no figure is claimed. Give --gflops, --tflops, --time '12.3 us' or --bandwidth '900 GB/s'")
    import numpy as np

    from klaudit.leaderboard import Leaderboard

    return Leaderboard(
        source="",
        lines=np.array([1], dtype=np.int64),
        entries=["claim"],
        gpu_labels=(given["gpu"],),
        gpu_codes=np.array([0], dtype=np.int64),
        figures=tuple(claimed),
    )


def _figure(kind: FigureKind, printed: Printed, unit: str) -> FigureColumn:
    import numpy as np

    from klaudit.leaderboard import FigureColumn

    value, low, high = (np.array([edge]) for edge in printed)
    return FigureColumn(kind, value, low, high, unit=unit)
