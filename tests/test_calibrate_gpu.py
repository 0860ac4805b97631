"""On a machine with CuPy and a card: the measurement itself. Elsewhere these tests say why they are skipped."""

from __future__ import annotations

import math

import pytest

from klaudit.calibrate.board import _BoardBench, measure_board
from klaudit.calibrate.device import Card, open_card
from klaudit.calibrate.entries import entries
from klaudit.calibrate.kernels import Geometry
from klaudit.calibrate.record import KERNELS
from klaudit.calibrate.sweep import Bench, method_probes
from klaudit.errors import UsageError
from klaudit.readers.specs import load_catalog

SIZE = 1 << 26


@pytest.fixture(scope="module")
def card() -> Card:
    """The machine's first card."""
    try:
        return open_card()
    except UsageError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def bench(card: Card) -> Bench:
    """A bench with little memory."""
    return Bench(card, SIZE)


def test_every_method_times_the_stream_that_ran(bench: Bench) -> None:
    """A kernel of known length is seen by every method, and one on another stream is not."""
    assert [c.detail for c in method_probes(bench) if not c.passed] == []


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("elements", [1 << 14, (1 << 20) + (1 << 14)])
def test_a_kernel_that_ran_leaves_the_right_output(bench: Bench, kernel: str, elements: int) -> None:
    """And one that did not run, or ran over half of the elements, leaves a wrong one."""
    work = bench.places(kernel, elements, 1)[0]
    half = bench.places(kernel, elements // 2, 1)[0]
    for width in (1, 4):
        geometry = Geometry(37, 256, width)
        bench.poison(work)
        assert bench.wrong_outputs(work, geometry.blocks) > 0
        bench.launcher(half, geometry)()
        assert bench.wrong_outputs(work, geometry.blocks) > 0
        bench.restore(work)
        bench.restore(half)
        bench.poison(work)
        bench.launcher(work, geometry)()
        assert bench.wrong_outputs(work, geometry.blocks) == 0
        bench.restore(work)


def test_truth_of_the_entries_is_true(card: Card) -> None:
    """Honest kernels are right in float64, at sizes that no vector divides too; exploits are not."""
    board = load_catalog().board("tensara-kl-2025")
    bench = _BoardBench(card, board, board.eras[0])
    for elements in (1 << 20, 4099):
        bench.load(elements, 0, sparse=False)
        for entry in entries():
            error = bench.measure(entry, "").error
            if entry.truth == "honest":
                assert error <= 2e-5, entry.name
            elif not entry.trick:
                assert error > 0.1 or math.isinf(error), entry.name


def test_a_board_that_is_another_workload_is_refused() -> None:
    """Only boards whose kernels are known here can be measured."""
    with pytest.raises(UsageError, match="cannot be measured: expected one of kl-divergence"):
        measure_board(load_catalog().board("tensara-relu"), lambda device: device.name)
