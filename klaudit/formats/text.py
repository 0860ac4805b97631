"""Text that is safe to print: the one place that makes names from files harmless. Nothing is printed here.

A leaderboard's names are written by the people who are audited. No name may move the cursor, colour the terminal, turn
the reading direction round, break a line in two, or be taken by a CI runner for a command.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_STACKED_MARKS: Final = 3
# Commands of GitHub's runner: the first at the start of a line (and lines break at words), the second anywhere.
_RUNNER_COMMANDS: Final = re.compile(r"(?<!\S)::|##\[")
_CUT: Final = "..."


def clean(text: str, limit: int | None = None) -> str:
    r"""`text` as one printable line of at most `limit` terminal cells; what cannot be shown is shown as its escape.

    Examples
    --------
    >>> print(clean("a\x1b[31mb\nc\u202ed"))
    a\x1b[31mb\nc\u202ed
    >>> clean("abcdefghijklmnop", 9)
    'abc...nop'
    """
    if not (text.isascii() and text.isprintable()):
        text = _escape(text)
    if "::" in text or "##[" in text:
        text = _RUNNER_COMMANDS.sub(lambda match: r"\x3a:" if match[0] == "::" else r"##\x5b", text)
    return text if limit is None else cut(text, limit)


def _escape(text: str) -> str:
    shown = []
    marks = 0
    for character in text:
        category = unicodedata.category(character)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if category == "Zs":
            shown.append(" ")
        elif not character.isprintable():
            shown.append(repr(character)[1:-1])
        elif marks > _STACKED_MARKS:
            shown.append(f"\\u{ord(character):04x}")
        else:
            shown.append(character)
    return "".join(shown)


def clean_lines(text: str) -> str:
    """`text` with its own line breaks kept and everything else harmless: for messages of several lines."""
    return "\n".join(clean(line) for line in text.split("\n"))


def cells(text: str) -> int:
    """How many terminal cells a cleaned text takes."""
    return len(text) if text.isascii() else sum(_cell(character) for character in text)


def _cell(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, limit: int) -> str:
    """`text` in at most `limit` cells, its middle left out: both ends of a name tell entries apart."""
    if cells(text) <= limit:
        return text
    if limit <= len(_CUT):
        return _CUT[:limit]
    room = limit - len(_CUT)
    return _head(text, room - room // 2) + _CUT + _head(text[::-1], room // 2)[::-1]


def _head(text: str, limit: int) -> str:
    used = 0
    for position, character in enumerate(text):
        used += _cell(character)
        if used > limit:
            return text[:position]
    return text


def pad(text: str, width: int, right: bool = False) -> str:
    """`text` filled with blanks to `width` cells."""
    blanks = " " * (width - cells(text))
    return blanks + text if right else text + blanks


def wrap(text: str, width: int, indent: str = "", first: str | None = None) -> list[str]:
    """`text` in lines of at most `width` cells: `first` before the first, `indent` before the others.

    Words longer than a line are folded; nothing is lost.
    """
    lines: list[str] = []
    lead = indent if first is None else first
    line = ""
    for word in text.split():
        rest = word
        while rest:
            room = max(width - cells(lead), 8)
            if line and cells(line) + 1 + cells(rest) <= room:
                line, rest = f"{line} {rest}", ""
            elif not line:
                line = _head(rest, room) or rest[0]
                rest = rest[len(line) :]
            if rest:
                lines.append(lead + line)
                lead, line = indent, ""
                # A folded word may open a line with what a CI runner takes for a command.
                rest = r"\x3a" + rest[1:] if rest.startswith("::") else rest
    return [*lines, lead + line] if line or not lines else lines


def plural(count: int, noun: str) -> str:
    """A count and its noun.

    Examples
    --------
    >>> plural(1, "row"), plural(1200, "row")
    ('1 row', '1200 rows')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(words: list[str] | tuple[str, ...], joint: str = "and") -> str:
    """Words as English lists them.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed([], "or")
    ('a, b and c', 'none')
    """
    if not words:
        return "none"
    return f"{', '.join(words[:-1])} {joint} {words[-1]}" if len(words) > 1 else words[0]


def can_show(encoding: str | None, characters: str) -> bool:
    """Whether a stream of that encoding can print `characters`; one without an encoding holds any text."""
    try:
        characters.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
