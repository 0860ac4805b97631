"""Accepted findings: fingerprints, baselines, and what is told of those that do nothing any more."""

from __future__ import annotations

import datetime
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import report_samples as samples
from command import BOARD, ROOT, klaudit
from hypothesis import given
from hypothesis import strategies as st

from klaudit.accepted import Baseline, Ignore, Known
from klaudit.baseline import Acceptance, fingerprint
from klaudit.errors import InputError
from klaudit.readers.known import read_baseline

EXAMPLE = ROOT / "examples" / "kl-h200.csv"
HEAD, *ROWS = EXAMPLE.read_text(encoding="utf-8").splitlines()
FORGED = "newcomer,H200,exploit,0.001,0.001,0.001,0.001,0.001,900000,0.0010,0.0010"
TODAY = datetime.date(2026, 6, 1)


def write(folder: Path, *rows: str, name: str = "board.csv") -> Path:
    file = folder / name
    file.write_text("\n".join([HEAD, *rows, ""]), encoding="utf-8")
    return file


def findings(*arguments: object) -> tuple[int, list[dict[str, Any]], str]:
    """Exit code, the rows of the JSON report that are not within, and stderr."""
    done = klaudit("check", *arguments, *BOARD, "--format", "json")
    return done.returncode, [r for r in json.loads(done.stdout)["rows"] if r["verdict"] != "within"], done.stderr


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    """The baseline of the example."""
    file = tmp_path / "baseline.json"
    done = klaudit("check", write(tmp_path, *ROWS), *BOARD, "--write-baseline", file)
    assert done.returncode == 0
    assert "11 findings written" in done.stderr
    return file


# Fingerprints


@given(st.permutations([samples.IMPOSSIBLE, samples.IMPOSSIBLE, samples.CONDITIONAL, samples.UNJUDGED]))
def test_order_does_not_matter(rows: list[Any]) -> None:
    """The same rows in any order have the same fingerprints; equal rows are counted."""
    acceptance = Acceptance()
    assert {acceptance.mark(row).fingerprint for row in rows} == {
        *(f"{fingerprint(samples.IMPOSSIBLE)}-{n}" for n in (1, 2)),
        *(f"{fingerprint(row)}-1" for row in (samples.CONDITIONAL, samples.UNJUDGED)),
    }


@pytest.mark.parametrize(
    "change",
    [
        {"entry": "other"},
        {"gpu": "H100 PCIe"},
        {"rules": ("below-launch-floor", "impossible")},
        {"reported": (samples.rate(43642e9, 15.216),)},
        {"cases": samples.CONDITIONAL.cases},
    ],
)
def test_what_a_row_says_makes_its_fingerprint(change: dict[str, Any]) -> None:
    """Another entry, card, figure, case or rule is another finding."""
    assert fingerprint(samples.IMPOSSIBLE._replace(**change)) != fingerprint(samples.IMPOSSIBLE)


@pytest.mark.parametrize(
    "change", [{"line": 77}, {"source": "moved.csv"}, {"message": "other words"}, {"rules": ("impossible", "strained")}]
)
def test_where_it_stands_does_not(change: dict[str, Any]) -> None:
    """Another line, file, wording or note is the same finding."""
    assert fingerprint(samples.IMPOSSIBLE._replace(**change)) == fingerprint(samples.IMPOSSIBLE)


def test_another_unit_is_the_same_finding(tmp_path: Path) -> None:
    """57.2 us and 0.0572 ms are one figure."""
    prints = set()
    for header, cell in (("mean_us", "5.72"), ("mean_ms", "0.00572"), ("mean_s", "0.00000572")):
        file = tmp_path / "rows.csv"
        file.write_text(f"entry,gpu,{header}\na,T4,{cell}\n", encoding="utf-8")
        prints.add(findings(file)[1][0]["fingerprint"])
    assert len(prints) == 1


def test_separators_in_names_do_not_mix() -> None:
    """An entry cannot borrow a piece of the GPU's name."""
    one = samples.IMPOSSIBLE._replace(entry='a", "b', gpu="c")
    other = samples.IMPOSSIBLE._replace(entry="a", gpu='b", "c')
    assert fingerprint(one) != fingerprint(other)


# Baselines


def test_known_findings_do_not_fail(tmp_path: Path, baseline: Path) -> None:
    """Exit 0 in another order too; the findings are counted and can be shown."""
    file = write(tmp_path, *reversed(ROWS))
    done = klaudit("check", file, *BOARD, "--baseline", baseline)
    assert (done.returncode, done.stderr) == (0, "")
    assert "11 of them suppressed" in done.stdout
    assert "error" not in done.stdout
    done = klaudit("check", file, *BOARD, "--baseline", baseline, "--show-suppressed", "--fail-on", "unjudged")
    assert done.returncode == 0
    assert done.stdout.count(": suppressed impossible: ") == 10
    assert done.stdout.count(": suppressed above-dram-roof: ") == 1


