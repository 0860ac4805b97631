"""From a leaderboard to groups of like rows: names looked up, sizes and work filled in, the hopeless set aside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from klaudit.audit.cases import NO_CASE, WHOLE_BOARD, incomplete, own_cases
from klaudit.audit.claims import RUNS_THAT_AVERAGE_TICKS_OUT, Claims, Figure, Unjudged
from klaudit.board import Board, Era
from klaudit.catalog import Catalog
from klaudit.floors import COMPRESSED_DATA, TIMER_TICK, Work, work_of
from klaudit.gpu import Gpu
from klaudit.leaderboard import FigureColumn, Leaderboard
from klaudit.verdict import CONDITION_BITS, CONDITIONS, Policy
from klaudit.workload import Workload, find_dtype

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Index = NDArray[np.intp]
    # Names and sizes of the cases, their work, and the figures of some rows.
    Own = tuple[tuple[str, ...], tuple[dict[str, float], ...], Work, tuple[Figure, ...]]

# Counts that agree this well are the same count, rounded.
_SAME_COUNT = 0.005
# Unknown labels of one batch that get a suggestion.
_MOST_SUGGESTIONS = 100
# Up to so many labels one pass each is cheaper than sorting.
_FEW_LABELS = 16
WORK_COLUMNS = ("flops", "reads", "writes", "flops_per_element", "bytes_per_element")


class Grouping:
    """Splits the rows of one leaderboard into `Claims` under one era of its board.

    Parameters
    ----------
    leaderboard : Leaderboard
    catalog : Catalog
    board : Board or None
    era : Era
        Whose rules hold for the rows.
    policy : Policy
    """

    def __init__(
        self, leaderboard: Leaderboard, catalog: Catalog, board: Board | None, era: Era, policy: Policy
    ) -> None:
        self.rows_of = leaderboard
        self.catalog = catalog
        self.board = board
        self.era = era
        self.policy = policy
        self.unjudged = Unjudged()
        self.unknown: list[Index] = []
        self.noted: dict[str, set[int]] = {"missing-case": set(), "columns-ignored": set()}
        name = (board.workload if board else None) or policy.workload
        self.workload: Workload | None = catalog.workload(name) if name else None
        self.own_work = any(bool(np.isfinite(c).any()) for c in leaderboard.work.values())

    def split(self, rows: Index) -> list[Claims]:
        """The groups of `rows`; what cannot be judged goes to `unjudged`."""
        return [
            claims
            for part, label, cards, notes in self._by_card(rows)
            for claims in self.on_cards(part, label, cards, notes)
        ]

    def on_cards(
        self, rows: Index, label: str, cards: tuple[Gpu, ...], notes: tuple[str, ...] = ()
    ) -> Iterator[Claims]:
        """The groups of `rows` when their label can mean `cards`."""
        for same, dtype in self._by_dtype(rows):
            for part, conditions, steady in self._by_runs(same, cards):
                for claims in self._with_work(part, label, cards, dtype, conditions, notes):
                    yield claims._replace(steady=True) if steady else claims

    # -- which card ---------------------------------------------------------------------------------------------------

    def _by_card(self, rows: Index) -> list[tuple[Index, str, tuple[Gpu, ...], tuple[str, ...]]]:
        codes = self.rows_of.gpu_codes[rows]
        found: list[tuple[Index, str, tuple[Gpu, ...], tuple[str, ...]]] = []
        for code, part in _parts(rows, codes):
            label = self.policy.gpu if code < 0 else self.rows_of.gpu_labels[code]
            if not label:
                self.unjudged.add(part, "unknown-gpu", "the row names no GPU; name it with --gpu")
                continue
            match = self.catalog.find_gpus(label, self.board, self.policy.gpu_labels)
            if not match.ids:
                self.unjudged.add(part, "unknown-gpu", self._unknown(label))
                self.unknown.append(part)
                continue
            # Slowest first: where several would do, the report names the one that asks least.
            cards = tuple(
                sorted((self.catalog.gpu(i).times(match.cards) for i in match.ids), key=lambda c: c.bandwidth)
            )
            found.append((part, label, cards, ("several-gpus",) if match.cards > 1 else ()))
        return found

    def _unknown(self, label: str) -> str:
        # Suggestions cost about a millisecond each: a file of nothing but odd names must not take minutes.
        near = self.catalog.nearest(label) if len(self.unknown) < _MOST_SUGGESTIONS else ()
        hint = f"nearest: {', '.join(near)}; " if near else ""
        return f"the catalogue has no GPU {label!r}; {hint}map it with --gpu-label or add a spec with --specs"

    # -- which dtype, which conditions --------------------------------------------------------------------------------

    def _by_dtype(self, rows: Index) -> list[tuple[Index, str]]:
        """Rows with the dtype that board, row or user state; "" where nobody does."""
        stated = self.board.dtype if self.board and self.board.dtype else ""
        codes = self.rows_of.dtype_codes
        if stated and not self.policy.trust_columns:
            if codes is not None:
                other = np.array([find_dtype(text) not in (stated, None) for text in self.rows_of.dtypes] + [False])
                self.noted["columns-ignored"].update(rows[other[codes[rows]]].tolist())
            return [(rows, stated)]
        if codes is None:
            return [(rows, stated or self.policy.dtype)]
        parts = []
        for code, part in _parts(rows, codes[rows]):
            known = find_dtype(self.rows_of.dtypes[code]) if code >= 0 else None
            parts.append((part, known or stated or self.policy.dtype))
        return parts

    def _by_runs(self, rows: Index, cards: tuple[Gpu, ...]) -> list[tuple[Index, int, bool]]:
        """Rows with the conditions that may be considered for them, and whether their averages are steady."""
        allowed = 0
        ruled_out = self.policy.ruled_out | {r.condition for r in self.era.harness.rules_out}
        for condition in CONDITIONS:
            if condition.id not in ruled_out:
                allowed |= CONDITION_BITS[condition.id]
        compresses = {card.memory_compression for card in cards}
        if "always" not in compresses and not ("opt-in" in compresses and "compressed-data" in self.policy.allowed):
            allowed &= ~COMPRESSED_DATA
        runs = self.rows_of.runs
        known = np.full(len(rows), np.nan) if runs is None else runs[rows].copy()
        if self.era.scoring.runs is not None and not self.policy.trust_columns:
            # The board knows how often it runs: a row's own word could buy it the step of the clock.
            fewest, most = self.era.scoring.runs
            self.noted["columns-ignored"].update(rows[(known < fewest) | (known > most)].tolist())
            known[:] = fewest
        steady = known >= RUNS_THAT_AVERAGE_TICKS_OUT
        # The step of the clock excuses the fastest run of however many, and of steady rows nothing else.
        single = any(column.fastest for column in self.rows_of.figures)
        parts = (
            (rows[~steady], allowed, False),
            (rows[steady], allowed if single else allowed & ~TIMER_TICK, single),
        )
        return [part for part in parts if len(part[0])]

    # -- which work ---------------------------------------------------------------------------------------------------

    def _with_work(
        self, rows: Index, label: str, cards: tuple[Gpu, ...], dtype: str, conditions: int, notes: tuple[str, ...]
    ) -> list[Claims]:
        board = self.board
        shared: dict[str, object] = {
            "label": label, "cards": cards, "board": board, "era": self.era, "conditions": conditions, "notes": notes,
        }  # fmt: skip
        if board is not None and board.cases and self.workload is not None:
            return self._on_board(rows, board, self.workload, dtype, shared)
        groups = []
        for part, workload, work, sized in self._single_case(rows, dtype):
            if workload is not None:
                self._note_ignored(part, workload, work)
            figures = tuple(
                _counted(self._pick(part, column, None), work)
                for column in self.rows_of.figures
                if self._judgeable(column, work, sized)
            )
            groups.append(self._claims(part, workload, (("",), ({},), work, figures), shared))
        return groups

    def _on_board(
        self, rows: Index, board: Board, workload: Workload, dtype: str, shared: dict[str, object]
    ) -> list[Claims]:
        """Rows of a board with cases: about all of them, or about one that a row names by its size."""
        sizes = {name: np.array([[c.sizes[name]] for c in board.cases], dtype=np.float64) for name in workload.sizes}
        work = work_of(workload, sizes, dtype)
        self._note_ignored(rows, workload, work)
        places = own_cases(self.rows_of, board, workload, rows)
        known = ", ".join(case.name for case in board.cases)
        self.unjudged.add(
            rows[places == NO_CASE], "unknown-case", f"no case of {board.name} has that size; it has {known}"
        )
        groups = []
        for place, case in enumerate(board.cases):
            part = rows[places == place]
            if len(part):
                figures = tuple(self._pick(part, c, None) for c in self.rows_of.figures if c.case is None)
                own: Own = ((case.name,), (dict(case.sizes),), work.case(place), figures)
                groups.append(self._claims(part, workload, own, shared))
        whole = rows[places == WHOLE_BOARD]
        partial = incomplete(self.rows_of, board, whole)
        self.noted["missing-case"].update(whole[partial].tolist())
        names, spans = tuple(c.name for c in board.cases), tuple(dict(c.sizes) for c in board.cases)
        for part, some in ((whole[~partial], False), (whole[partial], True)):
            if len(part):
                own = (names, spans, work, self._board_figures(part, board, partial=some))
                groups.append(self._claims(part, workload, own, shared))
        return groups

    def _claims(self, rows: Index, workload: Workload | None, own: Own, shared: dict[str, object]) -> Claims:
        names, sizes, work, figures = own
        return Claims(
            rows=rows, workload=workload, case_names=names, case_sizes=sizes, work=work, figures=figures,
            **shared,  # type: ignore[arg-type]
        )  # fmt: skip

    def _judgeable(self, column: FigureColumn, work: Work, sized: bool) -> bool:
        """Whether a figure means anything for this work: a time needs a size, a rate operations."""
        if column.case is not None:
            return False
        if column.kind == "time":
            return sized
        return bool((work.traffic if column.kind == "bandwidth" else work.flops).any())

    def _pick(self, rows: Index, column: FigureColumn, case: int | None) -> Figure:
        scoring = self.era.scoring
        rule = column.rule or (scoring.time if column.kind == "time" else scoring.rate)
        value, low, high = column.value[rows], column.low[rows], column.high[rows]
        return Figure(column.kind, rule, case, value, low, high, column.header, column.fastest)

    def _board_figures(self, rows: Index, board: Board, *, partial: bool) -> tuple[Figure, ...]:
        """All figures of rows on a board of several cases; an average of rows that lack cases is a partial one."""
        places = {case.name: i for i, case in enumerate(board.cases)}
        cases = [self._pick(rows, c, places[c.case]) for c in self.rows_of.figures if c.case in places]
        averages = [self._pick(rows, c, None) for c in self.rows_of.figures if c.case is None]
        return tuple([f._replace(partial=partial) for f in averages] + cases)

    def _note_ignored(self, rows: Index, workload: Workload, work: Work) -> None:
        """Note rows whose own counts differ from those of the board or workload, which decide."""
        if not self.own_work:
            return
        one_case = len(work.flops) == 1 and not work.boundless_cache
        expected: dict[str, Column] = {}
        if one_case:
            expected = {"flops": work.flops[0], "reads": work.reads[0], "writes": work.writes[0]}
        if workload.per_element:
            one = workload.with_bytes({workload.sizes[0]: 1.0}, work.dtype)
            traffic = workload.reads.formula(one) + workload.writes.formula(one)
            expected |= {
                "flops_per_element": np.array([workload.flops.formula(one)]),
                "bytes_per_element": np.array([traffic]),
            }
        for name, column in self.rows_of.work.items():
            own = column[rows]
            same = np.isclose(own, expected[name], rtol=_SAME_COUNT) if name in expected else np.zeros(len(rows), bool)
            self.noted["columns-ignored"].update(rows[np.isfinite(own) & ~same].tolist())

    # -- rows that are one case each ----------------------------------------------------------------------------------

    def _single_case(self, rows: Index, dtype: str) -> list[tuple[Index, Workload | None, Work, bool]]:
        """Rows with their work, and whether its size is known."""
        if self.workload is not None and not (self.own_work and self.policy.trust_columns):
            return self._by_formula(rows, self.workload, dtype)
        parts: list[tuple[Index, Workload | None, Work, bool]] = []
        own, sized = self._own_counts(rows)
        known = own["flops"] + own["traffic"] > 0
        for flag in (True, False):
            pick = known & (sized == flag)
            if pick.any():
                parts.append((rows[pick], None, self._own_work(own, pick, dtype, sized=flag), flag))
        rest = rows[~known]
        if self.workload is not None and len(rest):
            parts += self._by_formula(rest, self.workload, dtype)
        elif len(rest):
            parts += self._bandwidth_only(rest, dtype)
        return parts

    def _own_work(self, own: dict[str, Column], pick: NDArray[np.bool_], dtype: str, *, sized: bool) -> Work:
        flops, traffic, reads, writes, one_way = (
            own[name][None, pick] for name in ("flops", "traffic", "reads", "writes", "one_way")
        )
        return Work(flops, traffic, reads, writes, one_way, dtype=dtype, boundless_cache=not sized)

    def _size(self, rows: Index, name: str) -> Column:
        """The rows' size `name`: their own, else the user's, NaN where neither is."""
        own = self.rows_of.sizes.get(name)
        size = np.full(len(rows), np.nan) if own is None else own[rows].copy()
        if name in self.policy.sizes:
            size[np.isnan(size)] = self.policy.sizes[name]
        return size

    def _by_formula(
        self, rows: Index, workload: Workload, dtype: str
    ) -> list[tuple[Index, Workload | None, Work, bool]]:
        sizes = {name: self._size(rows, name) for name in workload.sizes}
        known = np.logical_and.reduce([np.isfinite(c) & (c > 0) for c in sizes.values()])
        parts: list[tuple[Index, Workload | None, Work, bool]] = []
        if known.any():
            columns = {name: c[None, known] for name, c in sizes.items()}
            # One size for all rows is the common case: then the physics is worked out once.
            if all((c == c[:, :1]).all() for c in columns.values()):
                columns = {name: c[:, :1] for name, c in columns.items()}
            parts.append((rows[known], workload, work_of(workload, columns, dtype), True))
        rest = rows[~known]
        if len(rest) and workload.per_element:
            one = {name: np.ones((1, 1)) for name in workload.sizes}
            work = work_of(workload, one, dtype)
            narrow = work.narrow and work.narrow._replace(boundless_cache=True)
            parts.append((rest, workload, work._replace(boundless_cache=True, narrow=narrow), False))
        elif len(rest):
            needed = ", ".join(workload.sizes)
            self.unjudged.add(
                rest, "missing-size", f"{workload.id} needs its size: give columns or --size for {needed}"
            )
        return parts

    def _own_counts(self, rows: Index) -> tuple[dict[str, Column], NDArray[np.bool_]]:
        """What rows say of their own work, zeros where they say nothing, and whether it is for a known size."""
        columns = self.rows_of.work
        given = {name: columns[name][rows] if name in columns else np.full(len(rows), np.nan) for name in WORK_COLUMNS}
        n = self._size(rows, "n")
        per_element = np.isfinite(given["flops_per_element"]) | np.isfinite(given["bytes_per_element"])
        total = np.isfinite(given["flops"]) | np.isfinite(given["reads"]) | np.isfinite(given["writes"])
        sized = total | np.isfinite(n)
        scale = np.where(np.isfinite(n), n, np.where(total, np.nan, 1.0))

        def known(*choices: Column) -> Column:
            value = np.zeros(len(rows))
            for choice in reversed(choices):
                value = np.where(np.isfinite(choice), choice, value)
            return value

        reads, writes = known(given["reads"]), known(given["writes"])
        split = np.isfinite(given["reads"]) | np.isfinite(given["writes"])
        unsplit = known(given["bytes_per_element"] * scale)
        traffic = np.where(split, reads + writes, unsplit)
        counts = {
            "flops": known(given["flops"], given["flops_per_element"] * scale),
            "traffic": traffic,
            # Without a split all of it may be either; half of it is the least that passes the cache port one way.
            "reads": np.where(split, reads, unsplit),
            "writes": np.where(split, writes, unsplit),
            "one_way": np.where(split, np.maximum(reads, writes), unsplit / 2),
        }
        return counts, np.asarray(sized & (total | per_element))

    def _bandwidth_only(self, rows: Index, dtype: str) -> list[tuple[Index, Workload | None, Work, bool]]:
        """Rows of which nothing but a bandwidth can be judged: one byte stands for all."""
        has = np.zeros(len(rows), dtype=np.bool_)
        for column in self.rows_of.figures:
            if column.kind == "bandwidth" and column.case is None:
                has |= np.isfinite(column.value[rows])
        self.unjudged.add(
            rows[~has],
            "missing-size",
            "nothing says what the row computes: name a board or a workload, or give columns such as flops_per_element",
        )
        if not has.any():
            return []
        byte, zero = np.ones((1, 1)), np.zeros((1, 1))
        work = Work(zero, byte, byte, byte, byte / 2, dtype=dtype, boundless_cache=True)
        return [(rows[has], None, work, False)]


def _parts(rows: Index, codes: NDArray[np.int64]) -> Iterator[tuple[int, Index]]:
    """The rows of each code, smallest first; codes count from -1."""
    present = np.flatnonzero(np.bincount(codes + 1)) - 1 if len(codes) else np.zeros(0, dtype=np.int64)
    if len(present) <= _FEW_LABELS:
        for code in present:
            yield int(code), rows[codes == code]
        return
    order = np.argsort(codes, kind="stable")
    edges = np.searchsorted(codes[order], present)
    for code, part in zip(present, np.split(rows[order], edges[1:]), strict=True):
        yield int(code), part


def _counted(figure: Figure, work: Work) -> Figure:
    """A figure of those rows alone that count something of what it measures."""
    if figure.kind == "time":
        return figure
    counts = np.broadcast_to((work.traffic if figure.kind == "bandwidth" else work.flops)[0] > 0, figure.value.shape)
    value, low, high = (np.where(counts, column, np.nan) for column in (figure.value, figure.low, figure.high))
    return figure._replace(value=value, low=low, high=high)


def usable(claims: Claims) -> NDArray[np.bool_]:
    """Rows of a group that report at least one figure, shape (rows,)."""
    present = [np.isfinite(f.value) & np.isfinite(f.favourable) for f in claims.figures]
    return np.asarray(np.logical_or.reduce(present)) if present else np.zeros(len(claims.rows), dtype=np.bool_)
