"""Files made to harm: each ends in rows or in one sentence that names the limit, soon and in little memory."""

from __future__ import annotations

import contextlib
import functools
import gzip
import importlib
import io
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import BOARD, ROOT, environment, klaudit, write_board
from format_samples import FOLDER, SAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st

from klaudit.errors import InputError, KlauditError, UsageError
from klaudit.leaderboard import Leaderboard
from klaudit.readers import READERS, ReadOptions, _format_of, read
from klaudit.readers.limits import Limits
from klaudit.readers.source import Source

MEMORY = 1_500 * 2**20


def bounded(*arguments: object, seconds: float = 60, **variables: str) -> subprocess.CompletedProcess[str]:
    """The real command with an upper bound on its address space and its time."""
    return subprocess.run(
        [sys.executable, "-m", "klaudit", *map(str, arguments)],
        capture_output=True, text=True, cwd=ROOT, check=False, timeout=seconds,
        env=environment(OPENBLAS_NUM_THREADS="1", **variables),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )  # fmt: skip


def refused(found: subprocess.CompletedProcess[str], *words: str) -> None:
    """Exit 2, one sentence with those words, no traceback and no report."""
    assert (found.returncode, found.stdout) == (2, ""), found.stderr
    assert "Traceback" not in found.stderr
    assert all(word in found.stderr for word in words), found.stderr


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Callable[[bytes, bytes], Path]]:
    """Makes pipes that give a beginning, then one piece again and again for as long as somebody reads."""
    threads = []

    def endless(beginning: bytes, piece: bytes) -> Path:
        path = tmp_path / "pipe"
        os.mkfifo(path)

        def pour() -> None:
            with contextlib.suppress(BrokenPipeError), path.open("wb") as out:
                out.write(beginning)
                while True:
                    out.write(piece)

        threads.append(threading.Thread(target=pour, daemon=True))
        threads[-1].start()
        return path

    yield endless
    for thread in threads:
        thread.join(10)


@pytest.mark.parametrize(
    ("beginning", "limit"),
    [
        (b"entry,gpu,gflops\n", "KLAUDIT_MAX_LINE"),
        (b'entry,gpu,gflops\n"', "KLAUDIT_MAX_LINE"),
        (b'{"gpu": "', "KLAUDIT_MAX_DOCUMENT"),
        (b'[{"gpu": "T4", "gflops": 1}, {"gpu": "', "KLAUDIT_MAX_DOCUMENT"),
        (b"==PROF== Connected to process 1\n", "KLAUDIT_MAX_LINE"),
    ],
)
def test_a_line_without_end(pipe: Callable[[bytes, bytes], Path], beginning: bytes, limit: str) -> None:
    """A line of any length, ten gigabytes or endless, is given up at the limit, in flat memory."""
    refused(bounded("check", pipe(beginning, b"a" * 2**16), KLAUDIT_MAX_DOCUMENT="32 MiB"), limit)


def test_a_quote_without_end(pipe: Callable[[bytes, bytes], Path]) -> None:
    """A quote that is never closed stops at the limit of one cell."""
    refused(bounded("check", pipe(b'entry,gpu,gflops\n"', b"a\n" * 2**12)), "KLAUDIT_MAX_CELL", "line 2")


@pytest.mark.parametrize(
    ("content", "limit"),
    [
        (",".join(f"c{i}" for i in range(10**6)).encode() + b"\n1\n", "KLAUDIT_MAX_COLUMNS"),
        (json.dumps([{f"c{i}": 1 for i in range(10**5)}]).encode(), "KLAUDIT_MAX_COLUMNS"),
        (b"[" * 10**5 + b"]" * 10**5, "KLAUDIT_MAX_DEPTH"),
        (b'{"a":' * 10**5 + b"1" + b"}" * 10**5, "KLAUDIT_MAX_DEPTH"),
        (b'{"gpu": "T4", "gflops": 1}\n' + b'{"a":[' * 10**5, "KLAUDIT_MAX_DEPTH"),
        (b'[{"gpu": "T4", "gflops": ' + b"[" * 200 + b"]" * 200 + b"}]", "KLAUDIT_MAX_DEPTH"),
    ],
    ids=["columns", "keys", "arrays", "objects", "lines", "inside"],
)
def test_too_wide_and_too_deep(tmp_path: Path, content: bytes, limit: str) -> None:
    """A million columns and a hundred thousand levels are refused by the name of their limit."""
    file = tmp_path / "file"
    file.write_bytes(content)
    refused(bounded("check", file, seconds=20), limit)


