"""A calibration and a measured board as text: a page for people, JSON for machines, a leaderboard CSV."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TextIO

from klaudit.calibrate.board import BoardRun, Row
from klaudit.calibrate.claims import Standing
from klaudit.calibrate.compare import AGREEMENT, STEADY_BYTES, Line, best_cold
from klaudit.calibrate.record import KERNELS, METHODS, Calibration, Point, device_object, to_object
from klaudit.formats import View
from klaudit.formats import lines as page
from klaudit.formats.chart import CHARACTERS, Curve, chart
from klaudit.formats.json_ import dumps
from klaudit.formats.lines import LEAST_WIDTH, columns, paragraph, write_lines
from klaudit.formats.numbers import plain
from klaudit.formats.text import can_show, clean, plural
from klaudit.gpu import Gpu
from klaudit.units import show, show_cache

BOARD_SCHEMA: Final = "klaudit-measured-board/1"
_SIZES: Final = (1 << 14, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28)
_ABSENT: Final = "-"


class Findings(NamedTuple):
    """A calibration with what was made of it: the card it is held against, the judge's word, the comparison."""

    calibration: Calibration
    gpu: Gpu
    standings: Mapping[Point, Standing]
    comparison: tuple[Line, ...] = ()
    compared_with: str = ""
    disagreements: tuple[Line, ...] | None = None
    notes: tuple[str, ...] = ()


def write_table(found: Findings, out: TextIO, view: View) -> None:
    """Write the page for people."""
    width = max(view.width, LEAST_WIDTH)
    fancy = can_show(getattr(out, "encoding", None), CHARACTERS)
    write_lines(_page(found, width, fancy), out, view.color)


def _page(found: Findings, width: int, fancy: bool) -> Iterator[page.Line]:
    yield from _device(found, width)
    yield ()
    yield from _bandwidths(found, width)
    yield ()
    yield from _others(found.calibration, width)
    yield ()
    yield from _roofline(found, width, fancy)
    if found.comparison:
        yield ()
        yield from _comparison(found, width)
    yield ()
    yield from _truth(found, width)


def _device(found: Findings, width: int) -> Iterator[page.Line]:
    c, d = found.calibration, found.calibration.device
    yield ((clean(f"{d.name}, held against {found.gpu.id}"), "bold"),)
    yield from paragraph(
        clean(
            f"compute capability {d.capability}, {d.processors} processors at up to {d.clock / 1e6:.0f} MHz,"
            f" {d.bus_width} bit at {d.memory_clock / 1e6:.0f} MHz ({show(d.pin_rate, 'bandwidth')}),"
            f" {show_cache(d.cache)} cache, {d.memory / 2**30:.1f} GiB memory"
        ),
        width,
    )
    yield from paragraph(
        clean(
            f"driver {d.driver or 'unknown'}, CUDA {d.cuda}, runtime {d.runtime}, {d.library};"
            f" {c.date}, {c.seconds:.0f} s{', quick' if c.quick else ''}"
        ),
        width,
    )


def _bandwidths(found: Findings, width: int) -> Iterator[page.Line]:
    points = {(p.kernel, p.method, p.elements): p for p in found.calibration.points if not p.memory}
    sizes = [n for n in _SIZES if any(key[2] == n for key in points)]
    rows = []
    for kernel in KERNELS:
        for method in METHODS:
            cells = [_cell(points.get((kernel, method, n)), found.standings) for n in sizes]
            if any(cell != _ABSENT for cell in cells):
                rows.append([f"{kernel}, {method}", *cells])
    yield from paragraph("GB/s by elements of each float32 array; * is above the dram roof:", width)
    yield from columns(["", *(_power(n) for n in sizes)], rows, width)
    special = [p for p in found.calibration.points if p.memory]
    if special:
        yield ()
        yield from columns(
            [f"GB/s, {show(special[0].elements * 4, 'bytes', 3)} arrays", ""],
            [[f"{p.kernel}, {clean(p.memory)}", _cell(p, found.standings)] for p in special],
            width,
        )


def _cell(point: Point | None, standings: Mapping[Point, Standing]) -> str:
    if point is None:
        return _ABSENT
    above = point in standings and standings[point].verdict != "within"
    return f"{point.bandwidth / 1e9:.0f}{'*' if above else ' '}"


def _power(elements: int) -> str:
    return f"2^{elements.bit_length() - 1} "


