"""The categorical models of a table: what each is, and its value.

With classes E over the quasi-identifiers, p(E, s) the share of the sensitive value s in E and q(s)
its share in the table. A share that is absent is 0; NULL is a value like any other, in a class's
key and as a sensitive value. A table without rows has no class: nothing in it is the least or the
most, and every value is None.

* k-anonymity (Samarati 2001; Sweeney 2002): ``min |E| ≥ k``.
* ℓ-diversity (Machanavajjhala et al. 2007): *distinct* ``min |{s : p(E, s) > 0}| ≥ ℓ``; *entropy*
  ``−Σ p ln p ≥ ln ℓ``, given as the largest real ℓ, which is not rounded; *recursive* (c, ℓ)
  ``r₁ < c (r_ℓ + … + r_m)`` with r the sizes of a class's values, descending.
* t-closeness (Li, Li, Venkatasubramanian 2007): the largest earth mover's distance between p(E, ·)
  and q. *Equal* ``½ Σ |p − q|``; *ordered* ``Σ_i |Σ_{j≤i} (p_j − q_j)| / (m − 1)`` over the m
  values of the table in their order; *hierarchical*: moving costs the height of the lowest common
  ancestor over the height of the tree.
* δ-disclosure privacy (Brickell, Shmatikov 2008): ``|ln(p / q)| < δ`` for every s of the table,
  also those that a class lacks: then no δ is large enough, and the value is infinite.
* (α, k)-anonymity (Wong et al. 2006), of every value: ``max p(E, s) ≤ α`` and ``min |E| ≥ k``.
* Brickell and Shmatikov 2008: what an adversary knows more, *A_diff* ``½ Σ |p − q|``, of which the
  largest is t by the equal distance, *A_know* its mean over the people, and *A_acc* how much more
  often the guess of the commonest value is right: ``Σ |E| max p / N − max q``.
* classification metric (Iyengar 2002): the share of people whose value is not their class's
  commonest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Class = Mapping[str, Any]
"""A class, by the values of its quasi-identifiers."""


@dataclass(frozen=True)
class Disclosed:
    """What a table tells of one sensitive column; the fields are as the page says.

    ``values`` is how many there are; ``recursive`` by ℓ the greatest c that is not enough: the
    table is recursively (c, ℓ)-diverse for every c above it, and never for an ℓ that is not there.
    ``worst`` names the class in which each model is at its worst, where that was asked for.
    """

    column: str
    values: int
    distinct: int | None
    entropy: float | None
    recursive: Mapping[int, float]
    t_equal: float | None
    t_ordered: float | None
    t_hierarchical: float | None
    delta: float | None
    alpha: float | None
    a_know: float | None
    a_acc: float | None
    classification: float | None
    worst: Mapping[str, Class] = field(default_factory=dict)


@dataclass(frozen=True)
class Sizes:
    """The classes of a table: how many there are of each size.

    >>> found = Sizes({1: 2, 4: 1})
    >>> found.people, found.classes, found.k
    (6, 3, 1)
    """

    by_size: Mapping[int, int]
    worst: Class | None = None

    @property
    def people(self) -> int:
        """How many people are in all classes together."""
        return sum(size * times for size, times in self.by_size.items())

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return sum(self.by_size.values())

    @property
    def k(self) -> int | None:
        """The size of the smallest; None where there is none."""
        return min(self.by_size, default=None)


def sizes_of(row: Mapping[str, Any]) -> Sizes:
    """The classes that the statement's row tells of."""
    return Sizes(dict(row["sizes"] or ()), row.get("worst_k"))


def disclosed_of(column: str, row: Mapping[str, Any]) -> Disclosed:
    """The models of a sensitive column that the statement's row tells of."""
    people, worst = row["people"], "worst_"
    return Disclosed(
        column=column,
        values=row["values"],
        distinct=row["distinct"],
        entropy=row["entropy"],
        recursive=dict(row["recursive"] or ()),
        t_equal=row["t_equal"],
        t_ordered=row.get("t_ordered"),
        t_hierarchical=row.get("t_hierarchical"),
        delta=row["delta"],
        alpha=row["alpha"],
        a_know=row["mean_t"],
        a_acc=(row["right"] - row["most"]) / people if people else None,
        classification=1 - row["right"] / people if people else None,
        worst={
            name.removeprefix(worst): found
            for name, found in row.items()
            if name.startswith(worst) and found is not None and name != "worst_k"
        },
    )
