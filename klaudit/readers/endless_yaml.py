"""YAML that would be expanded, or gone down, without end: refused before anything is composed."""

from __future__ import annotations

import re
from typing import Final

import yaml

from klaudit.errors import SpecError

LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Levels that a file may have, and those that the composer certainly bears: beyond, some crash.
_MOST_DEPTH: Final = 100
_SAFE_DEPTH: Final = 500
_STARTS: Final = re.compile(r"^[ \t?:-]+", re.MULTILINE)


def refuse_endless(text: str, file: str) -> None:
    """Refuse anchors, aliases and levels beyond reason.

    Raises
    ------
    SpecError
        Where there is one of them.
    yaml.YAMLError
        Where it is no YAML.

    Examples
    --------
    >>> refuse_endless("a: [1, 2]", "a.yaml")
    >>> refuse_endless("a: " + "[" * 600, "a.yaml")
    Traceback (most recent call last):
    klaudit.errors.SpecError: a.yaml:1: nested too deeply: more than 100 levels
    """
    # Most specs have none of these, and looking first costs as much as reading.
    if "&" in text or "*" in text or _may_be_deep(text):
        _look_through(text, file)


def _may_be_deep(text: str) -> bool:
    """Whether there may be more levels than the composer bears: each takes a bracket, or a place at a line's start."""
    brackets = text.count("[") + text.count("{")
    return brackets + 2 * max(map(len, _STARTS.findall(text)), default=0) > _SAFE_DEPTH


def _look_through(text: str, file: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=LOADER):
        line = getattr(event.start_mark, "line", 0) + 1
        anchor = getattr(event, "anchor", None)
        if anchor is not None:
            sign = "*" if isinstance(event, yaml.AliasEvent) else "&"
            message = "anchors and aliases are not allowed, so that every figure stands where it is used"
            raise SpecError(f"{file}:{line}: {sign}{anchor}: {message}")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MOST_DEPTH:
            raise SpecError(f"{file}:{line}: nested too deeply: more than {_MOST_DEPTH} levels")
