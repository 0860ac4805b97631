"""What the readers of large files share: which files they take, and the bounds of the labels in them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from klaudit.bounds import Bounds
from klaudit.leaderboard import FigureColumn
from klaudit.readers.fields import Layout
from klaudit.readers.options import ReadOptions
from klaudit.readers.words import read_label

# Labels that are told apart; rows of others are judged one by one.
MOST_LABELS: Final = 100


class NotBulk(Exception):
    """The file is not for these readers, from one of its rows on: a plain reader must read the rest.

    Attributes
    ----------
    rows : int
        Rows that were handed on before.
    """

    def __init__(self, rows: int = 0) -> None:
        super().__init__(rows)
        self.rows = rows


def is_simple(layout: Layout) -> bool:
    """Whether figures over all cases are all that a verdict rests on."""
    plain = all(len(f.kinds) == 1 and f.unit is not None and f.case is None and not f.fastest for f in layout.figures)
    others = (*layout.sizes, *layout.work, layout.runs, layout.baseline, layout.speedup)
    return plain and not any(others) and not {"dtype", "traffic", "leaderboard"} & layout.texts.keys()


def find_bounds(texts: Iterable[str], layout: Layout, options: ReadOptions) -> dict[str, Bounds | None]:
    """The bounds of labels as they are written, None where a label has none."""
    assert options.settle is not None
    empty = np.zeros(0)
    figures = [FigureColumn(f.kinds[0], empty, empty, empty, f.rule, header=f.header) for f in layout.figures]
    return {text: options.settle(read_label(text) or "", figures) for text in texts}
