"""Large tables through pyarrow: the same report as through the plain readers."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import numpy as np
import pytest
from format_samples import FOLDER, SAMPLES, catalog, policy_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import klaudit
from klaudit.audit.reports import above_measured
from klaudit.audit.settling import settler
from klaudit.board import Board
from klaudit.bounds import Figures, Settled, Sieve
from klaudit.catalog import Catalog
from klaudit.errors import InputError, KlauditError
from klaudit.formats import View, write
from klaudit.leaderboard import FigureColumn, Leaderboard
from klaudit.readers import ReadOptions, read, read_or_settle
from klaudit.readers.floats import read_floats
from klaudit.readers.folder import expand
from klaudit.readers.limits import Limits
from klaudit.units import find_unit, read_printed
from klaudit.verdict import Policy, Verdict

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

BOARDS = Path(__file__).parent / "boards"
KL = "tensara-kl-2025"
FILES = sorted([*BOARDS.glob("*.csv"), *FOLDER.glob("*.csv")])


@pytest.fixture(scope="module")
def known() -> Catalog:
    return catalog()


@pytest.fixture(autouse=True)
def settle_few_rows_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables are judged outright otherwise."""
    monkeypatch.setattr("klaudit.audit.settling.FEW", 0)


def options_for(known: Catalog, board: Board | None, policy: Policy, **others: object) -> ReadOptions:
    """A reader that takes every file for a large one."""
    return ReadOptions(
        board=board, settle=settler(known, board, policy), limits=Limits(plain=0), **others  # type: ignore[arg-type]
    )  # fmt: skip


def report(
    path: Path, known: Catalog, options: ReadOptions, board: Board | None, policy: Policy, keep_rows: bool = False
) -> str:
    """The whole report as CI gets it, or the error."""
    out = io.StringIO()
    try:
        batches = read_or_settle(path, options)
        found = klaudit.audit.audit(batches, known, board, policy, sources=(str(path),), keep_rows=keep_rows)
        by_gpu = {label: (dict(s.counts), s.above_measured) for label, s in found.by_gpu.items()}
        write("concise", found, out, View(200, False, "flagged", "decimal"))
        return f"{out.getvalue()}\n{sorted(by_gpu.items())}\n{sorted(found.background().labels)}"
    except KlauditError as error:
        return f"{type(error).__name__}: {error}"


def same(path: Path, known: Catalog, board_id: str | None, policy: Policy | None = None, **others: object) -> str:
    """The report of both paths, and of an audit that judges and keeps every row: they are one."""
    board = known.board(board_id) if board_id else None
    policy = policy or Policy(workload="" if board else "kl-divergence")
    options = options_for(known, board, policy, **others)
    bulk = report(path, known, options, board, policy)
    plain = options._replace(settle=None)
    assert bulk == report(path, known, plain, board, policy)
    assert bulk == report(path, known, plain, board, policy, keep_rows=True)
    return bulk


def is_settled(path: Path, known: Catalog, board_id: str, **others: object) -> int:
    """How many rows came out counted."""
    board = known.board(board_id)
    parts = read_or_settle(path, options_for(known, board, Policy(), **others))
    return sum(sum(part.counts.values()) for part in parts if isinstance(part, Settled))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
@pytest.mark.parametrize("board", [KL, None])
def test_every_test_file(path: Path, board: str | None, known: Catalog) -> None:
    """Both paths give one report of every file of the tests, dialect quirks and broken files included."""
    same(path, known, board)


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.plain.endswith(".csv")], ids=lambda s: s.plain)
def test_every_sample_on_its_board(sample, known: Catalog) -> None:  # type: ignore[no-untyped-def]
    """And of every sample on the board that it is for."""
    same(FOLDER / sample.plain, known, sample.board or None, policy_of(sample))


HEADERS = {
    "one": "entry,gpu,gflops,submitted_at",
    "both": "entry,gpu,gflops,runtime_ms,submitted_at",
    "time": "rank,entry,gpu,Runtime (ms)",
    "status": "entry,gpu,gflops,status",
}
ODD = [
    "", "-", "N/A", "nan", "inf", "1e999", "0", "0.000", "-5", "1_000", "+12", " 150 ", "1,5", "1.5e2", "0x10",
    "12 TFLOPS", "150.000000000000001", "9" * 70, "1e-400", "\u0661\u0662", "1__0", ".5", "5.", "#1", "\t7", "7\xa0",
]  # fmt: skip
LABELS = ["T4", "H100", "H200", "A100-80GB", "H100", "T4 ", " T4", "t4", "8xH100", "GTX 9999", "", "-", "o'brien"]


