"""Exports of several leaderboards: a row of another one than the board stands for is never judged by its rules."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command import klaudit as command
from format_samples import catalog
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import klaudit
from klaudit.audit.standing import Ranking
from klaudit.catalog import Catalog
from klaudit.errors import SpecError
from klaudit.readers import ReadOptions, read
from klaudit.readers.board_spec import read_board
from klaudit.readers.specs import load_catalog
from klaudit.verdict import Verdict

ADD = "gpumode-vectoradd"
# 131072 float32 numbers in 20 us are honest; the 1.6 GB of a vector addition in that time are not.
MIXED = [
    {"submission_id": 1, "submission_score": 0.0009, "leaderboard_name": "vectoradd_v2", "gpu_type": "H100"},
    {"submission_id": 2, "submission_score": 0.00002, "leaderboard_name": "prefixsum", "gpu_type": "H100"},
    {"submission_id": 3, "submission_score": 0.00002, "leaderboard_name": "vectoradd_v2", "gpu_type": "H100"},
    {"submission_id": 4, "submission_score": 0.00002, "gpu_type": "H100"},
]
BOARD = (Path(__file__).parent / "samples" / "some.yaml").read_text()


@pytest.fixture(scope="module")
def known() -> Catalog:
    return catalog()


def judged(path: Path, known: Catalog, board_id: str = ADD, **others: object) -> list[tuple[str, str]]:
    """Each row's verdict and rule."""
    board = known.board(board_id)
    batches = read(path, ReadOptions(board=board, **others))  # type: ignore[arg-type]
    found = klaudit.audit.audit(batches, known, board, keep_rows=True)
    return [(str(row.verdict), row.rule if row.rules else "") for row in found.rows()]


def test_a_mixed_export_accuses_no_row_of_another_leaderboard(tmp_path: Path) -> None:
    """The row of the prefix sum is a result with its reason; the same time as a vector addition is impossible."""
    file = tmp_path / "mixed.json"
    file.write_text(json.dumps(MIXED))
    found = command("check", str(file), "--board", ADD, "--format", "json")
    rows = json.loads(found.stdout)["rows"]
    assert [row["verdict"] for row in rows] == ["within", "unjudged", "impossible", "impossible"]
    assert rows[1]["rules"] == ["other-board"]
    assert rows[1]["message"] == (
        "record 2, column 'leaderboard': 'prefixsum' is none of the leaderboards of gpumode-vectoradd:"
        " vectoradd_v2, pmpp-vectoradd, vectoradd"
    )


def test_a_file_of_several_boards(known: Catalog) -> None:
    """Slug and title are the board's names; a row without a name is judged as before."""
    found = judged(Path(__file__).parent / "boards" / "other_boards.csv", known, "tensara-kl-2025")
    assert [verdict for verdict, _ in found] == ["within", "unjudged", "conditional", "impossible"]


@pytest.mark.parametrize("header", ["leaderboard_name", "Leaderboard", "problem_name", "problem.slug", "Problem title"])
def test_the_same_as_a_table(tmp_path: Path, known: Catalog, header: str) -> None:
    """A column of a CSV file says it too, whatever case and punctuation it and the name have."""
    file = tmp_path / "mixed.csv"
    file.write_text(f"{header},gpu,time (s)\nVectorAdd V2,H100,0.0009\nprefixsum,H100,0.00002\n-,H100,0.00002\n")
    assert judged(file, known) == [("within", ""), ("unjudged", "other-board"), ("impossible", "impossible")]


def test_a_column_that_the_user_names(tmp_path: Path, known: Catalog) -> None:
    """--column leaderboard=HEADER says which column it is."""
    file = tmp_path / "mixed.csv"
    file.write_text("contest,gpu,time (s)\nprefixsum,H100,0.00002\n")
    assert judged(file, known)[0][0] == "impossible"
    assert judged(file, known, columns={"leaderboard": "contest"}) == [("unjudged", "other-board")]


def test_parquet(tmp_path: Path, known: Catalog) -> None:
    """The public export names the problem."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "mixed.parquet"
    names, scores = ["vectoradd_v2", "prefixsum", None], [0.0009, 0.00002, 0.00002]
    table = {"submission_id": [1, 2, 3], "problem_name": names, "score": scores, "runner": ["H100"] * 3}
    pq.write_table(pa.table(table), file)
    assert judged(file, known) == [("within", ""), ("unjudged", "other-board"), ("impossible", "impossible")]


def test_tensara(tmp_path: Path, known: Catalog) -> None:
    """A submission names its problem by slug and title; a list of all of a user's is of many problems."""
    row = {"id": "a", "gflops": 1500.0, "runtime": 0.01, "gpuType": "T4", "createdAt": "2025-06-01"}
    problems = [
        {"problem": {"title": "ReLU", "slug": "relu"}},
        {"problem": {"title": "Kullback-Leibler Divergence", "slug": "kl-loss"}},
        {"problem": "Kullback-Leibler divergence"},
        {"problemSlug": "relu"},
        {"slug": "kl-loss"},
        {},
    ]
    file = tmp_path / "mine.json"
    file.write_text(json.dumps([row | problem for problem in problems]))
    others = [rule == "other-board" for _, rule in judged(file, known, "tensara-kl-2025")]
    assert others == [True, False, False, True, False, False]


