"""From leaderboards to an audit: eras chosen, groups judged, rows that cannot be judged explained, counts kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from klaudit._version import __version__
from klaudit.audit.background import Met
from klaudit.audit.claims import ANY_ERA, Claims
from klaudit.audit.contradictions import contradictory
from klaudit.audit.gathering import Gathering
from klaudit.audit.grouping import Grouping, usable
from klaudit.audit.judgement import Judgement
from klaudit.audit.keeping import Accepting, Keeping
from klaudit.audit.search import Judged, find_slips, judge_claims, possible
from klaudit.audit.settling import Gathered, Settling
from klaudit.board import Board, Era
from klaudit.bounds import Settled
from klaudit.catalog import Catalog
from klaudit.floors import relevant
from klaudit.leaderboard import ColumnsRead, Leaderboard
from klaudit.report import Audit
from klaudit.verdict import CONDITIONS, Policy, Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Index = NDArray[np.intp]


# Rows that are left of settled batches and judged at once.
_ENOUGH: Final = 32_768
_BORDER: Final = np.timedelta64(1, "D")
_TOO_COARSE: Final = "the time is zero to its last printed digit, which is longer than the roof: print more digits"
_BEYOND: Final = "its score is above the limit of every card known"
# How many conditions each set of bits holds.
_SET_SIZES: Final = np.array([bits.bit_count() for bits in range(1 << len(CONDITIONS))], dtype=np.uint8)


def judge(
    leaderboard: Leaderboard, catalog: Catalog, board: Board | None = None, policy: Policy | None = None
) -> Judgement:
    """Judge the rows of one leaderboard.

    Parameters
    ----------
    leaderboard : Leaderboard
        The rows as columns.
    catalog : Catalog
        Where cards and workloads come from.
    board : Board, optional
        Whose rules hold; without one each row is a case of its own.
    policy : Policy, optional
        What the user decides.

    Returns
    -------
    Judgement

    Examples
    --------
    >>> import klaudit
    >>> catalog = klaudit.load_catalog()
    >>> rows = klaudit.Leaderboard.from_arrays(gpu="T4", rate=[150e9, 1500e9])
    >>> found = judge(rows, catalog, catalog.board("tensara-kl-2025"))
    >>> [str(klaudit.Verdict(v)) for v in found.verdict]
    ['within', 'impossible']
    """
    # Figures of any size are judged, also those that overflow: infinities and NaN compare as they should.
    with np.errstate(all="ignore"):
        return _Judging(leaderboard, catalog, board, policy or Policy()).finish()


class _Judging:
    """The state of one call of `judge`."""

    def __init__(self, leaderboard: Leaderboard, catalog: Catalog, board: Board | None, policy: Policy) -> None:
        self.leaderboard = leaderboard
        self.catalog = catalog
        self.board = board
        self.policy = policy
        self.groups: list[Judged] = []
        self.reasons: dict[int, tuple[str, str]] = {}
        self.noted: dict[str, set[int]] = {}
        count = len(leaderboard)
        self.verdict = np.full(count, Verdict.UNJUDGED, dtype=np.uint8)
        self.conditions = np.zeros(count, dtype=np.uint16)
        self.group = np.full(count, -1, dtype=np.int32)
        self.place = np.full(count, -1, dtype=np.int32)

    def finish(self) -> Judgement:
        """Judge all rows under the eras that hold for them."""
        alive = np.ones(len(self.leaderboard), dtype=np.bool_)
        for trouble in self.leaderboard.troubles:
            if trouble.fatal:
                alive[trouble.row] = False
            if trouble.fatal or trouble.row not in self.reasons:
                self.reasons[trouble.row] = (trouble.rule, trouble.message)
        undated = 0
        for era, rows, dated in self._by_era(np.flatnonzero(alive)):
            undated = max(undated, 0 if dated else len(rows))
            self._judge_era(era, rows)
        judged = self.group >= 0
        return Judgement(
            self.leaderboard, self.verdict, self.conditions, self.group, self.place, tuple(self.groups),
            {row: reason for row, reason in self.reasons.items() if not judged[row]},
            {rule: frozenset(noted) for rule, noted in self.noted.items()}, undated,
        )  # fmt: skip

    def _by_era(self, rows: Index) -> Iterator[tuple[Era, Index, bool]]:
        """Each era with its rows; rows without a date come under every era, and the mildest verdict stays."""
        eras = self.board.eras if self.board is not None else (ANY_ERA,)
        if len(eras) == 1:
            yield eras[0], rows, True
            return
        days = self.leaderboard.days
        day = np.full(len(rows), np.datetime64("NaT", "D")) if days is None else days[rows]
        unknown = np.isnat(day)
        for era in eras:
            # Rules change in the middle of a day and dates come without a zone: within a day of a change either may
            # have held, and the milder verdict stays.
            holds = ~unknown
            if era.since is not None:
                holds &= day >= np.datetime64(era.since) - _BORDER
            if era.until is not None:
                holds &= day < np.datetime64(era.until) + _BORDER
            if holds.any():
                yield era, rows[holds], True
        if unknown.any():
            for era in eras:
                yield era, rows[unknown], False

    def _judge_era(self, era: Era, rows: Index) -> None:
        grouping = Grouping(self.leaderboard, self.catalog, self.board, era, self.policy)
        groups = grouping.split(rows)
        for row, rule, message in grouping.unjudged.rows:
            self.reasons.setdefault(row, (rule, message))
        self._beyond_every_card(grouping)
        for rule, noted in grouping.noted.items():
            self.noted.setdefault(rule, set()).update(noted)
        for claims in groups:
            useful = usable(claims)
            for row in claims.rows[~useful]:
                self.reasons.setdefault(int(row), _no_figure(self.leaderboard, int(row), claims))
            if useful.any():
                kept = self._without_foreign_counts(claims if useful.all() else claims.take(useful))
                judged = judge_claims(kept)
                coarse = _too_coarse(judged)
                for row in kept.rows[coarse]:
                    self.reasons.setdefault(int(row), ("too-coarse", _TOO_COARSE))
                self._keep_milder(judged, ~coarse)

    def _without_foreign_counts(self, claims: Claims) -> Claims:
        """Rows without a board whose rate and time contradict each other, no slip explaining it: by their time alone.

        A board's score is made with the board's count. Without one nobody says how the row counted its work.
        """
        if claims.workload is None or (claims.board is not None and claims.board.workload is not None):
            return claims
        apart = np.flatnonzero(contradictory(claims))
        if len(apart):
            apart = apart[find_slips(claims.take(apart), under_roof=False)[0] < 0]
        timed = np.zeros(len(claims.rows), dtype=np.bool_)
        for figure in claims.figures:
            timed |= (figure.kind == "time") & np.isfinite(figure.value)
        apart = apart[timed[apart]]
        if not len(apart):
            return claims
        self.noted.setdefault("counts-differ", set()).update(claims.rows[apart].tolist())
        return claims._replace(figures=tuple(f if f.kind == "time" else f.without(apart) for f in claims.figures))

    def _beyond_every_card(self, grouping: Grouping) -> None:
        """Say so where a row's GPU is unknown but its score is beyond any card of the catalogue."""
        if not grouping.unknown:
            return
        cards = tuple(self.catalog.gpu(name) for name in self.catalog.gpu_ids)
        for claims in grouping.on_cards(np.concatenate(grouping.unknown), "", cards):
            considered = relevant(cards, claims.work, claims.conditions, claims.launch)
            # Figures that contradict each other are not possible either, but that is no card's limit.
            for row in claims.rows[~possible(claims, considered) & ~contradictory(claims)]:
                rule, message = self.reasons[int(row)]
                if rule == "unknown-gpu" and not message.endswith(_BEYOND):
                    self.reasons[int(row)] = (rule, f"{message}; {_BEYOND}")

    def _keep_milder(self, judged: Judged, wanted: Flags) -> None:
        """Take over the verdicts of the wanted rows of a group, except where an earlier era was milder."""
        rows = judged.claims.rows
        take = self.group[rows] < 0
        if not take.all():
            fewer = _SET_SIZES[judged.conditions] < _SET_SIZES[self.conditions[rows]]
            equal = judged.verdict == self.verdict[rows]
            take |= (judged.verdict < self.verdict[rows]) | (equal & fewer)
        take &= wanted
        if take.any():
            chosen = rows[take]
            self.verdict[chosen] = judged.verdict[take]
            self.conditions[chosen] = judged.conditions[take]
            self.group[chosen] = len(self.groups)
            self.place[chosen] = np.flatnonzero(take)
            self.groups.append(judged)


