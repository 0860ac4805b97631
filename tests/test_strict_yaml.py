"""Every mistake in a spec is an error that names the file, the line, the key and what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from klaudit.board import Board
from klaudit.errors import SpecError
from klaudit.readers.board_spec import read_board
from klaudit.readers.gpu_spec import read_gpu
from klaudit.readers.workload_spec import read_workload

SAMPLES = Path(__file__).parent / "samples"
GPU = (SAMPLES / "t4.yaml").read_text()
WORKLOAD = (SAMPLES / "relu.yaml").read_text()
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


def test_the_samples_are_read() -> None:
    """The three samples that the mistakes below are made in are themselves in order."""
    gpu = read_gpu(GPU, "specs/gpus/t4.yaml")
    assert (gpu.bandwidth, gpu.bandwidth_from, gpu.cache, gpu.processors) == (320e9, "pin rate", 4 * 2**20, 40)
    assert read_workload(WORKLOAD, "specs/workloads/relu.yaml").size_aliases == {"n": ("N",)}
    board = read_board(BOARD, "specs/boards/some.yaml", no_board)
    assert [str(era.since) for era in board.eras] == ["None", "2026-01-08"]
    assert board.checker is not None
    assert board.checker.rtol == 1e-5


GPU_MISTAKES = {
    "a bare number": (
        "256 bit",
        "256",
        ':8: memory.bus_width: value 256 has no unit: write it as "256 bit"',
    ),
    "a quoted bare number": (
        "10 Gbit/s",
        '"1e1"',
        ':9: memory.data_rate: value 1e1 has no unit: write it as "1e1 Gbit/s" or the like',
    ),
    "a unit of another kind": (
        "256 bit",
        "256 MiB",
        ":8: memory.bus_width: value '256 MiB' is no bits: write a number and a unit, such as '256 bit'",
    ),
    "a negative figure": ("4 MiB", "-4 MiB", ":13: cache.l2: value '-4 MiB' must be above zero"),
    "a count with a unit": (
        "value: 40",
        "value: 40 SMs",
        ":15: processors.count.value: '40 SMs' is no positive whole number",
    ),
    "an unknown key": (
        "  compression: none",
        "  compression: none\n  bandwith: 3",
        ":12: unknown key 'memory.bandwith'; allowed here: published_bandwidth, bus_width, compression, data_rate,"
        " type",
    ),
    "an unknown key at the top": (
        "aliases:",
        "alias:",
        ":5: unknown key 'alias'; allowed here: aliases, labels, architecture, cache, clock, compute_capability,"
        " deviations, id, measured, memory, name, notes, peaks, processors, sources, timer, vendor",
    ),
    "a misspelt required key": (
        "bus_width",
        "bus_widht",
        ":8: 'memory.bus_width' is missing; is 'bus_widht' meant to be it?",
    ),
    "a missing key": ("name: NVIDIA T4\n", "", ":1: 'name' is missing"),
    "a repeated key": (
        "name: NVIDIA T4",
        "name: NVIDIA T4\nname: T4",
        ":3: key 'name' is repeated; it is first on line 2",
    ),
    "a repeated figure": (
        "  compression: none",
        "  compression: none\n  bus_width: {value: 1 bit, source: dump}",
        ":12: key 'bus_width' is repeated; it is first on line 8",
    ),
    "no source": (
        "{value: 4 MiB, source: dump}",
        "{value: 4 MiB}",
        ":13: 'cache.l2' has no source; write source: KEY and define KEY under 'sources'",
    ),
    "a figure that is only a text": (
        "{value: 4 MiB, source: dump}",
        "4 MiB",
        ":13: 'cache.l2' has no source: write it as {value: 4 MiB, source: KEY}",
    ),
    "an undefined source": (
        "{value: 4 MiB, source: dump}",
        "{value: 4 MiB, source: sheets}",
        ":13: cache.l2: source 'sheets' is not defined; defined in this file: sheet, dump",
    ),
    "an unused source": (
        "sources:",
        "sources:\n  spare: {where: x, kind: vendor, how: quoted}",
        ":24: source 'spare' is defined but not used",
    ),
    "an unknown kind of source": (
        "kind: vendor",
        "kind: vendors",
        ":25: sources.sheet.kind: 'vendors' is unknown; allowed here: vendor, secondary, driver-dump, measured,"
        " naming, quoted, third-party-db",
    ),
    "an unknown dtype": (
        "float32",
        "fp32",
        ":20: peaks[0].dtype: 'fp32' is unknown; allowed here: float32, tfloat32, bfloat16, float16, float4, float64,"
        " float8, int4, int8",
    ),
    "an unknown pipe": (
        "pipe: vector",
        "pipe: cuda",
        ":20: peaks[0].pipe: 'cuda' is unknown; allowed here: tensor, vector",
    ),
    "a peak twice": (
        "deviations:",
        "  - {dtype: float32, pipe: vector, value: 9 TFLOP/s, source: sheet}\ndeviations:",
        ":21: peaks[1]: float32 vector is listed twice",
    ),
    "a deviation of nothing": (
        "memory.published_bandwidth",
        "memory.bandwidth",
        ":22: deviations[0].figure: 'memory.bandwidth' is unknown; allowed here: memory.bus_width,"
        " memory.published_bandwidth, memory.data_rate, cache.l2, clock.boost, peaks.float32.vector, processors.count",
    ),
    "yes for true": (
        "overclockable: false",
        "overclockable: no",
        ":18: clock.overclockable: 'no' is neither true nor false",
    ),
    "no clock": (
        "boost: {value: 1590 MHz, source: sheet}",
        "overclocked: true",
        ":17: 'clock' has neither boost nor maximum; one of them is needed",
    ),
    "a name that YAML takes for a number": (
        "[Tesla T4]",
        "[4090]",
        ':5: aliases: YAML reads 4090 as a number; write it as "4090"',
    ),
    "a name twice": ("[Tesla T4]", "[Tesla T4, Tesla T4]", ":5: aliases: 'Tesla T4' is listed twice"),
    "a text for a list": ("[Tesla T4]", "Tesla T4", ":5: aliases must be a list"),
    "a list for a text": ("name: NVIDIA T4", "name: [NVIDIA T4]", ":2: name must be text"),
    "nothing for a text": ("name: NVIDIA T4", "name:", ":2: name is empty"),
    "an empty text": ("name: NVIDIA T4", 'name: ""', ":2: name is empty"),
    "a key that is no text": (
        "vendor: nvidia",
        "vendor: nvidia\n3: x",
        ':4: key 3 is not text; write "3" if it is a name',
    ),
    "another id than the file's": ("id: t4", "id: t5", ":1: id: 't5' differs from the file's name, 't4'"),
    "an id that is none": (
        "id: t4",
        "id: T 4",
        ":1: id: 'T 4' may hold only lower-case letters, digits, dots and dashes",
    ),
    "an anchor": (
        "aliases: [Tesla T4]",
        "aliases: &all [Tesla T4]",
        ":5: &all: anchors and aliases are not allowed, so that every figure stands where it is used",
    ),
    "an alias": (
        "aliases: [Tesla T4]",
        "aliases: *all",
        ":5: *all: anchors and aliases are not allowed, so that every figure stands where it is used",
    ),
    "a tag": ("name: NVIDIA T4", "name: !!python/name:os.system T4", ":2: name must be text"),
    "broken YAML": ("[Tesla T4]", "[Tesla T4", ":6: not YAML: did not find expected ',' or ']'"),
    "two documents": ("id: t4", "id: t4\n---\nid: t4", ":2: not YAML: but found another document"),
    "a capability that is none": (
        "architecture: Turing",
        'architecture: Turing\ncompute_capability: "75"',
        ":5: compute_capability: '75' is none; write it as \"9.0\"",
    ),
}


@pytest.mark.parametrize("mistake", GPU_MISTAKES)
def test_a_mistake_in_a_gpu_spec(mistake: str) -> None:
    """A mistake in a GPU spec is named with file, line, key and what is allowed."""
    old, new, expected = GPU_MISTAKES[mistake]
    found = message(lambda: read_gpu(swap(GPU, old, new), "specs/gpus/t4.yaml"))
    assert found == "specs/gpus/t4.yaml" + expected


WORKLOAD_MISTAKES = {
    "a formula that is none": (
        'reads: {formula: "n*b"',
        'reads: {formula: "n.real"',
        ":7: reads.formula: formula 'n.real' holds 'n.real'; allowed are + - * / // **, numbers, n, b and min, max,"
        " ceil, floor, log2, sqrt",
    ),
    "a formula of another size": (
        'flops: {formula: "n"',
        'flops: {formula: "m"',
        ":6: flops.formula: formula 'm' uses 'm'; it may use n, b",
    ),
    "a formula that YAML takes for a number": (
        'flops: {formula: "n"',
        "flops: {formula: 7",
        ':6: flops.formula: YAML reads 7 as a number; write it as "7"',
    ),
    "a count without a reason": (
        'reads: {formula: "n*b", why: once}',
        'reads: {formula: "n*b"}',
        ":7: 'reads.why' is missing",
    ),
    "the board's count without a source": (
        ", source: own}",
        "}",
        ":6: 'flops' has no source; write source: KEY and define KEY under 'sources'",
    ),
    "an unknown dtype": (
        "dtypes: [float32]",
        "dtypes: [float31]",
        ":5: dtypes: 'float31' is unknown; allowed here: float32, float16, tfloat32, bfloat16, bool, float4,"
        " float64, float8, int16, int32, int4, int64, int8, uint8",
    ),
    "no dtype": ("dtypes: [float32]", "dtypes: []", ":5: dtypes is empty"),
    "no size": ("sizes: [n]", "sizes: []", ":3: sizes is empty"),
    "a size called b": (
        "sizes: [n]",
        "sizes: [b]",
        ":3: sizes: 'b' cannot name a size; write a lower-case word other than b",
    ),
    "an alias of two sizes": (
        "sizes: [n]\nsize_aliases: {n: [N]}",
        "sizes: [m, n]\nsize_aliases: {n: [N], m: [N]}",
        ":4: size_aliases.n: 'N' already means 'm'",
    ),
    "an alias of no size": (
        "{n: [N]}",
        "{k: [N]}",
        ":4: unknown key 'size_aliases.k'; allowed here: n",
    ),
}


@pytest.mark.parametrize("mistake", WORKLOAD_MISTAKES)
def test_a_mistake_in_a_workload_spec(mistake: str) -> None:
    """A mistake in a workload spec is named with file, line, key and what is allowed."""
    old, new, expected = WORKLOAD_MISTAKES[mistake]
    found = message(lambda: read_workload(swap(WORKLOAD, old, new), "specs/workloads/relu.yaml"))
    assert found == "specs/workloads/relu.yaml" + expected


BOARD_MISTAKES = {
    "a date that is none": (
        "2026-01-08",
        "2026-02-30",
        ":11: eras[0].until: '2026-02-30' is no date; write it as 2026-01-31",
    ),
    "a week for a date": (
        "2026-01-08",
        "2026-W01-1",
        ":11: eras[0].until: '2026-W01-1' is no date; write it as 2026-01-31",
    ),
    "no end of an era before the last": (
        "    until: 2026-01-08\n",
        "",
        ":10: eras[0]: 'until' is missing; only the last era may lack it",
    ),
    "eras out of order": (
        "  - id: some-2026\n",
        "  - id: some-2026\n    until: 2026-01-08\n",
        ":15: eras[1]: until 2026-01-08 is not after 2026-01-08, when the era began",
    ),
    "an era of another board": (
        "id: some-2026",
        "id: other-2026",
        ":14: eras[1]: id 'other-2026' must be 'some' or start with 'some-'",
    ),
    "an era twice": ("id: some-2026", "id: some-2025", ":14: eras[1]: id 'some-2025' is taken"),
    "an era with the board's id beside another": ("id: some-2026", "id: some", ":14: eras[1]: id 'some' is taken"),
    "an unknown rule": (
        "scoring: {rate: mean, time: mean, case_rate: mean-of-runs, runs",
        "scoring: {rate: median, time: mean, case_rate: mean-of-runs, runs",
        ":12: eras[0].scoring.rate: 'median' is unknown; allowed here: mean, geomean, total",
    ),
    "an unknown timing": (
        "{timing: loop, flush: none, output_check: none, rules_out",
        "{timing: event, flush: none, output_check: none, rules_out",
        ":13: eras[0].harness.timing: 'event' is unknown; allowed here: event-pair, graph-node, loop, unknown",
    ),
    "an unknown condition": (
        "rules_out: []",
        "rules_out: [{condition: write-backs, reason: flushed}]",
        ":13: eras[0].harness.rules_out[0].condition: 'write-backs' is unknown; allowed here: write-back,"
        " compressed-data, faster-variant, fewer-operations, inputs-resident, lower-precision, narrower-dtype,"
        " overclock, timer-tick",
    ),
    "runs that are no span": (
        "[5, 20]",
        "[20, 5]",
        ":12: eras[0].scoring.runs must be the least and the most, as [5, 20]",
    ),
    "a tolerance that is none": ('rtol: "1e-5"', "rtol: tight", ":8: checker.rtol: 'tight' is no number of 0 or more"),
    "a size that is none": ("{n: 1024}", "{n: 2^10}", ":7: cases[0].sizes.n: '2^10' is no positive whole number"),
    "a case twice": (
        "checker:",
        "  - {name: small, sizes: {n: 1}}\nchecker:",
        ":8: cases[1]: 'small' already names a case",
    ),
    "cases without a workload": ("workload: relu\n", "", ":6: 'cases' need a workload"),
    "a label without a meaning": ("means: [t4]", "means: []", ":5: gpu_labels.T4: means is empty"),
    "like another, with eras of its own": (
        "workload: relu",
        "like: others",
        ":10: 'eras' cannot stand beside 'like': the other board's rules are taken whole",
    ),
}


@pytest.mark.parametrize("mistake", BOARD_MISTAKES)
def test_a_mistake_in_a_board_spec(mistake: str) -> None:
    """A mistake in a board spec is named with file, line, key and what is allowed."""
    old, new, expected = BOARD_MISTAKES[mistake]
    found = message(lambda: read_board(swap(BOARD, old, new), "specs/boards/some.yaml", no_board))
    assert found == "specs/boards/some.yaml" + expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "x/t4.yaml: the file is empty"),
        ("# nothing\n", "x/t4.yaml: the file is empty"),
        ("- a\n", "x/t4.yaml:1: the file must be a mapping of keys to values"),
        ("T4\n", "x/t4.yaml:1: the file must be a mapping of keys to values"),
        ("id: t4\nmemory: 3\n", "x/t4.yaml:2: memory must be a mapping of keys to values"),
        ("id: \x07\n", "x/t4.yaml:1: not YAML: control characters are not allowed"),
    ],
)
def test_a_file_that_is_no_spec_at_all(text: str, expected: str) -> None:
    """A file that is no mapping is refused in a sentence, not with a traceback."""
    assert message(lambda: read_gpu(text, "x/t4.yaml")) == expected


@pytest.mark.parametrize(
    "text",
    ["a: " + "[" * 100_000, "{a: " * 100_000, "- " * 100_000, "".join(" " * i + "a:\n" for i in range(2_000))],
    ids=["brackets", "braces", "dashes", "blanks"],
)
def test_a_deeply_nested_file_is_refused(text: str) -> None:
    """A file nested beyond reason is an error of the file and its line, not a crash."""
    # Some parsers have a limit of their own.
    words = ("nested too deeply: more than 100 levels", "not YAML: exceeded maximum nesting depth")
    found = message(lambda: read_gpu(text, "x/t4.yaml"))
    assert found.startswith("x/t4.yaml:")
    assert found.endswith(words)


def test_a_board_that_is_like_no_known_board() -> None:
    """A board that is like a board that does not exist says which id it looked for."""
    text = "id: some\nname: Some\nlike: others\n"
    expected = "specs/boards/some.yaml:3: like: no board has the id 'others'"
    assert message(lambda: read_board(text, "specs/boards/some.yaml", no_board)) == expected


def test_the_larger_figure_rules() -> None:
    """Where sources disagree, the larger figure rules, whichever is listed first, and all are kept."""
    two = "{value: 300 GB/s, source: sheet}", "{value: 350 GB/s, source: dump, note: rules}"
    for first, second in (two, two[::-1]):
        gpu = read_gpu(swap(GPU, two[0], f"[{first}, {second}]"), "t4.yaml")
        assert (gpu.bandwidth, gpu.bandwidth_from) == (350e9, "published")
        published = {(f.text, f.note) for f in gpu.figures if f.name == "memory.published_bandwidth"}
        assert published == {("300 GB/s", ""), ("350 GB/s", "rules")}


def test_the_highest_clock() -> None:
    """Without a sourced maximum the clock is the boost with its allowance, and peaks rise with it."""
    gpu = read_gpu(GPU, "t4.yaml")
    assert gpu.clock == pytest.approx(1590e6 * 1.3)
    assert gpu.clock_from == "boost x 1.3, as no maximum is sourced"
    assert gpu.peaks[0].rate == pytest.approx(8.1e12 * 1.3)
    text = swap(GPU, "  overclockable", "  maximum: {value: 1600 MHz, source: dump}\n  overclockable")
    gpu = read_gpu(text, "t4.yaml")
    assert (gpu.clock, gpu.clock_from) == (1600e6, "maximum")
    assert gpu.peaks[0].rate == pytest.approx(8.1e12 * 1600 / 1590)


def test_a_peak_by_its_rate_per_clock() -> None:
    """Where the rate per clock is known, it gives the peak at the highest clock, unless the published one is larger."""
    for per_clock, expected in (("128 FLOP/clk", 128 * 40 * 1590e6 * 1.3), ("64 FLOP/clk", 8.1e12)):
        text = swap(GPU, "value: 8.1 TFLOP/s", f"value: 8.1 TFLOP/s, per_clock: {per_clock}")
        assert read_gpu(text, "t4.yaml").peaks[0].rate == pytest.approx(expected)


def test_both_caches_count() -> None:
    """A memory-side cache adds to the L2."""
    text = swap(GPU, "processors:", "  infinity: {value: 256 MiB, source: dump}\nprocessors:")
    assert read_gpu(text, "t4.yaml").cache == 260 * 2**20
