"""The claims and hazards of NIST SP 800-226 as a checklist in Markdown.

An item is ticked only where certificate, policy or ledger state what it asks for. Sections are
those of the draft of December 2023, whose body was read; the final text of March 2025 is known
through quotations alone, and the document says so.
"""

from __future__ import annotations

from policy_engine.policy.escapes import cell
from policy_engine.report.exports.fields import (
    LEDGER,
    OLD,
    PURPOSE,
    Exported,
    ExportField,
    ExportSource,
    about,
    by_chance,
    gaps,
)
from policy_engine.report.exports.registry import CHOICES

_HEAD = (
    "A tick says that the certificate, the policy or the ledger states it, not that it is enough."
    " Questions and sections are in our words, after the initial public draft of December 2023"
    " (<https://csrc.nist.gov/pubs/sp/800/226/ipd>). The final text of March 2025"
    " (<https://doi.org/10.6028/NIST.SP.800-226>) is known to us through quotations only: look"
    " there before you cite a section."
)
_ANSWER = "answer it in here"
_CERTIFICATE, _CLAIM, _LEDGER = "certificate", "certificate: claim", "ledger"


def export(source: ExportSource) -> Exported:
    """The checklist: each item with what is stated and by what, or \"not stated\"."""
    claims, hazards = _claims(source), _hazards(source)
    name = source.view.band.name or source.view.band.release
    lines = [f"# NIST SP 800-226: {cell(name)}", "", _HEAD, "", "## Claims", ""]
    lines += [*map(_item, claims), "", "## Hazards", "", *map(_item, hazards)]
    return Exported("\n".join(lines) + "\n", gaps([*claims, *hazards]))


def _item(each: ExportField) -> str:
    if each.value is None:
        return f"- [ ] **{each.name}**: not stated; {each.remedy}"
    where, *texts = each.value
    return f"- [x] **{each.name}**: {cell('; '.join(texts))} ({where})"


def _claims(source: ExportSource) -> list[ExportField]:
    own, who, how = source.details.promise, source.details.protection, source.details.how
    bound = how.steps[0].text if source.claim else None
    return [
        _said("ε and δ, 2.2 and 2.3", f"{_CERTIFICATE}: epsilon, delta", own.numbers),
        _said("Unit of privacy, 2.4", f"{_CERTIFICATE}: unit", who.unit),
        _said("Neighbours, 2.4", f"{_CERTIFICATE}: neighbours", own.neighbours),
        _said("Bound of one unit's contribution, 2.4", _CLAIM, bound, remedy=OLD),
        _said("Purpose", "policy: purpose", source.view.band.purpose, remedy=PURPOSE),
        _of_author("Who receives it, 4.2", "recipients", who.recipients),
        _said(
            "Who and what is trusted, 4.2",
            f"{_CERTIFICATE}: assumptions",
            *source.facts["assumptions"],
        ),
        _said("Mechanism, 3.1", f"{_CERTIFICATE}: mechanism", how.mechanism),
        _said("Randomness, 4.3", f"{_CERTIFICATE}: randomness", source.facts["randomness"]),
        _said(
            "Composition with other releases, 2.2",
            _LEDGER,
            *(source.composition() or ()),
            remedy=LEDGER,
        ),
        _of_author("Why these numbers, 2.3", "justification", own.justification),
    ]


def _hazards(source: ExportSource) -> list[ExportField]:
    own, who, check = source.details.promise, source.details.protection, source.view.check
    bars = [bar for each in source.details.how.chances for bar in each.bars]
    chances = [f"{bar.label}: {bar.words}" for bar in bars]
    chosen = [each for each in source.facts["assumptions"] if each in CHOICES]
    odds = f"{own.numbers}. {own.sentence}"
    engine = (f"{check.engine}, SHA-256 of the query {check.query_digest}",) if check.engine else ()
    found = [
        _said("A large ε, or a large δ that hides it", f"{_CERTIFICATE}: epsilon, delta", odds),
        _said("δ as total failure", ""),
        _said("Differences outside of the unit; event level", f"{_CERTIFICATE}: unit", who.unit),
        _said("Unequal δ or units compared", ""),
        _said("Exact releases of the same data", ""),
        _said("Own implementation", f"{_CERTIFICATE}: query, engine_version", *engine),
        _said("Statistical bias, 3.2 and 3.3", "computed from the certificate", *chances),
        _said("Systemic and human bias, 3.3", ""),
        _said("Bins made from the data, 3.4.1", f"{_CERTIFICATE}: assumptions", *chosen),
        _said("Trust that does not hold", "", remedy="say who confirmed each assumption, and when"),
        _said("Side channels, 4.3", "", remedy="say what the place where it ran lets others see"),
        _of_author("Interactive access; security and access, 4.4", "access", who.access),
        _said("Collecting too much, 4.5", ""),
    ]
    sampled = by_chance(source)
    if sampled is not None:
        found.append(
            _said("Subsampling alone, 3.2", f"{_CERTIFICATE}: mechanism, k, rate", sampled)
        )
    return found


def _said(name: str, where: str, *texts: str | None, remedy: str = _ANSWER) -> ExportField:
    """An item with what is stated, and where; without a text it is not."""
    stated = [each for each in texts if each]
    return ExportField(name, (where, *stated) if stated else None, remedy)


def _of_author(name: str, key: str, text: str | None) -> ExportField:
    return _said(name, f"policy: about.{key}", text, remedy=about(key))
