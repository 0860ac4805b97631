"""What all tests share: the count of honest rows and forgeries judged, printed when the session ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

_COUNTS = pytest.StashKey[dict[tuple[str, bool], Counter[str]]]()


@pytest.fixture(scope="session")
def tally(pytestconfig: pytest.Config) -> Callable[[str, bool, str], None]:
    """Count one verdict: the source of the row, whether the row is honest, the verdict."""
    counts = pytestconfig.stash.setdefault(_COUNTS, {})

    def count(source: str, honest: bool, verdict: str) -> None:
        counts.setdefault((source, honest), Counter())[verdict] += 1

    return count


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what the judge made of rows whose truth is known."""
    counts = config.stash.get(_COUNTS, {})
    if not counts:
        return
    terminalreporter.section("verdicts on rows whose truth is known")
    for (source, honest), verdicts in sorted(counts.items(), key=lambda item: (not item[0][1], item[0][0])):
        accused = verdicts["impossible"] + verdicts["inconsistent"]
        what = "honest rows" if honest else "forgeries"
        said = f"{accused} accused" if honest else f"{accused} impossible or inconsistent"
        terminalreporter.line(
            f"{source}: {verdicts.total()} {what}, {said}, {verdicts['conditional']} conditional,"
            f" {verdicts['within']} within, {verdicts['unjudged']} unjudged"
        )
    accused = sum(v["impossible"] + v["inconsistent"] for (_, honest), v in counts.items() if honest)
    terminalreporter.line(f"honest rows impossible or inconsistent, all sources: {accused}")
