"""The command's start-up and exit codes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from command import BOARD, ROOT, klaudit, write_board, write_rows


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """A board with a row of each kind."""
    return write_board(tmp_path)


def imported_by(*arguments: str) -> set[str]:
    code = (
        "import sys; from klaudit.__main__ import main; code = main(sys.argv[1:]);"
        "print('MODULES', *sys.modules, file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=ROOT, check=True
    )
    return set(done.stderr.split("MODULES ")[1].split())


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    """No numpy, rich, yaml or csv, and no module of a command."""
    modules = imported_by(*arguments) - {"klaudit.cli.streams"}
    assert not modules & {"numpy", "rich", "yaml", "csv", "importlib.metadata"}
    assert not {m for m in modules if m.startswith(("klaudit.cli.", "klaudit.formats", "klaudit.audit", "klaudit.gpu"))}


def test_help_of_a_command_imports_nothing_heavy() -> None:
    """Options are parsed without numpy, rich or yaml."""
    assert not imported_by("audit", "--help") & {"numpy", "rich", "yaml", "csv"}


def test_the_package_imports_nothing_heavy() -> None:
    """`import klaudit` is free, and its names load when they are used."""
    code = (
        "import sys, klaudit; assert 'numpy' not in sys.modules; assert klaudit.__version__;"
        "assert 'judge' in dir(klaudit); klaudit.Policy(); assert 'numpy' not in sys.modules;"
        "klaudit.judge; assert 'numpy' in sys.modules; assert [getattr(klaudit, n) for n in klaudit.__all__]"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_version() -> None:
    """The version of `klaudit._version`, on stdout."""
    done = klaudit("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, "klaudit, version 0.1.0\n", "")


def test_help_names_every_command() -> None:
    """Each command of the table exists and has the help that the table promises."""
    from klaudit.cli import COMMANDS

    listed = klaudit("--help").stdout
    for name, (_, line) in COMMANDS.items():
        assert f"  {name} " in listed
        assert line in listed
        done = klaudit(name, "--help")
        assert done.returncode == 0
        assert done.stdout.startswith(f"Usage: klaudit {name} ")


# Exit codes


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], 1),
        (["--exit-zero"], 0),
        (["--fail-on", "never"], 0),
        (["--fail-on", "conditional"], 1),
        (["--fail-on", "unjudged"], 1),
    ],
)
@pytest.mark.parametrize("command", ["audit", "check"])
def test_an_impossible_row_fails(command: str, options: list[str], code: int, board: Path) -> None:
    """Exit 1 at every threshold but `never`; --exit-zero says 0."""
    done = klaudit(command, board, *BOARD, *options)
    assert (done.returncode, done.stderr) == (code, "")


@pytest.mark.parametrize(
    ("row", "first_failing"),
    [("a,T4,150.00", None), ("a,T4,220.00", "conditional"), ("a,T4,1500.00", "impossible")],
)
def test_fail_on_includes_what_is_worse(row: str, first_failing: str | None, tmp_path: Path) -> None:
    """impossible < conditional < unjudged: each fails on what those before it fail on."""
    file = write_rows(tmp_path, row)
    order = ["impossible", "conditional", "unjudged"]
    failing = order[order.index(first_failing) :] if first_failing else []
    for fail_on in order:
        assert klaudit("check", file, *BOARD, "--fail-on", fail_on).returncode == (1 if fail_on in failing else 0)


def test_unjudged_rows_fail_only_where_asked(tmp_path: Path) -> None:
    """A row that cannot be judged beside one that can is no failure by default."""
    file = write_rows(tmp_path, "a,T4,150.00", "b,T40,150.00")
    assert klaudit("check", file, *BOARD).returncode == 0
    assert klaudit("check", file, *BOARD, "--fail-on", "unjudged").returncode == 1


@pytest.mark.parametrize("options", [[], ["--exit-zero"], ["--fail-on", "never"], ["--format", "json"]])
def test_nothing_judged_is_3_whatever_is_asked(options: list[str], tmp_path: Path) -> None:
    """The report is still written and says why."""
    done = klaudit("audit", write_rows(tmp_path, "a,T40,150.00"), *BOARD, *options)
    assert done.returncode == 3
    assert "unknown-gpu" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["audit"], "Missing argument 'FILE...'"),
        (["audit", "no-such-file.csv"], "no-such-file.csv"),
        (["audit", "-", "-"], "named twice"),
        (["audit", "x.csv", "--format", "xml"], "'xml' is not one of"),
        (["audit", "x.csv", "--board", "tensara-kl-2024"], "tensara-kl-2025"),
        (["audit", "x.csv", "--workload", "kl-divergance"], "kl-divergence"),
        (["audit", "x.csv", "--gpu-label", "H100"], "LABEL=ID"),
        (["audit", "x.csv", "--column", "time"], "FIELD=HEADER"),
        (["audit", "x.csv", "--column", "time=a", "--column", "time=b"], "two headers"),
        (["audit", "x.csv", "--n", "-1"], "no size"),
        (["audit", "x.csv", "--dtype", "float99"], "no dtype"),
        (["audit", "x.csv", "--rule-out", "magic"], "'magic' is not one of"),
        (["audit", "x.csv", "--rule-out", "write-back", "--allow", "write-back"], "both ruled out and allowed"),
        (["audit", "x.csv", "--specs", "no-such-folder"], "no-such-folder"),
        (["audti", "x.csv"], "Did you mean audit"),
        (["audit", "--frmat", "json", "x.csv"], "--frmat"),
        (["explain", "--gpu", "T4"], "no figure is claimed"),
        (["explain", "--gpu", "T4", "--gflops", "1", "--tflops", "1"], "Give one"),
        (["explain", "--gpu", "T4", "--time", "12.3"], "12.3 us"),
        (["explain", "--gpu", "T4", "--gflops", "fast"], "1500"),
        (["checker", "tensara-kl-2025", "--rtol", "-1"], "'-1' is no tolerance; write a number of 0 or more"),
        (["checker", "tensara-kl-2025", "--atol", "nan"], "'nan' is no tolerance"),
        (["checker", "tensara-kl-2025", "--atol-of-max", "inf"], "'inf' is no tolerance"),
        (["gpus", "H20O"], "H200"),
        (["roofline", "--gpu", "H20O"], "H200"),
        (["roofline", "--gpu", "T4", "--board", "tensara-kl", "--workload", "sum"], "Give one"),
        (["boards", "nowhere"], "klaudit boards"),
    ],
)
def test_a_mistake_of_the_user_is_2(arguments: list[str], says: str) -> None:
    """One message on stderr that says what, nothing on stdout, no traceback."""
    done = klaudit(*arguments)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("klaudit: ")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_usage_error_has_three_parts() -> None:
    """What was found, what was expected, what to do."""
    done = klaudit("audit", "x.csv", "--fail-on", "sometimes")
    assert done.stderr == (
        "klaudit: Invalid value for '--fail-on': 'sometimes' is not one of 'impossible', 'conditional', 'unjudged',"
        " 'never'.\n"
        "expected: klaudit audit [OPTIONS] FILE...\n"
        "what to do: see klaudit audit --help\n"
    )


def test_no_command_shows_the_help() -> None:
    """On stderr, with exit 2: nothing was judged."""
    done = klaudit()
    assert (done.returncode, done.stdout) == (2, "")
    assert "Commands:" in done.stderr


def test_a_bug_is_70_and_says_so() -> None:
    """An error that klaudit does not name has a traceback, another message and another code."""
    code = (
        "import sys, klaudit.cli.options as o\n"
        "def broken(specs): raise RuntimeError('boom')\n"
        "o.load = broken\n"
        "from klaudit.__main__ import main; sys.exit(main(['gpus']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 70
    assert "RuntimeError: boom" in done.stderr
    assert "this is a bug in klaudit" in done.stderr


def test_an_interrupt_is_130() -> None:
    """Ctrl-C ends with a word, not with a traceback."""
    code = (
        "import sys, klaudit.cli.options as o\n"
        "def interrupted(specs): raise KeyboardInterrupt\n"
        "o.load = interrupted\n"
        "from klaudit.__main__ import main; sys.exit(main(['gpus']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "klaudit: interrupted; nothing was written")
