"""An entry of the registry of deployed differential privacy.

Its 32 fields are those of schemas/deployments-schema.yaml of opendp/deployments-registry-data at
3e9c812 (read there). Texts are Markdown in the registry, and escaped as such.
"""

from __future__ import annotations

import re
from decimal import Decimal
from math import inf, nextafter
from typing import Any

from policy_engine.report.budget import Amount, Budget
from policy_engine.report.exports.fields import (
    BY_HAND,
    DESCRIPTION,
    KEY_NOTE,
    OLD,
    PURPOSE,
    Exported,
    ExportField,
    about,
    details_of,
    filled,
    gaps,
    yaml_text,
)
from policy_engine.report.markdown import cell
from policy_engine.report.view import Details, ReportView

SCHEMA = (
    "https://github.com/opendp/deployments-registry-data/blob/3e9c812/schemas/"
    "deployments-schema.yaml"
)


def export(view: ReportView) -> Exported:
    """A draft of an entry: complete but for its gaps, which stand at its head as comments."""
    sections = _sections(view, details_of(view))
    fields = [each for section in sections.values() for each in section]
    missing = gaps(fields)
    whole = all(each.value is not None for each in fields if each.tier == 3)
    document = {
        "url_slug": re.sub(r"[^a-z0-9]+", "-", (view.band.name or "").lower()).strip("-"),
        "status": "Draft",
        "tier": 3 if whole else 2,
        "deployment": {name: filled(each) for name, each in sections.items()},
    }
    head = (f"A draft for the registry of deployed differential privacy: {SCHEMA}", *missing)
    return Exported(yaml_text(document, head), missing)


def _sections(view: ReportView, own: Details) -> dict[str, list[ExportField]]:
    return {
        "basic": _basic(view, own),
        "dp_variant": _variant(own),
        "privacy_loss": _loss(own),
        "deployment_model": _model(own),
        "accounting": [
            _field(
                "post_processing",
                "The file is what the mechanism returned: nothing is computed from it afterwards.",
                tier=3,
            ),
            _field("composition", _composition(view.budget), "report where the ledger is", 3),
        ],
        "implementation": _implementation(view, own),
        "administrative": [
            _field("sources", (f"- Check it: {view.check.command}",)),
            _field("notes", f"Made from the certificate sha256:{view.check.certificate_sha256}"),
            _field("registry_authors", None),
        ],
    }


def _basic(view: ReportView, own: Details) -> list[ExportField]:
    band = view.band
    kind = "Summary statistics" if own.form == "counts" else "Dataset"
    return [
        _field("name", band.name),
        ExportField(
            "data_curators", [cell(band.releaser_note)] if band.releaser_note else None, KEY_NOTE
        ),
        _field("intended_use", band.purpose, PURPOSE),
        ExportField("data_product_type", kind),
        _field("data_product_region", None),
        _field("description", band.description, DESCRIPTION),
        ExportField("publication_date", band.date[:10] if band.date else None),
        _field("data_product_sector", None),
    ]


def _variant(own: Details) -> list[ExportField]:
    pure = Decimal(own.promise.delta) == 0
    domain = None if own.source is None else (f"Any rows of {own.source}, where:", *_assumed(own))
    public = "Column names, recodes, filters, limits, chances and the query are public. "
    return [
        ExportField("variant_name", "Pure DP" if pure else "Approximate DP", tier=2),
        _field("data_domain", domain, OLD, 3),
        _field(
            "unprotected_quantities",
            f"{public}No value of the file is computed from the source outside of the mechanism.",
            tier=3,
        ),
    ]


def _loss(own: Details) -> list[ExportField]:
    promise = own.promise
    numbers = {"epsilon": at_least(promise.epsilon), "delta": at_least(promise.delta)}
    return [
        _field("privacy_unit", promise.unit, tier=2),
        _field("privacy_unit_details", (own.protection.unit, promise.neighbours), tier=3),
        ExportField("privacy_parameters", numbers, tier=2),
        _field("privacy_parameters_details", (promise.numbers, promise.sentence), tier=3),
    ]


def _model(own: Details) -> list[ExportField]:
    who = own.protection
    seen = who.recipients and who.access
    actors = (f"- Receives it: {who.recipients}", f"- Has access to the source: {who.access}")
    trusted = [f"- Trusted: {each}" for each in who.trusted]
    return [
        ExportField("model_name", "Central", tier=2),
        _field("model_name_details", who.trusted[0]),
        _field(
            "actors",
            (*actors, *trusted, f"- Protected against: {who.against}") if seen else None,
            f"{about('recipients')}, and about.access",
            3,
        ),
        _field("release_type", None, tier=2),
        _field("release_type_details", None),
        _field("data_source_type", None, tier=2),
        _field("data_source_type_details", None),
        ExportField("access_type", "Non-interactive", tier=2),
        _field("access_type_details", "A file is published, and nobody queries the source."),
    ]


def _implementation(view: ReportView, own: Details) -> list[ExportField]:
    steps = [f"- {each.name}: {each.text}" for each in own.how.steps]
    engine = [f"- engine: {view.check.engine}"] if view.check.engine else []
    channels = [f"- not covered: {each}" for each in own.risks.side_channels]
    recodes = tuple(f"- {each.text}" for each in own.how.steps if each.name == "recode")
    return [
        _field("preprocessing_and_hyperparameter_tuning", (*recodes, *_assumed(own)), tier=3),
        _field("mechanisms", (f"- {own.how.mechanism}", *steps, *engine, *channels), tier=3),
        _field("justification", own.promise.justification, about("justification"), 3),
    ]


def _assumed(own: Details) -> list[str]:
    return [f"- assumed: {each.assumption}" for each in own.risks.questions]


def _composition(budget: Budget | None) -> tuple[str, ...] | None:
    if budget is None:
        return None
    parts = {"before": budget.before, "this release": budget.this, "since": budget.since}
    named = [*parts.items(), ("limit", budget.limit), ("left", budget.left)]
    amounts = [f"- {name}: {_amount(each)}" for name, each in named if each is not None]
    return (
        f"The releases of the account {budget.account} count together, each for one unit:",
        *amounts,
    )


def _amount(each: Amount) -> str:
    return f"ε = {each.epsilon}, δ = {each.delta}"


def _field(
    name: str, value: str | tuple[str, ...] | None, remedy: str = BY_HAND, tier: int = 1
) -> ExportField:
    """A field of free text, which the registry renders as Markdown."""
    made: Any = value
    if value is not None:
        made = cell(value) if isinstance(value, str) else tuple(map(cell, value))
    return ExportField(name, made, remedy, tier)


def at_least(number: str) -> float:
    """A number as a float that is not below it: an ε or δ is never told smaller than it is.

    >>> at_least("0.5"), at_least("2.6317834665e-11"), at_least("0.1000000000000000056")
    (0.5, 2.6317834665e-11, 0.10000000000000002)
    """
    found = float(number)
    return found if Decimal(repr(found)) >= Decimal(number) else nextafter(found, inf)
