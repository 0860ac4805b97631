"""Where the command's results go, and what its options do."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from command import BOARD, ROOT, ROWS, environment, klaudit, write_board, write_rows

from klaudit.cli import output, progress


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """A board with a row of each kind."""
    return write_board(tmp_path)


def test_output_is_a_whole_file(board: Path, tmp_path: Path) -> None:
    """-o writes the same text as stdout has, prints nothing, and leaves nothing else behind."""
    target = tmp_path / "out.json"
    target.write_text("old")
    target.chmod(0o640)
    done = klaudit("audit", board, *BOARD, "--format", "json", "-o", target)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    assert json.loads(target.read_text())["summary"]["rows"] == 4
    assert target.stat().st_mode & 0o777 == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["board.csv", "out.json"]


@pytest.mark.skipif(os.name == "nt", reason="needs links and devices")
def test_devices_and_links_stay_what_they_are(board: Path, tmp_path: Path) -> None:
    """A device is written to, and the file behind a link is replaced."""
    assert klaudit("check", board, *BOARD, "-o", "/dev/stdout").stdout == klaudit("check", board, *BOARD).stdout
    assert klaudit("check", board, *BOARD, "-o", "/dev/null").returncode == 1
    assert Path("/dev/null").is_char_device()
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    assert klaudit("check", board, *BOARD, "-o", link).returncode == 1
    assert link.is_symlink()
    assert "forged" in target.read_text()


class Interrupt:
    """Raises KeyboardInterrupt in place of one operation of the module that writes, counted from the start."""

    def __init__(self, place: int) -> None:
        self.left = place

    def __enter__(self) -> Interrupt:
        self.before = sys.gettrace()
        sys.settrace(self.trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self.before)

    def trace(self, frame: FrameType, event: str, _: object) -> Any:
        """Follow the module's frames, operation by operation."""
        frame.f_trace_opcodes = True
        if frame.f_code.co_filename != output.__file__:
            return None
        # Some Pythons tell of lines alone.
        if event in ("opcode", "line"):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self.trace


# Between opening a file and taking it into a `with` nothing can close it in time.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("old", [None, "old"])
def test_an_interruption_at_any_operation_leaves_no_part(old: str | None, tmp_path: Path) -> None:
    """The file is the old one or the whole new one, and nothing lies beside it."""
    target = tmp_path / "out.txt"
    seen = set()
    for place in count(1):
        if old is None:
            target.unlink(missing_ok=True)
        else:
            target.write_text(old)
        interrupt = Interrupt(place)
        try:
            with interrupt, output.opened(str(target)) as out:
                out.write("new")
        except KeyboardInterrupt:
            pass
        assert [p for p in tmp_path.iterdir() if p != target] == [], f"after {place} operations"
        seen.add(target.read_text() if target.exists() else None)
        if interrupt.left > 0:
            break
    assert place > 10
    assert seen == {old, "new"}


def test_a_failed_run_leaves_the_old_file(tmp_path: Path) -> None:
    """An input that cannot be read changes no report."""
    target = tmp_path / "out.txt"
    target.write_text("old")
    assert klaudit("audit", tmp_path / "no.csv", "-o", target).returncode == 2
    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.txt"]


def test_an_output_that_cannot_be_written_is_2(board: Path, tmp_path: Path) -> None:
    """The message names it."""
    done = klaudit("audit", board, *BOARD, "-o", tmp_path / "no" / "out.txt")
    assert done.returncode == 2
    assert "cannot write to" in done.stderr
    assert "out.txt" in done.stderr


