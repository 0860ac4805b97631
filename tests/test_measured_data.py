"""The judge over measurements whose truth is known: no honest row accused, the forgeries found as far as physics can.

Files go in through the real CSV reader. What is expected is what the files and their README say, or arithmetic that
the docstrings give.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import klaudit
from klaudit.readers import ReadOptions
from klaudit.report import RowReport
from klaudit.verdict import Verdict

DATA = Path(__file__).parent / "data"
BOARD_2025 = DATA / "h200" / "board_2025.csv"
KL_RUNS = DATA / "h200" / "kl_runs.csv"
CEILINGS = DATA / "h200" / "ceilings.csv"
COMPRESSIBLE = DATA / "h200" / "compressible.csv"
SAMPLE = DATA / "public_raw_sample.csv"

CACHES = {"write-back", "inputs-resident"}
BOTH_CACHES = ("write-back", "inputs-resident")
ACCUSED = (Verdict.IMPOSSIBLE, Verdict.INCONSISTENT)
H200 = klaudit.Policy(gpu="H200")

Tally = Callable[[str, bool, str], None]
Row = Mapping[str, str]


@pytest.fixture(scope="module")
def catalog() -> Any:
    return klaudit.load_catalog()


def rows_of(path: Path) -> list[Row]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: Iterable[Row], headers: Sequence[str]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, headers, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


def judge(
    path: Path,
    catalog: Any,
    board: str = "",
    policy: klaudit.Policy | None = None,
    columns: Mapping[str, str] | None = None,
) -> list[RowReport]:
    """Every row's report, in the order of the file."""
    rules = catalog.board(board) if board else None
    batches = klaudit.read(path, ReadOptions(columns=columns or {}, board=rules))
    return list(klaudit.audit_batches(batches, catalog, rules, policy, keep_rows=True).rows())


def judge_text(text: str, folder: Path, catalog: Any, board: str = "", **policy: Any) -> list[RowReport]:
    """The reports of a small table written out in a test."""
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return judge(path, catalog, board, klaudit.Policy(**policy))


# -- one board on an H200: 90 honest kernels, 11 exploits ------------------------------------------------------------

CASE_TIMES = [f"N={2**k}_ms" for k in (20, 22, 24, 26)] + ["Sparse_targets_ms"]


def judge_board(columns: Sequence[str], folder: Path, catalog: Any, tally: Tally) -> tuple[Counter[str], Any]:
    """The exploits' verdicts, counted and by entry, where only some columns are published; no honest row is flagged."""
    rows = rows_of(BOARD_2025)
    path = write(folder / "board.csv", rows, ["entry", *columns])
    reports = judge(path, catalog, "tensara-kl-2025", H200)
    honest = [report for row, report in zip(rows, reports, strict=True) if row["truth"] == "honest"]
    exploits = {r.entry: r for row, r in zip(rows, reports, strict=True) if row["truth"] != "honest"}
    source = "H200 board, all cases" if len(columns) > 2 else f"H200 board, {' and '.join(columns)}"
    for report in honest:
        tally(source, True, str(report.verdict))
    for report in exploits.values():
        tally(source, False, str(report.verdict))
    assert len(honest) == 90
    assert len(exploits) == 11
    assert [r.entry for r in honest if r.verdict is not Verdict.WITHIN] == []
    return Counter(str(r.verdict) for r in exploits.values()), exploits


def test_case_by_case_ten_exploits_are_impossible_and_one_is_conditional(
    tmp_path: Path, catalog: Any, tally: Tally
) -> None:
    """At 2^26 each exploit beats the roof: ten beyond any cache, x_scale/b1024 with both caches full of its data."""
    columns = [*CASE_TIMES, "mean_gflops", "mean_runtime_ms", "geomean_runtime_ms"]
    counts, exploits = judge_board(columns, tmp_path, catalog, tally)
    assert counts == {"impossible": 10, "conditional": 1}
    assert exploits["x_scale/b1024"].conditions == BOTH_CACHES
    for report in exploits.values():
        assert report.worst_case == "N=67108864"
        assert report.message.startswith("N=67108864: ")


def test_both_averages_together_show_nine_of_the_exploits(tmp_path: Path, catalog: Any, tally: Tally) -> None:
    """Mean rate and mean time of one run: nine errors, and the two x_scale need both caches at once."""
    counts, exploits = judge_board(["mean_gflops", "mean_runtime_ms"], tmp_path, catalog, tally)
    assert counts["impossible"] + counts["inconsistent"] == 9
    conditional = {entry: r.conditions for entry, r in exploits.items() if r.verdict is Verdict.CONDITIONAL}
    assert conditional == {"x_scale/b256": BOTH_CACHES, "x_scale/b1024": BOTH_CACHES}


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("mean_runtime_ms", {"impossible": 8, "conditional": 2, "within": 1}),
        ("mean_gflops", {"impossible": 3, "conditional": 4, "within": 4}),
    ],
)
def test_one_average_alone_hides_some(
    column: str, expected: dict[str, int], tmp_path: Path, catalog: Any, tally: Tally
) -> None:
    """Of the 11 exploits the mean of times shows eight impossible and two conditional, the mean of rates 3 and 4."""
    counts, _ = judge_board([column], tmp_path, catalog, tally)
    assert counts == expected


