"""`klaudit check` in CI: the example in every format, exit codes, and what it does by itself on GitHub Actions."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from command import BOARD, ROOT, klaudit, write_board
from junitparser import JUnitXml
from markdown_it import MarkdownIt
from sarif import results, schema_errors

from klaudit.__main__ import main
from klaudit.formats import FORMATS

EXAMPLE = "examples/kl-h200.csv"
STYLES = ("sarif", "junit", "github", "markdown", "jsonl", "gate", "json", "csv", "concise")


@pytest.fixture(autouse=True)
def _at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that run on GitHub Actions are not about it."""
    for name in [name for name in os.environ if name.startswith("GITHUB_")]:
        monkeypatch.delenv(name)


# The command, on the board of the example: ten errors and one warning, lines 92 to 102.

LINES = list(range(92, 103))


@pytest.fixture(scope="module")
def shown() -> dict[str, str]:
    """The example in each format; every one but the gate exits with 1."""
    found = {}
    for style in STYLES:
        done = klaudit("check", EXAMPLE, *BOARD, "--format", style)
        assert done.returncode == (0 if style == "gate" else 1), done.stderr
        assert done.stderr == ""
        found[style] = done.stdout
    return found


def test_the_example_in_sarif(shown: dict[str, str]) -> None:
    """Valid, with every line and level."""
    assert schema_errors(json.loads(shown["sarif"])) == []
    found = results(shown["sarif"])
    assert sorted(r["locations"][0]["physicalLocation"]["region"]["startLine"] for r in found) == LINES
    assert sorted(r["level"] for r in found) == ["error"] * 10 + ["warning"]
    prints = {r["partialFingerprints"]["primaryLocationLineHash"] for r in found}
    assert len(prints) == 11


def test_the_example_in_junit(shown: dict[str, str]) -> None:
    """Ten failures, one skipped case, and the rows within."""
    suites = JUnitXml.fromstring(shown["junit"].encode())
    assert (suites.tests, suites.failures, suites.skipped) == (12, 10, 1)
    lines = [int(case._elem.get("line")) for case in next(iter(suites))]
    assert lines == LINES


def test_the_example_in_github(shown: dict[str, str]) -> None:
    """Ten errors and one warning, none left out."""
    lines = shown["github"].splitlines()
    assert [line.split(" ")[0] for line in lines[:11]] == ["::error"] * 10 + ["::warning"]
    assert sorted(int(re.search(r",line=(\d+),", line)[1]) for line in lines[:11]) == LINES  # type: ignore[index]
    assert not any(line.startswith("+") for line in lines)


def test_the_example_in_markdown(shown: dict[str, str]) -> None:
    """A row of the table for each finding."""
    html = MarkdownIt("commonmark").enable("table").render(shown["markdown"])
    assert sorted(int(n) for n in re.findall(r"<td>(\d+)</td>\n<td><code>", html)) == LINES
    assert html.count("<td><strong>impossible</strong></td>") == 10
    assert html.count("<td>conditional</td>\n<td>95</td>") == 1


def test_the_example_in_json_lines(shown: dict[str, str]) -> None:
    """The same rows as the JSON report, each with its file."""
    head, *rows = map(json.loads, shown["jsonl"].splitlines())
    report = json.loads(shown["json"])
    assert head["summary"] == report["summary"]
    assert [row["line"] for row in rows if row["verdict"] != "within"] == LINES
    for row, other in zip(rows, report["rows"], strict=True):
        assert (row.pop("kind"), row.pop("source")) == ("row", EXAMPLE)
        assert row == other


def test_the_example_at_the_gate(shown: dict[str, str]) -> None:
    """Filtered, exit 0, with eleven patterns."""
    judged = json.loads(shown["gate"].splitlines()[-1])
    assert judged["should_filter"] is True
    assert [p["severity"] for p in judged["matched_patterns"]] == ["critical"] * 10 + ["medium"]


def test_fingerprints_survive_another_order(tmp_path: Path, shown: dict[str, str]) -> None:
    """Rows in reverse, in another file, have the fingerprints they had."""
    head, *rows = (ROOT / EXAMPLE).read_text(encoding="utf-8").splitlines()
    file = tmp_path / "reversed.csv"
    file.write_text("\n".join([head, *reversed(rows)]) + "\n", encoding="utf-8")
    prints = [
        {r["message"]["text"]: r["partialFingerprints"]["klaudit/v1"] for r in results(text)}
        for text in (shown["sarif"], klaudit("check", file, *BOARD, "--format", "sarif").stdout)
    ]
    assert prints[0] == prints[1]


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """The command within this process: exit code, stdout and stderr."""
    code = main([str(a) for a in arguments])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.mark.parametrize("style", list(FORMATS))
