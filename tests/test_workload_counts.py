"""Every workload's operations and bytes against a second count, written out by hand at a case of its board.

A count by hand here is a plain number with the sum that makes it beside it; none comes from a formula of a spec.
Element-wise counts are per element: all of their boards' cases follow from one line.
"""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import NamedTuple

import pytest

from klaudit.board import Board
from klaudit.readers.specs import load_catalog
from klaudit.workload import Workload

CATALOG = load_catalog()
SPECS = Path(__file__).resolve().parent.parent / "specs"
FLOAT = 4.0
HALF = 2.0


class Each(NamedTuple):
    """Operations, floats read and floats written for each element."""

    flops: int
    reads: int
    writes: int


ELEMENT_WISE = {
    "relu": Each(1, 1, 1),  # max(x, 0)
    "leaky-relu": Each(1, 1, 1),  # counted as one
    "sigmoid": Each(1, 1, 1),  # counted as one
    "tanh": Each(1, 1, 1),  # counted as one
    "hard-sigmoid": Each(1, 1, 1),  # counted as one
    "swish": Each(1, 1, 1),  # counted as one
    "elu": Each(3, 1, 1),  # exp, - 1, x alpha
    "selu": Each(3, 1, 1),  # comparison, product, exp
    "gelu": Each(
        24, 1, 1
    ),  # 15 for tanh and 9 around it: x^3 is 2, then x 0.044715, +, x 0.798, 1 +, x 0.5, x x, branch
    "softplus": Each(3, 1, 1),  # exp, 1 +, log
    "threshold": Each(1, 1, 1),  # comparison
    "matrix-scalar": Each(1, 1, 1),  # product
    "vector-add": Each(1, 2, 1),  # a + b
    "huber": Each(5, 2, 1),  # a - b, |.|, comparison, two for the branch
    "hinge": Each(3, 2, 1),  # p x t, 1 -, max
    "kl-divergence": Each(7, 2, 1),  # the board's own count
    "grayscale": Each(5, 3, 1),  # 3 products, 2 additions; 3 channels in, 1 out
}


class Count(NamedTuple):
    """A count by hand at one size: the sizes, bytes of an element, operations, bytes read, bytes written."""

    sizes: dict[str, float]
    element: float
    flops: float
    reads: float
    writes: float


