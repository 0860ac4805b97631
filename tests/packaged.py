"""What a user takes from the checkout: its files without what git ignores, and whether packages can be installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from command import ROOT


def copy_checkout(target: Path) -> Path:
    """Copy everything that a clone of the checkout would have, changed and new files included."""
    named = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if named.returncode:
        # From a source archive, without git.
        shutil.copytree(ROOT, target, ignore=shutil.ignore_patterns("__pycache__", ".*cache", ".git", ".venv"))
        return target
    for name in filter(None, named.stdout.split("\0")):
        if (ROOT / name).is_file() and not name.startswith(("tests/", "benchmarks/")):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    return target


def can_install(folder: Path) -> bool:
    """Whether pip reaches a package index that has what the build needs."""
    done = subprocess.run(
        [
            sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check",
            "--retries", "0", "--timeout", "15", "--dest", str(folder), "hatchling",
        ],
        capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode == 0