def _others(c: Calibration, width: int) -> Iterator[page.Line]:
    rows = [[f"launch: {x.method}", show(x.time.median, "time"), _spread(x.time.spread)] for x in c.launches]
    for shared, whose in ((True, "read round and round"), (False, "each processor its own share again")):
        points = [p for p in c.cache if p.shared == shared]
        if points:
            best = max(points, key=lambda p: p.bandwidth)
            name = f"cache: {show_cache(best.size)}, {whose}"
            rows.append([name, show(best.bandwidth, "bandwidth"), _spread(best.time.spread)])
    if c.cache_end is not None:
        rows.append(["cache ends (90 % of the best, own share)", show_cache(c.cache_end), ""])
    for rate in c.rates:
        shown = show(rate.rate, "rate") if rate.name == "float32" else _results(rate.rate)
        rows.append([f"{rate.name} at {rate.clock / 1e6:.0f} MHz", shown, _spread(rate.time.spread)])
    if c.step is not None:
        rows.append(["smallest step between event times", show(c.step, "time"), ""])
    yield from columns(["", "median", "middle half"], rows, width)


def _results(rate: float) -> str:
    return f"{plain(rate / 1e12)} T results/s"


def _spread(spread: float) -> str:
    return f"{100 * spread:.1f} %"


def _roofline(found: Findings, width: int, fancy: bool) -> Iterator[page.Line]:
    rates = {r.name: r.rate for r in found.calibration.rates}
    read = best_cold(found.calibration, "read") or max(
        (p for p in found.calibration.points if p.kernel == "read" and p.method == "cold" and not p.memory),
        key=lambda p: p.elements,
        default=None,
    )
    if read is None:
        return
    peak = found.gpu.peak("float32")
    yield from paragraph(
        "The roofline: a by bus width and clock and the published peak of float32, b as measured (cold read, FMA).",
        width,
    )
    curves = [
        Curve("a", found.gpu.bandwidth, peak.rate if peak else None),
        Curve("b", read.bandwidth, rates.get("float32")),
    ]
    yield from ((line,) for line in chart(curves, None, width, fancy))


def _comparison(found: Findings, width: int) -> Iterator[page.Line]:
    rows = [[clean(x.name), _quantity(x, x.here), _quantity(x, x.there), f"{x.ratio:.3f}"] for x in found.comparison]
    yield from columns(["", "here", clean(found.compared_with), "ratio"], rows, width)
    if found.disagreements is None:
        return
    yield ()
    size = show_cache(STEADY_BYTES)
    if not found.disagreements:
        yield from paragraph(f"All bandwidths from {size} on agree within {100 * AGREEMENT:g} %.", width)
        return
    said = ", ".join(f"{x.name}: {x.ratio:.3f}" for x in found.disagreements[:10])
    many = plural(len(found.disagreements), "bandwidth")
    yield from paragraph(f"{many} from {size} on differ by more than {100 * AGREEMENT:g} %: {said}.", width)


def _quantity(line: Line, value: float) -> str:
    if line.kind == "count":
        return f"{value:g}"
    if line.kind == "results":
        return _results(value)
    return show_cache(value) if line.kind == "bytes" else show(value, line.kind)


def _truth(found: Findings, width: int) -> Iterator[page.Line]:
    c = found.calibration
    above = [s for s in found.standings.values() if s.verdict == "conditional"]
    sets = sorted({" and ".join(s.conditions) for s in above})
    yield from paragraph(
        f"{plural(len(found.standings), 'bandwidth')} judged by klaudit itself: {len(above)} above the dram roof"
        + (f", all possible ({'; '.join(sets)})." if above else "."),
        width,
    )
    sure = sum(p.time.uncertainty <= 0.01 for p in c.points)
    yield from paragraph(
        f"{sure} of {plural(len(c.points), 'median')} known to 1 % by their spread."
        f" {len(c.checks) - len(c.failed)} of {plural(len(c.checks), 'check')} passed.",
        width,
    )
    for check in c.checks:
        if not check.passed or check.name.startswith(("timed stream", "event clock", "queue")):
            word = "" if check.passed else "FAILED "
            yield from paragraph(clean(f"{word}{check.name}: {check.detail}"), width, "    ", "  ")
    for sentence in (*c.skipped, *found.notes):
        yield from paragraph(clean(sentence), width)


def write_json(found: Findings, out: TextIO, view: View) -> None:
    """Write the record, with the judge's word beside each point."""
    out.write(_pretty(calibration_object(found)))


