"""Leaderboard: the submissions of one file (or one part of it) as columns. No physics, no verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from klaudit.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Column = NDArray[np.float64]

FigureKind = Literal["rate", "time", "bandwidth"]


class FigureColumn(NamedTuple):
    """One figure that rows report, in SI.

    Attributes
    ----------
    kind : {"rate", "time", "bandwidth"}
        In FLOP/s, s or B/s.
    rule : {"mean", "geomean", "total"} or None
        How cases were averaged, where the column says so; None is the board's own rule.
    case : str or None
        The case it belongs to, where it is a per-case figure.
    value, low, high : ndarray, shape (rows,)
        The number and the edges of its rounding; NaN where a row has none.
    header : str
        The column as the file names it.
    unit : str
        The unit as the file writes it, for reports.
    fastest : bool
        Whether it is the time of the fastest run, which no average has smoothed.
    """

    kind: FigureKind
    value: Column
    low: Column
    high: Column
    rule: Literal["mean", "geomean", "total"] | None = None
    case: str | None = None
    header: str = ""
    unit: str = ""
    fastest: bool = False


class Trouble(NamedTuple):
    """Something about one row that its reader could not take: a rule's slug and a sentence.

    `fatal` rows are not judged at all (not accepted, say); others only where nothing else of them can be.
    """

    row: int
    rule: str
    message: str
    fatal: bool = False


class ColumnsRead(NamedTuple):
    """What the columns of a file were taken for: header and meaning of those that say anything, and the others."""

    source: str
    read: tuple[tuple[str, str], ...]
    unused: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Leaderboard:
    """Submissions as columns, all of one length.

    Attributes
    ----------
    source : str
        The file, as reports name it.
    lines : ndarray of int, shape (rows,)
        The line on which each record starts (the header is line 1).
    entries : sequence of str, length rows
        Who or what was submitted, as text of the file: never markup. Of a large file read when one is asked for.
    gpu_labels : tuple of str
        The distinct GPU labels.
    gpu_codes : ndarray of int, shape (rows,)
        The index of each row's label, -1 where it has none.
    figures : tuple of FigureColumn
        What the rows report.
    days : ndarray of datetime64[D], shape (rows,), or None
        Submission dates, NaT where unknown.
    sizes : mapping of str to ndarray, shape (rows,)
        The rows' own sizes (`n`, `m` ...), NaN where a row has none.
    work : mapping of str to ndarray, shape (rows,)
        The rows' own counts: flops, reads, writes [B], or flops_per_element, bytes_per_element; NaN where absent.
    dtypes : tuple of str
        The distinct dtypes.
    dtype_codes : ndarray of int, shape (rows,), or None
        The index of each row's dtype, -1 where it has none.
    runs : ndarray, shape (rows,), or None
        How many runs each figure averages; NaN where unknown.
    troubles : tuple of Trouble
        What could not be read, in the order of rows.
    paths : tuple of str, or None
        Where each record stands in its document, such as `[3].test_results`.
    columns : ColumnsRead or None
        What the file's own headers were taken for, where it has any.
    """

    source: str
    lines: NDArray[np.int64]
    entries: Sequence[str]
    gpu_labels: tuple[str, ...]
    gpu_codes: NDArray[np.int64]
    figures: tuple[FigureColumn, ...]
    days: NDArray[np.datetime64] | None = None
    sizes: Mapping[str, Column] = field(default_factory=dict)
    work: Mapping[str, Column] = field(default_factory=dict)
    dtypes: tuple[str, ...] = ()
    dtype_codes: NDArray[np.int64] | None = None
    runs: Column | None = None
    troubles: tuple[Trouble, ...] = ()
    paths: tuple[str, ...] | None = None
    columns: ColumnsRead | None = None

    def __len__(self) -> int:
        return len(self.lines)

    def take(self, rows: NDArray[np.intp]) -> Leaderboard:
        """Some of the rows, in ascending order."""
        import numpy as np

        places = dict(zip(rows.tolist(), range(len(rows)), strict=True)) if self.troubles else {}
        return replace(
            self,
            lines=self.lines[rows],
            entries=[self.entries[row] for row in rows.tolist()],
            gpu_codes=self.gpu_codes[rows],
            figures=tuple(f._replace(value=f.value[rows], low=f.low[rows], high=f.high[rows]) for f in self.figures),
            days=None if self.days is None else self.days[rows],
            sizes={name: column[rows] for name, column in self.sizes.items()},
            work={name: column[rows] for name, column in self.work.items()},
            dtype_codes=None if self.dtype_codes is None else self.dtype_codes[rows],
            runs=None if self.runs is None else self.runs[rows],
            troubles=tuple(t._replace(row=places[t.row]) for t in self.troubles if t.row in places),
            paths=None if self.paths is None else tuple(np.array(self.paths, dtype=object)[rows]),
        )

    @classmethod
    def from_arrays(
        cls,
        *,
        gpu: str | Sequence[str],
        rate: ArrayLike | None = None,
        time: ArrayLike | None = None,
        bandwidth: ArrayLike | None = None,
        cases: Mapping[str, ArrayLike] | None = None,
        dtype: str = "",
        sizes: Mapping[str, ArrayLike] | None = None,
        work: Mapping[str, ArrayLike] | None = None,
        entries: Sequence[str] | None = None,
        days: ArrayLike | None = None,
        runs: ArrayLike | None = None,
        half_digit: float = 0.0,
    ) -> Leaderboard:
        """Rows from numbers in SI, without a file.

        Parameters
        ----------
        gpu : str or sequence of str
            One label for all rows, or one each.
        rate, time, bandwidth : array_like, shape (rows,), optional
            What the rows report [FLOP/s, s, B/s]; NaN where a row has none.
        cases : mapping of str to array_like, optional
            Times of a board's cases [s], by the case's name.
        dtype : str
            The dtype of all rows; "" where nobody says.
        sizes, work : mapping of str to array_like, optional
            As the attributes of the same name.
        entries : sequence of str, optional
            Names; the row numbers by default.
        days : array_like of dates, optional
            Submission dates.
        runs : array_like, optional
            How many runs each figure averages.
        half_digit : float
            Half a unit of the last digit, relative to the figure; 0 takes the numbers as exact.

        Raises
        ------
        InputError
            When there is no figure, when columns differ in length, or a figure is no possible number.

        Examples
        --------
        >>> rows = Leaderboard.from_arrays(gpu=["T4", "H100"], rate=[180e9, 1.4e12])
        >>> len(rows), rows.gpu_labels
        (2, ('T4', 'H100'))
        """
        import numpy as np

        def column(values: ArrayLike) -> Column:
            return np.atleast_1d(np.asarray(values, dtype=np.float64))

        figures = []
        given: list[tuple[FigureKind, ArrayLike | None, str | None]] = [
            ("rate", rate, None), ("time", time, None), ("bandwidth", bandwidth, None),
            *(("time", values, case) for case, values in (cases or {}).items()),
        ]  # fmt: skip
        for kind, values, case in given:
            if values is not None:
                value = column(values)
                figures.append(
                    FigureColumn(
                        kind, value, value * (1 - half_digit), value * (1 + half_digit), None, case, case or kind
                    )
                )
        count = len(figures[0].value) if figures else 0
        _check(figures, {"gpu": gpu, "entries": entries})
        names = [gpu] * count if isinstance(gpu, str) else list(gpu)
        labels = tuple(dict.fromkeys(names))
        codes = {label: code for code, label in enumerate(labels)}

        def columns(given: Mapping[str, ArrayLike] | None) -> dict[str, Column]:
            return {name: np.broadcast_to(column(v), (count,)) for name, v in (given or {}).items()}

        return cls(
            source="",
            lines=np.arange(1, count + 1),
            entries=[str(i + 1) for i in range(count)] if entries is None else list(entries),
            gpu_labels=labels,
            gpu_codes=np.array([codes[name] for name in names], dtype=np.int64),
            figures=tuple(figures),
            days=None if days is None else np.broadcast_to(np.asarray(days, dtype="datetime64[D]"), (count,)),
            sizes=columns(sizes),
            work=columns(work),
            dtypes=(dtype,) if dtype else (),
            dtype_codes=np.zeros(count, dtype=np.int64) if dtype else None,
            runs=None if runs is None else np.broadcast_to(column(runs), (count,)),
        )


def _check(figures: Sequence[FigureColumn], texts: Mapping[str, str | Sequence[str] | None]) -> None:
    """Refuse arrays that are no leaderboard: a slip here would judge the wrong rows, or none."""
    if not figures:
        raise InputError("no figure is given: pass rate, time, bandwidth or cases")
    count = len(figures[0].value)
    for figure in figures:
        if figure.value.shape != (count,):
            raise InputError(f"{figure.header} has the shape {figure.value.shape}, {figures[0].header} {count} rows")
        # A time of nothing can be a rounded one; a rate of nothing says that nothing was done.
        low = figure.value < 0 if figure.kind == "time" else figure.value <= 0
        if low.any():
            row = int(low.argmax())
            raise InputError(
                f"{figure.header}[{row}] is {figure.value[row]}: give a positive number in SI, or NaN for none"
            )
    for name, given in texts.items():
        if given is not None and not isinstance(given, str) and len(given) != count:
            raise InputError(f"{name} has {len(given)} entries, the figures {count}")
