"""What a release promises, as others ask for it: a registry's entry, and a checklist of hazards.

The registry of deployed differential privacy: its 32 fields are those of
schemas/deployments-schema.yaml of opendp/deployments-registry-data at 3e9c812 (read there). Texts
are Markdown in the registry, and escaped as such. NIST SP 800-226: an item is ticked only where
certificate, policy or ledger state what it asks for. Sections are those of the draft of December
2023, whose body was read; the final text of March 2025 is known through quotations alone, and the
document says so.
"""

from __future__ import annotations

import re
from decimal import Decimal
from math import inf, nextafter

from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.sentences import sentences_of
from policy_engine.policy.escapes import cell
from policy_engine.report.exports import fields
from policy_engine.report.hazards import ANSWER, CHOICES, LEDGER, Answered
from policy_engine.report.promise import SIDE_CHANNELS

_SCHEMA = (
    "https://github.com/opendp/deployments-registry-data/blob/3e9c812/schemas/"
    "deployments-schema.yaml"
)

_ROWS = ("source", "edition", "filter")
"""The steps that say which rows are read."""


def _chosen(source: fields.ExportSource) -> tuple[str, ...]:
    assumed = source.certificate.assumptions
    return sentences_of(each for each in assumed if each.code in CHOICES)


def registry(source: fields.ExportSource) -> fields.Exported:
    """A draft of an entry: complete but for its gaps, which stand at its head as comments."""
    sections = {**_what_it_is(source), **_how_it_was_made(source)}
    asked = [each for section in sections.values() for each in section]
    missing = fields.gaps(asked)
    tier = min((each.tier for each in asked if each.value is None), default=4) - 1
    name = source.band.name or ""
    document: dict[str, fields.Yaml] = {
        "url_slug": re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-"),
        "status": "Draft",
        "tier": max(tier, 1),
        "deployment": {section: fields.filled(each) for section, each in sections.items()},
    }
    head = (f"A draft for the registry of deployed differential privacy: {_SCHEMA}", *missing)
    return fields.Exported(fields.yaml_text(document, head), missing)


def _what_it_is(source: fields.ExportSource) -> dict[str, list[fields.ExportField]]:
    band, promise = source.band, source.details.promise
    kind = "Summary statistics" if source.claim.count else "Dataset"
    publisher = [cell(band.releaser_note)] if band.releaser_note else None
    variant = "Pure DP" if Decimal(promise.delta) == 0 else "Approximate DP"
    steps = [each.text for each in source.details.how.steps if each.name in _ROWS]
    domain = f"Any rows of this table: {'; '.join(steps)}" if source.relation else None
    numbers = {"epsilon": at_least(promise.epsilon), "delta": at_least(promise.delta)}
    unit = (source.details.protection.unit, promise.neighbours)
    meaning = source.details.how.meaning
    described = (band.description, *meaning) if band.description else None
    return {
        "basic": [
            _text("name", band.name),
            fields.ExportField("data_curators", publisher, fields.PUBLISHER),
            _text("intended_use", band.purpose, fields.PURPOSE),
            fields.ExportField("data_product_type", kind),
            _text("data_product_region", band.region, fields.about("region")),
            _text("description", described, fields.DESCRIPTION),
            fields.ExportField("publication_date", band.date[:10] if band.date else None),
            _text("data_product_sector", band.sector, fields.about("sector")),
        ],
        "dp_variant": [
            fields.ExportField("variant_name", variant, tier=2),
            _text("data_domain", domain, "", 3),
            _text("unprotected_quantities", fields.unprotected(source), tier=3),
        ],
        "privacy_loss": [
            _text("privacy_unit", promise.unit, tier=2),
            _text("privacy_unit_details", unit, tier=3),
            fields.ExportField("privacy_parameters", numbers, tier=2),
            _text("privacy_parameters_details", (promise.numbers, promise.sentence), tier=3),
        ],
    }


def _how_it_was_made(source: fields.ExportSource) -> dict[str, list[fields.ExportField]]:
    who, how, check = source.details.protection, source.details.how, source.check
    why = source.details.promise.justification
    actors = (
        f"- receives it: {who.recipients}",
        f"- access: {who.access}",
        *(f"- trusted: {each}" for each in who.trusted),
        f"- protected from: {who.against}",
    )
    mechanisms = (
        f"- {how.mechanism}",
        *(f"- {each.name}: {each.text}" for each in how.steps),
        f"- randomness: {source.randomness}",
        *([f"- engine: {check.engine}"] if check.engine else []),
        *(f"- a number that is shown: {each}" for each in how.meaning),
        *(f"- not covered: {each}" for each in SIDE_CHANNELS),
    )
    recodes = [f"- {each.name}: {each.recode}" for each in source.details.columns if each.recode]
    assumed = [f"- assumed: {each}" for each in _chosen(source)]
    before = (*recodes, *assumed) if assumed else None
    is_told = who.recipients and who.access
    no_access = f"{fields.about('recipients')}, and 'about.access'"
    digests = (
        f"- release sha256:{check.release_sha256}",
        f"- certificate sha256:{check.certificate_sha256}",
    )
    published = "One file or table is published, of this digest."
    return {
        "deployment_model": [
            fields.ExportField("model_name", "Central", tier=2),
            _text("model_name_details", who.trusted[0]),
            _text("actors", actors if is_told else None, no_access, 3),
            _text("release_type", None, tier=2),
            _text("release_type_details", None),
            _text("data_source_type", None, tier=2),
            _text("data_source_type_details", None, tier=3),
            fields.ExportField("access_type", "Non-interactive", tier=2),
            _text("access_type_details", published, tier=3),
        ],
        "accounting": [
            _text("post_processing", meaning_of(source.claim).afterwards(), tier=3),
            _text("composition", source.composition(), LEDGER, 3),
        ],
        "implementation": [
            _text("preprocessing_and_hyperparameter_tuning", before, tier=3),
            _text("mechanisms", mechanisms, tier=3),
            _text("justification", why, fields.about("justification"), 3),
        ],
        "administrative": [
            _text("sources", (f"- to check it: {check.command}",)),
            _text("notes", digests),
            _text("registry_authors", None, "write who filled this in: a list of names"),
        ],
    }


