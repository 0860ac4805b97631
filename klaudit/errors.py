"""What the user can put right; each kind knows its exit code. No printing here."""

from __future__ import annotations

from typing import ClassVar


class KlauditError(Exception):
    """A mistake that the user can put right: what was found, what was expected, what to do."""

    exit_code: ClassVar[int] = 2


class SpecError(KlauditError):
    """A spec file breaks the format: names the file, the key and what is allowed."""


class InputError(KlauditError):
    """A file that cannot be read as a leaderboard."""


class UsageError(KlauditError):
    """Options that contradict each other or name something unknown."""


class FormulaError(KlauditError):
    """A formula in a spec that is not plain arithmetic over its sizes."""


class UnitError(KlauditError):
    """A text that is no quantity of the expected kind."""


class NotKnown(KlauditError):
    """Something that is asked for and that nobody has told klaudit: nothing was judged."""

    exit_code: ClassVar[int] = 3