@st.composite
def tables(draw: st.DrawFn) -> str:
    """A table with a header of those above, near the roofs of its cards, with odd cells here and there."""
    kind = draw(st.sampled_from(sorted(HEADERS)))
    lines = [HEADERS[kind]]
    for index in range(draw(st.integers(1, 30))):
        cells = []
        share = draw(st.floats(0.3, 1.3))
        for name in HEADERS[kind].split(","):
            odd = draw(st.integers(0, 19)) == 0
            if odd:
                cells.append(draw(st.sampled_from(ODD)))
            elif name == "gpu":
                cells.append(draw(st.sampled_from(LABELS)))
            elif name == "gflops":
                cells.append(f"{1955.5 * share * draw(st.sampled_from([1, 0.0955])):.{draw(st.integers(0, 14))}f}")
            elif "untime" in name:
                cells.append(f"{0.0617 / share * draw(st.sampled_from([1, 1.2, 10.5])):.{draw(st.integers(1, 8))}f}")
            elif name == "status":
                cells.append(draw(st.sampled_from(["PASSED", "PASSED", "failed", "ok", ""])))
            else:
                cells.append(draw(st.sampled_from([f"e{index}", "a_b", "x" * 90, "2025-12-01", "é"])))
        line = ",".join(cells)
        lines.append(draw(st.sampled_from([line] * 40 + ["", line + ",", line + ",x", '"' + line, cells[0], "  "])))
    return draw(st.sampled_from(["\n", "\n", "\n", "\r\n"])).join(lines) + draw(st.sampled_from(["", "\n"]))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables(), st.sampled_from([KL, "gpumode-vectoradd", "tensara-kl", None]))
def test_any_table(tmp_path: Path, known: Catalog, table: str, board: str | None) -> None:
    """Whatever a table holds, counting rows by their bounds changes nothing that a report says."""
    path = tmp_path / "rows.csv"
    path.write_text(table, encoding="utf-8", newline="")
    same(path, known, board)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(LABELS), st.lists(st.floats(0.3, 3), min_size=5, max_size=5)), max_size=12))
def test_any_cases(tmp_path: Path, known: Catalog, rows: list[tuple[str, list[float]]]) -> None:
    """Rows with a time for each case come out the same, counted or kept."""
    board = known.board(KL)
    lines = [",".join(["entry", "gpu", *(f"{case.name} (us)" for case in board.cases)])]
    for index, (label, shares) in enumerate([*rows, ("T4", [2.0] * 5)]):
        times = [12 * case.sizes["n"] / 3.35e6 * share for case, share in zip(board.cases, shares, strict=True)]
        lines.append(",".join([f"e{index}", label, *(f"{time:.2f}" for time in times)]))
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines))
    same(path, known, KL)


def board_of(rows: int, spread: float = 0.5, figures: int = 2) -> str:
    """A plain table of mostly honest rows on a T4."""
    random = np.random.default_rng(3)
    share = random.uniform(0.1, 1.0, rows)
    lines = [
        f"e{i},T4,{186.7 * s:.2f}" + f",{0.645 / s:.4f}" * (figures == 2) for i, s in enumerate(share)
    ]  # fmt: skip
    return "\n".join(["entry,gpu,gflops" + ",runtime_ms" * (figures == 2), *lines, ""])


@pytest.mark.parametrize("figures", [1, 2])
def test_most_rows_are_settled(tmp_path: Path, known: Catalog, figures: int) -> None:
    """Of honest rows only those near the roof are looked at, whether by one figure or by two together."""
    path = tmp_path / "rows.csv"
    path.write_text(board_of(20_000, figures=figures))
    assert is_settled(path, known, KL) > 0.8 * 20_000
    same(path, known, KL)


def test_empty_cells_between_tabs_are_no_blank_line(tmp_path: Path, known: Catalog) -> None:
    """Tabs side by side, and one at the end of a line, are plain."""
    path = tmp_path / "rows.tsv"
    path.write_text(board_of(2_000).replace("\n", ",,\n").replace(",", "\t"))
    assert is_settled(path, known, KL) > 0.8 * 2_000
    same(path, known, KL)


def test_lines_are_those_of_the_file(tmp_path: Path, known: Catalog) -> None:
    """A finding in the last row of many has its line, whatever the size of batches."""
    path = tmp_path / "rows.csv"
    path.write_text("sep=;\n" + board_of(300_000, figures=1).replace(",", ";") + "last;T4;9999\n")
    assert f"{path}:300003: error impossible: last on T4" in same(path, known, KL, batch_rows=50_000)


