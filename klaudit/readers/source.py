"""Opening a file: what its first bytes show, its encoding, and how far it has been read. No rows here."""

from __future__ import annotations

import functools
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from klaudit.errors import InputError
from klaudit.readers.compressed import Expanded, compression_of
from klaudit.readers.limits import Limits
from klaudit.readers.opening import Snapshot, opened

_HEAD: Final = 4096

# First bytes, the format's key and its name for people.
_BINARY: Final = (
    (b"\x1f\x8b", "gzip", "a gzip file"),
    (b"PAR1", "parquet", "a Parquet file"),
    (b"PK\x03\x04", "zip", "a ZIP file or an Excel workbook"),
    (b"\x28\xb5\x2f\xfd", "zstd", "a Zstandard file"),
    (b"BZh", "bzip2", "a bzip2 file"),
    (b"\xfd7zXZ\x00", "xz", "an xz file"),
    (b"SQLite format 3\x00", "sqlite", "an SQLite database"),
    (b"ARROW1", "arrow", "an Arrow file"),
    (b"\xd0\xcf\x11\xe0", "xls", "an old Excel workbook"),
    (b"%PDF-", "pdf", "a PDF document"),
    (b"\x89PNG", "png", "a picture"),
)
_TEXT: Final = (
    (re.compile(rb"\s*\{\s*(?:\"[^\"\n]*\"\s*:.*\}\s*\n\s*\{)"), "jsonl", "JSON lines"),
    (re.compile(rb"\s*(?:\{\s*(?:\"|\}|$)|\[\s*(?:[{\[\]\"]|$))"), "json", "JSON"),
    (re.compile(rb"\s*<(?:!doctype|html|\?xml)", re.IGNORECASE), "html", "HTML or XML"),
    (
        re.compile(rb"(?:.*\n)*?(?:==PROF== (?:Connected|Profiling) |.*\bMetric Name\"?,.*\bMetric Value\b)"),
        "ncu",
        "the output of Nsight Compute",
    ),
    (re.compile(rb".*\bGPU Time \(sec\)\"?,\"?Noise\b"), "nvbench", "nvbench's CSV"),
)
# UTF-32 first: its little-endian mark starts with that of UTF-16.
_MARKS: Final = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


def input_bytes(path: str | Path) -> int | None:
    """The size of an input [B], or None where it is not known (standard input, a pipe)."""
    try:
        return os.path.getsize(path) if str(path) != "-" and os.path.isfile(path) else None
    except OSError:
        return None


