"""Where a figure comes from: every number of a spec carries its text and its source."""

from __future__ import annotations

from typing import NamedTuple


class Figure(NamedTuple):
    """One figure of a spec: its value in SI, the datasheet text, and where it comes from."""

    name: str
    value: float
    text: str
    source: str
    note: str = ""


class Source(NamedTuple):
    """Where figures come from."""

    key: str
    where: str
    kind: str
    how: str