def at_least(number: str) -> float:
    """A number as a float that is not below it: an ε or δ is never told smaller than it is.

    >>> at_least("0.5"), at_least("2.6317834665e-11"), at_least("0.1000000000000000056")
    (0.5, 2.6317834665e-11, 0.10000000000000002)
    """
    found = float(number)
    return found if Decimal(repr(found)) >= Decimal(number) else nextafter(found, inf)


def _text(
    name: str, value: str | tuple[str, ...] | None, remedy: str = fields.BY_HAND, tier: int = 1
) -> fields.ExportField:
    """A field of free text, which the registry renders as Markdown."""
    if isinstance(value, str):
        return fields.ExportField(name, cell(value), remedy, tier)
    return fields.ExportField(name, value and tuple(map(_line, value)), remedy, tier)


def _line(text: str) -> str:
    """A line, or an item of a list, whose hyphen is ours."""
    return f"- {cell(text[2:])}" if text.startswith("- ") else cell(text)


_HEAD = (
    "A tick says that the certificate, the policy or the ledger states it, not that it is enough."
    " Questions and sections are in our words, after the initial public draft of December 2023"
    " (<https://csrc.nist.gov/pubs/sp/800/226/ipd>). The final text of March 2025"
    " (<https://doi.org/10.6028/NIST.SP.800-226>) is known to us through quotations only: look"
    " there before you cite a section."
)
_CERTIFICATE, _CLAIM, _LEDGER = "certificate", "certificate: claim", "ledger"


def nist(source: fields.ExportSource) -> fields.Exported:
    """The checklist: each item with what is stated and by what, or \"not stated\"."""
    claims = _claims(source)
    name = source.band.name or source.band.release
    lines = [f"# NIST SP 800-226: {cell(name)}", "", _HEAD, "", "## Claims", ""]
    lines += [*map(_item, claims), "", "## Hazards", "", *map(_item, source.details.hazards)]
    items = (*claims, *source.details.hazards)
    missing = (f"not stated: {each.name}; {each.remedy}" for each in items if not each.answer)
    return fields.Exported("\n".join(lines) + "\n", tuple(missing))


def _item(each: Answered) -> str:
    if not each.answer:
        return f"- [ ] **{each.name}**: not stated; {each.remedy}"
    return f"- [x] **{each.name}**: {cell('; '.join(each.answer))} ({each.where})"


def _claims(source: fields.ExportSource) -> list[Answered]:
    own, who, how = source.details.promise, source.details.protection, source.details.how
    bound = how.steps[0].text
    return [
        _said("ε and δ, 2.2 and 2.3", f"{_CERTIFICATE}: epsilon, delta", own.numbers),
        _said("Unit of privacy, 2.4", f"{_CERTIFICATE}: unit", who.unit),
        _said("Neighbours, 2.4", f"{_CERTIFICATE}: neighbours", own.neighbours),
        _said("Bound of one unit's contribution, 2.4", _CLAIM, bound),
        _said("Purpose", "policy: purpose", source.band.purpose, remedy=fields.PURPOSE),
        _of_author("Who receives it, 4.2", "recipients", who.recipients),
        _said(
            "Who and what is trusted, 4.2",
            f"{_CERTIFICATE}: assumptions",
            *sentences_of(source.certificate.assumptions),
        ),
        _said("Mechanism, 3.1", f"{_CERTIFICATE}: mechanism", how.mechanism),
        _said("Randomness, 4.3", f"{_CERTIFICATE}: randomness", source.randomness),
        _said(
            "Composition with other releases, 2.2",
            _LEDGER,
            *(source.composition() or ()),
            remedy=LEDGER,
        ),
        _of_author("Why these numbers, 2.3", "justification", own.justification),
    ]


def _said(name: str, where: str, *texts: str | None, remedy: str = ANSWER) -> Answered:
    """An item with what is stated, and where."""
    return Answered(name, where, tuple(each for each in texts if each), remedy)


def _of_author(name: str, key: str, text: str | None) -> Answered:
    return _said(name, f"policy: about.{key}", text, remedy=fields.about(key))