# -- single kernels on the same card ---------------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["median_us", "min_us", "mean_us"])
def test_no_honest_kernel_is_above_its_roof(column: str, catalog: Any, tally: Tally) -> None:
    """152 honest runs by five timing methods, by median, minimum and mean: all at or below the roof."""
    rows = rows_of(KL_RUNS)
    policy = klaudit.Policy(gpu="H200", workload="kl-divergence")
    reports = judge(KL_RUNS, catalog, policy=policy, columns={"time": column, "entry": "kernel"})
    flagged = []
    for row, report in zip(rows, reports, strict=True):
        honest = row["honest"] == "1"
        tally(f"H200 kernels, {column}", honest, str(report.verdict))
        if honest and report.verdict is not Verdict.WITHIN:
            flagged.append(report.message)
    assert sum(row["honest"] == "1" for row in rows) == 152
    assert flagged == []


def test_kernels_that_write_nothing_or_zeros_cannot_hide_at_the_largest_size(catalog: Any) -> None:
    """At 2^26 an empty kernel, one that reads nothing and one that does an eighth are impossible, however timed.

    805 MB take 163.8 us, and 138.2 us with both caches full; zeros alone take 64 us and an eighth about 30 us.
    """
    policy = klaudit.Policy(gpu="H200", workload="kl-divergence")
    reports = judge(KL_RUNS, catalog, policy=policy, columns={"time": "median_us", "entry": "kernel"})
    names = ("empty", "zeros_v4", "eighth")
    largest = [
        report
        for row, report in zip(rows_of(KL_RUNS), reports, strict=True)
        if row["n"] == str(2**26) and (row["kernel"] in names or row["harness"] == "host")
    ]
    assert len(largest) >= 3
    assert {report.verdict for report in largest} == {Verdict.IMPOSSIBLE}


# What of the bytes that a kernel moves it reads and writes.
SPLITS = {
    "rd": (1.0, 0.0),
    "wr": (0.0, 1.0),
    "copy": (1 / 2, 1 / 2),
    "triad": (2 / 3, 1 / 3),
    "l2_read_loop": (1.0, 0.0),
}


@pytest.mark.parametrize("column", ["median_us", "min_us"])
def test_the_ceilings_of_a_card_are_not_above_its_roof(column: str, tmp_path: Path, catalog: Any, tally: Tally) -> None:
    """Reads, writes, copies and triads of 1 kB to 2 GB, cold, warm and back to back: possible, at most by the caches.

    The loop over 40 MiB in the cache counts here with the bytes it must touch once, not with its re-reads.
    """
    rows = [row for row in rows_of(CEILINGS) if row["what"] in SPLITS]
    streams = [
        {
            "entry": f"{row['what']} {row['bytes']} {row['harness']}",
            "read_bytes": str(round(int(row["bytes"]) * SPLITS[row["what"]][0])),
            "write_bytes": str(round(int(row["bytes"]) * SPLITS[row["what"]][1])),
            "time_us": row[column],
        }
        for row in rows
    ]
    path = write(tmp_path / "streams.csv", streams, list(streams[0]))
    reports = judge(path, catalog, policy=H200)
    assert len(reports) == 4 * 52 + 13
    for report in reports:
        tally(f"H200 ceilings, {column}", True, str(report.verdict))
        assert report.verdict in (Verdict.WITHIN, Verdict.CONDITIONAL), report.message
        assert set(report.conditions) <= CACHES, report.message


def test_compressed_memory_is_impossible_until_it_is_allowed(catalog: Any, tally: Tally) -> None:
    """Constant data in memory allocated as compressible reads at 6.9 TB/s: a fact of the allocation, not of the row."""
    rows = rows_of(COMPRESSIBLE)
    compressed = [row["data"] == "constant" and "granted" in row["allocation"] for row in rows]
    above = [flag and row["kernel"] in ("read", "copy") for flag, row in zip(compressed, rows, strict=True)]
    assert sum(above) == 2
    default = judge(COMPRESSIBLE, catalog, columns={"gpu": "gpu_id"})
    allowed = klaudit.Policy(allowed=frozenset({"compressed-data"}))
    excused = judge(COMPRESSIBLE, catalog, policy=allowed, columns={"gpu": "gpu_id"})
    for beats, before, after in zip(above, default, excused, strict=True):
        tally("H200 compressible, allowed", True, str(after.verdict))
        if beats:
            assert before.verdict is Verdict.IMPOSSIBLE
            assert (after.verdict, after.conditions) == (Verdict.CONDITIONAL, ("compressed-data",))
        else:
            assert {before.verdict, after.verdict} <= {Verdict.WITHIN, Verdict.CONDITIONAL}