@pytest.mark.parametrize("place", [0, 50, 101])
def test_a_new_finding_fails(place: int, tmp_path: Path, baseline: Path) -> None:
    """Exit 1 and only that row, wherever it stands."""
    file = write(tmp_path, *ROWS[:place], FORGED, *ROWS[place:])
    done = klaudit("check", file, *BOARD, "--baseline", baseline)
    assert done.returncode == 1
    assert [line.split(": ")[0] for line in done.stdout.splitlines()[:-1]] == [f"{file}:{place + 2}"]
    log = json.loads(klaudit("check", file, *BOARD, "--baseline", baseline, "--format", "sarif").stdout)
    assert len(log["runs"][0]["results"]) == 1


def test_a_copy_of_a_known_row_is_new(tmp_path: Path, baseline: Path) -> None:
    """One accepted row does not accept its next copy."""
    code, found, _ = findings(write(tmp_path, *ROWS, ROWS[-1]), "--baseline", baseline)
    assert code == 1
    assert Counter(bool(row.get("suppressed")) for row in found) == {True: 11, False: 1}


def test_a_changed_score_is_new(tmp_path: Path, baseline: Path) -> None:
    """And the accepted one is stale, which is said and does not fail."""
    changed = ROWS[-1].replace("0.003485", "0.003486")
    assert changed != ROWS[-1]
    code, found, said = findings(write(tmp_path, *ROWS[:-1], changed), "--baseline", baseline)
    assert code == 1
    assert [row["line"] for row in found if not row.get("suppressed")] == [102]
    assert "1 accepted findings are there no more: skip-dense+x_thresh on H200 (impossible)" in said
    done = klaudit("check", write(tmp_path, *ROWS[:-1]), *BOARD, "--baseline", baseline)
    assert done.returncode == 0
    assert "there no more" in done.stderr


def test_files_that_were_not_judged_make_nothing_stale(tmp_path: Path, baseline: Path) -> None:
    """A hook that passes the changed files alone says nothing of the others."""
    other = write(tmp_path, ROWS[0], name="other.csv")
    done = klaudit("check", other, *BOARD, "--baseline", baseline)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_baseline_is_whole_and_sorted(baseline: Path) -> None:
    """Beyond --max-findings too, one finding a line, without line numbers."""
    lines = baseline.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 14
    known = read_baseline(str(baseline)).findings
    assert [k.entry for k in known] == sorted(k.entry for k in known)
    again = baseline.with_name("again.json")
    klaudit("check", baseline.parent / "board.csv", *BOARD, "--write-baseline", again, "--max-findings", "2")
    assert again.read_text(encoding="utf-8") == baseline.read_text(encoding="utf-8")


def test_a_baseline_is_written_anew(tmp_path: Path, baseline: Path) -> None:
    """With --baseline and --write-baseline on one file: stale entries go, new ones come."""
    file = write(tmp_path, *ROWS[:-1], FORGED)
    done = klaudit("check", file, *BOARD, "--baseline", baseline, "--write-baseline", baseline)
    assert done.returncode == 0
    entries = [known.entry for known in read_baseline(str(baseline)).findings]
    assert ("newcomer" in entries, "skip-dense+x_thresh" in entries, len(entries)) == (True, False, 11)


def test_the_first_baseline_may_be_named_already(tmp_path: Path) -> None:
    """A configuration that names it is no reason to stop before it is there."""
    file, target = write(tmp_path, *ROWS), tmp_path / "new.json"
    assert klaudit("check", file, *BOARD, "--baseline", target, "--write-baseline", target).returncode == 0
    assert len(read_baseline(str(target)).findings) == 11


