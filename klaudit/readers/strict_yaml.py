"""A YAML file as sections that are read key by key and complain with file and line. No meaning of any key here.

PyYAML alone keeps the last of two equal keys, reads `no` as False and `3.35e12` as text. Here every surprise is an
error: repeated and unknown keys, anchors, bare numbers where a unit belongs, figures without a source.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Collection, Iterable
from pathlib import PurePath
from types import TracebackType
from typing import Final

import yaml

from klaudit.errors import FormulaError, SpecError, UnitError
from klaudit.formula import Formula
from klaudit.provenance import Figure, Source
from klaudit.readers.endless_yaml import LOADER, refuse_endless
from klaudit.units import parse_quantity

_TAG: Final = "tag:yaml.org,2002:"
_SCALARS: Final = {
    _TAG + "str": "text", _TAG + "int": "a number", _TAG + "float": "a number", _TAG + "bool": "yes or no",
    _TAG + "null": "nothing", _TAG + "timestamp": "a date",
}  # fmt: skip
_ID: Final = re.compile(r"[a-z0-9]+(?:[.-][a-z0-9]+)*")
# In ASCII, and neither octal nor with underscores, as Python and YAML take some numbers.
_WHOLE: Final = re.compile(r"[1-9][0-9]*")
_NUMBER: Final = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# A float holds every whole number of so many digits.
_MOST_DIGITS: Final = 15
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SOURCE_KINDS: Final = ("driver-dump", "vendor", "quoted", "secondary", "measured", "naming", "third-party-db")
_SOURCE_HOWS: Final = ("retrieved", "quoted", "recalled")
# What a bare number of each kind most likely lacks.
_UNITS: Final = {
    "bits": "bit", "pin-rate": "Gbit/s", "bandwidth": "GB/s", "bytes": "MiB", "frequency": "MHz", "time": "us",
    "rate": "TFLOP/s", "bytes-per-clock": "B/clk", "operations-per-clock": "FLOP/clk",
}  # fmt: skip


class Document:
    """One spec file: its name, and which of its sources are defined and used."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.sources: dict[str, Source] = {}
        self.used: set[str] = set()

    def error(self, node: yaml.Node, message: str) -> SpecError:
        """The error to raise at `node`."""
        return SpecError(f"{self.file}:{node.start_mark.line + 1}: {message}")

    def adopt(self, sources: Iterable[Source]) -> None:
        """Take sources from another file, where this one does not define its own under the same key."""
        for source in sources:
            self.sources.setdefault(source.key, source)
            self.used.add(source.key)