@pytest.mark.parametrize(
    ("spoil", "plain"),
    [
        (lambda text: text.replace("e7,", '"e7",'), False),
        (lambda text: text.replace("\ne9,", "\re9,"), False),
        (lambda text: text.replace("\ne9,", "\n  \ne9,"), False),
        (lambda text: text.replace("\n", "\r\n"), True),
        (lambda text: text.replace("\ne9,", "\n\n\ne9,"), True),
        (lambda text: text.replace(",", "\t").replace("\ne9\t", "\n\ne9\t"), True),
        (lambda text: text.replace("e5,T4", "e5\2,T4"), True),
        (lambda text: text.replace(",", ";").replace(".", ",") + "last;T4;9.999,0\n", True),
        (lambda text: text.replace(",", ";").replace("e9;T4;", "e9;T4;1.234"), True),
        (lambda text: text.removesuffix("\n"), True),
    ],
    ids=["quotes", "return", "spaces", "crlf", "blank", "tabs", "mark", "comma", "point", "end"],
)
def test_what_is_plain_is_settled(tmp_path: Path, known: Catalog, spoil, plain: bool) -> None:  # type: ignore[no-untyped-def]
    """One quote in a block, and nothing of it is settled; line ends and blank lines do not matter to the report."""
    path = tmp_path / "rows.csv"
    path.write_text(spoil(board_of(50, figures=1)), newline="")
    assert (is_settled(path, known, KL) > 0) == plain
    same(path, known, KL)