class Source(io.BufferedIOBase):
    """A file being read: expands it, counts its bytes, and refuses what cannot be text.

    Attributes
    ----------
    name : str
        The path as the user wrote it, for reports.
    label : str
        The file as messages name it.
    limits : Limits
        What the file may ask for.
    bytes_read : int
        Bytes handed out so far.
    compression : str or None
        How the file was compressed.
    """

    def __init__(self, name: str, file: BinaryIO, limits: Limits | None = None) -> None:
        self.name = name
        self.label = "standard input" if name == "-" else name
        self.limits = limits or Limits()
        self.bytes_read = 0
        self._packed = Snapshot(self.label, file)
        self._file: Snapshot | Expanded = self._packed
        self._unbroken = 0
        self._most_unbroken: int | None = self.limits.line
        self.head = self._file.read(_HEAD)
        self.compression = compression_of(self.head)
        if self.compression is not None:
            self._packed.give_back(self.head)
            self._file = Expanded(self.label, self._packed, self.compression, self.limits)
            self.head = self._file.read(_HEAD)
        self._pending = self.head
        if not self.head:
            raise InputError(f"{self.label} is empty: expected a header line and rows")
        self.encoding = next((e for mark, e in _MARKS if self.head.startswith(mark)), "utf-8-sig")

    @classmethod
    @contextmanager
    def open(cls, path: str | Path, limits: Limits | None = None) -> Iterator[Source]:
        """Open a path, "-" for standard input; standard input is left open."""
        limits = limits or Limits.from_environment()
        with opened(str(path), limits) as file:
            yield cls(str(path), file, limits)

    @property
    def is_binary(self) -> bool:
        """Whether the first bytes are those of a binary format."""
        return self.head.startswith(tuple(mark for mark, _, _ in _BINARY))

    @property
    def is_a_plain_file(self) -> bool:
        """Whether others can open it by its name and read the same bytes."""
        return self.compression is None and self._packed.size is not None and self.name != "-"

    @property
    def size(self) -> int:
        """The size of the file [B], as far as it is known."""
        return self._packed.size or self.bytes_read

    @property
    def bytes_done(self) -> int:
        """How far the file itself has been read, for progress."""
        return self.bytes_read if self.compression is None else self._packed.taken

    def looks_like(self) -> tuple[str, str]:
        """The key and the name of the format that the first bytes show; text of no other form is CSV."""
        for mark, format_id, plain in _BINARY:
            if self.head.startswith(mark):
                return format_id, plain
        text = self.head.removeprefix(b"\xef\xbb\xbf")
        if self.encoding != "utf-8-sig":
            text = self.head.decode(self.encoding, "replace").encode()
        for pattern, format_id, plain in _TEXT:
            if pattern.match(text):
                return format_id, plain
        return "csv", "CSV"

    def lines(self) -> Iterator[str]:
        """The physical lines as text, line ends included.

        Raises
        ------
        InputError
            Where the bytes are no text of the file's encoding, with the place of the first bad byte.
        """
        return self._guarded(iter(self._text.readline, ""))

    def chunks(self) -> Iterator[str]:
        """The text in pieces of any length, for formats that know no lines."""
        self._most_unbroken = None
        return self._guarded(iter(lambda: self._text.read(2**16), ""))

    def block(self, size: int) -> str:
        """About `size` characters that follow the lines handed out so far, whole lines; "" at the end."""
        try:
            block = self._text.read(size)
            return block if not block or block.endswith("\n") else block + self._text.readline()
        except UnicodeError as error:
            raise InputError(self._undecodable(error)) from None

    def whole(self) -> bytes:
        """All bytes at once, for formats that cannot be read piece by piece."""
        parts, size = [self._pending], len(self._pending)
        self._pending = b""
        while chunk := self._file.read(2**20):
            parts.append(chunk)
            size += len(chunk)
            if size > self.limits.document:
                raise self.limits.exceeded("document", f"{self.label} must be read whole and has at least {size} bytes")
        self.bytes_read = size
        return b"".join(parts)

    def readable(self) -> bool:
        """True: this is how TextIOWrapper asks."""
        return True

    def read1(self, size: int = -1, /) -> bytes:
        """Some bytes, checked; empty at the end."""
        if self._pending:
            chunk, self._pending = self._pending, b""
        else:
            chunk = self._file.read(max(size, 2**16))
        self._check(chunk)
        self.bytes_read += len(chunk)
        return chunk

    def read(self, size: int | None = -1, /) -> bytes:
        """All bytes that are left, or some of them."""
        if size is not None and size >= 0:
            return self.read1(size)
        return b"".join(iter(self.read1, b""))

    @functools.cached_property
    def _text(self) -> io.TextIOWrapper:
        return io.TextIOWrapper(self, encoding=self.encoding, newline="")

    def _guarded(self, pieces: Iterator[str]) -> Iterator[str]:
        try:
            yield from pieces
        except UnicodeError as error:
            raise InputError(self._undecodable(error)) from None

    def _check(self, chunk: bytes) -> None:
        if self.encoding == "utf-8-sig" and b"\0" in chunk:
            at = self.bytes_read + chunk.index(b"\0")
            hint = "If it is UTF-16, save it as UTF-8" if at < 4 else "Export it again as text in UTF-8"
            raise InputError(f"{self.label} is not text: byte {at} is zero. {hint}")
        if self._most_unbroken is None:
            return
        if b"\n" in chunk or b"\r" in chunk:
            self._unbroken = 0
        self._unbroken += len(chunk)
        if self._unbroken > self._most_unbroken:
            raise self.limits.exceeded("line", f"{self.label} has a line of at least {self._unbroken} bytes")

    def _undecodable(self, error: UnicodeError) -> str:
        """A sentence with the place of the bad byte; the decoder itself only knows its place within a chunk."""
        if not isinstance(error, UnicodeDecodeError):
            return f"{self.label} is not {self.encoding.upper()} text: {error}. Save it as UTF-8"
        at = self.bytes_read - len(error.object) + error.start
        found = f"byte {at} is 0x{error.object[error.start]:02x}"
        encoding = self.encoding.removesuffix("-sig").upper()
        advice = "save it as UTF-8"
        if encoding == "UTF-8":
            advice += f" (from Windows: iconv -f WINDOWS-1252 -t UTF-8 {self.name!r})"
        return f"{self.label} is not {encoding} text: {found}. To read it, {advice}"
