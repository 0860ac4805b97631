"""Headers: names, units and averages, and which column is which."""

from __future__ import annotations

import pytest

from klaudit.board import Board, Case, Era, Harness, Scoring
from klaudit.errors import InputError, UsageError
from klaudit.readers.fields import Layout, plan_columns
from klaudit.readers.headers import figure_kinds, normalise, read_header
from klaudit.readers.options import ReadOptions

BOARD = Board(
    "b",
    "B",
    "kl-divergence",
    (),
    cases=(
        Case("N=1048576", {"n": 1048576}),
        Case("N=4194304", {"n": 4194304}),
        Case("Sparse targets", {"n": 1048576}, aliases=("sparse",)),
        Case("max size", {"n": 2.0**30}),
    ),
)


def plan(*headers: str, board: Board | None = None, **columns: str) -> Layout:
    return plan_columns(headers, ReadOptions(columns=columns, board=board))


def figures(layout: Layout) -> list[tuple[str, str | None, str | None]]:
    return [(f.kinds[0] if len(f.kinds) == 1 else "?", f.rule, f.case) for f in layout.figures]


@pytest.mark.parametrize(
    ("header", "kind", "scale"),
    [
        ("Runtime (ms)", "time", 1e-3),
        ("time_us", "time", 1e-6),
        ("latency_ms", "time", 1e-3),
        ("time [μs]", "time", 1e-6),
        ("runtimeMs", "time", 1e-3),
        ("duration in ns", "time", 1e-9),
        ("time / s", "time", 1.0),
        ("GPU Time (sec)", "time", 1.0),
        ("ms", "time", 1e-3),
        ("score_us", "time", 1e-6),
        ("Runtime (ms, mean)", "time", 1e-3),
        ("time_ms_avg", "time", 1e-3),
        ("GFLOPS", "rate", 1e9),
        ("GFLOP/s", "rate", 1e9),
        ("tflops", "rate", 1e12),
        ("mean_gflops", "rate", 1e9),
        ("Performance (TFLOP/s)", "rate", 1e12),
        ("reported_gb_s", "bandwidth", 1e9),
        ("gb_per_s", "bandwidth", 1e9),
        ("bandwidth (GiB/s)", "bandwidth", 2**30),
        ("GlobalMem BW (bytes/sec)", "bandwidth", 1.0),
        ("bytes_per_second", "bandwidth", 1.0),
        ("Throughput [GB/s]", "bandwidth", 1e9),
    ],
)
def test_header_says_kind_and_unit(header: str, kind: str, scale: float) -> None:
    """A figure's kind and unit are read from the header, however it is punctuated."""
    read = read_header(header)
    assert figure_kinds(read) == (kind,)
    assert read.unit is not None
    assert read.unit.scale == pytest.approx(scale, rel=1e-15)


@pytest.mark.parametrize(
    "header",
    [
        "CPU Time (sec)",
        "compile_time_s",
        "torch_ms",
        "Elem/s (elem/sec)",
        "tokens/s",
        "throughput (tokens/s)",
        "memory_gb",
        "created",
        "harmonic mean (ms)",
        "mean of totals (ms)",
        "gbps",
        "speed/s",
        "time_gflops",
        "mean",
        "",
    ],
)
def test_what_is_not_understood_is_no_figure(header: str) -> None:
    """A unit alone makes no figure of words that nobody knows."""
    assert figure_kinds(read_header(header)) == ()


@pytest.mark.parametrize(
    ("header", "rule"),
    [
        ("mean_runtime_ms", "mean"),
        ("Average time (us)", "mean"),
        ("avg_gflops", "mean"),
        ("Geometric mean runtime (ms)", "geomean"),
        ("geo_mean_ms", "geomean"),
        ("gmean time us", "geomean"),
        ("total_time_ms", "total"),
        ("sum (ms)", "total"),
        ("runtime_ms", None),
    ],
)
def test_words_of_the_average(header: str, rule: str | None) -> None:
    """mean, geomean and total name the rule; without them the board's rule holds."""
    read = read_header(header)
    assert read.rule == rule
    assert figure_kinds(read)
    assert not read.is_statistic


@pytest.mark.parametrize("word", ["min", "max", "std", "p50", "p90", "p99", "median", "best", "worst"])
@pytest.mark.parametrize("form", ["{}_us", "time_{}_us", "{} time (us)", "Runtime ({}, us)"])
def test_statistics_never_stand_for_the_time(word: str, form: str) -> None:
    """A minimum or a percentile is a figure only when the user names it."""
    header = form.format(word)
    with pytest.raises(InputError, match="taken only when named: --column time="):
        plan("gpu", header)
    assert figures(plan("gpu", header, time=header)) == [("time", None, None)]


