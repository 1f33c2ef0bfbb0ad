"""Is the mechanism that was proved the one that the policy asks for? If it is, its certificate.

One function a law: its docstring is the message. Each takes the proved shape and the policy and
says what was found instead, or None. ``CHECKS`` is the whole comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from policy_engine.accounting.exact import delta_exact
from policy_engine.engines.types import DECLARED
from policy_engine.errors import Finding, NotCertifiable, UsageError
from policy_engine.expressions.recodes import written
from policy_engine.expressions.value_map import value_map
from policy_engine.kernel import sentences
from policy_engine.kernel.certificate import ROWS, Certificate, certified_rate, now, stated
from policy_engine.kernel.words import randomness
from policy_engine.policy.csv_models import is_csv
from policy_engine.policy.recodings import Keep, Recoding
from policy_engine.policy.resolve import Policy, terms_of
from policy_engine.policy.source_models import PARQUET_FILES
from policy_engine.relations.assumptions import BUILT_INS
from policy_engine.relations.scope import ROW_NUMBERS, is_sorted
from policy_engine.relations.shape import ColumnShape, ReleaseShape, Term
from policy_engine.syntax.findings import Breach, findings_of, law
from policy_engine.syntax.names import dotted, fold
from policy_engine.syntax.schema import Schema
from policy_engine.verify.laws import guarantee_is_met
from policy_engine.verify.proof import prove
from policy_engine.verify.sampling import SAMPLE_BITS


@law("V21")
def source_is_the_policys(shape: ReleaseShape, policy: Policy) -> str | None:
    """The source must be the policy's source [certificate: every number speaks of it].

    Read what source.file or source.table names.
    """
    if policy.source.path is not None:
        loaded = dotted(("temp", "main", policy.source.path))
        files = {policy.source.path, f"{policy.source.path}/**/*.parquet"}
        return None if shape.source in (files if shape.is_file else {loaded}) else shape.source
    named = () if shape.is_file else (shape.source, *shape.views[:1])
    wanted = fold(policy.source.relation or "")
    return None if any(_is_named(name, wanted) for name in named) else shape.source


def _is_named(name: str, wanted: str) -> bool:
    """Whether a name is the wanted one, with or without its database and schema."""
    return fold(name) == wanted or fold(name).endswith(f".{wanted}")


@law("V22")
def unit_is_the_policys(shape: ReleaseShape, policy: Policy) -> str | None:
    """The sampled unit must be the policy's unit: who is sampled is who is protected [mechanism 1].

    Sample by privacy_unit, and keep one row of it as its rows say.
    """
    wanted = fold(policy.source.key or sentences.ROW_UNIT)
    if shape.unit != wanted:
        return f"the unit {shape.unit}"
    if policy.source.has_many_rows and not shape.one_row:
        return f"several rows a {shape.unit}"
    order = tuple(Term(fold(name), way == "desc") for name, way in policy.source.order_by)
    # Behind the policy's order, what tells a person's own rows apart, as far as a release can tell.
    apart = ROW_NUMBERS | {fold(name) for name, _ in policy.recodings}
    last = shape.rank_order[len(order) :]
    named = {term.name for term in shape.rank_order}
    read = {name for column in shape.columns for name in column.inputs}
    # Who tells rows apart at all tells them apart in all that is read.
    settled = not last or named & ROW_NUMBERS or read <= named | {wanted}
    # Where all of a person's rows are alike in what is read there is nothing to draw.
    alike = policy.source.draws_a_row and read <= {wanted}
    if shape.draws_a_row != policy.source.draws_a_row and not alike:
        how = "drawn by a keyed hash" if shape.draws_a_row else "chosen by an order"
        return f"one row a {shape.unit} {how}"
    if (
        shape.rank_order[: len(order)] != order
        or any(t.name not in apart for t in last)
        or not settled
    ):
        chosen = ", ".join(term.name for term in shape.rank_order) or "nothing"
        return f"one row a {shape.unit} chosen by {chosen}"
    if policy.filter:
        return "SQL beside a policy with a filter, whose text is certified as it is printed alone"
    return "a filter that the policy does not have" if shape.filtered else None


@law("V23")
def rate_is_the_policys(shape: ReleaseShape, policy: Policy) -> str | None:
    """The sampling rate must be the policy's rate [mechanism 1].

    A keyed sample keeps ⌊rate·2⁶⁰⌋ of 2⁶⁰.
    """
    wanted = Fraction(policy.rate)
    if policy.method == "keyed":
        wanted = Fraction(int(wanted * (1 << SAMPLE_BITS)), 1 << SAMPLE_BITS)
    methods = {"native"} if policy.method == "native" else {"drawn", "keyed"}
    if shape.rate == wanted and shape.method in methods:
        return None
    return f"{shape.method} sampling at {float(shape.rate):.12g}"


@law("V24")
def threshold_is_the_policys(shape: ReleaseShape, policy: Policy) -> str | None:
    """The threshold must be the policy's k [mechanism 3].

    Write HAVING COUNT(*) >= k with the policy's k.
    """
    return None if shape.k == policy.k else f"{shape.k}"


@law("V25")
def columns_are_the_policys(shape: ReleaseShape, policy: Policy) -> str | None:
    """The released columns must be the policy's, in its order [mechanism 3].

    Group by and show exactly the columns of recode, then the count.
    """
    counted = (policy.release.count_as,) if policy.release.form == "counts" else ()
    wanted = tuple(fold(name) for name in (*policy.columns, *counted))
    if shape.shown != wanted or shape.count != (fold(counted[0]) if counted else None):
        return ", ".join(shape.shown)
    return f"groups by {shape.hidden[0]} as well" if shape.hidden else None


@law("V26")
def recodings_are_the_policys(shape: ReleaseShape, policy: Policy) -> str | None:
    """Every column must be recoded as the policy says: g was fixed in advance [mechanism 2].

    Write what 'policy-engine compile' writes, or a CASE with the same map.
    """
    types = {fold(name): kind for name, kind in policy.source.columns}
    for column, (name, recoding) in zip(shape.columns, policy.recodings, strict=False):
        if recoding == Keep() and column.public in {
            f'{lookup}.{fold(name)} of "{fold(key)}"' for lookup, key in policy.public
        }:
            continue
        reads_itself = column.inputs in {(), (fold(name),)}
        if not reads_itself or not (column.recoding == recoding or _is_same(column, recoding)):
            return f"{name} as {column.sql}"
        if column.recoding is None:
            continue
        declared = DECLARED.get(types.get(fold(name), ""))
        # TRY_CAST to TIMESTAMP only widens another time type; it is no reading of its own.
        widens = declared is None and column.read_as == "TIMESTAMP"
        if column.inputs and column.read_as != declared and not widens:
            return f"{name} read as {column.read_as}"
    return None


def _is_same(column: ColumnShape, recoding: Recoding) -> bool:
    """Whether a column, however it is written, shows of each value what the policy says."""
    node = written(recoding, column.inputs[0], column.kind) if column.inputs else None
    if node is None or column.values is None:
        return False
    return column.values == value_map(node, column.kind)


@law("V27")
def target_is_the_policys(shape: ReleaseShape, policy: Policy) -> str | None:
    """The target, where the text makes a table, and the form must be the policy's.

    Write to release.table, as release.as says.
    """
    if shape.form != policy.release.form:
        return f"the form {shape.form}"
    wanted, found = policy.release.relation, shape.target
    if found is None:
        return None  # the envelope, if there is one, is the warehouse's
    return None if wanted is not None and _is_named(found, fold(wanted)) else found


def _order(shape: ReleaseShape, policy: Policy) -> Breach | None:
    """The order in which the policy's release stands: by every column, ascending, NULL last."""
    # Behind all of its keys a group's count decides nothing.
    same = shape.order[: len(policy.columns)] == tuple(Term(fold(n)) for n in policy.columns)
    return is_sorted(None if same else "rows in another order, or in none")


