"""What the readers of large files share: which files they take, and which rows are counted and not handed on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from klaudit.bounds import Bounds, Figures, Settled, Sieve
from klaudit.leaderboard import FigureColumn
from klaudit.readers.fields import FigurePlan, Layout
from klaudit.readers.meanings import columns_read
from klaudit.readers.options import ReadOptions
from klaudit.readers.parquet import is_there, texts, values_of
from klaudit.readers.words import read_label, says_no
from klaudit.units import Unit

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Index = NDArray[np.intp]
    Words = tuple[Index, Sequence[str]]

# Labels that are told apart; rows of others are judged one by one.
_MOST_LABELS: Final = 100
# Rows whose columns stay in the cache while they are held against the bounds.
_BLOCK: Final = 2**15


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


def word_columns(layout: Layout) -> list[int]:
    """The columns that hold labels, and those that say which rows count."""
    gpu = layout.texts.get("gpu")
    return [*([] if gpu is None else [gpu]), *(index for index, _ in layout.accepted)]


def unit_of(figure: FigurePlan) -> Unit:
    """The unit of a simple layout's figure."""
    assert figure.unit is not None
    return figure.unit


def words_of(column: pa.Array) -> Words:
    """A column of words as places in a list of texts, behind them all where there is none."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    codes = values_of(column.indices).astype(np.intp)
    words = texts(column.dictionary)
    if column.null_count:
        codes[~is_there(column.indices)] = len(words)
    return codes, words


class Rest(NamedTuple):
    """Rows of a part that are not quiet.

    Attributes
    ----------
    rows : ndarray of int
        Their places in the part.
    labels : ndarray of int
        Their labels' places, -1 for none.
    told : ndarray of bool
        Those of which more is to be said than their figures say.
    """

    rows: Index
    labels: Index
    told: Flags


class Sifting:
    """Holds the rows of one file against the bounds of their labels, part by part, and counts those inside.

    Attributes
    ----------
    labels : list of str
        Those met so far; a label's place is its place here.
    """

    def __init__(self, source: str, layout: Layout, options: ReadOptions) -> None:
        self.columns = columns_read(source, layout)
        self._layout = layout
        self._options = options
        # Labels beyond the most have no bounds, and the last are those of rows without a label.
        self._places: dict[str, int] = {}
        self._bounds: list[Bounds | None] = [None] * (_MOST_LABELS + 2)
        self._bounds[-1] = self._find_bounds([""])[""]
        self._sieve = self._new_sieve()
        self._quiet, self._noted = np.zeros((2, len(self._bounds)), dtype=np.int64)

    @property
    def labels(self) -> list[str]:
        return list(self._places)

    def rest(self, values: Sequence[Column], words: Mapping[int, Words], told: Flags | None = None) -> Rest:
        """Count the rows of which there is nothing to say.

        Parameters
        ----------
        values : sequence of ndarray, shape (rows,)
            The figures as they are written, NaN where there is none.
        words : mapping of int to (ndarray, sequence of str)
            The columns of words.
        told : ndarray of bool, shape (rows,), optional
            Rows that are not to be counted, whatever their figures are.
        """
        labels, codes = self._labels(words, len(values[0]))
        bounds = np.minimum(labels, _MOST_LABELS)
        places = bounds[codes]
        refused = self._refused(words, len(codes))
        told = refused if told is None else refused | told
        rows = np.flatnonzero(told | ~self._is_quiet(values, places))
        np.add.at(self._quiet, bounds, np.bincount(codes, minlength=len(bounds)))
        np.subtract.at(self._quiet, places[rows], 1)
        return Rest(rows, labels[codes[rows]], told[rows])

    def note(self, figures: Sequence[Figures], rest: Rest) -> Flags:
        """Count the rows that are within all the same and have no note but that they beat the best measured figure."""
        places = np.minimum(rest.labels, _MOST_LABELS)
        noted = self._sieve.noted(figures, places) & ~rest.told
        np.add.at(self._noted, places[noted], 1)
        return noted

    def settled(self) -> Settled:
        """The rows that were counted."""
        labels = self.labels[:_MOST_LABELS]
        labels += [""] * (len(self._bounds) - len(labels))
        found = self._sieve.settled(labels, self._quiet.tolist(), self._noted.tolist())
        return found._replace(columns=self.columns)

    @np.errstate(over="ignore")
    def _is_quiet(self, values: Sequence[Column], places: Index) -> Flags:
        """Rows whose figures leave nothing to say."""
        scales = [unit_of(figure).scale for figure in self._layout.figures]
        quiet = np.empty(len(places), dtype=np.bool_)
        for start in range(0, len(places), _BLOCK):
            block = slice(start, start + _BLOCK)
            scaled = [column[block] * scale for column, scale in zip(values, scales, strict=True)]
            quiet[block] = self._sieve.quiet(scaled, places[block])
        return quiet

    def _labels(self, words: Mapping[int, Words], count: int) -> tuple[Index, Index]:
        """The places of a part's labels among all that were met, the last -1 for none, and each row's one of them."""
        index = self._layout.texts.get("gpu")
        if index is None:
            return np.array([-1]), np.zeros(count, dtype=np.intp)
        codes, texts_ = words[index]
        known = len(self._places)
        labels = map(read_label, texts_)
        places = [-1 if x is None else self._places.setdefault(x, len(self._places)) for x in labels]
        new = self.labels[known:_MOST_LABELS]
        if new:
            self._bounds[known : known + len(new)] = self._find_bounds(new).values()
            self._sieve = self._new_sieve()
        return np.array([*places, -1]), codes

    def _refused(self, words: Mapping[int, Words], count: int) -> Flags:
        """Rows that say that they do not count."""
        refused = np.zeros(count, dtype=np.bool_)
        for index, good in self._layout.accepted:
            codes, texts_ = words[index]
            refused |= np.array([*(says_no(text, good) for text in texts_), False])[codes]
        return refused

    def _new_sieve(self) -> Sieve:
        return Sieve(self._bounds, [figure.kinds[0] for figure in self._layout.figures])

    def _find_bounds(self, labels: Iterable[str]) -> dict[str, Bounds | None]:
        """The bounds of labels, None where a label has none."""
        settle: Any = self._options.settle
        empty = np.zeros(0)
        figures = [FigureColumn(f.kinds[0], empty, empty, empty, f.rule, header=f.header) for f in self._layout.figures]
        return {label: settle(label, figures) for label in labels}
