"""What the trials amount to: the best one program, the roofs that are left, and the sentences to read first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from klaudit import averages
from klaudit.board import Board
from klaudit.catalog import Catalog
from klaudit.checker.fitting import fits
from klaudit.checker.trials import Tried
from klaudit.loopholes import CaseFindings, EnforcedRoof, Program, Trial
from klaudit.roofline import dram_floor
from klaudit.workload import Workload

_HONEST: Final = "computing the outputs"
_COUNTED: Final = (
    ("nothing-written", "nothing written"),
    ("all-zeros", "all zeros"),
    ("constant", "a constant"),
    ("float16-arithmetic", "arithmetic in float16"),
    ("bfloat16-arithmetic", "arithmetic in bfloat16"),
)
_WORTH_SAYING: Final = 1.005


def programs(tried: Sequence[Tried], cases: Sequence[CaseFindings]) -> list[Program]:
    """The cheapest accepted program that does the same everywhere, that looks at the size, and at the data.

    Parameters
    ----------
    tried : sequence of Tried
    cases : sequence of CaseFindings
        Of the same cases.

    Returns
    -------
    list of Program
        In that order.
    """
    everywhere = [list(range(len(cases)))]
    by_size: dict[tuple[tuple[str, float], ...], list[int]] = {}
    for index, case in enumerate(cases):
        by_size.setdefault(tuple(sorted(case.case.sizes.items())), []).append(index)
    one_each = [[index] for index in range(len(cases))]
    groupings: list[tuple[str, Iterable[list[int]]]] = [
        ("", everywhere), ("size", by_size.values()), ("data", one_each),
    ]  # fmt: skip
    return [_program(name, groups, tried, cases) for name, groups in groupings]


def _program(
    branches: str, groups: Iterable[list[int]], tried: Sequence[Tried], cases: Sequence[CaseFindings]
) -> Program:
    plain, traffic = [""] * len(cases), [0.0] * len(cases)
    skipped: set[str] | None = None
    for group in groups:
        chosen = _cheapest([tried[i] for i in group], [cases[i] for i in group])
        for index, trial in zip(group, chosen, strict=True):
            plain[index] = trial.plain if trial else _HONEST
            traffic[index] = trial.traffic if trial else cases[index].compulsory
            unread = set(trial.skipped) if trial else set()
            skipped = unread if skipped is None else skipped & unread
    names = tried[0].data.reference.inputs
    return Program(branches, tuple(plain), tuple(traffic), tuple(n for n in names if n in (skipped or ())))


def _cheapest(tried: Sequence[Tried], cases: Sequence[CaseFindings]) -> list[Trial] | list[None]:
    """One submission for all of these cases with the fewest bytes, where that is below the compulsory ones."""
    best: list[Trial] | None = None
    for trials in _for_all(tried, cases):
        total = sum(t.traffic for t in trials)
        if best is None or total < sum(t.traffic for t in best):
            best = trials
    if best is None or sum(t.traffic for t in best) >= sum(case.compulsory for case in cases):
        return [None] * len(cases)
    return best


def _for_all(tried: Sequence[Tried], cases: Sequence[CaseFindings]) -> Iterable[list[Trial]]:
    """Each trivial submission that every one of the cases accepts, fits with one parameter for all of them."""
    common = {fit.slug: fit for fit in fits([t.measured for t in tried], tried[0].data.reference.inputs)}
    by_slug = [{t.submission: t for t in case.trials if not t.honest} for case in cases]
    for slug in by_slug[0]:
        if not all(slug in trials for trials in by_slug):
            continue
        trials = [trials[slug] for trials in by_slug]
        if slug in common:
            trials = [t.fitted(common[slug]) for t in tried]
        elif len({t.plain for t in trials}) > 1 and slug != "partial":
            # The parameters differ from case to case.
            continue
        if all(t.accepted for t in trials):
            yield trials


def enforced_roofs(
    board: Board, catalog: Catalog, workload: Workload, dtype: str, program: Program
) -> list[EnforcedRoof]:
    """For each card that the board times on: the roof by the compulsory traffic, and by that of a program.

    The board's last era counts: its way to average, and the least time that a launch can appear to take.
    """
    era = board.eras[-1]
    sizes = [workload.with_bytes(case.sizes, dtype) for case in board.cases]
    flops = np.array([[float(workload.flops.formula(s))] for s in sizes])
    compulsory = np.array([[float(workload.reads.formula(s)) + float(workload.writes.formula(s))] for s in sizes])
    enforced = np.array(program.traffic)[:, None]
    found = []
    for label in board.gpu_labels:
        for name in label.means:
            gpu = catalog.gpu(name)
            full = averages.average_rate(flops, dram_floor(compulsory, gpu.bandwidth), era.scoring.rate)
            times = np.maximum(dram_floor(enforced, gpu.bandwidth), era.harness.launch_floor)
            left = averages.average_rate(flops, times, era.scoring.rate)
            found.append(EnforcedRoof(label.label, gpu, float(full[0]), float(left[0])))
    return found


def headlines(
    tried: Sequence[Tried], cases: Sequence[CaseFindings], found: Sequence[Program], roofs: Sequence[EnforcedRoof]
) -> list[str]:
    """The sentences to read first."""
    sentences = _passing_everywhere(tried, cases)
    for slug, words in _COUNTED:
        accepting = sum(t.accepted for case in cases for t in case.trials if t.submission == slug)
        if accepting:
            verb = "accepts" if accepting == 1 else "accept"
            sentences.append(f"{accepting} of {len(cases)} cases {verb} {words}.")
    least, most = sum(found[-1].traffic), sum(case.compulsory for case in cases)
    if least < most:
        sentences.append(f"The check enforces {100 * least / most:.3g} % of the compulsory bytes of all cases.")
        top = max(roofs, key=lambda roof: roof.share, default=None)
        if top is not None and top.share >= _WORTH_SAYING:
            times = f"up to {top.share:.3g} times" if np.isfinite(top.share) else "without bound above"
            sentences.append(f"A submission may score {times} the dram roof and still be accepted ({top.gpu.name}).")
    else:
        sentences.append("No trivial submission passes any case with less than the compulsory traffic.")
    failing = [case.case.name for case in cases if any(t.honest and not t.accepted for t in case.trials)]
    if failing:
        sentences.append(f"An honest float32 kernel fails {len(failing)} of {len(cases)} cases, {failing[0]} first.")
    return sentences


def _passing_everywhere(tried: Sequence[Tried], cases: Sequence[CaseFindings]) -> list[str]:
    """One sentence for each submission that spares traffic and that every case accepts."""
    sentences: list[str] = []
    told: set[tuple[str, ...]] = set()
    for trials in _for_all(tried, cases):
        same = trials[0]
        spares = sum(t.traffic for t in trials) < sum(case.compulsory for case in cases)
        # An affine function moves what a multiple of the same input moves.
        if not same.skipped or not spares or (same.submission.startswith("affine-in") and same.skipped in told):
            continue
        told.add(same.skipped)
        sentences.append(f"{same.plain[0].upper()}{same.plain[1:]} passes {_all(len(cases))}.")
    return sentences


def _all(count: int) -> str:
    return "the one case" if count == 1 else f"all {count} cases"
