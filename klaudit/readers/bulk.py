"""Large tables with the extra `bulk`: rows that are within for sure are only counted, and the others handed on.

CSV without quotes and Parquet are read by pyarrow. Anything else, and whatever it would read otherwise than the plain
readers, goes to those, from that row on.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from klaudit.readers.options import ReadOptions
from klaudit.readers.settle import NotBulk
from klaudit.readers.source import Source

if TYPE_CHECKING:
    from klaudit.bounds import Settled
    from klaudit.leaderboard import Leaderboard

_READERS: Final = {"csv": "klaudit.readers.bulk_csv", "parquet": "klaudit.readers.bulk_parquet"}


def read(source: Source, format_id: str, options: ReadOptions) -> Iterator[Leaderboard | Settled]:
    """The rows of a large file that need a judge, then the counts of the others.

    Raises
    ------
    NotBulk
        Where a plain reader must read the file, or what is left of it.
    """
    if options.settle is None or not source.is_a_plain_file or format_id not in _READERS:
        raise NotBulk
    yield from importlib.import_module(_READERS[format_id]).read(source, options)