CHECKS: tuple[Callable[[ReleaseShape, Policy], Breach | None], ...] = (
    source_is_the_policys,
    unit_is_the_policys,
    rate_is_the_policys,
    threshold_is_the_policys,
    columns_are_the_policys,
    recodings_are_the_policys,
    target_is_the_policys,
    _order,
)


def compare(shape: ReleaseShape, policy: Policy) -> tuple[Finding, ...]:
    """A finding for every law by which ``shape`` is not the release ``policy`` asks for."""
    return findings_of(*(check(shape, policy) for check in CHECKS))


# The certificate of a text that somebody wrote: read, proved, and compared with the policy


def certify(
    policy: Policy,
    query: str,
    dialect: str,
    *,
    published_as: str = ROWS,
    schema: Schema | None = None,
    engine_version: str = "",
) -> Certificate:
    """A certificate that ``query`` is the release ``policy`` asks for.

    Guarantee: running exactly ``query``, under the certificate's assumptions, is (ε, δ)-DP for
    the certificate's unit and neighbouring notion, with ε the policy's and δ at most the
    policy's. ``engine_version`` and ``published_as``, the envelope in which the query runs, are
    recorded as they are given.

    Raises:
        NotCertifiable: with every finding.
        UsageError: the dialect is another than ``duckdb``, whose texts alone are proved.
    """
    if dialect != "duckdb":
        raise UsageError(f"no rules to certify the dialect {dialect[:60]!r}; known: duckdb")
    known = replace(schema or Schema(), source=policy.source.relation or "")
    proof = prove(query, replace(known, public={**known.public, **dict(policy.public)}))
    if proof.shape is None:
        raise NotCertifiable(proof.findings)
    differences = compare(proof.shape, policy)
    if differences:
        raise NotCertifiable(differences)
    rate = certified_rate(policy.rate, policy.method, policy.source.sampled_at)
    guarantee = policy.guarantee
    bound = delta_exact(policy.k, rate, guarantee.epsilon, guarantee.neighbours)
    unmet = guarantee_is_met(bound.delta, guarantee.delta, guarantee.epsilon)
    if unmet is not None:
        raise NotCertifiable(findings_of(unmet))
    shape = proof.shape
    return Certificate(
        terms=terms_of(policy, published_as, engine_version),
        query=query,
        dialect=dialect,
        unit=shape.unit,
        randomness=randomness(shape.method, shape.unit, draws_a_row=shape.draws_a_row),
        columns=tuple(column.name for column in shape.columns),
        count=shape.count,
        k=policy.k,
        rate=rate,
        delta=stated(bound.delta, guarantee.delta),
        assumptions=_all_assumptions(policy, shape, proof.assumptions),
        time=now(),
    )


def _all_assumptions(
    policy: Policy, shape: ReleaseShape, proved: tuple[str, ...]
) -> tuple[str, ...]:
    source, unit = policy.source.text, policy.source.key or sentences.ROW_UNIT
    known = (
        *sentences.of_its_source(unit, source, policy.source.sampled_at),
        *sentences.ALWAYS,
        *of_its_file(source, is_parquet=shape.is_of_a_file),
    )
    # A release runs on a connection of its own, where no macro is in reach. What is assumed of
    # persons is said by the policy's name for the source, and not by the text's once more.
    said = (*known, BUILT_INS, sentences.is_a_person(sentences.ROW_UNIT, shape.source))
    unique = sentences.is_unique(shape.unit, shape.source)
    left = [
        sentences.is_unique(shape.unit, source) if text == unique else text
        for text in proved
        if text not in said
    ]
    return (*left, *known)


def of_its_file(source: str, *, is_parquet: bool = False) -> tuple[str, ...]:
    """What must hold of a file; nothing of another source."""
    if is_csv(source):
        return (sentences.is_readable(source, is_csv=True),)
    if is_parquet or source.lower().endswith(PARQUET_FILES):
        return (sentences.is_readable(source),)
    return ()
