"""An entry of the registry of deployed differential privacy.

Its 32 fields are those of schemas/deployments-schema.yaml of opendp/deployments-registry-data at
3e9c812 (read there). Texts are Markdown in the registry, and escaped as such.
"""

from __future__ import annotations

import re
from decimal import Decimal
from math import inf, nextafter

from policy_engine.kernel.sentences import ALWAYS, ALWAYS_NOISY
from policy_engine.policy.escapes import cell
from policy_engine.report.exports.fields import (
    BY_HAND,
    DESCRIPTION,
    LEDGER,
    OLD,
    PUBLISHER,
    PURPOSE,
    Exported,
    ExportField,
    ExportSource,
    about,
    afterwards,
    filled,
    gaps,
    unprotected,
    yaml_text,
)

SCHEMA = (
    "https://github.com/opendp/deployments-registry-data/blob/3e9c812/schemas/"
    "deployments-schema.yaml"
)
CHOICES = (ALWAYS[1], ALWAYS_NOISY[1])
"""What a certificate assumes of how recodes and limits were chosen."""


def export(source: ExportSource) -> Exported:
    """A draft of an entry: complete but for its gaps, which stand at its head as comments."""
    sections = {
        "basic": _basic(source),
        "dp_variant": _variant(source),
        "privacy_loss": _loss(source),
        "deployment_model": _model(source),
        "accounting": [
            _text("post_processing", afterwards(source), tier=3),
            _text("composition", source.composition(), LEDGER, 3),
        ],
        "implementation": _implementation(source),
        "administrative": _administrative(source),
    }
    fields = [each for section in sections.values() for each in section]
    missing = gaps(fields)
    tier = min((each.tier for each in fields if each.value is None), default=4) - 1
    name = source.view.band.name or ""
    document = {
        "url_slug": re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-"),
        "status": "Draft",
        "tier": max(tier, 1),
        "deployment": {section: filled(each) for section, each in sections.items()},
    }
    head = (f"A draft for the registry of deployed differential privacy: {SCHEMA}", *missing)
    return Exported(yaml_text(document, head), missing)


def _basic(source: ExportSource) -> list[ExportField]:
    band = source.view.band
    kind = "Summary statistics" if source.facts["count"] else "Dataset"
    publisher = [cell(band.releaser_note)] if band.releaser_note else None
    return [
        _text("name", band.name),
        ExportField("data_curators", publisher, PUBLISHER),
        _text("intended_use", band.purpose, PURPOSE),
        ExportField("data_product_type", kind),
        _text("data_product_region", band.region, about("region")),
        _text("description", band.description, DESCRIPTION),
        ExportField("publication_date", band.date[:10] if band.date else None),
        _text("data_product_sector", band.sector, about("sector")),
    ]


def _variant(source: ExportSource) -> list[ExportField]:
    name = "Pure DP" if Decimal(source.details.promise.delta) == 0 else "Approximate DP"
    steps = [each.text for each in source.details.how.steps if each.name in ("source", "filter")]
    domain = f"Any rows of this relation: {'; '.join(steps)}"
    return [
        ExportField("variant_name", name, tier=2),
        _text("data_domain", domain if source.relation else None, OLD, 3),
        _text("unprotected_quantities", unprotected(source), tier=3),
    ]


def _loss(source: ExportSource) -> list[ExportField]:
    promise = source.details.promise
    numbers = {"epsilon": at_least(promise.epsilon), "delta": at_least(promise.delta)}
    unit = (source.details.protection.unit, promise.neighbours)
    return [
        _text("privacy_unit", promise.unit, tier=2),
        _text("privacy_unit_details", unit, tier=3),
        ExportField("privacy_parameters", numbers, tier=2),
        _text("privacy_parameters_details", (promise.numbers, promise.sentence), tier=3),
    ]


def _model(source: ExportSource) -> list[ExportField]:
    who = source.details.protection
    actors = None
    if who.recipients and who.access:
        actors = (
            f"- receives it: {who.recipients}",
            f"- access: {who.access}",
            *(f"- trusted: {each}" for each in who.trusted),
            f"- protected against: {who.against}",
        )
    return [
        ExportField("model_name", "Central", tier=2),
        _text("model_name_details", who.trusted[0]),
        _text("actors", actors, f"{about('recipients')}, and 'about.access'", 3),
        _text("release_type", None, tier=2),
        _text("release_type_details", None),
        _text("data_source_type", None, tier=2),
        _text("data_source_type_details", None, tier=3),
        ExportField("access_type", "Non-interactive", tier=2),
        _text("access_type_details", "One file or table is published, of this digest.", tier=3),
    ]


def _implementation(source: ExportSource) -> list[ExportField]:
    how, check = source.details.how, source.view.check
    steps = [f"- {each.name}: {each.text}" for each in how.steps]
    engine = [f"- engine: {check.engine}"] if check.engine else []
    randomness = f"- randomness: {source.facts['randomness']}"
    channels = [f"- not covered: {each}" for each in source.details.risks.side_channels]
    mechanisms = (f"- {how.mechanism}", *steps, randomness, *engine, *channels)
    recodes = [f"- {each.name}: {each.recode}" for each in source.details.columns if each.recode]
    assumed = [f"- assumed: {each}" for each in source.facts["assumptions"] if each in CHOICES]
    before = (*recodes, *assumed) if assumed else None
    return [
        _text("preprocessing_and_hyperparameter_tuning", before, tier=3),
        _text("mechanisms", mechanisms, tier=3),
        _text("justification", source.details.promise.justification, about("justification"), 3),
    ]


def _administrative(source: ExportSource) -> list[ExportField]:
    check = source.view.check
    digests = (
        f"- release sha256:{check.release_sha256}",
        f"- certificate sha256:{check.certificate_sha256}",
    )
    return [
        _text("sources", (f"- to check it: {check.command}",)),
        _text("notes", digests),
        _text("registry_authors", None, "write who filled this in: a list of names"),
    ]


def at_least(number: str) -> float:
    """A number as a float that is not below it: an ε or δ is never told smaller than it is.

    >>> at_least("0.5"), at_least("2.6317834665e-11"), at_least("0.1000000000000000056")
    (0.5, 2.6317834665e-11, 0.10000000000000002)
    """
    found = float(number)
    return found if Decimal(repr(found)) >= Decimal(number) else nextafter(found, inf)


def _text(
    name: str, value: str | tuple[str, ...] | None, remedy: str = BY_HAND, tier: int = 1
) -> ExportField:
    """A field of free text, which the registry renders as Markdown."""
    if isinstance(value, str):
        return ExportField(name, cell(value), remedy, tier)
    return ExportField(name, value and tuple(map(_line, value)), remedy, tier)


def _line(text: str) -> str:
    """A line, or an item of a list, whose hyphen is ours."""
    return f"- {cell(text[2:])}" if text.startswith("- ") else cell(text)
