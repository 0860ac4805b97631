"""What a board's check lets through, as a table, as markdown and as JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TextIO

from klaudit.formats import View
from klaudit.formats.json_ import SCHEMA, dumps, text
from klaudit.formats.lines import LEAST_WIDTH, Line, columns, paragraph, write_lines
from klaudit.formats.numbers import plain, rounded, together, whole
from klaudit.formats.provenance import Stamp
from klaudit.formats.text import clean
from klaudit.loopholes import CaseFindings, Loopholes, Program, Repair, Trial, Window

_AT_ONCE: Final = 5
_BRANCHES: Final = {
    "": "the same for every case",
    "size": "looking at the sizes first",
    "data": "looking at the data first",
}
_SAID: Final = (
    "Inputs are drawn anew from the board's distributions, so its own draws differ in the last digits of these figures."
)


class _Part(NamedTuple):
    """A title, sentences under it, and a table."""

    title: str
    sentences: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    left: int = 1


def write_table(found: Loopholes, out: TextIO, view: View, stamp: Stamp) -> None:
    """Write the analysis for people."""
    write_lines(_lines(found, max(view.width, LEAST_WIDTH), stamp), out, view.color)


def _lines(found: Loopholes, width: int, stamp: Stamp) -> Iterator[Line]:
    yield ((f"{found.board.id}: {clean(found.board.name)}", "bold"),)
    for sentence in _about(found):
        yield from paragraph(sentence, width, "  ", "  ")
    for part in _parts(found):
        yield ()
        yield ((part.title, "bold"),)
        for sentence in part.sentences:
            yield from paragraph(sentence, width, "    ", "  - ")
        if part.rows:
            yield from columns(part.header, part.rows, width, left=part.left, squeeze=0)
    yield ()
    yield from paragraph(_SAID, width)
    yield from stamp.lines(width)[:1]


def write_markdown(found: Loopholes, out: TextIO, view: View, stamp: Stamp) -> None:
    """Write the analysis as markdown, for an issue or a step summary."""
    out.write(f"## {found.board.id}: {_escaped(found.board.name)}\n\n")
    out.write("\n\n".join(_escaped(sentence) for sentence in _about(found)) + "\n")
    for part in _parts(found):
        out.write(f"\n### {part.title}\n\n")
        for sentence in part.sentences:
            out.write(f"- {_escaped(sentence)}\n")
        if part.rows:
            rule = [":--" if i < part.left else "--:" for i in range(len(part.header))]
            out.write("\n" * bool(part.sentences))
            for row in (part.header, tuple(rule), *part.rows):
                out.write(f"| {' | '.join(_escaped(cell) for cell in row)} |\n")
    out.write(f"\n{_SAID}\nklaudit {stamp.version}, specs of {stamp.specs}.\n")


def _escaped(said: str) -> str:
    """Text that markdown shows as it is."""
    said = clean(said)
    for sign in "\\|*_<[`":
        said = said.replace(sign, "&lt;" if sign == "<" else f"\\{sign}")
    return said


def _about(found: Loopholes) -> Iterator[str]:
    output = found.board.checker.output if found.board.checker else ""
    yield f"check: {found.check}; values are checked: {clean(found.rechecked) or 'unknown'}"
    yield f"output before the kernel: {output or 'unknown'}"
    looked = "every output" if all(case.examined == case.outputs for case in found.cases) else "a sample where so said"
    yield f"looked at: {looked}, seed {found.seed}"


def _parts(found: Loopholes) -> Iterator[_Part]:
    yield _Part("Findings", found.headlines)
    yield _cases(found)
    names = list(dict.fromkeys(t.submission for case in found.cases for t in case.trials))
    for start in range(0, len(found.cases), _AT_ONCE):
        yield _trials(found.cases, names, start)
    yield _Part("The cheapest program that every case accepts", tuple(_program(p, found) for p in found.programs))
    if found.roofs and sum(found.programs[-1].traffic) < sum(case.compulsory for case in found.cases):
        yield _roofs(found)
    yield _Part("A tolerance that would do", tuple(_repair(found.repair)))


def _cases(found: Loopholes) -> _Part:
    rows = []
    for number, case in enumerate(found.cases, start=1):
        looked = str(case.outputs) if case.examined == case.outputs else f"{case.examined} of {case.outputs}"
        rows.append(
            (
                f"{number} {clean(case.case.name, 40)}",
                looked,
                f"{case.largest:.3g}",
                f"{case.atol:.3g}",
                f"{case.compulsory:.6g}",
                _fraction(case.fraction),
            )
        )
    header = ("case", "outputs", "max |reference|", "atol", "compulsory B", "must compute")
    return _Part("Cases", (), header, tuple(rows))


def _trials(cases: Sequence[CaseFindings], names: Sequence[str], start: int) -> _Part:
    """What each submission is off by, in tolerances: at or below 1 it passes."""
    some = cases[start : start + _AT_ONCE]
    rows = []
    for name in names:
        trials = [next((t for t in case.trials if t.submission == name), None) for case in some]
        honest = any(t.honest for t in trials if t)
        cells = [_cell(t, case) for t, case in zip(trials, some, strict=True)]
        if any(trials):
            rows.append((f"{name} *" if honest else name, *cells))
    rows.sort(key=lambda row: row[0].endswith("*"))
    header = ("submission", *(f"case {start + i + 1}" for i in range(len(some))))
    title = "Largest error beyond rtol, in units of atol" + (f", cases from {start + 1}" if start else "")
    return _Part(title, ("* honest: must pass",), header, tuple(rows))


def _cell(trial: Trial | None, case: CaseFindings) -> str:
    if trial is None:
        return "-"
    word = "pass" if trial.accepted else "FAIL"
    if trial.submission == "partial":
        return f"{word} at {_fraction(case.fraction)}"
    size = trial.error / case.atol if case.atol else trial.error
    return f"{word} {size:.2g}" if math.isfinite(size) else f"{word} -"


def _fraction(share: float) -> str:
    """A share that is not all must not look as if it were."""
    return "1" if share == 1 else f"{min(share, 0.9999):.4g}"


def _program(program: Program, found: Loopholes) -> str:
    most = sum(case.compulsory for case in found.cases)
    share = 100 * sum(program.traffic) / most
    by_what: dict[str, list[int]] = {}
    for number, what in enumerate(program.plain, start=1):
        by_what.setdefault(what, []).append(number)
    each = "; ".join(
        what if len(by_what) == 1 else f"{what} (case {', '.join(map(str, numbers))})"
        for what, numbers in by_what.items()
    )
    return f"{_BRANCHES[program.branches]}: {each}. {share:.3g} % of the compulsory bytes"


def _roofs(found: Loopholes) -> _Part:
    rows = []
    for roof in found.roofs:
        bounded = math.isfinite(roof.enforced)
        shown = together([roof.compulsory, roof.enforced], "rate") if bounded else together([roof.compulsory], "rate")
        left, times = (shown[1], f"{roof.share:.3g}") if bounded else ("no bound", "-")
        rows.append((clean(roof.label), roof.gpu.id, shown[0], left, times))
    header = ("label", "card", "dram roof", "accepted up to", "times")
    return _Part("What may be scored and still be accepted", (), header, tuple(rows), left=2)


def _repair(repair: Repair) -> Iterator[str]:
    if repair.check:
        yield f"use {repair.check}"
    else:
        yield f"no one tolerance does: {repair.reason}"
    yield _window(repair.relative, "as a share of each case's max |reference|")
    yield _window(repair.absolute, "as one atol for all cases")


def _window(window: Window, what: str) -> str:
    if not window.exists:
        needed = f"honest kernels need {window.low:.3g} ({window.honest})"
        return f"{what}: no window, since {needed} and {window.high:.3g} accepts {window.trivial}"
    edges = f"from {window.low:.3g} ({window.honest}) to {window.high:.3g} ({window.trivial})"
    if window.chosen is None:
        return f"{what}: {edges}, too narrow to use"
    below, above = window.margins
    return f"{what}: {edges}; {window.chosen:g} leaves factors of {plain(below, 2)} and {plain(above, 2)}"


def write_json(found: Loopholes, out: TextIO, view: View, stamp: Stamp) -> None:
    """Write the analysis for machines; `enforced` is what a board's spec keeps of it."""
    out.write(
        dumps(
            {
                "schema": SCHEMA,
                **stamp.json(),
                "board": found.board.id,
                "check": found.check,
                "rechecked": text(found.rechecked) or None,
                "seed": found.seed,
                "quick": found.quick,
                "headlines": [text(sentence) for sentence in found.headlines],
                "cases": [_case_object(case) for case in found.cases],
                "programs": [
                    {
                        "branches": program.branches or None,
                        "submissions": [text(what) for what in program.plain],
                        "bytes": [whole(size) for size in program.traffic],
                        "skipped": list(program.skipped),
                    }
                    for program in found.programs
                ],
                "roofs": [
                    {
                        "label": text(roof.label),
                        "gpu": roof.gpu.id,
                        "gflops": rounded(roof.compulsory / 1e9),
                        "accepted_gflops": rounded(roof.enforced / 1e9),
                        "times": rounded(roof.share),
                    }
                    for roof in found.roofs
                ],
                "repair": {
                    "check": found.repair.check or None,
                    "reason": text(found.repair.reason) or None,
                    "of_max": _window_object(found.repair.relative),
                    "absolute": _window_object(found.repair.absolute),
                    "cases": [_window_object(window) for window in found.repair.by_case],
                },
                "enforced": list(enforced(found)),
            }
        )
        + "\n"
    )