BY_HAND = {
    # 128 rows of 4096: 524 288 elements of 4 B = 2 097 152 B.
    "l1-norm": [Count({"rows": 128, "n": 4096}, FLOAT, 1_572_992, 2_097_152, 2_097_152)],  # 128 x (3 x 4096 + 1)
    "l2-norm": [Count({"rows": 128, "n": 4096}, FLOAT, 1_573_120, 2_097_152, 2_097_152)],  # 128 x (3 x 4096 + 2)
    # 1024 rows of 1024 = 1 048 576 elements, 4 194 304 B: 1024 x (3072 + 6) operations.
    "rms-norm": [Count({"rows": 1024, "n": 1024}, FLOAT, 3_151_872, 4_194_304, 4_194_304)],
    # 16 samples of 64 x 32 x 32 = 65 536: 1 048 576 elements x 14; scale and shift are 2 x 65 536 x 4 = 524 288 B more.
    "layer-norm": [Count({"rows": 16, "n": 65_536}, FLOAT, 14_680_064, 4_718_592, 4_194_304)],
    # 4 x 1024 x 1024 = 4 194 304 elements: 4 194 304 squares, 4 194 303 +, root 5, 4 194 304 divisions.
    "frobenius-norm": [Count({"n": 4_194_304}, FLOAT, 12_582_916, 16_777_216, 16_777_216)],
    # 16 x 256 rows of 128: each 127 comparisons, 128 -, 128 exp, 127 +, 128 / = 638.
    "softmax": [
        Count({"rows": 4096, "n": 128}, FLOAT, 2_613_248, 2_097_152, 2_097_152),
        Count({"rows": 128, "n": 10}, HALF, 6_144, 2_560, 2_560),  # 128 x (9 + 10 + 10 + 9 + 10); 1280 x 2 B
    ],
    # 4096 slices of 128: 127 each; 524 288 floats in, 4096 out.
    "reduce-dim": [Count({"slices": 4096, "n": 128}, FLOAT, 520_192, 2_097_152, 16_384)],
    # 127 additions and a division a slice.
    "mean-dim": [Count({"slices": 4096, "n": 128}, FLOAT, 524_288, 2_097_152, 16_384)],
    # The first 32 factors of each slice: 131 072 floats.
    "product-dim": [
        Count({"slices": 4096, "n": 128}, FLOAT, 520_192, 524_288, 16_384),
        Count({"slices": 10, "n": 5}, FLOAT, 40, 200, 40),  # fewer factors than that: all of them
    ],
    # 4096 pairs of 4096: 2 x 4096 for the dot product, 3 x 4096 for the norms, 3 more; 2 x 67 108 864 B in.
    "cosine-similarity": [Count({"rows": 4096, "n": 4096}, FLOAT, 83_898_368, 134_217_728, 16_384)],
    # 4096 x 4096: n differences, n squares, n - 1 additions and 1 division; one number out.
    "mse": [Count({"n": 16_777_216}, FLOAT, 50_331_648, 134_217_728, 4)],
    # 52 428 799 additions of 52 428 800 numbers.
    "sum": [Count({"n": 52_428_800}, FLOAT, 52_428_799, 209_715_200, 4)],
    "prefix-sum": [Count({"n": 268_435_456}, FLOAT, 268_435_455, 1_073_741_824, 1_073_741_824)],
    "sort": [Count({"n": 100_000_000}, FLOAT, 99_999_999, 400_000_000, 400_000_000)],
    # 4096 dot products of 4096: 2 x 16 777 216; matrix 67 108 864 B and vector 16 384 B in.
    "matrix-vector": [Count({"m": 4096, "k": 4096}, FLOAT, 33_554_432, 67_125_248, 16_384)],
    "matmul": [
        # 4096^3 = 68 719 476 736; two factors of 67 108 864 B.
        Count({"m": 4096, "n": 4096, "k": 4096}, FLOAT, 137_438_953_472, 134_217_728, 67_108_864),
        # 8192 x 8192 by 8192 x 4096: 2 x 8192 x 4096 x 8192; 268 435 456 + 134 217 728 B in, 134 217 728 B out.
        Count({"m": 8192, "n": 4096, "k": 8192}, FLOAT, 549_755_813_888, 402_653_184, 134_217_728),
        # Half precision, 4096 x 5120 with 4096 between: 2 x 85 899 345 920; 33 554 432 + 41 943 040 B in.
        Count({"m": 4096, "n": 5120, "k": 4096}, HALF, 171_798_691_840, 75_497_472, 41_943_040),
    ],
    # 65 536 outputs of 8191 products and 8190 additions: 65 536 x (16 384 - 3); 65 536 + 8191 floats in.
    "conv1d": [Count({"n": 65_536, "k": 8191}, FLOAT, 1_073_545_216, 294_908, 262_144)],
    # 16 777 216 pixels x 81 taps x 2; image 67 108 864 B and filter 324 B in.
    "conv2d-same": [Count({"h": 4096, "w": 4096, "kh": 9, "kw": 9}, FLOAT, 2_717_908_992, 67_109_188, 67_108_864)],
    # 225 x 225 = 50 625 outputs x 16 384 channel pairs x 1024 taps x 2; 8 388 608 and 16 777 216 floats in.
    "conv2d": [
        Count(
            {"batch": 1, "c_in": 128, "c_out": 128, "h": 256, "w": 256, "kh": 32, "kw": 32},
            FLOAT,
            1_698_693_120_000,
            33_554_432 + 67_108_864,
            25_920_000,
        )
    ],
    # 2 images of 64 channels to 128 at 56 x 56 = 3136 pixels: 9 products and additions each for 2 x 8192 pairs.
    "conv2d-3x3": [
        Count(
            {"batch": 2, "c_in": 64, "c_out": 128, "h": 56, "w": 56},
            FLOAT,
            924_844_032,  # 18 x 2 x 8192 x 3136
            1_605_632 + 294_912,  # 2 x 64 x 3136 x 4 B; 9 x 8192 x 4 B
            3_211_264,  # 2 x 128 x 3136 x 4 B
        )
    ],
}


def value(workload: Workload, what: str, sizes: dict[str, float], element: float = FLOAT) -> float:
    count = getattr(workload, what)
    return float(count.formula({**sizes, "b": element}))


def files(folder: str) -> list[str]:
    return sorted(path.stem for path in (SPECS / folder).glob("*.yaml"))


