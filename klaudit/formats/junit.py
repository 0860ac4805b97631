"""JUnit XML: a suite for each file with a test case for each finding, and a last suite for the audit as a whole.

A case fails where `--fail-on` says that its verdict fails; other findings are skipped cases with their reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import chain
from typing import Final, NamedTuple, TextIO

from klaudit.formats import View
from klaudit.formats.findings import counts, line, title, who, why
from klaudit.formats.provenance import HARNESS, NO_CLEARANCE, Stamp
from klaudit.formats.standing import sentence
from klaudit.formats.text import clean, plural
from klaudit.report import Audit, RowReport
from klaudit.verdict import Verdict

_SOURCE_CELLS: Final = 1000


class _Case(NamedTuple):
    """One test case, and whether it failed or was skipped."""

    xml: str
    failed: bool = False
    skipped: bool = False


def write(audit: Audit, out: TextIO, view: View) -> None:
    """Write all suites."""
    suites: dict[str, list[_Case]] = {}
    rows = audit.findings if view.rows == "flagged" else (row for row in audit.rows() if not row.suppressed)
    for row in chain(rows, audit.suppressed.rows if view.suppressed else ()):
        suites.setdefault(row.source, []).append(_case(row, view))
    whole = list(_whole(audit, view))
    cases = [case for found in suites.values() for case in found] + whole
    out.write(f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="klaudit"{_totals(cases)}>\n')
    for source, found in suites.items():
        _write_suite(out, clean(source, _SOURCE_CELLS), found, "")
    _write_suite(out, "klaudit", whole, _properties(audit), _said(audit))
    out.write("</testsuites>\n")


def _write_suite(out: TextIO, name: str, cases: Sequence[_Case], properties: str, said: str = "") -> None:
    out.write(f" <testsuite{_attributes(name=name)}{_totals(cases)}>\n{properties}")
    for case in cases:
        out.write(f"  {case.xml}\n")
    out.write(f"{said} </testsuite>\n")


def _case(row: RowReport, view: View) -> _Case:
    where = f"record {row.line}" if line(row) != row.line else f"line {row.line}"
    source = clean(row.source, _SOURCE_CELLS)
    head = _attributes(classname=source, name=f"{where}: {who(row)}", file=source, line=str(line(row)))
    if row.verdict is Verdict.WITHIN:
        return _Case(f"<testcase{head}/>")
    if row.suppressed:
        reason = f"{row.rule}, {clean(row.suppressed, 500)}"
        return _Case(f"<testcase{head}><skipped{_attributes(message=reason)}/></testcase>", skipped=True)
    failed = row.verdict in view.fails
    tag = "failure" if failed else "skipped"
    # Viewers show the message in one line and the text below it.
    what = _attributes(type=row.rule, message=f"{row.rule}: {title(row)}")
    return _Case(f"<testcase{head}><{tag}{what}>{_text(why(row))}</{tag}></testcase>", failed, not failed)


def _whole(audit: Audit, view: View) -> Iterator[_Case]:
    """Cases for what no finding stands for: the rows within, and the findings left out."""
    within = plural(audit.summary.counts[Verdict.WITHIN], "row")
    yield _Case(f"<testcase{_attributes(classname='klaudit', name=f'{within} within')}/>")
    left_out = audit.findings_left_out if view.rows == "flagged" else 0
    if not left_out:
        return
    listed = sum(row.verdict in view.fails for row in audit.findings)
    failed = sum(counts(audit)[verdict] for verdict in view.fails) > listed
    tag = "failure" if failed else "skipped"
    name = _attributes(classname="klaudit", name=f"+{left_out} more findings")
    what = _attributes(message="counted, not listed; none is worse than those listed")
    yield _Case(f"<testcase{name}><{tag}{what}/></testcase>", failed, not failed)


def _properties(audit: Audit) -> str:
    stamp = Stamp.of(audit)
    values = {
        "version": stamp.version,
        "specs": stamp.specs,
        "board": clean(stamp.board) or "none",
        "allowed": " ".join(stamp.allowed),
        "ruled_out": " ".join(stamp.ruled_out),
        "rows": str(audit.summary.rows),
        **{str(verdict): str(audit.summary.counts[verdict]) for verdict in Verdict},
        "suppressed": str(audit.suppressed.summary.rows),
    }
    lines = "".join(f"   <property{_attributes(name=name, value=value)}/>\n" for name, value in values.items())
    return f"  <properties>\n{lines}  </properties>\n"


def _said(audit: Audit) -> str:
    said = [*map(sentence, audit.standings), *audit.remarks, *audit.suppressed.messages, NO_CLEARANCE, HARNESS]
    return f"  <system-out>{_text(chr(10).join(clean(words) for words in said))}</system-out>\n"


def _totals(cases: Sequence[_Case]) -> str:
    return _attributes(
        tests=str(len(cases)),
        failures=str(sum(case.failed for case in cases)),
        errors="0",
        skipped=str(sum(case.skipped for case in cases)),
    )


def _attributes(**values: str) -> str:
    return "".join(f' {name}="{escape(value)}"' for name, value in values.items())


def _text(words: str) -> str:
    return escape(words, quote=False)
