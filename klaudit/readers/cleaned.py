"""A table's own bytes without some of its records: dialect, columns, order and line ends stay as they are."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from klaudit.errors import UsageError
from klaudit.readers.source import Source

# With the order of bytes named, the mark at the start of a file is a character that is written again.
_ENCODINGS: Final = (
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


def check_cleanable(files: Sequence[str]) -> None:
    """Stop where a file cannot be written without some of its rows.

    Raises
    ------
    UsageError
        For several files, standard input, and anything but an uncompressed table.
    """
    if len(files) != 1 or files[0] == "-":
        raise UsageError(
            "--write-clean writes one file without some of its rows. Name one file, and not standard input"
        )
    with Source.open(files[0]) as source:
        format_id, plain = source.looks_like()
        if source.compression is not None:
            raise UsageError(f"--write-clean: {files[0]} is compressed. Expand it first")
        if format_id != "csv":
            raise UsageError(
                f"--write-clean takes rows out of CSV, and {files[0]} looks like {plain}. Convert it first"
            )


def without(path: str, starts: Sequence[int], dropped: Collection[int]) -> Iterator[bytes]:
    """The file's bytes, line by line, without the records dropped.

    Parameters
    ----------
    path : str
        A table of text.
    starts : sequence of int
        The lines on which records start, ascending.
    dropped : collection of int
        Those of them that are taken out. Blank lines between records stay.
    """
    with open(path, "rb") as head:
        encoding = _encoding(head.read(4))
    with open(path, encoding=encoding, newline="") as file:
        blank: list[bytes] = []
        record = 0
        for number, line in enumerate(file, 1):
            place = bisect_right(starts, number)
            now = starts[place - 1] if place else 0
            if now != record:
                yield from blank
                blank = []
            record = now
            if record not in dropped:
                yield line.encode(encoding)
            elif line.strip("\r\n"):
                # Blank lines before it were part of a quoted cell.
                blank = []
            else:
                blank.append(line.encode(encoding))
        yield from blank


def _encoding(head: bytes) -> str:
    for mark, encoding in _ENCODINGS:
        if head.startswith(mark):
            return encoding
    return "utf-8"
