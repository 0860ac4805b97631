"""`checker`: what a board's correctness check lets through."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from klaudit._version import __version__
from klaudit.cli import options
from klaudit.cli.output import make_view, opened
from klaudit.cli.values import Tolerance
from klaudit.errors import UsageError

if TYPE_CHECKING:
    from klaudit.board import Board


@click.command()
@click.argument("board")
@click.option("--quick", is_flag=True, help="Look at a sample of each case.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the inputs.")
@click.option("--rtol", type=Tolerance(), metavar="X", help="Try another rtol than the board's.")
@click.option("--atol", type=Tolerance(), metavar="X", help="Try another atol than the board's.")
@click.option(
    "--atol-of-max",
    type=Tolerance(),
    metavar="X",
    help="Try an atol of X times each case's largest |reference|.",
)
@click.option(
    "--buffer",
    type=click.Choice(["zeros", "ones", "uninitialised"]),
    help="Try another content of the output buffer than the board's.",
)
@click.option(
    "--format",
    type=click.Choice(["table", "json", "markdown"]),
    default="table",
    show_default=True,
    help="For people, for machines, or for an issue.",
)
@options.output
@options.specs
def checker(**given: Any) -> int:
    """Try trivial submissions on every case of BOARD, or of one of its eras.

    Says which of them its tolerance accepts, how little a submission may do and still be accepted, and which
    tolerance would accept every honest kernel and nothing trivial.
    """
    catalog = options.load(given["specs"])
    board = _changed(catalog.board(given["board"]), given)
    from klaudit.checker import check_board
    from klaudit.formats.checker import FORMATS
    from klaudit.formats.provenance import Stamp

    line = _Line()
    try:
        found = check_board(board, catalog, seed=given["seed"], quick=given["quick"], progress=line.update)
    finally:
        line.clear()
    stamp = Stamp(__version__, catalog.date, catalog.sha256, board.id)
    with opened(given["output"]) as out:
        FORMATS[given["format"]](found, out, make_view(given["output"]), stamp)
    return 0


def _changed(board: Board, given: dict[str, Any]) -> Board:
    """The board with the check that the user wants to try."""
    if given["atol"] is not None and given["atol_of_max"] is not None:
        raise UsageError("--atol and --atol-of-max are both given, and either replaces the board's atol. Give one")
    changes: dict[str, Any] = {key: given[key] for key in ("rtol", "atol", "atol_of_max") if given[key] is not None}
    if given["buffer"] is not None:
        changes["output"] = given["buffer"]
    if board.checker is None or not changes:
        return board
    if given["atol"] is not None:
        changes["atol_of_max"] = None
    return board._replace(checker=board.checker._replace(**changes))


class _Line:
    """How far a long run has come, on a terminal's stderr."""

    def __init__(self) -> None:
        self._wanted = sys.stderr.isatty()

    def update(self, name: str, done: int, total: int) -> None:
        """Say it once more, over the last time."""
        if self._wanted:
            sys.stderr.write(f"\r\x1b[Kklaudit: case {name[:40]}, {100 * done // total} %")
            sys.stderr.flush()

    def clear(self) -> None:
        """Leave no trace."""
        if self._wanted:
            sys.stderr.write("\r\x1b[K")
