"""Fields that a standard asks for, with what a certificate answers; and YAML made of them.

A field without a value is left out of the document, and named with what would fill it: no text of
ours stands in for what nobody stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import StringIO
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.words import source_of
from policy_engine.policy.escapes import escaped
from policy_engine.policy.scalars import counted
from policy_engine.report.evidence import Evidence

PRODUCER = "https://policy-engine.dev"
BY_HAND = "write it in here: no key of policy, account or project file states it"
PURPOSE = "write 'purpose' in the policy"
DESCRIPTION = "name the policy with --policy, and write its 'description'"
PUBLISHER = "give the signing key a note in the keyring (keys add --note), and name that one"
LEDGER = "export where the account's ledger is"


def about(key: str) -> str:
    """What to do where a key of ``about`` is not stated.

    >>> about("contact")
    "write 'about.contact' in the policy"
    """
    return f"write 'about.{key}' in the policy"


@dataclass(frozen=True)
class ExportField:
    """A field by its name there: its value, and what to do where there is none.

    ``tier`` is the registry's; other standards have none.
    """

    name: str
    value: Any
    remedy: str = BY_HAND
    tier: int = 1


@dataclass(frozen=True)
class Exported:
    """A document of another's form, as text, and the ``gaps``: a line for each missing field."""

    text: str
    gaps: tuple[str, ...]


@dataclass(frozen=True)
class ExportSource:
    """What is exported of a certificate that holds: the parts of its report, and its claim."""

    band: Mapping[str, Any]
    check: Mapping[str, Any]
    promise: Mapping[str, Any]
    protection: Mapping[str, Any]
    how: Mapping[str, Any]
    columns: tuple[Mapping[str, Any], ...]
    budget: Mapping[str, Any] | None
    certificate: Certificate

    @property
    def claim(self) -> Claim:
        """What is certified."""
        return self.certificate.claim

    @property
    def randomness(self) -> str:
        """What is drawn, and how."""
        return meaning_of(self.claim).randomness(self.certificate.engine)

    @classmethod
    def of(cls, found: Evidence, made: Mapping[str, Any]) -> ExportSource:
        """That of a certificate. ValueError where it does not hold: nothing is exported of it."""
        details = made["details"]
        if found.certificate is None or details is None or made["band"]["colour"] == "red":
            raise ValueError("a certificate that does not hold is not exported")
        parts = {name: details[name] for name in ("promise", "protection", "how", "columns")}
        parts |= {name: made[name] for name in ("band", "check")}
        parts["budget"] = made["account"]
        return cls(certificate=found.certificate, **parts)

    @property
    def relation(self) -> str:
        """What was read."""
        return source_of(self.claim)

    @property
    def beside(self) -> tuple[str, ...]:
        """The released columns that no column is recoded to: groupings, sums, the count."""
        law = self.claim.law
        return (*law.before, *law.beside, *([self.claim.count] if self.claim.count else []))

    @property
    def identity(self) -> str:
        """A UUID of the certificate: the same certificate has the same, whoever exports it."""
        digest = self.check["certificate_sha256"]
        return str(uuid5(NAMESPACE_URL, f"{PRODUCER}/certificate/{digest}"))

    @property
    def promised(self) -> dict[str, str]:
        """What tells a reader of another form which promise this is, and by what file."""
        return {
            "epsilon": self.promise["epsilon"],
            "delta": self.promise["delta"],
            "privacy_unit": self.promise["unit"],
            "neighbours": self.certificate.promise.neighbours,
            "certificate_sha256": self.check["certificate_sha256"],
            "release_sha256": self.check["release_sha256"],
            "policy_digest": self.check["policy_digest"] or "",
        }

    def composition(self) -> tuple[str, ...] | None:
        """What the account has paid, each ε with its δ and the units; None without a ledger."""
        budget = self.budget
        if budget is None:
            return None
        units = ", ".join(budget["units"])
        rows = ("before", "this", "since", "limit")
        left = budget["left"]
        rule = "" if budget["limit"] else "; the account has no limit"
        return (
            f"account {budget['account']}: {counted(budget['charges'], 'charge')} for the same"
            f" people, ε and δ of their certificates added up{rule}",
            *(
                f"{'this release' if name == 'this' else name}: ε = {each['epsilon']},"
                f" δ = {each['delta']}, unit: {units}"
                for name, each in ((name, budget[name]) for name in rows)
                if each
            ),
            *(() if left is None else (f"left, by the account's own rule: {left['words']}",)),
        )


def filled(fields: Iterable[ExportField]) -> dict[str, Any]:
    """The fields that have a value, by name.

    >>> filled([ExportField("a", "x"), ExportField("b", None)])
    {'a': 'x'}
    """
    return {each.name: each.value for each in fields if each.value is not None}


def gaps(fields: Iterable[ExportField]) -> tuple[str, ...]:
    """The lines of the fields that have none.

    >>> gaps([ExportField("contact", None, about("contact"))])
    ("not stated: contact; write 'about.contact' in the policy",)
    """
    return tuple(f"not stated: {each.name}; {each.remedy}" for each in fields if each.value is None)


def yaml_text(document: Mapping[str, Any], head: tuple[str, ...]) -> str:
    """YAML 1.1 and 1.2 alike: each text is quoted, each character shows, ``head`` are comments.

    A tuple is a text of several lines.

    >>> print(yaml_text({"a": "no\\u202e", "b": 0.5, "c": ("x", "y")}, ("made",)), end="")
    # made
    a: "no\\\\u202e"
    b: 0.5
    c: |-
      x
      y
    """
    from ruamel.yaml import YAML

    yaml, written = YAML(), StringIO()
    yaml.width = 100_000
    yaml.indent(mapping=2, sequence=4, offset=2)
    made = _styled(document)
    made.yaml_set_start_comment("\n".join(map(escaped, head)))
    yaml.dump(made, written)
    return written.getvalue()


def _styled(value: Any) -> Any:
    from ruamel.yaml.comments import CommentedMap, CommentedSeq
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

    match value:
        case dict():
            return CommentedMap((key, _styled(item)) for key, item in value.items())
        case list():
            return CommentedSeq(map(_styled, value))
        case tuple():
            return LiteralScalarString("\n".join(map(escaped, value)))
        case str():
            return DoubleQuotedScalarString(escaped(value))
        case _:
            return value


_PUBLIC = "Names of columns, recodes, filters, limits, chances and the query itself are public"


def unprotected(source: ExportSource) -> str:
    """Quantities that are shown without protection, or what protects those that are shown."""
    return f"{_PUBLIC}; {meaning_of(source.claim).unprotected()}."