class Section:
    """One mapping of a spec file. A key that nobody asked for by the end of the `with` block is an error."""

    def __init__(self, document: Document, path: str, node: yaml.Node) -> None:
        if not isinstance(node, yaml.MappingNode) or node.tag != _TAG + "map":
            raise document.error(node, f"{path or 'the file'} must be a mapping of keys to values")
        self.document = document
        self.path = path
        self._node = node
        self._keys: dict[str, yaml.Node] = {}
        self._values: dict[str, yaml.Node] = {}
        self._asked: list[str] = []
        for key, value in node.value:
            name = self._key_text(key)
            if name in self._keys:
                first = self._keys[name].start_mark.line + 1
                raise document.error(key, f"key {name!r} is repeated; it is first on line {first}")
            self._keys[name], self._values[name] = key, value

    def _key_text(self, key: yaml.Node) -> str:
        if not isinstance(key, yaml.ScalarNode):
            raise self.document.error(key, "a key must be text")
        if key.tag != _TAG + "str":
            raise self.document.error(key, f'key {key.value} is not text; write "{key.value}" if it is a name')
        return str(key.value)

    def __enter__(self) -> Section:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None:
            return
        for name, key in self._keys.items():
            if name not in self._asked:
                allowed = ", ".join(_nearest_first(name, self._asked))
                raise self.document.error(key, f"unknown key {self.name_of(name)!r}; allowed here: {allowed}")

    def __contains__(self, key: str) -> bool:
        """Whether the file has `key`; asking makes it an allowed one."""
        if key not in self._asked:
            self._asked.append(key)
        return key in self._values

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys as the file has them, for sections whose keys are names."""
        return tuple(self._keys)

    def name_of(self, key: str) -> str:
        """A key with the keys above it, such as "memory.bus_width"."""
        return f"{self.path}.{key}" if self.path else key

    def line(self, key: str | None = None) -> int:
        """The line of `key`, or else the section's first."""
        return int(self._values.get(key or "", self._node).start_mark.line) + 1

    def error(self, message: str, key: str | None = None) -> SpecError:
        """The error to raise, on the line of `key` or else on the section's first."""
        return self.document.error(self._values.get(key or "", self._node), message)

    def _need(self, key: str) -> yaml.Node:
        if key in self:
            return self._values[key]
        strangers = [name for name in self._keys if name not in self._asked]
        import difflib

        close = difflib.get_close_matches(key, strangers, n=1)
        hint = f"; is {close[0]!r} meant to be it?" if close else ""
        raise self.error(f"{self.name_of(key)!r} is missing{hint}", close[0] if close else None)

    def _scalar(self, key: str) -> yaml.ScalarNode:
        node = self._need(key)
        if not isinstance(node, yaml.ScalarNode) or node.tag not in _SCALARS:
            raise self.document.error(node, f"{self.name_of(key)} must be a single value")
        return node

    def _text(self, node: yaml.Node, name: str) -> str:
        if not isinstance(node, yaml.ScalarNode) or node.tag not in _SCALARS:
            raise self.document.error(node, f"{name} must be text")
        if not node.value.strip():
            raise self.document.error(node, f"{name} is empty")
        if node.tag != _TAG + "str":
            means = _SCALARS[node.tag]
            raise self.document.error(node, f'{name}: YAML reads {node.value} as {means}; write it as "{node.value}"')
        return str(node.value)

    def text(self, key: str, default: str | None = None) -> str:
        """A text; a missing key is an error unless there is a default."""
        if default is not None and key not in self:
            return default
        return self._text(self._need(key), self.name_of(key))

    def identity(self) -> str:
        """The id of the spec, which is also the name of its file."""
        text, stem = self.text("id"), PurePath(self.document.file).stem
        if not _ID.fullmatch(text):
            raise self.error(f"id: {text!r} may hold only lower-case letters, digits, dots and dashes", "id")
        if text != stem:
            raise self.error(f"id: {text!r} differs from the file's name, {stem!r}", "id")
        return text

    def word(self, key: str, allowed: Collection[str], default: str | None = None) -> str:
        """One of the allowed words."""
        word = self.text(key, default)
        if word not in allowed:
            choice = ", ".join(_nearest_first(word, allowed))
            raise self.error(f"{self.name_of(key)}: {word!r} is unknown; allowed here: {choice}", key)
        return word

    def texts(self, key: str, required: bool = False) -> tuple[str, ...]:
        """A list of texts, without repeats; empty where the key is absent."""
        if not required and key not in self:
            return ()
        texts = tuple(self._text(node, self.name_of(key)) for node in self._items(key))
        if len(set(texts)) < len(texts):
            repeated = next(t for i, t in enumerate(texts) if t in texts[:i])
            raise self.error(f"{self.name_of(key)}: {repeated!r} is listed twice", key)
        return texts

    def words(self, key: str, allowed: Collection[str]) -> tuple[str, ...]:
        """A list of allowed words, at least one."""
        words = self.texts(key, required=True)
        for word in words:
            if word not in allowed:
                choice = ", ".join(_nearest_first(word, allowed))
                raise self.error(f"{self.name_of(key)}: {word!r} is unknown; allowed here: {choice}", key)
        if not words:
            raise self.error(f"{self.name_of(key)} is empty", key)
        return words

    def flag(self, key: str) -> bool:
        """`true` or `false`."""
        node = self._scalar(key)
        if node.value not in ("true", "false") or node.tag != _TAG + "bool":
            raise self.error(f"{self.name_of(key)}: {node.value!r} is neither true nor false", key)
        return bool(node.value == "true")

    def count(self, key: str) -> int:
        """A positive whole number without a unit."""
        node = self._scalar(key)
        return self._whole(key, node.value if node.tag == _TAG + "int" else "", node.value)

    def _whole(self, key: str, digits: str, written: str) -> int:
        if not _WHOLE.fullmatch(digits):
            raise self.error(f"{self.name_of(key)}: {written!r} is no positive whole number", key)
        if len(digits) > _MOST_DIGITS:
            raise self.error(f"{self.name_of(key)} has {len(digits)} digits; allowed are {_MOST_DIGITS}", key)
        return int(digits)

    def span(self, key: str) -> tuple[int, int] | None:
        """Two whole numbers, the least and the most, as [5, 20]; None where the key is absent."""
        if key not in self:
            return None
        values = [self._whole(key, str(node.value), node.value) for node in self._items(key)]
        if len(values) != 2 or values[0] > values[1]:
            raise self.error(f"{self.name_of(key)} must be the least and the most, as [5, 20]", key)
        return values[0], values[1]

    def number(self, key: str, least: float = -math.inf, most: float = math.inf) -> float:
        """A plain number without a unit, as a YAML number or as text (YAML takes 1e-5 for text)."""
        node = self._scalar(key)
        number = float(node.value) if _NUMBER.fullmatch(node.value) else math.nan
        if not (math.isfinite(number) and least <= number <= most):
            allowed = f" from {least:g} to {most:g}" if most < math.inf else f" of {least:g} or more"
            allowed = allowed if least > -math.inf else ""
            raise self.error(f"{self.name_of(key)}: {node.value!r} is no number{allowed}", key)
        return number

    def date(self, key: str) -> datetime.date:
        """A date, as 2026-01-31."""
        node = self._scalar(key)
        try:
            # fromisoformat alone also takes weeks and, from Python 3.11 on, dates without dashes.
            if _DATE.fullmatch(node.value):
                return datetime.date.fromisoformat(node.value)
        except ValueError:
            pass
        raise self.error(f"{self.name_of(key)}: {node.value!r} is no date; write it as 2026-01-31", key)

    def section(self, key: str) -> Section:
        """The mapping under `key`."""
        return Section(self.document, self.name_of(key), self._need(key))

    def sections(self, key: str) -> list[Section]:
        """The list of mappings under `key`; empty where the key is absent."""
        if key not in self:
            return []
        name = self.name_of(key)
        return [Section(self.document, f"{name}[{i}]", node) for i, node in enumerate(self._items(key))]

    def _items(self, key: str) -> list[yaml.Node]:
        node = self._need(key)
        if not isinstance(node, yaml.SequenceNode) or node.tag != _TAG + "seq":
            raise self.document.error(node, f"{self.name_of(key)} must be a list")
        return list(node.value)

    def source(self) -> str:
        """The section's source, which the file must define."""
        if "source" not in self:
            raise self.error(f"{self.path!r} has no source; write source: KEY and define KEY under 'sources'")
        key = self.text("source")
        if key not in self.document.sources:
            defined = ", ".join(_nearest_first(key, self.document.sources)) or "none"
            raise self.error(f"{self.path}: source {key!r} is not defined; defined in this file: {defined}", "source")
        self.document.used.add(key)
        return key

    def quantity(self, key: str, kind: str) -> tuple[float, str]:
        """A datasheet text such as "256 bit" as its value in SI and the text; "count" is a bare whole number."""
        if kind == "count":
            count = self.count(key)
            return float(count), str(count)
        node = self._scalar(key)
        if _is_number(node.value):
            message = f'{self.path}: {key} {node.value} has no unit: write it as "{node.value} {_UNITS[kind]}"'
            raise self.error(message + ("" if kind in ("bits", "frequency") else " or the like"), key)
        try:
            value = parse_quantity(self.text(key), kind)
        except UnitError as error:
            raise self.error(f"{self.path}: {key} {error}", key) from None
        if not 0 < value < math.inf:
            must = "be finite" if value > 0 else "be above zero"
            raise self.error(f"{self.path}: {key} {node.value!r} must {must}", key)
        return value, str(node.value)

    def figures(self, key: str, kind: str, required: bool = False) -> tuple[Figure, ...]:
        """The figure under `key`, or the list of them where sources disagree; empty where the key is absent."""
        if not required and key not in self:
            return ()
        node, name = self._need(key), self.name_of(key)
        if isinstance(node, yaml.ScalarNode):
            raise self.error(f"{name!r} has no source: write it as {{value: {node.value}, source: KEY}}", key)
        many = isinstance(node, yaml.SequenceNode)
        sections = self.sections(key) if many else [self.section(key)]
        figures = []
        for section in sections:
            with section:
                value, text = section.quantity("value", kind)
                figures.append(Figure(name, value, text, section.source(), section.text("note", "")))
        if not figures:
            raise self.error(f"{name} is empty", key)
        return tuple(figures)

    def formula(self, key: str, names: tuple[str, ...]) -> Formula:
        """A formula over `names`."""
        try:
            return Formula(self.text(key), names)
        except FormulaError as error:
            raise self.error(f"{self.name_of(key)}: {error}", key) from None

    def read_sources(self) -> None:
        """Take the file's own sources, from the key `sources`."""
        if "sources" not in self:
            return
        with self.section("sources") as table:
            for key in table.keys:
                with table.section(key) as entry:
                    where = entry.text("where")
                    kind, how = entry.word("kind", _SOURCE_KINDS), entry.word("how", _SOURCE_HOWS)
                    self.document.sources[key] = Source(key, where, kind, how)

    def check_sources_used(self) -> None:
        """An error at the first source of this file that nothing refers to."""
        if "sources" not in self:
            return
        table = self.section("sources")
        for key in table.keys:
            if key not in self.document.used:
                raise table.error(f"source {key!r} is defined but not used", key)


def open_spec(text: str, file: str) -> Section:
    """The top section of a spec, with its sources read.

    Parameters
    ----------
    text : str
        What the file holds.
    file : str
        How errors name it.

    Raises
    ------
    SpecError
        When the text is no YAML, holds anchors, or is no mapping.
    """
    document = Document(file)
    try:
        refuse_endless(text, file)
        node = yaml.compose(text, Loader=LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = "" if mark is None else f":{mark.line + 1}"
        raise SpecError(f"{file}{line}: not YAML: {error.problem or error.context}") from None
    except yaml.reader.ReaderError as error:
        number = text.encode()[: error.position].count(b"\n") + 1
        raise SpecError(f"{file}:{number}: not YAML: {error.reason}") from None
    if node is None:
        raise SpecError(f"{file}: the file is empty")
    root = Section(document, "", node)
    root.read_sources()
    return root


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _nearest_first(word: str, allowed: Iterable[str]) -> list[str]:
    import difflib

    names = sorted(allowed)
    nearest = difflib.get_close_matches(word, names, n=3, cutoff=0.5)
    return nearest + [name for name in names if name not in nearest]
