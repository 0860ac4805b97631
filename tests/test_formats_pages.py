"""Chart, roofs, limits and explanations from hand-made nouns."""

from __future__ import annotations

import io
import json

import pytest
import report_samples as samples

from klaudit.board import Board, Era, Harness, Scoring
from klaudit.formats import View
from klaudit.formats import explain as explain_format
from klaudit.formats import roofline as roofline_format
from klaudit.formats.boards import effective, write_board
from klaudit.formats.chart import Curve, chart
from klaudit.formats.lines import columns
from klaudit.formats.provenance import Stamp
from klaudit.gpu import Gpu, Peak
from klaudit.provenance import Figure
from klaudit.report import Ceiling, Explanation, Limits, Roofs, Step
from klaudit.verdict import Verdict

STAMP = Stamp("0.1.0", "2026-01-31", "0123456789abcdef" * 4, "tensara-kl-2025", (), ("write-back",))
PEAK = Peak("float32", "vector", 8.1e12, Figure("peaks", 8.1e12, "8.1 TFLOP/s", "vendor"))
T4 = Gpu(
    id="t4", name="NVIDIA T4", vendor="nvidia", architecture="Turing", bandwidth=320.064e9, bandwidth_from="pin rate",
    cache=4 * 2**20, processors=40, clock=1.59e9, clock_from="maximum", peaks=(PEAK,),
)  # fmt: skip


def roofs(gpu: Gpu = T4) -> Roofs:
    return Roofs(gpu, None, "float32", 7 / 12, PEAK, 8.1e12 / gpu.bandwidth, gpu.bandwidth * 7 / 12, None, 8.1e12, None)


@pytest.mark.parametrize("fancy", [False, True])
@pytest.mark.parametrize("width", [60, 80, 160])
def test_the_chart_fits_and_names_its_curves(width: int, fancy: bool) -> None:
    """Every line fits, letters of curves that coincide stand side by side, and ASCII is ASCII."""
    curves = [Curve(letter, b, 67e12) for letter, b in (("a", 3.2e11), ("b", 3.352e12), ("c", 3.4e12))]
    curves.append(Curve("d", 2e12, None))
    lines = chart(curves, 7 / 12, width, fancy)
    assert max(map(len, lines)) <= width
    plot = "".join(line[13:] for line in lines[:16])
    assert all(letter in plot for letter in "abcd")
    assert ("\u250a" if fancy else ":") in plot
    if not fancy:
        assert "".join(lines).isascii()


def test_a_chart_rises_to_its_roof() -> None:
    """The curve climbs from left to right and then stays."""
    lines = chart([Curve("a", 1e12, 1e13)], None, 80, fancy=False)
    rows = [min(i for i, line in enumerate(lines[:16]) if line.ljust(80)[c] == "a") for c in range(14, 75)]
    assert rows == sorted(rows, reverse=True)
    assert rows[-1] == rows[-5]


def test_roofs_of_two_readings() -> None:
    """The binary reading takes the figure as printed: 320.1 GB/s read as 320.1 GiB/s."""
    found = {}
    for units in ("decimal", "binary"):
        out = io.StringIO()
        roofline_format.FORMATS["json"]([roofline_format.Card(roofs(), "H100")], out, View(units=units), STAMP)  # type: ignore[arg-type]
        (found[units],) = json.loads(out.getvalue())["roofs"]
    assert found["decimal"]["dram_gflops"] == pytest.approx(186.704, abs=1e-3)
    assert found["binary"]["dram_gflops"] == pytest.approx(200.494, abs=1e-3)
    assert found["binary"]["ridge_point"] < found["decimal"]["ridge_point"]
    assert found["decimal"]["served_as"] == "H100"


def test_an_explanation_is_numbered_text() -> None:
    """Short steps take one line, long ones a title and a paragraph, then sources, verdict and versions."""
    steps = (
        Step("DRAM bandwidth", "256 bit x 10.002 Gbit/s / 8 = 320.06 GB/s", "device query"),
        Step("A long one", "1 + " * 30 + "1 = 31"),
        Step(samples.HOSTILE, samples.HOSTILE, samples.HOSTILE),
    )
    out = io.StringIO()
    explanation = Explanation("3.757 TFLOP/s on H200", steps, samples.CONDITIONAL)
    explain_format.FORMATS["table"](explanation, out, View(width=80), STAMP)
    shown = out.getvalue()
    assert shown.startswith(
        "  Claim: 3.757 TFLOP/s on H200\n\n"
        " 1. DRAM bandwidth: 256 bit x 10.002 Gbit/s / 8 = 320.06 GB/s\n"
        "    source: device query\n"
        " 2. A long one\n"
        "    1 + 1 +"
    )
    assert "Verdict: CONDITIONAL, 1.31 x the roof\n  only if    the last writes" in shown
    assert "a harness fault is as likely a cause" in " ".join(shown.split())
    assert {c for c in shown if not c.isprintable()} == {"\n"}
    assert max(map(len, shown.split("\n"))) <= 80


def test_an_explanation_as_json() -> None:
    """The row's own keys first, then the claim, the steps and the versions."""
    out = io.StringIO()
    explanation = Explanation("claim", (Step("a", "b"),), samples.row(verdict=Verdict.WITHIN))
    explain_format.FORMATS["json"](explanation, out, View(), STAMP)
    value = json.loads(out.getvalue())
    assert next(iter(value)) == "line"
    assert list(value)[-7:] == ["claim", "steps", "version", "specs", "board", "ruled_out", "allowed"]
    assert value["steps"] == [{"title": "a", "arithmetic": "b", "source": None}]


def test_limits_leave_out_sets_that_add_nothing() -> None:
    """A set that a smaller one equals is no column of its own."""
    ceilings = (
        Ceiling((), 100e9, 10e-6),
        Ceiling(("write-back",), 200e9, 5e-6),
        Ceiling(("lower-precision",), 100e9, 10e-6),
        Ceiling(("write-back", "inputs-resident"), 400e9, 2e-6),
        Ceiling(("write-back", "inputs-resident", "lower-precision"), 500e9, 1e-6),
    )
    assert [len(c.conditions) for c in effective(ceilings)] == [0, 1, 2, 3]
    board = Board("b", "A board", None, (Era("b", Scoring(), Harness()),))
    out = io.StringIO()
    write_board(board, (Limits(board, "b", "T4", T4, ceilings),), out, View(), "table")
    assert (
        "Limits b: mean of rates [GFLOP/s], impossible above the last figure\n"
        "label  card   dram  write-back   both  both + lower-precision\n"
        "T4     t4    100.0       200.0  400.0                   500.0\n"
    ) in out.getvalue()


def test_columns_that_do_not_fit_become_blocks() -> None:
    """Wide enough: columns. Narrower: one column is cut. Narrower still: a block for each row."""
    header, rows = ["id", "name", "n"], [["a", "x" * 40, "1"], ["b", "y", "22"]]

    def render(width: int, squeeze: int | None) -> list[str]:
        return [
            "".join(s if isinstance(s, str) else s[0] for s in line)
            for line in columns(header, rows, width, 2, squeeze)
        ]

    assert render(60, None)[2] == "b   " + "y".ljust(40) + "  22"
    assert render(30, 1)[1] == "a   " + "x" * 10 + "..." + "x" * 9 + "   1"
    assert render(30, None)[:4] == ["a", "  name  " + "x" * 22, " " * 8 + "x" * 18, "  n     1"]
