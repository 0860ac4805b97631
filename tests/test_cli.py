"""The real command in a subprocess: what comes out, where, and the exit code."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BOARD = ["--board", "tensara-kl-2025"]

# Rows of the KL board: within, conditional by write-back, impossible, and one of an unknown card.
ROWS = """entry,gpu,mean_gflops
honest,T4,150.00
cached,T4,220.00
forged,T4,1500.00
typo,T40,150.00
"""


def klaudit(*arguments: object, stdin: str | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command from the checkout, without the caller's own settings."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("KLAUDIT", "COLUMNS", "NO_COLOR"))}
    return subprocess.run(
        [sys.executable, "-m", "klaudit", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        env={**environment, **variables},
        check=False,
    )


@pytest.fixture
def board(tmp_path: Path) -> Path:
    file = tmp_path / "board.csv"
    file.write_text(ROWS, encoding="utf-8")
    return file


def write_rows(folder: Path, *rows: str) -> Path:
    file = folder / "rows.csv"
    file.write_text("\n".join(["entry,gpu,mean_gflops", *rows, ""]), encoding="utf-8")
    return file


# Start-up


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
    modules = imported_by(*arguments)
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


# Where results go


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


# Options


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


# The other commands


def test_roofline_of_the_published_figures() -> None:
    """The roofs of KL divergence, decimal and read as binary; an ambiguous label is all its cards, slowest first."""
    asked = ["roofline", "--gpu", "T4", "--gpu", "H100", "--workload", "kl-divergence"]
    done = klaudit(*asked)
    assert (done.returncode, done.stderr) == (0, "")
    table = [line.split() for line in done.stdout.split("\n") if line[:3] in ("a  ", "b  ", "c  ", "d  ", "e  ")]
    assert [(row[1], row[3]) for row in table] == [
        ("t4", "186.7"), ("h100-pcie-80gb", "1189.4"), ("h100-sxm5-80gb", "1955.5"), ("h100-nvl-94gb", "2297.7"),
        ("h200-sxm*", "2868.1"),
    ]  # fmt: skip
    assert "* can be served under the name H100." in done.stdout
    binary = klaudit(*asked, "--units", "binary").stdout
    assert " 200.5 " in binary
    assert " 1277.1 " in binary


def test_roofline_as_json() -> None:
    """One object a card, figures in GFLOP/s and GB/s."""
    done = klaudit("roofline", "--gpu", "h100-sxm5-80gb", "--board", "tensara-kl", "--n", "2^26", "--format", "json")
    (roofs,) = json.loads(done.stdout)["roofs"]
    assert roofs["dram_gflops"] == pytest.approx(1955.5, abs=0.05)
    assert roofs["traffic_bytes"] == 3 * 4 * 2**26
    assert roofs["floor_us"] == pytest.approx(240.2, abs=0.05)


def test_roofline_without_a_workload() -> None:
    """The cards' own roofs; too many cards for a chart are a table alone."""
    assert "name a --workload" in klaudit("roofline", "--gpu", "T4").stdout
    every = klaudit("roofline")
    assert every.returncode == 0
    assert "The chart shows up to 10 cards" in every.stdout


def test_the_chart_is_ascii_where_it_must_be() -> None:
    """Braille where the stream can show it, letters where not."""
    assert "\u2500" in klaudit("roofline", "--gpu", "T4", PYTHONIOENCODING="utf-8").stdout
    plain = klaudit("roofline", "--gpu", "T4", PYTHONIOENCODING="ascii").stdout
    assert plain.isascii()
    assert "aaaaaa" in plain


@pytest.mark.parametrize(
    ("claim", "verdict", "conditions"),
    [
        (["--gpu", "T4", "--gflops", "1500", *BOARD], "impossible", []),
        (["--gpu", "T4", "--gflops", "200.4", *BOARD], "conditional", ["write-back"]),
        (["--gpu", "H100", "--tflops", "1.4", *BOARD], "within", []),
        (["--gpu", "H100", "--tflops", "2.2", *BOARD], "conditional", ["write-back"]),
        (["--gpu", "H100", "--tflops", "12", *BOARD], "impossible", []),
        (
            ["--gpu", "H100", "--tflops", "1.5", "--workload", "kl-divergence", "--n", "67108864"],
            "conditional",
            ["faster-variant"],
        ),
    ],
)
def test_explain_the_published_claims(claim: list[str], verdict: str, conditions: list[str]) -> None:
    """One row object with its steps, and the verdicts that the model gives."""
    done = klaudit("explain", *claim, "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    row = json.loads(done.stdout)
    assert (row["verdict"], row["conditions"]) == (verdict, conditions)
    assert row["steps"]


def test_explain_ends_with_the_verdict() -> None:
    """Numbered steps, sources, then the verdict, the sentence on harness faults and the versions."""
    shown = klaudit("explain", "--gpu", "T4", "--gflops", "1500", *BOARD).stdout
    assert shown.index(" 1. ") < shown.index("source: ") < shown.index("Verdict: IMPOSSIBLE, 8.03 x the roof")
    assert "a harness fault is as" in shown
    assert "klaudit 0.1.0, specs of " in shown
    within = klaudit("explain", "--gpu", "H100", "--tflops", "1.4", *BOARD).stdout
    assert "no clearance" in within


def test_explain_of_an_unknown_card_is_3() -> None:
    """Nothing could be judged, and the report says why."""
    done = klaudit("explain", "--gpu", "H20O", "--gflops", "1500", *BOARD)
    assert done.returncode == 3
    assert "UNJUDGED" in done.stdout
    assert "H200" in done.stdout


def test_the_limits_of_a_board() -> None:
    """The table of the model: mean of rates per card, then mean of times."""
    shown = klaudit("boards", "tensara-kl-2025").stdout
    rates, times = shown.split("Limits tensara-kl-2025: ")[1:]
    assert rates.startswith("mean of rates [GFLOP/s], impossible above the last column\n")
    table = {row[1]: row[2:] for row in (line.split() for line in rates.split("\n")) if len(row) > 2}
    assert table["card"] == ["dram", "write-back", "inputs-resident", "both"]
    for card, ceilings in {
        "t4": (186.7, 228.4, 228.4, 345.6),
        "h100-sxm5-80gb": (1955.5, 2707, 4467, 7129),
        "h200-sxm": (2868, 4038, 6113, 8073),
    }.items():
        assert [float(cell) for cell in table[card]] == pytest.approx(ceilings, abs=0.5)
    assert times.startswith("mean of times [us]")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["gpus"], ["h100-sxm5-80gb ", " 3352.3      50 MiB "]),
        (["gpus", "T4"], ["What the judge uses", "320.06 GB/s, from ", "Sources"]),
        (["gpus", "H100"], ["h100-pcie-80gb", "h100-nvl-94gb"]),
        (["workloads"], ["kl-divergence ", "KL divergence, element by element"]),
        (["workloads", "kl"], ["predictions and targets, once each"]),
        (["boards"], ["tensara-kl ", "single-case"]),
        (["boards", "single-case"], ["One figure, one case"]),
    ],
)
def test_the_catalogue(arguments: list[str], says: list[str]) -> None:
    """Lists and entries, as text and as JSON."""
    done = klaudit(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert [word for word in says if word not in done.stdout] == []
    assert isinstance(json.loads(klaudit(*arguments, "--format", "json").stdout), dict)
