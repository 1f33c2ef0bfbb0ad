"""Is the mechanism that was proved the one that the policy asks for?

One function a law. Each takes the proved shape and the policy and returns what was found
instead, or None. ``CHECKS`` is the whole comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from policy_engine.errors import Finding
from policy_engine.policy.resolve import Policy
from policy_engine.syntax.findings import Findings
from policy_engine.syntax.names import dotted, fold
from policy_engine.verify.rows import ROW_NUMBERS
from policy_engine.verify.sampling import SAMPLE_BITS
from policy_engine.verify.shape import ROW_UNIT, ReleaseShape, Term

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
        loaded = dotted(("temp", "main", policy.source.path))
        wanted = policy.source.path if shape.is_file else loaded
        return None if shape.source == wanted else shape.source
    named = () if shape.is_file else (shape.source, *shape.views[:1])
    wanted = fold(policy.source.relation or "")
    return None if any(_is_named(name, wanted) for name in named) else shape.source


def _is_named(name: str, wanted: str) -> bool:
    """Whether a name is the wanted one, with or without its database and schema."""
    return fold(name) == wanted or fold(name).endswith(f".{wanted}")


def unit_is_the_policys(shape: ReleaseShape, policy: Policy) -> str | None:
    """V22: who is sampled is who is protected ([EXACT]: one tuple per privacy unit)."""
    wanted = fold(policy.source.key or ROW_UNIT)
    if shape.unit != wanted:
        return f"the unit {shape.unit}"
    if policy.source.key is not None and not shape.one_row:
        return f"several rows a {shape.unit}"
    order = tuple(Term(fold(name), way == "desc") for name, way in policy.source.order_by)
    last = shape.rank_order[len(order) :]
    if shape.rank_order[: len(order)] != order or any(t.name not in ROW_NUMBERS for t in last):
        chosen = ", ".join(term.name for term in shape.rank_order) or "nothing"
        return f"one row a {shape.unit} chosen by {chosen}"
    return "a filter that the policy does not have" if shape.filtered else None


def rate_is_the_policys(shape: ReleaseShape, policy: Policy) -> str | None:
    """V23: the sampled share is T/2⁶⁰ with T = ⌊rate·2⁶⁰⌋, or the rate itself if native."""
    wanted = Fraction(policy.rate)
    if policy.method == "keyed":
        wanted = Fraction(int(wanted * (1 << SAMPLE_BITS)), 1 << SAMPLE_BITS)
    methods = {"native"} if policy.method == "native" else {"drawn", "keyed"}
    if shape.rate == wanted and shape.method in methods:
        return None
    return f"{shape.method} sampling at {float(shape.rate):.12g}"


def threshold_is_the_policys(shape: ReleaseShape, policy: Policy) -> str | None:
    """V24: a group of fewer than k sampled people is never released."""
    return None if shape.k == policy.k else f"{shape.k}"


def columns_are_the_policys(shape: ReleaseShape, policy: Policy) -> str | None:
    """V25: exactly the policy's columns, each of them grouped, and the count or none."""
    counted = (policy.release.count_as,) if policy.release.form == "counts" else ()
    wanted = tuple(fold(name) for name in (*policy.columns, *counted))
    if shape.shown != wanted or shape.count != (fold(counted[0]) if counted else None):
        return ", ".join(shape.shown)
    return f"groups by {shape.hidden[0]} as well" if shape.hidden else None


def recodings_are_the_policys(shape: ReleaseShape, policy: Policy) -> str | None:
    """V26: what stands in the text is what the policy's author and reviewer agreed on."""
    types = {fold(name): kind for name, kind in policy.source.columns}
    for column, (name, recoding) in zip(shape.columns, policy.recodings, strict=False):
        reads_itself = column.inputs in {(), (fold(name),)}
        if column.recoding != recoding or not reads_itself:
            return f"{name} as {column.sql}"
        declared = READ_AS.get(types.get(fold(name), ""))
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
    if wanted is None:
        return shape.target
    found = shape.target or "no table"
    return None if _is_named(found, fold(wanted)) else found


def order_is_canonical(shape: ReleaseShape, policy: Policy) -> str | None:
    """V28: by every released column, ascending, NULL last; it tells nothing of the source."""
    wanted = tuple(Term(fold(name)) for name in policy.columns)
    return None if shape.order == wanted else "rows in another order, or in none"


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
