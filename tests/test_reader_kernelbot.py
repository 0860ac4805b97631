"""kernelbot: seconds as numbers or strings, and the best of a benchmark's runs."""

from __future__ import annotations

from pathlib import Path

from format_samples import SAMPLES, catalog, reports_of

from klaudit.readers import read


def test_seconds_keep_their_digits(tmp_path: Path) -> None:
    """A score is in seconds, and a string's zeros count as digits."""
    file = tmp_path / "rows.json"
    file.write_text('[{"submission_score": "0.0004120", "gpu_type": "H100"}, {"submission_score": 0.000412}]')
    (board,) = read(file)
    time = next(f for f in board.figures if not f.fastest)
    assert (time.low[0], time.high[0], time.low[1]) == (0.41195e-3, 0.41205e-3, 0.4115e-3)


def test_the_best_run_alone_can_be_impossible() -> None:
    """The mean is honest and the best run takes 2 us for 1.6 GB."""
    sample = next(s for s in SAMPLES if s.file == "kernelbot_runs.json")
    report = reports_of(sample, sample.path, catalog())[2]
    assert str(report.verdict) == "impossible"
    assert [(c.fastest, c.time) for c in report.cases] == [(True, 2.048e-6)]


def test_a_count_beyond_its_keys_is_no_count(tmp_path: Path) -> None:
    """A file that claims a billion benchmarks is not looped over."""
    file = tmp_path / "rows.json"
    file.write_text('{"benchmark-count": "999999999", "benchmark.0.mean": "5"}')
    (board,) = read(file)
    assert [t.message for t in board.troubles] == ["record 1: has the benchmark-count '999999999' and 1 other keys"]
