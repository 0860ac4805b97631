"""Results that cannot be written, and standard streams that are closed: known before anything is read or printed."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from command import BOARD, ROOT, ROWS, environment, klaudit, write_board, write_rows

from klaudit.cli import plots
from klaudit.errors import UsageError

posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX redirections")
CLOSED = "klaudit: standard output is closed. Expected a place for the result; open it, or name a file with --output\n"


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """A board with a row of each kind."""
    return write_board(tmp_path)


def in_shell(redirections: str, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command with redirections such as `>&-`; what they leave open is captured."""
    line = shlex.join([sys.executable, "-m", "klaudit", *map(str, arguments)])
    return subprocess.run(
        ["/bin/sh", "-c", f"{line} {redirections}"],
        capture_output=True, text=True, cwd=ROOT, env=environment(**variables), check=False,
    )  # fmt: skip


# Targets

TARGETS = [
    (command, option)
    for command, options in {
        "audit": ("--output", "--plot", "--write-baseline", "--write-clean"),
        "check": ("--output", "--plot", "--write-baseline", "--write-clean"),
        "roofline": ("--output", "--plot"),
        "calibrate": ("--output", "--report"),
        "gpus": ("--output",),
        "explain": ("--output",),
        "checker": ("--output",),
    }.items()
    for option in options
]
GIVEN = {
    "audit": ("no-such-board.csv", *BOARD),
    "check": ("no-such-board.csv", *BOARD),
    "checker": ("tensara-kl-2025",),
    "explain": ("--gpu", "T4", "--gflops", "1"),
}


