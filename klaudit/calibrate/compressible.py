"""Memory that the hardware compresses, asked for from the CUDA driver, and what fills, reads and copies of it reach.

CuPy has no call for such memory, so the driver's library is called directly, for this alone.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from klaudit.calibrate.device import library
from klaudit.calibrate.kernels import VECTOR, WIDTHS, Geometry
from klaudit.calibrate.record import ELEMENT, Check, Point, Sample
from klaudit.calibrate.sweep import Bench, Plan

_SIZE: Final = 1 << 30
_SUPPORTED: Final = 107  # CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED
_PINNED, _ON_DEVICE, _GENERIC, _READ_WRITE = 1, 1, 1, 3
_CONSTANT: Final = 0x40490FDB
_POISON: Final = 0xFFFFFFFF
_CASES: Final = (
    ("constant", "write"), ("constant", "read"), ("constant", "copy"), ("random", "read"), ("random", "copy"),
)  # fmt: skip


class _Properties(ctypes.Structure):
    """CUmemAllocationProp."""

    _fields_ = (
        ("type", ctypes.c_int), ("handle_types", ctypes.c_int), ("location_type", ctypes.c_int),
        ("location_id", ctypes.c_int), ("win32", ctypes.c_void_p), ("compression", ctypes.c_ubyte),
        ("rdma", ctypes.c_ubyte), ("usage", ctypes.c_ushort), ("reserved", ctypes.c_ubyte * 4),
    )  # fmt: skip


class _Access(ctypes.Structure):
    """CUmemAccessDesc."""

    _fields_ = (("location_type", ctypes.c_int), ("location_id", ctypes.c_int), ("flags", ctypes.c_int))


class Refused(Exception):
    """The driver does not give such memory, and why."""


def _driver() -> Any:
    driver = library("libcuda.so.1", "nvcuda.dll")
    if driver is None:
        raise Refused("the CUDA driver's library is not found")
    return driver


def _call(driver: Any, name: str, *arguments: Any) -> None:
    status = getattr(driver, name)(*arguments)
    if status:
        raise Refused(f"{name} gives error {status}")


def _properties(driver: Any, number: int) -> _Properties:
    device, supported = ctypes.c_int(), ctypes.c_int()
    _call(driver, "cuDeviceGet", ctypes.byref(device), ctypes.c_int(number))
    _call(driver, "cuDeviceGetAttribute", ctypes.byref(supported), ctypes.c_int(_SUPPORTED), device)
    if not supported.value:
        raise Refused("the card does not compress memory, or its driver does not say that it does")
    properties = _Properties()
    properties.type, properties.location_type, properties.location_id = _PINNED, _ON_DEVICE, device.value
    properties.compression = _GENERIC
    return properties


@contextmanager
def compressible_memory(number: int, size: int) -> Iterator[int]:
    """The address of `size` bytes of compressible memory on the card of that number.

    Raises
    ------
    Refused
        When the card or its driver does not give any.
    """
    driver = _driver()
    properties = _properties(driver, number)
    step = ctypes.c_size_t()
    _call(driver, "cuMemGetAllocationGranularity", ctypes.byref(step), ctypes.byref(properties), ctypes.c_int(1))
    whole = ctypes.c_size_t(-(-size // step.value) * step.value)
    handle, address = ctypes.c_ulonglong(), ctypes.c_ulonglong()
    _call(driver, "cuMemCreate", ctypes.byref(handle), whole, ctypes.byref(properties), ctypes.c_ulonglong(0))
    try:
        granted = _Properties()
        _call(driver, "cuMemGetAllocationPropertiesFromHandle", ctypes.byref(granted), handle)
        if granted.compression != _GENERIC:
            raise Refused("the driver gives ordinary memory instead")
        _call(
            driver, "cuMemAddressReserve", ctypes.byref(address), whole, ctypes.c_size_t(0), ctypes.c_ulonglong(0),
            ctypes.c_ulonglong(0),
        )  # fmt: skip
        try:
            _call(driver, "cuMemMap", address, whole, ctypes.c_size_t(0), handle, ctypes.c_ulonglong(0))
            access = _Access(_ON_DEVICE, properties.location_id, _READ_WRITE)
            _call(driver, "cuMemSetAccess", address, whole, ctypes.byref(access), ctypes.c_size_t(1))
            try:
                yield address.value
            finally:
                _call(driver, "cuCtxSynchronize")
                _call(driver, "cuMemUnmap", address, whole)
        finally:
            _call(driver, "cuMemAddressFree", address, whole)
    finally:
        _call(driver, "cuMemRelease", handle)


def compressible_points(bench: Bench, plan: Plan, say: Callable[[str], None]) -> Iterator[tuple[Point, Check]]:
    """Fills, reads and copies of constant and of random data in compressible memory, cold.

    Raises
    ------
    Refused
        When the card or its driver gives no such memory.
    """
    elements = min(_SIZE, plan.most // 4) // ELEMENT
    with compressible_memory(bench.card.number, 2 * elements * ELEMENT) as address:
        for data, kernel in _CASES:
            case = _Case(bench, kernel, data, elements, address)
            case.prepare()
            bench.watch.series(case.launch, 3, bench.flush)
            times = bench.watch.steady(
                lambda runs, launch=case.launch: bench.watch.series(launch, runs, bench.flush),  # type: ignore[misc]
                plan.least_runs, plan.most_runs, plan.budget,
            )  # fmt: skip
            memory = f"compressible, {data} data"
            point = Point(kernel, "cold", elements, Sample.of(times), 1, str(case.geometry), memory)
            passed = case.is_right()
            detail = "compared word for word" if passed else "wrong words"
            say(point.label)
            yield point, Check(f"outputs of {point.label}", passed, detail)


class _Case:
    """One kernel over one kind of data in two arrays at an address."""

    def __init__(self, bench: Bench, kernel: str, data: str, elements: int, address: int) -> None:
        self.bench = bench
        self.kernel = kernel
        self.data = data
        self.geometry = Geometry(bench.card.describes.processors * 16, 1024, WIDTHS[-1])
        self._source, self._target = np.uint64(address), np.uint64(address + elements * ELEMENT)
        self._count = np.uint64(elements)
        self._vectors = np.uint64(elements * ELEMENT // VECTOR)
        self._partials = np.uint64(bench.partials.address)
        self._launches = {name: bench.kernel(f"{name}_{WIDTHS[-1]}") for name in ("read", "copy")}
        self._launches["write"] = bench.kernel("fill_words")

    def prepare(self) -> None:
        """Put the data into the first array, and poison into what the kernel writes."""
        self._fill(_CONSTANT) if self.data == "constant" else self._scatter()
        self.bench.card.fill_bytes(int(self._target), 0xFF, int(self._count) * ELEMENT)
        if self.kernel == "write":
            self._fill(_POISON)

    def _fill(self, word: int) -> None:
        self.bench.kernel("fill_words")((4096,), (256,), (self._source, self._count, np.uint32(word)))

    def _scatter(self) -> None:
        self.bench.kernel("scatter_numbers")((4096,), (256,), (self._source, self._count, np.uint64(7)))

    def launch(self) -> None:
        """Run the kernel once."""
        blocks, threads = (self.geometry.blocks,), (self.geometry.threads,)
        arguments: dict[str, tuple[Any, ...]] = {
            "read": (self._source, self._vectors, self._partials),
            "copy": (self._source, self._target, self._vectors),
            "write": (self._source, self._count, np.uint32(_CONSTANT)),
        }
        self._launches[self.kernel](blocks, threads, arguments[self.kernel])

    def is_right(self) -> bool:
        """Whether the last run left what it had to."""
        wrong = np.uint64(self.bench.wrong.address)
        self.bench.card.fill_bytes(self.bench.wrong.address, 0, 4)
        if self.kernel == "copy":
            self.bench.kernel("wrong_copies")((4096,), (256,), (self._source, self._target, self._count, wrong))
        else:
            self.bench.kernel("sum_words")((4096,), (256,), (self._source, self._count, wrong))
        word = np.empty(1, dtype=np.uint32)
        self.bench.card.fetch(self.bench.wrong.address, word)
        partial = np.empty(self.geometry.blocks, dtype=np.uint32)
        self.bench.card.fetch(self.bench.partials.address, partial)
        expected = {
            "copy": 0,
            "write": _CONSTANT * int(self._count) % 2**32,
            "read": int(partial.sum(dtype=np.uint64)) % 2**32,
        }
        return int(word[0]) == expected[self.kernel]
