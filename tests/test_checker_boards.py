"""The checker on every board of the catalogue, as a command, as text, and joined with the audit."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from klaudit.audit import audit
from klaudit.board import Board, Case, CaseInputs, Checker, Draw
from klaudit.catalog import Catalog
from klaudit.checker import check_board
from klaudit.checker.references import REFERENCES
from klaudit.cli import cli
from klaudit.errors import NotKnown, SpecError
from klaudit.formats import View
from klaudit.formats.checker import FORMATS, enforced
from klaudit.formats.provenance import Stamp
from klaudit.loopholes import Loopholes
from klaudit.readers import ReadOptions, read
from klaudit.readers.specs import load_catalog
from klaudit.verdict import Policy, Verdict

HERE = Path(__file__).parent
BOARD_2025 = HERE / "data" / "h200" / "board_2025.csv"
GOLDEN = HERE / "golden" / "checker-tensara-kl-2025.txt"
KL = "tensara-kl-2025"
CATALOG = load_catalog()
TOLD = [i for i in CATALOG.board_ids if (c := CATALOG.board(i).checker) and c.reference]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return CATALOG


def accepting(found: Loopholes, submission: str) -> str:
    """How many of a board's cases accept a submission, as "4/5"."""
    verdicts = [t.accepted for case in found.cases for t in case.trials if t.submission == submission]
    return f"{sum(verdicts)}/{len(found.cases)}"


def small(catalog: Catalog, reference: str, inputs: tuple[Draw, ...], **fields: Any) -> Board:
    """A board like Tensara's KL of 64 and 128 elements, with another check."""
    board = catalog.board(KL)
    cases = tuple(Case(str(n), {"n": float(n)}) for n in (64, 128))
    plain = Checker(rtol=0.0, atol=0.1, output="zeros", reference=reference, inputs=inputs)
    return board._replace(cases=cases, checker=plain._replace(**fields))


@pytest.mark.parametrize("board_id", TOLD)
def test_what_specs_say_is_enforced_is_what_the_checker_finds(catalog: Catalog, board_id: str) -> None:
    """checker.enforced of every board is the tool's own finding, and no board that has a reference fails to run."""
    board = catalog.board(board_id)
    assert board.checker is not None
    found = check_board(board, catalog, quick=True)
    every = [case.name for case in board.cases]
    assert [(e["submission"], e["plain"], e["traffic"], tuple(e.get("cases", every))) for e in enforced(found)] == [
        (e.submission, e.plain, e.traffic.text, e.cases) for e in board.checker.enforced
    ]


def test_every_reference_is_some_boards(catalog: Catalog) -> None:
    """No formula lies about unused, and every board names one that exists."""
    assert {catalog.board(i).checker.reference for i in TOLD} == set(REFERENCES)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("board_id", "submission", "expected"),
    [
        ("tensara-relu", "all-zeros", "0/5"),
        ("tensara-relu", "float16-arithmetic", "0/5"),
        ("tensara-vector-addition", "all-zeros", "0/7"),
        ("tensara-vector-addition", "multiple-of-a", "0/7"),
        ("tensara-vector-addition", "float16-inputs", "7/7"),
        ("tensara-softmax", "all-zeros", "0/7"),
        ("tensara-softmax", "float16-arithmetic", "7/7"),
        ("tensara-mse", "all-zeros", "0/5"),
        ("tensara-mse", "constant", "5/5"),
        ("tensara-product-dim", "nothing-written", "6/6"),
        ("tensara-product-dim", "all-zeros", "6/6"),
        ("tensara-matmul", "constant", "0/4"),
        ("gpumode-vectoradd", "nothing-written", "0/1"),
    ],
)
def test_which_boards_accept_trivial_outputs(catalog: Catalog, board_id: str, submission: str, expected: str) -> None:
    """A product of uniform numbers underflows, a mean of squares can be written down; sums and maxima cannot."""
    assert accepting(check_board(catalog.board(board_id), catalog, quick=True), submission) == expected


def test_no_window_is_said_plainly(catalog: Catalog) -> None:
    """Where no tolerance helps, the report says why: zeros are right, the answer is known, or rtol is too wide."""
    reasons = {
        "tensara-product-dim": "is zero, so zeros are right",
        "tensara-mse": "can be written down: draw new inputs",
        "tensara-max-dim": "rtol = 0.001 alone accepts inputs rounded to float16",
    }
    for board_id, reason in reasons.items():
        repair = check_board(catalog.board(board_id), catalog, quick=True).repair
        assert not repair.check
        assert reason in repair.reason