def _case_object(case: CaseFindings) -> dict[str, Any]:
    return {
        "name": text(case.case.name),
        **{name: whole(value) for name, value in case.case.sizes.items()},
        "outputs": case.outputs,
        "examined": case.examined,
        "max_reference": rounded(case.largest),
        "atol": rounded(case.atol),
        "compulsory_bytes": whole(case.compulsory),
        "least_fraction": rounded(case.fraction),
        "trials": [
            {
                "submission": trial.submission,
                "plain": text(trial.plain),
                "honest": trial.honest,
                "accepted": trial.accepted,
                "error": rounded(trial.error),
                "bytes": whole(trial.traffic),
                "skipped": list(trial.skipped),
            }
            for trial in case.trials
        ],
    }


def _window_object(window: Window) -> dict[str, Any]:
    below, above = window.margins
    return {
        "low": rounded(window.low),
        "high": rounded(window.high),
        "honest": text(window.honest),
        "trivial": text(window.trivial),
        "chosen": rounded(window.chosen),
        "margins": None if window.chosen is None else [rounded(below), rounded(above)],
    }


def enforced(found: Loopholes) -> Iterator[dict[str, Any]]:
    """The trivial submissions that spare traffic, as a board's spec lists them: checker.enforced.

    Where two move the same bytes, the one that more cases accept is enough.
    """
    accepted: dict[str, list[CaseFindings]] = {}
    shown: dict[str, Trial] = {}
    for case in found.cases:
        for trial in case.trials:
            # How many terms of one sum are enough is the luck of the draw.
            lucky = trial.submission == "partial" and case.outputs == 1
            if trial.accepted and not trial.honest and trial.traffic < 0.99 * case.compulsory and not lucky:
                accepted.setdefault(trial.submission, []).append(case)
                shown[trial.submission] = trial
    told: dict[str, set[str]] = {}
    for slug, cases in sorted(accepted.items(), key=lambda item: -len(item[1])):
        trial, names = shown[slug], {case.case.name for case in cases}
        if names <= told.get(trial.formula, set()):
            continue
        told.setdefault(trial.formula, set()).update(names)
        every = len(cases) == len(found.cases)
        yield {
            "submission": slug,
            "plain": text(_without_numbers(trial)),
            "traffic": trial.formula,
            **({} if every else {"cases": [text(case.case.name) for case in cases]}),
        }


def _without_numbers(trial: Trial) -> str:
    """What a submission does, without the parameters that differ from case to case."""
    kind, _, name = trial.submission.partition("-of-")
    unread = f" without reading {' and '.join(trial.skipped)}" if trial.skipped else ""
    if kind == "constant":
        return "writing a constant without reading the inputs"
    if kind == "multiple":
        return f"writing a multiple of {name}{unread}"
    if trial.submission.startswith("affine-in-"):
        return f"writing an affine function of {trial.submission.removeprefix('affine-in-')}{unread}"
    if trial.submission.endswith("-where-needed"):
        name = trial.submission.removesuffix("-where-needed")
        return f"writing a multiple of {name} only where it exceeds the tolerance{unread}"
    if trial.submission == "partial":
        return "computing only a part of the outputs"
    return trial.plain


FORMATS: Final[Mapping[str, Callable[[Loopholes, TextIO, View, Stamp], None]]] = {
    "table": write_table,
    "json": write_json,
    "markdown": write_markdown,
}
