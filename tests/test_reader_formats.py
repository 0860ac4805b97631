"""What every input format keeps: recognised by content, the verdicts of the same numbers in CSV, no record lost."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest
from format_samples import FOLDER, SAMPLES, Sample, boards_of, catalog, options_of, reports_of, verdicts_of

from klaudit.catalog import Catalog
from klaudit.errors import InputError
from klaudit.readers import READERS, ReadOptions, read
from klaudit.readers.fields import case_names
from klaudit.readers.headers import case_keys, read_header
from klaudit.readers.source import Source

samples = pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.file)


@pytest.fixture(scope="module")
def known() -> Catalog:
    return catalog()


@samples
def test_verdicts(sample: Sample, known: Catalog) -> None:
    """The verdicts of each sample are those that a person works out."""
    assert verdicts_of(sample, sample.path, known) == sample.verdicts


@samples
def test_the_same_numbers_as_csv(sample: Sample, known: Catalog) -> None:
    """A file and the same numbers as CSV give the same verdicts, conditions, figures and edges of rounding."""
    ours = reports_of(sample, sample.path, known)
    plain = reports_of(sample, FOLDER / sample.plain, known)
    for one, other in zip(ours, plain, strict=True):
        assert (one.verdict, one.conditions, one.variants) == (other.verdict, other.conditions, other.variants)
        assert [(c.name, c.time, c.fastest, c.verdict) for c in one.cases] == [
            (c.name, c.time, c.fastest, c.verdict) for c in other.cases
        ]
        figures = [sorted((r.kind, r.fastest, r.value, r.low, r.high) for r in row.reported) for row in (one, other)]
        assert figures[0] == figures[1]


@samples
def test_recognised_by_content(sample: Sample, known: Catalog, tmp_path: Path) -> None:
    """A name that says nothing, and a format named by the user, read the same."""
    nameless = tmp_path / "rows"
    shutil.copy(sample.path, nameless)
    assert verdicts_of(sample, nameless, known) == sample.verdicts
    assert verdicts_of(sample, nameless, known, input_format=sample.format_id) == sample.verdicts


@samples
def test_compressed(sample: Sample, known: Catalog, tmp_path: Path) -> None:
    """gzip and zstd of each are read as they are."""
    packed = tmp_path / "rows.gz"
    packed.write_bytes(gzip.compress(sample.path.read_bytes()))
    assert verdicts_of(sample, packed, known) == sample.verdicts
    zstandard = pytest.importorskip("zstandard")
    packed.write_bytes(zstandard.ZstdCompressor().compress(sample.path.read_bytes()))
    assert verdicts_of(sample, packed, known) == sample.verdicts


@samples
def test_broken_twins(sample: Sample, known: Catalog) -> None:
    """A broken file ends in rows that say what is wrong with each, or in one sentence about the file."""
    try:
        reports = reports_of(sample, sample.broken, known)
    except InputError as error:
        assert str(sample.broken) in str(error)  # noqa: PT017 (either end is right)
        return
    assert reports
    assert all(report.message for report in reports if str(report.verdict) == "unjudged")


@samples
@pytest.mark.parametrize("batch", [1, 2])
def test_batches_change_nothing(sample: Sample, known: Catalog, batch: int) -> None:
    """Small batches give the same verdicts, and lines go on from one to the next."""
    assert verdicts_of(sample, sample.path, known, batch_rows=batch) == sample.verdicts
    lines = [int(n) for b in boards_of(sample, sample.path, known, batch_rows=batch) for n in b.lines]
    assert lines == sorted(set(lines))


def test_every_format_has_a_sample() -> None:
    """The registry holds no format that nothing tests; CSV and Parquet have files of their own."""
    assert {s.format_id for s in SAMPLES} | {"csv", "parquet"} == set(READERS)


def test_every_case_of_every_board_survives_as_a_header(known: Catalog) -> None:
    """The header that a format files a case's figures under is read back as that case's."""
    for board_id in known.board_ids:
        board = known.board(board_id)
        names = case_names(ReadOptions(board=board))
        for case in board.cases:
            for suffix in ("(ms)", "(GFLOPS)", "fastest run (ns)"):
                header = read_header(f"{case.name} {suffix}")
                assert case.name in {names.get(key) for key in case_keys(header)[0]}
                assert header.is_fastest == suffix.startswith("fastest")


def test_a_record_has_its_number_and_its_place(known: Catalog) -> None:
    """For JSON the line is the record's number, and the path says where it stands in its document."""
    sample = next(s for s in SAMPLES if s.file == "kernelbench.json")
    reports = reports_of(sample, sample.path, known)
    assert [(r.line, r.path) for r in reports] == [
        (1, "['19'][0]"), (2, "['19'][1]"), (3, "['19'][2]"), (4, "['20'][0]"), (5, "['20'][1]"),
    ]  # fmt: skip
    traces = next(s for s in SAMPLES if s.format_id == "traces")
    assert [(r.line, r.path) for r in reports_of(traces, traces.path, known)] == [(n, "") for n in range(1, 6)]


