"""The kernels of a calibration in CUDA C, how they are launched, and the kernels that check them. No timing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

THREADS_PER_PROCESSOR: Final = 2048
# Accesses of 16 bytes that a thread has in flight at once; one set of kernels each.
WIDTHS: Final = (1, 4)
_BLOCKS: Final = (256, 1024)
# Blocks: so many times what the card holds at once.
_WAVES: Final = (1, 4, 16)
VECTOR: Final = 16
PARTIALS: Final = 1 << 20
# What triad multiplies by.
FACTOR: Final = 3.0


class Geometry(NamedTuple):
    """How a streaming kernel is launched."""

    blocks: int
    threads: int
    width: int

    def __str__(self) -> str:
        return f"{self.blocks} x {self.threads}, {self.width} at a time"


def geometries(elements: int, processors: int) -> Iterator[Geometry]:
    """The launches worth trying for so many float32 elements, without repeats."""
    vectors = elements * 4 // VECTOR
    seen = set()
    for width in WIDTHS:
        for threads in _BLOCKS:
            for waves in _WAVES:
                resident = processors * (THREADS_PER_PROCESSOR // threads) * waves
                blocks = min(resident, -(-vectors // (threads * width)), PARTIALS)
                geometry = Geometry(max(blocks, 1), threads, width)
                if geometry not in seen:
                    seen.add(geometry)
                    yield geometry


_COMMON: Final = r"""
typedef unsigned int u32;
typedef unsigned long long u64;

__device__ __forceinline__ u32 mixed(u64 i) {
    u32 x = (u32)i ^ (u32)(i >> 32) * 0x9E3779B9u;
    x ^= x >> 16; x *= 0x7FEB352Du; x ^= x >> 15; x *= 0x846CA68Bu; x ^= x >> 16;
    return x;
}

__device__ __forceinline__ u32 block_sum(u32 v) {
    __shared__ u32 parts[32];
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xFFFFFFFFu, v, d);
    if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = v;
    __syncthreads();
    v = threadIdx.x < (blockDim.x >> 5) ? parts[threadIdx.x] : 0u;
    if (threadIdx.x < 32)
        for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xFFFFFFFFu, v, d);
    return v;
}

extern "C" __global__ void empty() {}

// A delay that touches no memory: commands queue up behind it.
extern "C" __global__ void spin(u64 nanoseconds) {
    u64 start, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    do { asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)); } while (now - start < nanoseconds);
}

// Numbers in [0.25, 1), all bits of the fraction random.
extern "C" __global__ void scatter_numbers(float* a, u64 n, u64 seed) {
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x)
        a[i] = 0.25f + 0.75f * (mixed(i + seed) >> 8) * (1.0f / 16777216.0f);
}

extern "C" __global__ void fill_words(u32* a, u64 n, u32 value) {
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x) a[i] = value;
}
"""

# Each thread takes W vectors a step, a block's width apart, so that W loads are in flight before the first is used.
_STREAMS: Final = r"""
#define STEP(W) \
    const u64 step = (u64)gridDim.x * blockDim.x * W; \
    for (u64 i = (u64)blockIdx.x * blockDim.x * W + threadIdx.x; i < n; i += step)
#define AT(k) (i + (u64)(k) * blockDim.x)