# -- honest measurements of others -----------------------------------------------------------------------------------


def test_public_streams_are_possible_and_above_the_roof_only_by_caches(
    tmp_path: Path, catalog: Any, tally: Tally
) -> None:
    """880 public streams by bytes and time: none accused, and what is above its card's bandwidth needs the caches."""
    streams = [row for row in rows_of(SAMPLE) if row["class"] == "stream"]
    path = write(tmp_path / "streams.csv", streams, ["kernel", "gpu_id", "read_bytes", "write_bytes", "time_us"])
    reports = judge(path, catalog)
    assert len(reports) == 880
    for row, report in zip(streams, reports, strict=True):
        tally("public streams", True, str(report.verdict))
        moved = int(row["read_bytes"]) + int(row["write_bytes"])
        if moved / (float(row["time_us"]) * 1e-6) <= catalog.gpu(row["gpu_id"]).bandwidth:
            assert report.verdict is Verdict.WITHIN, report.message
        else:
            assert report.verdict is Verdict.CONDITIONAL, report.message
            assert set(report.conditions) <= CACHES, report.message


@pytest.mark.parametrize("label", ["gpu_id", "gpu_as_written"])
def test_the_whole_public_sample_holds_no_accusation(label: str, catalog: Any, tally: Tally) -> None:
    """All 900 rows with the bandwidths they print: none accused; bytes that were read again are not judged."""
    rows = rows_of(SAMPLE)
    reports = judge(SAMPLE, catalog, columns={"gpu": label, "traffic": "class"})
    for row, report in zip(rows, reports, strict=True):
        tally(f"public sample by {label}", True, str(report.verdict))
        assert report.verdict not in ACCUSED, report.message
        if row["class"] == "reuse":
            assert report.verdict is Verdict.UNJUDGED
            assert "not-compulsory" in report.rules
        elif label == "gpu_id":
            assert report.verdict is not Verdict.UNJUDGED, report.message
    assert sum(row["class"] == "reuse" for row in rows) == 20


# -- figures that boards print ---------------------------------------------------------------------------------------


def test_a_moved_decimal_point_is_named(tmp_path: Path, catalog: Any) -> None:
    """2390.3 GFLOPS and 0.37 ms cannot be of one run: the time allows 202 to about 500, where 239.03 lies."""
    text = "entry,gpu,date,gflops,runtime\na,H100,2025-12-20,2390.3 GFLOPS,0.37 ms\n"
    (report,) = judge_text(text, tmp_path, catalog, "tensara-matrix-scalar")
    assert report.verdict is Verdict.INCONSISTENT
    assert "figures-disagree" in report.rules
    assert "10 times too large" in report.message


def test_few_digits_are_given_the_benefit_of_their_rounding(tmp_path: Path, catalog: Any) -> None:
    """1.14 TFLOPS with 0.14 ms and 1.4 TFLOPS with 0.16 ms, as public entries print them, are within."""
    text = (
        "entry,gpu,date,performance,runtime\n"
        "a,H100,2025-12-20,1.14 TFLOPS,0.14 ms\n"
        "b,H100,2025-12-20,1.4 TFLOPS,0.16 ms\n"
    )
    reports = judge_text(text, tmp_path, catalog, "tensara-kl")
    assert [report.verdict for report in reports] == [Verdict.WITHIN, Verdict.WITHIN]


def test_a_convolution_above_the_scalar_peak_is_only_conditional(tmp_path: Path, catalog: Any) -> None:
    """1.699e12 operations in 19.8 or 18.9 ms are 86 and 90 TFLOP/s: above 67 in float32, not above TF32 or an FFT."""
    text = "entry,gpu,runtime\nsecond,H100,19.8 ms\nfirst,H100,18.9 ms\n"
    for report in judge_text(text, tmp_path, catalog, "gpumode-conv2d"):
        assert report.verdict is Verdict.CONDITIONAL
        smallest = {report.conditions, *report.alternatives}
        assert smallest == {("lower-precision",), ("fewer-operations",)}


