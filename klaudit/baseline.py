"""Which findings were accepted beforehand: fingerprints, ignores and baselines. No files, no printing.

A fingerprint is made of what a row says (entry, GPU, figures) and the rule it is reported under. It survives another
order, another name of the file and another unit of the same digits; a changed score is a new finding.
"""

from __future__ import annotations

import datetime
import os.path
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from klaudit.accepted import Baseline, Ignore, Known
from klaudit.report import RowReport

_DIGITS: Final = 32
# So many findings are named in a sentence about stale ones.
_NAMED: Final = 5


def fingerprint(row: RowReport) -> str:
    """What makes a finding the same one in another run; equal rows have equal fingerprints."""
    import json
    from hashlib import sha256

    # Nine digits: more than any board prints, and fewer than a change of units disturbs.
    figures = [[f.kind, f.rule, f.fastest, f"{f.value:.9g}"] for f in row.reported]
    cases = [[case.name, case.fastest, f"{case.time:.9g}"] for case in row.cases]
    text = json.dumps([1, row.rule, row.entry, row.gpu, figures, cases], ensure_ascii=True)
    return sha256(text.encode("ascii")).hexdigest()[:_DIGITS]


class Acceptance:
    """Marks findings one by one with their fingerprint and, where one fits, with what accepts them.

    Attributes
    ----------
    every : bool
        Whether it has to see every finding, and not only those that a report has room for.
    found : list of Known
        The findings seen that no ignore accepts, where `record` asks for them.
    """

    def __init__(
        self,
        baseline: Baseline | None = None,
        ignores: Sequence[Ignore] = (),
        today: datetime.date | None = None,
        *,
        record: bool = False,
        every: bool = False,
    ) -> None:
        self.every = every or record or baseline is not None or bool(ignores)
        self.found: list[Known] = []
        self._baseline = baseline or Baseline()
        self._known = {known.fingerprint: known for known in self._baseline.findings}
        self._ignores = tuple(ignores)
        self._today = today or datetime.datetime.now(datetime.timezone.utc).date()
        self._record = record
        self._seen: Counter[str] = Counter()
        self._met: set[str] = set()
        self._used: Counter[int] = Counter()

    def again(self) -> Acceptance:
        """The same acceptances, to go through the same findings once more."""
        return Acceptance(self._baseline, self._ignores, self._today, record=self._record)

    def mark(self, row: RowReport) -> RowReport:
        """The finding with its fingerprint and, where it was accepted, by what."""
        digest = fingerprint(row)
        self._seen[digest] += 1
        # Equal rows are told apart by counting: one accepted row does not accept its next copy.
        name = f"{digest}-{self._seen[digest]}"
        by = self._ignored(row, name)
        if not by and self._record:
            self.found.append(Known(name, row.rule, row.source, row.entry, row.gpu))
            by = "written to the baseline"
        if name in self._known:
            self._met.add(name)
            by = by or "in the baseline"
        return row._replace(fingerprint=name, suppressed=by)

    def _ignored(self, row: RowReport, name: str) -> str:
        for index, ignore in enumerate(self._ignores):
            fits = (
                ignore.rule in ("", row.rule)
                and ignore.entry in ("", row.entry)
                and ignore.fingerprint in ("", name)
            )  # fmt: skip
            if not fits:
                continue
            self._used[index] += 1
            if not self._expired(ignore):
                until = f" until {ignore.expires}" if ignore.expires else ""
                return f"ignored{until}: {ignore.reason}"
        return ""

    def _expired(self, ignore: Ignore) -> bool:
        return ignore.expires is not None and self._today > ignore.expires

    def messages(self, sources: Iterable[str], unused: bool = False) -> tuple[str, ...]:
        """Sentences about acceptances that no longer do anything.

        Parameters
        ----------
        sources : iterable of str
            The files that were judged: only what was accepted in one of them can be stale.
        unused : bool
            Whether to name ignores that fit no finding, too.
        """
        said = []
        for index, ignore in enumerate(self._ignores):
            used = self._used[index]
            if self._expired(ignore):
                back = f"{used} of its findings count again" if used else "it fits no finding any more"
                what_to_do = "Give it a new date with a new reason, or remove it" if used else "Remove it"
                said.append(
                    f"{ignore.place}: the ignore of {ignore.what} ended on {ignore.expires} ({ignore.reason}): {back}."
                    f" {what_to_do}"
                )
            elif unused and not used:
                said.append(f"{ignore.place}: the ignore of {ignore.what} fits no finding here")
        stale = self._stale(sources)
        if stale and not self._record:
            named = ", ".join(f"{k.entry or '(no name)'} on {k.gpu or 'no GPU'} ({k.rule})" for k in stale[:_NAMED])
            more = f" and {len(stale) - _NAMED} more" if len(stale) > _NAMED else ""
            said.append(
                f"{self._baseline.file}: {len(stale)} accepted findings are there no more: {named}{more}."
                " Write the baseline anew with --write-baseline"
            )
        return tuple(said)

    def _stale(self, sources: Iterable[str]) -> list[Known]:
        judged = {os.path.normpath(source) for source in sources}
        return [
            known
            for known in self._baseline.findings
            if known.fingerprint not in self._met and os.path.normpath(known.source) in judged
        ]
