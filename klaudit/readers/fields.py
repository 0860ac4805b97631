"""Which column of a file is which: the user's word first, then the board's cases, then names. No rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from klaudit.errors import InputError, UsageError
from klaudit.leaderboard import FigureKind
from klaudit.readers.headers import (
    FIGURE_KINDS,
    Header,
    Rule,
    as_count,
    case_keys,
    figure_kinds,
    normalise,
    read_header,
)
from klaudit.readers.options import ReadOptions
from klaudit.units import Unit


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# The better name first: where a file has several, the first is taken.
_TEXT_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "entry": _words(
        "entry name user username submission submissionname author kernel kernelname solution team competitor "
        "benchmark submissionid entryid id"
    ),
    "gpu": _words(
        "gpu gputype gpuname gpumodel gpuaswritten devicename device hardware card accelerator gpuid deviceid"
    ),
    "date": _words("createdat created date datetime submissiontime submittedat submitted timestamp"),
    "dtype": _words("dtype precision datatype"),
    # Of which leaderboard a row is, in an export of several.
    "leaderboard": _words("leaderboard leaderboardname problemslug problemname problem problemtitle"),
    # Whether a row's bytes are compulsory ones; too plain a word to be read without being named.
    "traffic": _words("trafficcounts"),
}
_ACCEPTED: Final = frozenset(_words("passed correct correctness status accepted compiled"))
_SKIPPED: Final = "skipped"
# The field's own name first: it wins over the others, which exclude each other.
_NUMBER_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "runs": _words("runs reps repeats repetitions iterations iters numtrials trials samples numruns"),
    "flops": _words("flops flop flopcount totalflops operations"),
    "reads": _words("readbytes reads read bytesread"),
    "writes": _words("writebytes writes write written byteswritten writtenbytes"),
    "flops_per_element": _words("flopsperelement flopperelement flopsperelem flopperelem"),
    "bytes_per_element": _words("bytesperelement bytesperelem"),
    "baseline": _words(
        "baseline baselinetime baselineruntime baselinelatency reference referencetime referenceruntime "
        "referencelatency ref reftime refruntime reflatency"
    ),
    "speedup": _words("speedup speedupfactor"),
}
_UNIT_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "flops": ("work",),
    "reads": ("bytes",),
    "writes": ("bytes",),
    "baseline": ("time",),
}
_WORK_FIELDS: Final = ("flops", "reads", "writes", "flops_per_element", "bytes_per_element")
_DEFAULT_SIZES: Final[Mapping[str, tuple[str, ...]]] = {
    "n": ("size", "elements", "numel", "num_elements", "length"),
    "m": (),
    "k": (),
}


class FigurePlan(NamedTuple):
    """A column that holds a figure; several kinds while only its cells can say which."""

    column: int
    header: str
    kinds: tuple[FigureKind, ...]
    unit: Unit | None
    rule: Rule | None = None
    case: str | None = None
    fastest: bool = False


class NumberPlan(NamedTuple):
    """A column that holds a size, a count or a time to divide."""

    column: int
    header: str
    field: str
    unit: Unit | None = None

    @property
    def unit_kinds(self) -> tuple[str, ...]:
        """The kinds of unit its cells may have; none for a bare number."""
        return _UNIT_KINDS.get(self.field, ())


class Layout(NamedTuple):
    """What each column of a file is.

    Attributes
    ----------
    headers : tuple of str
        All of them, as written.
    texts : mapping of str to int
        entry, gpu, date, dtype and traffic, and their columns.
    accepted : tuple of (int, bool)
        Columns that say whether a row counts, and the value that says it does.
    """

    headers: tuple[str, ...]
    texts: Mapping[str, int]
    accepted: tuple[tuple[int, bool], ...]
    figures: tuple[FigurePlan, ...]
    sizes: tuple[NumberPlan, ...]
    work: tuple[NumberPlan, ...]
    runs: NumberPlan | None
    baseline: NumberPlan | None
    speedup: NumberPlan | None

    @property
    def used(self) -> frozenset[int]:
        """The columns that say anything."""
        plans = [*self.figures, *self.sizes, *self.work, self.runs, self.baseline, self.speedup]
        indexes = {plan.column for plan in plans if plan is not None}
        return frozenset(indexes | set(self.texts.values()) | {index for index, _ in self.accepted})

    def settle(self, kinds: Mapping[int, FigureKind]) -> Layout:
        """The same with the kinds that the cells of some columns showed."""
        figures = tuple(f._replace(kinds=(kinds[f.column],)) if f.column in kinds else f for f in self.figures)
        _refuse_two_figures(figures)
        return self._replace(figures=figures)


def plan_columns(headers: Sequence[str], options: ReadOptions) -> Layout:
    """Decide which column is which.

    Raises
    ------
    InputError
        When no column holds a figure, or two claim the same one.
    UsageError
        When the options name a field or a header that does not exist.
    """
    return _Planner(headers, options).plan()


class _Planner:
    """The claims of one file's headers."""

    def __init__(self, headers: Sequence[str], options: ReadOptions) -> None:
        self.headers = [read_header(h) for h in headers]
        self.sizes = size_aliases(options)
        self.cases = case_names(options)
        self.forced = {field: self._resolve(field, name) for field, name in options.columns.items()}
        self.free = [i for i in range(len(headers)) if i not in {h for h, _ in self.forced.values()}]
        self.figures: list[FigurePlan] = []
        self.numbers: dict[str, list[int]] = {}
        self.texts: dict[str, list[int]] = {}
        self.accepted: list[tuple[int, bool]] = []
        # Where a board's rules never changed, no date decides anything.
        self.idle = {"date"} if options.board is not None and len(options.board.eras) == 1 else set()
        if options.board is None or not options.board.leaderboards:
            self.idle.add("leaderboard")

    def plan(self) -> Layout:
        """Hear every column, then choose."""
        for index in self.free:
            if self.headers[index].key:
                self._claim(index, self.headers[index])
        self._apply_forced()
        chosen = {field: self._choose(field, indexes) for field, indexes in self.numbers.items()}
        chosen |= {f: self._number(f, *self.forced[f]) for f in self.forced if f in self.sizes or f in _NUMBER_FIELDS}
        figures = tuple(sorted(self.figures, key=lambda f: f.column))
        _refuse_two_figures(figures)
        if not figures and not ("baseline" in chosen and "speedup" in chosen):
            raise InputError(self._nothing_usable())
        return Layout(
            headers=tuple(h.text for h in self.headers),
            texts={f: self._choose_text(f, indexes) for f, indexes in self.texts.items() if f not in self.idle},
            accepted=tuple(self.accepted),
            figures=figures,
            sizes=tuple(p for f, p in chosen.items() if f in self.sizes),
            work=tuple(p for f, p in chosen.items() if f in _WORK_FIELDS),
            runs=chosen.get("runs"),
            baseline=chosen.get("baseline"),
            speedup=chosen.get("speedup"),
        )

    def _claim(self, index: int, header: Header) -> None:
        if (found := self._find_case(header)) is not None:
            case, usable = found
            kinds = FIGURE_KINDS if header.unit is None else tuple(k for k in FIGURE_KINDS if k == header.unit.kind)
            named = figure_kinds(header._replace(words=header.words[-1:]))
            if kinds and usable:
                plan = FigurePlan(index, header.text, named or kinds, header.unit, None, case, header.is_fastest)
                self.figures.append(plan)
            return
        size = next((name for name, keys in self.sizes.items() if header.key in keys), None)
        if size is not None:
            self.numbers.setdefault(size, []).append(index)
            return
        field = next((f for f, keys in _TEXT_FIELDS.items() if header.key in keys), None)
        if field is not None:
            self.texts.setdefault(field, []).append(index)
            self.texts[field].sort(key=lambda i: _TEXT_FIELDS[field].index(self.headers[i].key))
        elif header.key in _ACCEPTED or header.key == _SKIPPED:
            self.accepted.append((index, header.key != _SKIPPED))
        elif (number := _number_field(header)) is not None:
            self.numbers.setdefault(number, []).append(index)
        elif (kinds := figure_kinds(header)) and not header.is_statistic:
            rule, fastest = header.rule, header.is_fastest
            self.figures.append(FigurePlan(index, header.text, kinds, header.unit, rule, fastest=fastest))

    def _find_case(self, header: Header) -> tuple[str, bool] | None:
        """The case that a header names, and whether it is no minimum or percentile of it."""
        own, rest = case_keys(header)
        for key in (*own, *rest):
            if key in self.cases:
                return self.cases[key], key in own or not header.is_statistic
        return None

    def _apply_forced(self) -> None:
        for field, (index, unit) in self.forced.items():
            header = self.headers[index]
            if field in _TEXT_FIELDS:
                self.texts[field] = [index]
            elif field == "accepted":
                self.accepted = [(index, header.key != _SKIPPED)]
            elif field in FIGURE_KINDS:
                kind = next(k for k in FIGURE_KINDS if k == field)
                self._check_unit(field, header, unit, (kind,))
                # The user has said which column is the time: a mean beside it is not a second one.
                others = [(f, tuple(k for k in f.kinds if k != kind or f.case or f.fastest)) for f in self.figures]
                self.figures = [f._replace(kinds=kinds) for f, kinds in others if kinds]
                rule = header.rule if len(header.rules) == 1 else None
                self.figures.append(FigurePlan(index, header.text, (kind,), unit, rule))
            elif field == "fastest":
                self._check_unit(field, header, unit, ("time",))
                self.figures = [f for f in self.figures if not f.fastest or f.case]
                self.figures.append(FigurePlan(index, header.text, ("time",), unit, fastest=True))
            else:
                self.numbers.pop(field, None)
                self._check_unit(field, header, _unit_of(field, unit), _UNIT_KINDS.get(field, ()))

    def _check_unit(self, field: str, header: Header, unit: Unit | None, kinds: tuple[str, ...]) -> None:
        if unit is not None and kinds and unit.kind not in kinds:
            raise UsageError(f"--column {field}={header.text}: {unit.text} is a unit of {unit.kind}, not of {field}")

    def _resolve(self, field: str, name: str) -> tuple[int, Unit | None]:
        """The column that the user means, and its unit."""
        known = (*_TEXT_FIELDS, *FIGURE_KINDS, "fastest", "accepted", *_NUMBER_FIELDS, *self.sizes)
        if field not in known:
            raise UsageError(f"--column {field}={name}: no field is called {field!r}; there are: {', '.join(known)}")
        index = self._find(field, name)
        if index is not None:
            return index, self.headers[index].unit
        # "score (s)" where the file only says "score".
        outside, _, inside = name.rpartition("(")
        unit = read_header(f"({inside}").unit
        index = self._find(field, outside) if outside.strip() and unit is not None else None
        if index is None:
            headers = [h.text for h in self.headers]
            import difflib

            near = difflib.get_close_matches(name, headers, 1)
            hint = f"; nearest is {near[0]!r}" if near else ""
            found = f"the file has no column {name!r}{hint}. It has: {_list(headers)}"
            raise UsageError(f"--column {field}={name}: {found}")
        return index, unit

    def _find(self, field: str, name: str) -> int | None:
        """The one column called so, to the letter if there is one."""
        exact = [i for i, h in enumerate(self.headers) if h.text == name.strip()]
        key = normalise(name)
        found = exact or [i for i, h in enumerate(self.headers) if key and h.key == key]
        if len(found) > 1:
            raise UsageError(f"--column {field}={name}: {len(found)} columns are called so; rename all but one")
        return found[0] if found else None

    def _choose(self, field: str, indexes: Sequence[int]) -> NumberPlan:
        """The one column of a field: the field's own name, else the only one."""
        first = (self.sizes.get(field) or _NUMBER_FIELDS[field])[0]
        own = [i for i in indexes if self.headers[i].text == field] or [
            i for i in indexes if self.headers[i].key == first
        ]
        chosen = own or indexes
        if len(chosen) > 1:
            raise InputError(_two_columns([self.headers[i].text for i in chosen], field))
        return self._number(field, chosen[0], self.headers[chosen[0]].unit)

    def _choose_text(self, field: str, indexes: Sequence[int]) -> int:
        """The column with the best name; two columns of that name are no better than each other."""
        best = self.headers[indexes[0]]
        for index in indexes[1:]:
            if self.headers[index].key == best.key:
                raise InputError(_two_columns([best.text, self.headers[index].text], field))
        return indexes[0]

    def _number(self, field: str, index: int, unit: Unit | None) -> NumberPlan:
        return NumberPlan(index, self.headers[index].text, field, _unit_of(field, unit))

    def _nothing_usable(self) -> str:
        message = (
            f"no column holds a time, a rate or a bandwidth. Found: {_list(h.text for h in self.headers)}. "
            "Understood are headers such as 'Runtime (ms)', 'time_us', 'GFLOPS', 'bandwidth_gb_s'; "
            "another one can be named with --column time=HEADER"
        )
        statistics = [h.text for h in self.headers if h.is_statistic and figure_kinds(h)]
        if statistics:
            message += f". A minimum, median or percentile is taken only when named: --column time={statistics[0]}"
        if any(h.looks_like_a_case for h in self.headers):
            message += ". Some look like the cases of a board: name it with --board"
        return message


