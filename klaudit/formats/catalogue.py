"""The catalogue as text: its lists, and one card or workload with every figure and its source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TextIO

from klaudit.formats import View
from klaudit.formats.json_ import SCHEMA, dumps
from klaudit.formats.lines import GAP, LEAST_WIDTH, Line, columns, paragraph, write_lines
from klaudit.formats.numbers import plain, rounded
from klaudit.formats.text import cells, clean, wrap
from klaudit.gpu import Gpu, Measured
from klaudit.provenance import Source
from klaudit.units import show, show_cache
from klaudit.workload import Count, Workload

_ABSENT: Final = "-"
_MEASURED_KINDS: Final = {"bandwidth": "bandwidth", "cache-bandwidth": "bandwidth", "launch": "time"}


def write_gpus(gpus: Sequence[Gpu], out: TextIO, view: View, style: str) -> None:
    """Write the list of cards."""
    if style == "json":
        return _write_object({"gpus": [_brief(gpu) for gpu in gpus]}, out)
    header = ["id", "name", "GB/s", "cache", "fp32", "fp16"]
    rows = [
        [
            gpu.id,
            clean(gpu.name),
            f"{gpu.bandwidth / 1e9:.1f}",
            show_cache(gpu.cache),
            _tera(_rate(gpu, "float32")),
            _tera(_rate(gpu, "float16")),
        ]
        for gpu in gpus
    ]
    width = max(view.width, LEAST_WIDTH)
    table = columns(header, folded(header, rows, width, 1), width, left=2)
    note = paragraph("fp32 and fp16 are the best dense peaks in TFLOP/s.", width)
    write_lines([*table, (), *note], out, view.color)


def _rate(gpu: Gpu, dtype: str) -> float | None:
    peak = gpu.peak(dtype)
    return None if peak is None else peak.rate


def _tera(rate: float | None) -> str:
    return _ABSENT if rate is None else plain(rate / 1e12)


def _brief(gpu: Gpu) -> dict[str, Any]:
    fp32, fp16 = _rate(gpu, "float32"), _rate(gpu, "float16")
    return {
        "id": gpu.id,
        "name": gpu.name,
        "vendor": gpu.vendor,
        "architecture": gpu.architecture,
        "gb_per_s": rounded(gpu.bandwidth / 1e9),
        "cache_bytes": rounded(gpu.cache, 15),
        "fp32_gflops": None if fp32 is None else rounded(fp32 / 1e9),
        "fp16_gflops": None if fp16 is None else rounded(fp16 / 1e9),
    }


def write_gpu(gpu: Gpu, out: TextIO, view: View, style: str) -> None:
    """Write one card: every figure with its text, value and source."""
    if style == "json":
        return _write_object(_gpu_object(gpu), out)
    write_lines(_gpu_page(gpu, max(view.width, LEAST_WIDTH)), out, view.color)


def _gpu_page(gpu: Gpu, width: int) -> Iterator[Line]:
    yield ((f"{gpu.id}: {clean(gpu.name)}", "bold"),)
    yield from paragraph(f"{gpu.vendor}, {gpu.architecture}", width, "  ")
    yield from section("What the judge uses", judged(gpu), width)
    yield from section(
        "Figures",
        (
            f"{f.name}: {f.text} = {f.value:.7g} in SI, source {f.source}" + (f"; {f.note}" if f.note else "")
            for f in gpu.figures
        ),
        width,
    )
    yield from section("Best measured figures (never an error, only a note)", map(measured, gpu.measured), width)
    yield from section(
        "Known deviations", (f"{d.figure}: {d.percent:+.2f} %, {d.reason}" for d in gpu.deviations), width
    )
    yield from section("Names that mean this card", gpu.aliases, width)
    yield from section("Names that can mean this card among others", gpu.labels, width)
    yield from section("Notes", gpu.notes, width)
    yield from sources(gpu.sources, width)


def judged(gpu: Gpu) -> list[str]:
    """What the judge takes from a card's figures, in sentences."""
    port, special = gpu.port_bandwidth, gpu.special_rate
    used = [
        ("bandwidth", f"{show(gpu.bandwidth, 'bandwidth', 5)}, from {gpu.bandwidth_from}"),
        ("cache", show_cache(gpu.cache)),
        ("clock", f"{show(gpu.clock, 'frequency')}, from {gpu.clock_from}"),
        ("cache port", show(port, "bandwidth") if port is not None else "no sourced figure"),
        ("special functions", f"{special / 1e12:.4g} T results/s" if special is not None else "no sourced figure"),
        ("memory compression", gpu.memory_compression),
        ("overclockable", "yes" if gpu.overclockable else "no"),
        ("event clock step", show(gpu.tick, "time") if gpu.tick is not None else "unknown"),
        *((f"{p.label}", f"{show(p.rate, 'rate')} (published {clean(p.published.text)})") for p in gpu.peaks),
    ]
    return [f"{name}: {value}" for name, value in used]


def measured(figure: Measured) -> str:
    """A best measured figure in one sentence."""
    return f"{figure.quantity}: {figure.text}, {figure.conditions}, source {figure.source}"


