"""The pre-commit hook: installed from the checkout and run by pre-commit on a real commit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from command import ROOT
from packaged import can_install, copy_checkout

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="hooks are git's")
HEAD = "entry,gpu,mean_gflops\n"


def run(*command: str, cwd: Path, home: Path) -> subprocess.CompletedProcess[str]:
    who = {f"GIT_{role}_{what}": "t@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    outside = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "GITHUB_", "KLAUDIT", "PYTHONPATH"))}
    variables = {
        **outside,
        **who,
        "PRE_COMMIT_HOME": str(home),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "PRE_COMMIT_COLOR": "never",
    }
    return subprocess.run(
        command, cwd=cwd, env=variables, text=True, encoding="utf-8", check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps its environments."""
    folder = tmp_path_factory.mktemp("home")
    if not can_install(folder):
        pytest.skip("no package index can be reached, and pre-commit installs klaudit's needs from one")
    return folder


@pytest.fixture(scope="module")
def hooks(home: Path) -> tuple[Path, str]:
    """The checkout as a repository of hooks, and its revision."""
    source = copy_checkout(home / "klaudit")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "as it is")):
        done = run("git", *command, cwd=source, home=home)
        assert done.returncode == 0, done.stdout
    return source, run("git", "rev-parse", "HEAD", cwd=source, home=home).stdout.strip()


def repository(folder: Path, home: Path, hooks: tuple[Path, str], *arguments: str) -> Path:
    """A user's repository with the hook installed."""
    hook = {"id": "klaudit", "args": ["--board", "tensara-kl-2025", *arguments], "files": "^boards/"}
    config = {"repos": [{"repo": str(hooks[0]), "rev": hooks[1], "hooks": [hook]}]}
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    (folder / "boards").mkdir()
    run("git", "init", "-q", cwd=folder, home=home)
    done = run(sys.executable, "-m", "pre_commit", "install", cwd=folder, home=home)
    assert done.returncode == 0, done.stdout
    return folder


def commit(folder: Path, home: Path) -> subprocess.CompletedProcess[str]:
    run("git", "add", "-A", cwd=folder, home=home)
    return run("git", "commit", "-m", "more", cwd=folder, home=home)


def test_a_commit_with_an_impossible_row_is_refused(tmp_path: Path, home: Path, hooks: tuple[Path, str]) -> None:
    """Honest rows go in; a forged one stops the commit and is named; files outside the pattern are not read."""
    folder = repository(tmp_path, home, hooks)
    (folder / "boards" / "honest.csv").write_text(f"{HEAD}a,T4,150.00\n", encoding="utf-8")
    (folder / "table.csv").write_text("no,board\n1,2\n", encoding="utf-8")
    done = commit(folder, home)
    assert done.returncode == 0, done.stdout
    (folder / "boards" / "more.csv").write_text(f"{HEAD}b,T4,151.00\nf,T4,1500.00\n", encoding="utf-8")
    done = commit(folder, home)
    assert done.returncode == 1
    assert "boards/more.csv:3: error impossible: f on T4" in done.stdout
    # The hook is given the changed files alone.
    assert "klaudit 0.1.0: 2 rows" in done.stdout
    assert run("git", "log", "--oneline", cwd=folder, home=home).stdout.count("more") == 1
    (folder / ".klaudit.yaml").write_text("ignore:\n  - {entry: f, reason: accepted}\n", encoding="utf-8")
    done = commit(folder, home)
    assert done.returncode == 0, done.stdout


def test_a_broken_file_is_refused(tmp_path: Path, home: Path, hooks: tuple[Path, str]) -> None:
    """A file that is no leaderboard stops the commit with a sentence."""
    folder = repository(tmp_path, home, hooks)
    (folder / "boards" / "broken.csv").write_text("no,board\n1,2\n", encoding="utf-8")
    done = commit(folder, home)
    assert done.returncode == 1
    assert "exit code: 2" in done.stdout
    assert "klaudit: " in done.stdout


def test_the_manifest_names_the_command() -> None:
    """One hook, of Python, that runs in one process."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert (hook["id"], hook["entry"], hook["language"]) == ("klaudit", "klaudit check", "python")
    assert hook["require_serial"] is True
