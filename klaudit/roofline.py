"""The physics: one pure function per equation. Arrays in, arrays out; no cards, no files, no judgement.

All times are floors: the least seconds that a fact of the hardware allows. Sources are the roofline model
(Williams, Waterman, Patterson: "Roofline: an insightful visual performance model for multicore architectures",
Communications of the ACM 52(4), 2009) and the extensions named at each function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Column = NDArray[np.float64]


def dram_floor(traffic: ArrayLike, bandwidth: float) -> Column:
    """Time to move the traffic through DRAM.

    Parameters
    ----------
    traffic : array_like
        Bytes that reach DRAM [B], any shape.
    bandwidth : float
        Largest credible DRAM bandwidth [B/s].

    Returns
    -------
    ndarray
        ``traffic / bandwidth`` [s], shape of `traffic`.

    Examples
    --------
    Kullback-Leibler divergence of 2**26 float32 elements on 3352.32 GB/s: 805 306 368 B, 240.2 us.

    >>> round(float(dram_floor(3 * 4 * 2**26, 3352.32e9)) * 1e6, 1)
    240.2
    """
    return np.asarray(traffic, dtype=np.float64) / bandwidth


def compute_floor(flops: ArrayLike, peak: float) -> Column:
    """Time to do the operations at a dense peak.

    Parameters
    ----------
    flops : array_like
        Operations [FLOP], any shape.
    peak : float
        Dense peak rate [FLOP/s].

    Returns
    -------
    ndarray
        ``flops / peak`` [s], shape of `flops`.

    Examples
    --------
    >>> float(compute_floor(134e12, 67e12))
    2.0
    """
    return np.asarray(flops, dtype=np.float64) / peak


def port_floor(one_way: ArrayLike, port_bandwidth: float) -> Column:
    """Time for the larger of reads and writes to pass between the processors and the cache.

    Each processor takes so many bytes a clock from the cache, and gives as many: data that never touch DRAM
    pass here all the same.

    Parameters
    ----------
    one_way : array_like
        The larger of bytes read and bytes written [B], any shape.
    port_bandwidth : float
        Processors x bytes per clock x clock [B/s].

    Returns
    -------
    ndarray
        ``one_way / port_bandwidth`` [s], shape of `one_way`.

    Examples
    --------
    132 processors x 64 B x 1.98 GHz = 16.727 TB/s: 8 MiB take half a microsecond.

    >>> round(float(port_floor(2**23, 132 * 64 * 1.98e9)) * 1e6, 3)
    0.501
    """
    return np.asarray(one_way, dtype=np.float64) / port_bandwidth


def special_floor(count: ArrayLike, rate: float) -> Column:
    """Time for logarithms and exponentials if all of them run on the special-function units.

    Shown, never judged: they can run on the FMA pipes as polynomials (FlashAttention-4 does so).

    Parameters
    ----------
    count : array_like
        Special-function results, any shape.
    rate : float
        Results a second.

    Examples
    --------
    >>> float(special_floor(4e12, 4e12))
    1.0
    """
    return np.asarray(count, dtype=np.float64) / rate


def cached_bytes(
    reads: ArrayLike, writes: ArrayLike, cache: float, *, write_back: bool, inputs_resident: bool
) -> Column:
    """The most bytes that need not reach DRAM.

    The last writes may still be in the cache when the clock stops, the inputs may be there when it starts: up to one
    cache of each. Continuous in the size: there is no line between "fits" and "does not fit".

    Parameters
    ----------
    reads, writes : array_like
        Compulsory bytes [B], any shape.
    cache : float
        Capacity of what outlives a kernel [B].
    write_back, inputs_resident : bool
        Which of the two is granted.

    Returns
    -------
    ndarray
        ``min(writes, cache)`` and ``min(reads, cache)`` [B], those granted, added.

    Examples
    --------
    >>> float(cached_bytes(100, 30, 50, write_back=True, inputs_resident=True))
    80.0
    """
    zero = np.zeros(np.broadcast_shapes(np.shape(reads), np.shape(writes)))
    kept = np.minimum(writes, cache) if write_back else zero
    resident = np.minimum(reads, cache) if inputs_resident else zero
    return np.asarray(kept + resident, dtype=np.float64)


def arithmetic_intensity(flops: ArrayLike, traffic: ArrayLike) -> Column:
    """Operations per byte [FLOP/B].

    Examples
    --------
    >>> round(float(arithmetic_intensity(7, 12)), 4)
    0.5833
    """
    return np.asarray(flops, dtype=np.float64) / np.asarray(traffic, dtype=np.float64)


def ridge_point(peak: float, bandwidth: float) -> float:
    """The intensity at which the dram and the compute roof meet [FLOP/B].

    Examples
    --------
    >>> ridge_point(67e12, 3.35e12)
    20.0
    """
    return peak / bandwidth


def attainable_rate(intensity: ArrayLike, bandwidth: float, peak: float) -> Column:
    """The classic roofline: the lower of memory and compute ceiling.

    Parameters
    ----------
    intensity : array_like
        Arithmetic intensity [FLOP/B], any shape.
    bandwidth : float
        DRAM bandwidth [B/s].
    peak : float
        Dense peak rate [FLOP/s].

    Returns
    -------
    ndarray
        ``min(peak, intensity * bandwidth)`` [FLOP/s], shape of `intensity`.

    Examples
    --------
    A T4 at 7 operations per 12 bytes: 186.7 GFLOP/s.

    >>> round(float(attainable_rate(7 / 12, 320.064e9, 8.1e12)) / 1e9, 1)
    186.7
    """
    return np.minimum(peak, np.asarray(intensity, dtype=np.float64) * bandwidth)
