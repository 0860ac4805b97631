"""Public performance claims, honest and not: each gets the verdict that a careful reader of its thread gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from public_claims import CACHES, FORGED, HONEST, NOT_A_ROW, Claim

import klaudit
from klaudit.report import RowReport

CASES: dict[str, dict[str, Any]] = {
    case["id"]: case
    for case in yaml.safe_load((Path(__file__).parent / "data" / "public_cases.yaml").read_text(encoding="utf-8"))
}
# What may excuse an honest score above its roof, by the truth of its case.
EXCUSES = {
    "honest": {"overclock"},
    "flop-count": {"fewer-operations", "lower-precision"},
    "precision": {"lower-precision"},
}
# The ceiling of these is no card's DRAM rate or peak, or their figure is a fraction of a table.
OTHER_UNITS = {"kbhard-l2-flush", "tensara-kl-h100", "refkernels-162-conv2d-h100-rank1"}

Tally = Callable[[str, bool, str], None]


def name(claim: Claim) -> str:
    figures = (claim.rate, claim.bandwidth, claim.time)
    return "-".join([claim.case, claim.gpu.replace(" ", ""), *(f"{f:g}" for f in figures if f is not None)])


@pytest.fixture(scope="module")
def catalog() -> Any:
    return klaudit.load_catalog()


def judged(claim: Claim, catalog: Any) -> RowReport:
    """The report of one claim, through the public API."""

    def column(value: float | None) -> list[float] | None:
        return None if value is None else [value]

    row = klaudit.Leaderboard.from_arrays(
        gpu=claim.gpu,
        rate=column(claim.rate),
        time=column(claim.time),
        bandwidth=column(claim.bandwidth),
        dtype=claim.dtype,
        sizes={size: [value] for size, value in claim.sizes.items()},
        work={count: [value] for count, value in claim.work.items()},
        half_digit=claim.half_digit,
    )
    board = catalog.board(claim.board) if claim.board else None
    return klaudit.explain(row, catalog, board, klaudit.Policy(workload=claim.workload)).report


@pytest.mark.parametrize("claim", [c for c in HONEST if c.expected == "within-ceiling"], ids=name)
def test_honest_scores_are_within_or_excused_by_what_really_happened(claim: Claim, catalog: Any, tally: Tally) -> None:
    """An honest score is at or below its roof, unless its thread says why not: a faster clock, fewer operations."""
    report = judged(claim, catalog)
    tally("public cases", True, str(report.verdict))
    if report.verdict is not klaudit.Verdict.WITHIN:
        excuses = EXCUSES.get(CASES[claim.case]["truth"], set())
        assert report.verdict is klaudit.Verdict.CONDITIONAL, report.message
        assert set(report.conditions) <= excuses, report.message
        assert_named(claim, report)


@pytest.mark.parametrize("claim", [c for c in HONEST if c.expected == "needs-cache"], ids=name)
def test_cache_resident_runs_are_conditional_by_the_caches(claim: Claim, catalog: Any, tally: Tally) -> None:
    """A run out of a cache is above the DRAM roof, possible, and possible by resident bytes alone."""
    report = judged(claim, catalog)
    tally("public cases", True, str(report.verdict))
    assert report.verdict is klaudit.Verdict.CONDITIONAL, report.message
    assert report.conditions
    assert set(report.conditions) <= CACHES, report.message
    assert report.cached_share is not None
    assert 0 < report.cached_share <= 1
    assert_named(claim, report)


@pytest.mark.parametrize("claim", [c for c in HONEST if c.expected == "ambiguous-variant"], ids=name)
def test_ambiguous_claims_are_never_impossible(claim: Claim, catalog: Any, tally: Tally) -> None:
    """Where card, clock, number format or algorithm are open, a score is conditional or within."""
    report = judged(claim, catalog)
    tally("public cases", True, str(report.verdict))
    assert report.verdict in (klaudit.Verdict.WITHIN, klaudit.Verdict.CONDITIONAL), report.message
    assert_named(claim, report)


@pytest.mark.parametrize("claim", FORGED, ids=name)
def test_impossible_claims_are_called_so(claim: Claim, catalog: Any, tally: Tally) -> None:
    """No set of conditions excuses these, or their own figures contradict each other."""
    report = judged(claim, catalog)
    tally("public cases", False, str(report.verdict))
    assert report.verdict >= klaudit.Verdict.IMPOSSIBLE, report.message


def assert_named(claim: Claim, report: RowReport) -> None:
    """The sets that the case's truth names are among the smallest that suffice."""
    smallest = {frozenset(report.conditions), *map(frozenset, report.alternatives)}
    assert set(claim.named) <= smallest, report.message


def test_every_case_is_tested_or_listed_with_its_reason_and_none_is_both() -> None:
    """All 55 cases of the file are accounted for."""
    tested = {claim.case for claim in (*HONEST, *FORGED)}
    assert len(CASES) == 55
    assert tested | set(NOT_A_ROW) == set(CASES)
    assert not tested & set(NOT_A_ROW)
    assert {c.case for c in HONEST}.isdisjoint(c.case for c in FORGED)
    assert all(NOT_A_ROW.values())


@pytest.mark.parametrize("case", sorted({claim.case for claim in (*HONEST, *FORGED)}))
def test_the_rows_of_a_case_hold_its_own_verdict_and_its_own_figure(case: str) -> None:
    """What is tested is what the file says: its expected verdict, and the figure that its arithmetic implies."""
    rows = [c for c in (*HONEST, *FORGED) if c.case == case]
    assert CASES[case]["expected_verdict"] in {c.expected for c in rows}
    check = CASES[case].get("check")
    if check is None or case in OTHER_UNITS:
        return
    scale = {"GB/s": 1e9, "TFLOP/s": 1e12, "GFLOP/s": 1e9}[check["unit"]]
    if check["unit"] == "GB/s":
        moved = [sum(c.work.values()) / c.time for c in rows if c.time and "reads" in c.work]
        figures = [*moved, *(c.bandwidth for c in rows if c.bandwidth)]
    else:
        figures = [c.rate for c in rows if c.rate]
    assert any(figure == pytest.approx(check["implied"] * scale, rel=2e-3) for figure in figures)
