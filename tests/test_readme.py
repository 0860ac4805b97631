"""The README shows what klaudit does: commands, tables and blocks are run and compared."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
from pathlib import Path
from types import ModuleType

import pytest

from klaudit.readers.specs import load_catalog

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.fixture(scope="module")
def refresher() -> ModuleType:
    spec = importlib.util.spec_from_file_location("readme", ROOT / "tests" / "readme.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_commands_and_tables_are_true(refresher: ModuleType) -> None:
    """Every command prints what the README says, and its tables are those of the code."""
    assert refresher.refreshed(README) == README


def test_the_first_screen_has_an_impossible_row() -> None:
    """The first command's output holds a row that physics forbids."""
    assert "IMPOSSIBLE" in blocks("console")[0]


def test_python_blocks_print_what_they_say() -> None:
    """The Python example prints what its comment says."""
    for block in blocks("python"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, "README.md", "exec"), {})
        expected = re.findall(r"^# (.*)$", block, re.MULTILINE)
        assert printed.getvalue().splitlines() == expected
        assert expected


def test_yaml_blocks_are_valid_specs(tmp_path: Path) -> None:
    """The example specs load as they stand in the README."""
    for block in blocks("yaml"):
        name = re.search(r"^id: (.*)$", block, re.MULTILINE)
        assert name is not None
        (tmp_path / f"{name[1]}.yaml").write_text(block, encoding="utf-8")
    catalog = load_catalog([tmp_path])
    # 256 bit x 14 Gbit/s / 8 = 448 GB/s, as published.
    assert catalog.gpu("my-card").bandwidth == 448e9
    assert catalog.workload("my-scale").per_element