def test_nothing_judged_writes_no_baseline(tmp_path: Path, baseline: Path) -> None:
    """A wrong --gpu-label must not replace a good baseline."""
    before = baseline.read_bytes()
    file = write(tmp_path, *(row.replace("H200", "H20O") for row in ROWS))
    done = klaudit("check", file, *BOARD, "--write-baseline", baseline)
    assert done.returncode == 3
    assert "only the report was written" in done.stderr
    assert baseline.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no JSON"),
        ("[]", "schema is None"),
        ('{"schema": "klaudit/1"}', "schema is 'klaudit/1'"),
        ('{"schema": "klaudit-baseline/1"}', "'findings' is no list"),
        ('{"schema": "klaudit-baseline/1", "findings": [1]}', "finding 1"),
        ('{"schema": "klaudit-baseline/1", "findings": [], "more": 1}', "key 'more' is unknown"),
        ('{"schema": "klaudit-baseline/1", "findings": [{"fingerprint": "a"}]}', "finding 1 does not consist"),
    ],
)
def test_a_broken_baseline_is_2(text: str, says: str, tmp_path: Path) -> None:
    """Nothing is judged, and the message says what was expected."""
    file = tmp_path / "baseline.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=says) as error:
        read_baseline(str(file))
    assert "--write-baseline" in str(error.value)


def test_a_fingerprint_is_there_once(tmp_path: Path) -> None:
    """A merge that kept both sides is seen."""
    finding = '{"fingerprint": "a-1", "rule": "impossible", "source": "x", "entry": "y", "gpu": "z"}'
    file = tmp_path / "baseline.json"
    file.write_text(f'{{"schema": "klaudit-baseline/1", "findings": [{finding}, {finding}]}}', encoding="utf-8")
    with pytest.raises(InputError, match="'a-1' is there twice"):
        read_baseline(str(file))


