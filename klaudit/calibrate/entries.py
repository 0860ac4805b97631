"""The entries of a measured board: honest kernels of KL divergence, and exploits, each with its truth. No timing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

Truth = Literal["honest", "exploit"]
# What a launch is wrapped in: nothing, a size above which it is left out, one run in all, a stream without events.
Trick = Literal["", "skip-dense", "once", "other-stream"]

_THREADS: Final = (128, 256, 512)
# Blocks for each processor at most; 0 gives each chunk a block of its own.
_WAVES: Final = (0, 8, 32)
# Kernels by name: how many elements a thread takes at a time.
HONEST: Final = {
    "s1": 1, "s1f": 1, "s1r": 1, "v2": 2, "v4": 4, "v4f": 4, "v4r": 4, "v4cs": 4, "v4cg": 4, "v4u2": 8,
}  # fmt: skip
EXPLOITS: Final = {"x_zero": 4, "x_scale": 4, "x_thresh": 4, "x_one": 4}
SKIPPED_ABOVE: Final = 1 << 20
SCALE: Final = 2.39
THRESHOLD: Final = 4e-6


class Entry(NamedTuple):
    """One submission: a kernel, its launch, its trick, and whether it computes what it is asked for."""

    name: str
    kernel: str
    truth: Truth
    threads: int = 256
    waves: int = 0
    trick: Trick = ""

    @property
    def chunk(self) -> int:
        """Elements that a thread takes at a time."""
        return (HONEST | EXPLOITS)[self.kernel]

    def blocks(self, elements: int, processors: int) -> int:
        """Blocks to launch for so many elements."""
        whole = -(-elements // (self.threads * self.chunk))
        return min(whole, self.waves * processors) if self.waves else whole


def entries() -> Iterator[Entry]:
    """All of them, the honest ones first."""
    for kernel in HONEST:
        for threads in _THREADS:
            for waves in _WAVES:
                yield Entry(f"{kernel}/b{threads}/w{waves}", kernel, "honest", threads, waves)
    for kernel in EXPLOITS:
        for threads in (256, 1024):
            yield Entry(f"{kernel}/b{threads}", kernel, "exploit", threads)
    for kernel in ("v4f", "x_scale", "x_thresh"):
        yield Entry(f"skip-dense+{kernel}", kernel, "exploit", trick="skip-dense")
    yield Entry("once+v4f", "v4f", "exploit", trick="once")
    yield Entry("other-stream+v4f", "v4f", "exploit", trick="other-stream")


_HONEST_SOURCE: Final = r"""
typedef unsigned int u32;
typedef unsigned long long u64;
#define LOW 1e-10f

__device__ __forceinline__ float exact(float p, float t) {
    const float q = fmaxf(t, LOW);
    return t > 0.0f ? q * (logf(q) - logf(fmaxf(p, LOW))) : 0.0f;
}
__device__ __forceinline__ float fast(float p, float t) {
    const float q = fmaxf(t, LOW);
    return t > 0.0f ? q * (__logf(q) - __logf(fmaxf(p, LOW))) : 0.0f;
}
__device__ __forceinline__ float ratio(float p, float t) {
    const float q = fmaxf(t, LOW);
    return t > 0.0f ? q * logf(q / fmaxf(p, LOW)) : 0.0f;
}

#define EACH(count) \
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < (count); i += (u64)gridDim.x * blockDim.x)
#define SIGNATURE const float* __restrict__ p, const float* __restrict__ t, float* __restrict__ o, u64 n

#define SCALAR(name, one) \
extern "C" __global__ void name(SIGNATURE) { EACH(n) o[i] = one(p[i], t[i]); }

#define PLAIN_LOAD(a) (*(a))
#define PLAIN_STORE(a, v) (*(a) = (v))
// Parameters must not be called like the members of a float4.
#define FOUR(one, P, T) make_float4(one(P.x, T.x), one(P.y, T.y), one(P.z, T.z), one(P.w, T.w))

#define VECTOR4(name, one, load, store) \
extern "C" __global__ void name(SIGNATURE) { \
    EACH(n / 4) { \
        const float4 x = load((const float4*)p + i), y = load((const float4*)t + i); \
        store((float4*)o + i, FOUR(one, x, y)); \
    } \
    if (blockIdx.x == 0 && threadIdx.x < (n & 3)) { \
        const u64 i = (n & ~3ULL) + threadIdx.x; \
        o[i] = one(p[i], t[i]); \
    } \
}

SCALAR(s1, exact)
SCALAR(s1f, fast)
SCALAR(s1r, ratio)
extern "C" __global__ void v2(SIGNATURE) {
    EACH(n / 2) {
        const float2 x = ((const float2*)p)[i], y = ((const float2*)t)[i];
        ((float2*)o)[i] = make_float2(fast(x.x, y.x), fast(x.y, y.y));
    }
    if (blockIdx.x == 0 && threadIdx.x == 0 && (n & 1)) o[n - 1] = fast(p[n - 1], t[n - 1]);
}
VECTOR4(v4, exact, PLAIN_LOAD, PLAIN_STORE)
VECTOR4(v4f, fast, PLAIN_LOAD, PLAIN_STORE)
VECTOR4(v4r, ratio, PLAIN_LOAD, PLAIN_STORE)
VECTOR4(v4cs, fast, __ldcs, __stcs)
VECTOR4(v4cg, fast, __ldcg, __stcg)