@pytest.mark.parametrize(
    "surprise",
    ["last,T4\n", "odd,T4,12 parsecs,1\n" * 300_000, f"long,{'x' * 200_000},1,1\n"],
    ids=["short", "unread", "long"],
)
def test_a_surprise_far_down(tmp_path: Path, known: Catalog, surprise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What only the plain reader can read is read by it from there on: no row is lost, and none is told of twice."""
    monkeypatch.setattr("klaudit.readers.bulk_csv._BLOCK", 100_000)
    path = tmp_path / "rows.csv"
    path.write_text(f"{board_of(300_000)}forged,T4,9999,0.012\n{surprise}end,T4,8888,0.0135\n")
    parts = read_or_settle(path, options_for(known, known.board(KL), Policy()))
    with contextlib.suppress(InputError):
        # A cell that is longer than any may be ends both.
        settled = [sum(part.counts.values()) for part in parts if isinstance(part, Settled)]
        assert 0 < sum(settled) < 300_000
    same(path, known, KL)


@pytest.mark.parametrize("dictionary", [True, False])
def test_parquet(tmp_path: Path, known: Catalog, dictionary: bool) -> None:
    """Parquet gives one report as arrays and as texts, and the report of the same numbers in CSV."""
    random = np.random.default_rng(5)
    share = random.uniform(0.1, 1.2, 5_000)
    columns = {
        "entry": [f"e{i}" for i in range(5_000)],
        "gpu": random.choice(["T4", "H100", "nowhere"], 5_000),
        "gflops": np.round(186.7 * share, 2),
        "submitted_at": np.datetime64("2025-06-01T00:00:00") + np.arange(5_000),
    }
    path = tmp_path / "rows"
    pq.write_table(pa.table(columns), path, row_group_size=700, use_dictionary=dictionary)
    found = same(path, known, KL)
    assert is_settled(path, known, KL) > 2_000
    plain = tmp_path / "rows.csv"
    plain.write_text(
        "entry,gpu,gflops\n" + "".join(f"{e},{g},{v}\n" for e, g, v in zip(*list(columns.values())[:3], strict=True))
    )
    verdicts = [line.partition(" ")[2].split(";")[0] for line in found.splitlines() if str(path) in line]
    others = [
        line.partition(" ")[2].split(";")[0] for line in same(plain, known, KL).splitlines() if str(plain) in line
    ]
    assert verdicts == others


NUMBERS = [None, float("nan"), float("inf"), 0.0, -1.5, 5e-324, 1e300, 0.1 + 0.2, 123456789012.0, 1e16, 1e-7]


@st.composite
def arrow_tables(draw: st.DrawFn) -> pa.Table:
    """A table of numbers near the roofs of its cards, with odd ones here and there, of any kind that Parquet knows."""
    count = draw(st.integers(1, 40))

    def column(ordinary: st.SearchStrategy[object], odd: list[object]) -> list[object]:
        return [draw(st.sampled_from(odd)) if draw(st.integers(0, 19)) == 0 else draw(ordinary) for _ in range(count)]

    near = st.floats(0.3, 1.3)
    places = draw(st.integers(0, 14))
    rates = column(near.map(lambda share: round(1955.5 * share, places)), NUMBERS)
    times = column(near.map(lambda share: round(0.0617 / share, 4)), NUMBERS)
    integers = draw(st.booleans())
    whole = [None if x is None or not 0 <= x < 1e18 else int(x) for x in rates]
    columns = {
        "entry": pa.array(column(st.sampled_from(["ada", "bob", " é"]), [None, "", "x" * 90])),
        "gpu": pa.array(column(st.sampled_from(LABELS), [None])),
        "gflops": pa.array(whole, pa.int64()) if integers else pa.array(rates, pa.float64()),
    }
    if draw(st.booleans()):
        columns["runtime_ms"] = pa.array(times, pa.float64())
    if draw(st.booleans()):
        words = column(st.just("PASSED"), ["failed", None])
        flags = column(st.just(True), [False, None])
        columns["status"], columns["passed"] = pa.array(words), pa.array(flags)
    return pa.table({name: columns[name] for name in draw(st.permutations(sorted(columns)))})


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arrow_tables(), st.integers(1, 40), st.sampled_from([KL, "gpumode-vectoradd", None]))
def test_any_parquet(tmp_path: Path, known: Catalog, table: pa.Table, group: int, board: str | None) -> None:
    """Whatever a table holds, arrays give the report that the texts of their numbers give."""
    path = tmp_path / "rows.parquet"
    pq.write_table(table, path, row_group_size=group)
    same(path, known, board)


@settings(deadline=None)
@given(
    st.lists(
        st.one_of(
            st.floats(1e-320, 1e300),
            st.tuples(st.integers(1, 10**13), st.integers(0, 9)).map(lambda number: number[0] / 10 ** number[1]),
        ),
        min_size=1,
    ),
    st.sampled_from(["ms", "us", "s", "GFLOPS", "TFLOPS", "GB/s", "GiB/s"]),
    st.booleans(),
)
def test_floats_are_their_shortest_decimals(values: list[float], unit_text: str, integers: bool) -> None:
    """A column of floats is read as Python prints them, to the last bit."""
    unit = find_unit(unit_text)
    assert unit is not None
    if integers:
        values = [float(min(max(round(value), 1), 2**53 - 1)) for value in values]
    printed = [read_printed(str(int(value)) if integers else repr(value), unit) for value in values]
    assert np.array_equal(np.array(read_floats(np.array(values), unit, 0 if integers else 1)).T, np.array(printed))


def test_names_are_read_when_asked_for(tmp_path: Path, known: Catalog) -> None:
    """Of findings that nobody keeps no name is read; the first ones are named by their own rows."""
    path = tmp_path / "rows.parquet"
    count = 100_000
    table = pa.table({"entry": [f"e{i}" for i in range(count)], "gpu": ["T4"] * count, "gflops": [9999.0] * count})
    pq.write_table(table, path, row_group_size=10_000)
    board = known.board(KL)
    first, *_ = read_or_settle(path, options_for(known, board, Policy()))
    assert isinstance(first, Leaderboard)
    assert (first.entries[12_345], first.entries[-1]) == ("e12345", f"e{len(first) - 1}")
    assert len(first) < count
    path.unlink()
    with pytest.raises(InputError, match=r"rows\.parquet"):
        first.entries[25_000]


@pytest.mark.parametrize("settled", [True, False])
def test_a_name_that_is_no_text(tmp_path: Path, known: Catalog, settled: bool) -> None:
    """Parquet keeps the bytes of a text unchecked: those that are no UTF-8 are damage, with the file's name."""
    path = tmp_path / "rows.parquet"
    names = pa.array([b"ada", b"\xff\xfe"], pa.binary())
    texts = pa.StringArray.from_buffers(len(names), *names.buffers()[1:])
    pq.write_table(pa.table({"entry": texts, "gpu": ["T4", "T4"], "gflops": [100.0, 9999.0]}), path)
    board = known.board(KL)
    options = options_for(known, board, Policy())
    said = report(path, known, options if settled else options._replace(settle=None), board, Policy())
    assert said.startswith(f"InputError: {path} is a damaged Parquet file: 'utf-8' codec can't decode byte 0xff")


def test_kernelbots_tables(tmp_path: Path, known: Catalog) -> None:
    """The public export is recognised by its columns: seconds, and failed rows do not count."""
    path = tmp_path / "submissions.parquet"
    pq.write_table(
        pa.table(
            {
                "submission_id": [1, 2, 3, 4],
                "problem_name": ["vectoradd"] * 4,
                "user_name": ["ada", "bob", None, "dee"],
                "score": [0.000512, 1.2e-05, None, 0.0005],
                "passed": [True, True, None, False],
                "runner": pa.array(["H100", "H100", "H100", "H100"]).dictionary_encode(),
                "code": ["x" * 1000] * 4,
            }
        ),
        path,
    )
    board = known.board("gpumode-vectoradd")
    (rows,) = read(path, ReadOptions(board=board))
    assert [f.header for f in rows.figures] == ["time (s)"]
    judged = klaudit.audit.judge(rows, known, board)
    assert [Verdict(int(v)) for v in judged.verdict] == [
        Verdict.WITHIN, Verdict.IMPOSSIBLE, Verdict.UNJUDGED, Verdict.UNJUDGED,
    ]  # fmt: skip
    same(path, known, "gpumode-vectoradd")


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(["T4", "H100", "H200", "L4", "A100-80GB", ""]),
    st.sampled_from(["tensara-kl-2025", "gpumode-vectoradd", "tensara-matmul", ""]),
    st.sampled_from([("rate",), ("time",), ("bandwidth",), ("rate", "time")]),
    st.integers(0, 2**32 - 1),
)
def test_bounds_are_safe(known: Catalog, label: str, board_id: str, kinds: tuple[str, ...], seed: int) -> None:
    """A row inside its label's bounds is judged within, without a note, wherever in them it lies."""
    board = known.board(board_id) if board_id else None
    policy = Policy(gpu="L40S", workload="" if board else "vector-add")
    empty = np.zeros(0)
    figures = [FigureColumn(k, empty, empty, empty, header=k) for k in kinds]  # type: ignore[arg-type]
    bounds = settler(known, board, policy)(label, figures)
    if bounds is None:
        return
    random = np.random.default_rng(seed)
    columns = []
    region = bounds.roof or bounds.quiet
    for kind, best in zip(kinds, region.best, strict=True):
        low, high = (best, np.inf) if kind == "time" else (0.0, best)
        start = low if low else high * 1e-3
        stop = high if np.isfinite(high) else low * 1e3
        near = random.random(500) < 0.5
        far = np.exp(random.uniform(np.log(start), np.log(stop), 500))
        edge = np.where(
            np.isfinite(high),
            stop * (1 - 10 ** random.uniform(-15, -1, 500)),
            start * (1 + 10 ** random.uniform(-15, -1, 500)),
        )
        columns.append(np.clip(np.where(near, edge, far), start, stop))
    inside = np.ones(500, dtype=bool)
    if region.together is not None:
        rate, time = columns
        inside &= rate * time >= region.together.product
        for intercept, slope in region.together.lines:
            inside &= rate >= intercept + slope * time
    rows = Leaderboard(
        "", np.arange(500), [str(i) for i in range(500)], (label,) if label else (),
        np.full(500, 0 if label else -1),
        tuple(FigureColumn(k, c, c, c, header=k) for k, c in zip(kinds, columns, strict=True)),  # type: ignore[arg-type]
    )  # fmt: skip
    judged = klaudit.audit.judge(rows, known, board, policy)
    assert (judged.verdict[inside] == Verdict.WITHIN).all()
    # Beside the bounds of another card, which may bind its figures otherwise.
    other = settler(known, board, policy)("H200", figures)
    sieve = Sieve([bounds, other, None], kinds)  # type: ignore[arg-type]
    codes = np.zeros(500, dtype=np.int64)
    quiet = sieve.quiet(columns, codes)
    noted = ~quiet & sieve.noted([Figures(column, column, column) for column in columns], codes)
    assert (judged.verdict[quiet | noted] == Verdict.WITHIN).all()
    beaten = above_measured(judged)
    assert not beaten[quiet].any()
    assert beaten[noted].all()
    assert not sieve.quiet(columns, codes - 1).any()
    assert klaudit.audit.judge(bounds.example, known, board, policy).verdict[0] == Verdict.WITHIN


def test_patterns(tmp_path: Path) -> None:
    """A pattern that the shell left alone names the files that fit, by name; one that fits nothing is an error."""
    for name in ("b.csv", "a.csv", "c.txt", "[x].csv"):
        (tmp_path / name).write_text("entry,gpu,gflops\na,T4,1\n")
    assert expand([str(tmp_path / "?.csv")]) == (str(tmp_path / "a.csv"), str(tmp_path / "b.csv"))
    assert expand([str(tmp_path / "[x].csv")]) == (str(tmp_path / "[x].csv"),)
    with pytest.raises(InputError, match="no file fits"):
        expand([str(tmp_path / "*.jsonl")])
