"""A file of specs/boards as a Board, by itself or like another board."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping
from typing import Any, Final, get_args

from klaudit.board import (
    LAUNCH_FLOORS,
    Board,
    Case,
    CaseInputs,
    Checker,
    Draw,
    Enforced,
    Era,
    GpuLabel,
    Harness,
    LeaderboardName,
    Rule,
    RuledOut,
    Scoring,
)
from klaudit.errors import FormulaError
from klaudit.formula import Formula
from klaudit.readers.headers import normalise
from klaudit.readers.strict_yaml import Section, open_spec
from klaudit.verdict import CONDITION_IDS
from klaudit.workload import DTYPE_BYTES

_RULES: Final = get_args(Rule)
_CASE_RATES: Final = ("mean-of-runs", "work-over-mean-time")
_OUTPUTS: Final = ("", "zeros", "ones", "uninitialised")
_SEEDS: Final = ("fixed", "fresh")
_DRAWS: Final = ("uniform", "normal", "signs", "scattered")
# Inputs are drawn in float32, and so is the difference of the ends of a range.
_LARGEST: Final = 1e38
# With which `b` a formula is tried when it is read.
_ELEMENT_BYTES: Final = 4.0


def read_board(text: str, file: str, load_board: Callable[[str], Board | None]) -> Board:
    """The board that the spec `text` describes.

    Parameters
    ----------
    text, file : str
        What the spec holds, and how errors name it.
    load_board : callable
        Loads the board that this one is like, by its id; None where there is none.

    Raises
    ------
    SpecError
        When it breaks the format: names the file, the line, the key and what is allowed.
    """
    root = open_spec(text, file)
    with root as spec:
        board_id = spec.identity()
        eras, labels = _read_rules(spec, board_id, load_board)
        workload = spec.text("workload") if "workload" in spec else None
        cases = _read_cases(spec, workload)
        board = Board(
            id=board_id,
            name=spec.text("name"),
            workload=workload,
            dtype=spec.word("dtype", DTYPE_BYTES) if "dtype" in spec else None,
            eras=eras,
            cases=cases,
            gpu_labels=labels,
            checker=_read_checker(spec, cases) if "checker" in spec else None,
            sources=tuple(spec.document.sources.values()),
            notes=spec.texts("notes"),
            leaderboards=_read_leaderboards(spec),
        )
    root.check_sources_used()
    return board


def _read_rules(
    spec: Section, board_id: str, load_board: Callable[[str], Board | None]
) -> tuple[tuple[Era, ...], tuple[GpuLabel, ...]]:
    """Eras and GPU labels: the file's own, or those of the board that it is like, under its own ids."""
    if "like" not in spec:
        return _read_eras(spec, board_id), _read_labels(spec)
    for key in ("eras", "gpu_labels"):
        if key in spec:
            raise spec.error(f"{key!r} cannot stand beside 'like': the other board's rules are taken whole", key)
    other = load_board(spec.text("like"))
    if other is None:
        raise spec.error(f"like: no board has the id {spec.text('like')!r}", "like")
    used = {e.scoring.source for e in other.eras} | {e.harness.source for e in other.eras}
    used |= {g.source for g in other.gpu_labels}
    spec.document.adopt(s for s in other.sources if s.key in used)
    return tuple(e._replace(id=board_id + e.id.removeprefix(other.id)) for e in other.eras), other.gpu_labels


def _read_eras(spec: Section, board_id: str) -> tuple[Era, ...]:
    sections = spec.sections("eras")
    if not sections:
        raise spec.error("'eras' is missing; a board has at least one, or is 'like' another")
    eras: list[Era] = []
    since: datetime.date | None = None
    for section in sections:
        with section as era:
            era_id = era.text("id")
            if era_id != board_id and not era_id.startswith(f"{board_id}-"):
                raise era.error(f"{era.path}: id {era_id!r} must be {board_id!r} or start with '{board_id}-'", "id")
            if any(e.id == era_id for e in eras) or (era_id == board_id and len(sections) > 1):
                raise era.error(f"{era.path}: id {era_id!r} is taken", "id")
            until = era.date("until") if "until" in era else None
            if until is None and section is not sections[-1]:
                raise era.error(f"{era.path}: 'until' is missing; only the last era may lack it")
            if until and since and until <= since:
                raise era.error(f"{era.path}: until {until} is not after {since}, when the era began", "until")
            eras.append(Era(era_id, _read_scoring(era), _read_harness(era), since, until))
            since = until
    return tuple(eras)


def _read_scoring(era: Section) -> Scoring:
    with era.section("scoring") as scoring:
        # The words are checked; mypy cannot see that they are the Literals.
        words: dict[str, Any] = {
            "rate": scoring.word("rate", _RULES),
            "time": scoring.word("time", _RULES),
            "case_rate": scoring.word("case_rate", _CASE_RATES),
            "ranked_by": scoring.word("ranked_by", ("rate", "time")),
        }
        return Scoring(**words, runs=scoring.span("runs"), source=scoring.source())


def _read_harness(era: Section) -> Harness:
    with era.section("harness") as harness:
        timing: Any = harness.word("timing", LAUNCH_FLOORS)
        rules_out = []
        for section in harness.sections("rules_out"):
            with section as rule:
                rules_out.append(RuledOut(rule.word("condition", CONDITION_IDS), rule.text("reason")))
        return Harness(timing, harness.text("flush"), harness.text("output_check"), tuple(rules_out), harness.source())


