"""Folders named as inputs: which of their files are leaderboards. Nothing is opened here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from klaudit.errors import InputError

SUFFIXES: Final = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet")
_PACKED: Final = (".gz", ".zst", ".bz2", ".xz")


def expand(names: Iterable[str]) -> tuple[str, ...]:
    """The files that are named, a folder as the leaderboards in it and below, by name; each file once.

    Raises
    ------
    InputError
        When a folder holds no file that could be a leaderboard.
    """
    files: dict[str, None] = {}
    for name in names:
        if name == "-" or not os.path.isdir(name):
            files[name] = None
            continue
        found = list(_leaderboards(Path(name)))
        if not found:
            raise InputError(f"{name} is a folder without leaderboards. Expected files ending in {', '.join(SUFFIXES)}")
        files.update(dict.fromkeys(found))
    return tuple(files)


def _leaderboards(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        plain = path.with_suffix("") if path.suffix.lower() in _PACKED else path
        if not hidden and plain.suffix.lower() in SUFFIXES and path.is_file():
            yield str(path)
