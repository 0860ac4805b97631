"""What the judge hands to the formats: one row's report, the whole audit, a card's roofs, a board's limits.

Plain nouns in SI; no arithmetic beyond sums, no text layout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from klaudit.board import Board
from klaudit.gpu import Gpu, Peak
from klaudit.leaderboard import ColumnsRead
from klaudit.verdict import Verdict
from klaudit.workload import Workload


class Reported(NamedTuple):
    """One figure as a row reports it, with its roof and limit, all in SI.

    `ratio` and `limit_ratio` are rate over ceiling or floor over time: above 1 is above. `measured` is the figure at
    the best bandwidth measured on the card, where that is known. `fastest` figures are of the fastest run alone.
    """

    kind: Literal["rate", "time", "bandwidth"]
    rule: str
    value: float
    low: float
    high: float
    roof: float
    limit: float
    ratio: float
    limit_ratio: float
    measured: float | None = None
    header: str = ""
    fastest: bool = False


class CaseReport(NamedTuple):
    """One case of a row: its time [s], its floors [s] and its own smallest set of conditions.

    `fastest` tells that the time is of the fastest run alone, which comes closer to the roof than the average.
    """

    name: str
    sizes: Mapping[str, float]
    time: float
    floor: float
    limit_floor: float
    ratio: float
    limit_ratio: float
    verdict: Verdict
    conditions: tuple[str, ...]
    fastest: bool = False


class RowReport(NamedTuple):
    """Everything a report says of one row.

    Attributes
    ----------
    variants : tuple of str
        Ids of the cards the label can mean; `variant` is the one that the verdict rests on.
    roof_name : str
        "dram", "compute", or "" where nothing was judged.
    ratio, limit_ratio : float or None
        The largest over the reported figures.
    conditions : tuple of str
        The smallest set for the whole row; `alternatives` are the other sets of that size.
    cached_share : float or None
        The least cached bytes that would do, over the cache.
    rules : tuple of str
        Slugs, the verdict's own first.
    message : str
        The arithmetic in one line.
    path : str
        Where the record stands in its document, where a line alone does not say it.
    intensity : float or None
        Counted operations per compulsory byte over all cases [FLOP/B], where both are known.
    fingerprint : str
        What makes the finding the same one in another run, where somebody asked for it.
    suppressed : str
        What accepted the finding beforehand; "" where nothing did.
    """

    source: str
    line: int
    entry: str
    gpu: str
    variants: tuple[str, ...]
    variant: str
    board: str
    workload: str
    dtype: str
    verdict: Verdict
    reported: tuple[Reported, ...]
    roof_name: str
    ratio: float | None
    limit_ratio: float | None
    conditions: tuple[str, ...]
    alternatives: tuple[tuple[str, ...], ...]
    cached_share: float | None
    rules: tuple[str, ...]
    worst_case: str
    message: str
    cases: tuple[CaseReport, ...] = ()
    notes: tuple[str, ...] = ()
    path: str = ""
    intensity: float | None = None
    fingerprint: str = ""
    suppressed: str = ""

    @property
    def rule(self) -> str:
        """The rule that the row is reported under: the first, or the verdict where it has none."""
        return self.rules[0] if self.rules else str(self.verdict)

    @property
    def severity(self) -> tuple[int, float, float]:
        """A key to sort by, mildest first: the verdict, then how far above its limit, then above its roof."""
        over = max([self.limit_ratio or 0.0, *(case.limit_ratio for case in self.cases)])
        return int(self.verdict), over, max([self.ratio or 0.0, *(case.ratio for case in self.cases)])

    @property
    def furthest(self) -> tuple[float | None, float | None]:
        """The largest ratio to the roof and to the limit, over the reported figures and the cases."""
        ratios = [r for r in (self.ratio, *(c.ratio for c in self.cases)) if r is not None]
        limits = [r for r in (self.limit_ratio, *(c.limit_ratio for c in self.cases)) if r is not None]
        return max(ratios, default=None), max(limits, default=None)


class Summary:
    """Counts of rows by verdict, and of rows above the best measured figure."""

    __slots__ = ("above_measured", "counts")

    def __init__(self) -> None:
        self.counts = dict.fromkeys(Verdict, 0)
        self.above_measured = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Summary) and (self.counts, self.above_measured) == (other.counts, other.above_measured)

    def __repr__(self) -> str:
        return f"Summary(counts={self.counts}, above_measured={self.above_measured})"

    def add(self, counts: Iterable[int], above_measured: int) -> None:
        """Add counts in the order of `Verdict`."""
        for verdict, count in zip(Verdict, counts, strict=True):
            self.counts[verdict] += int(count)
        self.above_measured += above_measured

    @property
    def rows(self) -> int:
        """All rows of the input."""
        return sum(self.counts.values())

    @property
    def judged(self) -> int:
        """Rows that could be judged."""
        return self.rows - self.counts[Verdict.UNJUDGED]

    @property
    def above_roof(self) -> int:
        """Judged rows that are not within."""
        return self.judged - self.counts[Verdict.WITHIN]

    @property
    def share_above_roof(self) -> float:
        """Rows not within over judged rows; 0 where nothing was judged."""
        return self.above_roof / self.judged if self.judged else 0.0


class Background(NamedTuple):
    """What the verdicts of an audit rest on.

    Attributes
    ----------
    labels : mapping of str to tuple of Roofs
        For each GPU label judged, the roofs of the cards that it can mean, for each workload and dtype met.
    limits : tuple of Limits
        The board's ceilings on those cards.
    """

    board: Board | None = None
    labels: Mapping[str, tuple[Roofs, ...]] = MappingProxyType({})
    limits: tuple[Limits, ...] = ()


class Suppressed(NamedTuple):
    """The findings that were accepted beforehand: all counted, and those that a report has room for.

    `messages` are sentences about acceptances that no longer do anything.
    """

    summary: Summary
    rows: tuple[RowReport, ...] = ()
    messages: tuple[str, ...] = ()


class Standing(NamedTuple):
    """Where a submission would stand on a board, among the rows of its card, by one figure.

    Attributes
    ----------
    row : RowReport
        The submission.
    kind : str
        What is compared; "" where board and submission have no figure in common.
    rank, of : int
        Its rank among so many rows, itself included.
    rank_within, of_within : int
        The same among the rows that are within.
    best_entry, best_line, best_value : str, int, float or None
        The best row of the board that is within, where there is one.
    lead : float or None
        How many times better than that row the submission is; below 1 it is worse.
    """

    row: RowReport
    board: str
    kind: Literal["", "rate", "time", "bandwidth"] = ""
    rank: int = 0
    of: int = 0
    rank_within: int = 0
    of_within: int = 0
    best_entry: str = ""
    best_line: int = 0
    best_value: float | None = None
    lead: float | None = None


class Place(NamedTuple):
    """A row on a podium, and the figure that put it there, in SI."""

    entry: str
    line: int
    value: float
    verdict: Verdict


class Podium(NamedTuple):
    """The three best rows of one card by one figure, as the board has them and without those that fail."""

    gpu: str
    kind: Literal["rate", "time", "bandwidth"]
    before: tuple[Place, ...]
    after: tuple[Place, ...]


class Audit(NamedTuple):
    """One run over one or more files.

    Attributes
    ----------
    findings : tuple of RowReport
        Rows that are not within, in the order of the input, up to the caller's maximum.
    findings_left_out : int
        Rows not within beyond that maximum: counted, not kept.
    by_gpu : mapping of str to Summary
        The counts by GPU label as written.
    rows : callable
        Yields the report of every row in the order of the input; only where the caller asked to keep them.
    remarks : tuple of str
        Sentences on the whole audit, such as which era decided.
    background : callable
        Works out what the verdicts rest on, for reports that show it.
    suppressed : Suppressed
        Findings accepted beforehand; `summary` counts them too, `findings` leaves them out.
    standings : tuple of Standing
        Where the rows would stand on another board.
    podiums : tuple of Podium
        The podiums that change without the rows that fail, where that was asked for.
    columns : tuple of ColumnsRead
        What the columns of each file were taken for, of those that have headers.
    """

    version: str
    specs_date: str
    specs_sha256: str
    sources: tuple[str, ...]
    board: str
    workload: str
    ruled_out: tuple[str, ...]
    allowed: tuple[str, ...]
    summary: Summary
    by_gpu: Mapping[str, Summary]
    findings: tuple[RowReport, ...]
    findings_left_out: int
    rows: Callable[[], Iterator[RowReport]]
    suppressed: Suppressed
    remarks: tuple[str, ...] = ()
    background: Callable[[], Background] = Background
    standings: tuple[Standing, ...] = ()
    podiums: tuple[Podium, ...] = ()
    columns: tuple[ColumnsRead, ...] = ()


class Roofs(NamedTuple):
    """The roofs of one card, and of one workload on it.

    Attributes
    ----------
    intensity : float or None
        Counted operations per compulsory byte [FLOP/B].
    peak : Peak or None
        The best dense peak of the dtype.
    ridge_point : float or None
        The intensity at which dram and compute roof meet [FLOP/B].
    dram, port, compute, special : float or None
        Ceilings on the workload's rate [FLOP/s]; without a workload None.
    traffic : float or None
        Compulsory bytes, where the size is known [B].
    floor : float or None
        The least time at that size [s].
    """

    gpu: Gpu
    workload: Workload | None
    dtype: str
    intensity: float | None
    peak: Peak | None
    ridge_point: float | None
    dram: float | None
    port: float | None
    compute: float | None
    special: float | None
    sizes: Mapping[str, float] = MappingProxyType({})
    traffic: float | None = None
    floor: float | None = None


class Ceiling(NamedTuple):
    """What a board's average can be at best under one set of conditions: a rate [FLOP/s] and a time [s]."""

    conditions: tuple[str, ...]
    rate: float
    time: float


class Limits(NamedTuple):
    """A board's ceilings on one card; the first is the roof, the last the limit ("impossible above")."""

    board: Board
    era: str
    label: str
    gpu: Gpu
    ceilings: tuple[Ceiling, ...]


class Step(NamedTuple):
    """One line of an explanation: what it says, the arithmetic, and where its figures come from."""

    title: str
    arithmetic: str
    source: str = ""


class Explanation(NamedTuple):
    """One claim, step by step, with the report that it leads to."""

    claim: str
    steps: tuple[Step, ...]
    report: RowReport
