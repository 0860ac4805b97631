"""CSV in: dialects, cells and files as people really have them."""

from __future__ import annotations

import contextlib
import csv
import io
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klaudit.board import Board, Case
from klaudit.errors import InputError, UsageError
from klaudit.leaderboard import FigureColumn, Leaderboard
from klaudit.readers import READERS, ReadOptions, input_bytes, read
from klaudit.readers.csv_ import read as read_csv
from klaudit.readers.source import Source

BOARDS = Path(__file__).parent / "boards"
CASES = (
    Case("N=1048576", {"n": 1048576}),
    Case("N=4194304", {"n": 4194304}),
    Case("Sparse targets", {"n": 1048576}),
)
BOARD = Board("b", "B", "kl-divergence", (), cases=CASES)


def one(path: Path, options: ReadOptions | None = None) -> Leaderboard:
    (board,) = read(path, options)
    return board


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "board.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def parse(content: bytes, options: ReadOptions | None = None) -> list[Leaderboard]:
    return list(read_csv(Source("board.csv", io.BytesIO(content)), options or ReadOptions()))


def figure(board: Leaderboard, kind: str) -> FigureColumn:
    (found,) = [f for f in board.figures if f.kind == kind]
    return found


def said(board: Leaderboard, rule: str | None = None) -> list[str]:
    return [t.message for t in board.troubles if rule in (None, t.rule)]


def test_semicolons_bom_crlf_and_decimal_commas() -> None:
    """A spreadsheet's export from a country of decimal commas reads as it is meant."""
    board = one(BOARDS / "semicolons.csv")
    assert board.entries == ["Jörg", "Anna"]
    assert figure(board, "time").value.tolist() == [0.0712e-3, 1.518e-3]
    assert figure(board, "rate").value.tolist() == [1518.26e9, 98.5e9]
    assert not board.troubles


def test_utf16_with_tabs() -> None:
    """UTF-16 with its mark, as spreadsheets save Unicode text."""
    board = one(BOARDS / "utf16_tabs.csv")
    assert (board.entries, board.gpu_labels) == (["zoë", "名"], ("A100-80GB", "T4"))
    assert figure(board, "time").value.tolist() == [12.3e-6, 99e-6]


def test_lines_are_where_records_start() -> None:
    """Quoted newlines and blank lines count, and a finding points to the record's first line."""
    board = one(BOARDS / "quoted_newlines.csv")
    assert board.lines.tolist() == [3, 7, 9]
    assert board.entries == ["two\r\nlines", "plain", "last"]
    assert board.gpu_labels == ("H100", "H\n100", "T4")


def test_a_first_line_may_say_the_delimiter() -> None:
    """`sep=|`, as Excel writes it, is no header."""
    board = one(BOARDS / "excel_sep.csv")
    assert (board.lines.tolist(), board.entries) == ([3], ["a"])


def test_bad_cells_are_named_and_stop_nothing() -> None:
    """Every cell that is no number is reported with line, column and text; no row is lost."""
    board = one(BOARDS / "bad_cells.csv")
    assert len(board) == 16
    assert said(board) == [
        "line 3, column 'time_us': 'abc' is not a number",
        "line 6, column 'time_us': 'inf' is not a finite number",
        "line 6, column 'gflops': 'nan' is not a finite number",
        "line 7, column 'time_us': '-1' is negative, which no time is",
        "line 7, column 'gflops': '-0.5' is negative, which no rate is",
        "line 8, column 'time_us': '0' is zero, which no time is",
        "line 8, column 'gflops': '0' is zero, which no rate is",
        "line 10, column 'time_us': '1,518' may have a decimal comma or a comma between thousands: "
        "say which with --decimal ',' or --decimal .",
        "line 11, column 'gflops': '12,34' may have a decimal comma or a comma between thousands: "
        "say which with --decimal ',' or --decimal .",
        "line 12, column 'time_us': '1 234' is not one number: write thousands without separators, as in 1234.5",
        "line 12, column 'gflops': '1_000' is not one number: write thousands without separators, as in 1234.5",
        "line 13, column 'time_us': '\uff11\uff12' has digits other than 0 to 9: write them in ASCII",
        "line 14, column 'time_us': '1e999' is too large for a number",
        "line 14, column 'gflops': '1e-999' is too small for a number",
        "line 15, column 'time_us': '12 parsec' has no unit that is known: 'parsec'",
        "line 16, column 'time_us': '3 GFLOPS' is in GFLOPS, which is no unit of time",
        "line 16, column 'gflops': '2 ms' is in ms, which is no unit of rate",
        r"line 17, column 'time_us': '\x1b[31mred\x1b[0m' is not a number",
    ]
    assert not any(t.fatal for t in board.troubles)
    time = figure(board, "time")
    assert (time.low[7], time.value[7], time.high[7]) == (0.0, 0.0, 0.5e-9)  # 0.000 is rounded, 0 is not
    assert np.flatnonzero(~np.isnan(time.value)).tolist() == [0, 7, 9]


