"""`--write-clean`: the board without the rows that fail, and what that does to its podium."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import click

from klaudit.cli.output import save, side_target
from klaudit.verdict import Verdict

if TYPE_CHECKING:
    from klaudit.board import Board
    from klaudit.report import Audit, RowReport

option = click.option(
    "--write-clean",
    metavar="FILE",
    callback=side_target,
    help="Write the input's own rows to FILE without those that fail, and show how the podium changes.",
)


def with_podiums(found: Audit, board: Board | None, fails: Collection[Verdict]) -> Audit:
    """The audit with the podiums that change."""
    from klaudit.audit.standing import podiums

    return found._replace(podiums=podiums(found.rows(), board, lambda row: _fails(row, fails)))


def write(target: str, file: str, found: Audit, fails: Collection[Verdict]) -> str:
    """Write the file without its failing rows, and return how many there were."""
    from klaudit.readers.cleaned import without

    starts, dropped = [], set()
    for row in found.rows():
        starts.append(row.line)
        if _fails(row, fails):
            dropped.add(row.line)
    save(target, without(file, starts, dropped), "--write-clean")
    return f"{target} has {len(starts) - len(dropped)} of {len(starts)} rows of {file}: {len(dropped)} fail"


def _fails(row: RowReport, fails: Collection[Verdict]) -> bool:
    return row.verdict in fails and not row.suppressed
