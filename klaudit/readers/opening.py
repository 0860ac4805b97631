"""A path to bytes: files, pipes and standard input, each without waiting for ever. No formats, no text."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from klaudit.errors import InputError
from klaudit.readers.limits import Limits


@contextmanager
def opened(name: str, limits: Limits) -> Iterator[BinaryIO]:
    """The file of a path, "-" for standard input, which is left open.

    Raises
    ------
    InputError
        Where there is no such file, or none that can be read.
    """
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        file = _open_pipe(name, limits) if _is_pipe(name) else open(name, "rb")  # noqa: SIM115 (closed below)
    except FileNotFoundError:
        raise InputError(f"{name}: there is no such file. Check the path; - reads standard input") from None
    except IsADirectoryError:
        raise InputError(f"{name} is a directory: name a file in it") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{name} cannot be opened: {getattr(error, 'strerror', None) or error}") from None
    with file:
        yield file


def _is_pipe(name: str) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(name).st_mode)
    except (OSError, ValueError):
        return False


def _open_pipe(name: str, limits: Limits) -> BinaryIO:
    """A pipe that somebody writes to: opening one that nobody does would wait for ever."""
    descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK)
    file = os.fdopen(descriptor, "rb")
    import select

    ready = select.poll()
    ready.register(descriptor, select.POLLIN)
    if not ready.poll(limits.wait * 1000):
        file.close()
        raise limits.exceeded("wait", f"{name} is a pipe, and nothing came out of it for {limits.wait} s")
    os.set_blocking(descriptor, True)
    return file


class Snapshot:
    """A file's bytes as it was when it was opened; one that changes meanwhile is refused.

    Attributes
    ----------
    taken : int
        Bytes handed out so far.
    size : int or None
        The bytes of a regular file; None of anything else.
    """

    def __init__(self, label: str, file: BinaryIO) -> None:
        self.taken = 0
        self._label = label
        self._file = file
        self.size = self._size_now()
        self._returned = b""

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes; empty at the end."""
        if self._returned and size >= 0:
            chunk, self._returned = self._returned[:size], self._returned[size:]
        else:
            chunk, self._returned = self._returned + self._pull(size), b""
        self.taken += len(chunk)
        return chunk

    def give_back(self, chunk: bytes) -> None:
        """Have some bytes read again."""
        self._returned = chunk + self._returned
        self.taken -= len(chunk)

    def _pull(self, size: int) -> bytes:
        try:
            chunk = self._file.read(size)
        except OSError as error:
            raise InputError(f"{self._label} cannot be read: {error.strerror or error}") from None
        at = self.taken + len(self._returned) + len(chunk)
        # Nobody could repeat what a report says of a file that was still being written.
        if self.size is not None and (at > self.size or (not chunk and size and at != self.size)):
            raise InputError(f"{self._label} changed while it was read. Copy it, then audit the copy")
        return chunk

    def _size_now(self) -> int | None:
        """The size of a regular file [B]; None of anything else, and of the files that a kernel makes up."""
        try:
            status = os.fstat(self._file.fileno())
        except (OSError, ValueError, AttributeError):
            return None
        at = self._file.tell() if stat.S_ISREG(status.st_mode) else 0
        return status.st_size - at if stat.S_ISREG(status.st_mode) and status.st_size else None
