"""What one header says: its words, its unit, the average it names, the kind of figure. No rows, no other headers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from klaudit.leaderboard import FigureKind
from klaudit.units import Unit, find_unit

Rule = Literal["mean", "geomean", "total"]

FIGURE_KINDS: Final[tuple[FigureKind, ...]] = ("rate", "time", "bandwidth")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_RULE_WORDS: Final[dict[str, Rule]] = {
    "mean": "mean", "avg": "mean", "average": "mean", "averaged": "mean",
    "geomean": "geomean", "gmean": "geomean", "geometric": "geomean", "geo": "geomean",
    "total": "total", "sum": "total",
}  # fmt: skip
# Statistics of runs that are not what a board ranks by, and how sure somebody is.
_STATISTIC_WORDS: Final = _words(
    "min minimum max maximum std stdev stddev sd var variance median med best worst fastest slowest peak mad iqr ci "
    "stderr sem cv noise error err uncertainty low high lower upper percentile"
)
_PERCENTILE: Final = re.compile(r"[pq]\d{1,3}")
_FILLERS: Final = _words(
    "reported measured achieved observed effective submission arithmetic kernel gpu device memory mem dram global "
    "final in of the"
)
_TIME_WORDS: Final = _words("time runtime latency duration elapsed exectime executiontime realtime runningtime")
_BANDWIDTH_WORDS: Final = _words("bandwidth bw membw globalmembw")
_RUN_WORDS: Final = _words("run runs")
# Words that say nothing without a unit.
_ANY_WORDS: Final = _words("score performance perf throughput speed rate computethroughput")

_BRACKETS: Final = re.compile(r"[(\[{]([^()\[\]{}]*)[)\]}]")
_TOKEN: Final = re.compile(r"[^\W_]+")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
# What a format puts behind a case's name.
_TAIL: Final = re.compile(r"(?:\s+fastest run)?\s*\([^()]*\)$")
_CASE_FORM: Final = re.compile(r"\s*[A-Za-z]\w*\s*=\s*\d+")


class Header(NamedTuple):
    """A header, taken apart.

    Attributes
    ----------
    text : str
        As the file has it, without spaces around.
    key : str
        Lower-case letters and digits only: what names are compared by.
    bare : tuple of str
        The words without the unit, in order, lower case.
    words : tuple of str
        Those of them that name neither an average nor a statistic.
    unit : Unit or None
        The unit, of whatever kind.
    rules : frozenset of str
        The averages that it names; more than one cannot be read.
    is_statistic : bool
        Whether it is a minimum, a percentile, a spread ...
    is_fastest : bool
        Whether it is the fastest run of several and says so: a figure of its own, never the time itself.
    """

    text: str
    key: str
    bare: tuple[str, ...]
    words: tuple[str, ...]
    unit: Unit | None
    rules: frozenset[Rule]
    is_statistic: bool
    is_fastest: bool = False

    @property
    def rule(self) -> Rule | None:
        """The average it names."""
        return next(iter(self.rules), None)

    @property
    def looks_like_a_case(self) -> bool:
        """Whether it has the form of one size of a board, such as `N=1048576_ms`."""
        return _CASE_FORM.match(self.text) is not None


def normalise(text: str) -> str:
    """Letters and digits in lower case: `Runtime (ms)`, `runtime_ms` and `runtimeMs` are one name.

    Examples
    --------
    >>> normalise("GPU Type"), normalise("gpuType")
    ('gputype', 'gputype')
    """
    return "".join(c for c in text.casefold() if c.isalnum())


def read_header(text: str) -> Header:
    """Take a header apart.

    Examples
    --------
    >>> h = read_header("Geometric mean runtime (ms)")
    >>> h.words, h.unit.text, h.rule
    (('runtime',), 'ms', 'geomean')
    """
    text = text.strip()
    unit, bracketed = _read_brackets(text)
    outside = _BRACKETS.sub(" ", text)
    tokens = [(m.group(), outside[: m.start()]) for m in _TOKEN.finditer(outside)]
    trailing: list[str] = []
    if unit is None:
        # "time_ms_mean": the unit stands before the words of the average.
        while tokens and _is_statistical(tokens[-1][0]) and len(tokens) > 1:
            trailing.insert(0, tokens.pop()[0])
        unit, used, kept = _trailing_unit(tokens)
        tokens = tokens[: len(tokens) - used]
        trailing = kept + trailing
    spelled = [t for t, _ in tokens] + trailing + bracketed
    bare = tuple(w.casefold() for t in spelled for w in _CAMEL.split(t))
    return _classify(text, bare, unit)


def figure_kinds(header: Header) -> tuple[FigureKind, ...]:
    """The kinds of figure a column can hold: one, three where only its cells can say, none where it is no figure.

    Examples
    --------
    >>> figure_kinds(read_header("reported_gb_s")), figure_kinds(read_header("compile_time_s"))
    (('bandwidth',), ())
    """
    if len(header.rules) > 1:
        return ()
    base = "".join(w for w in header.words if w not in _FILLERS)
    named = _named_kind(base)
    if header.unit is None:
        return (named,) if named else (FIGURE_KINDS if base in _ANY_WORDS else ())
    by_unit = next((k for k in FIGURE_KINDS if k == header.unit.kind), None)
    if by_unit is None or (named and named != by_unit):
        return ()
    return (by_unit,) if named or not base or base in _ANY_WORDS else ()


def case_keys(header: Header) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of a case that a header can mean: with and without its unit; and without words such as `mean`."""
    rest = tuple(w for w in header.words if w not in _TIME_WORDS | _BANDWIDTH_WORDS | _ANY_WORDS)
    before_unit = normalise(_TAIL.sub("", header.text))
    return (header.key, "".join(header.bare), before_unit), ("".join(header.words), "".join(rest))


