"""Pictures: what they show, that they are files of their kind, and what happens without matplotlib."""

from __future__ import annotations

import io
import re
import struct
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import report_samples as samples
from command import BOARD, ROOT, environment, klaudit, write_board
from pictures import PICTURE, fresh, marks, texts, without_stamp

from klaudit.formats import drawing, layout, picture
from klaudit.formats.picture import Mark, Panel, Picture, Roof
from klaudit.gpu import Gpu, Measured, Peak
from klaudit.provenance import Figure
from klaudit.report import Audit, Background, Roofs, RowReport
from klaudit.verdict import Verdict

PEAK = Peak("float32", "vector", 67e12, Figure("peaks", 67e12, "67 TFLOP/s", "vendor"))
H200 = Gpu(
    id="h200-sxm", name="NVIDIA H200", vendor="nvidia", architecture="Hopper", bandwidth=4.9e12,
    bandwidth_from="pin rate", cache=60 * 2**20, processors=132, clock=1.98e9, clock_from="maximum", peaks=(PEAK,),
    port=64.0, measured=(Measured("bandwidth", 4.6e12, "4.6 TB/s", "", "own"),),
)  # fmt: skip
H100 = H200._replace(id="h100-sxm5-80gb", name="NVIDIA H100", bandwidth=3.35e12, measured=())
INTENSITY = 7 / 12


def roofs(gpu: Gpu) -> Roofs:
    """The roofs of a card for the KL divergence."""
    return Roofs(
        gpu, None, "float32", INTENSITY, PEAK, PEAK.rate / gpu.bandwidth, gpu.bandwidth * INTENSITY, 14.6e12,
        PEAK.rate, 29e12,
    )  # fmt: skip


def audit(*rows: RowReport, **cards: tuple[Gpu, ...]) -> Audit:
    """An audit of rows, all of the KL's intensity, on the cards of each label."""
    placed = tuple(row._replace(intensity=INTENSITY) for row in rows)
    labels = {label: tuple(roofs(gpu) for gpu in gpus) for label, gpus in (cards or {"H200": (H200,)}).items()}
    return samples.audit(placed, background=lambda: Background(labels=labels))


def entries(count: int, **changes: Any) -> list[RowReport]:
    """Rows within their roof."""
    return [samples.row(line=i, reported=(samples.rate(2e12, 0.2 + 0.7 * i / count),), **changes) for i in range(count)]


def test_what_a_picture_shows() -> None:
    """Every judged row has a mark whose rate is its ratio times the roof; the roofs are named; the caption counts."""
    drawn = picture.of_audit(audit(samples.WITHIN, samples.IMPOSSIBLE._replace(gpu="H200"), samples.UNJUDGED))
    (panel,) = drawn.panels
    assert [r.kind for r in panel.roofs] == ["dram", "measured", "port", "compute", "special"]
    assert panel.roofs[0].name == "DRAM 4.9 TB/s"
    assert panel.reference == (pytest.approx(INTENSITY, rel=1e-5), pytest.approx(4.9e12 * INTENSITY, rel=1e-5))
    assert [(m.verdict, m.rate) for m in panel.marks] == [
        (Verdict.WITHIN, pytest.approx(0.5294 * 4.9e12 * INTENSITY)),
        (Verdict.IMPOSSIBLE, pytest.approx(15.216 * 4.9e12 * INTENSITY)),
    ]
    assert panel.limit == pytest.approx(2.8146, rel=1e-3)
    assert [m.name for m in panel.labelled] == ["skip-dense+v4f"]
    assert drawn.caption == (
        "3 rows: 1 impossible, 1 unjudged, 1 within.",
        "1 row without a place in the picture.",
        "Board tensara-kl-2025, specs of 2026-01-31 (sha256 0123456789ab), klaudit 0.1.0.",
    )


def test_one_card_a_panel_and_the_worst_first() -> None:
    """Labels of one card share a panel; a label of several cards shows the slowest one's roofs and the fastest DRAM."""
    rows = [
        *entries(5, gpu="H200"), samples.row(gpu="NVIDIA H200"), samples.row(gpu="H100", verdict=Verdict.IMPOSSIBLE),
    ]  # fmt: skip
    cards = {"H200": (H200,), "NVIDIA H200": (H200,), "H100": (H200, H100)}
    drawn = picture.of_audit(audit(*rows, **cards))
    assert [panel.title for panel in drawn.panels] == [
        "H100 (h100-sxm5-80gb or h200-sxm)", "H200, NVIDIA H200 (h200-sxm)",
    ]  # fmt: skip
    assert [r.name for r in drawn.panels[0].roofs[:2]] == ["DRAM 3.35 TB/s", "fastest 4.9 TB/s"]
    assert [len(lane.marks) for lane in drawn.lanes] == [1, 6]


