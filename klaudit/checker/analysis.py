"""The analysis of a board's correctness check: (Board, Catalog) in, `Loopholes` out. No files, no printing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from klaudit.board import Board, Checker
from klaudit.catalog import Catalog
from klaudit.checker.conclusions import enforced_roofs, headlines, programs
from klaudit.checker.fitting import fits
from klaudit.checker.inputs import CaseData
from klaudit.checker.measure import measure
from klaudit.checker.references import REFERENCES, Reference
from klaudit.checker.repair import repair
from klaudit.checker.submissions import Submission, honest, trivial
from klaudit.checker.trials import Traffic, Tried
from klaudit.errors import NotKnown, SpecError
from klaudit.loopholes import Loopholes
from klaudit.workload import Workload

INITIAL: Final = {"zeros": 0.0, "ones": 1.0, "uninitialised": float("nan"), "": float("nan")}

Progress = Callable[[str, int, int], None]


def check_board(
    board: Board,
    catalog: Catalog,
    *,
    seed: int = 0,
    quick: bool = False,
    progress: Progress = lambda name, done, total: None,
    extra: Sequence[Submission] = (),
) -> Loopholes:
    """What a board's correctness check accepts.

    Parameters
    ----------
    board : Board
        With a checker that names its reference; of several eras the last counts.
    catalog : Catalog
        Where the workload and the cards come from.
    seed : int
        Of the inputs; the same seed gives the same result.
    quick : bool
        Look at a sample of each case.
    progress : callable
        Called with a case's name, its chunks done and their number.
    extra : sequence of Submission
        More to try.

    Returns
    -------
    Loopholes

    Raises
    ------
    NotKnown
        When the board states no reference or no tolerance.
    """
    checker, reference = _known(board)
    workload = catalog.workload(board.workload or "")
    dtype = board.dtype or workload.default_dtype
    tried: list[Tried] = []
    for index, case in enumerate(board.cases):
        data = CaseData(checker, case, index, reference, dtype, seed, quick)
        before = tried[-1].data if tried else None
        tried.append(_try(data, before, checker, workload, progress, extra))
    common = fits([t.measured for t in tried], reference.inputs)
    cases = [t.findings(common) for t in tried]
    found = programs(tried, cases)
    roofs = enforced_roofs(board, catalog, workload, dtype, found[-1])
    return Loopholes(
        board=board,
        check=describe_check(checker),
        rechecked=board.eras[-1].harness.output_check,
        seed=seed,
        quick=quick,
        cases=tuple(cases),
        programs=tuple(found),
        roofs=tuple(roofs),
        repair=repair(cases, checker),
        headlines=tuple(headlines(tried, cases, found, roofs)),
    )


def _known(board: Board) -> tuple[Checker, Reference]:
    """The checker and its reference, or the error that says what is missing."""
    checker = board.checker
    if not board.cases or checker is None or not checker.reference:
        what = f"workload, {board.workload}" if board.workload else "rows, which have no fixed workload"
        raise NotKnown(
            f"no reference is known for this board's {what}, so nothing can be tried on board {board.id!r}."
            " Expected checker.reference and checker.inputs in its spec: add them where the formula is known"
        )
    if checker.reference not in REFERENCES:
        raise SpecError(
            f"board {board.id!r}: checker.reference {checker.reference!r} is unknown;"
            f" there are: {', '.join(sorted(REFERENCES))}"
        )
    if checker.rtol is None or (checker.atol is None and checker.atol_of_max is None):
        raise NotKnown(f"board {board.id!r} states no tolerance: expected checker.rtol and checker.atol in its spec")
    return checker, REFERENCES[checker.reference]


def _try(
    data: CaseData,
    before: CaseData | None,
    checker: Checker,
    workload: Workload,
    progress: Progress,
    extra: Sequence[Submission],
) -> Tried:
    """One case, measured; twice where its inputs are fresh every time: a fit must do on inputs it has not seen."""
    submissions = (*trivial(data, before), *extra, *honest(data.reference))
    fresh = checker.seed == "fresh"
    total = data.chunks * (2 if fresh else 1)
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        progress(data.case.name, done, total)

    rtol, atol, initial = checker.rtol or 0.0, checker.atol or 0.0, INITIAL[checker.output]
    measured = measure(data, submissions, rtol, atol, initial, step)
    other, again = data, measured
    if fresh:
        other = data.with_fresh_inputs()
        again = measure(other, (), rtol, atol, initial, step)
    traffic = Traffic(workload, workload.with_bytes(data.case.sizes, data.dtype))
    return Tried(data, measured, submissions, other, again, checker, traffic, initial)


def describe_check(checker: Checker) -> str:
    """The comparison in words."""
    size = f"{checker.atol:g}" if checker.atol_of_max is None else f"{checker.atol_of_max:g} x max |reference|"
    exact = checker.rtol == 0 and checker.atol == 0
    said = "outputs must be equal" if exact else f"|output - reference| <= {size} + {checker.rtol:g} x |reference|"
    if checker.matched < 1:
        said += f" for {100 * checker.matched:g} % of the outputs"
    return said