def _gpu_object(gpu: Gpu) -> dict[str, Any]:
    port = gpu.port_bandwidth
    return {
        **_brief(gpu),
        "bandwidth_from": gpu.bandwidth_from,
        "processors": gpu.processors,
        "clock_hz": rounded(gpu.clock, 15),
        "clock_from": gpu.clock_from,
        "port_gb_per_s": None if port is None else rounded(port / 1e9),
        "overclockable": gpu.overclockable,
        "memory_compression": gpu.memory_compression,
        "tick_us": None if gpu.tick is None else rounded(gpu.tick / 1e-6),
        "peaks": [
            {"dtype": p.dtype, "pipe": p.pipe, "gflops": rounded(p.rate / 1e9), "published": p.published.text}
            for p in gpu.peaks
        ],
        "figures": [
            {"name": f.name, "text": f.text, "value": rounded(f.value, 15), "source": f.source, "note": f.note or None}
            for f in gpu.figures
        ],
        "measured": [
            {
                "quantity": m.quantity, "text": m.text, "value": rounded(m.value, 15),
                "conditions": m.conditions, "source": m.source,
            }
            for m in gpu.measured
        ],
        "deviations": [{"figure": d.figure, "percent": d.percent, "reason": d.reason} for d in gpu.deviations],
        "aliases": list(gpu.aliases),
        "labels": list(gpu.labels),
        "notes": list(gpu.notes),
        "sources": sources_object(gpu.sources),
    }  # fmt: skip


def write_workloads(workloads: Sequence[Workload], out: TextIO, view: View, style: str) -> None:
    """Write the list of workloads."""
    if style == "json":
        return _write_object({"workloads": [_workload_object(w) for w in workloads]}, out)
    header = ["id", "sizes", "name"]
    rows = [[w.id, " ".join(w.sizes), clean(w.name)] for w in workloads]
    width = max(view.width, LEAST_WIDTH)
    write_lines(columns(header, folded(header, rows, width, 2), width, left=3), out, view.color)


def write_workload(workload: Workload, out: TextIO, view: View, style: str) -> None:
    """Write one workload: its formulas, and why they are so."""
    if style == "json":
        return _write_object(_workload_object(workload), out)
    write_lines(_workload_page(workload, max(view.width, LEAST_WIDTH)), out, view.color)


def _workload_page(workload: Workload, width: int) -> Iterator[Line]:
    yield ((f"{workload.id}: {clean(workload.name)}", "bold"),)
    dtypes = f"{workload.default_dtype} where nobody says; all: {', '.join(workload.dtypes)}"
    yield from section("Sizes", [f"{', '.join(workload.sizes)}; b is the bytes of an element"], width)
    yield from section("Dtypes", [dtypes], width)
    yield from section("Counts", (_count(name, count) for name, count in counts(workload)), width)
    yield from section("Other names", workload.aliases, width)
    yield from section("Notes", workload.notes, width)
    yield from sources(workload.sources, width)


def counts(workload: Workload) -> list[tuple[str, Count]]:
    """What a workload counts, each with its name."""
    named = [
        ("operations, as boards count them", workload.flops),
        ("bytes that must be read", workload.reads),
        ("bytes that must be written", workload.writes),
        ("special functions", workload.special),
        ("fewest operations of any known algorithm", workload.min_flops),
    ]
    return [(name, count) for name, count in named if count is not None]


def _count(name: str, count: Count) -> str:
    why = f" ({count.why})" if count.why else ""
    return f"{name}: {count.formula.text}{why}" + (f", source {count.source}" if count.source else "")


def _workload_object(workload: Workload) -> dict[str, Any]:
    def count(value: Count | None) -> dict[str, Any] | None:
        if value is None:
            return None
        return {"formula": value.formula.text, "why": value.why or None, "source": value.source or None}

    return {
        "id": workload.id,
        "name": workload.name,
        "sizes": list(workload.sizes),
        "dtypes": list(workload.dtypes),
        "flops": count(workload.flops),
        "reads": count(workload.reads),
        "writes": count(workload.writes),
        "special": count(workload.special),
        "min_flops": count(workload.min_flops),
        "aliases": list(workload.aliases),
        "notes": list(workload.notes),
        "sources": sources_object(workload.sources),
    }


def folded(header: Sequence[str], rows: Sequence[Sequence[str]], width: int, name: int) -> list[list[str]]:
    """The rows of a list with the names in column `name` over several lines, where the list is wider than `width`.

    Nothing of a name is lost, which is all that tells some cards apart. Where a word of one does not fit, the rows are
    as they were.
    """
    widths = [max(cells(row[i]) for row in (header, *rows)) for i in range(len(header))]
    room = width - sum(widths) - len(GAP) * (len(widths) - 1) + widths[name]
    longest = max((cells(word) for row in rows for word in row[name].split()), default=0)
    if not longest <= room < widths[name]:
        return [list(row) for row in rows]
    return [
        [part if i == name else "" if more else cell for i, cell in enumerate(row)]
        for row in rows
        for more, part in enumerate(wrap(row[name], room))
    ]


def section(title: str, items: Iterable[str], width: int) -> Iterator[Line]:
    """A title and its items, or nothing where there are none."""
    said = [clean(item) for item in items]
    if not said:
        return
    yield ()
    yield from (((line, "bold"),) for line in wrap(title, width))
    for item in said:
        yield from ((line,) for line in wrap(item, width, "      ", "  "))


def sources(items: Sequence[Source], width: int) -> Iterator[Line]:
    """The sources by key, with what they are and how they were read."""
    yield from section("Sources", (f"{s.key}: {s.where} ({s.kind}, {s.how})" for s in items), width)


def sources_object(items: Sequence[Source]) -> dict[str, dict[str, str]]:
    """The sources for JSON."""
    return {s.key: {"where": s.where, "kind": s.kind, "how": s.how} for s in items}


def _write_object(value: dict[str, Any], out: TextIO) -> None:
    out.write(dumps({"schema": SCHEMA, **value}) + "\n")
