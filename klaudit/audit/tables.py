"""The roofs of a card and a workload, and the ceilings of a board's average on each of its cards."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from klaudit import averages
from klaudit.audit.claims import RUNS_THAT_AVERAGE_TICKS_OUT
from klaudit.audit.search import sets_by_size
from klaudit.board import Board
from klaudit.catalog import Catalog
from klaudit.floors import FASTER_VARIANT, TIMER_TICK, floors, relevant, work_of
from klaudit.gpu import Gpu
from klaudit.report import Ceiling, Limits, Roofs
from klaudit.roofline import arithmetic_intensity, attainable_rate, ridge_point, special_floor
from klaudit.verdict import CONDITION_BITS, CONDITIONS, condition_ids
from klaudit.workload import Workload

if TYPE_CHECKING:
    from klaudit.floors import Work


def roofs(
    gpu: Gpu, workload: Workload | None = None, dtype: str = "", sizes: Mapping[str, float] | None = None
) -> Roofs:
    """The roofs of one card, and of a workload on it.

    Parameters
    ----------
    gpu : Gpu
    workload : Workload, optional
        Without one only the card's own roofs are given.
    dtype : str
        "" takes the workload's first, or float32.
    sizes : mapping of str to float, optional
        The workload's sizes. A workload whose intensity does not depend on the size needs none.

    Returns
    -------
    Roofs

    Examples
    --------
    >>> import klaudit
    >>> catalog = klaudit.load_catalog()
    >>> found = roofs(catalog.gpu("t4"), catalog.workload("kl-divergence"))
    >>> round(found.dram / 1e9, 1)
    186.7
    """
    dtype = dtype or (workload.default_dtype if workload else "float32")
    peak = gpu.peak(dtype)
    ridge = ridge_point(peak.rate, gpu.bandwidth) if peak else None
    work = _work(workload, dtype, sizes or {}) if workload else None
    if workload is None or work is None:
        return Roofs(gpu, workload, dtype, None, peak, ridge, None, None, peak.rate if peak else None, None)
    flops, traffic = float(work.flops[0, 0]), float(work.traffic[0, 0])
    special = None
    if workload.special is not None and gpu.special_rate is not None and flops:
        values = workload.with_bytes({s: (sizes or {}).get(s, 1.0) for s in workload.sizes}, dtype)
        special = flops / float(special_floor(workload.special.formula(values), gpu.special_rate))
    intensity = float(arithmetic_intensity(flops, traffic)) if traffic else None
    port = gpu.port_bandwidth
    sized = bool(sizes) and all(s in (sizes or {}) for s in workload.sizes)
    return Roofs(
        gpu=gpu,
        workload=workload,
        dtype=dtype,
        intensity=intensity,
        peak=peak,
        ridge_point=ridge,
        dram=None if intensity is None else float(attainable_rate(intensity, gpu.bandwidth, np.inf)),
        port=None if port is None else flops * port / float(work.one_way[0, 0]),
        compute=peak.rate if peak else None,
        special=special,
        sizes=dict(sizes or {}),
        traffic=traffic if sized else None,
        floor=float(floors(gpu, work).roof[0, 0]) if sized else None,
    )


def _work(workload: Workload, dtype: str, sizes: Mapping[str, float]) -> Work | None:
    """The work at the given sizes, of one element where that is enough, else None."""
    if all(name in sizes for name in workload.sizes):
        return work_of(workload, {name: np.array([[sizes[name]]]) for name in workload.sizes}, dtype)
    if workload.per_element:
        return work_of(workload, {name: np.ones((1, 1)) for name in workload.sizes}, dtype)
    return None


def limits(board: Board, catalog: Catalog) -> tuple[Limits, ...]:
    """What a board's averages can be at best, era by era and card by card.

    Parameters
    ----------
    board : Board
        A board with cases; one without has no averages, and gives nothing.
    catalog : Catalog

    Returns
    -------
    tuple of Limits
        Under no condition first, then under each set of those that matter on the card, all together last.
    """
    if not board.cases or board.workload is None:
        return ()
    workload = catalog.workload(board.workload)
    sizes = {name: np.array([[case.sizes[name]] for case in board.cases]) for name in workload.sizes}
    work = work_of(workload, sizes, board.dtype or "")
    found = []
    for era in board.eras:
        ruled_out = sum(CONDITION_BITS[r.condition] for r in era.harness.rules_out)
        steady = era.scoring.runs is not None and era.scoring.runs[0] >= RUNS_THAT_AVERAGE_TICKS_OUT
        allowed = sum(CONDITION_BITS[c.id] for c in CONDITIONS) & ~ruled_out & ~FASTER_VARIANT
        allowed &= ~(TIMER_TICK if steady else 0)
        for label in board.gpu_labels:
            for name in label.means:
                gpu = catalog.gpu(name)
                ceilings = []
                for bits in _sets(gpu, work, allowed, era.harness.launch_floor):
                    parts = floors(gpu, work, bits, era.harness.launch_floor)
                    times = parts.roof if bits == 0 else parts.whole
                    ceilings.append(
                        Ceiling(
                            condition_ids(bits),
                            float(averages.average_rate(work.flops, times, era.scoring.rate)[0]),
                            float(averages.average_time(times, era.scoring.time)[0]),
                        )
                    )
                found.append(Limits(board, era.id, label.label, gpu, tuple(ceilings)))
    return tuple(found)


def _sets(gpu: Gpu, work: Work, allowed: int, launch: float) -> list[int]:
    """Every set of the conditions that matter on the card, the empty one first."""
    if gpu.memory_compression != "always":
        allowed &= ~CONDITION_BITS["compressed-data"]
    return [0, *itertools.chain.from_iterable(sets_by_size(relevant((gpu,), work, allowed, launch)))]
