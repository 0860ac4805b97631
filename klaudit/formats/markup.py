"""Texts as HTML: the one place that makes them harmless there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from klaudit.formats.json_ import text
from klaudit.formats.text import clean, clean_lines


def escaped(said: str, keep_lines: bool = False) -> str:
    """A text that is neither markup nor able to turn its line round; with its own line breaks where asked for."""
    return escape(text(clean_lines(said) if keep_lines else clean(said)))


def element(tag: str, said: str) -> str:
    """A text in an element of its own."""
    return f"<{tag}>{escaped(said)}</{tag}>"


def listed_items(items: Iterable[str]) -> str:
    """Sentences as a list, or nothing where there are none."""
    body = "".join(element("li", item) for item in items)
    return f'<ul class="notes">{body}</ul>' if body else ""


def terms(pairs: Iterable[tuple[str, str]]) -> str:
    """Names and what is said of each."""
    body = "".join(element("dt", name) + element("dd", what) for name, what in pairs)
    return f'<dl class="terms">{body}</dl>' if body else ""


def grid(head: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    """A plain table, its first `left` columns to the left and the others, numbers, to the right."""

    def cell(tag: str, i: int, said: str) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        return f"<{tag}{scope}{' class=num' if i >= left else ''}>{escaped(said)}</{tag}>"

    top = "".join(cell("th", i, name) for i, name in enumerate(head))
    body = "".join("<tr>" + "".join(cell("td", i, c) for i, c in enumerate(row)) + "</tr>\n" for row in rows)
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>\n{body}</tbody></table></div>'
