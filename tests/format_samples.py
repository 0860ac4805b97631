"""The sample files of every input format: one as its program writes it, a broken twin, the same numbers as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import klaudit
from klaudit.audit import judge
from klaudit.catalog import Catalog
from klaudit.leaderboard import Leaderboard
from klaudit.readers import ReadOptions, read
from klaudit.report import RowReport
from klaudit.verdict import Policy, Verdict

FOLDER = Path(__file__).parent / "formats"


class Sample(NamedTuple):
    """A file, its format, its twin as CSV, and the command line's options for both."""

    file: str
    format_id: str
    plain: str
    verdicts: str
    board: str = ""
    workload: str = ""
    gpu: str = ""
    n: float | None = None

    @property
    def path(self) -> Path:
        """Where it is."""
        return FOLDER / self.file

    @property
    def broken(self) -> Path:
        """Where its broken twin is."""
        stem, _, suffix = self.file.rpartition(".")
        return FOLDER / f"{stem}.broken.{suffix}"


KL = "tensara-kl-2025"
ADD = "gpumode-vectoradd"
# The verdicts by their first letters: within, conditional, impossible, unjudged; x for inconsistent.
SAMPLES = (
    Sample("tensara_rows.json", "tensara", "tensara_rows.csv", "wciuwu", KL),
    Sample("tensara_submissions.json", "tensara", "tensara_submissions.csv", "wiu", KL),
    Sample("kernelbot_rows.json", "kernelbot", "kernelbot_rows.csv", "wciu", ADD),
    Sample("kernelbot_runs.json", "kernelbot", "kernelbot_runs.csv", "uwi", ADD),
    Sample("kernelbench.json", "kernelbench", "kernelbench.csv", "wiuui", workload="vector-add", n=268435456),
    Sample("traces.jsonl", "traces", "traces.csv", "wiuuu", workload="kl-divergence"),
    Sample("nvbench.json", "nvbench", "nvbench_json.csv", "wiu", workload="kl-divergence"),
    Sample("nvbench.csv", "nvbench", "nvbench_plain.csv", "wiu", workload="kl-divergence"),
    Sample("ncu.csv", "ncu", "ncu_plain.csv", "wiu", workload="kl-divergence", gpu="T4", n=2**24),
    Sample("pytest_benchmark.json", "pytest-benchmark", "pytest_benchmark.csv", "wi", workload="kl-divergence"),
    Sample("google_benchmark.json", "google-benchmark", "google_benchmark.csv", "wiuu", workload="kl-divergence"),
    Sample("rows.jsonl", "json", "rows.csv", "wiu", KL),
)
_LETTERS = {
    Verdict.WITHIN: "w",
    Verdict.CONDITIONAL: "c",
    Verdict.IMPOSSIBLE: "i",
    Verdict.INCONSISTENT: "x",
    Verdict.UNJUDGED: "u",
}


def catalog() -> Catalog:
    """The shipped catalogue."""
    return klaudit.load_catalog()


def options_of(sample: Sample, known: Catalog, **others: object) -> ReadOptions:
    """How the sample is read."""
    board = known.board(sample.board) if sample.board else None
    return ReadOptions(board=board, **others)  # type: ignore[arg-type]


def policy_of(sample: Sample) -> Policy:
    """How the sample is judged."""
    sizes = {} if sample.n is None else {"n": float(sample.n)}
    return Policy(workload=sample.workload, gpu=sample.gpu, sizes=sizes)


def boards_of(sample: Sample, path: Path, known: Catalog, **others: object) -> list[Leaderboard]:
    """The batches of a file that is read as the sample is."""
    return list(read(path, options_of(sample, known, **others)))


def reports_of(sample: Sample, path: Path, known: Catalog, **others: object) -> list[RowReport]:
    """Every row's report."""
    board = known.board(sample.board) if sample.board else None
    found = klaudit.audit.audit(
        read(path, options_of(sample, known, **others)), known, board, policy_of(sample), keep_rows=True
    )
    return list(found.rows())


def verdicts_of(sample: Sample, path: Path, known: Catalog, **others: object) -> str:
    """The verdicts of a file by their first letters."""
    board = known.board(sample.board) if sample.board else None
    judged = [judge(b, known, board, policy_of(sample)) for b in boards_of(sample, path, known, **others)]
    return "".join(_LETTERS[Verdict(int(v))] for j in judged for v in j.verdict)
