"""Board: the cases a leaderboard times, how it scores them, and what its words mean. No rows, no judgement."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from klaudit.formula import Formula
from klaudit.provenance import Source

Rule = Literal["mean", "geomean", "total"]
Timing = Literal["event-pair", "graph-node", "loop", "unknown"]

# The least time [s] one launch can appear to take, by how it is timed. Smallest seen: 2.5 us for an event pair around
# an empty kernel and 0.52 us for a graph node, both on an H200; 0.86 us as a profiler's kernel time elsewhere.
# The floors are half of what was seen or less: a faster card must not be accused.
LAUNCH_FLOORS: Final[Mapping[str, float]] = {"event-pair": 1.0e-6, "graph-node": 0.25e-6, "loop": 0.0, "unknown": 0.0}


class Case(NamedTuple):
    """One size that a board times."""

    name: str
    sizes: Mapping[str, float]
    aliases: tuple[str, ...] = ()


class Scoring(NamedTuple):
    """How a board makes one number of its cases, and one number a case of its runs.

    `runs` is how many runs a case has at least and at most, or None where nobody says.
    """

    rate: Rule = "mean"
    time: Rule = "mean"
    case_rate: Literal["mean-of-runs", "work-over-mean-time"] = "work-over-mean-time"
    runs: tuple[int, int] | None = None
    ranked_by: Literal["rate", "time"] = "time"
    source: str = ""


class RuledOut(NamedTuple):
    """A condition that a board's harness excludes, and why."""

    condition: str
    reason: str


class Harness(NamedTuple):
    """How a board takes its times."""

    timing: Timing = "unknown"
    flush: str = ""
    output_check: str = ""
    rules_out: tuple[RuledOut, ...] = ()
    source: str = ""

    @property
    def launch_floor(self) -> float:
        """The least time one launch can appear to take [s]."""
        return LAUNCH_FLOORS[self.timing]


class Draw(NamedTuple):
    """How one input of a case is drawn, element by element.

    Attributes
    ----------
    draw : str
        "uniform" from `low` to `high`; "normal" with mean `low` and deviation `high`; "signs" -1 or 1; "scattered":
        `high` at places drawn with repeats, as many draws as `share` of the elements, and `low` elsewhere.
    transform : str
        "softmax" over the whole input, or "".
    """

    name: str
    draw: Literal["uniform", "normal", "signs", "scattered"]
    low: float = 0.0
    high: float = 1.0
    share: float = 0.0
    transform: Literal["", "softmax"] = ""


class CaseInputs(NamedTuple):
    """Where one case departs from the checker's inputs: other draws, and the numbers its formula takes."""

    case: str
    inputs: tuple[Draw, ...] = ()
    parameters: Mapping[str, float] = MappingProxyType({})


class Enforced(NamedTuple):
    """A trivial submission that the check accepts, and the bytes that it moves: measured by `klaudit checker`.

    Attributes
    ----------
    plain : str
        What it does, as a sentence continues "consistent with ...".
    traffic : Formula
        Bytes over the sizes and `b`.
    cases : tuple of str
        The cases that accept it.
    """

    submission: str
    plain: str
    traffic: Formula
    cases: tuple[str, ...]


class Checker(NamedTuple):
    """What a board's correctness check accepts, as far as it is known.

    Attributes
    ----------
    rtol, atol : float or None
        An output passes within ``atol + rtol * |reference|``.
    atol_of_max : float or None
        Instead of `atol`: a share of the case's largest |reference|.
    matched : float
        The least share of outputs that must pass.
    output : str
        What the output buffer holds before: "zeros", "ones" or "uninitialised".
    reference : str
        The formula's name, "" where none is known.
    seed : str
        "fixed": a case has the same inputs every time; "fresh": new ones.
    """

    rtol: float | None = None
    atol: float | None = None
    output: str = ""
    note: str = ""
    source: str = ""
    atol_of_max: float | None = None
    matched: float = 1.0
    reference: str = ""
    inputs: tuple[Draw, ...] = ()
    cases: tuple[CaseInputs, ...] = ()
    seed: Literal["fixed", "fresh"] = "fixed"
    enforced: tuple[Enforced, ...] = ()


class Era(NamedTuple):
    """A span of days in which a board's rules held: from `since` to the day before `until`."""

    id: str
    scoring: Scoring
    harness: Harness
    since: datetime.date | None = None
    until: datetime.date | None = None

    def holds(self, day: datetime.date) -> bool:
        """Whether the rules were in force on `day`."""
        return (self.since is None or self.since <= day) and (self.until is None or day < self.until)


class GpuLabel(NamedTuple):
    """What one of a board's GPU labels means there, and how that is known."""

    label: str
    means: tuple[str, ...]
    source: str = ""
    note: str = ""


class LeaderboardName(NamedTuple):
    """What a leaderboard that has a board's rules calls itself in its exports, and how that is known."""

    name: str
    source: str = ""
    note: str = ""


class Board(NamedTuple):
    """A leaderboard's rules.

    `cases` is empty where each row is one case of its own; `leaderboards` is empty where nobody says which ones the
    board stands for.
    """

    id: str
    name: str
    workload: str | None
    eras: tuple[Era, ...]
    dtype: str | None = None
    cases: tuple[Case, ...] = ()
    gpu_labels: tuple[GpuLabel, ...] = ()
    checker: Checker | None = None
    sources: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()
    leaderboards: tuple[LeaderboardName, ...] = ()

    def select(self, era_id: str) -> Board:
        """The same board with the one era, under the era's id."""
        return self._replace(id=era_id, eras=tuple(e for e in self.eras if e.id == era_id))
