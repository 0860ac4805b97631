"""Workload: what a kernel must at least move and compute, and the dtypes it may use. No cards, no times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from klaudit.formula import Formula
from klaudit.provenance import Source

DTYPE_BYTES: Final[Mapping[str, float]] = {
    "float64": 8, "float32": 4, "tfloat32": 4, "float16": 2, "bfloat16": 2, "float8": 1, "float4": 0.5,
    "int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint8": 1, "int4": 0.5, "bool": 1,
}  # fmt: skip
_DTYPE_ALIASES: Final[Mapping[str, str]] = {
    "double": "float64", "fp64": "float64", "f64": "float64",
    "float": "float32", "fp32": "float32", "f32": "float32", "single": "float32",
    "tf32": "tfloat32",
    "half": "float16", "fp16": "float16", "f16": "float16", "float16": "float16",
    "bf16": "bfloat16",
    "fp8": "float8", "f8": "float8", "e4m3": "float8", "e5m2": "float8", "float8e4m3": "float8",
    "float8e4m3fn": "float8", "float8e5m2": "float8",
    "fp4": "float4", "f4": "float4", "nvfp4": "float4", "mxfp4": "float4", "e2m1": "float4", "float4e2m1": "float4",
    "int": "int32", "i32": "int32", "s32": "int32", "i64": "int64", "long": "int64", "i16": "int16",
    "i8": "int8", "s8": "int8", "byte": "uint8", "u8": "uint8", "i4": "int4",
}  # fmt: skip


def find_dtype(text: str) -> str | None:
    """The dtype that `text` names, or None.

    Examples
    --------
    >>> find_dtype("torch.bfloat16"), find_dtype("fp32"), find_dtype("complex")
    ('bfloat16', 'float32', None)
    """
    name = text.strip().lower().rpartition(".")[2].replace("_", "").replace("-", "")
    if name in DTYPE_BYTES:
        return name
    return _DTYPE_ALIASES.get(name)


class Count(NamedTuple):
    """A count of bytes or operations as a formula over the sizes, and why it is so."""

    formula: Formula
    why: str
    source: str = ""


class Workload(NamedTuple):
    """What one kernel computes.

    Attributes
    ----------
    sizes : tuple of str
        Names of the size variables of the formulas; `b` is the bytes of an element.
    dtypes : tuple of str
        The dtypes the field uses; the first is meant when nobody says.
    flops : Count
        Operations as the board counts them.
    reads, writes : Count
        Compulsory traffic [B]: each input once, each output once.
    special : Count or None
        Special functions (logarithms, exponentials).
    min_flops : Count or None
        Fewest operations that any known algorithm needs.
    """

    id: str
    name: str
    sizes: tuple[str, ...]
    dtypes: tuple[str, ...]
    flops: Count
    reads: Count
    writes: Count
    special: Count | None = None
    min_flops: Count | None = None
    aliases: tuple[str, ...] = ()
    size_aliases: Mapping[str, tuple[str, ...]] | None = None
    sources: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def default_dtype(self) -> str:
        """The dtype meant when neither board nor row says."""
        return self.dtypes[0]

    @property
    def narrowest_dtype(self) -> str:
        """The dtype with the fewest bytes an element."""
        return min(self.dtypes, key=lambda d: DTYPE_BYTES[d])

    def with_bytes(self, sizes: Mapping[str, Any], dtype: str) -> dict[str, Any]:
        """The sizes with `b`, the bytes of an element of `dtype`, beside them."""
        return {**sizes, "b": DTYPE_BYTES[dtype]}

    @property
    def per_element(self) -> bool:
        """Whether operations and bytes grow in step with the one size, so that a rate needs no size.

        Tested at three sizes rather than read off the formula: `7*n` and `n*7` are the same claim.
        """
        if len(self.sizes) != 1:
            return False
        name = self.sizes[0]
        counts = [self.flops, self.reads, self.writes]

        def at(n: float) -> list[float]:
            return [float(c.formula({name: n, "b": 4.0})) for c in counts]

        unit = at(2.0**20)
        return all(v == u * k for k in (3.0, 1024.0) for u, v in zip(unit, at(k * 2.0**20), strict=True))