def test_the_user_may_say_the_decimal_mark(tmp_path: Path) -> None:
    """`--decimal` settles what a quoted 1,518 is."""
    path = write(tmp_path, 'entry,time_us\na,"1,518"\n')
    assert figure(one(path, ReadOptions(decimal=",")), "time").value[0] == 1.518e-6
    assert figure(one(path, ReadOptions(decimal=".")), "time").value[0] == 1518e-6


def test_units_in_cells() -> None:
    """Where the header says no unit the cells do, and a column is what most of them say."""
    board = one(BOARDS / "units_in_cells.csv")
    rate = figure(board, "rate")
    assert rate.unit == "TFLOPS"
    assert (rate.low[0], rate.high[0], rate.value[1]) == (1.275e12, 1.285e12, 200.4e9)
    assert [(t.row, t.rule) for t in board.troubles] == [(2, "unknown-unit"), (3, "unknown-unit")]


def test_a_cells_unit_is_what_its_writer_meant(tmp_path: Path) -> None:
    """Header in ms, cell in us: the cell is in us."""
    board = one(write(tmp_path, "entry,Runtime (ms)\na,0.5\nb,412 us\n"))
    assert figure(board, "time").value.tolist() == [0.5e-3, 412e-6]


def test_a_column_without_unit_is_said_once() -> None:
    """The column is named once, and again in each row that has nothing else to judge."""
    board = one(BOARDS / "no_unit.csv")
    assert said(board, "unknown-unit") == [
        "line 2, column 'runtime': '0.0712' has no unit: write it in the header, as in 'runtime (ms)', or in the cell",
        "line 4, column 'runtime': '0.0801' has no unit: write it in the header, as in 'runtime (ms)', or in the cell",
    ]
    named = one(BOARDS / "no_unit.csv", ReadOptions(columns={"time": "runtime (ms)"}))
    assert figure(named, "time").value[0] == 0.0712e-3
    assert not named.troubles


def test_rows_that_do_not_count() -> None:
    """Failed, incorrect and timed-out rows are not accepted, whatever their score; days are in UTC."""
    board = one(BOARDS / "statuses.csv")
    assert [(t.row, t.message) for t in board.troubles if t.fatal] == [
        (1, "line 3, column 'status': 'COMPILE_ERROR' says that the row does not count"),
        (2, "line 4, column 'passed': 'False' says that the row does not count"),
        (4, "line 6, column 'status': 'Timed out' says that the row does not count"),
    ]
    assert {t.rule for t in board.troubles if t.fatal} == {"not-accepted"}
    assert board.days is not None
    assert board.days.astype(str).tolist() == ["2026-03-01", "2026-01-08", "2026-01-08", "2026-01-09", "NaT", "NaT"]
    assert said(board, "unknown-date") == [
        "line 6, column 'submission_time': 'yesterday' is no date: write 2026-03-01 or 2026-03-01T12:00:00Z"
    ]


def test_per_case_columns() -> None:
    """Headers that are the board's cases are figures of those cases; a minimum is not."""
    board = one(BOARDS / "per_case.csv", ReadOptions(board=BOARD))
    assert [(f.kind, f.case, f.value[0]) for f in board.figures] == [
        ("time", "N=1048576", 0.0712e-3),
        ("time", "N=4194304", 0.14e-3),
        ("time", "Sparse targets", 0.06e-3),
        ("rate", "N=4194304", 210e9),
        ("rate", "Sparse targets", 120e9),
    ]
    assert said(board) == ["line 3, column 'N=4194304 gflops': 'x' is not a number"]


def test_rows_with_other_numbers_of_cells() -> None:
    """A short row lacks cells, a long one is noted, an empty cell too many is nothing."""
    board = one(BOARDS / "slipped.csv")
    assert board.lines.tolist() == [2, 3, 4, 6]
    assert said(board) == ["line 2: row has 4 cells, the header 3"]
    assert np.isnan(figure(board, "time").value).tolist() == [False, False, True, True]


