"""Compressed bytes made plain as they come, never all at once. No formats, no text."""

from __future__ import annotations

import zlib
from typing import Final, Protocol

from klaudit.errors import InputError, UsageError
from klaudit.readers.limits import Limits
from klaudit.readers.opening import Snapshot

_MARKS: Final = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"))
# So much may come out of anything: small files of like rows compress well.
_TRUSTED: Final = 16 * 2**20
_LARGEST_WINDOW: Final = 128 * 2**20


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


def compression_of(head: bytes) -> str | None:
    """The compression that first bytes show."""
    return next((name for mark, name in _MARKS if head.startswith(mark)), None)


class Expanded:
    """The plain bytes of compressed ones, as a file to read.

    A file that grows beyond all measure is refused: a few kilobytes can hold terabytes of nothing.
    """

    def __init__(self, label: str, packed: Snapshot, kind: str, limits: Limits) -> None:
        self._label = label
        self._packed = packed
        self._kind = kind
        self._limits = limits
        self._file = _gzip(packed) if kind == "gzip" else _zstd(label, packed)
        self._given = 0

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes; empty at the end."""
        try:
            data = self._file.read(size)
        except EOFError:
            raise InputError(f"{self._label} ends in the middle of its {self._kind} data: it is cut short") from None
        except (zlib.error, OSError) as error:
            raise InputError(f"{self._label} is damaged {self._kind} data: {error}") from None
        except Exception as error:
            # The error class of an extra: it cannot be named without importing it.
            if type(error).__name__ != "ZstdError":
                raise
            raise InputError(f"{self._label} is damaged {self._kind} data: {error}") from None
        self._given += len(data)
        if self._given > _TRUSTED and self._given > self._limits.expansion * max(self._packed.taken, 1):
            found = f"{self._label} grows from {self._packed.taken} to {self._given} bytes"
            raise self._limits.exceeded("expansion", found)
        return data


def _gzip(packed: Snapshot) -> _Readable:
    import gzip

    return gzip.GzipFile(fileobj=packed)  # type: ignore[call-overload, no-any-return]  # all it needs of a file is read


def _zstd(label: str, packed: Snapshot) -> _Readable:
    try:
        import zstandard
    except ImportError:
        raise UsageError(
            f"{label} is Zstandard data, which needs an extra: pip install 'klaudit[zstd]', or expand it first"
        ) from None
    expander = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
    reader: _Readable = expander.stream_reader(packed, read_across_frames=True)  # type: ignore[arg-type, unused-ignore]
    return reader
