"""What the checker analysis found: plain nouns for the formats. All traffic in bytes; no arithmetic beyond sums."""

from __future__ import annotations

from typing import NamedTuple

from klaudit.board import Board, Case
from klaudit.gpu import Gpu


class Trial(NamedTuple):
    """One submission tried on one case.

    Attributes
    ----------
    submission : str
        Its slug; `plain` says in words what it did, with the parameter that suits the case best.
    error : float
        The largest error beyond ``rtol * |reference|``: the least atol that accepts it.
    accepted : bool
        Whether the board's check accepts it.
    traffic : float
        Bytes it must move [B]; `formula` is the same over the case's sizes.
    skipped : tuple of str
        Inputs that it never reads.
    """

    submission: str
    plain: str
    error: float
    accepted: bool
    traffic: float
    formula: str
    skipped: tuple[str, ...] = ()
    honest: bool = False


class CaseFindings(NamedTuple):
    """One case: what was drawn, what the check asks, and every submission tried.

    Attributes
    ----------
    outputs, examined : int
        How many outputs the case has, and how many of them were looked at.
    largest : float
        The largest |reference|.
    atol : float
        The absolute tolerance in force.
    compulsory : float
        Bytes that the workload must move [B].
    fraction : float
        The least share of the outputs that must be computed, first to last; 1 is all of them.
    """

    case: Case
    outputs: int
    examined: int
    largest: float
    atol: float
    compulsory: float
    fraction: float
    trials: tuple[Trial, ...]


class Program(NamedTuple):
    """What one program may do at best: the submission for each case, and its bytes [B].

    `branches` is "" for the same everywhere, "size" or "data" for what it looks at first.
    """

    branches: str
    plain: tuple[str, ...]
    traffic: tuple[float, ...]
    skipped: tuple[str, ...] = ()


class EnforcedRoof(NamedTuple):
    """A card's roof by the compulsory traffic, and the one that the enforced traffic leaves [FLOP/s]."""

    label: str
    gpu: Gpu
    compulsory: float
    enforced: float

    @property
    def share(self) -> float:
        """How far above the dram roof a score may lie and still be accepted."""
        return self.enforced / self.compulsory


class Window(NamedTuple):
    """Tolerances between the honest and the trivial: above `low` all honest pass, below `high` no trivial does.

    Attributes
    ----------
    name : str
        "atol", or "atol / max |reference|".
    honest, trivial : str
        Which submission sets either edge, and on which case.
    chosen : float or None
        A tolerance in the middle, None where there is no window.
    """

    name: str
    low: float
    high: float
    honest: str
    trivial: str
    chosen: float | None

    @property
    def exists(self) -> bool:
        """Whether any tolerance tells the honest from the trivial."""
        return self.low < self.high

    @property
    def margins(self) -> tuple[float, float]:
        """How far the chosen tolerance is from either edge, as factors."""
        if self.chosen is None:
            return (1.0, 1.0)
        return (self.chosen / self.low if self.low else float("inf"), self.high / self.chosen)


class Repair(NamedTuple):
    """A tolerance that would do.

    Attributes
    ----------
    by_case : tuple of Window
        The window of each case alone, as a share of its max |reference|.
    absolute, relative : Window
        One atol for all cases, and one share for all cases.
    check : str
        The check written out, "" where there is no window.
    """

    by_case: tuple[Window, ...]
    absolute: Window
    relative: Window
    check: str
    reason: str = ""


class Loopholes(NamedTuple):
    """The whole analysis of one board."""

    board: Board
    check: str
    rechecked: str
    seed: int
    quick: bool
    cases: tuple[CaseFindings, ...]
    programs: tuple[Program, ...]
    roofs: tuple[EnforcedRoof, ...]
    repair: Repair
    headlines: tuple[str, ...]
