"""Made-up leaderboards of any length for the KL board of 2025: honest rows, and one in a hundred above the roof.

    python benchmarks/tables.py 10000000 FOLDER

Writes FOLDER/board.csv, FOLDER/one.csv (the same rows with one figure that is judged), of few rows FOLDER/quoted.csv
(every text in quotes) and, where pyarrow is there, FOLDER/board.parquet and FOLDER/one.parquet.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import klaudit
from klaudit.floors import floors, work_of

HEADER = ("rank", "user", "gpu", "gflops", "runtime_ms", "language", "submitted_at")
# A median is never judged.
ONE_FIGURE = tuple(name.replace("runtime_ms", "p50_ms") for name in HEADER)
BOARD = "tensara-kl-2025"
ABOVE = 0.01
MOST_QUOTED = 2_000_000
_CHUNK = 500_000


def chunks(rows: int) -> Iterator[dict[str, NDArray[np.generic]]]:
    """The table, column by column, some rows at a time."""
    catalog = klaudit.load_catalog()
    board = catalog.board(BOARD)
    workload = catalog.workload(board.workload or "")
    sizes = {name: np.array([[c.sizes[name]] for c in board.cases]) for name in workload.sizes}
    work = work_of(workload, sizes, board.dtype or "")
    labels = [label.label for label in board.gpu_labels if all(name in catalog.gpu_ids for name in label.means)]
    cards = {label.label: min(map(catalog.gpu, label.means), key=lambda c: c.bandwidth) for label in board.gpu_labels
             if label.label in labels}  # fmt: skip
    floor = np.stack([floors(cards[label], work).roof[:, 0] for label in labels])
    random = np.random.default_rng(7)
    for start in range(0, rows, _CHUNK):
        count = min(_CHUNK, rows - start)
        gpu = random.integers(0, len(labels), count)
        # A kernel reaches a share of its roof, larger cases a little more of it than small ones.
        share = random.uniform(0.1, 0.93, (count, 1)) * random.uniform(0.9, 1.0, (count, len(board.cases)))
        above = random.random(count) < ABOVE
        share[above] = random.uniform(1.02, 8.0, (int(above.sum()), 1))
        times = floor[gpu] / share
        rate = (work.flops[:, 0] / times).mean(axis=1)
        yield {
            "rank": np.arange(start + 1, start + count + 1),
            "user": np.char.add("user", random.integers(0, 100_000, count).astype(str)),
            "gpu": np.array(labels)[gpu],
            "gflops": np.round(rate / 1e9, 2),
            "runtime_ms": np.round(times.mean(axis=1) * 1e3, 4),
            "language": np.array(["cuda", "triton", "mojo"])[random.integers(0, 3, count)],
            "submitted_at": np.datetime64("2025-06-01T00:00:00") + random.integers(0, 180 * 86_400, count),
        }


def write(rows: int, folder: Path, quoted: bool = True) -> None:
    """Write the files."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {"board": HEADER, "one": ONE_FIGURE}
    parquet: dict[str, object] = dict.fromkeys(names)
    with ExitStack() as stack:
        plain = {stem: stack.enter_context((folder / f"{stem}.csv").open("w")) for stem in names}
        other = stack.enter_context((folder / "quoted.csv").open("w")) if quoted else None
        for stem, header in names.items():
            plain[stem].write(",".join(header) + "\n")
        if other is not None:
            other.write(",".join(f'"{name}"' for name in HEADER) + "\n")
        for chunk in chunks(rows):
            columns = [c.astype(str).tolist() for c in chunk.values()]
            text = "".join([f"{','.join(row)}\n" for row in zip(*columns, strict=True)])
            for stem, header in names.items():
                plain[stem].write(text)
                parquet[stem] = _add(parquet[stem], chunk, header, folder / f"{stem}.parquet")
            if other is not None:
                texts = [[f'"{t}"' for t in c] if n in ("user", "gpu", "language", "submitted_at") else c
                         for n, c in zip(HEADER, columns, strict=True)]  # fmt: skip
                other.writelines(f"{','.join(row)}\n" for row in zip(*texts, strict=True))
    for writer in parquet.values():
        if writer is not None:
            writer.close()


def _add(writer: object, chunk: dict[str, NDArray[np.generic]], header: Sequence[str], path: Path) -> object:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return None
    table = pa.table(dict(zip(header, map(pa.array, chunk.values()), strict=True)))
    writer = writer or pq.ParquetWriter(path, table.schema)
    writer.write_table(table)
    return writer


if __name__ == "__main__":
    ROWS = int(sys.argv[1])
    write(ROWS, Path(sys.argv[2]), quoted=ROWS <= MOST_QUOTED)
