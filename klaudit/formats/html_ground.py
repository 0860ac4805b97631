"""The lower half of the page: how to read verdicts, and the specs that they rest on, each figure with its source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from klaudit.formats.boards import limit_tables, sections
from klaudit.formats.catalogue import counts, judged, measured
from klaudit.formats.markup import element, escaped, grid, listed_items, terms
from klaudit.formats.model import MODEL, MODEL_LIMITS, VERDICTS
from klaudit.formats.provenance import HARNESS, NO_CLEARANCE
from klaudit.gpu import Gpu
from klaudit.provenance import Source
from klaudit.report import Audit, Background
from klaudit.verdict import CONDITIONS
from klaudit.workload import Workload

# Specs of cards and workloads that one page shows in full.
MOST_SPECS: Final = 40


def reading(audit: Audit) -> str:
    """What verdicts, conditions and the model's limits mean."""
    ruled = _reasons(audit)
    held = [(c.id, f"{c.plain}. {c.help}") for c in CONDITIONS if c.id in audit.allowed]
    out = [
        (c.id, f"{c.plain}. {ruled.get(c.id) or 'Ruled out by hand.'}") for c in CONDITIONS if c.id in audit.ruled_out
    ]
    off = [
        (c.id, f"{c.plain}. {c.help}") for c in CONDITIONS if c.id not in audit.allowed and c.id not in audit.ruled_out
    ]
    parts = [element("p", HARNESS), element("p", NO_CLEARANCE.replace("`", "")), "<h3>Verdicts</h3>", terms(VERDICTS)]
    for title, pairs in (
        ("Conditions allowed", held),
        ("Conditions ruled out", out),
        ("Conditions not asked for", off),
    ):
        if pairs:
            parts += [element("h3", title), terms(pairs)]
    return "\n".join([*parts, "<h3>The model, and its limits</h3>", element("p", MODEL), listed_items(MODEL_LIMITS)])


def _reasons(audit: Audit) -> dict[str, str]:
    board = audit.background().board
    return {r.condition: r.reason for era in (board.eras if board else ()) for r in era.harness.rules_out}


def ground(audit: Audit) -> str:
    """Limits of the board, and the specs of board, workloads and cards."""
    background = audit.background()
    return "\n".join([*_limits(background), *_board(background), *_workloads(background), *_gpus(background)])


def _limits(background: Background) -> Iterator[str]:
    if background.board is not None and background.limits:
        for title, head, rows in limit_tables(background.limits, background.board):
            yield element("h3", title) if title else ""
            yield grid(head, rows, left=2)


def _folded(kind: str, name: str, identity: str, parts: Iterator[str]) -> str:
    head = f'{escaped(kind)}: {escaped(name)} <span class="id">{escaped(identity)}</span>'
    return f'<details class="spec"><summary>{head}</summary><div>{"".join(parts)}</div></details>'


def _board(background: Background) -> Iterator[str]:
    board = background.board
    if board is None:
        return

    def parts() -> Iterator[str]:
        for title, items in (*sections(board), ("Notes", list(board.notes))):
            if items:
                yield element("h4", title) + listed_items(items)
        yield _sources(board.sources)

    yield _folded("Board", board.name, board.id, parts())


def _workloads(background: Background) -> Iterator[str]:
    found = {r.workload.id: r.workload for roofs in background.labels.values() for r in roofs if r.workload}
    for workload in list(found.values())[:MOST_SPECS]:
        yield _folded("Workload", workload.name, workload.id, _workload(workload))
    yield from _more(len(found), "workloads")


def _workload(workload: Workload) -> Iterator[str]:
    rows = [[name, count.formula.text, count.why, count.source] for name, count in counts(workload)]
    yield grid(["count", "formula", "why", "source"], rows, left=4)
    sizes = (
        f"Sizes: {', '.join(workload.sizes)}; b is the bytes of an element, {workload.default_dtype} where nobody says."
    )
    yield element("p", sizes)
    yield listed_items(workload.notes)
    yield _sources(workload.sources)


def _gpus(background: Background) -> Iterator[str]:
    found = {r.gpu.id: r.gpu for roofs in background.labels.values() for r in roofs}
    for gpu in list(found.values())[:MOST_SPECS]:
        yield _folded("Card", gpu.name, gpu.id, _gpu(gpu))
    yield from _more(len(found), "cards")


def _gpu(gpu: Gpu) -> Iterator[str]:
    yield "<h4>What the judge uses</h4>" + listed_items(judged(gpu))
    rows = [[f.name, f.text, f.source, f.note] for f in gpu.figures]
    yield "<h4>Figures</h4>" + grid(["figure", "as printed", "source", "note"], rows, left=4)
    for title, items in (
        ("Best measured figures: never an error, only a note", [measured(m) for m in gpu.measured]),
        ("Known deviations", [f"{d.figure}: {d.percent:+.2f} %, {d.reason}" for d in gpu.deviations]),
        ("Notes", list(gpu.notes)),
    ):
        if items:
            yield element("h4", title) + listed_items(items)
    yield _sources(gpu.sources)


def _sources(sources: tuple[Source, ...]) -> str:
    if not sources:
        return ""
    return "<h4>Sources</h4>" + terms((s.key, f"{s.where} ({s.kind}, {s.how})") for s in sources)


def _more(count: int, noun: str) -> Iterator[str]:
    if count > MOST_SPECS:
        yield element(
            "p", f"{count - MOST_SPECS} more {noun}: klaudit {'gpus' if noun == 'cards' else noun} shows them."
        )
