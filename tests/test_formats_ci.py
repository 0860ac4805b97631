"""The formats for CI: each is read by the reader that it is meant for, with names that try to break it."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import report_samples as samples
from command import ROOT
from junitparser import Error, Failure, JUnitXml, Skipped
from markdown_it import MarkdownIt
from sarif import results, schema_errors

from klaudit.baseline import Acceptance
from klaudit.formats import View, write
from klaudit.formats.findings import worst
from klaudit.report import Audit, RowReport, Summary, Suppressed
from klaudit.verdict import RULES, Verdict

NAMES = {
    "bar": "a|b||c\\|d\\\\|e",
    "backticks": "`a` ``b`` ```c```",
    "markup": "<script>alert(1)</script><img src=x onerror=y>",
    "newlines": "a\nb\r\nc\u2028d\x85e",
    "escaped newline": "a%0A::error::b%0D%25",
    "command": "::error::x\n::error file=a,line=1::y ##[error]z ::stop-commands::w",
    "ansi": "\x1b[31mred\x1b[0m\x1b]8;;http://evil\x07link",
    "nul": "a\x00b\ufffe\uffff",
    "right to left": "\u202egnp.exe\u2066\u200f\u061c",
    "link": "[click](http://evil.example) ![i](x) http://a.b www.c.d",
    "mention": "@octocat #1 GH-2 :tada: a@b.c",
    "placeholder": "{0} {{1}} %s ${{ secrets.X }}",
    "xml": "]]> <!-- -- --> &amp; &#0; \"'",
    "emphasis": "*a* _b_ ~~c~~ # d\n- e",
    "half a surrogate": "a\udcffb",
    "formula": "=1+1",
    "long": "x" * 10_000,
    "long and wide": "\U0001f600" * 10_000,
    "blank": "   ",
    "empty": "",
}
FORMAT_NAMES = ("sarif", "junit", "github", "markdown", "jsonl", "gate")


def rendered(style: str, audit: Audit, **view: Any) -> str:
    out = io.StringIO()
    write(style, audit, out, View(**view))
    return out.getvalue()


def marked(rows: tuple[RowReport, ...]) -> tuple[RowReport, ...]:
    acceptance = Acceptance()
    return tuple(row if row.verdict is Verdict.WITHIN else acceptance.mark(row) for row in rows)


def hostile(name: str) -> Audit:
    """An audit whose every text is `name`."""
    everywhere = {"entry": name, "gpu": name, "worst_case": name, "message": f"{name} names no card"}
    rows = marked((*samples.PLAIN_ROWS, *(row._replace(**everywhere) for row in samples.PLAIN_ROWS)))
    said = Suppressed(Summary(), (rows[-1]._replace(suppressed=f"ignored: {name}"),), (name,))
    return samples.audit(rows, board=name, remarks=(name,), suppressed=said)


@pytest.mark.parametrize("name", NAMES.values(), ids=list(NAMES))
class TestHostileNames:
    """Every format stays what it is, whatever a submission is called."""

    @pytest.mark.parametrize("style", FORMAT_NAMES)
    def test_nothing_but_text_and_line_ends(self, style: str, name: str) -> None:
        """No control character, and nothing that an encoding cannot write."""
        for suppressed in (False, True):
            shown = rendered(style, hostile(name), suppressed=suppressed)
            assert {c for c in shown if not c.isprintable()} <= {"\n"}
            shown.encode("utf-8")

    def test_sarif(self, name: str) -> None:
        """The published schema takes it, and no message holds a link."""
        log = json.loads(rendered("sarif", hostile(name), suppressed=True))
        assert schema_errors(log) == []
        for result in log["runs"][0]["results"]:
            assert not re.search(r"(?<!\\)\[[^\]\\]*\]\(", result["message"]["text"])

    def test_junit(self, name: str) -> None:
        """A reader of JUnit finds each case, with its counts."""
        suites = JUnitXml.fromstring(rendered("junit", hostile(name)).encode())
        assert isinstance(suites, JUnitXml)
        cases = [case for suite in suites for case in suite]
        assert suites.tests == len(cases) == 9
        assert suites.failures == sum(isinstance(r, Failure) for case in cases for r in case.result) == 4
        assert suites.skipped == sum(isinstance(r, Skipped) for case in cases for r in case.result) == 4
        assert suites.errors == sum(isinstance(r, Error) for case in cases for r in case.result) == 0

    def test_github(self, name: str) -> None:
        """Exactly the annotations that were meant, each with its file, its line and a title."""
        shown = rendered("github", hostile(name))
        commands = [line for line in shown.split("\n") if line.lstrip().startswith("::") or "##[" in line]
        assert len(commands) == 8
        for line in commands:
            found = re.fullmatch(r"::(error|warning) file=([^:,]*),line=(\d+),title=([^:,]*)::(.*)", line)
            assert found is not None, line
            assert not re.search(r"%(?!25|0D|0A|3A|2C)", line)

    def test_markdown(self, name: str) -> None:
        """Two tables, their cells in place, and no HTML, link, picture or emphasis of the submission's."""
        parser = MarkdownIt("commonmark").enable("table")
        tokens = parser.parse(rendered("markdown", hostile(name)))
        assert sum(token.type == "table_open" for token in tokens) == 2
        width = None
        for token in tokens:
            if token.type == "tr_open":
                width = 0
            elif token.type in ("td_open", "th_open"):
                assert width is not None
                width += 1
            elif token.type == "tr_close":
                assert width in (2, 5)
            assert token.type not in ("html_block", "fence", "code_block")
            for child in token.children or ():
                assert child.type in (
                    "text", "code_inline", "html_inline", "strong_open", "strong_close", "text_special", "softbreak"
                )  # fmt: skip
                assert child.type != "html_inline" or child.content in ("<code>", "</code>")

    def test_jsonl_and_gate(self, name: str) -> None:
        """Each line is one JSON object."""
        lines = rendered("jsonl", hostile(name)).splitlines()
        kinds = [json.loads(line)["kind"] for line in lines]
        assert kinds == ["audit", *["row"] * 10]
        (line,) = rendered("gate", hostile(name)).splitlines()
        assert json.loads(line)["should_filter"] is True


