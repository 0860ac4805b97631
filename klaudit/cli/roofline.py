"""`roofline`: the roofs of cards, and of a workload on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from klaudit._version import __version__
from klaudit.cli import options, plots
from klaudit.cli.output import make_view, opened
from klaudit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from klaudit.board import Board
    from klaudit.catalog import Catalog
    from klaudit.formats.picture import Picture
    from klaudit.formats.provenance import Stamp
    from klaudit.formats.roofline import Card
    from klaudit.gpu import Gpu


@click.command()
@click.option("--gpu", multiple=True, metavar="NAME", help="A card or label.  [repeatable]  [default: all]")
@options.workload_options
@click.option(
    "--units",
    type=click.Choice(["decimal", "binary"]),
    default="decimal",
    show_default=True,
    help="binary reads every GB/s as GiB/s, as some published figures do.",
)
@options.plain_format
@options.output
@plots.option
@options.specs
def roofline(**given: Any) -> int:
    """Show the roofs of cards: memory, cache port, compute, special functions, and the workload's intensity."""
    if given["board"] and given["workload"]:
        raise UsageError("--board and --workload are both given, and a board has its own workload. Give one")
    pictures = plots.checked(given["plot"], (given["output"],))
    catalog = options.load(given["specs"])
    board = options.find_board(catalog, given["board"])
    name = board.workload if board else given["workload"]
    workload = catalog.workload(name) if name else None
    dtype = given["dtype"] or (board.dtype if board else "") or ""
    sizes = options.gather_sizes(given["n"], given["size"])
    from klaudit.audit.tables import roofs
    from klaudit.formats.provenance import Stamp
    from klaudit.formats.roofline import FORMATS, Card

    cards = [
        Card(roofs(gpu, workload, dtype, sizes), served_as) for gpu, served_as in _cards(catalog, given["gpu"], board)
    ]
    stamp = Stamp(__version__, catalog.date, catalog.sha256, board.id if board else "")
    plots.draw(pictures, lambda: _picture(cards, stamp, given["units"] == "binary"))
    with opened(given["output"]) as out:
        FORMATS[given["format"]](cards, out, make_view(given["output"], units=given["units"]), stamp)
    return 0


def _picture(cards: list[Card], stamp: Stamp, binary: bool) -> Picture:
    from klaudit.formats.picture import of_cards

    return of_cards(cards, stamp, binary)


def _cards(catalog: Catalog, labels: tuple[str, ...], board: Board | None) -> Iterator[tuple[Gpu, str]]:
    """The cards that the labels can mean, slowest first within a label, and the label where it is another's name."""
    from klaudit.catalog import normalise

    if not labels:
        means = [card for label in board.gpu_labels for card in label.means] if board else []
        labels = tuple(means) or catalog.gpu_ids
    seen: set[tuple[str, int]] = set()
    for label in labels:
        match = catalog.find_gpus(label, board)
        # An unknown name is the catalogue's error, with the nearest names.
        gpus = [catalog.gpu(i).times(match.cards) for i in match.ids] or [catalog.gpu(label)]
        for gpu in sorted(gpus, key=lambda g: g.bandwidth):
            if (gpu.id, gpu.cards) not in seen:
                seen.add((gpu.id, gpu.cards))
                yield gpu, label if len(gpus) > 1 and normalise(label) not in normalise(gpu.name) else ""
