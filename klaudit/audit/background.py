"""What the verdicts of an audit rest on: its board, and the roofs of the cards and workloads met. Nothing is judged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from klaudit.report import Background

if TYPE_CHECKING:
    from klaudit.audit.claims import Claims
    from klaudit.audit.judgement import Judgement
    from klaudit.board import Board
    from klaudit.catalog import Catalog
    from klaudit.gpu import Gpu
    from klaudit.workload import Workload


class Met:
    """The cards, workloads and dtypes that rows were judged on, by label."""

    def __init__(self, board: Board | None, catalog: Catalog, sizes: Mapping[str, float]) -> None:
        self._board = board
        self._catalog = catalog
        self._sizes = sizes
        self._labels: dict[str, dict[tuple[str, int, str, str], tuple[Gpu, Workload | None, str]]] = {}

    def add(self, judgement: Judgement) -> None:
        """Note what one batch was judged on."""
        for judged in judgement.groups:
            claims: Claims = judged.claims
            met = self._labels.setdefault(claims.label, {})
            for gpu in claims.cards:
                name = claims.workload.id if claims.workload else ""
                met[(gpu.id, gpu.cards, name, claims.work.dtype)] = (gpu, claims.workload, claims.work.dtype)

    def background(self) -> Background:
        """The board, its limits on the cards met, and their roofs."""
        # Only reports that show them need the tables.
        from klaudit.audit.tables import limits, roofs

        labels = {
            label: tuple(roofs(gpu, workload, dtype, self._sizes_of(workload)) for gpu, workload, dtype in met.values())
            for label, met in self._labels.items()
        }
        cards = {r.gpu.id for found in labels.values() for r in found}
        known = limits(self._board, self._catalog) if self._board else ()
        return Background(self._board, labels, tuple(limit for limit in known if limit.gpu.id in cards))

    def _sizes_of(self, workload: Workload | None) -> Mapping[str, float]:
        """The sizes at which a workload's own roofs are shown: those of the board's largest case, or the user's."""
        if workload is None or workload.per_element:
            return {}
        if self._board and self._board.cases:
            return max(self._board.cases, key=lambda case: math.prod(case.sizes.values())).sizes
        return self._sizes
