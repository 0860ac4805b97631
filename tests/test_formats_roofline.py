"""The roofs as table and chart: the full text at three widths, with and without braille."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from klaudit.formats import View
from klaudit.formats.provenance import Stamp
from klaudit.formats.roofline import FORMATS, Card
from klaudit.formats.text import cells
from klaudit.formula import Formula
from klaudit.gpu import Gpu, Peak
from klaudit.provenance import Figure
from klaudit.report import Roofs
from klaudit.workload import Count, Workload

GOLDEN = Path(__file__).parent / "golden"
STAMP = Stamp("0.1.0", "2026-01-31", "0123456789abcdef" * 4, "tensara-kl-2025", (), ("write-back",))
COUNT = Count(Formula("7*n", ("n",)), "")
WORKLOAD = Workload("kl-divergence", "KL divergence, element by element", ("n",), ("float32",), COUNT, COUNT, COUNT)


def card(name: str, bandwidth: float, peak: float, port: float | None = None, floor: float | None = None) -> Card:
    """A card of that bandwidth [B/s], peak [FLOP/s] and rate through the cache port [FLOP/s]."""
    best = Peak("float32", "vector", peak, Figure("peaks", peak, "", "vendor"))
    gpu = Gpu(
        id=name, name=name.upper(), vendor="nvidia", architecture="Turing", bandwidth=bandwidth, bandwidth_from="pin",
        cache=4 * 2**20, processors=40, clock=1.59e9, clock_from="maximum", peaks=(best,),
    )  # fmt: skip
    special = None if port is None else 2 * port
    sizes = {} if floor is None else {"n": 1e6}
    roofs = Roofs(
        gpu, WORKLOAD, "float32", 7 / 12, best, peak / bandwidth, bandwidth * 7 / 12, port, peak, special, sizes
    )
    return Card(roofs._replace(traffic=None if floor is None else 12e6, floor=floor))


CARDS = (
    card("t4", 320.064e9, 8.1408e12, 3561.6e9, 37.5e-6),
    card("a-card-of-our-own-with-a-name-that-nobody-can-remember-48gb", 3352.32e9, 67e12, 14636.16e9, 3.6e-6),
    card("old", 25.6e9, 0.9e12, None, 468.8e-6),
    card("h200-sxm", 4916.736e9, 67e12, 14636.16e9, 2.44e-6)._replace(served_as="H100"),
)


class _Ascii(io.StringIO):
    """A stream that can print nothing else."""

    encoding = "ascii"  # type: ignore[assignment]


def render(width: int, ascii_only: bool = False, color: bool = False) -> str:
    """The page as text."""
    out = _Ascii() if ascii_only else io.StringIO()
    FORMATS["table"](CARDS, out, View(width=width, color=color), STAMP)
    return out.getvalue()


@pytest.mark.parametrize("ascii_only", [False, True], ids=["braille", "ascii"])
@pytest.mark.parametrize("width", [80, 100, 160])
def test_the_whole_page(width: int, ascii_only: bool) -> None:
    """The text is exactly that of the golden file; KLAUDIT_GOLDEN=write writes it anew."""
    shown = render(width, ascii_only)
    golden = GOLDEN / f"roofline-{'ascii' if ascii_only else 'braille'}-{width}.txt"
    if os.environ.get("KLAUDIT_GOLDEN") == "write":
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160, 300])
def test_no_line_is_wider_than_the_view(width: int) -> None:
    """Views narrower than 60 cells get lines of 60."""
    for line in render(width).split("\n"):
        assert cells(line) <= max(width, 60)
        assert line == line.rstrip()


def test_numbers_of_a_column_end_together() -> None:
    """One unit a column and as many decimals in every line, so that sizes compare at a glance."""
    table = [line for line in render(160).split("\n") if line[:3] in ("a  ", "b  ", "c  ", "d  ")]
    assert len(table) == 4
    assert len({len(line) for line in table}) == 1
    assert {len(word.partition(".")[2]) for line in table for word in line.split()[2:3]} == {1}


def test_long_names_are_cut_in_the_middle() -> None:
    """Both ends of a card's id stay at 80 columns."""
    assert "a-ca...48gb" in render(80)


def test_without_colour_there_is_none() -> None:
    """And with colour nothing but colour is added."""
    assert "\x1b" not in render(80)
    colored = render(80, color=True)
    for code in ("\x1b[0m", "\x1b[1m"):
        colored = colored.replace(code, "")
    assert [line.rstrip() for line in colored.split("\n")] == render(80).split("\n")
