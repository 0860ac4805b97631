"""What a verdict says and does not say, and what would lift it: for the person whose row it is about."""

from __future__ import annotations

from typing import Final

# Where the same can be read on the web, once there is such a place: the link behind every rule.
PAGE: Final = ""
EVIDENCE: Final = (
    "name the exact card, with its variant, for a label taken for another card has another roof",
    "give the time of every case, for an average hides which one is out of reach",
    "show a profiler's bytes read and written, which tell what the kernel really moved",
    "show how the harness flushes the caches between runs, and on which stream it records",
)
SAYS: Final = (
    "It says what the reported figures are inconsistent with, by the specs and conditions that the report names."
)
SAYS_NOT: Final = (
    "It does not say that anyone cheated: a harness fault, a wrong unit or a wrong label is as likely a cause, and a"
    " row without a finding is not cleared."
)


def plain() -> str:
    """The page in a few sentences."""
    return f"{SAYS} {SAYS_NOT} What would lift it: {'; '.join(EVIDENCE)}."


def markdown() -> str:
    """The page as Markdown."""
    listed = "\n".join(f"- {item}" for item in EVIDENCE)
    return f"**What this says.** {SAYS}\n\n**What it does not say.** {SAYS_NOT}\n\n**What would lift it**\n\n{listed}"
