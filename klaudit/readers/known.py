"""A baseline file: the findings that were accepted when it was written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from klaudit.accepted import Baseline, Known
from klaudit.errors import InputError

SCHEMA: Final = "klaudit-baseline/1"
_KEYS: Final = ("fingerprint", "rule", "source", "entry", "gpu")


def read_baseline(path: str) -> Baseline:
    """The findings that a baseline accepts.

    Raises
    ------
    InputError
        Where the file cannot be read, or was not written by `--write-baseline`.
    """
    try:
        data = json.loads(Path(path).read_bytes())
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such baseline. Write it with --write-baseline, then name it") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}. Expected a baseline") from None
    except (ValueError, RecursionError):
        raise _refused(path, "it is no JSON") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        found = data.get("schema") if isinstance(data, dict) else None
        raise _refused(path, f"its schema is {found!r}, not {SCHEMA!r}")
    unknown = [key for key in data if key not in ("schema", "version", "findings")]
    if unknown:
        raise _refused(path, f"its key {unknown[0]!r} is unknown")
    findings = data.get("findings")
    if not isinstance(findings, list):
        raise _refused(path, "'findings' is no list")
    known = tuple(_known(path, number, item) for number, item in enumerate(findings, 1))
    names = [finding.fingerprint for finding in known]
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise _refused(path, f"fingerprint {repeated!r} is there twice")
    return Baseline(path, known)


def _known(path: str, number: int, item: Any) -> Known:
    if not isinstance(item, dict) or set(item) != set(_KEYS) or not all(isinstance(v, str) for v in item.values()):
        raise _refused(path, f"finding {number} does not consist of the texts {', '.join(_KEYS)}")
    return Known(**item)


def _refused(path: str, why: str) -> InputError:
    return InputError(f"{path} is no baseline: {why}. Expected a file that klaudit check --write-baseline wrote")
