"""The tolerance that would do: above the errors of honest kernels, below those of everything trivial."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from klaudit.board import Checker
from klaudit.loopholes import CaseFindings, Repair, Trial, Window

SHARE: Final = "atol / max |reference|"
# Where honest kernels make no error at all, a tolerance still leaves room for one rounding of float32.
_ONE_ROUNDING: Final = 2.0**-24
# A fit this close to the honest error is the answer itself, as a multiple is where the kernel scales its input.
_ANSWER: Final = 4.0
# It spares nothing if it moves so much of the compulsory traffic.
_WHOLE: Final = 0.99
# A window that leaves less room than this on both sides together is of no use.
_NARROW: Final = 1.5


def repair(cases: Sequence[CaseFindings], checker: Checker) -> Repair:
    """The windows of tolerances that accept every honest kernel and no trivial one.

    Parameters
    ----------
    cases : sequence of CaseFindings
    checker : Checker
        Its rtol stays in force.

    Returns
    -------
    Repair
    """
    each = [_window(case) for case in cases]
    relative = _joined(SHARE, each, cases, [1.0] * len(cases))
    absolute = _joined("atol", each, cases, [case.largest for case in cases])
    if relative.chosen is None:
        return Repair(tuple(each), absolute, relative, "", _why_not(cases, each, checker))
    size = f"{relative.chosen:g} * expected.abs().max().item()"
    return Repair(
        tuple(each), absolute, relative, f"torch.allclose(actual, expected, rtol={checker.rtol:g}, atol={size})"
    )


def _window(case: CaseFindings) -> Window:
    """The window of one case, as a share of its max |reference|."""
    largest = case.largest or 1.0
    honest = max((t for t in case.trials if t.honest), key=lambda t: t.error)
    low = max(honest.error / largest, _ONE_ROUNDING)
    trivial = min((t for t in case.trials if _is_trivial(t, case, honest)), key=lambda t: t.error)
    what = trivial.plain if trivial.submission != "partial" else "computing the first 0.999 of the outputs"
    high = trivial.error / largest
    return Window(SHARE, low, high, honest.plain, what, _middle(low, high))


def _is_trivial(trial: Trial, case: CaseFindings, honest: Trial) -> bool:
    """Whether a check ought to reject it: a fit that reads everything and is as good as an honest kernel is one."""
    if trial.honest:
        return False
    fitted = trial.submission.startswith(("multiple-of", "affine-in"))
    spares = trial.traffic < _WHOLE * case.compulsory
    return not fitted or spares or trial.error > _ANSWER * max(honest.error, _ONE_ROUNDING * case.largest)


def _joined(name: str, each: Sequence[Window], cases: Sequence[CaseFindings], scales: Sequence[float]) -> Window:
    """The overlap of all cases' windows, each scaled."""
    lows = [(w.low * s, f"{w.honest} ({c.case.name})") for w, c, s in zip(each, cases, scales, strict=True)]
    highs = [(w.high * s, f"{w.trivial} ({c.case.name})") for w, c, s in zip(each, cases, scales, strict=True)]
    low, high = max(lows), min(highs)
    return Window(name, low[0], high[0], low[1], high[1], _middle(low[0], high[0]))


def _middle(low: float, high: float) -> float | None:
    """A tolerance in the middle of a window, by factors: a power of ten if one is near it, else as few digits as do."""
    if not low * _NARROW < high:
        return None
    middle = math.sqrt(low) * math.sqrt(high)
    power = 10.0 ** round(math.log10(middle))
    quarter = (high / low) ** 0.25
    if low * quarter < power < high / quarter:
        return power
    return next(r for r in (float(f"{middle:.{digits}e}") for digits in range(17)) if low < r < high)


def _why_not(cases: Sequence[CaseFindings], each: Sequence[Window], checker: Checker) -> str:
    """Why no one tolerance does."""
    closed = [(c, w) for c, w in zip(cases, each, strict=True) if w.chosen is None]
    if not closed:
        return "each case has a window of its own, but they do not overlap"
    case, window = min(closed, key=lambda pair: pair[1].high)
    where = f"{len(closed)} of {len(cases)} cases, the first of them {closed[0][0].case.name}"
    if case.largest == 0:
        return f"every output of {case.case.name} is zero, so zeros are right: other inputs are needed"
    if case.outputs == 1 and checker.seed == "fixed":
        return "the inputs are always the same and the output is one number, which can be written down: draw new inputs"
    if window.high == 0:
        return f"rtol = {checker.rtol:g} alone accepts {window.trivial} (in {where}): no atol is small enough"
    if window.high <= window.low:
        return f"{window.trivial} is as close to the reference as an honest kernel (in {where})"
    return f"the window is narrower than a factor of {_NARROW:g} (in {where})"
