"""Which trivial submission would explain a score that is above the roof: a note, never a charge.

What a board's check accepts is a measured fact of its spec (checker.enforced). Nothing is run here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from klaudit.audit.claims import Claims
from klaudit.audit.search import possible_on
from klaudit.board import Enforced
from klaudit.roofline import dram_floor
from klaudit.workload import Workload

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.float64]


def consistent_with(claims: Claims) -> list[str]:
    """For each row the trivial submission that moves the most and would still be fast enough; "" where none is known.

    Parameters
    ----------
    claims : Claims
        Rows above their roof.

    Returns
    -------
    list of str
        A sentence for each row.
    """
    said = [""] * len(claims.rows)
    board, workload = claims.board, claims.workload
    if board is None or workload is None or board.checker is None or not board.checker.enforced:
        return said
    if claims.case_names != tuple(case.name for case in board.cases):
        return said
    moved = [(_traffic(claims, workload, enforced), enforced) for enforced in board.checker.enforced]
    bandwidth = max(card.bandwidth for card in claims.cards)
    # The most bytes first: the mildest reading.
    for traffic, enforced in sorted(moved, key=lambda pair: -float(pair[0].sum())):
        whole = np.maximum(dram_floor(traffic, bandwidth), claims.launch)
        explained = np.flatnonzero(possible_on(claims, whole)).tolist()
        sentence = _sentence(enforced, claims, workload) if explained else ""
        for row in explained:
            said[row] = said[row] or sentence
    return said


def _traffic(claims: Claims, workload: Workload, enforced: Enforced) -> Column:
    """Bytes of each case: the submission's where the check accepts it, what is compulsory elsewhere."""
    moved = np.array(claims.work.traffic[:, :1])
    for index, (name, sizes) in enumerate(zip(claims.case_names, claims.case_sizes, strict=True)):
        if name in enforced.cases:
            moved[index, 0] = enforced.traffic(workload.with_bytes(sizes, claims.work.dtype))
    return np.asarray(moved, dtype=np.float64)


def _sentence(enforced: Enforced, claims: Claims, workload: Workload) -> str:
    accepted = [index for index, name in enumerate(claims.case_names) if name in enforced.cases]
    sizes = [workload.with_bytes(claims.case_sizes[index], claims.work.dtype) for index in accepted]
    outputs = sum(float(workload.writes.formula(s)) / s["b"] for s in sizes)
    moved = sum(float(enforced.traffic(s)) for s in sizes) / outputs
    full = float(claims.work.traffic[accepted, 0].sum()) / outputs
    unit = "element" if workload.per_element else "output"
    count = len(claims.case_names)
    where = "every case" if len(accepted) == count else f"{len(accepted)} of {count} cases"
    return (
        f"consistent with {enforced.plain}: {moved:.3g} bytes per {unit} instead of {full:.3g};"
        f" the board's check accepts that in {where}"
    )
