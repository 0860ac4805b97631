"""What the boards' workloads compute, as formulas of numpy: one line each, of any float dtype.

The same formula is run in float64 as the reference, in float32 as an honest kernel, and in narrower arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    # Whatever the formula is run on: a plain array, or one that emulates other arithmetic.
    Result = Any

# elements: output i of elements i; rows: each row of the output from the same row; slices: one number of each row;
# total: one number of everything, the sum or mean of the formula's terms; product: rows times columns.
Layout = Literal["elements", "rows", "slices", "total", "product"]
Formula = Callable[..., Any]

_KL_LEAST: Final = 1e-10
_NORM_LEAST: Final = 1e-10
_RMS_LEAST: Final = 1e-5
_SELU_SCALE: Final = 1.0507009873554805
_SELU_ALPHA: Final = 1.6732632423543772


class Reference(NamedTuple):
    """One workload's formula.

    Attributes
    ----------
    inputs : tuple of str
        What its arguments are, in their order.
    formula : callable
        Of the inputs, and of the case's parameters by keyword.
    others : mapping of str to callable
        Other honest ways to compute it.
    special : bool
        Whether it takes logarithms or exponentials, for which GPUs have fast approximations.
    mean : bool
        Of a total: the mean of the terms instead of their sum.
    """

    inputs: tuple[str, ...]
    formula: Formula
    layout: Layout = "elements"
    others: Mapping[str, Formula] = MappingProxyType({})
    special: bool = False
    mean: bool = False


def _kl(predictions: Array, targets: Array) -> Result:
    safe = np.maximum(targets, _KL_LEAST)
    return np.where(targets > 0, safe * (np.log(safe) - np.log(np.maximum(predictions, _KL_LEAST))), 0)


def _kl_of_ratio(predictions: Array, targets: Array) -> Result:
    safe = np.maximum(targets, _KL_LEAST)
    return np.where(targets > 0, safe * np.log(safe / np.maximum(predictions, _KL_LEAST)), 0)


def _kl_in_base_two(predictions: Array, targets: Array) -> Result:
    safe = np.maximum(targets, _KL_LEAST)
    difference = np.log2(safe) - np.log2(np.maximum(predictions, _KL_LEAST))
    return np.where(targets > 0, safe * (difference * np.log(2.0)), 0)


def _softmax(x: Array) -> Result:
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def _softmax_without_maximum(x: Array) -> Result:
    e = np.exp(x)
    return e / np.sum(e, axis=-1, keepdims=True)


def _strided(x: Array) -> Result:
    """The sum of each row in another order: as a kernel's threads take every n-th element."""
    length = x.shape[-1]
    lanes = next(count for count in (32, 16, 8, 4, 2, 1) if length % count == 0)
    return np.sum(np.sum(x.reshape(*x.shape[:-1], length // lanes, lanes), axis=-2), axis=-1)


def _smooth_l1(predictions: Array, targets: Array) -> Result:
    distance = np.abs(predictions - targets)
    return np.where(distance < 1, 0.5 * distance * distance, distance - 0.5)


def _cosine(predictions: Array, targets: Array) -> Result:
    dot = np.sum(predictions * targets, axis=-1)
    squares = np.sum(predictions * predictions, axis=-1) * np.sum(targets * targets, axis=-1)
    return 1 - dot / np.maximum(np.sqrt(squares), 1e-8)


def _sigmoid(x: Array) -> Result:
    return 1 / (1 + np.exp(-x))


def _elu(x: Array) -> Result:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def _softplus(x: Array) -> Result:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _l1_norm(x: Array) -> Result:
    return x / (np.sum(np.abs(x), axis=-1, keepdims=True) + _NORM_LEAST)


def _l2_norm(x: Array) -> Result:
    return x / (np.sqrt(np.sum(x * x, axis=-1, keepdims=True)) + _NORM_LEAST)


def _rms_norm(x: Array) -> Result:
    return x / np.sqrt(np.sum(x * x, axis=-1, keepdims=True) / x.shape[-1] + _RMS_LEAST)


_PAIR: Final = ("predictions", "targets")
_ONE: Final = ("input",)

REFERENCES: Final[Mapping[str, Reference]] = {
    "kl-divergence": Reference(
        _PAIR,
        _kl,
        others={"logarithm of the ratio": _kl_of_ratio, "logarithms to base 2": _kl_in_base_two},
        special=True,
    ),
    "relu": Reference(_ONE, lambda x: np.maximum(x, 0)),
    "leaky-relu": Reference(_ONE, lambda x, alpha: np.where(x > 0, x, alpha * x)),
    "hard-sigmoid": Reference(_ONE, lambda x: np.minimum(np.maximum(x + 3, 0), 6) / 6),
    "sigmoid": Reference(
        _ONE, _sigmoid, others={"by the hyperbolic tangent": lambda x: 0.5 * np.tanh(0.5 * x) + 0.5}, special=True
    ),
    "tanh": Reference(
        _ONE, lambda x: np.tanh(x), others={"by the exponential": lambda x: 1 - 2 / (np.exp(2 * x) + 1)}, special=True
    ),
    "elu": Reference(
        _ONE,
        _elu,
        others={"exponential less one": lambda x: np.where(x > 0, x, np.exp(np.minimum(x, 0)) - 1)},
        special=True,
    ),
    "selu": Reference(
        _ONE, lambda x: _SELU_SCALE * np.where(x > 0, x, _SELU_ALPHA * np.expm1(np.minimum(x, 0))), special=True
    ),
    "softplus": Reference(
        _ONE, _softplus, others={"logarithm of 1 + exp": lambda x: np.log(1 + np.exp(x))}, special=True
    ),
    "swish": Reference(
        _ONE, lambda x: x * _sigmoid(x), others={"division last": lambda x: x / (1 + np.exp(-x))}, special=True
    ),
    "threshold": Reference(_ONE, lambda x, threshold: np.where(x > threshold, 255.0, 0.0)),
    "matrix-scalar": Reference(_ONE, lambda x, scalar: x * scalar),
    "vector-add": Reference(("a", "b"), lambda a, b: a + b),
    "huber": Reference(_PAIR, _smooth_l1),
    "hinge": Reference(_PAIR, lambda p, t: np.maximum(1 - p * t, 0)),
    "grayscale": Reference(
        ("red", "green", "blue"),
        lambda r, g, b: 0.2989 * r + 0.587 * g + 0.114 * b,
        others={"another order": lambda r, g, b: 0.2989 * r + (0.587 * g + 0.114 * b)},
    ),
    "softmax": Reference(
        _ONE, _softmax, "rows", others={"without the maximum": _softmax_without_maximum}, special=True
    ),
    "l1-norm": Reference(
        _ONE, _l1_norm, "rows", others={"another order": lambda x: x / (_strided(np.abs(x))[..., None] + _NORM_LEAST)}
    ),
    "l2-norm": Reference(
        _ONE, _l2_norm, "rows", others={"another order": lambda x: x / (np.sqrt(_strided(x * x))[..., None])}
    ),
    "rms-norm": Reference(
        _ONE,
        _rms_norm,
        "rows",
        others={"reciprocal root": lambda x: x * (1 / np.sqrt(_strided(x * x)[..., None] / x.shape[-1] + _RMS_LEAST))},
    ),
    "sum-dim": Reference(_ONE, lambda x: np.sum(x, axis=-1), "slices", others={"another order": _strided}),
    "mean-dim": Reference(
        _ONE,
        lambda x: np.sum(x, axis=-1) / x.shape[-1],
        "slices",
        others={"another order": lambda x: _strided(x) / x.shape[-1]},
    ),
    "max-dim": Reference(_ONE, lambda x: np.max(x, axis=-1), "slices"),
    "min-dim": Reference(_ONE, lambda x: np.min(x, axis=-1), "slices"),
    "product-dim": Reference(
        _ONE,
        lambda x: np.prod(x, axis=-1),
        "slices",
        others={"another order": lambda x: np.prod(x[..., ::-1], axis=-1)},
    ),
    "cosine-similarity": Reference(
        _PAIR,
        _cosine,
        "slices",
        others={
            "another order": lambda p, t: 1 - _strided(p * t) / (np.sqrt(_strided(p * p)) * np.sqrt(_strided(t * t)))
        },
    ),
    "mse": Reference(_PAIR, lambda p, t: (p - t) * (p - t), "total", mean=True),
    "sum": Reference(_ONE, lambda x: x * 1, "total"),
    "matmul": Reference(("a", "b"), lambda a, b: a @ b, "product"),
}
