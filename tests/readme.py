"""Rewrites what README.md shows of klaudit itself: command output, and the tables of conditions and rules.

A test calls `refreshed` and compares; a person runs `python tests/readme.py` after a change.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from klaudit.verdict import CONDITIONS, RULES

ROOT = Path(__file__).resolve().parent.parent
_BLOCK = re.compile(r"(```console\n)(.*?)(```)", re.DOTALL)


def run(command: str) -> str:
    """What a command of the README prints, as a reader without a terminal sees it."""
    words = command.split()
    assert words[0] == "klaudit", command
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "KLAUDIT_"))}
    environment = {**outside, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    found = subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", env=environment
    )
    assert found.returncode in (0, 1), found.stderr
    return found.stdout


def _block(match: re.Match[str]) -> str:
    command = match[2].splitlines()[0].removeprefix("$ ")
    return f"{match[1]}$ {command}\n{run(command)}{match[3]}"


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _section(text: str, name: str, table: str) -> str:
    """Put `table` between the marks of `name`."""
    begin, end = f"<!-- {name} -->\n", "<!-- end -->"
    before, _, rest = text.partition(begin)
    return f"{before}{begin}{table}\n{end}{rest.partition(end)[2]}"


def refreshed(text: str) -> str:
    """The README with everything that it shows of klaudit made anew."""
    conditions = [(f"`{c.id}`", f"{c.plain}. {c.help}") for c in CONDITIONS]
    rules = [(f"`{r.slug}`", r.level, f"{r.title}. {r.help}") for r in RULES.values()]
    text = _section(text, "conditions", _table(("condition", "what would have to be true"), conditions))
    text = _section(text, "rules", _table(("rule", "level", "what it says"), rules))
    return _BLOCK.sub(_block, text)


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(refreshed(readme.read_text(encoding="utf-8")), encoding="utf-8")
