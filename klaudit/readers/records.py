"""Records of a structured file to Leaderboards: each becomes a row of cells under headers, then reads as CSV does.

A format says what its fields mean by the headers that it files them under: "runtime (ms)", "fastest run (ns)".
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from klaudit.errors import InputError, UsageError
from klaudit.leaderboard import Leaderboard, Trouble
from klaudit.readers.cells import Assembler, show_cell
from klaudit.readers.columns import Comma
from klaudit.readers.fields import case_names, count_names, plan_columns
from klaudit.readers.headers import normalise
from klaudit.readers.json_text import Item, Unreadable, items
from klaudit.readers.options import ReadOptions
from klaudit.readers.source import Source

FASTEST: Final = "fastest run"
# A batch of records with many fields ends early, as one of wide rows does.
_BATCH_CELLS: Final = 1_000_000
# What an object is called by, the better name first.
_NAMING: Final = ("slug", "name", "title")


class Record(NamedTuple):
    """One row to be: its cells by header, and what is known to be wrong with it.

    Attributes
    ----------
    cells : mapping of str to str
    path : str
        Where it stands in its document.
    problems : sequence of (rule, sentence, fatal)
    line : int
        The line on which it starts, or 0 where it has none of its own: then it is counted.
    """

    cells: Mapping[str, str]
    path: str = ""
    problems: Sequence[tuple[str, str, bool]] = ()
    line: int = 0


Reader = Callable[[Iterator[Item], ReadOptions], Iterator[Record]]


def read_json(source: Source, options: ReadOptions, headers: Sequence[str], reader: Reader) -> Iterator[Leaderboard]:
    """Read a JSON file through one format's reader of items.

    Parameters
    ----------
    source : Source
    options : ReadOptions
    headers : sequence of str
        Those that the format always has, so that a file of failures alone still has rows.
    reader : callable
        Turns the file's items into records.
    """
    yield from assemble(source, options, headers, reader(items(source), options))


def assemble(
    source: Source, options: ReadOptions, headers: Sequence[str], records: Iterable[Record], comma: Comma = "unclear"
) -> Iterator[Leaderboard]:
    """The records as Leaderboards, a batch at a time; none is lost."""
    if options.decimal is not None:
        comma = "decimal-only" if options.decimal == "," else "thousands"
    records = iter(records)
    known = list(headers)
    assembler: Assembler | None = None
    rows = 0
    while batch := list(islice(records, max(1, min(options.batch_rows, _BATCH_CELLS // max(len(known), 1))))):
        names = list(dict.fromkeys([*known, *(name for record in batch for name in record.cells)]))
        if len(names) > source.limits.columns:
            raise source.limits.exceeded("columns", f"{source.label} has {len(names)} different fields")
        if assembler is None or names != known:
            assembler, known = _assembler(source, names, options, comma, own_headers=not headers), names
        try:
            yield _board(assembler, batch, names, rows + 1)
        except InputError as error:
            raise InputError(f"{source.label}: {error}") from None
        rows += len(batch)
        del batch
        if options.progress is not None:
            options.progress(rows, source.bytes_done)
    if rows == 0:
        raise InputError(f"{source.label} holds no records: nothing can be judged")


def _assembler(
    source: Source, names: Sequence[str], options: ReadOptions, comma: Comma, *, own_headers: bool
) -> Assembler:
    try:
        layout = plan_columns(names, options)
    except (InputError, UsageError) as error:
        raise type(error)(f"{source.label}: {error}") from None
    return Assembler(source.name, layout, options, comma, "record", own_headers)


def _board(assembler: Assembler, batch: Sequence[Record], names: Sequence[str], first: int) -> Leaderboard:
    lines = [record.line or first + index for index, record in enumerate(batch)]
    troubles = [
        Trouble(index, rule, f"record {lines[index]}: {sentence}", fatal)
        for index, record in enumerate(batch)
        for rule, sentence, fatal in record.problems
    ]
    columns = [[record.cells.get(name, "") for record in batch] for name in names]
    paths = [record.path for record in batch]
    return assembler.assemble(lines, columns, troubles, paths if any(paths) else None)


# -- what formats share -----------------------------------------------------------------------------------------------


def as_text(value: object) -> str:
    """A JSON value as the cell of a table: numbers as they are written, nothing for null.

    Examples
    --------
    >>> as_text("0.0710"), as_text(None), as_text(True), as_text(["x"])
    ('0.0710', '', 'true', '["x"]')
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json.dumps(value) if not isinstance(value, bool) else str(value).lower()


def as_object(value: object) -> Mapping[str, object]:
    """An object's members; none where the value is no object."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> Sequence[object]:
    """A list's elements; none where the value is no list."""
    return value if isinstance(value, list) else ()


def first_of(members: Mapping[str, object], *names: str) -> str:
    """The first of some members that says anything, as text."""
    return next((text for name in names if (text := as_text(members.get(name)).strip())), "")


def name_of(members: Mapping[str, object], *names: str) -> str:
    """The first of some members that names something, itself or by its slug, name or title.

    Examples
    --------
    >>> name_of({"problem": {"title": "ReLU", "slug": "relu"}}, "problemSlug", "problem")
    'relu'
    """
    values = (members.get(name) for name in names)
    return next((t for v in values if (t := first_of(v if isinstance(v, dict) else {"name": v}, *_NAMING))), "")


def number(text: str) -> float:
    """A text as a number for comparisons; NaN where it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def with_unit(text: str, unit: str) -> str:
    """A number and its unit in one cell; what is no number stays as it is, so that messages show what was written."""
    return f"{text} {unit}" if not math.isnan(number(text)) else text


def fastest_of(texts: Iterable[str]) -> str:
    """The text of the smallest number, as written; "" where none is a number.

    Examples
    --------
    >>> fastest_of(["0.0712", "0.0708", ""])
    '0.0708'
    """
    numbers = [(value, text) for text in texts if (value := number(text)) == value]
    return min(numbers, default=(0.0, ""), key=lambda pair: pair[0])[1]


def no_object(item: Item) -> Record:
    """The record of a value that is none."""
    reason = (
        item.value.reason if isinstance(item.value, Unreadable) else f"is no object: {show_cell(as_text(item.value))}"
    )
    return Record({}, item.path, (("not-a-number", reason, True),), item.line)


def refused(reason: str) -> tuple[str, str, bool]:
    """The problem of a record that its board did not accept."""
    return "not-accepted", reason, True


def known_counts(members: Mapping[str, object], options: ReadOptions) -> dict[str, str]:
    """Those members that are sizes or counts of work by name; a file may hold any others beside them."""
    names = count_names(options)
    found: dict[str, str] = {}
    for member, value in members.items():
        name = names.get(normalise(member))
        if name is not None and (name not in found or member == name):
            found[name] = as_text(value)
    return found


def case_header(case: str, options: ReadOptions) -> str | None:
    """The name that a case of the board has in headers, or None where the board has no such case."""
    return case_names(options).get(normalise(case))


def no_case(name: str, options: ReadOptions) -> tuple[tuple[str, str, bool], ...]:
    """The problem of a record that is one case alone, where a board says which cases there are and lacks this one."""
    if options.board is None or not options.board.cases:
        return ()
    return (("missing-case", f"is for {show_cell(name)}, which is no case of the board {options.board.id}", True),)