@pytest.mark.parametrize("style", FORMAT_NAMES)
def test_the_whole_report(style: str) -> None:
    """The text is exactly that of the golden file; KLAUDIT_GOLDEN=write writes it anew."""
    shown = rendered(style, samples.audit(marked(samples.PLAIN_ROWS)))
    golden = ROOT / "tests" / "golden" / f"ci-{style}.txt"
    if os.environ.get("KLAUDIT_GOLDEN") == "write":
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")


def test_a_mention_or_link_stays_in_code() -> None:
    """GitHub makes no mention, link or emoji of what stands in code."""
    shown = rendered("markdown", hostile(NAMES["mention"]))
    for part in ("@octocat", "#1", ":tada:"):
        bare = re.sub(r"`[^`]*`|<code>.*?</code>", "", shown)
        assert part not in bare
    html = MarkdownIt("commonmark").enable("table").render(rendered("markdown", hostile(NAMES["link"])))
    assert "<a " not in html
    assert "<img" not in html


# SARIF


def test_sarif_rules_have_help_and_level() -> None:
    """Each rule met says what it means, how loud it is, and what would lift the verdict."""
    log = json.loads(rendered("sarif", samples.audit(marked(samples.ROWS))))
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["above-dram-roof", "figures-disagree", "impossible", "unknown-gpu"]
    for rule in rules:
        assert rule["defaultConfiguration"]["level"] == RULES[rule["id"]].level
        assert rule["help"]["text"].startswith(RULES[rule["id"]].help)
        assert "does not say that anyone cheated" in rule["help"]["markdown"]
        assert "profiler" in rule["help"]["markdown"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_sarif_points_at_the_line() -> None:
    """The file below the working folder as a relative URI, and the record's own line."""
    rows = marked((samples.IMPOSSIBLE._replace(source="boards/a b#c%d:e.csv", line=7),))
    (result,) = results(rendered("sarif", samples.audit(rows)))
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "boards/a%20b%23c%25d%3Ae.csv", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 7}


def test_sarif_of_a_document_without_lines() -> None:
    """A record of a JSON document is counted in the message; its number is no line."""
    rows = marked((samples.IMPOSSIBLE._replace(source="board.json", line=7),))
    (result,) = results(rendered("sarif", samples.audit(rows)))
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}
    assert "(record 7)" in result["message"]["text"]