def test_no_result_replaces_a_file_that_is_read(tmp_path: Path, baseline: Path) -> None:
    """Neither the report the baseline, nor the baseline the board, nor one result the other."""
    board = tmp_path / "board.csv"
    for arguments in (
        ("--baseline", baseline, "-o", baseline),
        ("--write-baseline", board),
        ("--write-baseline", baseline, "-o", baseline),
    ):
        before = board.read_bytes(), baseline.read_bytes()
        assert klaudit("check", board, *BOARD, *arguments).returncode == 2
        assert (board.read_bytes(), baseline.read_bytes()) == before
    done = klaudit("check", board, *BOARD, "--baseline", tmp_path / "none.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no such baseline" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_results_that_cannot_be_written_are_2(tmp_path: Path, baseline: Path) -> None:
    """A full disk, a folder that is read-only or missing: a sentence, no traceback, nothing half-written."""
    board, before = tmp_path / "board.csv", sorted(os.listdir(tmp_path))
    for target in ("/dev/full", tmp_path / "none" / "b.json"):
        for option in ("--write-baseline", "-o"):
            done = klaudit("check", board, *BOARD, option, target)
            assert done.returncode == 2
            assert "cannot write to" in done.stderr
            assert "Traceback" not in done.stderr
    assert sorted(os.listdir(tmp_path)) == before


def test_a_reader_that_goes_away_is_2(tmp_path: Path) -> None:
    """`klaudit check | head -1` of a long report: a sentence, for the report was not delivered."""
    import subprocess
    import sys

    file = write(tmp_path, *ROWS * 30)
    with subprocess.Popen(
        [sys.executable, "-m", "klaudit", "check", str(file), *BOARD],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait() == 2
    assert "cannot write to standard output" in said
    assert "Traceback" not in said


# Ignores, as nouns: the file that holds them has tests of its own


def judged(row: Any, *ignores: Ignore, baseline: Baseline | None = None) -> str:
    return Acceptance(baseline, ignores, TODAY).mark(row).suppressed


@pytest.mark.parametrize(
    ("ignore", "fits"),
    [
        ({"rule": "impossible"}, True),
        ({"rule": "above-measured"}, False),
        ({"entry": "skip-dense+v4f"}, True),
        ({"entry": "skip-dense"}, False),
        ({"fingerprint": f"{fingerprint(samples.IMPOSSIBLE)}-1"}, True),
        ({"fingerprint": fingerprint(samples.IMPOSSIBLE)}, False),
        ({"rule": "impossible", "entry": "other"}, False),
    ],
)
def test_an_ignore_fits_whole(ignore: dict[str, str], fits: bool) -> None:
    """Every part that it names; a rule is the one a finding is reported under, never a note beside it."""
    assert bool(judged(samples.IMPOSSIBLE, Ignore(reason="old harness", **ignore))) == fits


@pytest.mark.parametrize(("days", "holds"), [(-1, False), (0, True), (1, True)])
def test_an_ignore_holds_to_the_end_of_its_day(days: int, holds: bool) -> None:
    """The day after, the finding fails again, and a sentence says so with the reason."""
    ignore = Ignore("old harness", rule="impossible", expires=TODAY + datetime.timedelta(days), place="c.yaml:3")
    acceptance = Acceptance(ignores=(ignore,), today=TODAY)
    assert bool(acceptance.mark(samples.IMPOSSIBLE).suppressed) == holds
    said = acceptance.messages(())
    assert bool(said) != holds
    if said:
        assert said[0].startswith("c.yaml:3: the ignore of rule 'impossible' ended on 2026-05-31 (old harness): 1 of")


def test_an_ignored_finding_keeps_its_baseline_entry() -> None:
    """It is not stale: it is there."""
    name = f"{fingerprint(samples.IMPOSSIBLE)}-1"
    baseline = Baseline("b.json", (Known(name, "impossible", "board.csv", "e", "H100"),))
    acceptance = Acceptance(baseline, (Ignore("why", rule="impossible"),), TODAY)
    assert acceptance.mark(samples.IMPOSSIBLE).suppressed == "ignored: why"
    assert acceptance.messages(["board.csv"]) == ()


def test_ignores_that_fit_nothing_are_named_where_asked() -> None:
    """With --show-suppressed."""
    acceptance = Acceptance(ignores=(Ignore("why", entry="gone", place="c.yaml:3"),), today=TODAY)
    assert acceptance.messages(()) == ()
    assert acceptance.messages((), unused=True) == ("c.yaml:3: the ignore of entry 'gone' fits no finding here",)


# One submission


def test_a_folder_is_the_leaderboards_in_it(tmp_path: Path) -> None:
    """By name and below, without hidden files and files of other kinds."""
    (tmp_path / "b" / ".git").mkdir(parents=True)
    write(tmp_path / "b", ROWS[0], name="x.csv")
    write(tmp_path / "b" / ".git", FORGED, name="x.csv")
    (tmp_path / "b" / "README.md").write_text("no board", encoding="utf-8")
    write(tmp_path, FORGED, name="a.CSV")
    done = klaudit("check", tmp_path, tmp_path / "a.CSV", *BOARD)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("klaudit 0.1.0: 2 rows")
    (tmp_path / "empty").mkdir()
    done = klaudit("check", tmp_path / "empty", *BOARD)
    assert (done.returncode, done.stdout) == (2, "")
    assert "a folder without leaderboards" in done.stderr


def standing(tmp_path: Path, row: str) -> dict[str, Any]:
    file = write(tmp_path, row, name="one.csv")
    report = json.loads(klaudit("audit", file, *BOARD, "--against", EXAMPLE, "--format", "json").stdout)
    (found,) = report["standings"]
    return found


def test_the_rank_that_a_submission_would_take(tmp_path: Path) -> None:
    """By the board's own figure: rates of the example, best within 1518.26 GFLOP/s, and 11 rows forged."""
    rates = sorted((float(row.split(",")[8]) for row in ROWS), reverse=True)
    honest = sorted((float(row.split(",")[8]) for row in ROWS if ",honest," in row), reverse=True)
    one = "mine,H200,honest,0.0155,0.0336,0.1061,0.4002,0.0146,1600.00,0.1,0.05"
    found = standing(tmp_path, one)
    assert found["by"] == "gflops"
    assert found["rank"] == 1 + sum(rate > 1600 for rate in rates)
    assert (found["of"], found["rank_within"], found["of_within"]) == (102, 1, 91)
    assert found["best_within"]["gflops"] == honest[0] == 1518.26
    assert found["lead"] == pytest.approx(1600 / 1518.26, rel=1e-6)
    done = klaudit("check", tmp_path / "one.csv", *BOARD, "--against", EXAMPLE)
    assert f"number {found['rank']} of 102" in done.stdout
    assert "number 1 of 91 rows within: 1.05 x the best row within, " in done.stdout


def test_cards_are_ranked_apart(tmp_path: Path) -> None:
    """No row of the card on the board: no rank."""
    found = standing(tmp_path, "mine,T4,honest,,,,,,150.00,,")
    assert (found["by"], found["rank"], found["best_within"]) == (None, None, None)


def test_times_rank_the_other_way(tmp_path: Path) -> None:
    """A shorter time is a better one."""
    board, one = tmp_path / "board.csv", tmp_path / "one.csv"
    board.write_text("entry,gpu,mean_us\na,T4,900\nb,T4,800\nc,T4,1\n", encoding="utf-8")
    one.write_text("entry,gpu,mean_us\nmine,T4,850\n", encoding="utf-8")
    done = klaudit("audit", one, *BOARD, "--against", board, "--format", "json")
    (found,) = json.loads(done.stdout)["standings"]
    assert (found["rank"], found["of"], found["rank_within"], found["of_within"]) == (3, 4, 2, 3)
    assert found["lead"] == pytest.approx(800 / 850, rel=1e-6)