def test_lines_of_jsonl_are_physical(tmp_path: Path) -> None:
    """Blank lines and a broken line count, so that an annotation stands where its record does."""
    file = tmp_path / "rows.jsonl"
    file.write_text('\n{"gpu": "T4", "gflops": 1}\n\n{"gpu": "T4", "gfl\n{"gpu": "T4", "gflops": 2}\n')
    (board,) = read(file)
    assert board.lines.tolist() == [2, 4, 5]
    assert [(t.row, t.fatal) for t in board.troubles] == [(1, True)]


def test_a_broken_first_line_loses_no_other(tmp_path: Path) -> None:
    """The first line of JSON lines may be the broken one."""
    file = tmp_path / "rows.jsonl"
    file.write_text('{"gpu": "T4", "gflops": 1\n{"gpu": "T4", "gflops": 2}\n{"gpu": "T4", "gflops": 3}\n')
    (board,) = read(file)
    assert board.lines.tolist() == [1, 2, 3]


def test_a_document_around_a_list(tmp_path: Path) -> None:
    """An object that holds one list of records is read as that list."""
    file = tmp_path / "rows.json"
    file.write_text(json.dumps({"title": "KL", "results": [{"gpu": "T4", "gflops": 1.5}, {"gpu": "T4", "gflops": 2}]}))
    (board,) = read(file)
    assert board.paths == ("results[0]", "results[1]")
    assert board.figures[0].low.tolist() == [1.45e9, 1.5e9]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2", "ends in the middle of its JSON"),
        ('[{"gpu": "T4", "gflops": 1} {"gpu": 1}]', "expected a comma or a closing bracket"),
        ('[{"gpu": "T4", "gflops": 1}] x', "something follows the end"),
        ("[]", "holds no records"),
        ('{"a": 1 b}', "line 1, character 8"),
    ],
)
def test_text_that_is_no_json(tmp_path: Path, text: str, message: str) -> None:
    """What is wrong with a JSON file is said with its place."""
    file = tmp_path / "rows.json"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        list(read(file, ReadOptions(input_format="json")))


def test_numbers_across_chunks(tmp_path: Path) -> None:
    """A value that goes on in the next chunk of the file is read whole, however long the file is."""
    rows = [{"entry": f"e{i}", "gpu": "T4", "gflops": i + 0.25} for i in range(20_000)]
    for name, text in (("a", json.dumps(rows)), ("b", "\n".join(map(json.dumps, rows)))):
        file = tmp_path / name
        file.write_text(text)
        values = [v for b in read(file, ReadOptions(batch_rows=1000)) for v in b.figures[0].value.tolist()]
        assert values == [(i + 0.25) * 1e9 for i in range(20_000)]


def test_a_submission_is_no_nsight_output(tmp_path: Path) -> None:
    """A name that looks like a remark of Nsight Compute does not change the format of a table."""
    file = tmp_path / "rows.csv"
    file.write_text("entry,gpu,gflops\n==PROF== x,T4,100\n")
    with Source.open(file) as source:
        assert source.looks_like()[0] == "csv"


def test_options_of_samples(known: Catalog) -> None:
    """A sample without a board is read without one."""
    assert options_of(SAMPLES[4], known).board is None
