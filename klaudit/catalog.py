"""Catalog: every GPU, workload and board by the names that the field gives them. No files: loaders are handed in."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple, TypedDict

from klaudit.board import Board
from klaudit.errors import SpecError, UsageError
from klaudit.gpu import Gpu
from klaudit.workload import Workload

_VENDORS: Final = ("nvidia", "amd", "intel", "tesla", "geforce", "instinct")
# A count of cards before or after a name: "8x H100", "H100 x8", "L4x4", "H100:8".
_COUNT_BEFORE: Final = re.compile(r"\s*([1-9][0-9]{0,3})\s*[xX\u00d7*]\s*(\S.*)", re.DOTALL)
_COUNT_AFTER: Final = re.compile(r"(.*\S)\s*(?:[xX\u00d7*]\s*|:\s*)([1-9][0-9]{0,3})\s*", re.DOTALL)
# No card's name comes near it; a longer label is a sentence, and comparing it with every name takes long.
_LONGEST_LABEL: Final = 100
_SUGGESTIONS: Final = 3
# What folding takes away from ASCII text, by what it is to keep.
_DROPPED: Final = {
    keep: {code: None for code in range(128) if not chr(code).isalnum() and chr(code) not in keep}
    for keep in ("", "+!")
}


class GpuEntry(TypedDict):
    """What the index knows of a card."""

    file: str
    name: str
    aliases: list[str]
    labels: list[str]


class WorkloadEntry(TypedDict):
    """What the index knows of a workload."""

    file: str
    name: str
    aliases: list[str]


class BoardEntry(TypedDict):
    """What the index knows of a board; `eras` are the ids of its eras."""

    file: str
    name: str
    workload: str | None
    eras: list[str]


class Index(TypedDict):
    """Names and files of all specs, so that none has to be parsed to find one."""

    date: str
    sha256: str
    gpus: dict[str, GpuEntry]
    workloads: dict[str, WorkloadEntry]
    boards: dict[str, BoardEntry]


class GpuMatch(NamedTuple):
    """The cards that a label can mean, and how many of them it names; no ids where the label is unknown."""

    ids: tuple[str, ...] = ()
    cards: int = 1


def normalise(text: str) -> str:
    """A GPU's name without case, spaces, punctuation and leading vendor words; `+` and `!` belong to the name.

    Examples
    --------
    >>> normalise("NVIDIA H100 80GB HBM3"), normalise("Tesla T4"), normalise("H100!"), normalise("AMD")
    ('h10080gbhbm3', 't4', 'h100!', 'amd')
    """
    name = _fold(text, keep="+!")
    while True:
        shorter = next((name[len(v) :] for v in _VENDORS if name.startswith(v) and name != v), name)
        if shorter == name:
            return name
        name = shorter


def _fold(text: str, keep: str = "") -> str:
    if text.isascii():
        return text.lower().translate(_DROPPED[keep])
    # Compatibility forms first (full-width letters, ligatures), again after case folding, which can undo them.
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(c for c in folded if c.isalnum() or c in keep)


class Catalog:
    """Every GPU, workload and board, loaded when first used.

    Parameters
    ----------
    index : Index
        Names of all specs.
    load_gpu, load_workload, load_board : callable
        Give the spec of an id of the index.
    overrides : tuple of str
        A sentence for each shipped spec that a user's own replaces.
    """

    def __init__(
        self,
        index: Index,
        load_gpu: Callable[[str], Gpu],
        load_workload: Callable[[str], Workload],
        load_board: Callable[[str], Board],
        overrides: tuple[str, ...] = (),
    ) -> None:
        self._index = index
        self._load_gpu, self._load_workload, self._load_board = load_gpu, load_workload, load_board
        self.overrides = overrides
        self.gpu_ids = tuple(sorted(index["gpus"]))
        self.workload_ids = tuple(sorted(index["workloads"]))
        self.board_ids = tuple(sorted(index["boards"]))
        self._gpus: dict[str, Gpu] = {}
        self._workloads: dict[str, Workload] = {}
        self._boards: dict[str, Board] = {}
        self._gpu_table: dict[str, GpuMatch] = {}
        self._shown: dict[str, str] = {}

    @property
    def date(self) -> str:
        """The day of the newest spec, as 2026-01-31."""
        return self._index["date"]

    @property
    def sha256(self) -> str:
        """The hash over the text of all specs."""
        return self._index["sha256"]

    @property
    def era_ids(self) -> tuple[str, ...]:
        """The ids of all eras, board by board, in order of time."""
        return tuple(era for board in self.board_ids for era in self._index["boards"][board]["eras"])

    def gpu(self, name: str) -> Gpu:
        """The card of that id, name or unique alias; a count before or after it takes so many as one.

        Raises
        ------
        UsageError
            When the name is unknown or can mean several cards.
        """
        match = self.named(name)
        if len(match.ids) > 1:
            raise UsageError(f"GPU {name!r} can mean {len(match.ids)} cards; name one of {', '.join(match.ids)}")
        gpu_id = match.ids[0]
        if gpu_id not in self._gpus:
            self._gpus[gpu_id] = self._load_gpu(gpu_id)
        return self._gpus[gpu_id].times(match.cards)

    def find_gpus(
        self, label: object, board: Board | None = None, overrides: Mapping[str, str] | None = None
    ) -> GpuMatch:
        """The cards that a label of a leaderboard can mean.

        Parameters
        ----------
        label : str
            The label as written. Anything but text is an unknown label.
        board : Board, optional
            Its own labels rule over the catalogue's.
        overrides : mapping of str to str, optional
            Label to card; these rule over both.

        Returns
        -------
        GpuMatch
            Without ids where no whole name fits: "H20" is never found in "H200".

        Raises
        ------
        UsageError
            When an override names no known card.
        """
        if not isinstance(label, str) or len(label) > _LONGEST_LABEL:
            return GpuMatch()
        tables = [self._gpu_names]
        if board is not None and board.gpu_labels:
            tables.insert(0, {normalise(g.label): GpuMatch(g.means) for g in board.gpu_labels})
        if overrides:
            tables.insert(0, {normalise(known): self.named(card) for known, card in overrides.items()})
        for name, count in _readings(label):
            key = normalise(name)
            for table in tables:
                # "H100!" is a name of its own at some clouds, and elsewhere an emphatic H100.
                match = table.get(key) or table.get(key.rstrip("!"))
                if match:
                    return GpuMatch(match.ids, match.cards * count)
        return GpuMatch()

    def nearest(self, label: object) -> tuple[str, ...]:
        """Up to three known GPU names that look like `label`, each of another card."""
        if not isinstance(label, str):
            return ()
        import difflib

        found: dict[tuple[str, ...], str] = {}
        for name, _ in _readings(label[:_LONGEST_LABEL]):
            for form in dict.fromkeys((normalise(name), _fold(name, keep="+!"))):
                for key in difflib.get_close_matches(form, self._gpu_texts, n=4 * _SUGGESTIONS):
                    found.setdefault(self._gpu_names[normalise(key)].ids, self._gpu_texts[key])
        return tuple(found.values())[:_SUGGESTIONS]

    def workload(self, name: str) -> Workload:
        """The workload of that id, name or alias.

        Raises
        ------
        UsageError
            When the name is unknown.
        """
        entries = self._index["workloads"]
        found = name if name in entries else None
        if found is None:
            names = {_fold(t): i for i, e in entries.items() for t in (i, e["name"], *e["aliases"])}
            found = names.get(_fold(name))
        if found is None:
            raise _unknown("workload", name, {t: i for i, e in entries.items() for t in (*e["aliases"], i)})
        if found not in self._workloads:
            self._workloads[found] = self._load_workload(found)
        return self._workloads[found]

    def board(self, name: str) -> Board:
        """The board of that id or name; the id of an era gives the board with that era alone.

        Raises
        ------
        UsageError
            When the name is unknown.
        """
        entries = self._index["boards"]
        names = {_fold(era): (i, era) for i, e in entries.items() for era in e["eras"]}
        names |= {_fold(t): (i, "") for i, e in entries.items() for t in (e["name"], i)}
        found = names.get(_fold(name))
        if found is None:
            raise _unknown("board", name, {t: t for t in (*self.board_ids, *self.era_ids)})
        board_id, era = found
        if board_id not in self._boards:
            self._boards[board_id] = self._load_board(board_id)
        return self._boards[board_id].select(era) if era else self._boards[board_id]

    def named(self, name: str) -> GpuMatch:
        """The cards that a user can mean: as `find_gpus`, but ids and full names come first.

        Raises
        ------
        UsageError
            When the name is unknown.
        """
        for gpu_id, entry in self._index["gpus"].items():
            if name in (gpu_id, entry["name"]):
                return GpuMatch((gpu_id,))
        match = self.find_gpus(name)
        if not match.ids:
            nearest = self.nearest(name)
            hint = f"the nearest known names are {', '.join(nearest)}" if nearest else "no known name is near it"
            raise UsageError(f"no GPU is called {name[:_LONGEST_LABEL]!r}; {hint} (klaudit gpus lists all)")
        return match

    @property
    def _gpu_names(self) -> dict[str, GpuMatch]:
        if not self._gpu_table:
            self._gpu_table = {name: GpuMatch(ids) for name, ids in name_gpus(self._index["gpus"]).items()}
        return self._gpu_table

    @property
    def _gpu_texts(self) -> dict[str, str]:
        """Every name as people write it, by its form with the vendor's word and without.

        "Telsa T4" is near "Tesla T4" with it, and "H1000" near "NVIDIA H100" without.
        """
        if not self._shown:
            entries = self._index["gpus"].items()
            labels = [label for _, entry in entries for label in entry["labels"]]
            names = [text for gpu_id, entry in entries for text in (*entry["aliases"], entry["name"], gpu_id)]
            for text in (*labels, *names):
                for key in (normalise(text), _fold(text, keep="+!")):
                    self._shown.setdefault(key, text)
        return self._shown


def _readings(label: str) -> Iterator[tuple[str, int]]:
    """The ways to read a label as a name and a count, the whole label first."""
    yield label, 1
    text = unicodedata.normalize("NFKC", label)
    if match := _COUNT_BEFORE.fullmatch(text):
        yield match[2], int(match[1])
    if match := _COUNT_AFTER.fullmatch(text):
        yield match[1], int(match[2])


def _unknown(kind: str, name: str, known: Mapping[str, str]) -> UsageError:
    """The error for a name that is none of the known ones; `known` says which id each of them means."""
    import difflib

    close = difflib.get_close_matches(name[:_LONGEST_LABEL], list(known), n=4 * _SUGGESTIONS)
    nearest = list(dict.fromkeys(known[text] for text in close))[:_SUGGESTIONS]
    hint = f"the nearest known are {', '.join(nearest)}" if nearest else "no known name is near it"
    return UsageError(f"no {kind} is called {name[:_LONGEST_LABEL]!r}; {hint} (klaudit {kind}s lists all)")


def name_gpus(gpus: Mapping[str, GpuEntry]) -> dict[str, tuple[str, ...]]:
    """The ids that each normalised name can mean.

    An alias means one card. A label means every card that lists it, also where it is the id or name of one of them:
    "A10" on a leaderboard may be an A10G.

    Raises
    ------
    SpecError
        When two cards claim one name, naming both files.
    """
    names: dict[str, tuple[str, ...]] = {}
    said: dict[str, str] = {}
    labels: set[str] = set()
    for gpu_id, entry in gpus.items():
        for label in entry["labels"]:
            key = _key(label, entry)
            names[key] = (*names.get(key, ()), gpu_id)
            said.setdefault(key, f"label {label!r} of {entry['file']}")
            labels.add(key)
    for gpu_id, entry in gpus.items():
        for alias in entry["aliases"]:
            _claim(names, said, _key(alias, entry), gpu_id, f"alias {alias!r}", entry["file"])
    for gpu_id, entry in gpus.items():
        for kind, text in (("id", gpu_id), ("name", entry["name"])):
            key = _key(text, entry)
            if key in labels and gpu_id in names[key]:
                continue
            _claim(names, said, key, gpu_id, f"{kind} {text!r}", entry["file"])
    return {key: tuple(sorted(set(ids))) for key, ids in names.items()}


def _claim(
    names: dict[str, tuple[str, ...]], said: dict[str, str], key: str, gpu_id: str, what: str, file: str
) -> None:
    taken = names.setdefault(key, (gpu_id,))
    if taken != (gpu_id,) or said.get(key, "").startswith("label"):
        raise SpecError(
            f"{file}: {what} is taken by {said[key]}; a name that can mean several cards is a label of each of them"
        )
    said.setdefault(key, f"{what} of {file}")


def _key(text: str, entry: GpuEntry) -> str:
    key = normalise(text)
    if not any(c.isalnum() for c in key):
        raise SpecError(f"{entry['file']}: {text!r} names nothing; a name has letters or digits")
    return key


def check_names(index: Index) -> None:
    """Hold every name of the index against all others.

    Raises
    ------
    SpecError
        When two specs claim one name, naming both files.
    """
    name_gpus(index["gpus"])
    taken: dict[str, tuple[str, str]] = {}
    for workload_id, entry in index["workloads"].items():
        for text in (workload_id, entry["name"], *entry["aliases"]):
            other, file = taken.setdefault(_fold(text), (workload_id, entry["file"]))
            if other != workload_id:
                raise SpecError(f"{entry['file']}: {text!r} already names workload {other!r} of {file}")
    taken = {}
    for board_id, board in index["boards"].items():
        for text in dict.fromkeys((board_id, board["name"], *board["eras"])):
            other, file = taken.setdefault(_fold(text), (board_id, board["file"]))
            if other != board_id:
                raise SpecError(f"{board['file']}: {text!r} already names board {other!r} of {file}")
