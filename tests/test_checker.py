"""What a board's check lets through: the exact fits, the arithmetic, and what is known of real boards."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klaudit.catalog import Catalog
from klaudit.checker import Submission, check_board
from klaudit.checker import measure as measuring
from klaudit.checker.envelope import Strip, upper_hull
from klaudit.checker.inputs import Chunk
from klaudit.checker.measure import Stairs
from klaudit.checker.precision import fast_functions, narrow_arithmetic, to_bfloat16, to_float16
from klaudit.checker.references import REFERENCES
from klaudit.loopholes import Loopholes, Trial
from klaudit.readers.specs import load_catalog

HERE = Path(__file__).parent
BOARD_2025 = HERE / "data" / "h200" / "board_2025.csv"
KL = "tensara-kl-2025"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture(scope="module")
def kl(catalog: Catalog) -> Loopholes:
    return check_board(catalog.board(KL), catalog, quick=True)


def trials(found: Loopholes, submission: str) -> list[Trial]:
    """The trials of one submission, case by case, where it was tried."""
    return [t for case in found.cases for t in case.trials if t.submission == submission]


def accepted(found: Loopholes, submission: str) -> list[bool]:
    return [t.accepted for t in trials(found, submission)]


# --- the exact fits ---------------------------------------------------------------------------------------------


def test_the_best_constant_is_the_middle() -> None:
    """Outputs 1 and 4 without rtol: the constant 2.5 is off by 1.5, and no other is off by less."""
    strip = Strip.around(np.zeros(2), np.array([1.0, 4.0]), np.array([1.0, 4.0]))
    assert strip.best_constant() == 2.5
    assert strip.needed(0.0, 2.5) == 1.5


def test_the_best_multiple_by_hand() -> None:
    """At x = 1 and 2 the outputs are 1 and 4: m - 1 = 4 - 2m at m = 5/3, off by 2/3."""
    strip = Strip.around(np.array([1.0, 2.0]), np.array([1.0, 4.0]), np.array([1.0, 4.0]))
    assert strip.best_multiple() == pytest.approx(5 / 3)
    assert strip.needed(5 / 3, 0.0) == pytest.approx(2 / 3)


def test_the_best_affine_function_by_hand() -> None:
    """The parabola through 0, 1, 4 at x = 0, 1, 2 is within 1/2 of 2x - 1/2, and of no other line."""
    y = np.array([0.0, 1.0, 4.0])
    strip = Strip.around(np.array([0.0, 1.0, 2.0]), y, y)
    assert strip.best_affine() == (2.0, -0.5)
    assert strip.needed(2.0, -0.5) == 0.5


_points = st.lists(st.tuples(st.floats(-8, 8, width=32), st.floats(-8, 8, width=32)), min_size=1, max_size=60)


@given(_points, st.sampled_from([0.0, 1e-3, 0.1]))
def test_an_affine_function_never_needs_more_than_a_multiple_or_a_constant(
    points: list[tuple[float, float]], rtol: float
) -> None:
    """Both are affine functions; and what the hulls say of each is what the points say."""
    x, y = np.array(points).T
    slack = rtol * np.abs(y)
    strip = Strip.around(x, y - slack, y + slack)
    needed = {}
    for name, (slope, offset) in {
        "constant": (0.0, strip.best_constant()),
        "multiple": (strip.best_multiple(), 0.0),
        "affine": strip.best_affine(),
    }.items():
        directly = max(float((np.abs(slope * x + offset - y) - slack).max()), 0.0)
        needed[name] = strip.needed(slope, offset)
        assert needed[name] == pytest.approx(directly, rel=1e-9, abs=1e-9)
    assert needed["affine"] <= min(needed["constant"], needed["multiple"]) + 1e-9


@given(_points, st.floats(-4, 4), st.floats(-4, 4))
def test_no_other_line_needs_less(points: list[tuple[float, float]], slope: float, offset: float) -> None:
    """The fits are the best, not just good."""
    x, y = np.array(points).T
    strip = Strip.around(x, y, y)
    assert strip.needed(*strip.best_affine()) <= strip.needed(slope, offset) + 1e-9
    assert strip.needed(strip.best_multiple(), 0.0) <= strip.needed(slope, 0.0) + 1e-9
    assert strip.needed(0.0, strip.best_constant()) <= strip.needed(0.0, offset) + 1e-9


@pytest.mark.parametrize("shape", ["cloud", "curve"])
def test_chunks_together_are_the_whole(shape: str) -> None:
    """Merging the strips of parts gives the strip of all points, even where every point is a corner."""
    x = np.random.default_rng(3).uniform(-5, 5, 40_000)
    y = np.tanh(x) if shape == "curve" else np.tanh(x) + np.random.default_rng(4).normal(size=len(x))
    parts = [slice(start, start + 4000) for start in range(0, len(x), 4000)]
    merged = Strip.merge([Strip.around(x[part], y[part], y[part]) for part in parts])
    assert len(merged.floor) + len(merged.ceiling) < 2000
    for slope, offset in (merged.best_affine(), (merged.best_multiple(), 0.0), (0.0, merged.best_constant())):
        directly = float(np.abs(slope * x + offset - y).max())
        assert merged.needed(slope, offset) == pytest.approx(directly, rel=3e-4)


def test_the_hull_of_many_points_is_that_of_the_plain_algorithm() -> None:
    """The shortcuts for large clouds leave out no corner."""
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(2, 100_000))
    hull_x, hull = upper_hull(x, y)
    assert (np.interp(x, hull_x, hull) >= y - 1e-12).all()
    assert np.isin(hull, y).all()


# --- the partial submission -------------------------------------------------------------------------------------


def test_the_least_fraction_by_hand() -> None:
    """Of errors 5, 1, 3, 0, 2: tolerance 2 must compute three, tolerance 1 all five, tolerance 5 none."""
    stairs = Stairs()
    stairs.extend(np.array([5.0, 1.0, 3.0]), 0)
    stairs.extend(np.array([0.0, 2.0]), 3)
    assert [stairs.least_count(t) for t in (5, 4.9, 3, 2, 1.9, 0)] == [0, 1, 1, 3, 5, 5]
    assert [stairs.error_after(count) for count in range(6)] == [5, 3, 3, 2, 2, 0]


@given(st.lists(st.floats(0, 10), min_size=1, max_size=50), st.floats(0, 10), st.integers(1, 50))
def test_the_least_fraction_is_monotone_and_right(errors: list[float], tolerance: float, cut: int) -> None:
    """A wider tolerance never asks for more outputs, and the count is what trying every count would find."""
    values = np.array(errors)
    stairs = Stairs()
    stairs.extend(values[:cut], 0)
    if len(values) > cut:
        stairs.extend(values[cut:], cut)
    directly = next(c for c in range(len(values) + 1) if (values[c:] <= tolerance).all())
    assert stairs.least_count(tolerance) == directly
    assert stairs.least_count(tolerance + 1) <= directly


# --- other arithmetic -------------------------------------------------------------------------------------------


@given(st.lists(st.floats(width=32), min_size=1, max_size=40))
def test_float16_is_numpys(values: list[float]) -> None:
    """The quick rounding is the conversion there and back, for every float32."""
    exact = np.array(values, dtype=np.float32)
    with np.errstate(over="ignore"):
        expected = exact.astype(np.float16).astype(np.float32)
    np.testing.assert_array_equal(to_float16(exact), expected)


def test_bfloat16_keeps_eight_bits() -> None:
    """1 + 2^-9 is between 1 and 1 + 2^-7 and nearer to 1; ties go to the even neighbour; infinities stay."""
    exact = np.array([1 + 2**-9, 1 + 2**-8, 1 + 3 * 2**-8, -3.0, np.inf], dtype=np.float32)
    assert to_bfloat16(exact).tolist() == [1, 1, 1 + 2**-6, -3, np.inf]


def test_every_operation_is_rounded() -> None:
    """In float16, 2048 + 1 is 2048, so adding 1 twice changes nothing."""
    x = np.array([2048.0], dtype=np.float32)
    assert narrow_arithmetic(lambda v: (v + 1) + 1, (x,), "float16").tolist() == [2048]
    assert narrow_arithmetic(lambda v: v + 2, (x,), "float16").tolist() == [2050]


def test_fast_functions_are_off_in_turn() -> None:
    """The first logarithm is too high and the second too low, so their difference is off by twice 2^-21."""
    x = np.array([1.5], dtype=np.float32)
    off = fast_functions(lambda v: np.log(v) - np.log(v), (x,), 1)
    assert off[0] == pytest.approx(2 * 2**-21, rel=0.2)


@pytest.mark.parametrize(
    ("name", "inputs", "expected"),
    [
        ("kl-divergence", ([0.5, 0.25, 0.5], [0.5, 0.5, 0.0]), [0, 0.5 * np.log(2), 0]),
        ("relu", ([-1.0, 2.0],), [0, 2]),
        ("huber", ([0.5, 3.0], [0.0, 0.0]), [0.125, 2.5]),
        ("hinge", ([0.5, 2.0], [1.0, 1.0]), [0.5, 0]),
        ("hard-sigmoid", ([-4.0, 0.0, 4.0],), [0, 0.5, 1]),
        ("softmax", ([[0.0, np.log(3.0)]],), [[0.25, 0.75]]),
        ("rms-norm", ([[3.0, -3.0]],), [[1, -1]]),
        ("product-dim", ([[2.0, 3.0]],), [6]),
        ("cosine-similarity", ([[1.0, 0.0]], [[0.0, 2.0]]), [1]),
        ("matmul", ([[1.0, 2.0]], [[3.0], [4.0]]), [[11]]),
    ],
)
def test_references_by_hand(name: str, inputs: tuple[Any, ...], expected: Any) -> None:
    """Each formula gives what a pencil gives, and so does every other honest form of it."""
    reference = REFERENCES[name]
    arrays = [np.array(values, dtype=np.float64) for values in inputs]
    for formula in (reference.formula, *reference.others.values()):
        np.testing.assert_allclose(formula(*arrays), expected, atol=1e-5)


# --- the board that started it ----------------------------------------------------------------------------------


def test_zeros_pass_the_dense_cases(kl: Loopholes) -> None:
    """Nothing written, all zeros and a constant pass four cases and fail the sparse one."""
    for submission in ("nothing-written", "all-zeros", "constant"):
        assert accepted(kl, submission) == [True] * 4 + [False]
    # 1.51e-6 is the largest output of 2^20 softmax values: e / ((e - 1) n).
    assert kl.cases[0].largest == pytest.approx(np.e / (np.e - 1) / 2**20, rel=0.01)


def test_a_multiple_of_the_targets_passes_everywhere(kl: Loopholes) -> None:
    """2.39 x targets needs no predictions; a multiple of the predictions fails the sparse case."""
    assert kl.headlines[0] == "Writing 2.392 x targets without reading predictions passes all 5 cases."
    assert accepted(kl, "multiple-of-targets") == [True] * 5
    assert accepted(kl, "multiple-of-predictions") == [True] * 4 + [False]
    same, by_size, by_data = kl.programs
    assert same.skipped == by_size.skipped == by_data.skipped == ("predictions",)


def test_the_enforced_traffic(kl: Loopholes) -> None:
    """A program that looks at the data writes nothing on dense cases; one that looks at n cannot at 2^20."""
    _, by_size, by_data = kl.programs
    assert by_data.traffic[:4] == (0, 0, 0, 0)
    assert by_size.traffic[0] > 0 == by_size.traffic[1]
    # The sparse case reads the targets and writes 9.5 % of the outputs.
    assert by_data.traffic[4] == pytest.approx((1 + 1 - np.exp(-0.1)) * 4 * 2**20, rel=0.01)
    h200 = next(roof for roof in kl.roofs if roof.gpu.id == "h200-sxm")
    assert h200.compulsory == pytest.approx(2868e9, rel=1e-3)
    assert h200.share > 40


def test_the_repair_works_by_the_tools_own_run(kl: Loopholes, catalog: Catalog) -> None:
    """With atol = 1e-4 of the largest output every honest kernel passes and nothing trivial does, at any fraction."""
    assert kl.repair.relative.chosen == 1e-4
    assert min(kl.repair.relative.margins) > 5
    assert kl.repair.check.endswith("rtol=1e-05, atol=0.0001 * expected.abs().max().item())")
    assert kl.repair.absolute.high / kl.repair.absolute.low < 50
    board = catalog.board(KL)
    assert board.checker is not None
    mended = board._replace(checker=board.checker._replace(atol=None, atol_of_max=1e-4))
    again = check_board(mended, catalog, quick=True)
    for case in again.cases:
        for trial in case.trials:
            assert trial.accepted is trial.honest, (case.case.name, trial.plain)
        assert case.fraction > 0.999


def test_another_seed_tells_the_same(kl: Loopholes, catalog: Catalog) -> None:
    """The same seed gives the same figures, another one the same verdicts."""
    board = catalog.board(KL)
    assert check_board(board, catalog, quick=True).cases == kl.cases
    other = check_board(board, catalog, quick=True, seed=7)
    assert other.cases != kl.cases
    verdicts = [[t.accepted for case in found.cases for t in case.trials] for found in (kl, other)]
    assert verdicts[0] == verdicts[1]


def test_threads_change_nothing(kl: Loopholes, catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks are merged in order, whoever made them."""
    monkeypatch.setattr(measuring, "_THREADS", 1)
    assert check_board(catalog.board(KL), catalog, quick=True).cases == kl.cases


