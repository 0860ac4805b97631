"""Every number of a spec is finite, in its range, and written as Python and YAML both read it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from klaudit.board import Board
from klaudit.errors import SpecError
from klaudit.readers.board_spec import read_board
from klaudit.readers.gpu_spec import read_gpu

SAMPLES = Path(__file__).parent / "samples"
GPU = (SAMPLES / "t4.yaml").read_text()
BOARD = (SAMPLES / "some.yaml").read_text()


def no_board(board_id: str) -> Board | None:
    return None


def message(read: Callable[[], object]) -> str:
    with pytest.raises(SpecError) as caught:
        read()
    return str(caught.value)


def swap(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the sample"
    return text.replace(old, new)


def with_checker(keys: str) -> str:
    return swap(BOARD, 'rtol: "1e-5"', keys)


@pytest.mark.parametrize("key", ["rtol", "atol", "atol_of_max", "matched"])
@pytest.mark.parametrize(
    "value", ["-1", '"-1"', "-0.001", "nan", ".nan", '"nan"', "inf", ".inf", "-.inf", "1e999", "1_0", "010", "٣"]
)
def test_a_tolerance_is_finite_and_not_negative(key: str, value: str) -> None:
    """However it is written; and no form that only Python or only YAML takes for a number."""
    allowed = "from 0 to 1" if key == "matched" else "of 0 or more"
    found = message(lambda: read_board(with_checker(f"{key}: {value}"), "specs/boards/some.yaml", no_board))
    quoted = value.strip('"')
    assert found == f"specs/boards/some.yaml:8: checker.{key}: {quoted!r} is no number {allowed}"


@pytest.mark.parametrize(
    ("value", "number"), [("0", 0.0), ("1", 1.0), ('"1e-5"', 1e-5), ("0.5", 0.5), (".5", 0.5), ("1.", 1.0), ("+1", 1.0)]
)
def test_a_tolerance_that_is_one(value: str, number: float) -> None:
    """Zero is the tolerance of whole numbers, and one the share of all outputs."""
    for key in ("rtol", "atol", "atol_of_max", "matched"):
        board = read_board(with_checker(f"{key}: {value}"), "some.yaml", no_board)
        assert board.checker is not None
        assert getattr(board.checker, key) == number


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("matched: 1.01", "checker.matched: '1.01' is no number from 0 to 1"),
        (
            "inputs: [{name: a, draw: scattered, share: -0.1}]",
            "checker.inputs[0].share: '-0.1' is no number of 0 or more",
        ),
        (
            "inputs: [{name: a, draw: uniform, low: 1e39}]",
            "checker.inputs[0].low: '1e39' is no number from -1e+38 to 1e+38",
        ),
        ("inputs: [{name: a, draw: uniform, low: 2}]", "checker.inputs[0]: low 2 is above high 1"),
        (
            "inputs: [{name: a, draw: normal, high: -1}]",
            "checker.inputs[0].high: -1 is no deviation; it must be 0 or more",
        ),
        (
            "cases: [{case: small, parameters: {alpha: .nan}}]",
            "checker.cases[0].parameters.alpha: '.nan' is no number",
        ),
        (
            'enforced: [{submission: s, plain: p, traffic: "n - 2000"}]',
            "checker.enforced[0].traffic is -976.0 at {'n': 1024.0, 'b': 4.0}; it must be 0 or more bytes",
        ),
        (
            'enforced: [{submission: s, plain: p, traffic: "1e400"}]',
            "checker.enforced[0].traffic is inf at {'n': 1024.0, 'b': 4.0}; it must be 0 or more bytes",
        ),
        (
            'enforced: [{submission: s, plain: p, traffic: "n/(b - 4)"}]',
            "checker.enforced[0].traffic: formula 'n/(b - 4)' has no value at {'n': 1024.0, 'b': 4.0}:"
            " float division by zero",
        ),
    ],
)
def test_a_number_of_a_checker_out_of_range(keys: str, expected: str) -> None:
    """Shares, deviations, ends of ranges and counts of bytes that cannot be."""
    found = message(lambda: read_board(with_checker(keys), "specs/boards/some.yaml", no_board))
    assert found == f"specs/boards/some.yaml:8: {expected}"


@pytest.mark.parametrize("value", ["-1", "0", "1.5", ".inf", "010", "0x10", "1_0", "٣", "1:30"])
def test_a_count_is_a_positive_whole_number(value: str) -> None:
    """Sizes, counts of processors and runs, in no form that means something else to YAML."""
    wrong = f"{value!r} is no positive whole number"
    for text, place in (
        (swap(BOARD, "n: 1024", f"n: {value}"), ":7: cases[0].sizes.n: "),
        (swap(BOARD, "[5, 20]", f"[5, {value}]"), ":12: eras[0].scoring.runs: "),
    ):
        found = message(lambda text=text: read_board(text, "some.yaml", no_board))  # type: ignore[misc]
        assert found == f"some.yaml{place}{wrong}"
    found = message(lambda: read_gpu(swap(GPU, "count: {value: 40", f"count: {{value: {value}"), "t4.yaml"))
    assert found == f"t4.yaml:15: processors.count.value: {wrong}"


@pytest.mark.parametrize("digits", [16, 400, 5000])
def test_a_count_beyond_floats_is_refused(digits: int) -> None:
    """More digits than a float holds, than its range has, and than Python converts."""
    found = message(lambda: read_board(swap(BOARD, "n: 1024", f"n: {'9' * digits}"), "some.yaml", no_board))
    assert found == f"some.yaml:7: cases[0].sizes.n has {digits} digits; allowed are 15"


@pytest.mark.parametrize("value", ["-300 GB/s", "0 GB/s", "1e400 GB/s", "nan GB/s", "inf GB/s"])
def test_a_figure_is_finite_and_above_zero(value: str) -> None:
    """No card moves a negative, no or an endless number of bytes."""
    found = message(lambda: read_gpu(swap(GPU, "300 GB/s", value), "t4.yaml"))
    assert found.startswith(f"t4.yaml:10: memory.published_bandwidth: value {value!r} ")
    assert ("must be" in found) == ("n" not in value)
