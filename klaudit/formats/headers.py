"""What the columns of the files were taken for, in a sentence or two: the place to look for a misspelt header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from klaudit.formats.text import clean, plural
from klaudit.report import Audit

_MOST_LAYOUTS: Final = 5
_MOST_COLUMNS: Final = 12
_NAME_CELLS: Final = 40
_FILE_CELLS: Final = 60


def sentences(audit: Audit) -> Iterator[str]:
    """A sentence for each kind of header that the files have."""
    files: dict[tuple[tuple[tuple[str, str], ...], tuple[str, ...]], list[str]] = {}
    for told in audit.columns:
        files.setdefault((told.read, told.unused), []).append(told.source)
    for (read, unused), sources in list(files.items())[:_MOST_LAYOUTS]:
        taken = _some([f"{_name(header)} as {clean(meaning, _NAME_CELLS)}" for header, meaning in read])
        of = f" of {_files(sources)}" if len(files) > 1 else ""
        yield f"Columns{of} read: {taken}; not used: {_some([_name(header) for header in unused])}."
    if len(files) > _MOST_LAYOUTS:
        yield f"Columns of {len(files) - _MOST_LAYOUTS} more kinds of file: --format json says how they were read."


def _name(header: str) -> str:
    return f"'{clean(header, _NAME_CELLS)}'"


def _some(words: Sequence[str]) -> str:
    more = len(words) - _MOST_COLUMNS
    return (", ".join(words[:_MOST_COLUMNS]) or "none") + (f" and {more} more" if more > 0 else "")


def _files(sources: Sequence[str]) -> str:
    first = clean(sources[0], _FILE_CELLS)
    return first if len(sources) == 1 else f"{first} and {plural(len(sources) - 1, 'more file')}"