#define STREAMS(W) \
extern "C" __global__ void read_##W(const uint4* __restrict__ a, u64 n, u32* __restrict__ partial) { \
    u32 sum = 0; \
    STEP(W) { \
        uint4 v[W]; \
        _Pragma("unroll") for (int k = 0; k < W; ++k) v[k] = AT(k) < n ? a[AT(k)] : make_uint4(0, 0, 0, 0); \
        _Pragma("unroll") for (int k = 0; k < W; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w; \
    } \
    sum = block_sum(sum); \
    if (threadIdx.x == 0) partial[blockIdx.x] = sum; \
} \
extern "C" __global__ void write_##W(uint4* __restrict__ a, u64 n, u32 value) { \
    STEP(W) { \
        _Pragma("unroll") for (int k = 0; k < W; ++k) { \
            const u32 x = value ^ (u32)AT(k); \
            if (AT(k) < n) a[AT(k)] = make_uint4(x, x + 1, x + 2, x + 3); \
        } \
    } \
} \
extern "C" __global__ void copy_##W(const uint4* __restrict__ a, uint4* __restrict__ b, u64 n) { \
    STEP(W) { \
        uint4 v[W]; \
        _Pragma("unroll") for (int k = 0; k < W; ++k) if (AT(k) < n) v[k] = a[AT(k)]; \
        _Pragma("unroll") for (int k = 0; k < W; ++k) if (AT(k) < n) b[AT(k)] = v[k]; \
    } \
} \
extern "C" __global__ void triad_##W( \
    const float4* __restrict__ a, const float4* __restrict__ b, float4* __restrict__ c, u64 n, float factor) { \
    STEP(W) { \
        float4 x[W], y[W]; \
        _Pragma("unroll") for (int k = 0; k < W; ++k) if (AT(k) < n) { x[k] = a[AT(k)]; y[k] = b[AT(k)]; } \
        _Pragma("unroll") for (int k = 0; k < W; ++k) if (AT(k) < n) c[AT(k)] = make_float4( \
            __fmaf_rn(factor, y[k].x, x[k].x), __fmaf_rn(factor, y[k].y, x[k].y), \
            __fmaf_rn(factor, y[k].z, x[k].z), __fmaf_rn(factor, y[k].w, x[k].w)); \
    } \
} \
extern "C" __global__ void kl_##W( \
    const float4* __restrict__ p, const float4* __restrict__ t, float4* __restrict__ o, u64 n) { \
    STEP(W) { \
        float4 x[W], y[W]; \
        _Pragma("unroll") for (int k = 0; k < W; ++k) if (AT(k) < n) { x[k] = p[AT(k)]; y[k] = t[AT(k)]; } \
        _Pragma("unroll") for (int k = 0; k < W; ++k) if (AT(k) < n) o[AT(k)] = make_float4( \
            kl_one(x[k].x, y[k].x), kl_one(x[k].y, y[k].y), kl_one(x[k].z, y[k].z), kl_one(x[k].w, y[k].w)); \
    } \
}

__device__ __forceinline__ float kl_one(float p, float t) {
    const float q = fmaxf(t, 1e-10f);
    return t > 0.0f ? q * __logf(__fdividef(q, fmaxf(p, 1e-10f))) : 0.0f;
}
"""

# Written otherwise than what they check: scalar, one block after another, exact arithmetic.
_CHECKS: Final = r"""
#define EACH for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x)

extern "C" __global__ void sum_words(const u32* a, u64 n, u32* sum) {
    u32 mine = 0;
    EACH mine += a[i];
    mine = block_sum(mine);
    if (threadIdx.x == 0) atomicAdd(sum, mine);
}

extern "C" __global__ void wrong_writes(const u32* a, u64 n, u32 value, u32* wrong) {
    u32 mine = 0;
    EACH mine += a[i] != (value ^ (u32)(i / 4)) + (u32)(i % 4);
    mine = block_sum(mine);
    if (threadIdx.x == 0) atomicAdd(wrong, mine);
}

extern "C" __global__ void wrong_copies(const u32* a, const u32* b, u64 n, u32* wrong) {
    u32 mine = 0;
    EACH mine += a[i] != b[i];
    mine = block_sum(mine);
    if (threadIdx.x == 0) atomicAdd(wrong, mine);
}

extern "C" __global__ void wrong_triads(
    const float* a, const float* b, const float* c, u64 n, float factor, u32* wrong) {
    u32 mine = 0;
    EACH mine += !(c[i] == (float)((double)factor * b[i] + a[i]));
    mine = block_sum(mine);
    if (threadIdx.x == 0) atomicAdd(wrong, mine);
}

