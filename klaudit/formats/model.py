"""What the model says and where it ends, in sentences that reports and README share."""

from __future__ import annotations

from typing import Final

MODEL: Final = (
    "A score becomes a time by the board's own count, time = FLOPs / rate, so whatever a board over- or under-counts"
    " cancels. The time is held against floors: compulsory bytes over DRAM bandwidth; counted operations over the dense"
    " peak of the dtype; the larger of reads and writes over the cache port, where that is sourced; the fewest"
    " operations of any known algorithm over the fastest pipe; and the least time one launch can appear to take."
    " Special functions are shown, never judged, for they can run elsewhere."
)
MODEL_LIMITS: Final = (
    "Physics sees traffic, not truth: a kernel that computes nothing but takes an honest time is within.",
    "Bandwidth is the largest credible one. A card that cannot reach it hides what it could not have done.",
    "Caches are counted once for outputs and once for inputs, whatever the harness flushes, unless the board rules it"
    " out.",
    "Measured figures never accuse: honest streams reach 99.9 % of the pin rate.",
    "A least count of operations is known for matrix products and convolutions only; elsewhere the row says so.",
    "What a checker's tolerance lets through is not physics.",
)
VERDICTS: Final = (
    ("within", "at or below the roof: no clearance, only nothing that physics forbids"),
    ("conditional", "above the roof, and possible under the smallest set of conditions that the row names"),
    ("impossible", "above the limit: no set of conditions that is not ruled out makes it possible"),
    ("inconsistent", "the row's own figures cannot be of one run"),
    ("unjudged", "too little is known to judge it; the row says what is missing"),
)