# How far a line without an end gets depends on how well the machine's zlib packs it.
@pytest.mark.parametrize(
    ("row", "limit"), [(b"a,T4,1\n", "KLAUDIT_MAX_EXPANSION"), (b"a", "KLAUDIT_MAX_")], ids=["rows", "line"]
)
def test_a_bomb(tmp_path: Path, row: bytes, limit: str) -> None:
    """A few megabytes that would be ten gigabytes stop soon."""
    part = gzip.compress((b"entry,gpu,gflops\n" if row.endswith(b"\n") else b"") + row * (2**26 // len(row)))
    file = tmp_path / "bomb.gz"
    file.write_bytes(part * 150)
    refused(bounded("check", file, *BOARD, seconds=90), limit)


def test_anchors(tmp_path: Path) -> None:
    """A spec of anchors within anchors is refused before anything is expanded."""
    folder = tmp_path / "gpus"
    folder.mkdir()
    laughs = "\n".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30))
    (folder / "laughs.yaml").write_text(f"a0: &a0 [x]\n{laughs}\n")
    refused(bounded("check", write_board(tmp_path), "--specs", tmp_path, seconds=20), "anchors")


def test_a_pipe_that_nobody_writes_to(tmp_path: Path) -> None:
    """The wait for a pipe's first byte ends."""
    os.mkfifo(tmp_path / "pipe")
    refused(bounded("check", tmp_path / "pipe", KLAUDIT_MAX_WAIT="1"), "KLAUDIT_MAX_WAIT", "nothing came out of it")


def test_a_pipe(pipe: Callable[[bytes, bytes], Path], tmp_path: Path) -> None:
    """A pipe that somebody writes to is read like a file."""
    path = tmp_path / "rows"
    os.mkfifo(path)
    with subprocess.Popen(["sh", "-c", f"sleep 0.2; cat '{write_board(tmp_path)}' > '{path}'"]):
        assert klaudit("check", path, *BOARD).returncode == 1


def test_directories_sockets_and_devices(tmp_path: Path) -> None:
    """What is no file says what it is."""
    refused(bounded("check", tmp_path), "is a folder without leaderboards")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        refused(bounded("check", tmp_path / "socket"), "cannot be opened")
    refused(bounded("check", "/dev/zero"), "is not text: byte 0 is zero")
    refused(bounded("check", os.devnull), "is empty")


def test_a_file_that_grows(tmp_path: Path) -> None:
    """A file that changes while it is read is refused: nobody could repeat what the report says."""
    file = tmp_path / "rows.csv"
    file.write_text("entry,gpu,gflops\n" + "a,T4,1\n" * 20_000)
    batches = read(file, ReadOptions(batch_rows=10))
    next(batches)
    with file.open("a") as more:
        more.write("b,T4,2\n")
    with pytest.raises(InputError, match=r"changed while it was read\. Copy it"):
        list(batches)


def test_a_file_cut_while_it_is_read(tmp_path: Path) -> None:
    """So is one that shrinks."""
    file = tmp_path / "rows.csv"
    file.write_text("entry,gpu,gflops\n" + "a,T4,1\n" * 50_000)
    batches = read(file, ReadOptions(batch_rows=10))
    next(batches)
    os.truncate(file, 100)
    with pytest.raises(InputError, match="changed while it was read"):
        list(batches)


@pytest.mark.parametrize("end", [-1, -9, 20])
def test_compressed_files_cut_short(tmp_path: Path, end: int) -> None:
    """A compressed file that ends early is an error, not a short table; so is one that is damaged."""
    packed = gzip.compress(b"entry,gpu,gflops\n" + b"".join(b"e%d,T4,%d\n" % (i, i) for i in range(9999)))
    file = tmp_path / "rows.csv.gz"
    file.write_bytes(packed[:end])
    with pytest.raises(InputError, match="gzip data"):
        list(read(file))
    file.write_bytes(packed[:200] + b"\0" * 50 + packed[250:])
    with pytest.raises(InputError, match=r"gzip data|is not"):
        list(read(file))


def test_limits_are_the_users() -> None:
    """Each limit has a variable; one that is no number is the user's mistake."""
    assert Limits.from_environment({"KLAUDIT_MAX_DEPTH": "7", "KLAUDIT_MAX_LINE": "2 KiB"}) == Limits(
        depth=7, line=2048
    )
    for text in ("many", "0", "-1", "12 s"):
        with pytest.raises(UsageError, match="KLAUDIT_MAX_LINE="):
            Limits.from_environment({"KLAUDIT_MAX_LINE": text})


def wait_for(what: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.005)


def size_of(path: Path) -> int:
    """Its bytes; none where it has gone again."""
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_size
    return 0