// One in `stride` elements against float64; errors of more than 2e-6 of the largest possible output are wrong.
extern "C" __global__ void wrong_kls(const float* p, const float* t, const float* o, u64 n, u64 stride, u32* wrong) {
    u32 mine = 0;
    for (u64 i = ((u64)blockIdx.x * blockDim.x + threadIdx.x) * stride; i < n;
         i += (u64)gridDim.x * blockDim.x * stride) {
        const double want = (double)t[i] * (log((double)t[i]) - log((double)p[i]));
        mine += !(fabs(o[i] - want) <= 2e-6);
    }
    mine = block_sum(mine);
    if (threadIdx.x == 0) atomicAdd(wrong, mine);
}
"""

_RATES: Final = r"""
// Past the first-level cache.
#define LOAD(v, at) \
    asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" \
        : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(at))

// Every round the grid loads the next stretch of a buffer of n vectors, round and round: no processor keeps a share.
extern "C" __global__ void read_round(const uint4* a, u32 n, u32 rounds, u32* partial) {
    const u32 step = gridDim.x * blockDim.x % n;
    u32 i = (blockIdx.x * blockDim.x + threadIdx.x) % n, sum = 0;
    for (u32 round = 0; round < rounds; round += 4) {
        uint4 v[4];
        #pragma unroll
        for (int k = 0; k < 4; ++k) { LOAD(v[k], a + i); i += step; if (i >= n) i -= n; }
        #pragma unroll
        for (int k = 0; k < 4; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// Each thread loads the same vectors again and again, so that each line is wanted by one processor alone.
extern "C" __global__ void read_own(const uint4* a, u32 n, u32 rounds, u32* partial) {
    const u32 step = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
    u32 i = first, sum = 0;
    for (u32 round = 0; round < rounds && first < n; round += 4) {
        uint4 v[4];
        #pragma unroll
        for (int k = 0; k < 4; ++k) { LOAD(v[k], a + i); i += step; if (i >= n) i = first; }
        #pragma unroll
        for (int k = 0; k < 4; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

#define CLOCKS_START \
    u64 c0 = 0, g0 = 0; \
    if (blockIdx.x == 0 && threadIdx.x == 0) { \
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(g0)); c0 = clock64(); }
#define CLOCKS_STOP \
    if (blockIdx.x == 0 && threadIdx.x == 0) { \
        u64 g1; const u64 c1 = clock64(); asm volatile("mov.u64 %0, %globaltimer;" : "=l"(g1)); \
        clocks[0] = c1 - c0; clocks[1] = g1 - g0; }

// Eight chains a thread. With x = -1 an even number of steps gives back the start.
extern "C" __global__ void fma_chains(float* out, int loops, float x, float y, u64* clocks) {
    float v[8];
    const float start = (float)(threadIdx.x & 7);
    CLOCKS_START
    #pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = start + k;
    for (int l = 0; l < loops; ++l) {
        #pragma unroll
        for (int s = 0; s < 16; ++s) {
            #pragma unroll
            for (int k = 0; k < 8; ++k) v[k] = __fmaf_rn(v[k], x, y);
        }
    }
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 8; ++k) sum += v[k];
    out[(u64)blockIdx.x * blockDim.x + threadIdx.x] = sum - 8.0f * start - 28.0f;
    CLOCKS_STOP
}

// Each chain comes to rest where v = lg2(v) + 1, at 2.
extern "C" __global__ void lg2_chains(float* out, int loops, float x, float y, u64* clocks) {
    float v[4];
    CLOCKS_START
    #pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = 1.5f + 0.25f * k;
    for (int l = 0; l < loops; ++l) {
        #pragma unroll
        for (int s = 0; s < 16; ++s) {
            #pragma unroll
            for (int k = 0; k < 4; ++k) {
                asm volatile("lg2.approx.ftz.f32 %0, %0;" : "+f"(v[k]));
                v[k] += y;
            }
        }
    }
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 4; ++k) sum += v[k];
    out[(u64)blockIdx.x * blockDim.x + threadIdx.x] = sum - 8.0f * x;
    CLOCKS_STOP
}
"""

SOURCE: Final = _COMMON + _STREAMS + "".join(f"\nSTREAMS({width})" for width in WIDTHS) + _CHECKS + _RATES


def grid(count: int, threads: int, most: int) -> tuple[int]:
    """Blocks for `count` items, at most `most`."""
    return (max(min(-(-count // threads), most), 1),)
