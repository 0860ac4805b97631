"""JSON and JSON lines whose format nobody has named: recognised by what the first record holds.

Records of no known format are read as rows of a table, their keys as its headers.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from itertools import chain
from types import ModuleType
from typing import Final

from klaudit.errors import InputError
from klaudit.leaderboard import Leaderboard
from klaudit.readers.json_text import Item, Unreadable, items
from klaudit.readers.options import ReadOptions
from klaudit.readers.records import Record, as_list, as_object, as_text, assemble, no_object
from klaudit.readers.source import Source

# Each module says by `recognises(value)` whether a record is of its format; the more particular ones first.
_KINDS: Final = ("traces", "kernelbench", "pytest_benchmark", "google_benchmark", "nvbench", "kernelbot", "tensara")
# So many records are looked at: the first may be a failure that shows nothing.
_LOOKED_AT: Final = 100
_NESTED: Final = 3


def read(source: Source, options: ReadOptions) -> Iterator[Leaderboard]:
    """The records of an open file, a batch at a time.

    Raises
    ------
    InputError, UsageError
        As `klaudit.readers.read`.
    """
    values = items(source)
    first: list[Item] = []
    for item in values:
        first.append(item)
        kind = _kind_of(item.value)
        if kind is not None:
            yield from assemble(source, options, kind.HEADERS, kind.records(chain(first, values), options))
            return
        if len(first) == _LOOKED_AT:
            break
    yield from assemble(source, options, (), _records(chain(_unwrapped(first, source), values)))


def _kind_of(value: object) -> ModuleType | None:
    if not isinstance(value, dict) or not value:
        return None
    modules = (importlib.import_module(f"klaudit.readers.{name}") for name in _KINDS)
    return next((module for module in modules if module.recognises(value)), None)


def _unwrapped(first: list[Item], source: Source) -> Iterator[Item]:
    """The records of a document that is one object around a list of them."""
    if len(first) != 1 or first[0].path or not isinstance(first[0].value, dict):
        if first and all(isinstance(item.value, Unreadable) for item in first):
            raise InputError(f"{source.label} {first[0].value.reason}")  # type: ignore[attr-defined]
        yield from first
        return
    lists = {name: found for name, value in first[0].value.items() if any(isinstance(v, dict) for v in as_list(value))
             for found in [as_list(value)]}  # fmt: skip
    if len(lists) != 1:
        yield from first
        return
    name, found = next(iter(lists.items()))
    for index, value in enumerate(found):
        yield Item(0, f"{name}[{index}]", value)


def _records(values: Iterator[Item]) -> Iterator[Record]:
    for item in values:
        if isinstance(item.value, dict):
            yield Record(dict(_flat(item.value)), item.path, (), item.line)
        else:
            yield no_object(item)


def _flat(members: Mapping[str, object], prefix: str = "", depth: int = _NESTED) -> Iterator[tuple[str, str]]:
    """Members and members of members, `user.name` for the latter."""
    for name, value in members.items():
        if isinstance(value, dict) and depth > 1:
            yield from _flat(as_object(value), f"{prefix}{name}.", depth - 1)
        else:
            yield prefix + name, as_text(value)