def test_names_ignore_case_spaces_and_punctuation() -> None:
    """The same name in four spellings is one name."""
    assert {normalise(h) for h in ("GPU Type", "gpu_type", "gpuType", "Gpu-Type:")} == {"gputype"}


def test_a_mean_and_a_geomean_are_two_figures() -> None:
    """Both averages of the time are kept, each with its rule."""
    layout = plan("mean_gflops", "mean_runtime_ms", "geomean_runtime_ms")
    assert figures(layout) == [("rate", "mean", None), ("time", "mean", None), ("time", "geomean", None)]


def test_two_columns_with_one_claim_name_the_option() -> None:
    """Two times are refused with both headers and the option to write; naming one takes only that one."""
    with pytest.raises(InputError) as error:
        plan("entry", "runtime_ms", "Latency (us)")
    assert str(error.value) == (
        "columns 'runtime_ms' and 'Latency (us)' both claim the time; say which one is meant: --column time=runtime_ms"
    )
    assert [f.header for f in plan("runtime_ms", "Latency (us)", time="latency (US)").figures] == ["Latency (us)"]


def test_the_named_time_is_the_only_one() -> None:
    """With `--column time=median_us` a mean beside it is no second time, and a rate stays."""
    layout = plan("median_us", "min_us", "mean_us", "max_us", "gflops", time="median_us")
    assert [(f.header, f.rule) for f in layout.figures] == [("median_us", None), ("gflops", None)]


def test_a_named_header_may_bring_its_unit() -> None:
    """`--column "time=score (s)"` says the unit that the file does not."""
    (figure,) = plan("user", "score", time="score (s)").figures
    assert figure.unit is not None
    assert (figure.kinds, figure.unit.text) == (("time",), "s")


def test_case_columns() -> None:
    """A header that is a case's name or alias, with or without unit and words, is that case's figure."""
    layout = plan(
        "N=1048576_ms", "N=4194304", "Sparse_targets_ms", "N=4194304 gflops", "n 1048576 (GB/s)", "sparse gflops",
        "N=1048576 min (ms)", "max size (ms)", board=BOARD,
    )  # fmt: skip
    assert figures(layout) == [
        ("time", None, "N=1048576"),
        ("?", None, "N=4194304"),
        ("time", None, "Sparse targets"),
        ("rate", None, "N=4194304"),
        ("bandwidth", None, "N=1048576"),
        ("rate", None, "Sparse targets"),
        ("time", None, "max size"),
    ]


def test_words_around_a_case() -> None:
    """`N=1048576_mean_runtime_ms` is the case's time."""
    assert figures(plan("N=1048576_mean_runtime_ms", board=BOARD)) == [("time", None, "N=1048576")]


def test_case_columns_need_the_board() -> None:
    """Without a board they cannot be judged, and the error says what names them."""
    with pytest.raises(InputError, match=r"look like the cases of a board: name it with --board"):
        plan("entry", "N=1048576_ms", "N=4194304_ms")


def test_one_case_twice_is_refused() -> None:
    """Two times of one case exclude each other."""
    with pytest.raises(InputError, match=r"both claim the time of Sparse targets"):
        plan("sparse_ms", "Sparse targets (us)", board=BOARD)


@pytest.mark.parametrize(
    ("headers", "field", "chosen"),
    [
        (("gpu_id", "gpu_as_written"), "gpu", "gpu_as_written"),
        (("gpu_id",), "gpu", "gpu_id"),
        (("Device", "Device Name"), "gpu", "Device Name"),
        (("submission_id", "submission_name", "user_name"), "entry", "user_name"),
        (("kernel",), "entry", "kernel"),
        (("createdAt", "date"), "date", "createdAt"),
        (("data type",), "dtype", "data type"),
    ],
)
def test_the_better_name_wins(headers: tuple[str, ...], field: str, chosen: str) -> None:
    """Where a file has several columns for a word, the better name is taken, whatever the order."""
    for order in (headers, headers[::-1]):
        layout = plan(*order, "time_us")
        assert layout.headers[layout.texts[field]] == chosen


