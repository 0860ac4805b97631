"""`--write-clean`: a board's own bytes without the rows that fail."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from command import BOARD, ROOT, klaudit
from hypothesis import given, settings
from hypothesis import strategies as st

from klaudit.readers.cleaned import without

EXAMPLE = ROOT / "examples" / "kl-h200.csv"


def clean(tmp_path: Path, content: bytes, *options: str) -> bytes:
    board, target = tmp_path / "board.csv", tmp_path / "clean.csv"
    board.write_bytes(content)
    done = klaudit("check", board, *BOARD, *options, "--write-clean", target)
    assert done.returncode in (0, 1), done.stderr
    assert board.read_bytes() == content
    return target.read_bytes()


def test_the_example_without_its_failing_rows(tmp_path: Path) -> None:
    """Ten lines are gone, every other byte is there; the clean board passes."""
    lines = EXAMPLE.read_bytes().splitlines(keepends=True)
    expected = b"".join(lines[:91] + lines[94:95] + lines[102:])
    assert clean(tmp_path, EXAMPLE.read_bytes()) == expected
    done = klaudit("check", tmp_path / "clean.csv", *BOARD)
    assert done.returncode == 0
    assert "91 rows, 0 inconsistent, 0 impossible, 1 conditional" in done.stdout


@pytest.mark.parametrize(("fail_on", "left"), [("never", "hcft"), ("impossible", "hct"), ("unjudged", "h")])
def test_what_goes_is_what_fails(fail_on: str, left: str, tmp_path: Path) -> None:
    """--fail-on says which verdicts; an accepted finding stays."""
    rows = {"h": b"h,T4,150.00\n", "c": b"c,T4,220.00\n", "f": b"f,T4,1500.00\n", "t": b"t,T40,150.00\n"}
    head = b"entry,gpu,mean_gflops\n"
    content = head + b"".join(rows.values())
    assert clean(tmp_path, content, "--fail-on", fail_on) == head + b"".join(rows[name] for name in left)
    config = tmp_path / "c.yaml"
    config.write_text("ignore:\n  - {entry: f, reason: accepted}\n", encoding="utf-8")
    assert clean(tmp_path, content, "--config", str(config)) == content


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_dialects_stay_byte_for_byte(encoding: str, end: str, tmp_path: Path) -> None:
    """Marks, line ends, delimiters, quotes, quoted line ends, blank lines, and no line end at the end of the file."""
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    head = ["entry;gpu;mean_gflops;note", ""]
    kept = [f'"a{end}{end}b";T4;150,00;"x;""y"""', "c;T4;151,00;n\u00efc\u00e9", ""]
    forged = [f'f;T4;1500,00;"one{end}{end}two"']
    last = ["", "d;T4;152,00;"]
    full = end.join([*head, *forged, *kept, *forged, *last])
    # A quoted blank line goes with its record; blank lines between records stay.
    expected = end.join([*head, *kept, *last])
    found = clean(tmp_path, mark + full.encode(encoding))
    assert found == mark + expected.encode(encoding)


@settings(max_examples=60, deadline=None)
@given(
    records=st.lists(
        st.tuples(
            st.sampled_from(["a,1", '"a\nb",2', '"\n\n",3', 'x,"1\r\n2"']),
            st.booleans(),
            st.sampled_from(["", "\n", "\n\n"]),
        ),
        min_size=1,
        max_size=12,
    ),
)
def test_only_the_records_named_go(
    records: list[tuple[str, bool, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever surrounds them: the rest, put together again, is the file."""
    starts, dropped, whole, rest = [], set(), "entry,x\n", "entry,x\n"
    for text, drop, blank in records:
        line = whole.count("\n") + 1
        starts.append(line)
        whole += f"{text}\n{blank}"
        rest += blank if drop else f"{text}\n{blank}"
        if drop:
            dropped.add(line)
    file = tmp_path_factory.mktemp("clean") / "board.csv"
    file.write_bytes(whole.encode())
    assert b"".join(without(str(file), starts, dropped)).decode() == rest


def test_the_podium(tmp_path: Path) -> None:
    """The three best of each card before and after, by the board's figure; cards without a change are left out."""
    rows = "a,T4,150\nb,T4,160\nf,T4,1500\ng,T4,1600\nc,T4,140\nd,H100,1400\n"
    board = tmp_path / "board.csv"
    board.write_text(f"entry,gpu,mean_gflops\n{rows}", encoding="utf-8")
    done = klaudit("audit", board, *BOARD, "--write-clean", tmp_path / "c.csv", "--format", "json")
    (podium,) = json.loads(done.stdout)["podiums"]
    assert (podium["gpu"], podium["by"]) == ("T4", "gflops")
    assert [place["entry"] for place in podium["before"]] == ["g", "f", "b"]
    assert [place["entry"] for place in podium["after"]] == ["b", "a", "c"]
    for style in ("table", "concise", "markdown"):
        shown = klaudit("audit", board, *BOARD, "--write-clean", tmp_path / "c.csv", "--format", style).stdout
        assert "g (line 5, 1600 GFLOP/s) -> b (line 3, 160 GFLOP/s)" in shown.replace("&#62;", ">")
    assert "Podium of" not in klaudit("audit", board, *BOARD).stdout


def test_what_cannot_be_cleaned_is_2(tmp_path: Path) -> None:
    """Several files, standard input, other formats, compressed files, and the board itself."""
    board = tmp_path / "board.csv"
    board.write_text("entry,gpu,mean_gflops\na,T4,150\n", encoding="utf-8")
    other = tmp_path / "b.json"
    other.write_text('[{"gpu": "T4", "gflops": 150}]', encoding="utf-8")
    packed = tmp_path / "b.csv.gz"
    packed.write_bytes(gzip.compress(board.read_bytes()))
    target = str(tmp_path / "c.csv")
    for files, to, says in (
        ((board, other), target, "Name one file"),
        (("-",), target, "Name one file"),
        ((other,), target, "takes rows out of CSV"),
        ((packed,), target, "is compressed"),
        ((board,), board, "is a file that is read"),
        ((board,), "-", "needs a file"),
        ((board,), tmp_path / "no" / "c.csv", "cannot write to"),
    ):
        done = klaudit("check", *files, *BOARD, "--write-clean", to, stdin=board.read_text(encoding="utf-8"))
        assert done.returncode == 2, done.stderr
        assert says in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b.csv.gz", "b.json", "board.csv"]