@pytest.mark.parametrize(("command", "option"), TARGETS)
def test_a_target_that_takes_nothing_is_refused_first(command: str, option: str, tmp_path: Path) -> None:
    """A missing folder, a file for a folder, a folder for a file: before the input, here missing too, is looked for."""
    (tmp_path / "folder.svg").mkdir()
    (tmp_path / "file").write_text("")
    for target, reason in (
        (tmp_path / "none" / "x.svg", "no such folder"),
        (tmp_path / "file" / "x.svg", "Not a directory"),
        (tmp_path / "folder.svg", "Is a directory"),
    ):
        done = klaudit(command, *GIVEN.get(command, ()), option, target)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"klaudit: cannot write to {option} '{target}': {reason}. Expected a file")
        assert done.stderr.endswith(f"name another one with {option}\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder.svg"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_without_permission_is_refused_first(board: Path, tmp_path: Path) -> None:
    """Nothing is printed where the folder cannot be written to."""
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    done = klaudit("audit", board, *BOARD, "--write-baseline", folder / "b.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Permission denied" in done.stderr


@pytest.mark.parametrize("option", ["--write-baseline", "--write-clean"])
def test_a_side_result_never_goes_to_standard_output(option: str, board: Path) -> None:
    """The report goes there, and two results in one stream are none."""
    done = klaudit("audit", board, *BOARD, option, "-")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{option} needs a file, for standard output is where the report goes" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("option", ["--write-baseline", "--write-clean"])
def test_a_side_result_that_fails_late_leaves_no_report(option: str, board: Path) -> None:
    """A full disk shows only when it is written to: the report is written after everything else."""
    done = klaudit("audit", board, *BOARD, "--format", "json", option, "/dev/full")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"cannot write to {option} '/dev/full': No space left on device" in done.stderr
    assert f"free some space, or name another one with {option}" in done.stderr


@pytest.mark.parametrize("command", ["audit", "roofline"])
def test_a_picture_that_fails_late_leaves_no_report(
    command: str, board: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The picture comes before the report."""
    pytest.importorskip("matplotlib")
    from klaudit.__main__ import main

    def full(*_: object) -> None:
        raise UsageError("cannot write to it")

    monkeypatch.setattr(plots, "draw", full)
    given = [str(board), *BOARD] if command == "audit" else ["--gpu", "T4"]
    assert main([command, *given, "--plot", str(tmp_path / "x.svg")]) == 2
    assert capsys.readouterr() == ("", "klaudit: cannot write to it\n")


def test_a_target_that_is_only_looked_at_stays_as_it_was(tmp_path: Path) -> None:
    """Finding out whether a file can be written changes nothing, and leaves nothing beside it."""
    target = tmp_path / "b.json"
    target.write_text("old")
    assert klaudit("audit", tmp_path / "none.csv", *BOARD, "--write-baseline", target).returncode == 2
    assert [p.name for p in tmp_path.iterdir()] == ["b.json"]
    assert target.read_text() == "old"


@posix
def test_a_link_without_an_end_is_no_bug(board: Path, tmp_path: Path) -> None:
    """A link to itself leads to no file."""
    link = tmp_path / "loop.txt"
    link.symlink_to(link)
    done = klaudit("check", board, *BOARD, "-o", link)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Too many levels of symbolic links" in done.stderr


# Closed streams


@posix
@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", "no-such-board.csv"),
        ("check", "no-such-board.csv"),
        ("roofline",),
        ("explain", "--gpu", "T4", "--gflops", "1"),
        ("checker", "tensara-kl-2025"),
        ("gpus",),
        ("workloads",),
        ("boards", "tensara-kl"),
        ("calibrate",),
        ("calibrate", "-o", "card.yaml"),
        ("--help",),
        ("--version",),
        ("audit", "--help"),
    ],
)
def test_a_closed_standard_output_is_2(arguments: tuple[str, ...]) -> None:
    """One sentence, before anything is read or measured; the same code where nobody hears the sentence."""
    done = in_shell(">&-", *arguments)
    assert (done.returncode, done.stderr) == (2, CLOSED)
    assert in_shell(">&- 2>&-", *arguments).returncode == 2


@posix
@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_a_closed_standard_output_is_not_missed_with_a_file(closed: str, board: Path, tmp_path: Path) -> None:
    """With --output nothing is written to it, and the file is the same whichever streams are closed."""
    whole = klaudit("check", board, *BOARD).stdout
    done = in_shell(closed, "check", board, *BOARD, "-o", tmp_path / "out.txt")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    assert (tmp_path / "out.txt").read_text() == whole


@posix
@pytest.mark.parametrize("deaf", ["2>&-", "2>/dev/full"])
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("check", "BOARD", *BOARD), 1),
        (("audit", "BOARD", *BOARD), 1),
        (("audit", "no-such-board.csv"), 2),
        (("gpus",), 0),
        ((), 2),
    ],
)
def test_a_stderr_that_nobody_hears_changes_nothing(
    deaf: str, arguments: tuple[str, ...], code: int, board: Path
) -> None:
    """Notes and errors are lost; the report and the exit code are what they were."""
    given = [board if a == "BOARD" else a for a in arguments]
    # On GitHub Actions `check` has a note to say.
    done = in_shell(deaf, *given, GITHUB_ACTIONS="true")
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout == klaudit(*given, GITHUB_ACTIONS="true").stdout


@posix
def test_a_bug_is_70_where_nobody_hears_it() -> None:
    """Exit 1 would say that a row is impossible."""
    code = (
        "import sys, klaudit.cli.options as o\n"
        "def broken(specs): raise RuntimeError('boom')\n"
        "o.load = broken\n"
        "from klaudit.__main__ import main; sys.exit(main(['gpus']))"
    )
    for deaf in ("2>&-", "2>/dev/full"):
        line = f"{shlex.join([sys.executable, '-c', code])} {deaf}"
        assert subprocess.run(["/bin/sh", "-c", line], cwd=ROOT, check=False).returncode == 70


@posix
def test_a_closed_standard_input_is_an_empty_one() -> None:
    """`klaudit audit - <&-` has nothing to judge, and says so."""
    done = in_shell("<&-", "audit", "-", *BOARD)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("klaudit: standard input is empty")


# Readers that end early


@posix
def test_a_reader_that_ends_early_is_told_what_to_do(tmp_path: Path) -> None:
    """`klaudit check | head -1` of a long report: exit 2, who ended, and how to get all of it."""
    file = write_rows(tmp_path, *(f"e{i},T4,1500.00" for i in range(2000)))
    with subprocess.Popen(
        [sys.executable, "-m", "klaudit", "check", str(file), *BOARD],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment(),
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait() == 2
    assert said == (
        "klaudit: cannot write to standard output: its reader ended before the report did, as `head` does."
        " Expected a reader that takes all of it; let it read to the end, or name a file with --output\n"
    )


def test_notes_come_after_the_report(board: Path, tmp_path: Path) -> None:
    """What was written beside the report is said where it is read: at the end."""
    done = subprocess.run(
        [
            sys.executable, "-m", "klaudit", "check", str(board), *BOARD,
            "--write-baseline", str(tmp_path / "b.json"), "--write-clean", str(tmp_path / "c.csv"),
        ],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT, env=environment(), check=False,
    )  # fmt: skip
    said = [line for line in done.stdout.splitlines() if line]
    assert re.match(r"klaudit: note: \d findings written to ", said[-2])
    assert re.match(r"klaudit: note: .*c\.csv has \d of 4 rows of ", said[-1])
    assert (tmp_path / "c.csv").read_text().splitlines()[0] == ROWS.splitlines()[0]
