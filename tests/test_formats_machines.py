"""JSON, CSV and concise: the contract key by key, and the same hostile names."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

import pytest
import report_samples as samples

from klaudit.formats import FORMATS, View, needs_every_row, write
from klaudit.formats.csv_ import HEADER
from klaudit.report import Audit

ROW_KEYS = [
    "line", "entry", "gpu", "variants", "workload", "reported", "roof", "ratio", "limit", "limit_ratio", "verdict",
    "conditions", "alternatives", "cached_share", "rules", "worst_case", "message",
]  # fmt: skip
LAST_KEYS = ["worst_ratio", "worst_limit_ratio"]


def render(name: str, audit: Audit, **view: object) -> str:
    out = io.StringIO()
    write(name, audit, out, View(**view))  # type: ignore[arg-type]
    return out.getvalue()


def load(audit: Audit) -> Any:
    def refuse(text: str) -> None:
        raise AssertionError(text)

    return json.loads(render("json", audit), parse_constant=refuse)


def test_the_head_of_the_json_report() -> None:
    """Keys, their order, and all values beside the rows."""
    report = load(samples.audit())
    rows = report.pop("rows")
    assert list(report) == [
        "schema", "version", "specs", "source", "board", "ruled_out", "allowed", "remarks", "summary",
    ]  # fmt: skip
    assert report == {
        "schema": "klaudit/1",
        "version": "0.1.0",
        "specs": {"date": "2026-01-31", "sha256": "0123456789abcdef" * 4},
        "source": "board.csv",
        "board": "tensara-kl-2025",
        "ruled_out": ["compressed-data"],
        "allowed": list(samples.ALLOWED),
        "remarks": ["3 rows have no date: the most lenient era decided"],
        "summary": {
            "rows": 5, "judged": 4, "within": 1, "conditional": 1, "impossible": 1, "inconsistent": 1, "unjudged": 1,
            "above_measured": 1, "suppressed": 0,
        },
    }  # fmt: skip
    assert list(report["summary"]) == [
        "rows", "judged", "within", "conditional", "impossible", "inconsistent", "unjudged", "above_measured",
        "suppressed",
    ]  # fmt: skip
    assert [row["line"] for row in rows] == [2, 7, 8, 9, 10]


def test_a_row_of_the_json_report() -> None:
    """A conditional row with cases, key by key."""
    row = load(samples.audit())["rows"][1]
    assert list(row) == [*ROW_KEYS, "cases", *LAST_KEYS]
    message = row.pop("message")
    assert message.startswith("N=67108864: 805.3 MB in 141.2 us")
    assert row == {
        "line": 7,
        "entry": "x_scale/b1024",
        "gpu": "H200",
        "variants": ["h200-sxm"],
        "workload": "kl-divergence",
        "reported": {"gflops": 3757.0, "time_us": 48.2},
        "roof": {"name": "dram", "gflops": 2868.1, "time_us": 44.018},
        "ratio": 1.30993,
        "limit": {"gflops": 8072.7, "time_us": 31.512},
        "limit_ratio": 0.65376,
        "verdict": "conditional",
        "conditions": ["write-back", "inputs-resident"],
        "alternatives": [["write-back", "faster-variant"]],
        "cached_share": 0.9312,
        "rules": ["above-dram-roof"],
        "worst_case": "N=67108864",
        "cases": [
            {
                "name": "N=1048576", "n": 1048576, "time_us": 15.5, "floor_us": 2.559, "ratio": 0.1651,
                "verdict": "within", "conditions": [],
            },
            {
                "name": "N=67108864", "n": 67108864, "time_us": 141.2, "floor_us": 163.79, "ratio": 1.16,
                "verdict": "conditional", "conditions": ["write-back", "inputs-resident"],
            },
        ],
        "worst_ratio": 1.30993,
        "worst_limit_ratio": 0.9788,
    }  # fmt: skip


def test_a_row_without_a_verdict_has_nulls() -> None:
    """Nothing judged: numbers are null, lists are empty, `cases` is absent."""
    row = load(samples.audit())["rows"][4]
    assert list(row) == ROW_KEYS + LAST_KEYS
    assert row["reported"] == {}
    assert [row[key] for key in ("roof", "ratio", "limit", "limit_ratio", "cached_share", "worst_case")] == [None] * 6
    assert [row[key] for key in LAST_KEYS] == [None, None]


def test_the_worst_of_figures_and_cases() -> None:
    """An average hides which case is out of reach: the worst ratios look at the cases too, in JSON and in CSV."""
    cases = (samples.CONDITIONAL.cases[0]._replace(ratio=3.16, limit_ratio=2.7),)
    audit = samples.audit((samples.row(ratio=0.8, limit_ratio=0.3, cases=cases),))
    row = load(audit)["rows"][0]
    assert [row[key] for key in ("ratio", "limit_ratio", *LAST_KEYS)] == [0.8, 0.3, 3.16, 2.7]
    (line,) = csv.DictReader(io.StringIO(render("csv", audit)))
    assert [line[key] for key in ("ratio", "limit_ratio", *LAST_KEYS)] == ["0.8", "0.3", "3.16", "2.7"]


def test_json_knows_no_nan() -> None:
    """What is no number is null, also where a figure came out infinite."""
    row = samples.row(reported=(samples.rate(math.inf, math.nan),), ratio=math.inf, limit_ratio=math.nan)
    shown = load(samples.audit((row,)))["rows"][0]
    assert shown["reported"] == {"gflops": None}
    assert shown["ratio"] is None
    assert shown["limit_ratio"] is None


def test_two_figures_of_a_kind_have_two_keys() -> None:
    """A mean and a geomean of the time are two figures; the second has its rule in the key."""
    second = samples.time(50e-6)._replace(rule="geomean")
    row = load(samples.audit((samples.row(reported=(samples.time(57.2e-6), second)),)))["rows"][0]
    assert row["reported"] == {"time_us": 57.2, "geomean_time_us": 50.0}
    assert row["roof"] == {"name": "dram", "gflops": None, "time_us": 44.018, "geomean_time_us": 44.018}


def test_several_files_are_named_row_by_row() -> None:
    """With several files each row carries its source, and the head lists them."""
    report = load(samples.audit(sources=("board.csv", "b.csv")))
    assert report["source"] is None
    assert report["sources"] == ["board.csv", "b.csv"]
    assert next(iter(report["rows"][0])) == "source"


def test_json_of_no_rows() -> None:
    """An empty report is still JSON."""
    assert load(samples.audit(()))["rows"] == []


def test_the_csv_report() -> None:
    """A header and one line a row, all rows, with figures in GFLOP/s and us."""
    shown = render("csv", samples.audit())
    lines = shown.split("\n")
    assert lines[0] == ",".join(HEADER)
    assert len(lines) == 7
    records = list(csv.DictReader(io.StringIO(shown)))
    assert {key: value for key, value in records[1].items() if value and key not in ("message", "allowed")} == {
        "source": "board.csv",
        "line": "7",
        "entry": "x_scale/b1024",
        "gpu": "H200",
        "variants": "h200-sxm",
        "workload": "kl-divergence",
        "verdict": "conditional",
        "ratio": "1.30993",
        "limit_ratio": "0.65376",
        "conditions": "write-back;inputs-resident",
        "alternatives": "write-back;faster-variant",
        "cached_share": "0.9312",
        "rules": "above-dram-roof",
        "worst_case": "N=67108864",
        "roof": "dram",
        "gflops": "3757",
        "roof_gflops": "2868.1",
        "limit_gflops": "8072.7",
        "time_us": "48.2",
        "roof_time_us": "44.018",
        "limit_time_us": "31.512",
        "version": "0.1.0",
        "specs": "2026-01-31 0123456789ab",
        "ruled_out": "compressed-data",
        "worst_ratio": "1.30993",
        "worst_limit_ratio": "0.9788",
    }


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", " =", "\t="])
def test_no_cell_is_a_formula(start: str) -> None:
    """A name that a spreadsheet would run gets an apostrophe in front."""
    row = samples.row(entry=f"{start}HYPERLINK(1)", gpu=f"{start}1")
    record = next(csv.DictReader(io.StringIO(render("csv", samples.audit((row,))))))
    for key in ("entry", "gpu"):
        assert record[key].startswith(("'", r"\t"))


def test_one_line_a_finding() -> None:
    """`file:line: level rule: message`, then the summary."""
    lines = render("concise", samples.audit(findings_left_out=2)).split("\n")
    assert [line.split(": ")[:2] for line in lines[:4]] == [
        ["board.csv:7", "warning above-dram-roof"],
        ["board.csv:8", "error impossible"],
        ["board.csv:9", "error figures-disagree"],
        ["board.csv:10", "warning unknown-gpu"],
    ]
    assert lines[3] == (
        "board.csv:10: warning unknown-gpu: (no name) on H20O: 'H20O' names no card of the catalogue; the nearest known"
        " names are H200, H100, A100"
    )
    assert lines[4] == "+2 more"
    assert lines[5] == "note: 3 rows have no date: the most lenient era decided"
    assert lines[6].startswith(
        "klaudit 0.1.0: 5 rows, 1 inconsistent, 1 impossible, 1 conditional, 1 unjudged, 1 within (board"
    )


# GitHub's own workflow commands are lines of that format; its tests hold that no name makes one.
@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"github"}))
def test_hostile_names_do_nothing_in_any_format(name: str) -> None:
    """Every format's output is printable text and line feeds, however hostile the names."""
    for view in (View(), View(rows="all")):
        out = io.StringIO()
        write(name, samples.audit(samples.ROWS), out, view)
        shown = out.getvalue()
        assert {c for c in shown if not c.isprintable()} <= {"\n"}
        assert not any(line.lstrip().startswith("::") for line in shown.split("\n"))
    assert shown.count("\n") == {"csv": 7, "concise": 7}.get(name, shown.count("\n"))


def test_json_keeps_names_as_they_are() -> None:
    """The escapes of JSON make a name harmless without changing it; half a surrogate pair is replaced."""
    report = load(samples.audit((samples.HOSTILE_ROW, samples.row(entry="a\ud800b\u00e9"))))
    assert report["rows"][0]["entry"] == samples.HOSTILE
    assert report["rows"][1]["entry"] == "a\ufffdb\u00e9"


def test_which_formats_need_every_row() -> None:
    """Machines get all rows; people only where they ask."""
    assert [name for name in FORMATS if needs_every_row(name, View())] == ["json", "csv", "html", "jsonl"]
    assert needs_every_row("table", View(rows="all"))