def _scale(chunk: Chunk) -> Any:
    return chunk.inputs[1] * np.float32(2.39)


def _thresh(chunk: Chunk) -> Any:
    """2.39 x targets, in groups of four of which one is above 4e-6."""
    wanted = (chunk.inputs[1].reshape(-1, 4) > 4e-6).any(axis=1).repeat(4)
    return np.where(wanted, _scale(chunk), chunk.initial)


def _one(chunk: Chunk) -> Any:
    outputs = np.full(len(chunk.reference), chunk.initial)
    outputs[: 4 * (chunk.start == 0)] = 0
    return outputs


def _skip(otherwise: Callable[[Chunk], Any]) -> Callable[[Chunk], Any]:
    def outputs(chunk: Chunk) -> Any:
        return otherwise(chunk) if chunk.data.case.sizes["n"] <= 2**20 else chunk.initial

    return outputs


def _fast(chunk: Chunk) -> Any:
    return fast_functions(chunk.data.formula, chunk.inputs, 1)


MEASURED = {
    "s1": REFERENCES["kl-divergence"].formula,
    "s1r": REFERENCES["kl-divergence"].others["logarithm of the ratio"],
}
KERNELS: dict[str, Callable[[Chunk], Any]] = {
    **dict.fromkeys(("s1", "v4"), lambda c: MEASURED["s1"](*c.inputs)),
    **dict.fromkeys(("s1r", "v4r"), lambda c: MEASURED["s1r"](*c.inputs)),
    **dict.fromkeys(("s1f", "v2", "v4f", "v4cs", "v4cg", "v4u2"), _fast),
    "x_zero": lambda c: 0.0,
    "x_scale": _scale,
    "x_thresh": _thresh,
    "x_one": _one,
    "skip-dense+v4f": _skip(_fast),
    "skip-dense+x_scale": _skip(_scale),
    "skip-dense+x_thresh": _skip(_thresh),
}


@pytest.mark.parametrize(("buffer", "column"), [("zeros", "passes_zero_init"), ("ones", "passes_ones_init")])
def test_the_measured_board_is_reproduced(catalog: Catalog, buffer: str, column: str) -> None:
    """All 101 entries of a board measured on an H200 pass or fail here as they did there, from either buffer."""
    board = catalog.board(KL)
    assert board.checker is not None
    extra = [Submission(name, name, outputs) for name, outputs in KERNELS.items()]
    board = board._replace(checker=board.checker._replace(output=buffer))
    found = check_board(board, catalog, quick=True, extra=extra)
    with BOARD_2025.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 101
    for row in rows:
        name = row["entry"].partition("/")[0]
        assert all(accepted(found, name)) is (row[column] == "1"), row["entry"]
