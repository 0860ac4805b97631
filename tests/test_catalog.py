"""Names: whole normalised aliases and labels, never parts of them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from klaudit.catalog import GpuMatch, check_names, name_gpus, normalise
from klaudit.errors import SpecError, UsageError
from klaudit.readers.specs import build_index, load_catalog

CATALOG = load_catalog()
INDEX = build_index(Path(__file__).resolve().parent.parent / "specs")
ALIASES = sorted((alias, gpu_id) for gpu_id, entry in INDEX["gpus"].items() for alias in entry["aliases"])


@pytest.mark.parametrize(
    ("label", "ids"),
    [
        ("Tesla T4", ("t4",)),
        ("t4", ("t4",)),
        ("NVIDIA H100 80GB HBM3", ("h100-sxm5-80gb",)),
        ("NVIDIA_H100_80GB_HBM3", ("h100-sxm5-80gb",)),
        ("h100 sxm", ("h100-sxm5-80gb",)),
        ("H100 PCIe", ("h100-pcie-80gb",)),
        ("A100-80GB", ("a100-80gb-pcie", "a100-80gb-sxm")),
        ("B200_Nebius", ("b200-sxm-180gb",)),
        ("H100", ("h100-nvl-94gb", "h100-pcie-80gb", "h100-sxm5-80gb", "h200-sxm")),
        ("A10", ("a10", "a10g")),
        ("A10G", ("a10g",)),
        ("L4", ("l4",)),
        ("L40S", ("l40s",)),
        ("\uff28\uff11\uff10\uff10", ("h100-nvl-94gb", "h100-pcie-80gb", "h100-sxm5-80gb", "h200-sxm")),
        ("H20", ()),
        ("H1", ()),
        ("H100 SXM9", ()),
        ("NVIDIA", ()),
        ("", ()),
        ("!", ()),
        ("   ", ()),
    ],
)
def test_names_of_the_field(label: str, ids: tuple[str, ...]) -> None:
    """A label means the cards whose whole name it is, and no others."""
    assert CATALOG.find_gpus(label) == GpuMatch(ids, 1)


@pytest.mark.parametrize(
    ("label", "base", "count"),
    [
        ("8x H100", "H100", 8),
        ("8xH100", "H100", 8),
        ("8X h100", "H100", 8),
        ("8 \u00d7 H100", "H100", 8),
        ("H100 x8", "H100", 8),
        ("H100x8", "H100", 8),
        ("H100:8", "H100", 8),
        ("NVIDIA H100 80GB HBM3 : 4", "H100 SXM", 4),
        ("L4x4", "L4", 4),
        ("L4:1", "L4", 1),
        ("2 x T4", "T4", 2),
        ("T4*2", "T4", 2),
        ("8x H100!", "H100!", 8),
        ("RTX 4090 x2", "RTX 4090", 2),
    ],
)
def test_counts_of_cards(label: str, base: str, count: int) -> None:
    """A count before or after a name is a count of cards."""
    found = CATALOG.find_gpus(label)
    assert found.ids
    assert found == GpuMatch(CATALOG.find_gpus(base).ids, count)


@pytest.mark.parametrize("label", ["0x H100", "H100:0", "99999x H100", "x H100", "8x", "x8", "8x 8x H100"])
def test_counts_that_are_none(label: str) -> None:
    """A count of zero, of tens of thousands or of nothing makes the label unknown."""
    assert CATALOG.find_gpus(label) == GpuMatch((), 1)


def test_marks_belong_to_the_name() -> None:
    """`H100!` is an H100 where no card has the name for its own; `H100+` is never one."""
    assert normalise("H100!") == "h100!"
    assert normalise("B200+") == "b200+"
    assert CATALOG.find_gpus("T4!") == CATALOG.find_gpus("T4")
    assert CATALOG.find_gpus("T4+") == GpuMatch()
    assert set(CATALOG.find_gpus("H100!").ids) <= set(CATALOG.find_gpus("H100").ids)


def test_a_board_says_what_its_labels_mean() -> None:
    """A board's labels rule over the catalogue's, with counts and marks; other labels mean what they always do."""
    board = CATALOG.board("tensara-kl")
    for label in ("H100", "h100", "NVIDIA H100", "H100!"):
        assert CATALOG.find_gpus(label, board) == GpuMatch(("h100-sxm5-80gb",), 1)
    assert CATALOG.find_gpus("8x H100", board) == GpuMatch(("h100-sxm5-80gb",), 8)
    assert CATALOG.find_gpus("H100 PCIe", board) == GpuMatch(("h100-pcie-80gb",), 1)


def test_the_user_says_what_labels_mean() -> None:
    """The user's word rules over the board's and the catalogue's, and may name a card in any known way."""
    board = CATALOG.board("tensara-kl")
    said = {"h100": "h100-nvl-94gb", "our node": "8x Tesla T4", "any": "A10"}
    assert CATALOG.find_gpus("H100", board, said) == GpuMatch(("h100-nvl-94gb",), 1)
    assert CATALOG.find_gpus("H100:2", None, said) == GpuMatch(("h100-nvl-94gb",), 2)
    assert CATALOG.find_gpus("Our-Node", None, said) == GpuMatch(("t4",), 8)
    assert CATALOG.find_gpus("2x our node", None, said) == GpuMatch(("t4",), 16)
    assert CATALOG.find_gpus("any", None, said) == CATALOG.find_gpus("A10")
    with pytest.raises(UsageError, match=r"no GPU is called 'H1O0'; the nearest known names are "):
        CATALOG.find_gpus("x", None, {"x": "H1O0"})