def _number_field(header: Header) -> str | None:
    """The field of counts that a header names, its unit aside."""
    for field, keys in _NUMBER_FIELDS.items():
        if header.key in keys:
            return field
        unit = _unit_of(field, header.unit)
        if unit is not None and unit.kind in _UNIT_KINDS[field] and "".join(header.bare) in keys:
            return field
    return None


def _unit_of(field: str, unit: Unit | None) -> Unit | None:
    """A header's unit, where the field has units at all."""
    if unit is None or field not in _UNIT_KINDS:
        return None
    return as_count(unit) if field == "flops" else unit


def count_names(options: ReadOptions) -> dict[str, str]:
    """Keys of headers that are a size or count a row's own work, and the one name to file them under."""
    work = {key: field for field in _WORK_FIELDS for key in _NUMBER_FIELDS[field]}
    return work | {key: name for name, keys in size_aliases(options).items() for key in keys}


def size_aliases(options: ReadOptions) -> dict[str, tuple[str, ...]]:
    """Size names and the header keys that mean them, the own name first."""
    names = dict(_DEFAULT_SIZES)
    for case in options.board.cases if options.board else ():
        names |= {size: () for size in case.sizes if size not in names}
    for name, aliases in options.size_names.items():
        names[name] = (*names.get(name, ()), *aliases)
    owners = {normalise(name): name for name in names}
    return {
        name: (normalise(name), *(k for k in map(normalise, aliases) if owners.get(k, name) == name))
        for name, aliases in names.items()
    }


