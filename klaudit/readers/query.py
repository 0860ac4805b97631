"""The question to DuckDB: which rows of a table lie inside their label's bounds, and the cells of the others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from klaudit.bounds import BEYOND, Regions, Sieve
from klaudit.readers.bulk_csv import Table, quoted
from klaudit.readers.fields import FigurePlan
from klaudit.readers.settle import MOST_LABELS
from klaudit.readers.words import says_no

# The code of rows that are not settled.
UNSETTLED: Final = 255


def query(table: Table, labels: Sequence[str], sieve: Sieve, wanted: Sequence[int]) -> str:
    """The query whose columns are a code for each row and, where that is 255, a list of the wanted cells.

    Of each label, as it is written, the codes are its place in the sieve times two, and the next one where a figure
    beats the best measured one.
    """
    figures = table.layout.figures
    values = [f"{_number(figure.column)} AS v{i}" for i, figure in enumerate(figures)]
    named = f"SELECT *, {_place(table, labels)} AS place, {', '.join(values)} FROM {table.relation}"
    shares = [f"{_share(i, figure, sieve.quiet_regions)} AS s{i}" for i, figure in enumerate(figures)]
    coded = f"SELECT *, {_code(table, sieve)} AS code FROM (SELECT *, {', '.join(shares)} FROM ({named}))"
    # One list for all cells of a row costs less than a column for each, most of them empty.
    cells = ", ".join(f"c{i}" for i in wanted)
    return f"SELECT code, CASE WHEN code = {UNSETTLED} THEN [{cells}] END FROM ({coded})"


def _place(table: Table, labels: Sequence[str]) -> str:
    """The place of a row's label; NULL where it is another one, or where the row may have to be told of anyway."""
    layout = table.layout
    place = "0"
    if "gpu" in layout.texts:
        place = _by(f"c{layout.texts['gpu']}", {quoted(text): str(i) for i, text in enumerate(labels)})
    for index, good in layout.accepted:
        fine = sorted({t for t in table.sample[index] if not says_no(t, good)})[:MOST_LABELS]
        place = f"CASE WHEN c{index} IN ({', '.join(map(quoted, fine)) or 'NULL'}) THEN {place} END"
    if "date" in layout.texts:
        place = f"CASE WHEN {_is_day(layout.texts['date'])} THEN {place} END"
    return place


def _is_day(index: int) -> str:
    """Whether a cell is a day or a time that the plain reader takes; any other makes a note."""
    pattern = "[0-9]{4}-[0-9]{2}-[0-9]{2}([T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z?)?"
    is_one = f"regexp_full_match(c{index}, '{pattern}')"
    return f"{is_one} AND TRY_CAST(left(c{index}, 10) AS DATE) >= DATE '0001-01-01'"


def _number(index: int) -> str:
    """A cell as a number, where the plain reader would read the same one: DuckDB takes 1_000, too."""
    return f"CASE WHEN strlen(c{index}) < 64 AND NOT contains(c{index}, '_') THEN TRY_CAST(c{index} AS DOUBLE) END"


def _by(value: str, results: Mapping[str, str]) -> str:
    return f"CASE {value} {' '.join(f'WHEN {key} THEN {result}' for key, result in results.items())} END"


def _share(i: int, figure: FigurePlan, regions: Regions) -> str:
    """A figure in units of its label's best one."""
    assert figure.unit is not None
    own = [_constant(value * figure.unit.scale) for value in regions.per_best[i].tolist()]
    return f"v{i} * {_by('place', {str(place): constant for place, constant in enumerate(own)})}"


def _constant(value: float) -> str:
    """A float in SQL, NULL for none."""
    return f"{value!r}::DOUBLE" if math.isfinite(value) else "NULL"


def _code(table: Table, sieve: Sieve) -> str:
    """A row's code. What comes behind the first condition is worked out for few rows only."""
    figures = table.layout.figures
    noted = ""
    if sieve.roofs.anywhere:
        beaten = " OR ".join(f"({_beats(i, figure, sieve)})" for i, figure in enumerate(figures))
        roof = _inside(sieve.roofs, [f"({_share(i, figure, sieve.roofs)})" for i, figure in enumerate(figures)])
        noted = f" WHEN {roof} AND ({beaten}) THEN 2 * place + 1"
    quiet = _inside(sieve.quiet_regions, [f"s{i}" for i in range(len(figures))])
    return f"CAST(coalesce(CASE WHEN {quiet} THEN 2 * place{noted} END, {UNSETTLED}) AS UTINYINT)"


def _inside(regions: Regions, shares: Sequence[str]) -> str:
    """Whether a row's figures lie in its label's region, in units of the best ones."""
    tests = []
    for i, (kind, share) in enumerate(zip(regions.kinds, shares, strict=True)):
        # DuckDB puts NaN above everything; a bare zero is no figure.
        tests.append(f"{share} >= 1 AND v{i} <= 1e300" if kind == "time" else f"v{i} > 0 AND {share} <= 1")
    if regions.product is not None:
        time, rate = shares[regions.time], shares[1 - regions.time]
        tests.append(f"{rate} * {time} >= {_constant(regions.product)}")
        tests += [f"{rate} >= {_constant(a)} + {_constant(b)} * {time}" for a, b in regions.lines]
    return " AND ".join(tests)


def _beats(i: int, figure: FigurePlan, sieve: Sieve) -> str:
    """Whether a figure beats the best measured one by its printed digits, where those are plain."""
    cell, is_time = f"c{figure.column}", figure.kinds[0] == "time"
    plain = f"strlen({cell}) < 12 AND regexp_full_match({cell}, '[0-9]+([.][0-9]+)?')"
    decimals = f"CASE WHEN contains({cell}, '.') THEN strlen({cell}) - strpos({cell}, '.') ELSE 0 END"
    edge = f"s{i} * (1 {'+' if is_time else '-'} 0.5 * pow(10, -({decimals})) / v{i})"
    # Of cards that differ by a factor this is one number.
    measured = [share for share in (sieve.measured[i] * sieve.quiet_regions.per_best[i]).tolist() if share == share]
    if is_time:
        return f"{plain} AND {edge} < {_constant(min(measured) * (1 - BEYOND))}"
    return f"{plain} AND {edge} > {_constant(max(measured) * (1 + BEYOND))}"
