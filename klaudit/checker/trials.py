"""From what was measured to what is accepted: every submission on every case, with the bytes that it moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from klaudit.board import Checker
from klaudit.checker.fitting import Fit, fits, where_needed, written_share
from klaudit.checker.inputs import CaseData
from klaudit.checker.measure import Measured, measure
from klaudit.checker.submissions import Submission
from klaudit.loopholes import CaseFindings, Trial
from klaudit.workload import Workload

# What the partial submission computes where a repair must still reject it.
MOST_OF_IT: Final = 0.999


class Traffic(NamedTuple):
    """The bytes of one case: what is compulsory, and what a submission that cuts corners moves."""

    workload: Workload
    sizes: Mapping[str, float]

    @property
    def compulsory(self) -> float:
        """Every input read once, every output written once [B]."""
        return float(self.workload.reads.formula(self.sizes)) + self.writes

    @property
    def writes(self) -> float:
        """The output [B]."""
        return float(self.workload.writes.formula(self.sizes))

    def arrays(self, count: float) -> tuple[float, str]:
        """So many arrays of the output's size: bytes, and the formula for them."""
        text = self.workload.writes.formula.text
        return count * self.writes, "0" if count == 0 else text if count == 1 else f"{count:.3g}*({text})"

    def part(self, share: float) -> tuple[float, str]:
        """A share of what is compulsory."""
        text = f"{self.workload.reads.formula.text} + {self.workload.writes.formula.text}"
        return share * self.compulsory, "0" if share == 0 else text if share == 1 else f"{share:.3g}*({text})"

    def of(self, submission: Submission) -> tuple[float, str]:
        """What a submission moves."""
        if submission.reads is None:
            return self.part(1.0)
        return self.arrays(submission.reads + submission.writes)


class Tried(NamedTuple):
    """One case after its pass.

    Attributes
    ----------
    again : Measured
        Of the inputs that a fit is tried on: fresh ones where the board draws them anew, else the same.
    other : CaseData
        Those inputs.
    atol : float
        The absolute tolerance in force on the case.
    """

    data: CaseData
    measured: Measured
    submissions: tuple[Submission, ...]
    other: CaseData
    again: Measured
    checker: Checker
    traffic: Traffic
    initial: float

    @property
    def atol(self) -> float:
        """The absolute tolerance in force on the case."""
        if self.checker.atol_of_max is not None:
            return self.checker.atol_of_max * self.measured.largest
        return self.checker.atol or 0.0

    def findings(self, common: Sequence[Fit]) -> CaseFindings:
        """Every trial of the case.

        Parameters
        ----------
        common : sequence of Fit
            The fits for all cases of the board together.
        """
        own = fits([self.measured], self.data.reference.inputs)
        trials = [self._fixed(submission) for submission in self.submissions]
        trials += [self.fitted(fit) for fit in own]
        trials += self._sparing(own, common)
        trials.append(self._partial())
        return CaseFindings(
            case=self.data.case,
            outputs=self.data.outputs,
            examined=self.data.examined,
            largest=self.measured.largest,
            atol=self.atol,
            compulsory=self.traffic.compulsory,
            fraction=self._fraction(),
            trials=tuple(trials),
        )

    def _fixed(self, submission: Submission) -> Trial:
        error = self.measured.errors[submission.slug]
        accepted = error <= self.atol
        if self.checker.matched < 1:
            allowed = (1 - self.checker.matched) * self.data.examined
            accepted = self.measured.failing[submission.slug] <= allowed
        return self._trial(submission, error, accepted)

    def _trial(self, submission: Submission, error: float, accepted: bool, skipped: tuple[str, ...] = ()) -> Trial:
        if submission.reads == 0 and not submission.computes:
            skipped = self.data.reference.inputs
        return Trial(
            submission.slug, submission.plain, error, accepted, *self.traffic.of(submission), skipped, submission.honest
        )

    def fitted(self, fit: Fit) -> Trial:
        """A fit is judged by its largest error even where a share of the outputs may fail: it is made for that."""
        error = fit.error(self.again)
        count = 1.0 if fit.place is None else 2.0
        return Trial(fit.slug, fit.plain, error, error <= self.atol, *self.traffic.arrays(count), fit.skipped)

    def _sparing(self, own: Sequence[Fit], common: Sequence[Fit]) -> list[Trial]:
        """Multiples written only where the initial output would not do; tried where the whole multiple passes."""
        found: list[Trial] = []
        if not np.isfinite(self.initial) or self.atol == 0:
            return found
        for mine, ours in zip(own, common, strict=True):
            if not mine.slug.startswith("multiple-of-") or mine.error(self.again) > self.atol:
                continue
            fit = ours if ours.error(self.again) <= self.atol else mine
            submission = where_needed(fit, self.atol)
            if self._largest_input(fit) * abs(fit.slope) + abs(self.initial) <= self.atol:
                error, share = self.measured.errors["nothing-written"], 0.0
            else:
                rtol, atol = self.checker.rtol or 0.0, self.atol
                error = measure(self.other, [submission], rtol, atol, self.initial).errors[submission.slug]
                share = written_share(self.other, submission, self.initial)
            traffic = self.traffic.arrays(1 + share)
            found.append(Trial(submission.slug, submission.plain, error, error <= self.atol, *traffic, fit.skipped))
        return found

    def _largest_input(self, fit: Fit) -> float:
        """The largest |input|: the ends of its hull."""
        assert fit.place is not None
        x = self.measured.strips[fit.place].floor_x
        return float(max(abs(x[0]), abs(x[-1])))

    def _fraction(self) -> float:
        """The least share of the outputs that must be computed, first to last."""
        steps, _ = self._steps
        count = self.measured.stairs.least_count(self.atol)
        if self.data.reference.layout == "total":
            # An estimate from that many chunks still fails, or is the first that there is.
            count += 1
        return min(count / steps, self.checker.matched)

    @property
    def _steps(self) -> tuple[int, str]:
        """What is counted: the outputs, or the chunks of terms of a total."""
        if self.data.reference.layout == "total":
            return self.data.chunks, "terms"
        return self.data.examined, "outputs"

    def _partial(self) -> Trial:
        """The first outputs computed and the rest left as they were."""
        steps, what = self._steps
        fraction = self._fraction()
        # Its error is that of nearly all computed: what a repair must still reject.
        error = self.measured.stairs.error_after(int(MOST_OF_IT * steps) - (what == "terms"))
        plain = f"computing the first {fraction:.4g} of the {what}"
        return Trial("partial", plain, error, fraction <= MOST_OF_IT, *self.traffic.part(fraction))