def as_count(unit: Unit) -> Unit:
    """A unit such as "GFLOPs" as a count of operations, where the column says so; "GFLOP/s" stays a rate."""
    return unit._replace(kind="work") if unit.kind == "rate" and "/" not in unit.text else unit


def _named_kind(base: str) -> FigureKind | None:
    if base in _TIME_WORDS:
        return "time"
    return "bandwidth" if base in _BANDWIDTH_WORDS else None


def _classify(text: str, bare: tuple[str, ...], unit: Unit | None) -> Header:
    fastest = "fastest" in bare and not _RUN_WORDS.isdisjoint(bare)
    if fastest:
        bare = tuple(w for w in bare if w != "fastest" and w not in _RUN_WORDS)
    rules = frozenset(_RULE_WORDS[w] for w in bare if w in _RULE_WORDS)
    if "geomean" in rules:
        rules -= {"mean"}  # "geometric mean", "geo mean"
    return Header(
        text=text,
        key=normalise(text),
        bare=bare,
        words=tuple(w for w in bare if not _is_statistical(w)),
        unit=unit,
        rules=rules,
        is_statistic=any(w in _STATISTIC_WORDS or _PERCENTILE.fullmatch(w) for w in bare),
        is_fastest=fastest,
    )


def _is_statistical(word: str) -> bool:
    word = word.casefold()
    return word in _RULE_WORDS or word in _STATISTIC_WORDS or _PERCENTILE.fullmatch(word) is not None


def _read_brackets(text: str) -> tuple[Unit | None, list[str]]:
    """The unit in brackets, and the other words there: "(ms, mean)"."""
    unit: Unit | None = None
    words: list[str] = []
    for content in _BRACKETS.findall(text):
        found = _find_spelled(content)
        if found is not None:
            unit = unit or found
            continue
        for part in re.split(r"[\s,;]+", content.strip()):
            found = find_unit(part) if part else None
            if found is not None and unit is None:
                unit = found
            else:
                words += _TOKEN.findall(part)
    return unit, words


def _trailing_unit(tokens: Sequence[tuple[str, str]]) -> tuple[Unit | None, int, list[str]]:
    """The unit that ends a header, how many tokens it takes, and what of the last one is no unit ("runtimeMs")."""
    texts = [t for t, _ in tokens]
    if len(texts) >= 3 and texts[-2].casefold() == "per":
        unit = _find_spelled(f"{texts[-3]}/{texts[-1]}")
        return unit, 3 if unit else 0, []
    if len(texts) >= 2 and texts[-1].casefold() in ("s", "sec", "second"):
        unit = _find_spelled(f"{texts[-2]}/{texts[-1]}")
        if unit is not None:
            return unit, 2, []
        # "tokens/s" is no time, while "time / s" is.
        if tokens[-1][1].endswith("/"):
            return None, 0, []
    if not texts:
        return None, 0, []
    unit = find_unit(texts[-1])
    if unit is not None:
        return unit, 1, []
    *first, last = _CAMEL.split(texts[-1])
    unit = find_unit(last) if first else None
    return unit, 1 if unit else 0, ["".join(first)] if unit else []


def _find_spelled(text: str) -> Unit | None:
    """A unit whose second may be written out: "bytes per second"."""
    text = re.sub(r"\s*\bper\b\s*", "/", text.strip())
    return find_unit(text) or find_unit(re.sub(r"/\s*sec(?:ond)?\b", "/s", text))
