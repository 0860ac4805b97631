"""Report nouns made by hand, for the tests of the formats: nothing here was judged."""

from __future__ import annotations

from klaudit.report import Audit, CaseReport, Reported, RowReport, Summary, Suppressed
from klaudit.verdict import CONDITION_IDS, Verdict

HOSTILE = "[red]x[/red]\x1b[31m\r\n::error::no\x00\u202egnp.exe ##[add-mask]a"
LONG = "long" * 2500

ALLOWED = tuple(c for c in CONDITION_IDS if c != "compressed-data")


def row(**changes: object) -> RowReport:
    """A row that is within, with some fields changed."""
    plain = RowReport(
        source="board.csv",
        line=2,
        entry="honest/v4",
        gpu="H200",
        variants=("h200-sxm",),
        variant="h200-sxm",
        board="tensara-kl-2025",
        workload="kl-divergence",
        dtype="float32",
        verdict=Verdict.WITHIN,
        reported=(rate(1518.26e9, 0.5294),),
        roof_name="dram",
        ratio=0.5294,
        limit_ratio=0.1881,
        conditions=(),
        alternatives=(),
        cached_share=None,
        rules=(),
        worst_case="N=67108864",
        message="mean of 5 cases, 1.518 TFLOP/s reported, roof 2.868 TFLOP/s (dram 4.917 TB/s): 0.529 x the roof",
    )
    return plain._replace(**changes)  # type: ignore[arg-type]


def rate(value: float, ratio: float) -> Reported:
    """A mean rate on an H200, under the roof and limit of the KL board."""
    return Reported(
        "rate", "mean", value, value, value, 2868.1e9, 8072.7e9, ratio, value / 8072.7e9, header="mean_gflops"
    )


def time(value: float) -> Reported:
    """A mean time on an H200."""
    return Reported("time", "mean", value, value, value, 44.018e-6, 31.512e-6, 44.018e-6 / value, 31.512e-6 / value)


WITHIN = row()
CONDITIONAL = row(
    line=7,
    entry="x_scale/b1024",
    verdict=Verdict.CONDITIONAL,
    reported=(rate(3757e9, 1.30993), time(48.2e-6)),
    ratio=1.30993,
    limit_ratio=0.65376,
    conditions=("write-back", "inputs-resident"),
    alternatives=(("write-back", "faster-variant"),),
    cached_share=0.9312,
    rules=("above-dram-roof",),
    message="N=67108864: 805.3 MB in 141.2 us is 5.703 TB/s, 1.16 x the roof (dram 4.917 TB/s, 163.8 us); possible"
    " only with write-back and inputs-resident (0.93 of the 62.91 MB cache)",
    cases=(
        CaseReport("N=1048576", {"n": 2.0**20}, 15.5e-6, 2.559e-6, 1e-6, 0.1651, 0.0645, Verdict.WITHIN, ()),
        CaseReport(
            "N=67108864", {"n": 2.0**26}, 141.2e-6, 163.79e-6, 138.2e-6, 1.16, 0.9788, Verdict.CONDITIONAL,
            ("write-back", "inputs-resident"),
        ),
    ),
)  # fmt: skip
IMPOSSIBLE = row(
    line=8,
    entry="skip-dense+v4f",
    gpu="H100",
    variants=("h100-pcie-80gb", "h100-sxm5-80gb", "h100-nvl-94gb", "h200-sxm"),
    verdict=Verdict.IMPOSSIBLE,
    reported=(rate(43641e9, 15.216),),
    ratio=15.216,
    limit_ratio=5.406,
    rules=("impossible", "above-measured"),
    message="mean of 5 cases, 43.64 TFLOP/s reported, roof 2.868 TFLOP/s (dram 4.917 TB/s): 15.2 x the roof; even with"
    " write-back and inputs-resident the limit is 8.073 TFLOP/s",
    notes=("above the best measured figure, 4.38 TB/s",),
)
INCONSISTENT = row(
    line=9,
    entry="moved point",
    verdict=Verdict.INCONSISTENT,
    reported=(rate(2390.3e9, 0.8334), time(370e-6)),
    ratio=0.8334,
    limit_ratio=0.2961,
    rules=("figures-disagree",),
    worst_case="",
    message="mean rate 2.39 TFLOP/s and mean time 370 us cannot be of one run; with the rate 10 times too large (a"
    " moved decimal point) they agree, below the roof",
)
UNJUDGED = row(
    line=10,
    entry="",
    gpu="H20O",
    variants=(),
    variant="",
    verdict=Verdict.UNJUDGED,
    reported=(),
    roof_name="",
    ratio=None,
    limit_ratio=None,
    rules=("unknown-gpu",),
    worst_case="",
    message="'H20O' names no card of the catalogue; the nearest known names are H200, H100, A100",
)
HOSTILE_ROW = row(
    line=11,
    entry=HOSTILE,
    gpu=HOSTILE,
    variants=(),
    verdict=Verdict.UNJUDGED,
    reported=(),
    roof_name="",
    ratio=None,
    limit_ratio=None,
    rules=("unknown-gpu",),
    worst_case=HOSTILE,
    message=f"{HOSTILE!s} names no card of the catalogue",
    notes=(LONG,),
)
ROWS = (WITHIN, CONDITIONAL, IMPOSSIBLE, INCONSISTENT, UNJUDGED, HOSTILE_ROW)
# What the goldens show: everything but the hostile row, which has tests of its own.
PLAIN_ROWS = ROWS[:-1]


def audit(rows: tuple[RowReport, ...] = PLAIN_ROWS, **changes: object) -> Audit:
    """An audit of those rows."""
    total = Summary()
    by_gpu: dict[str, Summary] = {}
    for r in rows:
        for summary in (total, by_gpu.setdefault(r.gpu, Summary())):
            summary.counts[r.verdict] += 1
            summary.above_measured += "above-measured" in r.rules
    plain = Audit(
        version="0.1.0",
        specs_date="2026-01-31",
        specs_sha256="0123456789abcdef" * 4,
        sources=("board.csv",),
        board="tensara-kl-2025",
        workload="kl-divergence",
        ruled_out=("compressed-data",),
        allowed=ALLOWED,
        summary=total,
        by_gpu=by_gpu,
        findings=tuple(r for r in rows if r.verdict is not Verdict.WITHIN),
        findings_left_out=0,
        rows=lambda: iter(rows),
        suppressed=Suppressed(Summary(), ()),
        remarks=("3 rows have no date: the most lenient era decided",),
    )
    return plain._replace(**changes)  # type: ignore[arg-type]
