"""Boards as text: their rules by era, cases and labels, and the limits on every card."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, TextIO

from klaudit.board import Board, Checker, Era
from klaudit.formats import View
from klaudit.formats.catalogue import folded, section, sources, sources_object
from klaudit.formats.json_ import SCHEMA, dumps
from klaudit.formats.lines import LEAST_WIDTH, Line, columns, paragraph, write_lines
from klaudit.formats.numbers import rounded, unit_of, whole
from klaudit.formats.text import clean, plural, wrap
from klaudit.report import Ceiling, Limits

_CACHES: Final = frozenset({"write-back", "inputs-resident"})
_RULES: Final = {"mean": "mean", "geomean": "geometric mean", "total": "total work over total time"}


def write_boards(boards: Sequence[Board], out: TextIO, view: View, style: str) -> None:
    """Write the list of boards with the eras that can be named."""
    if style == "json":
        listed = [_brief(board) for board in boards]
        out.write(dumps({"schema": SCHEMA, "boards": listed}) + "\n")
        return
    width = max(view.width, LEAST_WIDTH)
    header = ["id", "workload", "cases", "eras", "name"]
    rows = [[b.id, b.workload or "any", str(len(b.cases) or "any"), str(len(b.eras)), clean(b.name)] for b in boards]
    note = paragraph(
        f"`klaudit boards NAME` shows a board's eras; --board takes their ids too{_example(boards)}.", width
    )
    write_lines([*columns(header, folded(header, rows, width, 4), width, left=5), (), *note], out, view.color)


def _example(boards: Sequence[Board]) -> str:
    return next((f", such as {board.eras[0].id}" for board in boards if len(board.eras) > 1), "")


def write_board(board: Board, limits: Sequence[Limits], out: TextIO, view: View, style: str) -> None:
    """Write one board: its rules, and the ceilings that follow from them."""
    if style == "json":
        out.write(dumps(_object(board, limits)) + "\n")
        return
    write_lines(_page(board, limits, max(view.width, LEAST_WIDTH)), out, view.color)


def _page(board: Board, limits: Sequence[Limits], width: int) -> Iterator[Line]:
    yield ((f"{board.id}: {clean(board.name)}", "bold"),)
    dtype = f", {board.dtype}" if board.dtype else ""
    yield from paragraph(f"workload {board.workload or 'as the row says'}{dtype}", width, "  ")
    for title, items in sections(board):
        yield from section(title, items, width)
    for title, head, rows in limit_tables(limits, board):
        if title:
            yield ()
            yield from (((line, "bold"),) for line in wrap(title, width))
        yield from columns(head, rows, width, left=2)
    yield from section("Notes", board.notes, width)
    yield from sources(board.sources, width)


def sections(board: Board) -> Iterator[tuple[str, list[str]]]:
    """What a board's spec says, section by section: a title and its sentences."""
    for era in board.eras:
        yield f"Rules {era.id}{_span(era)}", list(_rules(era))
    yield "Leaderboards that it stands for", [_sourced(n.name, n.source, n.note) for n in board.leaderboards]
    yield "Cases", [f"{c.name}: {_sizes(c.sizes)}" for c in board.cases]
    labels = [_sourced(f"{g.label} means {' or '.join(g.means)}", g.source, g.note) for g in board.gpu_labels]
    yield "GPU labels", labels
    if board.checker is not None:
        c = board.checker
        said = f"rtol {c.rtol:g}, " if c.rtol is not None else ""
        said += f"atol {c.atol:g}, " if c.atol is not None else ""
        said += f"output before the kernel: {c.output or 'unknown'}"
        yield "Checker", [said, *([c.note] if c.note else []), *_checked(c)]


def _sourced(said: str, source: str, note: str) -> str:
    """A statement, how it is known, and what is to be said of it."""
    return said + (f", source {source}" if source else "") + (f": {note}" if note else "")


def _checked(checker: Checker) -> Iterator[str]:
    """What is compared, on which inputs, and what is known to be accepted."""
    if checker.reference:
        drawn = ", ".join(f"{d.name} {d.draw}" + (f" ({d.transform})" if d.transform else "") for d in checker.inputs)
        yield f"reference: {checker.reference}; inputs: {drawn}; seed {checker.seed}"
    for enforced in checker.enforced:
        yield f"accepts {enforced.plain}, {enforced.traffic.text} bytes, in {plural(len(enforced.cases), 'case')}"


def _span(era: Era) -> str:
    since = f" from {era.since}" if era.since else ""
    until = f" until the day before {era.until}" if era.until else ""
    return since + until


def _rules(era: Era) -> Iterator[str]:
    scoring, harness = era.scoring, era.harness
    yield f"rates averaged by: {_RULES[scoring.rate]}; times by: {_RULES[scoring.time]}; ranked by {scoring.ranked_by}"
    runs = "unknown" if scoring.runs is None else f"{scoring.runs[0]} to {scoring.runs[1]}"
    yield f"a case's rate: {scoring.case_rate.replace('-', ' ')}; runs a case: {runs}"
    yield f"timed by: {harness.timing}, launch floor {harness.launch_floor / 1e-6:g} us"
    yield f"flush: {harness.flush or 'unknown'}; output check: {harness.output_check or 'unknown'}"
    for ruled in harness.rules_out:
        yield f"rules out {ruled.condition}: {ruled.reason}"
    if scoring.source or harness.source:
        yield f"source: {', '.join(dict.fromkeys(s for s in (scoring.source, harness.source) if s))}"