def test_rows_without_a_card_or_an_intensity_have_a_ratio_only() -> None:
    """They stand in the strip and in no panel."""
    drawn = picture.of_audit(samples.audit((samples.WITHIN,)))
    assert drawn.panels == ()
    assert [len(lane.marks) for lane in drawn.lanes] == [1]


def test_a_picture_has_a_bounded_number_of_marks() -> None:
    """Thousands of rows are thinned evenly, no flagged one is lost, and the caption says how many are drawn."""
    flagged = [samples.IMPOSSIBLE._replace(gpu="H200", line=i) for i in range(20)]
    drawn = picture.of_audit(audit(*entries(4000), *flagged))
    (panel,) = drawn.panels
    assert len(panel.marks) == picture.MOST_MARKS
    assert sum(m.verdict is Verdict.IMPOSSIBLE for m in panel.marks) == 20
    assert len(panel.labelled) == picture.MOST_LABELS
    within = [m.ratio for m in panel.marks if m.verdict is Verdict.WITHIN]
    assert (min(within), max(within)) == (pytest.approx(0.2), pytest.approx(0.9, abs=1e-3))
    assert "1500 of 4020 points drawn: the flagged ones first, evenly spaced." in drawn.caption


def test_many_cards_are_left_out_in_words() -> None:
    """Six panels and twelve lanes, those with most to say; the caption names what is missing."""
    cards = {f"card-{i}": (H200._replace(id=f"card-{i}", bandwidth=1e12 + i),) for i in range(20)}
    drawn = picture.of_audit(audit(*(samples.row(gpu=label) for label in cards), **cards))
    assert (len(drawn.panels), len(drawn.lanes)) == (6, 12)
    assert "Roofs of 6 of 20 cards, those with most to say." in drawn.caption
    assert "Ratios of 12 of 20 cards." in drawn.caption


def test_ratios_that_no_axis_holds() -> None:
    """No time at all is drawn beyond all others; a ratio of nothing is not drawn."""
    rows = (
        samples.row(reported=(samples.rate(1e12, float("inf")),)), samples.row(),
        samples.row(reported=(samples.rate(1e12, 0.0),)), samples.row(reported=(samples.rate(1e12, float("nan")),)),
    )  # fmt: skip
    (lane,) = picture.of_audit(audit(*rows)).lanes
    assert [m.ratio for m in lane.marks] == [0.5294, pytest.approx(5.294)]
    assert "nan" not in drawing.draw(picture.of_audit(audit(*rows)))


@pytest.mark.parametrize("count", [1, 5, 300])
def test_marks_lie_side_by_side(count: int) -> None:
    """No two points of one level are closer than a point's size, while there is a level left."""
    positions = sorted(i * 1.7 % 40 for i in range(count))
    levels = layout.stacked(positions, 7.0, 401)
    for level in set(levels):
        own = [p for p, n in zip(positions, levels, strict=True) if n == level]
        assert all(b - a >= 7.0 for a, b in pairwise(own))


def test_labels_keep_their_distance_and_order() -> None:
    """Also where they crowd at an end."""
    for wants in ([1.0, 1.0, 1.0], [97.0, 98.0, 99.0, 99.0], [float(i) for i in range(10)], []):
        placed = layout.spread(wants, 10.0, 0.0, 100.0)
        assert all(b - a >= 10.0 - 1e-9 for a, b in pairwise(placed))
        assert all(0 <= p <= 100 for p in placed)


def test_axes_have_round_ticks() -> None:
    """1, 2 and 5 where there is room, powers of ten where there is none."""
    assert layout.Span(0.15, 12).ticks() == [0.2, 0.5, 1, 2, 5, 10]
    assert layout.Span(1e-3, 1e3).ticks() == [1e-3, 1e-2, 0.1, 1, 10, 100, 1000]
    assert layout.Span(0.15, 12).decades() == [1, 10]


def test_roofs_end_at_the_compute_roof() -> None:
    """A sloped roof rises to it; a flat one begins where DRAM reaches it."""
    panel = Panel("x", (Roof("dram", "d", slope=1e12), Roof("compute", "c", level=1e13)), (1.0,))
    x, y = layout.panel_spans([panel])
    dram, flat = (layout.line_of(panel, roof, x, y) for roof in panel.roofs)
    assert dram is not None
    assert flat is not None
    assert dram[1] == (pytest.approx(10), pytest.approx(1e13))
    assert flat == ((pytest.approx(10), 1e13), (x.high, 1e13))


def test_the_page_s_picture_escapes_names() -> None:
    """A name in the SVG is text, in labels and in hints."""
    name = "<script>x</script>\"'&"
    drawn = drawing.draw(picture.of_audit(audit(samples.IMPOSSIBLE._replace(gpu="H200", entry=name))))
    assert "<script" not in drawn
    assert drawn.count("&lt;script&gt;x&lt;/script&gt;&quot;&#x27;&amp;") == 3


