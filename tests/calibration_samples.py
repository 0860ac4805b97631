"""Calibrations without a card: one from measurements recorded earlier, by another program."""

from __future__ import annotations

import csv
from pathlib import Path

from klaudit.calibrate.record import CachePoint, Calibration, Check, Device, Launch, Point, Rate, Sample

CEILINGS = Path(__file__).resolve().parent / "data" / "h200" / "ceilings.csv"
H200 = Device(
    "NVIDIA H200", "9.0", 132, 1.98e9, 3.201e9, 6016, 60 << 20, 150_121_545_728, "580.159.03", "13.0", "13.0",
    "cupy 14.2.0",
)  # fmt: skip
_KERNELS = {"rd": "read", "wr": "write", "copy": "copy", "triad": "triad"}
_METHODS = {"cold-read": "cold", "warm": "warm", "batched-20": "batched"}


def recorded() -> Calibration:
    """The ceilings of an H200 as a calibration."""
    points: list[Point] = []
    cache: list[CachePoint] = []
    rates: list[Rate] = []
    launches: list[Launch] = []
    with CEILINGS.open(newline="") as file:
        for row in csv.DictReader(file):
            median, least, most = (float(row[f"{name}_us"]) * 1e-6 for name in ("median", "min", "max"))
            sample = Sample(median, least, most, (most - least) / 2, 15)
            if row["what"] in _KERNELS and row["harness"] in _METHODS:
                method = _METHODS[row["harness"]]
                launched = 20 if method == "batched" else 1
                points.append(
                    Point(_KERNELS[row["what"]], method, int(row["n"]), sample, launched, "528 x 1024, 4 at a time")
                )
            elif row["what"] == "l2_read_loop" and int(row["bytes"]) >= 16 << 20:
                cache.append(CachePoint(int(row["bytes"]), 64 * int(row["bytes"]), sample, False))
            elif row["what"] == "fma_f32":
                rates.append(Rate("float32", float(row["rate_median"]) * 1e9 * median, sample, 1.86e9))
            elif row["what"] == "lg2_approx":
                rates.append(Rate("lg2", float(row["rate_median"]) * 1e9 * median, sample, 1.965e9))
            elif row["what"] == "empty" and row["harness"] == "single-cold":
                launches.append(Launch("event pair, queued behind work", sample))
    return Calibration(
        version="0.1.0",
        date="2026-11-30",
        command="klaudit calibrate",
        seconds=31.0,
        quick=False,
        device=H200,
        points=tuple(points),
        cache=tuple(cache),
        rates=tuple(rates),
        launches=tuple(launches),
        checks=(Check("outputs of read", True, "right after each of 72 series, poisoned before"),),
        step=32e-9,
    )