def test_mistakes_are_2_in_every_format(style: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A broken file, an unknown flag, a missing spec: exit 2, one sentence, and no report."""
    broken = tmp_path / "broken.csv"
    broken.write_bytes(b"entry,gpu,mean_gflops\na,T4,\x00\n")
    for arguments in (
        (broken, *BOARD),
        (ROOT / EXAMPLE, *BOARD, "--no-such-flag"),
        (ROOT / EXAMPLE, "--board", "no-such-board"),
        (ROOT / EXAMPLE, *BOARD, "--specs", tmp_path / "nowhere"),
    ):
        code, shown, said = run(capsys, "check", *arguments, "--format", style)
        assert (code, shown) == (2, "")
        assert said.startswith("klaudit: ")
        assert "Traceback" not in said


@pytest.mark.parametrize("style", list(FORMATS))
def test_nothing_judged_is_3_in_every_format(style: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also at the gate: a bot must not take it for a judgement."""
    file = tmp_path / "rows.csv"
    file.write_text("entry,gpu,mean_gflops\na,T40,150\n", encoding="utf-8")
    code, shown, _ = run(capsys, "check", file, *BOARD, "--format", style)
    assert code == 3
    assert shown


def test_the_worst_are_kept_of_many(tmp_path: Path) -> None:
    """Beyond --max-findings the worst stay, wherever in the file they are."""
    file = tmp_path / "rows.csv"
    rows = [f"e{i},T4,{1500 + i}" for i in range(40)]
    file.write_text("\n".join(["entry,gpu,mean_gflops", *rows, "worst,T4,99999", *rows, ""]), encoding="utf-8")
    done = klaudit("check", file, *BOARD, "--format", "sarif", "--max-findings", "5")
    found = results(done.stdout)
    assert len(found) == 5
    assert found[0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 42
    assert "+76 more findings" in done.stdout


# On GitHub Actions


def test_check_picks_annotations_by_itself(tmp_path: Path) -> None:
    """And says so; a format that was asked for stays, and so does a file."""
    board = write_board(tmp_path)
    on = {"GITHUB_ACTIONS": "true"}
    done = klaudit("check", board, *BOARD, **on)
    assert (done.returncode, done.stdout.count("::error "), done.stdout.count("::warning ")) == (1, 1, 2)
    assert "--format github" in done.stderr
    for arguments, variables in (
        (("--format", "concise"), on),
        ((), {**on, "KLAUDIT_CHECK_FORMAT": "concise"}),
        ((), {"GITHUB_ACTIONS": "false"}),
    ):
        done = klaudit("check", board, *BOARD, *arguments, **variables)
        assert "::error" not in done.stdout
        assert done.stderr == ""
    assert "::error" not in klaudit("audit", board, *BOARD, **on).stdout


def test_check_appends_to_the_step_summary(tmp_path: Path) -> None:
    """Below what stands there, whatever the format; audit does not."""
    board, summary = write_board(tmp_path), tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    plain = klaudit("check", board, *BOARD, "--format", "markdown").stdout
    for style in ("json", "gate"):
        klaudit("check", board, *BOARD, "--format", style, GITHUB_STEP_SUMMARY=str(summary))
    klaudit("audit", board, *BOARD, GITHUB_STEP_SUMMARY=str(summary))
    assert summary.read_text(encoding="utf-8") == f"before\n{plain}\n{plain}\n"


def test_a_full_step_summary_is_left_alone(tmp_path: Path) -> None:
    """GitHub would drop all of it; the judgement stays what it was."""
    board, summary = write_board(tmp_path), tmp_path / "summary.md"
    summary.write_bytes(b"x" * (2**20 - 100))
    done = klaudit("check", board, *BOARD, GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 1
    assert "below 1 MiB" in done.stderr
    assert summary.stat().st_size == 2**20 - 100
    done = klaudit("check", board, *BOARD, GITHUB_STEP_SUMMARY=str(tmp_path))
    assert (done.returncode, "cannot be written" in done.stderr) == (1, True)