def test_verdicts_differ_in_shape() -> None:
    """Five outlines, and five markers: the picture can be read without colour."""
    plot = pytest.importorskip("klaudit.formats.plot")
    assert len({drawing.shape(verdict) for verdict in Verdict}) == 5
    assert len({marker for marker, _, _ in plot.LOOKS.values()}) == 5


class TestMatplotlib:
    """With the extra."""

    @pytest.fixture(autouse=True)
    def _extra(self) -> None:
        pytest.importorskip("matplotlib")

    def test_three_kinds_in_one_command(self, tmp_path: Path) -> None:
        """SVG, PNG and PDF beside the report, each whole; the exit code is the audit's own."""
        files = [tmp_path / f"board.{kind}" for kind in ("svg", "png", "pdf")]
        plots = [word for file in files for word in ("--plot", file)]
        done = klaudit("audit", write_board(tmp_path), *BOARD, *plots)
        assert (done.returncode, done.stderr) == (1, "")
        assert "IMPOSSIBLE" in done.stdout
        svg, png, pdf = (file.read_bytes() for file in files)
        assert svg.startswith(b"<?xml")
        assert pdf.startswith(b"%PDF")
        assert png.startswith(b"\x89PNG")
        width, height = struct.unpack(">II", png[16:24])
        assert (width, height > 1000) == (1500, True)
        assert sorted(p.name for p in tmp_path.iterdir()) == ["board.csv", "board.pdf", "board.png", "board.svg"]

    def test_the_same_bytes_every_time(self, tmp_path: Path) -> None:
        """Nothing of the moment is in a file."""
        plot = pytest.importorskip("klaudit.formats.plot")
        drawn = picture.of_audit(audit(*entries(30)))
        for kind in plot.KINDS:
            first = plot.render(drawn, kind)
            assert first == plot.render(drawn, kind)
            assert not re.search(rb"20[0-9]{2}-[0-9]{2}-[0-9]{2}T|CreationDate", first)

    def test_names_are_drawn_as_they_are(self) -> None:
        """Formulas, markup, foreign scripts and control characters in names: text, and no warning."""
        plot = pytest.importorskip("klaudit.formats.plot")
        names = ("$\\frac{1}$", "<b>&", "漢字", samples.HOSTILE, "$", "a" * 300, "\\")
        rows = [samples.IMPOSSIBLE._replace(gpu="H200", entry=name, line=i) for i, name in enumerate(names)]
        said = texts(plot.render(picture.of_audit(audit(*rows)), "svg").decode())
        assert any("$\\frac{1}$" in text for text in said)
        assert any("<b>&" in text for text in said)
        assert all(text.isprintable() for text in said)

    def test_the_user_s_own_style_changes_nothing(self, tmp_path: Path) -> None:
        """A matplotlibrc of the user's is not read into the picture, nor changed by it."""
        import matplotlib as mpl

        plot = pytest.importorskip("klaudit.formats.plot")
        drawn = picture.of_audit(audit(*entries(3)))
        plain = plot.render(drawn, "svg")
        with mpl.rc_context({"font.size": 30, "axes.facecolor": "red"}):
            assert plot.render(drawn, "svg") == plain
            assert mpl.rcParams["font.size"] == 30

    def test_every_shape_of_board_is_drawn(self) -> None:
        """No panels, one, several; no lanes; several intensities."""
        plot = pytest.importorskip("klaudit.formats.plot")
        mixed = [row._replace(intensity=1.0 + i) for i, row in enumerate(audit(*entries(9)).rows())]
        boards = (
            samples.audit((samples.WITHIN,)), samples.audit(()), audit(samples.WITHIN),
            audit()._replace(rows=lambda: iter(mixed)),
            audit(samples.row(), samples.row(gpu="H100"), H200=(H200,), H100=(H100, H200)),
        )  # fmt: skip
        for board in boards:
            drawn = picture.of_audit(board)
            assert plot.render(drawn, "png").startswith(b"\x89PNG")
            assert "nan" not in drawing.draw(drawn)

    def test_the_roofs_of_cards(self, tmp_path: Path) -> None:
        """`roofline --plot` draws a panel for each card, all roofs named, and prints its table as ever."""
        target = tmp_path / "roofs.svg"
        arguments = ("roofline", "--gpu", "T4", "--gpu", "H200 SXM", "--workload", "kl-divergence")
        done = klaudit(*arguments, "--plot", target)
        assert done.stdout == klaudit(*arguments).stdout
        said = texts(target.read_text(encoding="utf-8"))
        for name in ("NVIDIA T4", "DRAM 320.1 GB/s", "cache port 16.73 TB/s", "float32 vector 8.141 TFLOP/s",
                     "special 29.27 TFLOP/s", "0.5833 FLOP/B"):  # fmt: skip
            assert name in said
        assert any(text.startswith("measured ") for text in said)
        klaudit(*arguments, "--plot", target, "--units", "binary")
        assert "DRAM 343.7 GB/s" in texts(target.read_text(encoding="utf-8"))

    def test_the_readme_s_picture_is_true(self) -> None:
        """It says what a fresh one says, and has as many marks; `python tests/pictures.py` draws it anew."""
        shown, new = PICTURE.read_text(encoding="utf-8"), fresh()
        assert without_stamp(texts(shown)) == without_stamp(texts(new))
        assert marks(shown) == marks(new)
        assert "skip-dense+x_scale  15.6 x" in texts(shown)

    def test_it_can_be_read_in_grey(self) -> None:
        """Printed without colour, the filling of the impossible is far darker than that of those within."""
        image = pytest.importorskip("matplotlib.image")
        plot = pytest.importorskip("klaudit.formats.plot")
        grey = {}
        for verdict in (Verdict.WITHIN, Verdict.IMPOSSIBLE):
            marks = tuple(Mark(i, "", verdict, 1.0 + i, None) for i in range(40))
            drawn = plot.render(Picture("", (), (picture.Lane("", marks, None),)), "png")
            colors = image.imread(io.BytesIO(drawn))[..., :3] @ [0.299, 0.587, 0.114]
            levels, counts = np.unique(np.round(colors, 2), return_counts=True)
            # The two most frequent levels are the paper's and the strip's.
            grey[verdict] = levels[np.argsort(counts)[-3]]
        assert grey[Verdict.IMPOSSIBLE] < 0.55
        assert grey[Verdict.WITHIN] > 0.7


