"""The report for people, as full text at three widths, and what hostile names do in it: nothing."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
import report_samples as samples

from klaudit.formats import View, write
from klaudit.formats.text import cells
from klaudit.report import Audit

GOLDEN = Path(__file__).parent / "golden"


def render(audit: Audit, **view: object) -> str:
    out = io.StringIO()
    write("table", audit, out, View(**view))  # type: ignore[arg-type]
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 100, 160])
@pytest.mark.parametrize("rows", ["flagged", "all"])
def test_the_whole_report(width: int, rows: str) -> None:
    """The text is exactly that of the golden file; KLAUDIT_GOLDEN=write writes it anew."""
    shown = render(samples.audit(), width=width, rows=rows)
    golden = GOLDEN / f"table-{rows}-{width}.txt"
    if os.environ.get("KLAUDIT_GOLDEN") == "write":
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160, 300])
def test_no_line_is_wider_than_the_view(width: int) -> None:
    """Also with names of 10 kB; views narrower than 60 cells get lines of 60."""
    for line in render(samples.audit(samples.ROWS), width=width, rows="all").split("\n"):
        assert cells(line) <= max(width, 60)
        assert line == line.rstrip()


@pytest.mark.parametrize("color", [False, True])
def test_hostile_names_do_nothing(color: bool) -> None:
    """Markup stays text, control characters become escapes, and no line begins with a CI runner's command."""
    shown = render(samples.audit(samples.ROWS), color=color)
    assert "[red]x[/red]" in shown
    for code in ("\x1b[0m", "\x1b[1m", "\x1b[33m", "\x1b[1;31m", "\x1b[32m"):
        shown = shown.replace(code, "")
    assert shown.isprintable() or set(shown) - {"\n"} == {c for c in shown if c.isprintable()}
    assert not any(line.lstrip().startswith("::") for line in shown.split("\n"))
    assert "##[" not in shown


def test_colour_adds_nothing_but_colour() -> None:
    """Without its escapes the coloured report is the plain one."""
    colored = render(samples.audit(), color=True)
    assert "\x1b[1;31mIMPOSSIBLE" in colored
    for code in ("\x1b[0m", "\x1b[1m", "\x1b[33m", "\x1b[1;31m", "\x1b[32m"):
        colored = colored.replace(code, "")
    assert [line.rstrip() for line in colored.split("\n")] == render(samples.audit()).split("\n")


def test_findings_left_out_are_counted() -> None:
    """The summary counts them, and a line says so."""
    shown = render(samples.audit(findings=(samples.CONDITIONAL,), findings_left_out=3))
    assert "+3 more flagged, counted below and not listed." in shown


def test_nothing_judged() -> None:
    """A board of which nothing could be judged says so and shows no share."""
    shown = render(samples.audit((samples.UNJUDGED,)))
    assert "No row could be judged." in shown
    assert "Above the roof" not in shown


def test_several_files_name_the_file_of_each_row() -> None:
    """Rows are named file:line where line alone would not do."""
    shown = render(samples.audit(sources=("board.csv", "b.csv", "c.csv", "d.csv")))
    assert "IMPOSSIBLE   board.csv:8  skip-dense+v4f" in shown
    assert "board.csv, b.csv, c.csv and 1 more: 5 rows" in shown


def test_many_labels_are_summed_up() -> None:
    """A board of a hundred labels shows twenty and the sum of the rest."""
    rows = tuple(samples.row(gpu=f"card-{i}") for i in range(100))
    shown = render(samples.audit(rows))
    assert "+80 more    80             0           0            0         0      80" in shown


def test_rich_is_imported_for_colour_alone() -> None:
    """A report in a CI log costs no import of rich."""
    code = (
        "import sys, io; sys.path.append('tests'); import report_samples as samples;"
        "from klaudit.formats import View, write;"
        "write('table', samples.audit(), io.StringIO(), View()); assert 'rich' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[1])


def test_unjudged_rows_of_one_reason_are_said_once() -> None:
    """What a whole file lacks is said once and counted; a few rows, and rows with another reason, are listed."""
    lacking = [samples.UNJUDGED._replace(entry=f"e{i}", line=i + 2, message="no size") for i in range(100)]
    few = [samples.UNJUDGED._replace(entry=f"f{i}", line=i + 200, message="no score") for i in range(3)]
    shown = render(samples.audit((*lacking, samples.IMPOSSIBLE, *few)), width=100)
    assert [f"e{i}" for i in range(100) if f"  e{i}  " in shown] == ["e0"]
    assert "  and 99 more rows with the same reason; --rows all lists them\n" in shown
    assert [f"f{i}" for i in range(3) if f"  f{i}  " in shown] == ["f0", "f1", "f2"]
    assert samples.IMPOSSIBLE.entry in shown
    every = render(samples.audit((*lacking, *few)), width=100, rows="all")
    assert [i for i in range(100) if f"  e{i}  " not in every] == []
