"""Checking a release and its certificate from the files alone.

Neither the source nor a warehouse is needed: the signature is checked first, then the
numbers, then the SQL is proved again, and then the release itself is looked at.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from policy_engine.accounting.domain import decimal, sampling_rate
from policy_engine.accounting.exact import delta_exact
from policy_engine.attest.attestation import Statement, open_envelope
from policy_engine.attest.keys import TrustedKeys
from policy_engine.errors import DomainError, FileError, UsageError, VerificationFailed
from policy_engine.syntax.names import fold
from policy_engine.verify.certificate import MECHANISM, PREDICATE_VERSION, population_rate
from policy_engine.verify.proof import prove


@dataclass(frozen=True)
class Verified:
    """What was checked and held, what was not looked at, and what the certificate assumes."""

    subject: str
    checked: tuple[str, ...]
    unchecked: tuple[str, ...]
    assumptions: tuple[str, ...]
    facts: Mapping[str, Any]


def verify_release(
    envelope: str, trusted: TrustedKeys, release: Path | str | None = None
) -> Verified:
    """Verify the text of a certificate, and with ``release`` the file it speaks of.

    Raises:
        UsageError: ``envelope`` is the path of a certificate, not its text.
        VerificationFailed: with every reason; an unknown mechanism or version is refused.
        FileError: the release cannot be read.
    """
    if not isinstance(envelope, str) or envelope.strip().endswith(".json"):
        raise UsageError("verify takes the text of a certificate: Path(…).read_text()")
    statement = open_envelope(envelope, trusted)
    facts = _facts(statement)
    checked = [f"signed by {statement.key_id}"]
    reasons: list[str] = []
    for passed, failed in (
        _check_numbers(facts),
        _check_sql(facts),
        *([] if release is None else _check_file(facts, statement, Path(release))),
    ):
        (reasons if failed else checked).append(failed or passed)
    if reasons:
        raise VerificationFailed(tuple(reasons))
    unchecked = (_NOT_LOOKED_AT,) if release is None else ()
    shown = {name: facts[name] for name in ("k", "rate", "epsilon", "delta", "neighbours", "unit")}
    assumptions = tuple(facts["assumptions"])
    return Verified(statement.subject_name, tuple(checked), unchecked, assumptions, shown)


_NOT_LOOKED_AT = "the release itself was not looked at: name it with --release"
_TEXTS = (
    "rate", "sampled_at", "epsilon", "delta", "neighbours", "unit", "form", "sql",
    "sql_digest", "dialect",
)  # fmt: skip
_LISTS = ("assumptions", "columns")
_FORMS = ("counts", "rows")


def _facts(statement: Statement) -> dict[str, Any]:
    """The predicate, once it is of a kind and version this engine knows."""
    facts: dict[str, Any] = dict(statement.predicate)
    kind = (facts.get("mechanism"), facts.get("version"))
    if kind != (MECHANISM, PREDICATE_VERSION) or isinstance(kind[1], bool):
        raise VerificationFailed(
            (
                f"the certificate must be of {MECHANISM}, version {PREDICATE_VERSION};"
                f" found {_short(kind[0])}, version {_short(kind[1])}",
            )
        )
    wrong = [name for name in _TEXTS if not isinstance(facts.get(name), str)]
    wrong += [name for name in _LISTS if not _is_texts(facts.get(name))]
    wrong += [] if type(facts.get("k")) is int else ["k"]
    wrong += [] if isinstance(facts.get("count"), str | None) else ["count"]
    wrong += [] if facts.get("form") in _FORMS else ["form"]
    if wrong:
        raise VerificationFailed((f"the certificate lacks or misstates: {', '.join(wrong)}",))
    return facts


def _is_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)


def _short(value: object) -> str:
    """What a message shows of a fact that may be anything."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return repr(value[:60])
    small = isinstance(value, int) and abs(value) < 10**60
    return str(value) if small else f"another {type(value).__name__}"


_Result = tuple[str, str]  # what held, or what failed: one of the two is empty


def _check_numbers(facts: dict[str, Any]) -> _Result:
    try:
        bound = delta_exact(facts["k"], facts["rate"], facts["epsilon"], facts["neighbours"])
        stated = decimal("delta", "a number", facts["delta"])
    except DomainError as error:
        return "", f"the numbers are outside the formula's domain: {error.parameter}"
    shown = f"δ = {stated} at ε = {facts['epsilon']}, k = {facts['k']}"
    if stated < bound.delta:
        return "", f"{shown}, rate {facts['rate']}: the true δ is {bound.delta}"
    return f"{shown}: recomputed [EXACT]", ""