def test_a_picture_of_no_known_kind_is_2(tmp_path: Path) -> None:
    """Nothing is judged, and the message names the kinds."""
    for name in ("board.jpeg", "svg", "-", "board"):
        done = klaudit("audit", write_board(tmp_path), *BOARD, "--plot", name)
        assert (done.returncode, done.stdout) == (2, "")
        assert "ends in nothing known. Name a file that ends in .svg, .png or .pdf" in done.stderr


def test_a_picture_never_replaces_what_is_read_or_written(tmp_path: Path) -> None:
    """Neither an input nor the report."""
    board = write_board(tmp_path)
    named = board.rename(tmp_path / "board.svg")
    before = named.read_text()
    assert klaudit("audit", named, *BOARD, "--plot", named).returncode == 2
    assert named.read_text() == before
    done = klaudit("audit", named, *BOARD, "-o", tmp_path / "out.svg", "--plot", tmp_path / "out.svg")
    assert done.returncode == 2
    assert "is a file that this run reads or writes" in done.stderr


def test_a_picture_that_cannot_be_written_is_2(tmp_path: Path) -> None:
    """The message names it and --plot."""
    pytest.importorskip("matplotlib")
    done = klaudit("audit", write_board(tmp_path), *BOARD, "--plot", tmp_path / "no" / "x.svg")
    assert done.returncode == 2
    assert "x.svg" in done.stderr
    assert "name another one with --plot" in done.stderr


def _without_matplotlib(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command where matplotlib is not installed."""
    code = (
        "import sys, importlib.util as util; real = util.find_spec;"
        "util.find_spec = lambda name, *rest: None if name == 'matplotlib' else real(name, *rest);"
        "sys.modules['matplotlib'] = None; from klaudit.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, encoding="utf-8", cwd=ROOT,
        env=environment(), check=False,
    )  # fmt: skip


def test_without_matplotlib(tmp_path: Path) -> None:
    """`--plot` says what to install and judges nothing; the page has its picture all the same."""
    board = write_board(tmp_path)
    for command in (("audit", board, *BOARD), ("roofline",)):
        done = _without_matplotlib(*command, "--plot", "x.svg")
        assert (done.returncode, done.stdout) == (2, "")
        assert "pip install 'klaudit[plot]'" in done.stderr
    done = _without_matplotlib("audit", board, *BOARD, "--format", "html")
    assert (done.returncode, done.stderr) == (1, "")
    assert '<svg class="picture"' in done.stdout
    assert 'class="mark impossible"' in done.stdout


def test_nothing_else_imports_matplotlib(tmp_path: Path) -> None:
    """Neither an audit, nor a page, nor the roofs, without --plot."""
    board = write_board(tmp_path)
    for arguments in (("audit", board, *BOARD), ("audit", board, *BOARD, "--format", "html"), ("roofline",)):
        code = (
            "import sys; from klaudit.__main__ import main; main(sys.argv[1:]);"
            "assert 'matplotlib' not in sys.modules; assert 'klaudit.formats.plot' not in sys.modules"
        )
        subprocess.run([sys.executable, "-c", code, *map(str, arguments)], check=True, cwd=ROOT, capture_output=True)
