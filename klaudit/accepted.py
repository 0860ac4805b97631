"""What a user has accepted beforehand: ignores with a reason, and findings known from a baseline. No matching here."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Ignore(NamedTuple):
    """One ignore: every part that is named must fit a finding, and the last day on which it holds.

    `rule` is the rule that a finding is reported under, never one of its notes.
    """

    reason: str
    rule: str = ""
    entry: str = ""
    fingerprint: str = ""
    expires: datetime.date | None = None
    place: str = ""

    @property
    def what(self) -> str:
        """What it ignores, in words."""
        parts = (("rule", self.rule), ("entry", self.entry), ("fingerprint", self.fingerprint))
        return " and ".join(f"{name} {value!r}" for name, value in parts if value)


class Known(NamedTuple):
    """A finding that a baseline accepts; all but the fingerprint is for people."""

    fingerprint: str
    rule: str
    source: str
    entry: str
    gpu: str


class Baseline(NamedTuple):
    """The findings that a file accepts."""

    file: str = ""
    findings: tuple[Known, ...] = ()


class Config(NamedTuple):
    """A user's file of default options and ignores.

    Attributes
    ----------
    options : mapping of str to (value, int)
        Option name to its value as the file has it, and the line.
    """

    file: str
    options: Mapping[str, tuple[Any, int]] = MappingProxyType({})
    ignores: tuple[Ignore, ...] = ()