def _too_coarse(judged: Judged) -> Flags:
    """Rows that report nothing but times of zero, printed so that they may be anything under the roof."""
    blank = judged.verdict == Verdict.WITHIN
    for figure in judged.claims.figures:
        zero = (figure.value == 0) if figure.kind == "time" else np.zeros(len(blank), dtype=np.bool_)
        blank &= np.isnan(figure.value) | zero
    return np.asarray(blank)


def _no_figure(leaderboard: Leaderboard, row: int, claims: Claims) -> tuple[str, str]:
    """Why a row has nothing to judge."""
    reported = [c for c in leaderboard.figures if np.isfinite(c.value[row])]
    if not reported:
        return "missing-score", "the row reports no figure"
    if any(c.kind == "time" for c in reported) and claims.work.boundless_cache:
        return "missing-size", "a time says nothing without a size: give a column n, or --n"
    names = ", ".join(repr(c.header) for c in reported)
    return "missing-score", f"{names} cannot be judged: the work has no operations or bytes that it counts"


def audit(
    batches: Iterable[Leaderboard | Settled],
    catalog: Catalog,
    board: Board | None = None,
    policy: Policy | None = None,
    *,
    sources: Sequence[str] = (),
    keep_rows: bool = False,
    max_findings: int = 10_000,
    accept: Accepting | None = None,
) -> Audit:
    """Judge batch by batch and gather what reports need.

    Parameters
    ----------
    batches : iterable of Leaderboard or Settled
        The parts of one or more files, in order; rows that `settler` has settled are counted.
    catalog : Catalog
    board : Board, optional
    policy : Policy, optional
    sources : sequence of str
        The files, as reports name them.
    keep_rows : bool
        Whether every row's report will be asked for; else only findings are kept, and memory stays flat.
    max_findings : int
        Findings kept as sentences; further ones are counted.
    accept : Acceptance, optional
        Marks findings with their fingerprints, and those that were accepted beforehand.

    Returns
    -------
    Audit
    """
    policy = policy or Policy()
    gathering = Gathering(Keeping(max_findings, accept), keep_rows, policy.gpu, accept)
    met = Met(board, catalog, policy.sizes)
    settling, gathered = Settling(catalog, board, policy), Gathered(0 if keep_rows else _ENOUGH)

    def take(parts: Iterable[Leaderboard]) -> None:
        for part in parts:
            judgement = judge(part, catalog, board, policy)
            gathering.add(judgement)
            met.add(judgement)

    columns: dict[str, ColumnsRead] = {}
    for batch in batches:
        if batch.columns is not None:
            columns[batch.columns.source] = batch.columns
        settled, rest = (batch, None) if isinstance(batch, Settled) else (None, batch)
        if rest is not None and not keep_rows:
            gathering.name(rest)
            settled, rest = settling.split(rest)
        if settled is not None:
            # One row of each label tells what its rows were judged on.
            for label in gathering.settle(settled):
                example = judge(settled.examples[label], catalog, board, policy)
                gathering.note(example)
                met.add(example)
        if rest is not None and len(rest):
            take(gathered.add(rest))
    take(gathered.finish())
    ruled_out, allowed = conditions_named(board, policy)
    return Audit(
        version=__version__,
        specs_date=catalog.date,
        specs_sha256=catalog.sha256,
        sources=tuple(sources),
        board=board.id if board else "",
        workload=(board.workload if board else "") or policy.workload,
        ruled_out=ruled_out,
        allowed=allowed,
        summary=gathering.summary,
        by_gpu=gathering.by_gpu,
        findings=gathering.kept.findings,
        findings_left_out=gathering.kept.left_out,
        rows=gathering.rows,
        remarks=gathering.remarks(board),
        background=met.background,
        suppressed=gathering.kept.suppressed,
        columns=tuple(columns.values()),
    )


def conditions_named(board: Board | None, policy: Policy) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The conditions that are ruled out for all rows, and those that may be considered, in the table's order.

    Compression is considered on cards that always compress; elsewhere only where it is allowed by name.
    """
    out = set(policy.ruled_out)
    if board is not None and len(board.eras) == 1:
        out |= {ruled.condition for ruled in board.eras[0].harness.rules_out}
    kept = [c.id for c in CONDITIONS if c.id not in out and (c.id != "compressed-data" or c.id in policy.allowed)]
    return tuple(c.id for c in CONDITIONS if c.id in out), tuple(kept)