def _read_labels(spec: Section) -> tuple[GpuLabel, ...]:
    if "gpu_labels" not in spec:
        return ()
    labels = []
    with spec.section("gpu_labels") as table:
        for label in table.keys:
            with table.section(label) as entry:
                means = entry.texts("means", required=True)
                if not means:
                    raise entry.error(f"{entry.path}: means is empty", "means")
                labels.append(GpuLabel(label, means, entry.source(), entry.text("note", "")))
    return tuple(labels)


def _read_cases(spec: Section, workload: str | None) -> tuple[Case, ...]:
    cases: list[Case] = []
    taken: set[str] = set()
    for section in spec.sections("cases"):
        if workload is None:
            raise section.error("'cases' need a workload")
        with section as case:
            with case.section("sizes") as sizes:
                values = {size: float(sizes.count(size)) for size in sizes.keys}
            cases.append(Case(case.text("name"), values, case.texts("aliases")))
            for name in (cases[-1].name, *cases[-1].aliases):
                if name in taken:
                    raise case.error(f"{case.path}: {name!r} already names a case")
                taken.add(name)
    return tuple(cases)


def _read_leaderboards(spec: Section) -> tuple[LeaderboardName, ...]:
    found: dict[str, LeaderboardName] = {}
    for section in spec.sections("leaderboards"):
        with section as entry:
            name = entry.text("name")
            if not normalise(name):
                raise entry.error(f"{entry.path}: {name!r} names nothing; a name has letters or digits", "name")
            taken = found.get(normalise(name))
            if taken is not None:
                raise entry.error(f"{entry.path}: {name!r} is listed already, as {taken.name!r}", "name")
            found[normalise(name)] = LeaderboardName(name, entry.source(), entry.text("note", ""))
    if "leaderboards" in spec and not found:
        raise spec.error("leaderboards is empty: a board that stands for any has no such key", "leaderboards")
    return tuple(found.values())


def _read_checker(spec: Section, cases: tuple[Case, ...]) -> Checker:
    names = tuple(case.name for case in cases)
    with spec.section("checker") as checker:
        departures = []
        for section in checker.sections("cases"):
            with section as entry:
                departures.append(CaseInputs(entry.word("case", names), _read_draws(entry), _read_parameters(entry)))
        seed: Any = checker.word("seed", _SEEDS, "fixed")
        return Checker(
            rtol=checker.number("rtol", 0) if "rtol" in checker else None,
            atol=checker.number("atol", 0) if "atol" in checker else None,
            atol_of_max=checker.number("atol_of_max", 0) if "atol_of_max" in checker else None,
            matched=checker.number("matched", 0, 1) if "matched" in checker else 1.0,
            output=checker.word("output", _OUTPUTS, ""),
            reference=checker.text("reference", ""),
            inputs=_read_draws(checker),
            cases=tuple(departures),
            seed=seed,
            enforced=_read_enforced(checker, cases),
            note=checker.text("note", ""),
            source=checker.source(),
        )


def _read_draws(parent: Section) -> tuple[Draw, ...]:
    draws = []
    for section in parent.sections("inputs"):
        with section as entry:
            # The words are checked; mypy cannot see that they are the Literals.
            fields: dict[str, Any] = {
                "draw": entry.word("draw", _DRAWS),
                "transform": entry.word("transform", ("", "softmax"), ""),
            }
            fields.update({key: entry.number(key, -_LARGEST, _LARGEST) for key in ("low", "high") if key in entry})
            if "share" in entry:
                fields["share"] = entry.number("share", 0)
            draw = Draw(entry.text("name"), **fields)
            if draw.draw == "normal" and draw.high < 0:
                raise entry.error(f"{entry.path}.high: {draw.high:g} is no deviation; it must be 0 or more", "high")
            if draw.draw == "uniform" and draw.low > draw.high:
                raise entry.error(f"{entry.path}: low {draw.low:g} is above high {draw.high:g}")
            draws.append(draw)
    return tuple(draws)


def _read_parameters(entry: Section) -> dict[str, float]:
    if "parameters" not in entry:
        return {}
    with entry.section("parameters") as table:
        return {name: table.number(name) for name in table.keys}


def _read_enforced(checker: Section, cases: tuple[Case, ...]) -> tuple[Enforced, ...]:
    names = tuple(case.name for case in cases)
    sizes = (*(cases[0].sizes if cases else ()), "b")
    found = []
    for section in checker.sections("enforced"):
        with section as entry:
            accepted = entry.words("cases", names) if "cases" in entry else names
            traffic = entry.formula("traffic", sizes)
            for case in cases:
                _check_traffic(entry, traffic, {**dict.fromkeys(sizes, _ELEMENT_BYTES), **case.sizes})
            found.append(Enforced(entry.text("submission"), entry.text("plain"), traffic, accepted))
    return tuple(found)


def _check_traffic(entry: Section, traffic: Formula, sizes: Mapping[str, float]) -> None:
    """Stop where a formula gives what is no count of bytes."""
    try:
        value = traffic(sizes)
    except FormulaError as error:
        raise entry.error(f"{entry.path}.traffic: {error}", "traffic") from None
    if not (isinstance(value, float) and 0 <= value < math.inf):
        raise entry.error(f"{entry.path}.traffic is {value} at {sizes}; it must be 0 or more bytes", "traffic")