@pytest.mark.parametrize("dtype", ["float32", ""])
def test_no_time_at_all_is_impossible_for_64_mi_elements_on_any_card(dtype: str, tmp_path: Path, catalog: Any) -> None:
    """0.000 us stands for at most half a nanosecond: no card moves what 2^26 elements need, even between caches."""
    text = "gpu,n,runtime\n" + "".join(f"{card},{2**26},0.000 us\n" for card in catalog.gpu_ids)
    reports = judge_text(text, tmp_path, catalog, workload="kl-divergence", dtype=dtype)
    assert len(reports) == len(catalog.gpu_ids) >= 47
    assert [r.gpu for r in reports if r.verdict is not Verdict.IMPOSSIBLE] == []


def test_a_floor_under_one_step_of_the_clock_is_conditional_by_it(tmp_path: Path, catalog: Any) -> None:
    """786 kB take 0.1 to 0.44 us, under a step of the event clock: one run may show 0.000 us, an average may not."""
    cards = ("H100 SXM5", "H200", "RTX 5090")
    text = "gpu,n,runtime,runs\n" + "".join(f"{card},{2**16},0.000 us,1\n" for card in cards)
    for report in judge_text(text, tmp_path, catalog, workload="kl-divergence", dtype="float32"):
        assert (report.verdict, report.conditions) == (Verdict.CONDITIONAL, ("timer-tick",))
    averaged = f"gpu,n,runtime,runs\nH100 SXM5,{2**16},0.000 us,20\n"
    (report,) = judge_text(averaged, tmp_path, catalog, workload="kl-divergence", dtype="float32")
    assert report.verdict is Verdict.IMPOSSIBLE


@pytest.mark.parametrize(
    ("row", "conditions"),
    [
        # 2050 of 1792 GB/s after a flush: one cache of output need not have reached the memory.
        (f"RTX 5090,0,{16 * 2**20},2.050 TB/s", ("write-back",)),
        # 4.09 times the DRAM rate out of 96 MiB that hold both: either alone leaves 29 us, twice the 14.26.
        (f"L40S,{24 * 2**20},{24 * 2**20},3530 GB/s", BOTH_CACHES),
    ],
)
def test_cached_streams_name_what_was_cached(
    row: str, conditions: tuple[str, ...], tmp_path: Path, catalog: Any
) -> None:
    """A fill of 16 MiB at 114 % of an RTX 5090, and 24 MiB in and out at 3530 GB/s on an L40S."""
    (report,) = judge_text(f"gpu,read_bytes,write_bytes,bandwidth\n{row}\n", tmp_path, catalog)
    assert (report.verdict, report.conditions) == (Verdict.CONDITIONAL, conditions)


# Best dense rate of a floating-point format, as processors x operations a clock x highest clock, or as published.
BEST_DENSE = {
    "V100-SXM2": 80 * 1024 * 1530e6,
    "T4": 40 * 1024 * 1590e6,
    "A100 80GB": 312e12,
    "H100 SXM5": 132 * 8192 * 1980e6,
    "H200": 132 * 8192 * 1980e6,
    "L40S": 142 * 2048 * 2520e6,
    "MI250X GCD": 191.5e12,
    "MI300X": 2614.9e12,
    "Intel Data Center GPU Max 1550": 839e12,
}


@pytest.mark.parametrize("dtype", ["float32", "float16", "float8"])
@pytest.mark.parametrize("card", sorted(BEST_DENSE))
def test_a_product_of_matrices_at_three_times_the_best_rate_is_impossible(
    card: str, dtype: str, tmp_path: Path, catalog: Any
) -> None:
    """Strassen's scheme saves less than a factor of three at 4096, so no format and no algorithm explains the rate."""
    tflops = 3 * BEST_DENSE[card] / 1e12
    text = f"gpu,m,n,k,dtype,rate\n{card},4096,4096,4096,{dtype},{tflops:.2f} TFLOPS\n"
    (report,) = judge_text(text, tmp_path, catalog, workload="matmul")
    assert report.verdict is Verdict.IMPOSSIBLE, report.message


def test_owners_may_overclock_their_card_and_clouds_do_not(tmp_path: Path, catalog: Any) -> None:
    """The same threefold rate on an RTX 4090 needs an overclock besides; without it no set is enough."""
    best = 128 * 2048 * 3105e6
    text = f"gpu,m,n,k,dtype,rate\nRTX 4090,4096,4096,4096,float16,{3 * best / 1e12:.2f} TFLOPS\n"
    (report,) = judge_text(text, tmp_path, catalog, workload="matmul")
    assert report.verdict is Verdict.CONDITIONAL
    assert "overclock" in report.conditions
    (report,) = judge_text(text, tmp_path, catalog, workload="matmul", ruled_out=frozenset({"overclock"}))
    assert report.verdict is Verdict.IMPOSSIBLE, report.message
