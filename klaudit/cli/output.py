"""Where results go: standard output or a file, whole or not at all; and how wide and colourful they are."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, TextIO

import click

from klaudit.cli.streams import ClosedOutput
from klaudit.errors import UsageError
from klaudit.formats import View

# Where nothing says how wide: a report in a CI log or under a bug report.
WIDTH: Final = 100
# What helps against an error of the system, beside another name.
_REMEDIES: Final = {errno.ENOENT: "make its folder first, or ", errno.ENOSPC: "free some space, or "}


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
    elif on_terminal:
        import shutil

        width = shutil.get_terminal_size((WIDTH, 24)).columns
    else:
        width = WIDTH
    color = on_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return View(width, color, rows, units)


@contextmanager
def opened(output: str | None, whole: bool = False, option: str = "--output") -> Iterator[TextIO]:
    """The stream to write a result to.

    Parameters
    ----------
    output : str or None
        A file; "-" or None is standard output.
    whole : bool
        Whether a reader of standard output that goes away early is an error, as for a machine it is.
    option : str
        What named the file, for messages.

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
        _refuse(None if output == "-" else output, option, error)


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
        _refuse(path, option, error)


def ensure_stdout() -> None:
    """Stop where standard output is closed.

    Raises
    ------
    UsageError
        When nothing can be written to it.

    Examples
    --------
    >>> ensure_stdout()
    """
    if isinstance(sys.stdout, ClosedOutput):
        sys.stdout.write("")


def report_target(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The callback of an option for the report: stop at the command line where it could not be written.

    Raises
    ------
    UsageError
        When the file, or standard output without one, takes nothing.
    """
    if value in (None, "-"):
        ensure_stdout()
    else:
        _try(str(value), param)
    return value


def side_target(
    ctx: click.Context, param: click.Parameter, value: str | tuple[str, ...] | None
) -> str | tuple[str, ...] | None:
    """The callback of an option for a file beside the report: stop at the command line where it could not be written.

    Raises
    ------
    UsageError
        When it is no file that can be written.
    """
    for path in (value,) if isinstance(value, str) else value or ():
        # A picture has a name that ends in its kind, or another message.
        if path == "-" and not param.multiple:
            raise UsageError(f"{param.opts[-1]} needs a file, for standard output is where the report goes. Name one")
        _try(path, param)
    return value


def _try(path: str, param: click.Parameter) -> None:
    """Do to a file's folder what writing the file will do, for nothing else tells so surely that it can be done."""
    try:
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if os.path.exists(path) and not os.path.isfile(path):
            if not os.access(path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return
        part = _part(_behind(Path(path)))
        try:
            open(part, "x", opener=_private).close()
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        _refuse(path, param.opts[-1], error)


def _refuse(path: str | None, option: str, error: OSError) -> NoReturn:
    """Raise what the system says as what it means here, and what to do; without a path of standard output."""
    if path is None and isinstance(error, BrokenPipeError):
        raise UsageError(
            "cannot write to standard output: its reader ended before the report did, as `head` does."
            f" Expected a reader that takes all of it; let it read to the end, or name a file with {option}"
        ) from None
    where = "standard output" if path is None else f"{option} {path!r}"
    reason = "no such folder" if error.errno == errno.ENOENT else error.strerror or error
    remedy = _REMEDIES.get(error.errno or 0, "")
    raise UsageError(
        f"cannot write to {where}: {reason}. Expected a file that can be written;"
        f" {remedy}name another one with {option}"
    ) from None


def _file(path: Path) -> Iterator[TextIO]:
    yield from _replaced(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n")


def _replaced(path: Path, mode: str, **how: str) -> Iterator[Any]:
    if path.exists() and not path.is_file():
        # A device or a pipe has nothing that a rename could protect.
        with open(path, mode, **how) as out:  # type: ignore[call-overload]
            yield out
        return
    target = _behind(path)
    # The name is known before there is a file, so that whatever interrupts, at whichever moment, leaves none of it.
    part = _part(target)
    try:
        with open(part, mode.replace("w", "x"), opener=_private, **how) as out:  # type: ignore[call-overload]
            yield out
        os.chmod(part, _mode(target))
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _behind(path: Path) -> Path:
    """The file behind a link, which stays one."""
    return Path(os.path.realpath(path))


def _part(target: Path) -> Path:
    """A name beside a file, for what will replace it."""
    return target.parent / f".{target.name[:50]}.{os.urandom(8).hex()}.part"


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
