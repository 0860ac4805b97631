"""Where results go: standard output or a file, whole or not at all; and how wide and colourful they are."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, TextIO

from klaudit.errors import UsageError
from klaudit.formats import View

# Where nothing says how wide: a report in a CI log or under a bug report.
WIDTH: Final = 100


def make_view(
    output: str | None,
    rows: Literal["flagged", "all"] = "flagged",
    units: Literal["decimal", "binary"] = "decimal",
) -> View:
    """How to show a result: as wide as the terminal, or COLUMNS, and in colour only on a terminal that wants it."""
    on_terminal = output in (None, "-") and sys.stdout.isatty()
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said) > 0:
        width = int(said)
    else:
        width = shutil.get_terminal_size((WIDTH, 24)).columns if on_terminal else WIDTH
    color = on_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return View(width, color, rows, units)


@contextmanager
def opened(output: str | None, whole: bool = False) -> Iterator[TextIO]:
    """The stream to write a result to.

    Parameters
    ----------
    output : str or None
        A file; "-" or None is standard output.
    whole : bool
        Whether a reader of standard output that goes away early is an error, as for a machine it is.

    Raises
    ------
    UsageError
        When it cannot be written; nothing partial is left behind in a file.
    """
    try:
        if output in (None, "-"):
            yield from _stdout(whole)
        else:
            yield from _file(Path(str(output)))
    except OSError as error:
        where = "standard output" if output in (None, "-") else repr(output)
        raise UsageError(
            f"cannot write to {where}: {error.strerror or error}. Expected a file that can be written;"
            " free some space, or name another one with --output"
        ) from None


def _stdout(whole: bool) -> Iterator[TextIO]:
    out = sys.stdout
    if hasattr(out, "reconfigure"):
        # A name that the terminal's encoding lacks is no reason to stop.
        out.reconfigure(errors="backslashreplace")
    try:
        yield out
        out.flush()
    except BrokenPipeError:
        # The reader has seen enough (`| head`). Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if whole:
            raise


def save(path: str, content: bytes | Iterable[bytes], option: str = "--plot") -> None:
    """Write bytes, or one piece after the other, to the file of an option: whole or not at all.

    Raises
    ------
    UsageError
        When it cannot be written.
    """
    try:
        for out in _replaced(Path(path), "wb"):
            out.writelines([content] if isinstance(content, bytes) else content)
    except OSError as error:
        raise UsageError(
            f"cannot write to {path!r}: {error.strerror or error}. Expected a file that can be written;"
            f" free some space, or name another one with {option}"
        ) from None


def _file(path: Path) -> Iterator[TextIO]:
    yield from _replaced(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n")


def _replaced(path: Path, mode: str, **how: str) -> Iterator[Any]:
    if path.exists() and not path.is_file():
        # A device or a pipe has nothing that a rename could protect.
        with open(path, mode, **how) as out:  # type: ignore[call-overload]
            yield out
        return
    # A link stays a link: the file behind it is replaced.
    target = path.resolve()
    # The name is known before there is a file, so that whatever interrupts, at whichever moment, leaves none of it.
    part = target.parent / f".{target.name[:50]}.{os.urandom(8).hex()}.part"
    try:
        with open(part, mode.replace("w", "x"), opener=_private, **how) as out:  # type: ignore[call-overload]
            yield out
        os.chmod(part, _mode(target))
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _private(path: str, flags: int) -> int:
    """Open a file that nobody else reads before it has the permissions of the one it replaces."""
    return os.open(path, flags, 0o600)


def _mode(target: Path) -> int:
    """The permissions of the file replaced, or what a new file gets."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def refuse_overwriting(output: str | None, files: tuple[str, ...], option: str = "--output") -> None:
    """Stop before a result replaces a file that is read, such as the one that it is about."""
    if output in (None, "-"):
        return
    for file in files:
        if file != "-" and os.path.exists(str(output)) and os.path.exists(file) and os.path.samefile(str(output), file):
            raise UsageError(f"{option} {output!r} is a file that is read. Name another file to write to")
