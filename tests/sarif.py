"""Reading SARIF in tests: the published schema, and the results of the one run."""

from __future__ import annotations

import json
from typing import Any

from command import ROOT
from jsonschema import Draft4Validator, FormatChecker


def schema_errors(log: Any) -> list[str]:
    schema = json.loads((ROOT / "tests" / "schemas" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    checker = Draft4Validator(schema, format_checker=FormatChecker())
    return [f"{list(error.path)}: {error.message}" for error in checker.iter_errors(log)]


def results(style_output: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(style_output)["runs"][0]["results"]
    return found