def test_a_board_that_says_nothing_judges_all(tmp_path: Path, known: Catalog) -> None:
    """Without the key nothing is known, and every row is one of the board's, as without a board."""
    file = tmp_path / "rows.csv"
    file.write_text("leaderboard,gpu,bandwidth (GB/s)\nany,T4,200\n")
    assert known.board("single-case").leaderboards == ()
    assert judged(file, known, "single-case")[0][1] != "other-board"
    (rows,) = read(file)
    assert rows.troubles == ()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["vectoradd_v2", "PMPP vectoradd", "GPU MODE, vector addition", "", "N/A", "sort_v2", "x"]),
            st.floats(1e-7, 1e-2).map(lambda seconds: f"{seconds:.4g}"),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_rows_of_others_are_left_alone_and_no_other_row_changes(
    tmp_path: Path, known: Catalog, rows: list[tuple[str, str]]
) -> None:
    """Every row has a result: of another leaderboard it is unjudged, and else the same as without the column."""
    file = tmp_path / "rows.csv"
    file.write_text("leaderboard,gpu,time (s)\n" + "".join(f'"{name}",H100,{time}\n' for name, time in rows))
    with_names = judged(file, known)
    file.write_text("gpu,time (s)\n" + "".join(f"H100,{time}\n" for _, time in rows))
    without = judged(file, known)
    others = [name in ("sort_v2", "x") for name, _ in rows]
    assert with_names == [
        ("unjudged", "other-board") if other else same for other, same in zip(others, without, strict=True)
    ]


def test_bulk_settles_no_row_of_another_leaderboard(tmp_path: Path, known: Catalog) -> None:
    """The fast path for large files leaves those with such a column to the judge."""
    pytest.importorskip("pyarrow")
    from klaudit.audit.settling import settler
    from klaudit.readers import read_or_settle
    from klaudit.readers.limits import Limits

    board = known.board(ADD)
    file = tmp_path / "rows.csv"
    file.write_text("leaderboard,gpu,time (s)\n" + "sort_v2,H100,0.5\nvectoradd,H100,0.5\n" * 3000)
    options = ReadOptions(board=board, settle=settler(known, board), limits=Limits(plain=0))
    found = klaudit.audit.audit(read_or_settle(file, options), known, board, max_findings=0)
    assert found.summary.counts[Verdict.UNJUDGED] == found.summary.counts[Verdict.WITHIN] == 3000


def test_rows_of_others_are_no_rivals(tmp_path: Path, known: Catalog) -> None:
    """A rank is among the rows of the board."""
    file = tmp_path / "rows.csv"
    file.write_text("leaderboard,gpu,time (s)\nsort_v2,H100,0.1\nvectoradd,H100,0.3\n")
    board = known.board(ADD)
    ranking = Ranking("rows.csv", board)
    for batch in read(file, ReadOptions(board=board)):
        ranking.add(klaudit.judge(batch, known, board))
    own = klaudit.Leaderboard.from_arrays(gpu="H100", time=np.array([0.2]))
    (standing,) = ranking.of(klaudit.audit.audit([own], known, board, keep_rows=True).rows())
    assert (standing.rank, standing.of) == (1, 2)


NAMES = "leaderboards:\n  - {name: some_v2, source: page}\n  - {name: The board, source: page, note: its title}\n"


def test_the_names_in_a_spec() -> None:
    """A spec lists them with their source, and `like` does not take over another board's."""
    found = read_board(BOARD + NAMES, "some.yaml", lambda _: None).leaderboards
    assert [(n.name, n.source, n.note) for n in found] == [
        ("some_v2", "page", ""), ("The board", "page", "its title"),
    ]  # fmt: skip
    known = load_catalog()
    assert known.board("tensara-kl").leaderboards != known.board("tensara-relu").leaderboards


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("leaderboards: []\n", "leaderboards is empty"),
        ("leaderboards: some\n", "leaderboards must be a list"),
        ("leaderboards:\n  - {name: some_v2}\n", "has no source"),
        ("leaderboards:\n  - {name: some_v2, source: nowhere}\n", "'nowhere' is not defined"),
        ("leaderboards:\n  - {nam: some_v2, source: page}\n", "'leaderboards[0].name' is missing"),
        ('leaderboards:\n  - {name: "--", source: page}\n', "'--' names nothing"),
        (NAMES + "  - {name: Some V2, source: page}\n", "'Some V2' is listed already, as 'some_v2'"),
    ],
)
def test_names_that_break_the_format(text: str, expected: str) -> None:
    """Whatever is wrong is an error that names the place."""
    with pytest.raises(SpecError) as caught:
        read_board(BOARD + text, "some.yaml", lambda _: None)
    assert expected in str(caught.value)
    assert str(caught.value).startswith("some.yaml:")


def test_no_name_stands_for_two_boards(known: Catalog) -> None:
    """A row that names its leaderboard is of one shipped board at most, by Tensara and by GPU MODE each."""
    for family in ("tensara-", "gpumode-"):
        boards = [known.board(b) for b in known.board_ids if b.startswith(family)]
        names = [leaderboard.name for board in boards for leaderboard in board.leaderboards]
        assert len(set(names)) == len(names)
        assert all(board.leaderboards for board in boards)