def test_a_rows_own_counts() -> None:
    """Sizes, counts with and without unit, runs, and the time that a baseline and a speedup give."""
    board = one(BOARDS / "own_counts.csv")
    assert {k: v[0] for k, v in board.sizes.items()} == {"n": 2.0**20}
    assert {k: v[0] for k, v in board.work.items()} == {
        "flops_per_element": 7,
        "bytes_per_element": 12,
        "flops": 7.3e6,
        "reads": 8e6,
        "writes": 4194304,
    }
    assert board.runs is not None
    assert board.runs[0] == 20
    assert board.dtypes == ("float32",)
    time = figure(board, "time")
    assert time.header == "baseline_ms / speedup"
    edges = (time.low[0], time.value[0], time.high[0])
    assert edges == pytest.approx((0.95e-3 / 2.55, 0.4e-3, 1.05e-3 / 2.45), rel=1e-12)
    assert [(t.rule, t.fatal) for t in board.troubles] == [("not-a-number", False)] * 2 + [("unknown-dtype", True)]


def test_an_unknown_dtype_is_no_excuse_on_a_board(tmp_path: Path) -> None:
    """Where the board states the dtype, a row cannot make itself unjudged by another."""
    path = write(tmp_path, "entry,time_us,dtype\na,12,secret\n")
    stated = Board("b", "B", None, (), dtype="float32")
    assert [t.fatal for t in one(path, ReadOptions(board=stated)).troubles] == [False]
    assert [t.fatal for t in one(path).troubles] == [True]


def test_nvbench_reads_as_plain_csv() -> None:
    """Repeated headers, an index named Device, 2^20 and a Skipped column."""
    board = one(BOARDS / "nvbench.csv")
    assert (board.gpu_labels, board.sizes["n"].tolist()) == (("Tesla T4",), [2.0**20, 2.0**26])
    assert [f.kind for f in board.figures] == ["time", "bandwidth"]
    assert said(board, "not-accepted") == ["line 3, column 'Skipped': 'Yes' says that the row does not count"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("header_only.csv", "has a header and no rows"),
        ("latin1.csv", r"is not UTF-8 text: byte 19 is 0xf6. To read it, save it as UTF-8 \(from Windows: iconv"),
        ("statistics_only.csv", "taken only when named: --column time=median_us"),
        ("two_times.csv", "both claim the time; say which one is meant: --column time=runtime_ms"),
        ("unclosed_quote.csv", "a quote opened in the record of line 3 is never closed"),
        ("absent.csv", "there is no such file"),
        ("", "is a directory"),
    ],
)
def test_files_that_cannot_be_read(name: str, message: str) -> None:
    """The sentence says what was found and what to do, and names the file."""
    with pytest.raises(InputError, match=message) as error:
        list(read(BOARDS / name))
    assert str(BOARDS / name) in str(error.value)
    assert error.value.exit_code == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty: expected a header line and rows"),
        (b"\xef\xbb\xbf", "blank lines only"),
        (b"\n\n  \n", "blank lines only"),
        (b"\x1f\x8b\x08\x00abc", "is damaged gzip data|ends in the middle of its gzip data"),
        (b"PK\x03\x04xl/", "looks like a ZIP file or an Excel workbook"),
        (b'{"a": 1}\n{"a": 2}\n', "no column holds a time"),
        (b'  {\n "a": 1}', "no column holds a time"),
        (b"<!DOCTYPE html>", "looks like HTML"),
        (b"entry,time_us\na,1\nb\x00,2\n", "byte 19 is zero"),
        (b"e\x00n\x00t\x00", "byte 1 is zero. If it is UTF-16, save it as UTF-8"),
        (b"entry,time_us\n" + b"a,1\n" * 5000 + b"\xff,1\n", "byte 20014 is 0xff"),
        (b"\xff\xfee\x00n", "is not UTF-16 text"),
        (
            b"entry,time_us\na,1\n" + b"x" * 140_000 + b",1\n",
            "line 3 has a cell of more than 131072 characters, more than the limit KLAUDIT_MAX_CELL",
        ),
        (
            b"entry,time_us\n" + b"a," * 9 * 2**20,
            "has a line of at least [0-9]+ bytes, more than the limit KLAUDIT_MAX_LINE of 16777216",
        ),
    ],
)
def test_content_that_is_no_table(tmp_path: Path, content: bytes, message: str) -> None:
    """Binary, damaged and foreign content is recognised by what it is."""
    with pytest.raises(InputError, match=message):
        list(read(write(tmp_path, content)))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """`-` reads standard input and leaves it open."""
    stdin = io.TextIOWrapper(io.BytesIO(b"entry,time_us\na,12\n"))
    monkeypatch.setattr(sys, "stdin", stdin)
    (board,) = read("-")
    assert (board.source, board.entries, stdin.closed) == ("-", ["a"], False)