def test_every_workload_is_counted_here() -> None:
    """A workload that is added gets a count by hand in this file."""
    assert files("workloads") == sorted({*ELEMENT_WISE, *BY_HAND})
    assert not set(ELEMENT_WISE) & set(BY_HAND)


@pytest.mark.parametrize("name", ELEMENT_WISE)
def test_element_wise_work_is_per_element(name: str) -> None:
    """The counts of one element, times the elements; such a rate needs no size."""
    workload, each = CATALOG.workload(name), ELEMENT_WISE[name]
    assert workload.per_element
    for n in (1, 1_000_003, 2**30):
        for element in (HALF, FLOAT):
            assert value(workload, "flops", {"n": n}) == each.flops * n
            assert value(workload, "reads", {"n": n}, element) == each.reads * element * n
            assert value(workload, "writes", {"n": n}, element) == each.writes * element * n


@pytest.mark.parametrize(("name", "count"), [(n, c) for n, counts in BY_HAND.items() for c in counts])
def test_work_at_a_case_by_hand(name: str, count: Count) -> None:
    """Operations, bytes read and bytes written at one case of the workload's board."""
    workload = CATALOG.workload(name)
    assert set(count.sizes) == set(workload.sizes)
    assert value(workload, "flops", count.sizes) == count.flops
    assert value(workload, "reads", count.sizes, count.element) == count.reads
    assert value(workload, "writes", count.sizes, count.element) == count.writes
    assert not workload.per_element


# -- boards -----------------------------------------------------------------------------------------------------------

# Per board: operations over all cases, and bytes read and written over all cases, summed by hand. M is 2**20.
M = 1_048_576
# 4096 x 4096 + 6144 x 4096 + 4096 x 7168 + 4096 x 8192 + 8192 x 8192 = (16 + 24 + 28 + 32 + 64) M elements.
ACTIVATIONS = 164 * M
# (16, 128, 256) + (32, 512, 512) + (8, 1024, 1024) + (64, 128, 128, 128) + (4, 256, 256, 256) + (128, 64, 64, 64)
# = (0.5 + 8 + 8 + 128 + 64 + 32) M elements, 4096 + 262 144 + 8192 + 1 048 576 + 262 144 + 524 288 slices.
REDUCED, SLICES = 240.5 * M, 2_109_440


class Totals(NamedTuple):
    cases: int
    flops: float
    bytes: float


def activation(flops: int) -> Totals:
    return Totals(5, flops * ACTIVATIONS, 8 * ACTIVATIONS)


