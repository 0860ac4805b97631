"""What can be said of a row: verdicts, conditions and rules, and what the user decides. No arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

Level = Literal["error", "warning", "note"]


class Verdict(IntEnum):
    """What a row's numbers allow, mildest first: the row takes the worst of its parts."""

    WITHIN = 0
    UNJUDGED = 1
    CONDITIONAL = 2
    IMPOSSIBLE = 3
    INCONSISTENT = 4

    def __str__(self) -> str:
        return self.name.lower()

    @property
    def level(self) -> Level | None:
        """How loudly a report says it; None for a row at or below the roof."""
        if self is Verdict.WITHIN:
            return None
        return "error" if self >= Verdict.IMPOSSIBLE else "warning"


class Condition(NamedTuple):
    """A fact that a row does not state and that would raise its roof."""

    id: str
    plain: str
    help: str


# In the order in which ties are broken: the more ordinary fact first.
CONDITIONS: Final = (
    Condition(
        "faster-variant",
        "a faster card sold under this name",
        "The label covers several cards. Name the card to remove the question.",
    ),
    Condition(
        "write-back",
        "the last writes were still in the cache when the clock stopped",
        "Up to one cache of output never reached DRAM. Seen in honest harnesses that flush.",
    ),
    Condition(
        "inputs-resident",
        "inputs were in the cache when the clock started",
        "Up to one cache of input was not read from DRAM. A flush does not exclude it: persisting lines survive one.",
    ),
    Condition(
        "timer-tick",
        "one step of the clock fell well",
        "The clock counts in steps, so one run may have taken one step longer. An average of five runs is not excused.",
    ),
    Condition(
        "overclock",
        "the card ran above stock clocks",
        "Bandwidth times 1.25 and clock times 1.3, on cards that their owners can overclock.",
    ),
    Condition(
        "narrower-dtype",
        "the data were of the narrowest dtype that the workload allows",
        "Neither board nor row states the dtype. State it to remove the question.",
    ),
    Condition(
        "lower-precision",
        "the arithmetic ran on a faster, less precise pipe",
        "The card's best dense rate instead of the declared dtype's.",
    ),
    Condition(
        "fewer-operations",
        "an algorithm that needs fewer operations than the board counts",
        "Down to the least count of any known algorithm, where the workload states one.",
    ),
    Condition(
        "compressed-data",
        "the hardware compressed the contents of memory",
        "A quarter of the DRAM traffic. NVIDIA cards compress only memory allocated for it: allow it by name.",
    ),
)
CONDITION_IDS: Final = tuple(c.id for c in CONDITIONS)
CONDITION_BITS: Final[Mapping[str, int]] = {c.id: 1 << i for i, c in enumerate(CONDITIONS)}


def condition_ids(bits: int) -> tuple[str, ...]:
    """The conditions of a set written as bits, in the table's order."""
    return tuple(c for c in CONDITION_IDS if bits & CONDITION_BITS[c])


class Rule(NamedTuple):
    """Something a report can say of a row. The slug never changes."""

    slug: str
    level: Level
    title: str
    help: str


