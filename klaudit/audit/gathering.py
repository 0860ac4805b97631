"""What an audit gathers over its batches: counts, findings, remarks and, where asked for, every row. No judging."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from klaudit.audit.judgement import Judgement
from klaudit.audit.keeping import STEP, Accepting, Keeping
from klaudit.audit.reports import above_measured, report_rows
from klaudit.board import Board
from klaudit.bounds import Settled
from klaudit.leaderboard import Leaderboard
from klaudit.report import RowReport, Summary
from klaudit.verdict import Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]

# Cells that were not read, of rows that are judged all the same, and labels, that the remarks name.
_MOST_UNREAD: Final = 5


class Gathering:
    """Counts, findings and, where asked for, everything, over the batches of an audit."""

    def __init__(self, kept: Keeping, keep_rows: bool, gpu: str, accept: Accepting | None) -> None:
        self.kept = kept
        self.keep_rows = keep_rows
        self.accept = accept
        self.gpu = gpu
        self.summary = Summary()
        self.by_gpu: dict[str, Summary] = {}
        self.undated = 0
        self.unread: list[str] = []
        self.counted: dict[str, None] = {}
        self._kept: list[tuple[Judgement, dict[str, Flags]]] = []
        self._seen = np.zeros(0, dtype=np.uint64)
        self._settled: set[str] = set()

    def add(self, judgement: Judgement) -> None:
        """Take in one batch."""
        self.undated += judgement.undated
        self.note(judgement)
        # A row that is judged by its other figures may be within: that a cell of it was not read must not go unsaid.
        judged = (
            t.message
            for t in judgement.leaderboard.troubles
            if judgement.group[t.row] >= 0 and not t.fatal and t.rule != "unknown-date"
        )
        self.unread += itertools.islice(judged, max(_MOST_UNREAD + 1 - len(self.unread), 0))
        flagged = np.flatnonzero(judgement.verdict != Verdict.WITHIN)
        told = np.arange(len(judgement.leaderboard)) if self.keep_rows else flagged[: self.kept.room]
        marks = {"above-measured": above_measured(judgement), "duplicate-entry": self._repeated(judgement, told)}
        self._count(judgement, marks["above-measured"])
        self.kept.add(judgement, flagged, marks)
        if self.keep_rows:
            self._kept.append((judgement, marks))

    def remarks(self, board: Board | None) -> tuple[str, ...]:
        """Sentences on the whole audit."""
        found = []
        if board is not None and self.undated:
            found.append(
                f"{self.undated} rows have no date and {board.name} changed its rules:"
                " the most lenient of its eras decided"
            )
        if self.counted:
            names = ", ".join(list(self.counted)[:_MOST_UNREAD])
            found.append(f"judged as several cards together, as their labels say: {names}")
        found += [f"not read, and judged by what else the row says: {m}" for m in self.unread[:_MOST_UNREAD]]
        if len(self.unread) > _MOST_UNREAD:
            found.append("more cells were not read; --rows all shows every row's notes")
        return tuple(found)

    def name(self, batch: Leaderboard) -> None:
        """List the batch's labels in its order, whichever of their rows are counted first."""
        present = np.bincount(batch.gpu_codes + 1, minlength=len(batch.gpu_labels) + 1)
        for label, count in zip((*batch.gpu_labels, self.gpu), (*present[1:], present[0]), strict=True):
            if count:
                self.by_gpu.setdefault(label, Summary())

    def note(self, judgement: Judgement) -> None:
        """Note what the labels of a batch say of all their rows."""
        self.counted |= {j.claims.label: None for j in judgement.groups if "several-gpus" in j.claims.notes}

    def settle(self, settled: Settled) -> list[str]:
        """Count rows that are within for sure; returns the labels that are new."""
        for label, count in settled.counts.items():
            row = [count if verdict is Verdict.WITHIN else 0 for verdict in Verdict]
            for summary in (self.summary, self.by_gpu.setdefault(label or self.gpu, Summary())):
                summary.add(row, settled.above_measured.get(label, 0))
        new = [label for label in settled.counts if label not in self._settled]
        self._settled.update(new)
        return new

    def _count(self, judgement: Judgement, measured: Flags) -> None:
        labels = (*judgement.leaderboard.gpu_labels, self.gpu)
        codes = np.where(judgement.leaderboard.gpu_codes < 0, len(labels) - 1, judgement.leaderboard.gpu_codes)
        shape = (len(labels), len(Verdict))
        counts = np.bincount(codes * len(Verdict) + judgement.verdict, minlength=shape[0] * shape[1]).reshape(shape)
        above = np.bincount(codes[measured], minlength=len(labels))
        for label, row, notes in zip(labels, counts, above, strict=True):
            if row.any():
                for summary in (self.summary, self.by_gpu.setdefault(label, Summary())):
                    summary.add(row, int(notes))

    def _repeated(self, judgement: Judgement, told: NDArray[np.intp]) -> Flags:
        """Of the rows that are told of, those whose entry, GPU and figures an earlier one of them has too."""
        leaderboard = judgement.leaderboard
        labels = [hash(label) for label in (*leaderboard.gpu_labels, "")]
        # Eight bytes a row and no more: a hash, exact enough for a note, and flat over a file of any length.
        keys = np.array([hash(leaderboard.entries[row]) for row in told.tolist()], dtype=np.int64).view(np.uint64)
        columns = [np.array(labels)[leaderboard.gpu_codes[told]], *(f.value[told] for f in leaderboard.figures)]
        for column in columns:
            keys = (keys ^ np.ascontiguousarray(column).view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
            keys ^= keys >> np.uint64(29)
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        repeated = np.zeros(len(keys), dtype=np.bool_)
        repeated[order[1:]] = ordered[1:] == ordered[:-1]
        if len(self._seen) and len(keys):
            places = np.minimum(np.searchsorted(self._seen, keys), len(self._seen) - 1)
            repeated |= self._seen[places] == keys
        self._seen = np.sort(np.concatenate([self._seen, keys[~repeated]]))
        flags = np.zeros(len(leaderboard), dtype=np.bool_)
        flags[told[repeated]] = True
        return flags

    def rows(self) -> Iterator[RowReport]:
        """Every row's report, in the order of the input."""
        accept = None if self.accept is None else self.accept.again()
        for judgement, marks in self._kept:
            for start in range(0, len(judgement.leaderboard), STEP):
                stop = min(start + STEP, len(judgement.leaderboard))
                for row in report_rows(judgement, np.arange(start, stop), marks):
                    yield row if accept is None or row.verdict is Verdict.WITHIN else accept.mark(row)