BOARD_TOTALS = {
    "tensara-relu": activation(1),
    "tensara-sigmoid": activation(1),
    "tensara-tanh": activation(1),
    "tensara-swish": activation(1),
    "tensara-hard-sigmoid": activation(1),
    "tensara-elu": activation(3),
    "tensara-selu": activation(3),
    "tensara-soft-plus": activation(3),
    "tensara-gelu": activation(24),
    # Four slopes each at 4096 x 4096 and 6144 x 4096: 4 x (16 + 24) M.
    "tensara-leaky-relu": Totals(8, 160 * M, 8 * 160 * M),
    # 2^20 + 2^22 + 2^24 + 2^26 = (1 + 4 + 16 + 64) M, the divergence once more at 2^20.
    "tensara-kl": Totals(5, 7 * 86 * M, 12 * 86 * M),
    "tensara-hinge": Totals(4, 3 * 85 * M, 12 * 85 * M),
    "tensara-huber": Totals(4, 5 * 85 * M, 12 * 85 * M),
    # (16 + 64 + 128 + 16 + 32) M; two inputs, and one number a case.
    "tensara-mse": Totals(5, 3 * 256 * M, 8 * 256 * M + 5 * 4),
    # 2^20 + 2^22 + 2^23 + 2^25 + 2^26 + 2^29 + 2^30 = (1 + 4 + 8 + 32 + 64 + 512 + 1024) M.
    "tensara-vector-addition": Totals(7, 1645 * M, 12 * 1645 * M),
    # Five scalars each at 8192 x 8192 = 64 M and 9216 x 9216 = 81 M.
    "tensara-matrix-scalar": Totals(10, 725 * M, 8 * 725 * M),
    # Three thresholds each at 262 144, 786 432, 2 073 600 and 8 294 400 pixels.
    "tensara-threshold": Totals(12, 34_249_728, 8 * 34_249_728),
    # 128 + 256 rows of 4096, 128 + 256 of 8192, 128 of 16 384: 896 rows, 384 x 12 288 + 128 x 16 384 = 6 815 744.
    "tensara-l1-norm": Totals(5, 3 * 6_815_744 + 896, 8 * 6_815_744),
    "tensara-l2-norm": Totals(5, 3 * 6_815_744 + 2 * 896, 8 * 6_815_744),
    # (4 + 0.5 + 16 + 32) M elements; a root of 5 less the addition saved in each of four cases.
    "tensara-frobenius-norm": Totals(4, 3 * 52.5 * M + 16, 8 * 52.5 * M),
    # 1024 x 1024, 1024 x 4096, 2048 x 8192, 512 x 16 384: (1 + 4 + 16 + 8) M in 4608 rows.
    "tensara-rms-norm": Totals(4, 3 * 29 * M + 6 * 4608, 8 * 29 * M),
    # 16 x 65 536 + 32 x 524 288 + 8 x 4 194 304 + 4 x 524 288 = (1 + 16 + 32 + 2) M; scale and shift of
    # 65 536 + 524 288 + 4 194 304 + 524 288 = 5.0625 M features twice.
    "tensara-layer-norm": Totals(4, 14 * 51 * M, 8 * 51 * M + 8 * 5.0625 * M),
    # As REDUCED but (32, 512, 512) along its last axis, and two small ones: 16 384 x 512 is the same 8 M elements;
    # 128 x 10 and 2500 x 256 = 1280 + 640 000 elements. Rows: 4096 + 16 384 + 8192 + 1 048 576 + 262 144 + 128 + 2500.
    "tensara-softmax": Totals(7, 5 * (208.5 * M + 641_280) - 2 * 1_342_020, 8 * (208.5 * M + 641_280)),
    "tensara-sum-dim": Totals(6, REDUCED - SLICES, 4 * (REDUCED + SLICES)),
    "tensara-max-dim": Totals(6, REDUCED - SLICES, 4 * (REDUCED + SLICES)),
    "tensara-min-dim": Totals(6, REDUCED - SLICES, 4 * (REDUCED + SLICES)),
    "tensara-mean-dim": Totals(6, REDUCED, 4 * (REDUCED + SLICES)),
    # 32 factors of each slice, of which none is shorter: 33 floats a slice.
    "tensara-product-dim": Totals(6, REDUCED - SLICES, 4 * 33 * SLICES),
    # 4096 + 8192 + 10 240 + 16 384 = 38 912 pairs of 4096.
    "tensara-cosine-similarity": Totals(4, 38_912 * 20_483, 4 * (2 * 38_912 * 4096 + 38_912)),
    # 4096 + 6144 + 7168 + 8192 + 9216 = 34 816 rows of 4096; five vectors.
    "tensara-matrix-vector": Totals(5, 2 * 34_816 * 4096, 4 * (34_816 * 4096 + 5 * 4096 + 34_816)),
    # In units of 4096^3 = 2^36: 1, 2 x 1 x 2 = 4, 2 and 8; of 4096^2 = 16 M: 3, 4 + 2 + 2, 1 + 2 + 2 and 12.
    "tensara-matmul": Totals(4, 2 * 15 * 2**36, 4 * 28 * 16 * M),
    # In units of 1024: 4, 6, 7, 8 and 9 cubed = 64 + 216 + 343 + 512 + 729; squared 16 + 36 + 49 + 64 + 81.
    "tensara-square-matmul": Totals(5, 2 * 1864 * 2**30, 4 * 3 * 246 * M),
    # (65 536 + 32 768 + 131 072 + 524 288) = 753 664 samples x 16 381; four filters of 8191.
    "tensara-conv1d": Totals(4, 753_664 * 16_381, 4 * (2 * 753_664 + 4 * 8191)),
    # 16 M x 81, 64 M x 121, 256 M x 169, 1 M x 961, 4 M x 3969, 16 M x 16 129 = 328 104 M... by term:
    # 1296 + 7744 + 43 264 + 961 + 15 876 + 258 064 = 327 205 M; (16 + 64 + 256 + 1 + 4 + 16) = 357 M pixels;
    # filters 81 + 121 + 169 + 961 + 3969 + 16 129 = 21 430.
    "tensara-conv2d": Totals(6, 2 * 327_205 * M, 4 * (2 * 357 * M + 21_430)),
    # 16 384 x 16 384 = 256 M elements of two bytes, two in and one out.
    "gpumode-vectoradd": Totals(1, 256 * M, 6 * 256 * M),
    "gpumode-vectorsum": Totals(1, 50 * M - 1, 4 * 50 * M + 4),
    "gpumode-grayscale": Totals(1, 5 * 256 * M, 16 * 256 * M),
    "gpumode-matmul": Totals(1, 171_798_691_840, 75_497_472 + 41_943_040),
    "gpumode-conv2d": Totals(1, 1_698_693_120_000, 100_663_296 + 25_920_000),
    "gpumode-sort": Totals(1, 99_999_999, 800_000_000),
    "gpumode-prefixsum": Totals(1, 256 * M - 1, 8 * 256 * M),
}


