"""Text from files does nothing, in any width."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from klaudit.formats.text import can_show, cells, clean, clean_lines, cut, listed, pad, plural, wrap


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain name", "plain name"),
        ("[red]x[/red]", "[red]x[/red]"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\x9b31m", r"\x9b31m"),
        ("two\nlines\r\n", r"two\nlines\r\n"),
        ("nul\0", r"nul\x00"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("\u200f\u2066a\u2069", r"\u200f\u2066a\u2069"),
        ("a\u2028b\ufeff", r"a\u2028b\ufeff"),
        ("\ud800", r"\ud800"),
        ("a\u00a0b\u3000c", "a b c"),
        ("z\u0301\u0301\u0301\u0301\u0301", "z\u0301\u0301\u0301\\u0301\\u0301"),
        ("::error::x", r"\x3a:error::x"),
        ("a ::warning::x", r"a \x3a:warning::x"),
        ("std::vector", "std::vector"),
        ("##[group]x", r"##\x5bgroup]x"),
        ("名前", "名前"),
    ],
)
def test_what_cannot_be_shown_is_shown_as_its_escape(text: str, shown: str) -> None:
    """Control characters, terminal escapes, bidi marks, stacked marks and CI commands become visible text."""
    assert clean(text) == shown


@given(st.text(), st.integers(4, 30))
def test_a_cleaned_text_is_one_printable_line(text: str, limit: int) -> None:
    """No control, format, surrogate or line-breaking character survives, whatever the text and the limit."""
    for shown in (clean(text), clean(text, limit)):
        assert all(unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp", "Cn", "Co") for c in shown)
    assert cells(clean(text, limit)) <= limit


@given(st.text(max_size=200), st.integers(20, 60))
def test_wrapping_loses_nothing_and_never_overflows(text: str, width: int) -> None:
    """Every line fits, and the words come out in order."""
    shown = clean(text)
    lines = wrap(shown, width, "    ", "  x ")
    assert all(cells(line) <= width for line in lines)
    assert lines[0].startswith("  x ")
    joined = "".join(line[4:] for line in lines).replace(" ", "").replace(r"\x3a:", "::")
    assert joined == shown.replace(" ", "").replace(r"\x3a:", "::")


def test_a_folded_word_is_no_command() -> None:
    """A word that is folded just before `::` does not open a line with a CI runner's command."""
    lines = wrap(clean("x" * 16 + "::error::gotcha"), 20, "    ", "    ")
    assert [line.strip() for line in lines] == ["x" * 16, r"\x3a:error::gotc", "ha"]


def test_a_long_name_is_cut_in_the_middle() -> None:
    """Both ends stay: they tell entries apart. Wide characters count twice."""
    assert clean("entry/" + "x" * 10_000 + "/w8", 20) == "entry/xxx...xxxxx/w8"
    assert cut("名前名前名前名前", 9) == "名...前"
    assert cut("abcdef", 2) == ".."
    assert pad("名", 4) == "名  "
    assert pad("ab", 4, right=True) == "  ab"


def test_small_words() -> None:
    """Counts, lists, messages of several lines, and what an encoding can show."""
    assert plural(1, "row") == "1 row"
    assert plural(0, "row") == "0 rows"
    assert listed(["a"], "or") == "a"
    assert listed(("a", "b"), "or") == "a or b"
    assert clean_lines("what\nto\x07do") == "what\nto\\x07do"
    assert can_show("utf-8", "\u28ff")
    assert can_show(None, "\u28ff")
    assert not can_show("ascii", "\u28ff")
    assert not can_show("no-such-encoding", "a")