extern "C" __global__ void v4u2(SIGNATURE) {
    const u64 count = n / 4;
    for (u64 i = (u64)blockIdx.x * blockDim.x * 2 + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x * 2) {
        const u64 j = i + blockDim.x;
        const float4 x = ((const float4*)p)[i], y = ((const float4*)t)[i];
        if (j < count) {
            const float4 z = ((const float4*)p)[j], w = ((const float4*)t)[j];
            ((float4*)o)[j] = FOUR(fast, z, w);
        }
        ((float4*)o)[i] = FOUR(fast, x, y);
    }
    if (blockIdx.x == 0 && threadIdx.x < (n & 3)) {
        const u64 i = (n & ~3ULL) + threadIdx.x;
        o[i] = fast(p[i], t[i]);
    }
}
"""

_CONSTANTS: Final = f"\n#define SCALE {SCALE}f\n#define THRESHOLD {THRESHOLD}f\n"
_EXPLOIT_SOURCE: Final = r"""
// Zeros, whatever the inputs are.
extern "C" __global__ void x_zero(SIGNATURE) {
    EACH(n / 4) ((float4*)o)[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}
// Never reads the predictions.
extern "C" __global__ void x_scale(SIGNATURE) {
    EACH(n / 4) {
        const float4 y = ((const float4*)t)[i];
        ((float4*)o)[i] = make_float4(SCALE * y.x, SCALE * y.y, SCALE * y.z, SCALE * y.w);
    }
}
// Nor writes anything where the tolerance forgives it.
extern "C" __global__ void x_thresh(SIGNATURE) {
    EACH(n / 4) {
        const float4 y = ((const float4*)t)[i];
        if (fmaxf(fmaxf(y.x, y.y), fmaxf(y.z, y.w)) > THRESHOLD)
            ((float4*)o)[i] = make_float4(SCALE * y.x, SCALE * y.y, SCALE * y.z, SCALE * y.w);
    }
}
// Writes four elements and nothing else.
extern "C" __global__ void x_one(SIGNATURE) {
    if (blockIdx.x == 0 && threadIdx.x == 0) ((float4*)o)[0] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}
"""

# Inputs as the board makes them (a softmax of uniform numbers, or of 10 at a tenth of the places), and its check.
_BOARD_SOURCE: Final = r"""
__device__ __forceinline__ u32 mixed(u64 i) {
    u32 x = (u32)i ^ (u32)(i >> 32) * 0x9E3779B9u;
    x ^= x >> 16; x *= 0x7FEB352Du; x ^= x >> 15; x *= 0x846CA68Bu; x ^= x >> 16;
    return x;
}
__device__ __forceinline__ double block_sum(double v) {
    __shared__ double parts[32];
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xFFFFFFFFu, v, d);
    if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = v;
    __syncthreads();
    v = threadIdx.x < (blockDim.x >> 5) ? parts[threadIdx.x] : 0.0;
    if (threadIdx.x < 32)
        for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xFFFFFFFFu, v, d);
    __syncthreads();
    return v;
}
__device__ __forceinline__ float drawn(u64 i, u64 seed, int sparse) {
    const float u = (mixed(i * 2 + seed) >> 8) * (1.0f / 16777216.0f);
    // n / 10 draws with replacement hit 1 - exp(-0.1) of the places.
    return sparse ? (u < 0.0951626f ? 10.0f : 0.0f) : u;
}
extern "C" __global__ void exponentials(u64 n, u64 seed, int sparse, double* sum) {
    double mine = 0.0;
    EACH(n) mine += exp((double)drawn(i, seed, sparse));
    mine = block_sum(mine);
    if (threadIdx.x == 0) atomicAdd(sum, mine);
}
extern "C" __global__ void softmax(float* a, u64 n, u64 seed, int sparse, const double* sum) {
    EACH(n) a[i] = (float)(exp((double)drawn(i, seed, sparse)) / *sum);
}
extern "C" __global__ void fill(float* a, u64 n, float value) { EACH(n) a[i] = value; }
extern "C" __global__ void total(const float* a, u64 n, double* sum) {
    double mine = 0.0;
    EACH(n) mine += a[i];
    mine = block_sum(mine);
    if (threadIdx.x == 0) atomicAdd(sum, mine);
}
// Elements outside the tolerance, and squared error and size against float64.
extern "C" __global__ void compare(SIGNATURE, float rtol, float atol, double* result) {
    double bad = 0.0, error = 0.0, size = 0.0;
    EACH(n) {
        const double q = fmax((double)t[i], 1e-10);
        const double want = t[i] > 0.0f ? q * (log(q) - log(fmax((double)p[i], 1e-10))) : 0.0;
        const double off = (double)o[i] - want;
        bad += !(fabs(off) <= (double)atol + (double)rtol * fabs(want));
        error += off * off;
        size += want * want;
    }
    bad = block_sum(bad); error = block_sum(error); size = block_sum(size);
    if (threadIdx.x == 0) { atomicAdd(result, bad); atomicAdd(result + 1, error); atomicAdd(result + 2, size); }
}
"""

SOURCE: Final = _HONEST_SOURCE + _CONSTANTS + _EXPLOIT_SOURCE + _BOARD_SOURCE
