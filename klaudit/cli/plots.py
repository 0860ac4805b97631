"""`--plot`: the same result as a picture. What it needs is found out first, what it draws is drawn last."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from klaudit.cli.output import save, side_target
from klaudit.errors import UsageError

if TYPE_CHECKING:
    from klaudit.formats.picture import Picture

option = click.option(
    "--plot",
    multiple=True,
    metavar="FILE",
    callback=side_target,
    help="Also draw it: FILE.svg, .png or .pdf; needs the extra `plot`.  [repeatable]",
)


def checked(files: tuple[str, ...], others: Iterable[str | None] = ()) -> dict[str, str]:
    """Each picture's file and kind.

    Parameters
    ----------
    files : tuple of str
        As the command line names them.
    others : iterable of str or None
        What is read or written besides, and must not be replaced.

    Raises
    ------
    UsageError
        When one ends in nothing known, matplotlib is missing, or it would replace another file of the run.
    """
    if not files:
        return {}
    from klaudit.formats.plot import kind_of

    kinds = {file: kind_of(file) for file in files}
    for other in others:
        for file in kinds:
            if other not in (None, "-") and _same(file, str(other)):
                raise UsageError(f"--plot {file!r} is a file that this run reads or writes. Name another file")
    return kinds


def _same(one: str, other: str) -> bool:
    if os.path.exists(one) and os.path.exists(other):
        return os.path.samefile(one, other)
    return os.path.abspath(one) == os.path.abspath(other)


def draw(kinds: dict[str, str], make: Callable[[], Picture]) -> None:
    """Draw the picture into each file."""
    if not kinds:
        return
    from klaudit.formats.plot import render

    picture = make()
    for file, kind in kinds.items():
        save(file, render(picture, kind))
