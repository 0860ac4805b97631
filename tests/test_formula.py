"""Formulas of specs: arithmetic over named sizes, and nothing else."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klaudit.errors import FormulaError
from klaudit.formula import Formula

SIZES = {"m": 7.0, "n": 5.0, "k": 3.0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2*m*n*k", 210.0),  # 2 x 7 x 5 x 3
        ("m + n - k", 9.0),
        ("m/n", 1.4),
        ("m//n", 1.0),
        ("n**2", 25.0),
        ("-m + n", -2.0),
        ("2**-1", 0.5),
        ("min(m, n, k)", 3.0),
        ("max(m, n, k)", 7.0),
        ("ceil(m/n)", 2.0),
        ("floor(m/n)", 1.0),
        ("log2(m + 1)", 3.0),
        ("sqrt(n + 11)", 4.0),
        ("m - n - k", -1.0),  # from the left
        ("2**k**0", 2.0),  # powers from the right: 2 ** (3 ** 0)
        ("(m + n)*k", 36.0),
        ("1.5e1", 15.0),
    ],
)
def test_arithmetic(text: str, value: float) -> None:
    """Each operator and function gives the number worked out by hand, for floats and for columns."""
    formula = Formula(text, ("m", "n", "k"))
    alone = formula(SIZES)
    assert isinstance(alone, float)
    assert alone == value
    column = formula({name: np.array([[size], [size]]) for name, size in SIZES.items()})
    assert np.broadcast_to(column, (2, 1)).tolist() == [[value], [value]]


def test_large_sizes_do_not_overflow() -> None:
    """2**40 by 2**40 is 2**80: beyond every integer column, exact in a float."""
    formula = Formula("2*n*n", ("n",))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert formula({"n": np.array([2.0**40])}).tolist() == [2.0**81]


def test_names_are_those_in_use() -> None:
    """A formula says which sizes it needs."""
    assert Formula("m*k + 1", ("m", "n", "k")).names == {"m", "k"}
    assert Formula("n", ("n",)) == Formula("n", ("n",))
    assert Formula("n", ("n",)) != Formula("n + 0", ("n",))
    assert len({Formula("n", ("n",)), Formula("n", ("n",))}) == 1
    assert repr(Formula("2*n", ("n",))) == "Formula('2*n')"


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')", "n.real", "n[0]", "lambda: 1", "n if n else 1", "[n]", "n == 1", "n and 1", "'a'", "True",
        "min(*n)", "min()", "min(n, key=1)", "pow(n, 2)", "x*2", "n @ n", "n % 2", "n << 1", "~n", "not n", "1j",
        "n; n", "", "2*", "n := 1", "f'{n}'", "(n for n in n)",
    ],
)  # fmt: skip
def test_anything_but_arithmetic_is_refused(text: str) -> None:
    """No names from outside, no calls but the six, no attribute, no index: an error when the spec is read."""
    with pytest.raises(FormulaError, match="formula"):
        Formula(text, ("n",))


@pytest.mark.parametrize("text", ["n+" * 400 + "n", "(" * 300 + "n" + ")" * 300, "-" * 499 + "n", "1" * 501])
def test_long_or_deep_formulas_end_in_an_answer(text: str) -> None:
    """A formula that is too long is refused; a deep one is refused or worked out, never a crash."""
    try:
        value = Formula(text, ("n",))({"n": 1.0})
    except FormulaError:
        return
    assert math.isfinite(value)


@given(m=st.floats(1, 1e6), n=st.floats(1, 1e6), k=st.floats(1, 1e6))
@settings(deadline=None, max_examples=100, derandomize=True)
def test_a_column_is_its_entries_one_by_one(m: float, n: float, k: float) -> None:
    """Scalar and column give the same number."""
    formula = Formula("2*m*n*k*min(1, (min(m, n, k)/22)**-0.2) + ceil(log2(m))", ("m", "n", "k"))
    rows = {"m": np.array([m, n]), "n": np.array([n, k]), "k": np.array([k, m])}
    column = formula(rows)
    for row in range(2):
        assert column[row] == pytest.approx(formula({name: float(c[row]) for name, c in rows.items()}), rel=1e-14)
