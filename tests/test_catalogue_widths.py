"""The catalogue on narrow terminals: no line is wider than the terminal, and no name is cut."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest
from command import klaudit

import klaudit as house
from klaudit.audit.tables import limits
from klaudit.formats import View
from klaudit.formats.boards import write_board
from klaudit.formats.catalogue import folded

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("kind", ["boards", "gpus", "workloads"])
def test_no_name_is_cut(kind: str, width: int) -> None:
    """A list that is wider than the terminal takes more lines, and every name is there word by word."""
    shown = klaudit(kind, COLUMNS=str(width)).stdout
    assert max(map(len, shown.split("\n"))) <= width
    assert "..." not in shown
    words = set(shown.split())
    listed = json.loads(klaudit(kind, "--format", "json").stdout)[kind]
    assert [w for item in listed for w in (item["id"], *item["name"].split()) if w not in words] == []


def test_names_over_several_lines() -> None:
    """The rest of a name stands under it; where it fits, or where a word has no room, nothing changes."""
    header, rows = ["id", "name", "n"], [["a", "a name of several words", "1"], ["b", "short", "22"]]
    assert folded(header, rows, 24, 1) == [
        ["a", "a name of", "1"], ["", "several words", ""], ["b", "short", "22"],
    ]  # fmt: skip
    assert folded(header, rows, 40, 1) == folded(header, rows, 13, 1) == rows


@pytest.mark.parametrize("width", [80, 100])
def test_the_board_page(width: int) -> None:
    """The text is exactly that of the golden file; KLAUDIT_GOLDEN=write writes it anew."""
    catalog = house.load_catalog()
    board = catalog.board("tensara-kl-2025")
    out = io.StringIO()
    write_board(board, limits(board, catalog), out, View(width), "table")
    golden = GOLDEN / f"board-{width}.txt"
    if os.environ.get("KLAUDIT_GOLDEN") == "write":
        golden.write_text(out.getvalue(), encoding="utf-8")
    assert out.getvalue() == golden.read_text(encoding="utf-8")
    assert max(map(len, out.getvalue().split("\n"))) <= width
