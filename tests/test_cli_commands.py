"""roofline, explain and the catalogue, as the command shows them."""

from __future__ import annotations

import json

import pytest
from command import BOARD, klaudit


def test_roofline_of_the_published_figures() -> None:
    """The roofs of KL divergence, decimal and read as binary; an ambiguous label is all its cards, slowest first."""
    asked = ["roofline", "--gpu", "T4", "--gpu", "H100", "--workload", "kl-divergence"]
    done = klaudit(*asked)
    assert (done.returncode, done.stderr) == (0, "")
    table = [line.split() for line in done.stdout.split("\n") if line[:3] in ("a  ", "b  ", "c  ", "d  ", "e  ")]
    assert [(row[1], row[3]) for row in table] == [
        ("t4", "186.7"), ("h100-pcie-80gb", "1189.4"), ("h100-sxm5-80gb", "1955.5"), ("h100-nvl-94gb", "2297.7"),
        ("h200-sxm*", "2868.1"),
    ]  # fmt: skip
    assert "* can be served under the name H100." in done.stdout
    binary = klaudit(*asked, "--units", "binary").stdout
    assert " 200.5 " in binary
    assert " 1277.1 " in binary


def test_roofline_as_json() -> None:
    """One object a card, figures in GFLOP/s and GB/s."""
    done = klaudit("roofline", "--gpu", "h100-sxm5-80gb", "--board", "tensara-kl", "--n", "2^26", "--format", "json")
    (roofs,) = json.loads(done.stdout)["roofs"]
    assert roofs["dram_gflops"] == pytest.approx(1955.5, abs=0.05)
    assert roofs["traffic_bytes"] == 3 * 4 * 2**26
    assert roofs["floor_us"] == pytest.approx(240.2, abs=0.05)


def test_roofline_without_a_workload() -> None:
    """The cards' own roofs; too many cards for a chart are a table alone."""
    assert "name a --workload" in klaudit("roofline", "--gpu", "T4").stdout
    every = klaudit("roofline")
    assert every.returncode == 0
    assert "The chart shows up to 10 cards" in every.stdout


def test_the_chart_is_ascii_where_it_must_be() -> None:
    """Braille where the stream can show it, letters where not."""
    assert "\u2500" in klaudit("roofline", "--gpu", "T4", PYTHONIOENCODING="utf-8").stdout
    plain = klaudit("roofline", "--gpu", "T4", PYTHONIOENCODING="ascii").stdout
    assert plain.isascii()
    assert "aaaaaa" in plain


@pytest.mark.parametrize(
    ("claim", "verdict", "conditions"),
    [
        (["--gpu", "T4", "--gflops", "1500", *BOARD], "impossible", []),
        (["--gpu", "T4", "--gflops", "200.4", *BOARD], "conditional", ["write-back"]),
        (["--gpu", "H100", "--tflops", "1.4", *BOARD], "within", []),
        (["--gpu", "H100", "--tflops", "2.2", *BOARD], "conditional", ["write-back"]),
        (["--gpu", "H100", "--tflops", "12", *BOARD], "impossible", []),
        (
            ["--gpu", "H100", "--tflops", "1.5", "--workload", "kl-divergence", "--n", "67108864"],
            "conditional",
            ["faster-variant"],
        ),
    ],
)
def test_explain_the_published_claims(claim: list[str], verdict: str, conditions: list[str]) -> None:
    """One row object with its steps, and the verdicts that the model gives."""
    done = klaudit("explain", *claim, "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    row = json.loads(done.stdout)
    assert (row["verdict"], row["conditions"]) == (verdict, conditions)
    assert row["steps"]


def test_explain_ends_with_the_verdict() -> None:
    """Numbered steps, sources, then the verdict, the sentence on harness faults and the versions."""
    shown = klaudit("explain", "--gpu", "T4", "--gflops", "1500", *BOARD).stdout
    assert shown.index(" 1. ") < shown.index("source: ") < shown.index("Verdict: IMPOSSIBLE, 8.03 x the roof")
    assert "a harness fault is as" in shown
    assert "klaudit 0.1.0, specs of " in shown
    within = klaudit("explain", "--gpu", "H100", "--tflops", "1.4", *BOARD).stdout
    assert "no clearance" in within


def test_explain_of_an_unknown_card_is_3() -> None:
    """Nothing could be judged, and the report says why."""
    done = klaudit("explain", "--gpu", "H20O", "--gflops", "1500", *BOARD)
    assert done.returncode == 3
    assert "UNJUDGED" in done.stdout
    assert "H200" in done.stdout


def test_the_limits_of_a_board() -> None:
    """The table of the model: mean of rates per card, then mean of times."""
    shown = klaudit("boards", "tensara-kl-2025").stdout
    rates, times = shown.split("Limits tensara-kl-2025: ")[1:]
    assert rates.startswith("mean of rates [GFLOP/s], impossible above the last figure\n")
    table = {row[1]: row[2:] for row in (line.split() for line in rates.split("\n")) if len(row) > 2}
    assert table["card"] == ["dram", "write-back", "inputs-resident", "both"]
    for card, ceilings in {
        "t4": (186.7, 228.4, 228.4, 345.6),
        "h100-sxm5-80gb": (1955.5, 2707, 4467, 7129),
        "h200-sxm": (2868, 4038, 6113, 8073),
    }.items():
        assert [float(cell) for cell in table[card]] == pytest.approx(ceilings, abs=0.5)
    assert times.startswith("mean of times [us]")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["gpus"], ["h100-sxm5-80gb ", " 3352.3      50 MiB "]),
        (["gpus", "T4"], ["What the judge uses", "320.06 GB/s, from ", "Sources"]),
        (["gpus", "H100"], ["h100-pcie-80gb", "h100-nvl-94gb"]),
        (["workloads"], ["kl-divergence ", "KL divergence, element by element"]),
        (["workloads", "kl"], ["predictions and targets, once each"]),
        (["boards"], ["tensara-kl ", "single-case"]),
        (["boards", "single-case"], ["One figure, one case"]),
    ],
)
def test_the_catalogue(arguments: list[str], says: list[str]) -> None:
    """Lists and entries, as text and as JSON."""
    done = klaudit(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert [word for word in says if word not in done.stdout] == []
    assert isinstance(json.loads(klaudit(*arguments, "--format", "json").stdout), dict)
