"""`gpus`, `workloads` and `boards`: the catalogue, and one entry of it with every figure and its source."""

from __future__ import annotations

from typing import Any

import click

from klaudit.cli import options
from klaudit.cli.output import make_view, opened

_common = options.together(click.argument("name", required=False), options.plain_format, options.output, options.specs)


@click.command()
@_common
def gpus(name: str | None, output: str | None, **given: Any) -> int:
    """List the cards known, or show every figure of card NAME with its source.

    A NAME that can mean several cards lists these.
    """
    from klaudit.formats.catalogue import write_gpu, write_gpus

    catalog = options.load(given["specs"])
    ids = catalog.gpu_ids if name is None else catalog.find_gpus(name).ids
    # An unknown name is the catalogue's error, with the nearest names.
    cards = [catalog.gpu(i) for i in ids] or [catalog.gpu(name or "")]
    with opened(output) as out:
        if name is not None and len(cards) == 1:
            write_gpu(cards[0], out, make_view(output), given["format"])
        else:
            write_gpus(cards, out, make_view(output), given["format"])
    return 0


@click.command()
@_common
def workloads(name: str | None, output: str | None, **given: Any) -> int:
    """List the workloads known, or show the formulas of workload NAME and why they are so."""
    from klaudit.formats.catalogue import write_workload, write_workloads

    catalog = options.load(given["specs"])
    found = [catalog.workload(i) for i in (catalog.workload_ids if name is None else (name,))]
    with opened(output) as out:
        if name is None:
            write_workloads(found, out, make_view(output), given["format"])
        else:
            write_workload(found[0], out, make_view(output), given["format"])
    return 0


@click.command()
@_common
def boards(name: str | None, output: str | None, **given: Any) -> int:
    """List the boards known, or show the rules of board NAME and its limits on every card."""
    from klaudit.formats.boards import write_board, write_boards

    catalog = options.load(given["specs"])
    if name is None:
        found = [catalog.board(i) for i in catalog.board_ids]
        with opened(output) as out:
            write_boards(found, out, make_view(output), given["format"])
        return 0
    from klaudit.audit.tables import limits

    board = catalog.board(name)
    ceilings = limits(board, catalog)
    with opened(output) as out:
        write_board(board, ceilings, out, make_view(output), given["format"])
    return 0