@pytest.mark.parametrize("while_writing", [False, True])
def test_ctrl_c(tmp_path: Path, while_writing: bool) -> None:
    """An interrupted run exits with 130 and leaves neither a report nor a part of one."""
    out = tmp_path / "out"
    out.mkdir()
    command = [
        sys.executable,
        "-m",
        "klaudit",
        "audit",
        "-",
        *BOARD,
        "--format",
        "json",
        "-o",
        str(out / "report.json"),
    ]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=environment(),
        text=True,
        # A job in the background of a shell ignores the signal, and its children would too.
        preexec_fn=functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    ) as run:
        assert run.stdin is not None
        run.stdin.write("entry,gpu,mean_gflops\n" + "forged,T4,1500\n" * 30_000)
        run.stdin.flush()
        if while_writing:
            run.stdin.close()
            wait_for(lambda: any(size_of(part) for part in out.iterdir()))
        else:
            time.sleep(1.5)
        run.send_signal(signal.SIGINT)
        if not while_writing:
            run.stdin.close()
        assert run.stderr is not None
        # Where the signal comes while a module is made, Python dies of it in the end: a shell says 130 of both.
        assert run.wait(30) in (130, -signal.SIGINT)
        assert run.stderr.read().strip() == "klaudit: interrupted; nothing was written"
    assert not list(out.iterdir())


# -- fuzz: whatever the bytes, rows or a sentence ---------------------------------------------------------------------

CONTENTS = [sample.path.read_bytes() for sample in SAMPLES] + [sample.broken.read_bytes() for sample in SAMPLES]


@st.composite
def spoiled(draw: st.DrawFn) -> bytes:
    """A sample with some pieces cut out, doubled or overwritten."""
    content = draw(st.sampled_from(CONTENTS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, max(len(content) - 1, 0)))
        stop = start + draw(st.integers(0, 60))
        piece = draw(st.one_of(st.binary(max_size=12), st.just(content[start:stop] * 2), st.sampled_from(PIECES)))
        content = content[:start] + piece + content[stop:]
    return content


PIECES = [
    b"null",
    b"[]",
    b"{}",
    b'"',
    b"-1",
    b"1e999",
    b"NaN",
    b"\n",
    b",",
    b"\\ud800",
    b"[[[[",
    b'"x":',
    b"\xff",
    b"'",
]
FORCED = [None, *sorted(set(READERS) - {"parquet"})]


def read_bytes(content: bytes, input_format: str | None, limits: Limits | None = None) -> list[Leaderboard]:
    """The batches of a file that holds these bytes, each of one length throughout; none where that is the user's."""
    options = ReadOptions(input_format=input_format, batch_rows=3, limits=limits or Limits())
    boards = []
    with contextlib.suppress(KlauditError):
        source = Source("fuzz", io.BytesIO(content), options.limits)
        for board in importlib.import_module(READERS[_format_of(source, options)]).read(source, options):
            assert len(board) > 0
            assert all(len(f.value) == len(board) for f in board.figures)
            assert all(0 <= t.row < len(board) for t in board.troubles)
            boards.append(board)
    return boards


@settings(max_examples=300, deadline=None)
@given(st.one_of(spoiled(), st.binary(max_size=300)), st.sampled_from(FORCED))
def test_no_bytes_are_a_bug(content: bytes, input_format: str | None) -> None:
    """Whatever a file holds, and whatever format it is taken for, reading it ends in rows or a user's error."""
    read_bytes(content, input_format)


def test_the_corpus_of_the_fuzzer() -> None:
    """What atheris found worth keeping stays read without a bug; the first byte names the format."""
    formats = (None, *sorted(READERS))
    files = sorted((ROOT / "fuzz" / "corpus").iterdir())
    assert files
    for file in files:
        content = file.read_bytes()
        forced = formats[content[0] % len(formats)]
        if forced != "parquet":
            read_bytes(content[1:], forced, Limits(line=4096, cell=1024, columns=200, document=8192, depth=20))


scalars = st.one_of(st.none(), st.booleans(), st.integers(-9, 10**20), st.floats(), st.text(max_size=8))
lists = st.lists(scalars, max_size=3)
anything = scalars | lists | st.dictionaries(st.text(max_size=6), scalars | lists, max_size=3)
KEYS = ("username", "gpuType", "gflops", "runtime", "submission_score", "user_name", "benchmarkResults", "runs", "name")
members = st.dictionaries(st.sampled_from(KEYS), anything, max_size=6)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(members | anything, min_size=1, max_size=8),
    st.sampled_from(["tensara", "kernelbot", "traces"]),
    st.booleans(),
)
def test_every_json_record_is_carried(records: list[object], input_format: str, as_lines: bool) -> None:
    """At least one row comes out for each record that goes in, in order, and each row's number is its own."""
    text = "\n".join(map(json.dumps, records)) if as_lines else json.dumps(records)
    if as_lines and isinstance(records[0], list):
        return  # a file that starts with a bracket is one array
    module = READERS[input_format]
    source = Source("fuzz", io.BytesIO(text.encode("utf-8", "surrogatepass")))
    boards = list(importlib.import_module(module).read(source, ReadOptions(batch_rows=3)))
    numbers = [int(n) for b in boards for n in b.lines]
    assert numbers == sorted(numbers)
    assert len(numbers) >= len(records)


def test_the_samples_are_there() -> None:
    """The fuzz starts from every format."""
    assert len(CONTENTS) == 2 * len(SAMPLES)
    assert FOLDER.is_dir()