def test_a_multiple_that_is_the_answer_is_not_called_trivial(catalog: Catalog) -> None:
    """Scaling a matrix is a multiple of the input, so a check for it has a window all the same."""
    repair = check_board(catalog.board("tensara-matrix-scalar"), catalog, quick=True).repair
    assert repair.relative.exists
    assert "float16" in repair.relative.trivial


# --- the check in other words -----------------------------------------------------------------------------------

UNIFORM = Draw("input", "uniform", -1.0, 1.0)


def test_a_share_of_the_outputs_may_fail(catalog: Catalog) -> None:
    """Half of relu's outputs are zero: zeros fail as a whole, and pass where 40 % must match."""
    strict = check_board(small(catalog, "relu", (UNIFORM,)), catalog)
    loose = check_board(small(catalog, "relu", (UNIFORM,), matched=0.4), catalog)
    assert (accepting(strict, "all-zeros"), accepting(loose, "all-zeros")) == ("0/2", "2/2")
    assert "for 40 % of the outputs" in loose.check


def test_an_exact_check_accepts_no_other_output(catalog: Catalog) -> None:
    """With rtol = atol = 0 a formula without rounding passes, and nothing else that writes every output."""
    found = check_board(small(catalog, "relu", (UNIFORM,), atol=0.0), catalog)
    assert found.check == "outputs must be equal"
    everything = [t for case in found.cases for t in case.trials if t.submission != "partial"]
    assert all(t.accepted is t.honest for t in everything)


def test_fits_are_tried_on_inputs_that_they_have_not_seen(catalog: Catalog) -> None:
    """The mean of 64 squares is known where the seed is fixed, and is not where the inputs are fresh."""
    draws = (Draw("predictions", "normal"), Draw("targets", "normal"))
    known = check_board(small(catalog, "mse", draws, atol=0.01), catalog)
    fresh = check_board(small(catalog, "mse", draws, atol=0.01, seed="fresh"), catalog)
    assert (accepting(known, "constant"), accepting(fresh, "constant")) == ("2/2", "0/2")


def test_cases_may_depart_from_the_boards_inputs(catalog: Catalog) -> None:
    """A case has its own draws and its own numbers: leaky relu with slope 1 is the identity."""
    slopes = tuple(CaseInputs(name, (), {"alpha": alpha}) for name, alpha in (("64", 1.0), ("128", 0.0)))
    found = check_board(small(catalog, "leaky-relu", (UNIFORM,), cases=slopes), catalog)
    identity, plain = (next(t for t in case.trials if t.submission == "multiple-of-input") for case in found.cases)
    assert identity.error == pytest.approx(0, abs=1e-9)
    assert identity.plain == "writing 1 x input"
    assert plain.error > 0.3


def test_a_stale_buffer(catalog: Catalog) -> None:
    """The previous case's output goes as far as it is long; behind it the buffer is as it was."""
    found = check_board(small(catalog, "relu", (UNIFORM,), atol=2.0, output="ones"), catalog)
    (stale,) = (t for t in found.cases[1].trials if t.submission == "previous-output")
    assert stale.accepted
    assert stale.error == pytest.approx(1, abs=0.05)


def test_what_is_missing_is_said(catalog: Catalog) -> None:
    """No reference, an unknown one, inputs that do not fit it: each has its own sentence."""
    with pytest.raises(NotKnown, match="no reference is known for this board's workload, sort"):
        check_board(catalog.board("gpumode-sort"), catalog)
    with pytest.raises(NotKnown, match="no fixed workload"):
        check_board(catalog.board("single-case"), catalog)
    with pytest.raises(NotKnown, match="states no tolerance"):
        check_board(small(catalog, "relu", (UNIFORM,), atol=None), catalog)
    with pytest.raises(SpecError, match="'rleu' is unknown"):
        check_board(small(catalog, "rleu", (UNIFORM,)), catalog)
    with pytest.raises(SpecError, match="takes a, b, and the spec draws input"):
        check_board(small(catalog, "vector-add", (UNIFORM,)), catalog)
    with pytest.raises(SpecError, match="'64' has no number for alpha"):
        check_board(small(catalog, "leaky-relu", (UNIFORM,)), catalog)


# --- as text ----------------------------------------------------------------------------------------------------


def written(found: Loopholes, style: str, width: int = 100) -> str:
    out = StringIO()
    FORMATS[style](found, out, View(width), Stamp("0", "2026-01-01", "0" * 64, found.board.id))
    return out.getvalue()


