"""Fields that a standard asks for, with what a certificate answers; and YAML made of them.

A field without a value is left out of the document and named with what to do about it. The value
is None where nobody stated it: no text of ours stands in for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from io import StringIO
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from policy_engine.policy.escapes import escaped
from policy_engine.report.view import Details, ReportView

PRODUCER = "https://policy-engine.dev"
BY_HAND = "write it in here: no key of a policy states it"
PURPOSE = "write purpose in the policy"
DESCRIPTION = "name the policy with --policy, and write its description"
KEY_NOTE = "give the signing key a note in the keyring"
OLD = "certify anew: a certificate of this version states no claim"


def about(key: str) -> str:
    """What to do where a key of ``about`` is not stated.

    >>> about("contact")
    'write about.contact in the policy'
    """
    return f"write about.{key} in the policy"


@dataclass(frozen=True)
class ExportField:
    """A field by its name there: its value, and what to do where there is none.

    ``tier`` is the registry's; other standards have none.
    """

    name: str
    value: Any
    remedy: str = BY_HAND
    tier: int = 1

    @property
    def gap(self) -> str:
        """What is not stated, and what to do: one line."""
        return f"not stated: {self.name}; {self.remedy}"


@dataclass(frozen=True)
class Exported:
    """A document of another's form, as text, and the ``gaps``: a line for each missing field."""

    text: str
    gaps: tuple[str, ...]


def filled(fields: Iterable[ExportField]) -> dict[str, Any]:
    """The fields that have a value, by name.

    >>> filled([ExportField("a", "x"), ExportField("b", None)])
    {'a': 'x'}
    """
    return {each.name: each.value for each in fields if each.value is not None}


def gaps(fields: Iterable[ExportField]) -> tuple[str, ...]:
    """The lines of the fields that have none.

    >>> gaps([ExportField("contact", None, about("contact"))])
    ('not stated: contact; write about.contact in the policy',)
    """
    return tuple(each.gap for each in fields if each.value is None)


def details_of(view: ReportView) -> Details:
    """What the certificate says. ValueError where it does not hold: nothing is exported of it."""
    if view.details is None or view.band.colour == "red":
        raise ValueError("a certificate that does not hold is not exported")
    return view.details


def identity(view: ReportView) -> str:
    """A UUID of the certificate: the same certificate has the same, whoever exports it."""
    return str(uuid5(NAMESPACE_URL, f"{PRODUCER}/certificate/{view.check.certificate_sha256}"))


def facts_of(view: ReportView) -> dict[str, str]:
    """What tells a reader of another format which promise this is, and by what file."""
    own = details_of(view).promise
    found = {
        "epsilon": own.epsilon,
        "delta": own.delta,
        "privacy_unit": own.unit,
        "neighbours": own.neighbours,
        "certificate_sha256": view.check.certificate_sha256,
        "release_sha256": view.check.release_sha256,
        "policy_digest": view.check.policy_digest,
    }
    return {name: text for name, text in found.items() if text is not None}


def yaml_text(document: dict[str, Any], head: tuple[str, ...]) -> str:
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