def test_every_board_is_counted_here() -> None:
    """A board that is added gets its totals by hand in this file; the one without cases has none."""
    assert files("boards") == sorted({*BOARD_TOTALS, "single-case"})
    assert CATALOG.board("single-case").cases == ()


@pytest.mark.parametrize("name", BOARD_TOTALS)
def test_a_boards_cases_by_hand(name: str) -> None:
    """The cases of a board add up to the operations and bytes worked out from the problem's own sizes."""
    board, totals = CATALOG.board(name), BOARD_TOTALS[name]
    workload, element = kind(board), HALF if board.dtype == "float16" else FLOAT
    assert board.dtype == ("float16" if name in ("gpumode-vectoradd", "gpumode-matmul") else "float32")
    assert len(board.cases) == totals.cases
    cases = [dict(case.sizes) for case in board.cases]
    assert sum(value(workload, "flops", case) for case in cases) == totals.flops
    moved = sum(value(workload, what, case, element) for case in cases for what in ("reads", "writes"))
    assert moved == totals.bytes


@pytest.mark.parametrize("name", BOARD_TOTALS)
def test_the_least_count_is_never_above_the_boards(name: str) -> None:
    """No algorithm that is known to need least needs more than the board counts, at any case."""
    board = CATALOG.board(name)
    workload = kind(board)
    if workload.min_flops is None:
        assert workload.id not in ("matmul", "conv1d", "conv2d", "conv2d-same", "conv2d-3x3")
        return
    for case in board.cases:
        least = value(workload, "min_flops", dict(case.sizes))
        assert 0 < least <= value(workload, "flops", dict(case.sizes))


def kind(board: Board) -> Workload:
    assert board.workload is not None
    return CATALOG.workload(board.workload)


# -- the least counts of any known algorithm --------------------------------------------------------------------------