def calibration_object(found: Findings) -> dict[str, Any]:
    """The JSON object of a calibration, with the judge's word beside each point."""
    value = to_object(found.calibration)
    for entry, point in zip(value["points"], found.calibration.points, strict=True):
        standing = found.standings.get(point)
        if standing is not None:
            entry["verdict"], entry["conditions"] = standing.verdict, list(standing.conditions)
    return {**value, "gpu": found.gpu.id, "comparison": [_line_object(x) for x in found.comparison]}


def _line_object(line: Line) -> dict[str, Any]:
    return {"name": line.name, "here": line.here, "there": line.there, "ratio": round(line.ratio, 5)}


def _pretty(value: Mapping[str, Any]) -> str:
    """One entry of a list a line, so that two records can be compared by line."""
    parts = []
    for key, entry in value.items():
        if isinstance(entry, list) and entry:
            joined = ",\n  ".join(dumps(item) for item in entry)
            parts.append(f"{dumps(key)}: [\n  {joined}\n ]")
        else:
            parts.append(f"{dumps(key)}: {dumps(entry)}")
    return "{" + ",\n ".join(parts) + "}\n"


FORMATS: Final[Mapping[str, Callable[[Findings, TextIO, View], None]]] = {"table": write_table, "json": write_json}


def write_board(run: BoardRun, out: TextIO) -> None:
    """Write a measured board as a leaderboard CSV."""
    names = [case.name for case in run.rows[0].cases]
    head = ["entry", "gpu", "truth", "repeat", "passes_zero_init", "passes_ones_init", "passes_while_timed"]
    head += [f"{name.replace(' ', '_')}_ms" for name in names]
    head += ["mean_gflops", "geomean_gflops", "mean_runtime_ms", "geomean_runtime_ms"]
    out.write(",".join(head) + "\n")
    out.writelines(",".join(_board_cells(run, row)) + "\n" for row in run.rows)


def _board_cells(run: BoardRun, row: Row) -> Iterable[str]:
    times = [case.time * 1e3 for case in row.cases]
    rates = [case.rate(run.mean_of_runs) / 1e9 for case in row.cases]
    yield from (row.entry, run.gpu, row.truth, str(row.repeat))
    yield from (str(int(row.passes(how))) for how in ("zeros", "ones", "timed"))
    yield from (f"{t:.6f}" for t in times)
    yield from (f"{statistics.fmean(rates):.2f}", f"{statistics.geometric_mean(rates):.2f}")
    yield from (f"{statistics.fmean(times):.4f}", f"{statistics.geometric_mean(times):.4f}")


def board_object(run: BoardRun) -> dict[str, Any]:
    """How a measured board came about, with every run of every entry."""
    return {
        "schema": BOARD_SCHEMA,
        "version": run.version,
        "date": run.date,
        "command": run.command,
        "seconds": round(run.seconds, 1),
        "board": run.board,
        "gpu": run.gpu,
        "device": device_object(run.device),
        "rows": [
            {
                "entry": row.entry,
                "truth": row.truth,
                "repeat": row.repeat,
                "cases": [
                    {
                        "name": case.name,
                        "times_us": [round(t * 1e6, 3) for t in case.times],
                        "passes": dict(case.passes),
                        "relative_error": _error(case.error),
                    }
                    for case in row.cases
                ],
            }
            for row in run.rows
        ],
    }


def _error(error: float) -> float | None:
    """JSON has no infinity: an output that holds NaN has no error."""
    return float(f"{error:.3g}") if error < float("inf") else None


def write_board_report(run: BoardRun, out: TextIO) -> None:
    """Write how a measured board came about as JSON."""
    out.write(_pretty(board_object(run)))


def board_summary(run: BoardRun) -> Sequence[str]:
    """Sentences on a measured board, for people."""
    honest = [row for row in run.rows if row.truth == "honest"]
    exploits = len(run.rows) - len(honest)
    best = min(statistics.fmean(case.time for case in row.cases) for row in honest)
    d = run.device
    return (
        f"{run.board} on {d.name}, driver {d.driver or 'unknown'}, {run.date}: {plural(len(honest), 'honest row')},"
        f" {plural(exploits, 'row')} of exploits, in {run.seconds:.0f} s",
        f"the fastest honest mean time is {best * 1e3:.4f} ms; every honest output was checked against float64",
    )
