"""Where rows stand: a submission on a board, in one sentence, and the podiums with and without rows that fail."""

from __future__ import annotations

from itertools import zip_longest
from typing import Final

from klaudit.formats import numbers
from klaudit.formats.text import clean, plural
from klaudit.report import Podium, Standing

_NAME_CELLS: Final = 60


def sentence(standing: Standing) -> str:
    """Its rank, and by how much it beats the best row that is within."""
    entry = clean(standing.row.entry, _NAME_CELLS) or "(no name)"
    board = clean(standing.board, _NAME_CELLS)
    if not standing.kind:
        return f"{entry} cannot be ranked on {board}: no row of its card reports a figure that it reports too"
    said = f"{entry} would be number {standing.rank} of {standing.of} on {board} by its {standing.kind}"
    if standing.best_value is None or standing.lead is None:
        return f"{said}; no row of its card is within"
    (best,) = numbers.together([standing.best_value], standing.kind)
    whose = f"{clean(standing.best_entry, _NAME_CELLS) or '(no name)'} (line {standing.best_line}, {best})"
    among = f"number {standing.rank_within} of {plural(standing.of_within, 'row')} within"
    if standing.lead >= 1:
        return f"{said}, {among}: {numbers.ratio(standing.lead)} x the best row within, {whose}"
    return f"{said}, {among}: the best row within is {numbers.ratio(1 / standing.lead)} x as good, {whose}"


def podium_lines(podium: Podium) -> list[str]:
    """A podium place by place, as the board has it and without the rows that fail."""
    places = (*podium.before, *podium.after)
    values = iter(numbers.together([place.value for place in places], podium.kind))
    named = [f"{clean(p.entry, _NAME_CELLS) or '(no name)'} (line {p.line}, {next(values)})" for p in places]
    count = len(podium.before)
    pairs = zip_longest(named[:count], named[count:], fillvalue="nobody")
    gpu = clean(podium.gpu, _NAME_CELLS) or "no GPU"
    return [f"Podium of {gpu} by its {podium.kind}, and without the rows that fail:"] + [
        f"{number}. {before} -> {after}" if before != after else f"{number}. {before}"
        for number, (before, after) in enumerate(pairs, 1)
    ]