def test_the_report_never_replaces_its_input(board: Path) -> None:
    """-o onto the audited file is refused before anything is read."""
    done = klaudit("audit", board, *BOARD, "-o", board)
    assert done.returncode == 2
    assert board.read_text() == ROWS


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_2_and_no_traceback(board: Path) -> None:
    """Also where stdout itself cannot take the report."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "klaudit", "audit", str(board), *BOARD],
            stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "cannot write to standard output" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX pipe")
def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    """`klaudit audit | head` ends without a word and with the audit's own code."""
    file = write_rows(tmp_path, *(f"e{i},T4,1500.00" for i in range(2000)))
    with subprocess.Popen(
        [sys.executable, "-m", "klaudit", "audit", str(file), *BOARD],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith("IMPOSSIBLE")
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 1


def test_standard_input(board: Path) -> None:
    """`-` is standard input, with the same findings."""
    done = klaudit("audit", "-", *BOARD, "--format", "json", stdin=ROWS)
    assert done.returncode == 1
    assert [row["line"] for row in json.loads(done.stdout)["rows"]] == [2, 3, 4, 5]


def test_several_files_are_one_audit(board: Path, tmp_path: Path) -> None:
    """Counts add up, and each row names its file."""
    other = write_rows(tmp_path, "a,T4,150.00")
    report = json.loads(klaudit("audit", board, other, *BOARD, "--format", "json").stdout)
    assert report["summary"]["rows"] == 5
    assert [row["source"] for row in report["rows"]] == [str(board)] * 4 + [str(other)]


@pytest.mark.parametrize("variable", ["COLUMNS", "NO_COLOR"])
def test_no_terminal_no_colour(variable: str, board: Path) -> None:
    """A pipe gets plain text of 100 cells, or of COLUMNS."""
    shown = klaudit("audit", board, *BOARD, **{variable: "80"}).stdout
    assert "\x1b" not in shown
    assert max(map(len, shown.split("\n"))) <= (80 if variable == "COLUMNS" else 100)


def test_an_encoding_that_lacks_a_character_is_no_error(tmp_path: Path) -> None:
    """Names beyond ASCII come out as escapes on an ASCII stream."""
    file = write_rows(tmp_path, "n\u00efc\u00e9,T4,1500.00")
    done = klaudit("audit", file, *BOARD, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 1
    assert r"n\xefc\xe9" in done.stdout


def test_options_come_from_variables(board: Path) -> None:
    """KLAUDIT_AUDIT_* for audit; a command never takes another's."""
    set_ = {"KLAUDIT_AUDIT_BOARD": "tensara-kl-2025", "KLAUDIT_AUDIT_FORMAT": "json", "KLAUDIT_FORMAT": "csv"}
    done = klaudit("audit", board, **set_)
    assert json.loads(done.stdout)["board"] == "tensara-kl-2025"
    done = klaudit("check", board, *BOARD, **set_)
    assert done.stdout.startswith(f"{board}:3: warning above-dram-roof: ")


def test_repeatable_options_come_from_variables(board: Path) -> None:
    """Pairs are separated by semicolons, conditions by blanks."""
    done = klaudit(
        "audit", board, *BOARD, "--format", "json",
        KLAUDIT_AUDIT_GPU_LABEL="T40=t4;X=l4", KLAUDIT_AUDIT_RULE_OUT="write-back inputs-resident",
    )  # fmt: skip
    report = json.loads(done.stdout)
    assert report["ruled_out"] == ["write-back", "inputs-resident"]
    assert [row["verdict"] for row in report["rows"]] == ["within", "impossible", "impossible", "within"]


def test_findings_are_limited_and_counted(board: Path) -> None:
    """--max-findings lists so many; the summary counts all."""
    done = klaudit("check", board, *BOARD, "--max-findings", "1")
    assert done.returncode == 1
    lines = done.stdout.split("\n")
    assert lines[1] == "+2 more"
    assert "1 impossible, 1 conditional, 1 unjudged, 1 within" in lines[2]


def test_csv_has_every_row(board: Path) -> None:
    """One line a row, whatever --rows says."""
    done = klaudit("audit", board, *BOARD, "--format", "csv")
    assert [r["verdict"] for r in csv.DictReader(io.StringIO(done.stdout))] == [
        "within", "conditional", "impossible", "unjudged",
    ]  # fmt: skip


def test_rows_all_shows_rows_within(board: Path) -> None:
    """For people: the honest row too."""
    assert "honest" in klaudit("audit", board, *BOARD, "--rows", "all").stdout
    assert "honest" not in klaudit("audit", board, *BOARD).stdout


def test_hostile_names_end_to_end(tmp_path: Path) -> None:
    """A name full of markup, escapes and line breaks does nothing in any format."""
    file = tmp_path / "rows.csv"
    name = '"[red]x[/red]\x1b[31m\n::error::\u202e=1"'
    file.write_text(f"entry,gpu,mean_gflops\n{name},T4,1500.00\n", encoding="utf-8")
    for style in ("table", "json", "csv", "concise"):
        shown = klaudit("audit", file, *BOARD, "--format", style).stdout
        assert "[red]x[/red]" in shown
        assert {c for c in shown if not c.isprintable()} == {"\n"}
        assert not any(line.lstrip().startswith("::") for line in shown.split("\n"))


def on_a_terminal(*arguments: object, **variables: str) -> tuple[int, str]:
    """Run the command on a pseudo-terminal of 90 columns; stdout and stderr come together."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 90, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-m", "klaudit", *map(str, arguments)],
        stdout=theirs, stderr=theirs, cwd=ROOT, env=environment(TERM="xterm", **variables),
    ) as process:  # fmt: skip
        os.close(theirs)
        shown = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:
                break
            if not chunk:
                break
            shown += chunk
        os.close(ours)
        return process.wait(), shown.decode().replace("\r\n", "\n")


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_a_terminal_has_its_own_width_and_colour(board: Path) -> None:
    """Colour on a terminal, none with NO_COLOR, and lines as wide as it is."""
    code, shown = on_a_terminal("audit", board, *BOARD)
    assert code == 1
    assert "\x1b[1;31mIMPOSSIBLE" in shown
    code, shown = on_a_terminal("audit", board, *BOARD, NO_COLOR="1")
    assert "\x1b" not in shown
    assert 80 < max(map(len, shown.split("\n"))) <= 90


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Yes."""
        return True


def test_progress_is_shown_on_a_terminal_when_a_run_takes_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes and rows over all files, taken away at the end, and a line that says what the run was."""
    files = (str(write_board(tmp_path)), str(write_rows(tmp_path, "a,T4,150.00")))
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    line = progress.ProgressLine(files)
    line.update(4, 90)
    line.next_file()
    line.update(1, 40)
    line.close()
    assert isinstance(sys.stderr, Terminal)
    shown = sys.stderr.getvalue()
    assert "5 rows" in shown
    assert "klaudit: read 5 rows, 0.0 MB in " in shown.split("\n")[-2]


@pytest.mark.parametrize(("terminal", "patience"), [(False, 0.0), (True, 60.0)])
def test_no_progress_elsewhere(terminal: bool, patience: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short runs, and runs whose stderr is no terminal, say nothing."""
    monkeypatch.setattr(progress, "_PATIENCE", patience)
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    line = progress.ProgressLine(("-",))
    line.update(4, 90)
    line.close()
    assert stream.getvalue() == ""
