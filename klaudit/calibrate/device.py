"""The one place that touches CuPy: a card's memory, kernels, stream, events and graphs, and what its driver says."""

from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from klaudit.calibrate.record import Device
from klaudit.errors import UsageError

_INSTALL: Final = (
    "klaudit calibrate needs CuPy, which is not installed. Expected: CuPy and an NVIDIA card."
    " Install klaudit[gpu] (cupy-cuda13x, for drivers from 580 on) or klaudit[gpu-cuda12] (cupy-cuda12x)"
)
_COMPILER: Final = "Expected CUDA's NVRTC beside CuPy: install klaudit[gpu], which brings it, or a CUDA toolkit"
_NO_DEVICE: Final = "no CUDA device was found ({reason}). Run klaudit calibrate on a machine with an NVIDIA card"
_TO_HOST: Final = 2


def open_card(index: int = 0) -> Card:
    """The card of that number, ready to use.

    Raises
    ------
    UsageError
        When CuPy is missing, there is no CUDA device, or none of that number.
    """
    try:
        cupy = importlib.import_module("cupy")
    except ImportError as error:
        if error.name is not None and error.name.split(".")[0] == "cupy" and "cannot" not in str(error):
            raise UsageError(_INSTALL) from None
        raise UsageError(f"CuPy is installed but does not load: {error}. {_INSTALL.split('. ')[2]}") from None
    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except Exception as error:  # CuPy's own kinds of error cannot be named without importing it
        raise UsageError(_NO_DEVICE.format(reason=str(error).splitlines()[0])) from None
    if count == 0:
        raise UsageError(_NO_DEVICE.format(reason="the driver lists none"))
    if not 0 <= index < count:
        raise UsageError(f"there is no CUDA device {index}; this machine has {count}, numbered from 0")
    return Card(cupy, index)


class Buffer:
    """Plain device memory; freed with the object."""

    def __init__(self, memory: Any, size: int) -> None:
        self._memory = memory
        self.address = int(memory.ptr)
        self.size = size


class Card:
    """One card: everything runs on one stream of its own, and events are recorded on that stream."""

    def __init__(self, cupy: Any, index: int) -> None:
        self._cupy = cupy
        self._runtime = cupy.cuda.runtime
        self._index = index
        cupy.cuda.Device(index).use()
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self.stream.use()
        self._other: Any = None
        self.describes = self._describe()

    def _attribute(self, name: str, default: int = 0) -> int:
        attributes = self._cupy.cuda.Device(self._index).attributes
        return int(attributes.get(name, default))

    def _describe(self) -> Device:
        properties = self._runtime.getDeviceProperties(self._index)
        name = properties["name"]
        return Device(
            name=name.decode() if isinstance(name, bytes) else str(name),
            capability=f"{properties['major']}.{properties['minor']}",
            processors=int(properties["multiProcessorCount"]),
            clock=self._attribute("ClockRate") * 1e3,
            memory_clock=self._attribute("MemoryClockRate") * 1e3,
            bus_width=self._attribute("GlobalMemoryBusWidth"),
            cache=self._attribute("L2CacheSize"),
            memory=int(properties["totalGlobalMem"]),
            driver=driver_version(),
            cuda=_cuda_version(self._runtime.driverGetVersion()),
            runtime=_cuda_version(self._runtime.runtimeGetVersion()),
            library=f"cupy {self._cupy.__version__}",
        )

    def allocate(self, size: int) -> Buffer:
        """`size` bytes of ordinary memory."""
        try:
            return Buffer(self._cupy.cuda.Memory(size), size)
        except Exception as error:  # CuPy's own kinds of error cannot be named without importing it
            raise UsageError(
                f"the card does not give {size / 2**30:.2f} GiB of memory ({str(error).splitlines()[0]})."
                " Expected an idle card: end what else runs on it"
            ) from None

    def compile(self, source: str) -> Callable[[str], Any]:
        """A function that gives the kernel of a name in CUDA C `source`."""
        module = self._cupy.RawModule(code=source, options=("--std=c++14",), backend="nvrtc")
        try:
            module.compile()
        except Exception as error:  # CuPy's own kinds of error cannot be named without importing it
            if type(error).__name__ == "CompileException":
                raise
            reason = str(error).splitlines()[0]
            raise UsageError(f"CuPy cannot compile kernels: {reason}. {_COMPILER}") from None
        # Looked up once: the lookup would be in the time of what the host launches.
        return functools.cache(lambda name: module.get_function(name))

    def event(self) -> Any:
        """A new event."""
        return self._cupy.cuda.Event()

    def record(self, event: Any) -> None:
        """Record `event` on the stream on which everything runs."""
        event.record(self.stream)

    def elapsed(self, start: Any, stop: Any) -> float:
        """Time between two events [s]."""
        return float(self._cupy.cuda.get_elapsed_time(start, stop)) * 1e-3

    def synchronise(self) -> None:
        """Wait for the stream."""
        self.stream.synchronize()

    def fill_bytes(self, address: int, value: int, size: int) -> None:
        """Set `size` bytes, in the stream's order."""
        self._runtime.memsetAsync(address, value, size, self.stream.ptr)

    def fetch(self, address: int, array: Any) -> None:
        """Copy device memory into a numpy array, after everything on the stream has run."""
        self.synchronise()
        self._runtime.memcpy(array.ctypes.data, address, array.nbytes, _TO_HOST)

    def capture(self, launches: Callable[[], None]) -> Callable[[], None]:
        """A function that replays as one graph what `launches` puts on the stream."""
        self.synchronise()
        self.stream.begin_capture()
        try:
            launches()
        finally:
            graph = self.stream.end_capture()
        return lambda: graph.launch(self.stream)

    @contextmanager
    def other_stream(self) -> Iterator[None]:
        """Launch on a stream that the events know nothing of: what a broken harness does."""
        if self._other is None:
            self._other = self._cupy.cuda.Stream(non_blocking=True)
        self._other.use()
        try:
            yield
        finally:
            self.stream.use()

    def wait_for_all(self) -> None:
        """Wait for every stream of the card."""
        self._runtime.deviceSynchronize()

    @property
    def number(self) -> int:
        """The card's number among the machine's."""
        return self._index


def _cuda_version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def driver_version() -> str:
    """The driver's own version, such as "580.159.04", by NVML; "" where it cannot be asked."""
    nvml = library("libnvidia-ml.so.1", "nvml.dll")
    if nvml is None or nvml.nvmlInit_v2():
        return ""
    text = ctypes.create_string_buffer(96)
    status = nvml.nvmlSystemGetDriverVersion(text, ctypes.c_uint(len(text)))
    nvml.nvmlShutdown()
    return "" if status else text.value.decode("ascii", "replace")


def library(*names: str) -> Any:
    """The first of the shared libraries that this system has, or None."""
    for name in names:
        with suppress(OSError):
            return ctypes.CDLL(name)
    return None