def _check_sql(facts: dict[str, Any]) -> _Result:
    # A lone surrogate is no text; as what it is replaced with, it has another digest.
    digest = "sha256:" + hashlib.sha256(facts["sql"].encode(errors="replace")).hexdigest()
    if facts["sql_digest"] != digest:
        return "", "the SQL is not the SQL of its digest"
    try:
        proof = prove(facts["sql"], facts["dialect"])
    except UsageError as error:
        return "", str(error)
    shape = proof.shape
    if shape is None:
        return "", "the SQL proves nothing: " + "; ".join(map(str, proof.findings))
    columns = [column.name for column in shape.columns]
    proved = {
        "k": shape.k,
        "columns": columns,
        "count": shape.count,
        "form": shape.form,
        "unit": shape.unit,
    }
    stated = {name: facts.get(name) for name in proved} | {"columns": list(facts["columns"])}
    if proved != stated:
        return "", f"the SQL is another release: k = {shape.k}, columns {', '.join(columns)}"
    try:
        stated_rate = Fraction(sampling_rate(facts["rate"]))
        sampled_at = decimal("sampled_at", "1 or a rate below it", facts["sampled_at"])
        least = population_rate(shape.rate, shape.method, sampled_at)
    except DomainError as error:
        return "", f"a rate is outside the formula's domain: {error.parameter}"
    if stated_rate < least:
        return "", f"the SQL samples at {float(least):g}, above the stated {facts['rate']}"
    return "the SQL is the certified mechanism: proved again", ""


def _plain(column: Any) -> Any:
    """Dates and times as the numbers that they are: Python's know no year before 1."""
    import pyarrow as pa

    if pa.types.is_date32(column.type) or pa.types.is_time32(column.type):
        return column.cast(pa.int32())
    if pa.types.is_timestamp(column.type) or pa.types.is_time64(column.type):
        return column.cast(pa.int64())
    return column


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
    certified = _check_columns(facts, table.column_names)
    if certified[1]:
        return [certified]
    keys = table.select(range(len(facts["columns"])))
    if any(pa.types.is_nested(kind) for kind in keys.schema.types):
        return [("", "a released column is not of a plain type")]
    columns = [_plain(column).to_pylist() for column in keys.columns]
    rows = list(zip(*columns, strict=True)) if columns else [()] * table.num_rows
    return [
        (f"{release.name} has the certified SHA-256", ""),
        certified,
        _check_counts(facts, rows, table),
        _check_order(rows),
    ]


def _check_columns(facts: dict[str, Any], found: list[str]) -> _Result:
    count = [facts["count"]] if facts.get("count") else []
    wanted = [*facts["columns"], *count]
    if [fold(name) for name in found] != wanted:
        return "", f"the columns are {', '.join(found)}, certified are {', '.join(wanted)}"
    return "it has the certified columns and no other", ""


_Rows = list[tuple[Any, ...]]


def _check_counts(facts: dict[str, Any], rows: _Rows, table: Any) -> _Result:
    import pyarrow as pa

    k = facts["k"]
    if facts["form"] == "rows":
        sizes = Counter(rows)
    elif not facts.get("count"):
        return "", "the release does not show its counts, so that k cannot be checked"
    else:
        counts = table.column(table.num_columns - 1)
        if not pa.types.is_integer(counts.type) or counts.null_count:
            return "", "the count column does not hold whole numbers"
        if len(set(rows)) != len(rows):
            return "", "a group stands in two rows"
        sizes = Counter(dict(zip(rows, counts.to_pylist(), strict=True)))
    small = [size for size in sizes.values() if size < k]
    if small:
        return "", f"{len(small)} of {len(sizes)} groups have fewer than k = {k}"
    return f"every one of {len(sizes)} groups has at least {k}", ""


def _check_order(rows: _Rows) -> _Result:
    keys = [tuple(_sort_key(value) for value in row) for row in rows]
    if any(a > b for a, b in pairwise(keys)):
        return "", "the rows are not sorted by the released columns"
    return "its rows are sorted by what they show", ""


def _sort_key(value: Any) -> tuple[bool, Any]:
    """NULL last, text by its UTF-8 bytes, as the certified ORDER BY has it."""
    if isinstance(value, str):
        return (False, value.encode())
    return (value is None, 0 if value is None else value)
