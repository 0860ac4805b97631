"""SARIF 2.1.0 for code scanning: at most what GitHub keeps of a run, the worst first, and the rest counted.

Fingerprints are made of what a row says, so an alert survives another order of the file.
"""

from __future__ import annotations

import json
import os
from typing import Any, Final, TextIO
from urllib.parse import quote

from klaudit.formats import View, accused
from klaudit.formats.findings import counted, counts, level, line, title, who, why, worst
from klaudit.formats.json_ import text
from klaudit.formats.provenance import Stamp
from klaudit.formats.standing import sentence
from klaudit.formats.text import clean
from klaudit.report import Audit, RowReport
from klaudit.verdict import RULES, Rule

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
# GitHub refuses a run with more than 25 000 results and keeps the first 5 000 of the others.
MOST: Final = 5_000
_ROOT: Final = "%SRCROOT%"
_PROBLEM: Final = {"error": "error", "warning": "warning", "note": "recommendation"}


def write(audit: Audit, out: TextIO, view: View) -> None:
    """Write the log of one run."""
    shown = worst(audit.findings, MOST)
    left_out = audit.findings_left_out + len(audit.findings) - len(shown)
    if view.suppressed:
        shown += worst(audit.suppressed.rows, MOST - len(shown))
    rules = [RULES[slug] for slug in sorted({row.rule for row in shown} & set(RULES))]
    places = {rule.slug: place for place, rule in enumerate(rules)}
    stamp = Stamp.of(audit)
    run = {
        "tool": {
            "driver": {
                "name": "klaudit",
                "version": audit.version,
                **({"informationUri": accused.PAGE} if accused.PAGE else {}),
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "automationDetails": {"id": f"klaudit/{quote(clean(audit.board) or 'none', safe='')}/"},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": _notifications(audit, left_out)}],
        "results": [_result(row, places) for row in shown],
        "columnKind": "unicodeCodePoints",
        "properties": {
            **stamp.json(),
            "board": text(audit.board),
            "ruled_out": list(audit.ruled_out),
            "allowed": list(audit.allowed),
            "rows": audit.summary.rows,
            "judged": audit.summary.judged,
            "suppressed": audit.suppressed.summary.rows,
            "left_out": left_out,
        },
    }
    json.dump({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, out, indent=1, allow_nan=False)
    out.write("\n")


def _notifications(audit: Audit, left_out: int) -> list[dict[str, Any]]:
    """What has no line: the counts, what was left out, and sentences on the whole run."""
    said = [f"{counted(counts(audit).items())} in {audit.summary.rows} rows, {audit.summary.judged} judged"]
    if left_out:
        said.append(f"+{left_out} more findings, none worse than those listed")
    if audit.suppressed.summary.rows:
        said.append(f"{audit.suppressed.summary.rows} findings were accepted beforehand")
    said += [*audit.remarks, *audit.suppressed.messages, *map(sentence, audit.standings)]
    return [{"level": "note", "message": {"text": _message(clean(words))}} for words in said]


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.slug,
        "name": "".join(word.capitalize() for word in rule.slug.split("-")),
        "shortDescription": {"text": f"{rule.title}."},
        "fullDescription": {"text": rule.help},
        "help": {
            "text": f"{rule.help} {accused.plain()}",
            "markdown": f"{rule.help}\n\n{accused.markdown()}",
        },
        **({"helpUri": accused.PAGE} if accused.PAGE else {}),
        "defaultConfiguration": {"level": rule.level},
        "properties": {"tags": ["roofline"], "precision": "high", "problem.severity": _PROBLEM[rule.level]},
    }


def _result(row: RowReport, places: dict[str, int]) -> dict[str, Any]:
    record = f" (record {row.line})" if line(row) != row.line else ""
    result: dict[str, Any] = {
        "ruleId": row.rule,
        "level": level(row),
        "message": {"text": _message(f"{who(row)}{record}: {title(row)}. {why(row)}")},
        "locations": [
            {"physicalLocation": {"artifactLocation": _artifact(row.source), "region": {"startLine": line(row)}}}
        ],
        "properties": {"verdict": str(row.verdict), "conditions": list(row.conditions), "rules": list(row.rules)},
    }
    if row.rule in places:
        result["ruleIndex"] = places[row.rule]
    if row.fingerprint:
        # GitHub knows an alert again by the first key alone.
        result["partialFingerprints"] = {"primaryLocationLineHash": row.fingerprint, "klaudit/v1": row.fingerprint}
    if row.suppressed:
        result["suppressions"] = [{"kind": "external", "justification": clean(row.suppressed, 500)}]
    return result


def _artifact(source: str) -> dict[str, str]:
    """A file as a URI: below the working folder it is relative, so that code scanning finds it in the checkout."""
    path = source
    if os.path.isabs(path):
        below = os.path.relpath(path)
        if below.startswith(os.pardir):
            return {"uri": "file://" + _quoted(path)}
        path = below
    return {"uri": _quoted(os.path.normpath(path) if path else path), "uriBaseId": _ROOT}


def _quoted(path: str) -> str:
    return quote(path.replace(os.sep, "/"), safe="/", errors="surrogatepass")


def _message(words: str) -> str:
    """A text whose brackets make no link: a viewer would take the target from the submission."""
    return words.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]") if "](" in words else words
