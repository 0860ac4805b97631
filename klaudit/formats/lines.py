"""Lines of styled text, their columns, and the one place that uses rich. Texts come in clean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TextIO

from klaudit.formats.text import cells, cut, pad, wrap

# A span is a text, or a text and a style of rich.
Span = str | tuple[str, str]
Line = tuple[Span, ...]

LEAST_WIDTH: Final = 60
GAP: Final = "  "
_LEAST_SQUEEZED: Final = 10


def write_lines(lines: Iterable[Line], out: TextIO, color: bool) -> None:
    """Write `lines`, one by one as they come; without colour rich is not even imported."""
    if not color:
        for line in lines:
            out.write("".join([s if isinstance(s, str) else s[0] for s in line]).rstrip() + "\n")
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(
        file=out,
        force_terminal=True,
        color_system="standard",
        no_color=False,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for line in lines:
        # Text objects, never markup: a name like "[red]" is text.
        console.print(Text.assemble(*line), soft_wrap=True)


def paragraph(text: str, width: int, indent: str = "", first: str | None = None) -> list[Line]:
    """A cleaned text as wrapped lines."""
    return [(line,) for line in wrap(text, width, indent, first)]


def columns(
    header: Sequence[str], rows: Sequence[Sequence[str]], width: int, left: int = 1, squeeze: int | None = None
) -> list[Line]:
    """Cells in columns, the first `left` of them to the left and the others to the right.

    Where they do not fit in `width`, the column `squeeze` is cut; where that is not enough, every row becomes a block
    of its own: no line is ever broken.
    """
    widths = [max(cells(row[i]) for row in (header, *rows)) for i in range(len(header))]
    over = sum(widths) + len(GAP) * (len(widths) - 1) - width
    if over > 0:
        if squeeze is None or widths[squeeze] - over < _LEAST_SQUEEZED:
            return _blocks(header, rows, width)
        widths[squeeze] -= over
        rows = [[cut(c, widths[i]) if i == squeeze else c for i, c in enumerate(row)] for row in rows]

    def line(row: Sequence[str]) -> str:
        return GAP.join(pad(cell, widths[i], right=i >= left) for i, cell in enumerate(row))

    return [((line(header), "bold"),), *((line(row),) for row in rows)]


def _blocks(header: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[Line]:
    label = max(cells(name) for name in header[1:])
    lines: list[Line] = []
    for row in rows:
        lines.extend(((text, "bold"),) for text in wrap(row[0], width))
        for name, cell in zip(header[1:], row[1:], strict=True):
            lines.extend(paragraph(cell, width, " " * (label + 4), f"  {pad(name, label)}  "))
    return lines
