"""Is the mechanism that was proved the one that the policy asks for?

One function a law. Each takes the proved shape and the policy and returns what was found
instead, or None. ``CHECKS`` is the whole comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from policy_engine.errors import Finding
from policy_engine.policy.resolve import Policy
from policy_engine.verify.findings import Findings
from policy_engine.verify.sampling import SAMPLE_BITS
from policy_engine.verify.shape import ROW_UNIT, ReleaseShape

Check = Callable[[ReleaseShape, Policy], str | None]

#: The types that ``source.columns`` names, as the kernel expects to see them cast.
READ_AS = {
    "integer": "BIGINT",
    "double": "DOUBLE",
    "text": "TEXT",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}


def source_is_the_policys(shape: ReleaseShape, policy: Policy) -> str | None:
    """V21: every number of the certificate speaks of the policy's source."""
    if policy.source.path is not None:
        return None if shape.source == policy.source.path else shape.source
    wanted = (policy.source.relation or "").lower().split(".")
    found = shape.source.lower().split(".")
    return None if found[-len(wanted) :] == wanted else shape.source


def unit_is_the_policys(shape: ReleaseShape, policy: Policy) -> str | None:
    """V22: who is sampled is who is protected ([EXACT]: one tuple per privacy unit)."""
    wanted = (policy.source.key or ROW_UNIT).lower()
    if shape.unit != wanted:
        return f"the unit {shape.unit}"
    if policy.source.key is not None and not shape.one_row:
        return f"several rows a {shape.unit}"
    order = tuple((name.lower(), way == "desc") for name, way in policy.source.order_by)
    if shape.rank_order[: len(order)] != order:
        chosen = ", ".join(name for name, _ in shape.rank_order) or "nothing"
        return f"one row a {shape.unit} chosen by {chosen}"
    return "a filter that the policy does not have" if shape.filtered else None


def rate_is_the_policys(shape: ReleaseShape, policy: Policy) -> str | None:
    """V23: the sampled share is T/2⁶⁰ with T = ⌊rate·2⁶⁰⌋, or the rate itself if native."""
    wanted = Fraction(policy.rate)
    if policy.method == "keyed":
        wanted = Fraction(int(wanted * (1 << SAMPLE_BITS)), 1 << SAMPLE_BITS)
    native = shape.method == "native"
    if shape.rate == wanted and native == (policy.method == "native"):
        return None
    return f"{shape.method} sampling at {float(shape.rate):.12g}"


def threshold_is_the_policys(shape: ReleaseShape, policy: Policy) -> str | None:
    """V24: a group of fewer than k sampled people is never released."""
    return None if shape.k == policy.k else f"{shape.k}"


def columns_are_the_policys(shape: ReleaseShape, policy: Policy) -> str | None:
    """V25: exactly the policy's columns, each of them grouped, and the count or none."""
    found = tuple(column.name for column in shape.columns)
    wanted = tuple(name.lower() for name in policy.columns)
    if found != wanted or set(shape.keys) != {f'"{name}"' for name in wanted}:
        return ", ".join(found) or "no columns"
    counted = policy.release.count_as.lower() if policy.release.form == "counts" else None
    return None if shape.count == counted else f"the count column {shape.count}"


def recodings_are_the_policys(shape: ReleaseShape, policy: Policy) -> str | None:
    """V26: what stands in the text is what the policy's author and reviewer agreed on."""
    types = {name.lower(): kind for name, kind in policy.source.columns}
    for column, (name, recoding) in zip(shape.columns, policy.recodings, strict=False):
        reads_itself = column.inputs in {(), (name.lower(),)}
        if column.recoding != recoding or not reads_itself:
            return f"{name} as {column.sql}"
        declared = READ_AS.get(types.get(name.lower(), ""))
        if column.inputs and column.read_as != declared and not _is_guard(column.read_as, declared):
            return f"{name} read as {column.read_as}"
    return None


def _is_guard(read_as: str | None, declared: str | None) -> bool:
    """TRY_CAST to TIMESTAMP only widens another time type; it is no reading of its own."""
    return declared is None and read_as == "TIMESTAMP"


def target_is_the_policys(shape: ReleaseShape, policy: Policy) -> str | None:
    """V27: the release goes where the policy says, in the form it says."""
    if shape.form != policy.release.form:
        return f"the form {shape.form}"
    wanted = policy.release.relation
    found = (shape.target or "").lower()
    if wanted is None:
        return None if shape.target is None else shape.target
    return None if found == wanted.lower() or found.endswith(f".{wanted.lower()}") else found


def order_is_canonical(shape: ReleaseShape, policy: Policy) -> str | None:
    """V28: the order of rows must not tell the order of the source."""
    return None if shape.ordered else "rows in another order, or in none"


CHECKS: tuple[tuple[str, Check], ...] = (
    ("V21", source_is_the_policys),
    ("V22", unit_is_the_policys),
    ("V23", rate_is_the_policys),
    ("V24", threshold_is_the_policys),
    ("V25", columns_are_the_policys),
    ("V26", recodings_are_the_policys),
    ("V27", target_is_the_policys),
    ("V28", order_is_canonical),
)


def compare(shape: ReleaseShape, policy: Policy) -> tuple[Finding, ...]:
    """A finding for every law by which ``shape`` is not the release ``policy`` asks for."""
    findings = Findings()
    for code, check in CHECKS:
        found = check(shape, policy)
        if found is not None:
            findings.add(code, found)
    return findings.sorted()
