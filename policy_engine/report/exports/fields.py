"""Fields that a standard asks for, with what a certificate answers; and YAML made of them.

A field without a value is left out of the document, and named with what would fill it: no text of
ours stands in for what nobody stated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Any, TypeAlias
from uuid import NAMESPACE_URL, uuid5

from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.words import source_of
from policy_engine.policy.escapes import escaped
from policy_engine.policy.scalars import counted
from policy_engine.report.evidence import Evidence, PaidAccount
from policy_engine.report.promise import PromiseSaid
from policy_engine.report.view import Check, Details, PageBand, ReportView
from policy_engine.values import frozen

PRODUCER = "https://policy-engine.dev"
BY_HAND = "write it in here: no key of policy, account or project file states it"
PURPOSE = "write 'purpose' in the policy"
DESCRIPTION = "name the policy with --policy, and write its 'description'"
PUBLISHER = "say whose the signing key is: its 'note' in keys.json, which --keyring names"


def about(key: str) -> str:
    """What to do where a key of ``about`` is not stated.

    >>> about("contact")
    "write 'about.contact' in the policy"
    """
    return f"write 'about.{key}' in the policy"


Yaml: TypeAlias = "str | float | Sequence[Yaml] | Mapping[str, Yaml] | None"
"""What a document of others is made of; a tuple is a text of several lines."""


@frozen
class ExportField:
    """A field by its name there: its value, and what to do where there is none.

    ``tier`` is the registry's; other standards have none.
    """

    name: str
    value: Yaml
    remedy: str = BY_HAND
    tier: int = 1


@frozen
class Exported:
    """A document of another's form, as text, and the ``gaps``: a line for each missing field."""

    text: str
    gaps: tuple[str, ...]


@frozen
class ExportSource:
    """What is exported of a certificate that holds: the parts of its report, and its claim."""

    band: PageBand
    check: Check
    details: Details
    budget: PaidAccount | None
    certificate: Certificate

    @property
    def promise(self) -> PromiseSaid:
        """What is promised."""
        return self.details.promise

    @property
    def claim(self) -> Claim:
        """What is certified."""
        return self.certificate.claim

    @property
    def randomness(self) -> str:
        """What is drawn, and how."""
        return meaning_of(self.claim).randomness(self.certificate.engine)

    @classmethod
    def of(cls, found: Evidence, shown: ReportView) -> ExportSource:
        """That of a certificate. ValueError where it does not hold: nothing is exported of it."""
        if found.certificate is None or shown.details is None or shown.band.colour == "red":
            raise ValueError("a certificate that does not hold is not exported")
        return cls(shown.band, shown.check, shown.details, shown.account, found.certificate)

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
        digest = self.check.certificate_sha256
        return str(uuid5(NAMESPACE_URL, f"{PRODUCER}/certificate/{digest}"))

    @property
    def promised(self) -> dict[str, str]:
        """What tells a reader of another form which promise this is, and by what file."""
        return {
            "epsilon": self.promise.epsilon,
            "delta": self.promise.delta,
            "privacy_unit": self.promise.unit,
            "neighbours": self.certificate.promise.neighbours,
            "certificate_sha256": self.check.certificate_sha256,
            "release_sha256": self.check.release_sha256,
            "policy_digest": self.check.policy_digest or "",
        }

    def number(self, name: str) -> str:
        """What the numbers in a released column are."""
        if name in self.claim.law.before:
            return "the number of the grouping that a row is of"
        own = re.compile(rf"{re.escape(name)} (counts people|is how many|is the (mean|sum) of|/ )")
        said = [text for text in self.details.how.meaning if own.match(text)]
        return "; ".join(said or self.details.how.meaning[:1])

    def composition(self) -> tuple[str, ...] | None:
        """What the account has paid, each ε with its δ and the units; None without a ledger."""
        budget = self.budget
        if budget is None:
            return None
        units = ", ".join(budget.units)
        rule = "" if budget.limit else "; the account has no limit"
        rows = (
            ("earlier releases", budget.before),
            ("this release", budget.this),
            ("later releases", budget.since),
            ("limit", budget.limit),
        )
        left = () if budget.left is None else (budget.left.words,)
        where = "" if budget.window is None else f" in {budget.window}"
        return (
            f"account {budget.account}: {counted(budget.charges, 'charge')}{where} for the same"
            f" people, ε and δ of their certificates added up{rule}",
            *(
                f"{name}: ε = {each.epsilon}, δ = {each.delta}, unit: {units}"
                for name, each in rows
                if each is not None
            ),
            *(f"left, by the account's own rule: {text}" for text in left),
            *budget.promises,
        )


def filled(fields: Iterable[ExportField]) -> dict[str, Yaml]:
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


def yaml_text(document: Mapping[str, Yaml], head: tuple[str, ...]) -> str:
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


def _styled(value: Yaml) -> Any:
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