def case_names(options: ReadOptions) -> dict[str, str]:
    """Header keys that mean a case of the board."""
    cases = options.board.cases if options.board else ()
    names = {normalise(alias): case.name for case in cases for alias in case.aliases}
    return {key: name for key, name in (names | {normalise(c.name): c.name for c in cases}).items() if key}


def _refuse_two_figures(figures: Sequence[FigurePlan]) -> None:
    claims: dict[tuple[FigureKind, Rule | None, str | None, bool], FigurePlan] = {}
    for figure in figures:
        if len(figure.kinds) > 1:
            continue
        other = claims.setdefault((figure.kinds[0], figure.rule, figure.case, figure.fastest), figure)
        if other is not figure:
            what = f"the {figure.rule or ''} {figure.kinds[0]}".replace("  ", " ") + " of a run" * figure.fastest
            headers = [other.header, figure.header]
            if figure.case is not None:
                raise InputError(f"{_pair(headers)} both claim {what} of {figure.case}: remove or rename one")
            raise InputError(_two_columns(headers, figure.kinds[0], what))


def _two_columns(headers: Sequence[str], field: str, what: str = "") -> str:
    advice = f"say which one is meant: --column {field}={_quoted(headers[0])}"
    if len(set(headers)) < len(headers):
        advice = "rename one of them"
    return f"{_pair(headers)} both claim {what or field}; {advice}"


def _pair(headers: Sequence[str]) -> str:
    return "columns " + " and ".join(repr(h) for h in headers)


def _quoted(header: str) -> str:
    return header if header.replace("_", "").isalnum() else repr(header)


def _list(headers: Iterable[str]) -> str:
    shown = [repr(h) for h in headers]
    return ", ".join(shown[:40]) + (f" and {len(shown) - 40} more" if len(shown) > 40 else "")
