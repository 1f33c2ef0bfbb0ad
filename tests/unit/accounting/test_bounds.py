"""The closed forms beside the curve."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import mpmath
import pytest

from policy_engine.accounting.bounds import amplify, compose_basic, delta_lqs, group
from policy_engine.accounting.curve import delta_exact
from policy_engine.errors import DomainError

from .brute import reference_values


@pytest.mark.parametrize("row", reference_values(), ids=str)
def test_lqs_reference_values(row: dict[str, Any]) -> None:
    found = delta_lqs(row["k"], row["beta"], row["epsilon"])
    if row["delta_lqs"] is None:
        assert found is None
    else:
        assert found is not None
        assert float(found.delta) == pytest.approx(row["delta_lqs"], rel=1e-9, abs=0)
        assert found.at_n == row["lqs_at_n"]
        assert found.delta >= delta_exact(row["k"], row["beta"], row["epsilon"]).delta


@pytest.mark.parametrize(("k", "rate", "epsilon"), [(2, "0.3", "0.5"), (4, "0.2", "0.3")])
def test_lqs_by_direct_summation(k: int, rate: str, epsilon: str) -> None:
    share, scale = mpmath.mpf(rate), mpmath.exp(mpmath.mpf(epsilon))
    gamma = (scale - 1 + share) / scale
    true = max(
        sum(
            mpmath.binomial(n, j) * share**j * (1 - share) ** (n - j)
            for j in range(n + 1)
            if j > gamma * n
        )
        for n in range(int(mpmath.ceil(k / gamma - 1)), 60)
    )
    found = delta_lqs(k, rate, epsilon)
    assert found is not None
    assert (
        true * (1 - mpmath.mpf("1e-14"))
        <= mpmath.mpf(str(found.delta))
        <= true * (1 + mpmath.mpf("1e-10"))
    )


def test_amplification() -> None:
    epsilon, delta = amplify("1", "0", "0.5")
    assert delta == 0
    assert float(epsilon) == pytest.approx(float(mpmath.log((1 + mpmath.e) / 2)), rel=1e-11)
    assert amplify(0, 1, "0.25") == (0, Decimal("0.25"))


def test_group() -> None:
    assert group(0, "1e-3", 4) == (0, Decimal("0.00400000000001"))
    assert group("5", "0.1", 3) == (15, 1)
    assert group("0.7", "1e-9", 1)[0] == Decimal("0.7")


def test_basic_composition() -> None:
    assert compose_basic([]) == (0, 0)
    assert compose_basic([(1, "0.7"), (2, "0.7")]) == (3, 1)


def test_refused() -> None:
    with pytest.raises(DomainError, match=r"^delta must be a number from 0 to 1, found 2$"):
        amplify(1, 2, "0.5")