@functools.cache
def strassen_winograd(d: int) -> int:
    """Operations of a product of d by d at the best cut-off: the classical count or seven halves and 15 additions."""
    classical = 2 * d**3 - d**2
    if d <= 2:
        return classical
    half = -(-d // 2)
    return min(classical, 7 * strassen_winograd(half) + 15 * half**2)


def test_the_least_product_is_below_strassens_at_every_size() -> None:
    """Never above the exact Strassen-Winograd count from 1 to 2000, nor at powers of two and board sizes beyond."""
    workload = CATALOG.workload("matmul")
    sizes = [*range(1, 2001), 2048, 3072, 4096, 5120, 6144, 7168, 8192, 9216, 16_384, 32_768, 65_536]
    ratios = []
    for d in sizes:
        cube: dict[str, float] = {"m": d, "n": d, "k": d}
        ratios.append(value(workload, "min_flops", cube) / strassen_winograd(d))
        assert ratios[-1] <= 1, d
        assert value(workload, "min_flops", cube) <= value(workload, "flops", cube)
    # It would be of no use if it were far below: at the sizes of boards it is within a fifth.
    assert min(r for d, r in zip(sizes, ratios, strict=True) if d >= 1024) > 0.75


@pytest.mark.parametrize(("m", "n", "k"), [(8192, 4096, 8192), (4096, 5120, 4096), (1024, 64, 4096), (7, 300, 50)])
def test_the_least_oblong_product_is_below_its_cubes(m: int, n: int, k: int) -> None:
    """Cut into cubes of the shortest side, whole ones alone, Strassen needs no less than the least count."""
    d = min(m, n, k)
    cubes = (m // d) * (n // d) * (k // d) * strassen_winograd(d)
    sizes: dict[str, float] = {"m": m // d * d, "n": n // d * d, "k": k // d * d}
    assert value(CATALOG.workload("matmul"), "min_flops", sizes) <= cubes


def test_the_least_3x3_convolution_is_below_winograds_tiles() -> None:
    """F(m x m, 3x3) needs (m + 2)^2 products for m^2 outputs: a quarter and a fifth of the direct nine and below."""
    workload = CATALOG.workload("conv2d-3x3")
    sizes: dict[str, float] = {"batch": 2, "c_in": 64, "c_out": 128, "h": 56, "w": 56}
    pairs = 2 * 64 * 128 * 56 * 56  # channel pairs and outputs; a product and an addition each
    least = value(workload, "min_flops", sizes)
    assert least <= pairs * 2 * 36 / 16  # m = 4: 36 products for 16 outputs, 2.25 for 9
    assert least <= pairs * 2 * 64 / 36  # m = 6: 64 for 36
    assert least <= pairs * 2 * 196 / 144  # m = 12: 196 for 144
    assert least == pairs * 2  # never less than one product an output


def transform(points: int) -> float:
    """Operations of a real transform of a power of two: half of the split-radix count 4 N log2 N - 6 N + 8."""
    return (4 * points * math.log2(points) - 6 * points + 8) / 2


def next_power(n: int) -> int:
    return 1 << (n - 1).bit_length()


@pytest.mark.parametrize("case", range(4))
def test_the_least_1d_convolution_is_below_the_transforms(case: int) -> None:
    """By one transform of the whole signal, or by overlapping tiles of twice to 64 times the filter: never less."""
    sizes = dict(CATALOG.board("tensara-conv1d").cases[case].sizes)
    n, k = int(sizes["n"]), int(sizes["k"])
    least = value(CATALOG.workload("conv1d"), "min_flops", sizes)
    # Forth, a complex product of half the points (6 operations), back; the filter's transform once.
    counts = []
    for points in {next_power(n + k - 1), *(next_power(k) * 2**i for i in range(1, 7))}:
        tiles = math.ceil(n / (points - k + 1))
        counts.append(tiles * (2 * transform(points) + 3 * points) + transform(points))
    assert least <= min(counts)
    assert least >= min(counts) / 5


@pytest.mark.parametrize("case", range(6))
def test_the_least_2d_convolution_is_below_the_transforms(case: int) -> None:
    """By square tiles of twice to 64 times the filter in two dimensions, filters of 9 to 127 a side: never less."""
    sizes = dict(CATALOG.board("tensara-conv2d").cases[case].sizes)
    least = value(CATALOG.workload("conv2d-same"), "min_flops", sizes)
    h, k = int(sizes["h"]), int(sizes["kh"])
    counts = [2.0 * h * h * k * k]
    for i in range(1, 7):
        side = next_power(k) * 2**i
        tiles = math.ceil(h / (side - k + 1)) ** 2
        there = 2 * side * transform(side)  # rows, then columns of half as many complex points
        counts.append(tiles * (2 * there + 3 * side**2))
    assert least <= min(counts)


def test_the_least_convolution_over_channels_is_below_the_transforms() -> None:
    """256 x 256, filter 32 x 32, 128 channels in and out: by tiles shared over the channels and never less.

    Tiles of p x p give (p - 31)^2 outputs. Each of 128 channels goes forth and back once, each point of half of them
    (the spectrum of a real image is symmetric) takes a complex product and addition a channel pair: 6 operations by
    Gauss's three real products.
    """
    board = CATALOG.board("gpumode-conv2d")
    least = value(CATALOG.workload("conv2d"), "min_flops", dict(board.cases[0].sizes))
    counts = []
    for side in (64, 128, 256, 512):
        tiles = math.ceil(225 / (side - 31)) ** 2
        there = 2 * side * transform(side)
        channels = tiles * 2 * 128 * there
        # As a product of matrices 128 x 128 for each point, over the tiles: Strassen saves at most what it does there.
        strassen = strassen_winograd(128) / (2 * 128**3)
        counts.append(channels + tiles * side**2 / 2 * 6 * 128 * 128 * strassen)
    assert least <= min(counts)
    # 1.699e12 operations on an H100 at 67 TFLOP/s are 25.4 ms: a claim of 18.9 ms must stay possible by this count.
    assert least <= 1_698_693_120_000 * 18.9 / 25.4
