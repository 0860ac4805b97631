"""`.klaudit.yaml`: default options, and ignores with reasons that can end."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import ROWS

from klaudit.__main__ import main

BASE = "board: tensara-kl-2025\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a board of four rows: within, conditional, impossible, of an unknown card."""
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "board.csv").write_text(ROWS, encoding="utf-8")
    return tmp_path


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["check", "board.csv", *arguments])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def write(home: Path, text: str, name: str = ".klaudit.yaml") -> None:
    (home / name).write_text(text, encoding="utf-8")


def test_the_file_of_the_folder_gives_defaults(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And says so on stderr, for a report must be reproducible; --config names another one."""
    write(home, BASE + "format: json\nfail-on: never\n")
    code, shown, said = check(capsys)
    assert (code, shown[0]) == (0, "{")
    assert said == "klaudit: note: options and ignores from .klaudit.yaml\n"
    write(home, BASE + "format: csv\n", "other.yaml")
    code, shown, said = check(capsys, "--config", "other.yaml")
    assert (code, shown[:7], said) == (1, "source,", "")


def test_the_command_line_and_variables_win(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Options over variables over the file."""
    write(home, BASE + "format: json\n")
    assert check(capsys, "--format", "csv")[1].startswith("source,")
    monkeypatch.setenv("KLAUDIT_CHECK_FORMAT", "csv")
    assert check(capsys)[1].startswith("source,")
    assert check(capsys, "--format", "gate")[1].startswith('{"classification"')


def test_every_kind_of_option(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lists, mappings, flags and numbers, as they are written on the command line."""
    write(
        home,
        BASE
        + """\
gpu-label: {T40: t4}
rule-out: [write-back, inputs-resident]
column: {rate: mean_gflops}
size: {n: 1024}
n: 1024
max-findings: 1
exit-zero: true
rows: all
decimal: "."
""",
    )
    code, shown, _ = check(capsys)
    assert code == 0
    assert "+1 more" in shown
    assert "0 unjudged" in shown
    assert "ruled out: write-back inputs-resident" in shown


def test_paths_start_from_the_file(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A baseline and specs beside the config, wherever the command runs."""
    (home / "sub").mkdir()
    check(capsys, "--board", "tensara-kl-2025", "--write-baseline", "sub/b.json")
    write(home, BASE + "baseline: b.json\n", "sub/c.yaml")
    assert check(capsys, "--config", "sub/c.yaml")[0] == 0


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("boards: x\n", 1, "unknown key 'boards'"),
        (BASE + "bord: x\n", 2, "unknown key 'bord'; allowed here: board"),
        (BASE + "board: x\n", 2, "key 'board' is repeated"),
        (BASE + "format: xml\n", 2, "format: 'xml' is not one of"),
        (BASE + "fail-on: [a]\n", 2, "must be text"),
        (BASE + "exit-zero: 1\n", 2, "neither true nor false"),
        (BASE + "rule-out: [magic]\n", 2, "'magic' is not one of"),
        (BASE + "max-findings: many\n", 2, "no positive whole number"),
        (BASE + "sources:\n  a: {where: b, kind: vendor, how: quoted}\n", 3, "unknown key 'sources'"),
        (BASE + "output: x\n", 2, "unknown key 'output'"),
        (BASE + "ignore:\n  - rule: impossible\n", 3, "needs a reason"),
        (BASE + "ignore:\n  - reason: because\n", 3, "needs a rule, an entry or a fingerprint"),
        (
            BASE + "ignore:\n  - {rule: imposible, reason: because}\n",
            3,
            "'imposible' is unknown; allowed here: impossible",
        ),
        (BASE + "ignore:\n  - {rule: impossible, reason: because, until: 2026-01-01}\n", 3, "unknown key"),
        (BASE + "ignore:\n  - {rule: impossible, reason: because, expires: soon}\n", 3, "no date"),
        (BASE + "ignore:\n  - {rule: impossible, reason: ''}\n", 3, "empty"),
        (BASE + "ignore: {rule: impossible}\n", 2, "must be a list"),
        ("- a\n", 1, "must be a mapping"),
    ],
)
def test_mistakes_are_2_with_their_line(
    text: str, line: int, says: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file, the line, what was found; and nothing is judged."""
    write(home, text)
    code, shown, said = check(capsys)
    assert (code, shown) == (2, "")
    assert f".klaudit.yaml:{line}: " in said
    assert says in said


def test_a_file_that_is_not_there_is_2(capsys: pytest.CaptureFixture[str]) -> None:
    """--config never falls back."""
    code, shown, said = check(capsys, "--config", "none.yaml")
    assert (code, shown) == (2, "")
    assert "none.yaml: there is no such file" in said


def test_an_empty_file_changes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Comments alone are a file, too."""
    for text in ("", "# later\n"):
        write(home, text)
        assert check(capsys, "--board", "tensara-kl-2025")[0] == 1


@pytest.mark.parametrize("key", ["rule: impossible", "entry: forged"])
def test_an_ignore_with_a_reason(key: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The finding is counted, does not fail, and is shown with its reason where asked for."""
    write(
        home,
        BASE + f"ignore:\n  - {key}\n    reason: events on the wrong stream, fixed since\n    expires: 2999-01-31\n",
    )
    code, shown, _ = check(capsys)
    assert code == 0
    assert "1 of them suppressed" in shown
    assert "forged" not in shown
    code, shown, _ = check(capsys, "--show-suppressed")
    assert code == 0
    assert "board.csv:4: suppressed impossible: forged on T4 (ignored until 2999-01-31: events on the wrong" in shown
    assert check(capsys, "--fail-on", "conditional")[0] == 1


def test_an_ignore_by_fingerprint(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the JSON report and a baseline name it."""
    import json

    write(home, BASE)
    report = json.loads(check(capsys, "--format", "json")[1])
    prints = {row["entry"]: row.get("fingerprint") for row in report["rows"]}
    assert prints["honest"] is None
    write(home, BASE + f"ignore:\n  - {{fingerprint: {prints['forged']}, reason: known}}\n")
    assert check(capsys)[0] == 0


def test_an_ignore_that_has_ended(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The finding fails again, and the message says since when and why it was ignored."""
    write(home, BASE + "ignore:\n  - {entry: forged, reason: being fixed, expires: 2020-01-31}\n")
    code, shown, said = check(capsys)
    assert code == 1
    assert "board.csv:4: error impossible: forged" in shown
    assert ".klaudit.yaml:3: the ignore of entry 'forged' ended on 2020-01-31 (being fixed): 1 of its findings" in said
    report = check(capsys, "--format", "json")[1]
    assert "ended on 2020-01-31" in report


def test_an_ignore_does_not_hide_the_rows_beside_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A rule's ignore takes findings reported under that rule, and unjudged rows stay unjudged."""
    write(home, BASE + "ignore:\n  - {rule: unknown-gpu, reason: cards to come}\n")
    code, shown, _ = check(capsys, "--fail-on", "unjudged")
    assert code == 1
    assert "typo" not in shown
    assert "1 unjudged" in shown
