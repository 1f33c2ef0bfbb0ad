"""Checking a release and its certificate from the files alone.

Neither the source nor a warehouse is needed: the signature is checked first, then the
numbers, then the SQL is proved again, and then the release itself is looked at.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from policy_engine.accounting.curve import delta_exact
from policy_engine.errors import FileError, PolicyEngineError, VerificationFailed
from policy_engine.verify.attestation import Statement, open_envelope
from policy_engine.verify.certificate import MECHANISM, PREDICATE_VERSION
from policy_engine.verify.keys import TrustedKeys
from policy_engine.verify.proof import prove


@dataclass(frozen=True)
class Verified:
    """What was checked and held, and what the certificate still assumes."""

    subject: str
    checked: tuple[str, ...]
    assumptions: tuple[str, ...]
    facts: Mapping[str, Any]


def verify_release(envelope: str, trusted: TrustedKeys, release: Path | None = None) -> Verified:
    """Verify a certificate, and with ``release`` the file it speaks of.

    Raises:
        VerificationFailed: with every reason; an unknown mechanism or version is refused.
        FileError: the release cannot be read.
    """
    statement = open_envelope(envelope, trusted)
    facts = _facts(statement)
    checked = [f"signed by {statement.key_id}"]
    reasons: list[str] = []
    for passed, failed in (
        _check_numbers(facts),
        _check_sql(facts),
        *([] if release is None else _check_file(facts, statement, release)),
    ):
        (reasons if failed else checked).append(failed or passed)
    if release is None:
        checked.append("the release itself was not looked at: name it with --release")
    if reasons:
        raise VerificationFailed(tuple(reasons))
    shown = {name: facts[name] for name in ("k", "rate", "epsilon", "delta", "neighbours", "unit")}
    return Verified(statement.subject_name, tuple(checked), tuple(facts["assumptions"]), shown)


_FIELDS: dict[str, type | tuple[type, ...]] = {
    "k": int, "rate": str, "epsilon": str, "delta": str, "neighbours": str, "unit": str,
    "assumptions": (list, tuple), "columns": (list, tuple), "form": str, "sql": str,
    "sql_digest": str, "dialect": str,
}  # fmt: skip


def _facts(statement: Statement) -> dict[str, Any]:
    """The predicate, once it is of a kind and version this engine knows."""
    facts: dict[str, Any] = dict(statement.predicate)
    if facts.get("mechanism") != MECHANISM or facts.get("version") != PREDICATE_VERSION:
        raise VerificationFailed(
            (
                f"the certificate must be of {MECHANISM}, version {PREDICATE_VERSION};"
                f" found {facts.get('mechanism')!r}, version {facts.get('version')!r}",
            )
        )
    wrong = [name for name, kind in _FIELDS.items() if not isinstance(facts.get(name), kind)]
    if wrong:
        raise VerificationFailed((f"the certificate lacks or misstates: {', '.join(wrong)}",))
    return facts


_Result = tuple[str, str]  # what held, or what failed: one of the two is empty


def _check_numbers(facts: dict[str, Any]) -> _Result:
    try:
        bound = delta_exact(facts["k"], facts["rate"], facts["epsilon"], facts["neighbours"])
        stated = Decimal(facts["delta"])
        holds = stated.is_finite() and stated >= bound.delta
    except (PolicyEngineError, ArithmeticError):
        return "", "the numbers are outside the formula's domain"
    shown = f"δ = {facts['delta']} at ε = {facts['epsilon']}, k = {facts['k']}"
    if not holds:
        return "", f"{shown}, rate {facts['rate']}: the true δ is {bound.delta}"
    return f"{shown}: recomputed [EXACT]", ""


def _check_sql(facts: dict[str, Any]) -> _Result:
    digest = "sha256:" + hashlib.sha256(facts["sql"].encode()).hexdigest()
    if facts["sql_digest"] != digest:
        return "", "the SQL is not the SQL of its digest"
    try:
        proof = prove(facts["sql"], facts["dialect"])
    except PolicyEngineError as error:
        return "", str(error)
    shape = proof.shape
    if shape is None:
        return "", "the SQL proves nothing: " + "; ".join(map(str, proof.findings))
    columns = [column.name for column in shape.columns]
    if (shape.k, columns, shape.form, shape.unit) != (
        facts["k"],
        list(facts["columns"]),
        facts["form"],
        facts["unit"],
    ):
        return "", f"the SQL is another release: k = {shape.k}, columns {', '.join(columns)}"
    if shape.rate > Fraction(facts["rate"]):
        return "", f"the SQL samples at {float(shape.rate):g}, above the stated {facts['rate']}"
    return "the SQL is the certified mechanism: proved again", ""


def _check_file(facts: dict[str, Any], statement: Statement, release: Path) -> list[_Result]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with release.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"{release} could not be read: {error.strerror}") from None
    if digest != statement.subject_sha256:
        return [("", f"{release.name} is not the release: its SHA-256 is {digest}")]
    try:
        table = pq.read_table(release)
    except (pa.ArrowException, OSError):
        return [("", f"{release.name} is no Parquet file")]
    return [
        (f"{release.name} has the certified SHA-256", ""),
        _check_columns(facts, table.column_names),
        _check_counts(facts, table),
        _check_order(facts, table),
    ]


def _check_columns(facts: dict[str, Any], found: list[str]) -> _Result:
    count = [facts["count"]] if facts.get("count") else []
    wanted = [*facts["columns"], *count]
    if [name.lower() for name in found] != wanted:
        return "", f"the columns are {', '.join(found)}, certified are {', '.join(wanted)}"
    return "it has the certified columns and no other", ""


def _rows(facts: dict[str, Any], table: Any) -> list[tuple[Any, ...]]:
    keys = [name for name in table.column_names if name.lower() in facts["columns"]]
    columns = [table.column(name).to_pylist() for name in keys]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def _check_counts(facts: dict[str, Any], table: Any) -> _Result:
    rows, k = _rows(facts, table), facts["k"]
    if facts["form"] == "rows":
        sizes = Counter(rows)
    else:
        count = next((c for c in table.column_names if c.lower() == facts.get("count")), None)
        if count is None:
            return "", "the certified count column is missing"
        if len(set(rows)) != len(rows):
            return "", "a group stands in two rows"
        sizes = Counter(dict(zip(rows, table.column(count).to_pylist(), strict=True)))
    small = [size for size in sizes.values() if size is None or size < k]
    if small:
        return "", f"{len(small)} of {len(sizes)} groups have fewer than k = {k}"
    return f"every one of {len(sizes)} groups has at least {k}", ""


def _check_order(facts: dict[str, Any], table: Any) -> _Result:
    rows = [tuple(_sort_key(value) for value in row) for row in _rows(facts, table)]
    if any(a > b for a, b in pairwise(rows)):
        return "", "the rows are not sorted by the released columns"
    return "its rows are sorted by what they show", ""


def _sort_key(value: Any) -> tuple[bool, Any]:
    """NULL last, text by its UTF-8 bytes, as the certified ORDER BY has it."""
    if isinstance(value, str):
        return (False, value.encode())
    return (value is None, 0 if value is None else value)
