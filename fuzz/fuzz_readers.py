"""Feeds every reader with whatever atheris finds: each input must end in rows or in an error of the user's.

    python -m venv /tmp/fuzz && /tmp/fuzz/bin/pip install atheris numpy click pyyaml rich zstandard pyarrow
    PYTHONPATH=. /tmp/fuzz/bin/python fuzz/fuzz_readers.py fuzz/corpus -max_total_time=600 -rss_limit_mb=0

The first byte of an input chooses the reader that it is forced on; the rest is the file. The fuzzer itself grows by
some kilobytes an input, hence no limit on its memory. A finding is kept as crash-*; once it is mended it belongs into
fuzz/corpus, where `tests/test_robustness.py` reads it for ever.
"""

from __future__ import annotations

import importlib
import io
import sys

import atheris

with atheris.instrument_imports(include=["klaudit"]):
    import klaudit.readers
    from klaudit.errors import KlauditError
    from klaudit.readers.limits import Limits
    from klaudit.readers.source import Source

    for path in klaudit.readers.READERS.values():
        importlib.import_module(path)

FORMATS = (None, *sorted(klaudit.readers.READERS))
# Small ones, so that what exceeds them is found.
LIMITS = Limits(line=4096, cell=1024, columns=200, document=8192, depth=20)


def one_input(data: bytes) -> None:
    """Read one input."""
    if not data:
        return
    forced = FORMATS[data[0] % len(FORMATS)]
    options = klaudit.readers.ReadOptions(input_format=forced, batch_rows=7, limits=LIMITS)
    try:
        source = Source("fuzz", io.BytesIO(data[1:]), LIMITS)
        module = importlib.import_module(klaudit.readers.READERS[klaudit.readers._format_of(source, options)])
        for board in module.read(source, options):
            assert len(board) > 0
            assert len(board.entries) == len(board.gpu_codes) == len(board)
            assert all(len(f.value) == len(f.low) == len(f.high) == len(board) for f in board.figures)
            assert all(0 <= t.row < len(board) for t in board.troubles)
    except KlauditError:
        pass


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