_RULES: Final = (
    Rule(
        "above-dram-roof",
        "warning",
        "Above the DRAM roof",
        "The score needs more bytes a second than the card's memory delivers. It is possible only under the named "
        "conditions.",
    ),
    Rule(
        "above-compute-roof",
        "warning",
        "Above the compute roof",
        "The score needs more operations a second than the declared dtype's best pipe delivers. It is possible "
        "only under the named conditions.",
    ),
    Rule(
        "impossible",
        "error",
        "Above every physical limit",
        "No set of conditions makes the score possible on any card the label can mean. A harness fault is as "
        "likely a cause as an exploit: check what was timed, on which stream, and whether the outputs were "
        "written.",
    ),
    Rule(
        "below-launch-floor",
        "error",
        "Faster than a launch",
        "The time is below the least that one launch can appear to take by the board's timing method.",
    ),
    Rule(
        "figures-disagree",
        "error",
        "The row's figures contradict each other",
        "No times give all the figures at once, so at least one of them is wrong. Look for a moved decimal point "
        "or a wrong unit.",
    ),
    Rule(
        "strained",
        "note",
        "Needs more than a whole cache",
        "The conditions would need more cached bytes than one cache holds. No honest public measurement known "
        "needs more than 0.82 of it.",
    ),
    Rule(
        "above-measured",
        "note",
        "Above the best measured figure",
        "The score is above what anyone is known to have measured on the card, and below what the hardware "
        "allows. Nothing follows from it alone.",
    ),
    Rule(
        "binary-reading",
        "note",
        "Between the decimal roof and the binary one",
        "The score would be under the roof if the card's gigabytes were binary. They are decimal; the note "
        "explains a common misreading.",
    ),
    Rule(
        "ambiguous-gpu",
        "note",
        "The verdict depends on the card",
        "The label covers several cards and they lead to different verdicts. Name the card.",
    ),
    Rule(
        "duplicate-entry",
        "note",
        "The same row twice",
        "An earlier row has the same entry, GPU and figures. Both are judged.",
    ),
    Rule(
        "missing-case",
        "note",
        "Not all of the board's cases",
        "The row lacks figures for some cases, so its averages are not judged against the full case list.",
    ),
    Rule(
        "columns-ignored",
        "note",
        "The row's own counts are not used",
        "The row states operations, bytes or a dtype that differ from those of its board or workload, which decide:"
        " else a submission could acquit itself. --trust-columns takes the row's word.",
    ),
    Rule(
        "not-compulsory",
        "warning",
        "Bytes counted with re-reads",
        "The row counts bytes that were read again. Only bytes that must move bound a time.",
    ),
    Rule(
        "unknown-date",
        "note",
        "Not a date",
        "The cell is no date that is understood, so the most lenient of the board's eras decides.",
    ),
    Rule(
        "unknown-case",
        "warning",
        "No such case",
        "The row names a size that no case of the board has, so the board's rules do not speak of it.",
    ),
    Rule(
        "other-board",
        "warning",
        "Of another leaderboard",
        "The row says that it is of a leaderboard that the chosen board does not stand for, so the board's rules do not"
        " speak of it. Judge it by its own board: --board.",
    ),
    Rule(
        "counts-differ",
        "note",
        "Another count of operations or bytes",
        "Rate and time agree only if the row counts its work otherwise than the workload. Without a board nobody says"
        " how it was counted, so the time alone is judged.",
    ),
    Rule(
        "too-coarse",
        "warning",
        "Printed too coarsely",
        "The printed time is zero and may stand for anything up to its last digit, which is more than the roof: nothing"
        " can be said.",
    ),
    Rule(
        "several-gpus",
        "note",
        "Several cards",
        "The label counts several cards: bandwidth, processors and cache are multiplied.",
    ),
    Rule(
        "unknown-gpu",
        "warning",
        "Unknown GPU",
        "The label names no card of the catalogue. Correct the name, map it, or add a spec.",
    ),
    Rule(
        "missing-score",
        "warning",
        "No score",
        "The row reports no figure that can be judged.",
    ),
    Rule(
        "not-a-number",
        "warning",
        "Not a number",
        "A cell that should hold a figure holds something else.",
    ),
    Rule(
        "missing-size",
        "warning",
        "No size",
        "A time, or a rate of a workload whose intensity depends on the size, cannot be judged without the size.",
    ),
    Rule(
        "unknown-dtype",
        "warning",
        "Unknown dtype",
        "The cell names no dtype that is known. Write float32, bfloat16, float8 and the like.",
    ),
    Rule(
        "unknown-unit",
        "warning",
        "Unknown unit",
        "Neither header nor cell says the unit. Write it in the header.",
    ),
    Rule(
        "not-accepted",
        "warning",
        "Not accepted by the board",
        "The row failed, was incorrect or was not timed.",
    ),
)
RULES: Final[Mapping[str, Rule]] = {rule.slug: rule for rule in _RULES}


class Policy(NamedTuple):
    """What the user decides about judging: nothing here is read from the submissions.

    Attributes
    ----------
    ruled_out, allowed : frozenset of str
        Conditions taken away, or added to those allowed by default.
    gpu_labels : mapping of str to str
        What a label means here: label to card id or name.
    gpu : str
        The card where a row names none.
    workload, dtype : str
        Where neither board nor row says.
    sizes : mapping of str to float
        Sizes where neither board nor row says.
    trust_columns : bool
        Whether a row's own counts may differ from its board's.
    """

    ruled_out: frozenset[str] = frozenset()
    allowed: frozenset[str] = frozenset()
    gpu_labels: Mapping[str, str] = MappingProxyType({})
    gpu: str = ""
    workload: str = ""
    dtype: str = ""
    sizes: Mapping[str, float] = MappingProxyType({})
    trust_columns: bool = False
