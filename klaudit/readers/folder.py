"""Folders named as inputs: which of their files are leaderboards. Nothing is opened here."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from klaudit.errors import InputError

SUFFIXES: Final = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet")
_PACKED: Final = (".gz", ".zst", ".bz2", ".xz")


def expand(names: Iterable[str]) -> tuple[str, ...]:
    """The files that are named, a folder as the leaderboards in it and below, by name; each file once.

    A name with `*`, `?` or `[` that no file has is a pattern, for shells that leave it as it is.

    Raises
    ------
    InputError
        When a folder holds no file that could be a leaderboard, or no file fits a pattern.
    """
    files: dict[str, None] = {}
    for name in itertools.chain.from_iterable(map(_matching, names)):
        if name == "-" or not os.path.isdir(name):
            files[name] = None
            continue
        found = list(_leaderboards(Path(name)))
        if not found:
            raise InputError(f"{name} is a folder without leaderboards. Expected files ending in {', '.join(SUFFIXES)}")
        files.update(dict.fromkeys(found))
    return tuple(files)


def _matching(name: str) -> list[str]:
    """The files that a pattern fits, or the name itself."""
    if name == "-" or os.path.lexists(name):
        return [name]
    import glob

    if not glob.has_magic(name):
        return [name]
    found = sorted(glob.glob(name, recursive=True))
    if not found:
        raise InputError(f"no file fits {name}. Check the pattern")
    return found


def _leaderboards(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        plain = path.with_suffix("") if path.suffix.lower() in _PACKED else path
        if not hidden and plain.suffix.lower() in SUFFIXES and path.is_file():
            yield str(path)