def _sizes(sizes: Any) -> str:
    return ", ".join(f"{name} = {whole(value)}" for name, value in sizes.items())


def limit_tables(limits: Sequence[Limits], board: Board) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Two tables for each era: what the average rate can be at most, and the average time at least.

    Each comes as title, header and rows.
    """
    for era_id in dict.fromkeys(limit.era for limit in limits):
        era = next(e for e in board.eras if e.id == era_id)
        yield from _tables([limit for limit in limits if limit.era == era_id], era)


def _tables(limits: Sequence[Limits], era: Era) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    kinds: tuple[tuple[str, Literal["rate", "time"], str], ...] = (
        (f"{_RULES[era.scoring.rate]} of rates", "rate", "impossible above the last figure"),
        (f"{_RULES[era.scoring.time]} of times", "time", "impossible below the last figure"),
    )
    for what, kind, last in kinds:
        values = [getattr(c, kind) for limit in limits for c in limit.ceilings]
        unit, scale = unit_of(values, kind)
        decimals = max(0, 3 - math.floor(math.log10(min(values) / scale)))
        title = f"Limits {era.id}: {what} [{unit}], {last}"
        # Cards that other conditions apply to have other columns, so each kind of card has its own table.
        for heads in dict.fromkeys(_heads(limit) for limit in limits):
            rows = [
                [
                    clean(limit.label),
                    limit.gpu.id,
                    *(f"{getattr(c, kind) / scale:.{decimals}f}" for c in effective(limit.ceilings)),
                ]
                for limit in limits
                if _heads(limit) == heads
            ]
            yield title, ["label", "card", *heads], rows
            title = ""


def effective(ceilings: Sequence[Ceiling]) -> list[Ceiling]:
    """The ceilings without those that a smaller set of conditions gives as well."""
    kept: list[Ceiling] = []
    for ceiling in ceilings:
        smaller = [c for c in kept if set(c.conditions) < set(ceiling.conditions)]
        if not any(c.rate >= ceiling.rate and c.time <= ceiling.time for c in smaller):
            kept.append(ceiling)
    return kept


def _heads(limit: Limits) -> tuple[str, ...]:
    return tuple(_head(c.conditions) for c in effective(limit.ceilings))


def _head(conditions: tuple[str, ...]) -> str:
    if not conditions:
        return "dram"
    if set(conditions) >= _CACHES:
        return " + ".join(("both", *(c for c in conditions if c not in _CACHES)))
    return " + ".join(conditions)


def _brief(board: Board) -> dict[str, Any]:
    return {
        "id": board.id,
        "name": board.name,
        "workload": board.workload,
        "dtype": board.dtype,
        "eras": [era.id for era in board.eras],
        "cases": [{"name": c.name, **{k: whole(v) for k, v in c.sizes.items()}} for c in board.cases],
    }


def _era_object(era: Era) -> dict[str, Any]:
    scoring, harness = era.scoring, era.harness
    return {
        "id": era.id,
        "since": None if era.since is None else era.since.isoformat(),
        "until": None if era.until is None else era.until.isoformat(),
        "rate": scoring.rate,
        "time": scoring.time,
        "case_rate": scoring.case_rate,
        "runs": None if scoring.runs is None else list(scoring.runs),
        "ranked_by": scoring.ranked_by,
        "timing": harness.timing,
        "launch_floor_us": rounded(harness.launch_floor / 1e-6),
        "flush": harness.flush or None,
        "output_check": harness.output_check or None,
        "rules_out": [{"condition": r.condition, "reason": r.reason} for r in harness.rules_out],
    }


def _checker_object(checker: Checker) -> dict[str, Any]:
    return {
        "rtol": checker.rtol,
        "atol": checker.atol,
        "output": checker.output or None,
        "reference": checker.reference or None,
        "inputs": [
            {"name": d.name, "draw": d.draw, "low": d.low, "high": d.high, "transform": d.transform or None}
            for d in checker.inputs
        ],
        "seed": checker.seed if checker.reference else None,
        "enforced": [
            {"submission": e.submission, "plain": e.plain, "traffic": e.traffic.text, "cases": list(e.cases)}
            for e in checker.enforced
        ],
        "note": checker.note or None,
        "source": checker.source or None,
    }


def _limits_object(limits: Limits) -> dict[str, Any]:
    return {
        "era": limits.era,
        "label": limits.label,
        "gpu": limits.gpu.id,
        "ceilings": [
            {"conditions": list(c.conditions), "gflops": rounded(c.rate / 1e9), "time_us": rounded(c.time / 1e-6)}
            for c in limits.ceilings
        ],
    }


def _object(board: Board, limits: Sequence[Limits]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        **_brief(board),
        "eras": [_era_object(era) for era in board.eras],
        "gpu_labels": {
            g.label: {"means": list(g.means), "source": g.source or None, "note": g.note or None}
            for g in board.gpu_labels
        },
        "leaderboards": [
            {"name": n.name, "source": n.source or None, "note": n.note or None} for n in board.leaderboards
        ],
        "checker": None if board.checker is None else _checker_object(board.checker),
        "limits": [_limits_object(limit) for limit in limits],
        "notes": list(board.notes),
        "sources": sources_object(board.sources),
    }