def test_sarif_paths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Absolute paths below the working folder become relative, others stay."""
    monkeypatch.chdir(tmp_path)
    rows = marked(
        (samples.IMPOSSIBLE._replace(source=str(tmp_path / "a.csv")), samples.IMPOSSIBLE._replace(source="/x.csv"))
    )
    found = [
        r["locations"][0]["physicalLocation"]["artifactLocation"]
        for r in results(rendered("sarif", samples.audit(rows)))
    ]
    assert {"uri": "a.csv", "uriBaseId": "%SRCROOT%"} in found
    assert {"uri": "file:///x.csv"} in found


def test_sarif_takes_no_more_than_github_keeps() -> None:
    """5000 results, the worst first; the others are counted in a notification."""
    rows = tuple(
        (samples.IMPOSSIBLE if i % 3 else samples.CONDITIONAL)._replace(line=i + 2, limit_ratio=1 + i / 1000)
        for i in range(7000)
    )
    log = json.loads(rendered("sarif", samples.audit(rows, findings_left_out=11)))
    run = log["runs"][0]
    lines = [r["locations"][0]["physicalLocation"]["region"]["startLine"] for r in run["results"]]
    assert len(lines) == 5000
    assert lines[0] == 7000
    assert [r["level"] for r in run["results"]] == ["error"] * 4666 + ["warning"] * 334
    said = [n["message"]["text"] for n in run["invocations"][0]["toolExecutionNotifications"]]
    assert any(text.startswith("+2011 more findings") for text in said)


def test_suppressed_findings_carry_their_reason() -> None:
    """Only where asked for, and as SARIF has it."""
    (row,) = marked((samples.IMPOSSIBLE,))
    counts = Summary()
    counts.counts[Verdict.IMPOSSIBLE] += 1
    audit = samples.audit(
        (row,), findings=(), suppressed=Suppressed(counts, (row._replace(suppressed="ignored: old"),))
    )
    assert results(rendered("sarif", audit)) == []
    (result,) = results(rendered("sarif", audit, suppressed=True))
    assert result["suppressions"] == [{"kind": "external", "justification": "ignored: old"}]
    for style in ("concise", "table", "markdown", "junit", "github"):
        assert "ignored: old" not in rendered(style, audit)
        assert "ignored: old" in rendered(style, audit, suppressed=True)


# GitHub, JUnit, Markdown, the gate


def test_github_shows_ten_of_a_kind() -> None:
    """The worst ten errors and ten warnings, then the number of the others."""
    rows = tuple(samples.IMPOSSIBLE._replace(line=i + 2, limit_ratio=1 + i / 1000) for i in range(25))
    rows += tuple(samples.CONDITIONAL._replace(line=i + 50) for i in range(12))
    lines = rendered("github", samples.audit(rows, findings_left_out=3)).splitlines()
    errors = [line for line in lines if line.startswith("::error ")]
    warnings = [line for line in lines if line.startswith("::warning ")]
    assert (len(errors), len(warnings)) == (10, 10)
    assert [re.search(r"line=(\d+)", line)[1] for line in errors] == [str(line) for line in range(26, 16, -1)]  # type: ignore[index]
    assert lines[20].startswith("+17 more")


def test_github_escapes_paths() -> None:
    """The runner reads the file's own name again."""
    (line, *_) = rendered("github", samples.audit((samples.IMPOSSIBLE._replace(source="a,b:c%d.csv"),))).splitlines()
    found = re.match(r"::error file=(.*?),line=", line)
    assert found is not None
    path = found[1]
    for written, meant in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        path = path.replace(written, meant)
    assert path == "a,b:c%d.csv"


def test_junit_fails_what_fail_on_says() -> None:
    """A conditional row is skipped by default and fails where it is asked to."""
    audit = samples.audit((samples.CONDITIONAL, samples.WITHIN))
    case = next(iter(next(iter(JUnitXml.fromstring(rendered("junit", audit).encode())))))
    assert isinstance(case.result[0], Skipped)
    fails = (Verdict.CONDITIONAL,)
    case = next(iter(next(iter(JUnitXml.fromstring(rendered("junit", audit, fails=fails).encode())))))
    assert isinstance(case.result[0], Failure)


def test_junit_can_have_every_row() -> None:
    """With --rows all a row within is a case that passes."""
    suites = JUnitXml.fromstring(rendered("junit", samples.audit(), rows="all").encode())
    assert suites.tests == len(samples.PLAIN_ROWS) + 1


def test_markdown_fits_under_an_issue() -> None:
    """10 000 findings with long names stay below 65 536 characters, with the worst first and the others counted."""
    rows = tuple(
        samples.IMPOSSIBLE._replace(entry=f"{i}" + "|" * 10_000, line=i + 2, limit_ratio=1.0 + i) for i in range(10_000)
    )
    shown = rendered("markdown", samples.audit(rows))
    assert 10_000 < len(shown.encode()) < 65_536 < 2**20
    assert "| 10001 |" in shown
    more = re.search(r"^\+(\d+) more", shown, re.MULTILINE)
    assert more is not None
    assert int(more[1]) + shown.count("**impossible**") == 10_000
    assert "klaudit 0.1.0, specs 2026-01-31" in shown


def test_the_worst_come_first() -> None:
    """By verdict, then by how far above the limit; equal ones keep their order."""
    twin = samples.IMPOSSIBLE._replace(line=99)
    rows = [samples.UNJUDGED, samples.CONDITIONAL, samples.IMPOSSIBLE, samples.INCONSISTENT, twin]
    assert [row.line for row in worst(rows, 4)] == [9, 8, 99, 7]


def test_the_gate_has_the_keys_of_the_bot() -> None:
    """classification, should_filter, filter_reason, and patterns with severity and evidence."""
    judged = json.loads(rendered("gate", samples.audit()))
    assert judged["classification"] == "inconsistent"
    assert judged["should_filter"] is True
    assert judged["filter_reason"].startswith("1 inconsistent, 1 impossible: moved point on H200: ")
    assert [set(pattern) for pattern in judged["matched_patterns"]] == [{"pattern", "severity", "evidence"}] * 4
    assert [p["severity"] for p in judged["matched_patterns"]] == ["critical", "critical", "medium", "low"]


def test_the_gate_filters_only_what_fails() -> None:
    """A conditional row is told and passes; a row within is valid."""
    judged = json.loads(rendered("gate", samples.audit((samples.CONDITIONAL,))))
    assert (judged["classification"], judged["should_filter"], judged["filter_reason"]) == ("conditional", False, None)
    judged = json.loads(rendered("gate", samples.audit((samples.WITHIN,))))
    assert (judged["classification"], judged["matched_patterns"]) == ("valid", [])