def test_one_card_by_name() -> None:
    """A card is found by id, name or alias; a count takes so many as one."""
    for name in ("a10", "A10 24GB", "NVIDIA A10"):
        assert CATALOG.gpu(name).id == "a10"
    assert CATALOG.gpu("a10") is CATALOG.gpu("a10")
    eight = CATALOG.gpu("8x t4")
    assert (eight.cards, eight.bandwidth) == (8, 8 * CATALOG.gpu("t4").bandwidth)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("A10 ", "GPU 'A10 ' can mean 2 cards; name one of a10, a10g"),
        ("Tesla T5", "no GPU is called 'Tesla T5'; the nearest known names are"),
        ("q" * 500, f"no GPU is called '{'q' * 100}'; no known name is near it (klaudit gpus lists all)"),
    ],
)
def test_no_card_by_name(name: str, expected: str) -> None:
    """An ambiguous name lists its cards, an unknown one the nearest names."""
    with pytest.raises(UsageError) as caught:
        CATALOG.gpu(name)
    assert str(caught.value).startswith(expected)


def test_workloads_and_boards_by_name() -> None:
    """Workloads answer to aliases, boards to the ids of their eras, and mistakes to suggestions."""
    assert CATALOG.workload("KL_div").id == "kl-divergence"
    assert CATALOG.workload("GEMM").id == "matmul"
    board = CATALOG.board("Tensara-KL-2025")
    assert (board.id, [era.id for era in board.eras]) == ("tensara-kl-2025", ["tensara-kl-2025"])
    with pytest.raises(UsageError) as caught:
        CATALOG.workload("kl-divergense")
    assert str(caught.value) == (
        "no workload is called 'kl-divergense'; the nearest known are kl-divergence (klaudit workloads lists all)"
    )
    with pytest.raises(
        UsageError, match=r"no board is called 'tensara-kl-2024'; the nearest known are tensara-kl-2026"
    ):
        CATALOG.board("tensara-kl-2024")


def test_nearest_names_are_readable() -> None:
    """Suggestions are names as people write them, three at most, each of another card."""
    assert CATALOG.nearest("Telsa T4") == ("Tesla T4",)
    nearest = CATALOG.nearest("8x H1000")
    assert nearest[0] == "H100"
    assert len(nearest) <= 3
    matches = [CATALOG.find_gpus(name).ids for name in nearest]
    assert len(set(matches)) == len(matches)


@pytest.mark.parametrize(
    "label", [None, 4090, 3.5, b"H100", "x" * 10_000, "8x" * 5_000, "H100:" * 2_000, "\x00", "[red]"]
)
def test_labels_that_are_no_names(label: object) -> None:
    """Whatever stands in the file, a label gives an answer at once."""
    assert CATALOG.find_gpus(label) == GpuMatch((), 1)
    assert len(CATALOG.nearest(label)) <= 3


def test_no_name_is_claimed_twice() -> None:
    """An alias means one card over the whole catalogue, and no alias is another card's label."""
    check_names(INDEX)
    names = name_gpus(INDEX["gpus"])
    for alias, gpu_id in ALIASES:
        assert names[normalise(alias)] == (gpu_id,)


def test_a_name_of_nothing_is_refused() -> None:
    """An alias without letters and digits is an error of its file."""
    entry = {"file": "x.yaml", "name": "X", "aliases": ["--"], "labels": []}
    with pytest.raises(SpecError, match=r"x.yaml: '--' names nothing; a name has letters or digits"):
        name_gpus({"x": entry})  # type: ignore[dict-item]


@given(st.sampled_from(ALIASES), st.randoms(use_true_random=False))
def test_a_name_in_any_dress(alias: tuple[str, str], dice: random.Random) -> None:
    """Case, spaces and punctuation never change which card a name means."""
    name, gpu_id = alias
    dressed = "".join(
        dice.choice((c.lower(), c.upper())) + dice.choice(("", "", " ", "-", "_", "/", "(", "."))
        for c in name
        if c.isalnum() or c in "+!" or dice.random() < 0.5
    )
    found = CATALOG.find_gpus(dressed)
    assert found == GpuMatch((gpu_id,), 1)


@given(st.sampled_from(ALIASES), st.integers(0, 40), st.sampled_from("abcdefghijklmnopqrstuvwyz"))
def test_a_name_with_a_letter_more(alias: tuple[str, str], place: int, letter: str) -> None:
    """One letter more makes a name unknown, unless the result is a name of its own."""
    name = alias[0][:place] + letter + alias[0][place:]
    expected = name_gpus(INDEX["gpus"]).get(normalise(name), ())
    assert CATALOG.find_gpus(name).ids == expected


@given(st.text(max_size=40))
def test_any_text_is_answered(label: str) -> None:
    """No text breaks the search, and normalising twice changes nothing."""
    CATALOG.find_gpus(label)
    assert normalise(normalise(label)) == normalise(label)
