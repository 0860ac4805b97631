"""The composite action: its steps run as GitHub's runner runs them."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml
from action_runner import Result, Runner
from command import ROOT
from packaged import can_install, copy_checkout

from klaudit.readers.config import OPTIONS

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="the action's steps are written in bash")
FORGED = "newcomer,H200,exploit,0.001,0.001,0.001,0.001,0.001,900000,0.0010,0.0010\n"
BOARD = "tensara-kl-2025"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """An action that has run its install step, and a workspace with the example."""
    folder = tmp_path_factory.mktemp("action")
    if not can_install(folder):
        pytest.skip("no package index can be reached, and the action installs klaudit from one")
    (folder / "space").mkdir()
    (folder / "temporary").mkdir()
    runner = Runner(copy_checkout(folder / "action"), folder / "space", folder / "temporary")
    found = runner.run(only=("install",), files="")
    assert found.code == 0, found.log
    return runner


@pytest.fixture
def runner(installed: Runner) -> Runner:
    """The installed action with a fresh workspace."""
    shutil.rmtree(installed.workspace)
    (installed.workspace / "boards").mkdir(parents=True)
    shutil.copy(ROOT / "examples" / "kl-h200.csv", installed.workspace / "boards" / "a board.csv")
    return installed


def check(runner: Runner, **inputs: str) -> Result:
    return runner.run(only=("check",), **{"files": "boards", "board": BOARD, **inputs})


def test_findings_fail_the_step(runner: Runner) -> None:
    """Exit code 1 passes through, with annotations, counts, a SARIF report and the step summary."""
    found = check(runner)
    assert found.code == 1, found.log
    assert found.log.count("::error file=boards/a board.csv,line=") == 10
    assert found.log.count("::warning file=boards/a board.csv,line=95") == 1
    counts = {name: found.outputs[name] for name in ("rows", "impossible", "conditional", "within", "unjudged")}
    assert counts == {"rows": "101", "impossible": "10", "conditional": "1", "within": "90", "unjudged": "0"}
    assert (found.outputs["inconsistent"], found.outputs["suppressed"], found.outputs["exit-code"]) == ("0", "0", "1")
    log = json.loads(Path(found.outputs["report"]).read_text(encoding="utf-8"))
    assert len(log["runs"][0]["results"]) == 11
    assert found.summary.count("### klaudit: 10 impossible, 1 conditional") == 1


def test_inputs_are_options(runner: Runner) -> None:
    """fail-on, format, and patterns of files, one a line."""
    found = check(runner, fail_on="never", format="markdown", files="boards/*.csv\nboards/**/a board.csv")
    assert (found.code, found.outputs["exit-code"]) == (0, "0")
    assert Path(found.outputs["report"]).read_text(encoding="utf-8").startswith("### klaudit")
    assert found.outputs["rows"] == "101"
    found = check(runner, board="", workload="kl-divergence", fail_on="never")
    assert (found.code, found.outputs["rows"]) == (0, "101")
    assert "(board none, " in found.log


def test_a_baseline(runner: Runner) -> None:
    """Known findings pass; a new one fails, and is the only annotation."""
    known = [
        {
            "fingerprint": r["partialFingerprints"]["klaudit/v1"],
            "rule": r["ruleId"],
            "source": "x",
            "entry": "",
            "gpu": "",
        }
        for r in json.loads(Path(check(runner).outputs["report"]).read_text(encoding="utf-8"))["runs"][0]["results"]
    ]
    baseline = {"schema": "klaudit-baseline/1", "version": "0.1.0", "findings": known}
    (runner.workspace / "known.json").write_text(json.dumps(baseline), encoding="utf-8")
    found = check(runner, baseline="known.json")
    assert (found.code, found.outputs["suppressed"]) == (0, "11")
    assert "::error" not in found.log
    with (runner.workspace / "boards" / "a board.csv").open("a", encoding="utf-8") as file:
        file.write(FORGED)
    found = check(runner, baseline="known.json")
    assert (found.code, found.log.count("::error ")) == (1, 1)
    assert "line=103" in found.log


def test_a_mistake_is_2(runner: Runner) -> None:
    """A file that is not there, or an unknown board: the message is in the log, and no report is promised."""
    for inputs in ({"files": "none.csv"}, {"board": "no-such-board"}, {"format": "xml"}):
        found = check(runner, **inputs)
        assert (found.code, found.outputs["exit-code"]) == (2, "2")
        assert "klaudit: " in found.log
    assert check(runner, files="none.csv").outputs["report"] == ""


def test_nothing_judged_is_3(runner: Runner) -> None:
    """The code passes through, with the report that says why."""
    (runner.workspace / "b.csv").write_text("entry,gpu,mean_gflops\na,T40,1\n", encoding="utf-8")
    found = check(runner, files="b.csv")
    assert (found.code, found.outputs["unjudged"]) == (3, "1")


def test_a_name_is_no_command(runner: Runner) -> None:
    """Whatever inputs hold, the shell runs none of it, and a name that starts with a dash is a name."""
    name = "-$(touch pwned)`touch pwned`;touch pwned #.csv"
    (runner.workspace / name).write_text("entry,gpu,mean_gflops\na,T4,1500\n", encoding="utf-8")
    for inputs in ({"files": name}, {"board": "$(touch pwned)"}, {"fail_on": "'; touch pwned; '"}):
        found = check(runner, **inputs)
        assert found.code == (1 if "files" in inputs else 2), found.log
    assert not (runner.workspace / "pwned").exists()


def test_a_version_is_asked_of_the_index(tmp_path: Path) -> None:
    """`version` is what pip installs instead of the action's own code."""
    tools, log = tmp_path / "tools", tmp_path / "asked"
    tools.mkdir()
    # Stands in for python and pip: makes the environment's python a note of what it was asked for.
    script = f"""\
#!/bin/bash
if [ "$2" = venv ]; then mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; else echo "$@" > {log}; fi
"""
    (tools / "python3").write_text(script, encoding="utf-8")
    (tools / "python3").chmod(0o755)
    path = f"{tools}:/usr/bin:/bin"
    for version, asked in (("0.1.0", "klaudit==0.1.0"), ("", str(ROOT))):
        shutil.rmtree(tmp_path / "klaudit", ignore_errors=True)
        found = Runner(ROOT, tmp_path, tmp_path, {"PATH": path}).run(only=("install",), files="x", version=version)
        assert found.code == 0, found.log
        assert log.read_text(encoding="utf-8").split()[-1] == asked


def readme_blocks() -> list[object]:
    """The configurations that the README shows to paste."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return [yaml.safe_load(block) for block in re.findall(r"```yml\n(.*?)```", text, re.DOTALL)]


def test_the_readme_names_what_there_is() -> None:
    """Inputs and outputs of the action, the hook's id, and keys of the configuration."""
    manifest = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    for block in readme_blocks():
        assert isinstance(block, dict)
        if "jobs" in block:
            steps = block["jobs"]["klaudit"]["steps"]
            (ours,) = (step for step in steps if "/klaudit@" in step["uses"])
            assert set(ours["with"]) <= set(manifest["inputs"])
            assert set(re.findall(r"outputs\.([\w-]+)", str(steps))) <= set(manifest["outputs"])
        elif "repos" in block:
            assert block["repos"][0]["hooks"][0]["id"] == hook["id"]
        elif "ignore" in block:
            assert set(block) <= {*OPTIONS, "ignore"}