def test_formats(tmp_path: Path) -> None:
    """A format that does not exist is refused with those that do; a named format is not second-guessed."""
    path = write(tmp_path, '["x"],time_us\na,12\n')
    with pytest.raises(UsageError, match="no input format is called 'toml'; there are: csv, google-benchmark"):
        list(read(path, ReadOptions(input_format="toml")))
    with pytest.raises(InputError, match="is no JSON"):
        list(read(path))
    assert len(one(path, ReadOptions(input_format="csv"))) == 1
    assert list(READERS) == sorted(READERS)


def test_batches_continue_and_report_progress(tmp_path: Path) -> None:
    """Line numbers go on from batch to batch; progress tells rows and bytes."""
    path = write(tmp_path, "entry,time_us\n" + "".join(f"e{i},{i + 1}\n" for i in range(10)))
    steps: list[tuple[int, int]] = []
    batches = list(read(path, ReadOptions(batch_rows=4, progress=lambda rows, done: steps.append((rows, done)))))
    assert [len(b) for b in batches] == [4, 4, 2]
    assert [n for b in batches for n in b.lines] == list(range(2, 12))
    assert [rows for rows, _ in steps] == [4, 8, 10]
    assert steps[-1][1] == input_bytes(path) == path.stat().st_size
    assert input_bytes("-") is None


def test_a_wide_file_makes_smaller_batches(tmp_path: Path) -> None:
    """Cells, not rows, take the memory."""
    wide = 400
    text = "entry,time_us" + ",x" * (wide - 2) + "\n" + ("a,1" + "," * (wide - 2) + "\n") * 3000
    assert [len(b) for b in read(write(tmp_path, text))] == [2500, 500]


def test_one_row_never_stops_the_file(tmp_path: Path) -> None:
    """A cell of another kind than its column's stays one row's trouble, in whatever batch it comes."""
    rows = ["a,H100,0.1 ms,1"] * 5 + ["evil,H100,3 GFLOPS,2"]
    path = write(tmp_path, "entry,gpu,score,gflops\n" + "\n".join(rows))
    batches = list(read(path, ReadOptions(batch_rows=2)))
    assert sum(map(len, batches)) == 6
    assert [(t.row, t.rule) for t in batches[-1].troubles] == [(1, "unknown-unit")]


HEADERS = ("entry", "gpu", "Runtime (ms)", "gflops", "n", "createdAt", "status", "dtype")
cell = st.one_of(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8),
    st.sampled_from(["", "1", "0.5", "1,5", "N/A", "12 us", '"', "\n", "a\r\nb", "H100", "2026-01-08", "failed"]),
)
tables = st.lists(st.tuples(*[cell] * len(HEADERS)), min_size=1, max_size=12)


def as_csv(rows: Sequence[Sequence[str]], delimiter: str = ",") -> bytes:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(rows)
    return out.getvalue().encode()


def facts(board: Leaderboard) -> list[object]:
    columns = [(f.kind, f.header, f.value.tolist(), f.low.tolist(), f.high.tolist()) for f in board.figures]
    labels = [board.gpu_labels[c] if c >= 0 else None for c in board.gpu_codes]
    troubles = sorted((t.row, t.rule, t.fatal, t.message) for t in board.troubles)
    return [repr(x) for x in (board.entries, labels, sorted(map(repr, columns)), board.sizes, board.days, troubles)]


@given(tables, st.sampled_from(",;\t"), st.integers(1, 5))
def test_every_record_is_carried(table: list[tuple[str, ...]], delimiter: str, batch: int) -> None:
    """As many rows come out as records went in, with their entries, whatever their cells hold."""
    boards = parse(as_csv([HEADERS, *table], delimiter), ReadOptions(batch_rows=batch))
    assert [e for b in boards for e in b.entries] == [row[0].strip() for row in table]
    lines = [n for b in boards for n in b.lines]
    assert lines == sorted(set(lines))
    assert all(0 <= t.row < len(b) for b in boards for t in b.troubles)


@given(tables, st.permutations(range(len(HEADERS))))
def test_column_order_means_nothing(table: list[tuple[str, ...]], order: list[int]) -> None:
    """Shuffled columns give the same Leaderboard."""
    shuffled = [[row[i] for i in order] for row in (HEADERS, *table)]
    (board,), (other,) = parse(as_csv([HEADERS, *table])), parse(as_csv(shuffled))
    assert facts(board) == facts(other)


@given(st.binary(max_size=200))
def test_garbage_is_the_files_fault(content: bytes) -> None:
    """Whatever the bytes, reading them ends in rows or in an error of the file, never in a bug."""
    with contextlib.suppress(InputError):
        parse(b"time_us\n" + content)
