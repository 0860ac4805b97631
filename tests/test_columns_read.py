"""Every report for people and machines says what each column was read as: a misspelt header is not silently lost."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
import report_samples as samples
from command import klaudit as command
from format_samples import FOLDER

from klaudit.formats import View, write
from klaudit.leaderboard import ColumnsRead
from klaudit.readers import read

MISSPELT = "entry,gpu,gflpos,avg runtime (ms),note\na,T4,1500,3.1,x\n"
SAID = (
    "Columns read: 'entry' as entry, 'gpu' as gpu, 'avg runtime (ms)' as mean time in ms; not used: 'gflpos', 'note'."
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "board.csv"
    path.write_text(MISSPELT)
    return path


@pytest.mark.parametrize("style", ["table", "markdown", "html"])
def test_a_misspelt_header_is_named(file: Path, style: str) -> None:
    """The report lists it among the columns that were not used."""
    found = command("audit", file, "--board", "tensara-kl-2025", "--format", style, COLUMNS="200")
    assert SAID.replace("'", "&#x27;" if style == "html" else "'") in found.stdout


def test_the_same_for_machines(file: Path) -> None:
    """JSON has them key by key."""
    found = command("audit", file, "--board", "tensara-kl-2025", "--format", "json")
    assert json.loads(found.stdout)["columns"] == [
        {
            "source": str(file),
            "read": [
                {"column": "entry", "as": "entry"},
                {"column": "gpu", "as": "gpu"},
                {"column": "avg runtime (ms)", "as": "mean time in ms"},
            ],
            "unused": ["gflpos", "note"],
        }
    ]


def test_all_kinds_of_column(tmp_path: Path) -> None:
    """Figures, cases, sizes, counts and words each say what they were taken for."""
    path = tmp_path / "rows.csv"
    path.write_text(
        "id,card,score,fastest run (us),n,read bytes (MB),runs,status,speed,hue\na,T4,1 TFLOPS,3,4,5,6,ok,7,8\n"
    )
    (rows,) = read(path)
    assert rows.columns == ColumnsRead(
        str(path),
        (
            ("id", "entry"), ("card", "gpu"), ("score", "rate"), ("fastest run (us)", "time, the fastest run in us"),
            ("n", "n"), ("read bytes (MB)", "reads in MB"), ("runs", "runs"), ("status", "accepted"),
            ("speed", "rate or time or bandwidth"),
        ),
        ("hue",),
    )  # fmt: skip


def test_a_format_of_its_own_has_no_headers() -> None:
    """What a known format's fields mean is the format's business; the keys of any other JSON are headers."""
    (known,) = read(FOLDER / "tensara_rows.json")
    (other,) = read(FOLDER / "rows.jsonl")
    assert known.columns is None
    assert other.columns is not None


def test_large_files_say_it_too(tmp_path: Path) -> None:
    """Also where no row comes out of the fast path."""
    pytest.importorskip("pyarrow")
    path = tmp_path / "large.csv"
    path.write_text("gpu,gflops,note\n" + "T4,100.5,x\n" * 5000)
    found = command("audit", path, "--board", "tensara-kl-2025", COLUMNS="200", KLAUDIT_MAX_PLAIN="1 KiB")
    assert "Columns read: 'gpu' as gpu, 'gflops' as rate in gflops; not used: 'note'." in found.stdout


def test_many_files_and_columns() -> None:
    """Files of one kind share a sentence, and what does not fit is counted."""
    wide = tuple((f"c{i}", "time") for i in range(20))
    told = [ColumnsRead(f"{i}.csv", wide, ()) for i in range(3)]
    told += [ColumnsRead(f"x{i}.csv", (("gflops", "rate"),), (f"\x1b[31m{i}",)) for i in range(6)]
    out = io.StringIO()
    write("table", samples.audit()._replace(columns=tuple(told)), out, View(400))
    said = [line for line in out.getvalue().splitlines() if line.startswith("Columns")]
    assert said[0].startswith("Columns of 0.csv and 2 more files read: 'c0' as time, ")
    assert said[0].endswith("'c11' as time and 8 more; not used: none.")
    assert said[1] == r"Columns of x0.csv read: 'gflops' as rate; not used: '\x1b[31m0'."
    assert said[-1] == "Columns of 2 more kinds of file: --format json says how they were read."
