"""The standard streams: what stands in for one that the caller closed, and how something is said on stderr."""

from __future__ import annotations

import io
import os
import sys
from typing import NoReturn

import click

from klaudit.errors import UsageError


class ClosedOutput(io.TextIOBase):
    """In the place of a standard output that is closed: whatever would be written to it is an error with a name."""

    def __init__(self) -> None:
        # No file that is opened later may get the number of standard output.
        self._place = open(os.devnull)  # noqa: SIM115 (kept as long as the process)

    def write(self, text: str) -> NoReturn:
        """Refuse whatever it is.

        Raises
        ------
        UsageError
            Always.
        """
        raise UsageError(
            "standard output is closed. Expected a place for the result; open it, or name a file with --output"
        )


def stand_in() -> None:
    """Put something in the place of each stream that is closed (`<&-`, `>&-`, `2>&-`), where Python has None.

    Examples
    --------
    >>> stand_in()
    >>> None in (sys.stdin, sys.stdout, sys.stderr)
    False
    """
    # In the order of their numbers, for an opened file takes the lowest that is free.
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115 (kept as long as the process)
    if sys.stdout is None:
        sys.stdout = ClosedOutput()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (kept as long as the process)


def say(text: str) -> None:
    """Say something on stderr, where anybody listens; where nobody does the exit code still tells.

    Examples
    --------
    >>> say("klaudit: note: nothing to say")
    """
    try:
        try:
            click.echo(text, err=True)
        except UnicodeEncodeError:
            click.echo(text.encode("ascii", "backslashreplace").decode(), err=True)
    except OSError:
        pass
