"""What the judge hands to the formats: one row's report, the whole audit, a card's roofs, a board's limits.

Plain nouns in SI; no arithmetic beyond sums, no text layout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from klaudit.board import Board
from klaudit.gpu import Gpu, Peak
from klaudit.verdict import Verdict
from klaudit.workload import Workload


@dataclass(frozen=True, slots=True)
class Reported:
    """One figure as a row reports it, with its roof and limit, all in SI.

    `ratio` and `limit_ratio` are rate over ceiling or floor over time: above 1 is above. `measured` is the figure at
    the best bandwidth measured on the card, where that is known.
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


@dataclass(frozen=True, slots=True)
class CaseReport:
    """One case of a row: its time [s], its floors [s] and its own smallest set of conditions."""

    name: str
    sizes: Mapping[str, float]
    time: float
    floor: float
    limit_floor: float
    ratio: float
    limit_ratio: float
    verdict: Verdict
    conditions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RowReport:
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


@dataclass(slots=True)
class Summary:
    """Counts of rows by verdict, and of rows above the best measured figure."""

    counts: dict[Verdict, int] = field(default_factory=lambda: dict.fromkeys(Verdict, 0))
    above_measured: int = 0

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


@dataclass(frozen=True, slots=True)
class Audit:
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
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Roofs:
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
    sizes: Mapping[str, float] = field(default_factory=dict)
    traffic: float | None = None
    floor: float | None = None


@dataclass(frozen=True, slots=True)
class Ceiling:
    """What a board's average can be at best under one set of conditions: a rate [FLOP/s] and a time [s]."""

    conditions: tuple[str, ...]
    rate: float
    time: float


@dataclass(frozen=True, slots=True)
class Limits:
    """A board's ceilings on one card; the first is the roof, the last the limit ("impossible above")."""

    board: Board
    era: str
    label: str
    gpu: Gpu
    ceilings: tuple[Ceiling, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One line of an explanation: what it says, the arithmetic, and where its figures come from."""

    title: str
    arithmetic: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """One claim, step by step, with the report that it leads to."""

    claim: str
    steps: tuple[Step, ...]
    report: RowReport