def steady(report: str) -> str:
    """A report without the figures that numpy's own logarithms decide in their last digits."""
    report = re.sub(r"^(.* \*)  .*$", r"\1 ...", report, flags=re.MULTILINE)
    report = report.replace("\n    ", " ")
    return re.sub(r"from [\d.e-]+ \(.*?\)\) to|leaves factors of .*|; \S+ \.\.\.", "...", report)


@pytest.fixture(scope="module")
def kl(catalog: Catalog) -> Loopholes:
    return check_board(catalog.board(KL), catalog, quick=True)


def test_the_report_of_the_kl_board(kl: Loopholes) -> None:
    """The whole report for people, word for word; only the rounding errors of honest kernels may differ."""
    assert steady(written(kl, "table")) == steady(GOLDEN.read_text(encoding="utf-8"))


def test_reports_keep_to_their_width(kl: Loopholes) -> None:
    """No line is longer than the terminal, however narrow."""
    for width in (60, 80, 120):
        assert max(map(len, written(kl, "table", width).splitlines())) <= width


def test_markdown_has_the_same_tables(kl: Loopholes) -> None:
    """Every case and submission stands in a markdown table, and no bar of a name breaks a row."""
    report = written(kl, "markdown")
    assert "| nothing-written | pass 0.15 | pass 0.037 |" in report
    assert "max \\|reference\\|" in report
    assert all(line.endswith("|") for line in report.splitlines() if line.startswith("| "))


def test_json_has_everything(kl: Loopholes) -> None:
    """Numbers are numbers, the trials of every case are there, and so is what the spec keeps."""
    found = json.loads(written(kl, "json"))
    assert found["schema"] == "klaudit/1"
    assert found["repair"]["of_max"]["chosen"] == 1e-4
    sparse = {t["submission"]: t for t in found["cases"][4]["trials"]}
    assert sparse["all-zeros"]["accepted"] is False
    assert sparse["multiple-of-targets"]["skipped"] == ["predictions"]
    assert sparse["multiple-of-targets"]["bytes"] == 8 * 2**20
    assert [e["submission"] for e in found["enforced"]][:1] == ["multiple-of-targets"]


def test_the_command(catalog: Catalog) -> None:
    """A board in, a report out; another check can be tried; a board without a reference says so."""
    runner = CliRunner()
    mended = ["checker", KL, "--quick", "--atol-of-max", "1e-4", "--format", "json"]
    done = runner.invoke(cli, mended, standalone_mode=False)
    assert done.return_value == 0
    assert json.loads(done.stdout)["check"] == "|output - reference| <= 0.0001 x max |reference| + 1e-05 x |reference|"
    ones = runner.invoke(cli, ["checker", KL, "--quick", "--buffer", "ones"], standalone_mode=False)
    assert "cases accept nothing written" not in ones.stdout
    with pytest.raises(NotKnown) as unknown:
        runner.invoke(cli, ["checker", "gpumode-sort"], standalone_mode=False, catch_exceptions=False)
    assert unknown.value.exit_code == 3


# --- joined with the audit --------------------------------------------------------------------------------------


def test_rows_above_the_roof_say_which_trivial_output_would_explain_them(catalog: Catalog) -> None:
    """On the measured board every exploit above its roof gets the note that fits it, and no honest row gets any."""
    board = catalog.board(KL)
    rows = read(str(BOARD_2025), ReadOptions(board=board))
    found = audit(rows, catalog, board, Policy(gpu="H200"), keep_rows=True)
    notes = {row.entry: " ".join(row.notes) for row in found.rows()}
    above = {row.entry for row in found.findings if row.verdict in (Verdict.CONDITIONAL, Verdict.IMPOSSIBLE)}
    assert {entry for entry, note in notes.items() if "consistent with" in note} == above
    told = {
        "x_scale/b256": "writing a multiple of targets without reading predictions: 8 bytes per element instead of 12",
        "x_thresh/b256": "only where it exceeds the tolerance without reading predictions: 4.4 bytes per element",
        "x_one/b256": "writing nothing: 0 bytes per element",
        "skip-dense+v4f": "the board's check accepts that in 4 of 5 cases",
    }
    for entry, said in told.items():
        assert said in notes[entry]
    assert not any(word in note for note in notes.values() for word in ("cheat", "fraud"))


def test_enforced_traffic_is_a_formula_of_the_sizes(catalog: Catalog) -> None:
    """A multiple of the targets of 2^20 float32 elements moves 8 MiB."""
    checker = catalog.board(KL).checker
    assert checker is not None
    multiple = next(e for e in checker.enforced if e.submission == "multiple-of-targets")
    assert np.isclose(multiple.traffic({"n": 2.0**20, "b": 4.0}), 8 * 2**20)