@pytest.mark.parametrize(
    ("headers", "field", "advice"),
    [
        (("entry", "gpu", "entry"), "entry", "rename one of them"),
        (("gpu", "GPU"), "gpu", "say which one is meant: --column gpu=gpu"),
        (("GPU Type", "gpu_type"), "gpu", "say which one is meant: --column gpu='GPU Type'"),
        (("user", "User"), "entry", "say which one is meant: --column entry=user"),
        (("dtype", "dtype"), "dtype", "rename one of them"),
        (("created at", "createdAt"), "date", "say which one is meant: --column date='created at'"),
    ],
)
def test_one_name_twice_is_no_choice(headers: tuple[str, ...], field: str, advice: str) -> None:
    """Two columns of one name, however they are spelled, are refused with both and what settles it."""
    claiming = [h for h in headers if h != "gpu"] if field == "entry" else list(headers)
    with pytest.raises(InputError) as error:
        plan(*headers, "time_us")
    assert str(error.value) == f"columns {claiming[0]!r} and {claiming[1]!r} both claim {field}; {advice}"
    if len(set(headers)) == len(headers):
        layout = plan(*headers, "time_us", **{field: headers[1]})
        assert layout.headers[layout.texts[field]] == headers[1]


@pytest.mark.parametrize(
    ("headers", "field", "chosen"),
    [
        (("entry", "id", "id"), "entry", 0),
        (("name", "user", "name", "entry"), "entry", 3),
        (("device", "gpu", "device"), "gpu", 1),
    ],
)
def test_one_name_twice_hurts_only_where_it_is_the_best(headers: tuple[str, ...], field: str, chosen: int) -> None:
    """A join of tables repeats names such as `id`; where a better name stands beside them, they say nothing."""
    assert plan(*headers, "time_us").texts[field] == chosen


def test_a_date_twice_hurts_only_where_rules_changed() -> None:
    """A board with one era needs no date, and so no choice of one."""
    era = Era("b", Scoring("mean", "mean", "mean-of-runs", "rate"), Harness("loop", "none", "none"))
    assert "date" not in plan("date", "date", "time_us", board=Board("b", "B", None, (era,))).texts
    with pytest.raises(InputError, match="both claim date; rename one of them"):
        plan("date", "date", "time_us", board=Board("b", "B", None, (era, era)))


def test_counts_with_and_without_unit() -> None:
    """Bytes and operations may have a unit; `flops` is a count, `GFLOPS` a rate, `flops (GFLOP/s)` no count."""
    layout = plan("read (MB)", "write_bytes", "flops", "gflops", "bytes_per_element")
    assert {p.field: p.unit and p.unit.scale for p in layout.work} == {
        "reads": 1e6,
        "writes": 1.0,
        "flops": 1.0,
        "bytes_per_element": None,
    }
    assert figures(layout) == [("rate", None, None)]
    with pytest.raises(InputError):
        plan("flops (GFLOP/s)")


def test_sizes() -> None:
    """`n` and its aliases, the board's and the workload's sizes; the own name wins over an alias."""
    options = ReadOptions(size_names={"rows": ("batch",), "cols": ()})
    layout = plan_columns(["Batch", "cols", "N", "size", "k", "time_us"], options)
    assert {p.field: p.header for p in layout.sizes} == {"rows": "Batch", "cols": "cols", "n": "N", "k": "k"}
    with pytest.raises(InputError, match="both claim n; say which one is meant: --column n=size"):
        plan("size", "elements", "time_us")


def test_unknown_field_lists_the_fields() -> None:
    """A field that does not exist is the user's mistake, with what there is."""
    with pytest.raises(UsageError, match=r"no field is called 'tiem'; there are: entry, gpu, .*speedup, n, m, k"):
        plan("time_us", tiem="time_us")


def test_unknown_header_lists_the_headers() -> None:
    """A header that does not exist is refused with the nearest and all others."""
    with pytest.raises(UsageError, match=r"no column 'median'; nearest is 'median_us'. It has: 'gpu', 'median_us'"):
        plan("gpu", "median_us", time="median")


def test_forced_column_of_another_kind() -> None:
    """A rate cannot be the time."""
    with pytest.raises(UsageError, match="GFLOPS is a unit of rate, not of time"):
        plan("GFLOPS", time="GFLOPS")


def test_repeated_headers() -> None:
    """Equal headers hurt only where they are used."""
    assert plan("Noise", "time_us", "Noise").figures[0].column == 1
    with pytest.raises(UsageError, match="2 columns are called so"):
        plan("Noise", "time_us", "Noise", time="Noise")
    with pytest.raises(InputError, match="both claim the time; rename one of them"):
        plan("time_us", "time_us")


def test_nothing_usable_lists_what_was_found() -> None:
    """The error names the headers found and what is understood."""
    with pytest.raises(InputError) as error:
        plan("user", "stars")
    assert str(error.value) == (
        "no column holds a time, a rate or a bandwidth. Found: 'user', 'stars'. Understood are headers such as "
        "'Runtime (ms)', 'time_us', 'GFLOPS', 'bandwidth_gb_s'; another one can be named with --column time=HEADER"
    )
