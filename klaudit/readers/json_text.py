"""JSON text to values, one record at a time: an array's elements, the lines of JSONL, or one document. No meaning.

Numbers stay the text they are written as, since their digits say how they were rounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from klaudit.errors import InputError
from klaudit.readers.source import Source

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_STRINGS: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKETS: Final = re.compile(r"[\[\]{}]")
# An error so close to the end of what was read may only be for want of more.
_NEAR_THE_END: Final = 16
_STEP: Final = 2**16

_DECODER: Final = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)


class Item(NamedTuple):
    """One value of a file.

    Attributes
    ----------
    line : int
        The line it stands on where the file has one value a line, else 0.
    path : str
        Where it stands in its document, as `[3]`; empty where the line says it.
    value : object
        With numbers as text; an `Unreadable` where it is no JSON.
    """

    line: int
    path: str
    value: object


class Unreadable(NamedTuple):
    """What is wrong with a line that is no JSON."""

    reason: str


def items(source: Source) -> Iterator[Item]:
    """The values of a file, in order.

    Raises
    ------
    InputError
        Where the text is no JSON at all, or a value exceeds a limit.
    """
    text = _Text(source)
    if text.peek() == "[":
        yield from text.elements()
        return
    start = text.line
    try:
        first: object = text.value()
    except InputError:
        # JSON lines of which the first is broken.
        if not text.has_another_object():
            raise
        first = Unreadable(text.skip_line())
    if not text.peek():
        yield Item(0, "", first)
        return
    yield Item(start, "", first)
    yield from text.lines()


class _Text:
    """The text of a file, as far as it has been read and not yet used."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.line = 1
        self._chunks = source.chunks()
        self._buffer = ""
        self._at = 0
        self._base = 0  # characters dropped before the buffer

    def peek(self) -> str:
        """The next character that is no space; "" at the end."""
        while True:
            end = _SPACE.match(self._buffer, self._at).end()  # type: ignore[union-attr]  # it matches anywhere
            self._move(end)
            if end < len(self._buffer):
                return self._buffer[end]
            if not self._more():
                return ""

    def value(self) -> object:
        """The next value."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                unfinished = error.msg.startswith("Unterminated") or error.pos >= len(self._buffer) - _NEAR_THE_END
                if unfinished and self._more():
                    continue
                raise self._explain(error) from None
            except RecursionError:
                raise self._too_deep() from None
            # A number may go on in the next chunk.
            if end == len(self._buffer) and self._buffer[end - 1] not in '}]"' and self._more():
                continue
            if _deeper_than(self.source.limits.depth, self._buffer[self._at : end]):
                raise self._too_deep()
            self._move(end)
            return value

    def elements(self) -> Iterator[Item]:
        """The elements of the array that comes next, and nothing after it."""
        self._move(self._at + 1)
        index = 0
        if self.peek() == "]":
            self._move(self._at + 1)
        else:
            while True:
                yield Item(0, f"[{index}]", self.value())
                index += 1
                mark = self.peek()
                if not mark:
                    raise self._cut_short()
                if mark not in (",", "]"):
                    raise self._broken("expected a comma or a closing bracket", self._at)
                self._move(self._at + 1)
                if mark == "]":
                    break
        if self.peek():
            raise self._broken("something follows the end of the array", self._at)

    def lines(self) -> Iterator[Item]:
        """The values of the lines that are left; a line that is no JSON is an `Unreadable`."""
        while self.peek():
            at, line = self._base + self._at, self.line
            try:
                value: object = self.value()
            except InputError as error:
                if self._base + self._at != at or "KLAUDIT_MAX_" in str(error):
                    raise
                value = Unreadable(self.skip_line())
            yield Item(line, "", value)

    def has_another_object(self) -> bool:
        """Whether the next line starts an object, as lines of records do."""
        return re.compile(r"[^\n]*\n\s*\{").match(self._buffer, self._at) is not None

    def skip_line(self) -> str:
        """Go to the next line; says what this one holds."""
        while (end := self._buffer.find("\n", self._at)) < 0:
            if not self._more():
                end = len(self._buffer)
                break
        shown = self._buffer[self._at : min(end, self._at + 40)]
        self._move(end)
        return f"is no JSON: {shown!r}"

    def _more(self) -> bool:
        """Read on, the more the longer the value is; False at the end."""
        limit, held = self.source.limits.document, len(self._buffer) - self._at
        if held > limit:
            raise self.source.limits.exceeded("document", f"{self.source.label} has a value of at least {held} bytes")
        wanted = min(max(_STEP, held), limit + 1 - held)
        parts = [self._buffer[self._at :]]
        self._base += self._at
        self._at = 0
        while wanted > 0 and (chunk := next(self._chunks, "")):
            parts.append(chunk)
            wanted -= len(chunk)
        before = len(parts[0])
        self._buffer = "".join(parts)
        return len(self._buffer) > before

    def _move(self, to: int) -> None:
        self.line += self._buffer.count("\n", self._at, to)
        self._at = to

    def _too_deep(self) -> InputError:
        found = f"{self.source.label} nests JSON deeper than {self.source.limits.depth} levels"
        return self.source.limits.exceeded("depth", found)

    def _cut_short(self) -> InputError:
        return InputError(f"{self.source.label} ends in the middle of its JSON: it is cut short")

    def _explain(self, error: json.JSONDecodeError) -> InputError:
        if error.msg.startswith("Unterminated") or error.pos >= len(self._buffer):
            return self._cut_short()
        return self._broken(error.msg[0].lower() + error.msg[1:], error.pos)

    def _broken(self, what: str, at: int) -> InputError:
        line = self.line + self._buffer.count("\n", self._at, at)
        return InputError(f"{self.source.label} is no JSON: line {line}, character {self._base + at}: {what}")


def _deeper_than(limit: int, text: str) -> bool:
    """Whether brackets nest deeper than allowed; most values have too few of them to need a look."""
    if text.count("[") + text.count("{") <= limit:
        return False
    depth = 0
    for bracket in _BRACKETS.findall(_STRINGS.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > limit:
            return True
    return False
