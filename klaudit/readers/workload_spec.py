"""A file of specs/workloads as a Workload."""

from __future__ import annotations

import math
import re
from typing import Final

from klaudit.errors import FormulaError
from klaudit.readers.strict_yaml import Section, open_spec
from klaudit.workload import DTYPE_BYTES, Count, Workload

_SIZE_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
# Every size at which a formula is tried when it is read.
_TRIAL: Final = 1024.0
# `b` is the bytes of an element; the others are functions of formulas.
_RESERVED: Final = ("b", "min", "max", "ceil", "floor", "log2", "sqrt")


def read_workload(text: str, file: str) -> Workload:
    """The workload that the spec `text` describes.

    Raises
    ------
    SpecError
        When it breaks the format: names the file, the line, the key and what is allowed.
    """
    root = open_spec(text, file)
    with root as spec:
        sizes = _read_sizes(spec)
        names = (*sizes, "b")
        workload = Workload(
            id=spec.identity(),
            name=spec.text("name"),
            sizes=sizes,
            dtypes=spec.words("dtypes", DTYPE_BYTES),
            flops=_read_count(spec, "flops", names, why="note", sourced=True),
            reads=_read_count(spec, "reads", names),
            writes=_read_count(spec, "writes", names),
            special=_read_count(spec, "special", names) if "special" in spec else None,
            min_flops=_read_count(spec, "min_flops", names, sourced=True) if "min_flops" in spec else None,
            aliases=spec.texts("aliases"),
            size_aliases=_read_size_aliases(spec, sizes),
            sources=tuple(spec.document.sources.values()),
            notes=spec.texts("notes"),
        )
    root.check_sources_used()
    return workload


def _read_sizes(spec: Section) -> tuple[str, ...]:
    sizes = spec.texts("sizes", required=True)
    for name in sizes:
        if not _SIZE_NAME.fullmatch(name) or name in _RESERVED:
            raise spec.error(f"sizes: {name!r} cannot name a size; write a lower-case word other than b", "sizes")
    if not sizes:
        raise spec.error("sizes is empty", "sizes")
    return sizes


def _read_size_aliases(spec: Section, sizes: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    if "size_aliases" not in spec:
        return {}
    aliases: dict[str, tuple[str, ...]] = {}
    claimed = {size: size for size in sizes}
    with spec.section("size_aliases") as table:
        for size in sizes:
            if size not in table:
                continue
            aliases[size] = table.texts(size)
            for alias in aliases[size]:
                if claimed.setdefault(alias, size) != size:
                    raise table.error(f"size_aliases.{size}: {alias!r} already means {claimed[alias]!r}", size)
    return aliases


def _read_count(spec: Section, key: str, names: tuple[str, ...], why: str = "why", sourced: bool = False) -> Count:
    with spec.section(key) as count:
        source = count.source() if sourced or "source" in count else ""
        # The board's own count needs its source; the bytes and the least count need their reason.
        reason = count.text(why, "" if why == "note" else None)
        formula = count.formula("formula", names)
        try:
            value = formula(dict.fromkeys(names, _TRIAL))
        except FormulaError as error:
            raise count.error(f"{count.path}.formula: {error}", "formula") from None
        if not (isinstance(value, float) and 0 <= value < math.inf):
            raise count.error(f"{count.path}.formula is {value} where every size is {_TRIAL:g}", "formula")
        return Count(formula, reason, source)
