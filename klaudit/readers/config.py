"""The user's own file of default options and ignores, `.klaudit.yaml`. What an option's value may be, click decides."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from klaudit.accepted import Config, Ignore
from klaudit.errors import InputError
from klaudit.readers.strict_yaml import Section, open_spec
from klaudit.verdict import RULES

# How each option is written in the file: a text, a whole number, true or false, a list, or a mapping for pairs.
OPTIONS: Final[Mapping[str, str]] = {
    "board": "text",
    "workload": "text",
    "dtype": "text",
    "n": "number",
    "size": "numbers",
    "gpu": "text",
    "gpu-label": "pairs",
    "rule-out": "texts",
    "allow": "texts",
    "column": "pairs",
    "input-format": "text",
    "decimal": "text",
    "trust-columns": "flag",
    "format": "text",
    "rows": "text",
    "max-findings": "count",
    "fail-on": "text",
    "exit-zero": "flag",
    "specs": "paths",
    "baseline": "path",
    "show-suppressed": "flag",
}


def read_config(path: Path) -> Config:
    """The options and ignores of a file.

    Parameters
    ----------
    path : Path
        The file; paths in it start from its folder.

    Raises
    ------
    InputError
        Where the file cannot be read.
    SpecError
        Where it holds an unknown key or a value of the wrong kind, with the line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file. Check --config") from None
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(f"{path} cannot be read: {reason}. Expected a file of options and ignores in YAML") from None
    if all(not line.strip() or line.lstrip().startswith("#") for line in text.splitlines()):
        return Config(str(path))
    options: dict[str, tuple[Any, int]] = {}
    with open_spec(text, str(path)) as root:
        for name, kind in OPTIONS.items():
            if name in root:
                options[name] = (_value(root, name, kind, path.parent), root.line(name))
        ignores = tuple(_ignore(section) for section in root.sections("ignore"))
        if "sources" in root:
            raise root.error("unknown key 'sources'; it belongs into specs", "sources")
    return Config(str(path), options, ignores)


def _value(root: Section, name: str, kind: str, folder: Path) -> Any:
    """A value as click takes it from the command line."""
    if kind == "text":
        return root.text(name)
    if kind == "path":
        return str(folder / root.text(name))
    if kind == "paths":
        return [str(folder / text) for text in root.texts(name, required=True)]
    if kind == "texts":
        return list(root.texts(name, required=True))
    if kind == "flag":
        return root.flag(name)
    if kind == "number":
        return str(root.number(name))
    if kind == "count":
        return root.count(name)
    with root.section(name) as pairs:
        if kind == "pairs":
            return [f"{key}={pairs.text(key)}" for key in pairs.keys]
        return [f"{key}={pairs.number(key)}" for key in pairs.keys]


def _ignore(section: Section) -> Ignore:
    with section:
        rule = section.word("rule", RULES) if "rule" in section else ""
        entry, fingerprint = section.text("entry", ""), section.text("fingerprint", "")
        if not (rule or entry or fingerprint):
            raise section.error("an ignore needs a rule, an entry or a fingerprint")
        if "reason" not in section:
            raise section.error("an ignore needs a reason: who reads it later must know why")
        return Ignore(
            reason=section.text("reason"),
            rule=rule,
            entry=entry,
            fingerprint=fingerprint,
            expires=section.date("expires") if "expires" in section else None,
            place=f"{section.document.file}:{section.line()}",
        )
