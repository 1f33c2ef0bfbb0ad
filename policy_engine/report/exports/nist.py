"""The claims and hazards of NIST SP 800-226 as a checklist in Markdown.

Sections are those of the draft of December 2023, whose body was read; the final text of March 2025
is known through quotations alone, and the document says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from policy_engine.report.exports.fields import (
    BY_HAND,
    Exported,
    ExportField,
    about,
    details_of,
    gaps,
)
from policy_engine.report.markdown import cell
from policy_engine.report.view import Details, ReportView

_HEAD = (
    "A tick means that the question is answered, not that the answer is good. Questions and"
    " sections are in our words, after the initial public draft of December 2023"
    " (<https://csrc.nist.gov/pubs/sp/800/226/ipd>). The final text of March 2025"
    " (<https://doi.org/10.6028/NIST.SP.800-226>) is known to us through quotations only: look"
    " there before you cite a section."
)


def export(view: ReportView) -> Exported:
    """The checklist: each item with its answer and where it stands, or \"not stated\"."""
    own = details_of(view)
    claims, hazards = list(_claims(view, own)), list(_hazards(view, own))
    lines = [
        f"# NIST SP 800-226: {cell(view.band.name or view.band.release)}",
        "",
        _HEAD,
        "",
        "## Claims",
        "",
        *map(_item, claims),
        "",
        "## Hazards",
        "",
        *map(_item, hazards),
    ]
    return Exported("\n".join(lines) + "\n", gaps([*claims, *hazards]))


def _item(each: ExportField) -> str:
    if each.value is None:
        return f"- [ ] **{each.name}**: not stated; {each.remedy}"
    where, *texts = each.value
    return f"- [x] **{each.name}**: {cell('; '.join(texts))} ({where})"


def _answer(name: str, where: str, *texts: str) -> ExportField:
    return ExportField(name, (where, *texts))


def _claims(view: ReportView, own: Details) -> Iterator[ExportField]:
    promise, who = own.promise, own.protection
    yield _answer(
        "ε and δ, 2.2 and 2.3", "certificate: epsilon, delta", promise.numbers, promise.sentence
    )
    yield _answer("Unit of privacy, 2.4", "certificate: unit", who.unit)
    yield _answer("Neighbours, 2.4", "certificate: neighbours", promise.neighbours)
    yield _answer("Who must be trusted, 4.2", "page: Who is protected", *who.trusted)
    yield _stated("Who receives it, 4.2", "recipients", who.recipients)
    steps = (f"{each.name}: {each.text}" for each in own.how.steps)
    yield _answer(
        "Mechanism and randomness, 3.1 and 4.3",
        "certificate: mechanism, randomness",
        own.how.mechanism,
        *steps,
    )
    yield _composed("Composition with other releases, 2.2", view)
    yield _stated("Why these numbers, 2.3", "justification", promise.justification)


def _hazards(view: ReportView, own: Details) -> Iterator[ExportField]:
    promise, who, kind = own.promise, own.protection, "certificate: epsilon, delta, unit"
    yield _answer("A large ε", kind, promise.numbers, promise.sentence)
    yield _answer(
        "δ as total failure",
        kind,
        f"{promise.numbers}; δ is a bound beside ε, over all that the release can be",
    )
    yield _answer("A large δ that hides ε", kind, f"the odds count both: {promise.sentence}")
    yield _answer("Differences outside of the unit", kind, f"protected is {who.unit}")
    yield _answer("Event level for person level", kind, f"the unit is {promise.unit}")
    yield _answer(
        "Unequal δ or units compared",
        "page: The promise",
        "published ε of others stand with their δ and unit, and are not ranked",
    )
    yield ExportField("Exact releases of the same data", None, "answer for what else was published")
    engine = f"run by {view.check.engine}" if view.check.engine else "the engine is not stated"
    yield _answer(
        "An implementation of one's own",
        "certificate: query; page: Check it yourself",
        engine,
        "the query can be proved again by: " + view.check.command,
    )
    bars = [bar for each in own.how.chances for bar in each.bars]
    chances = [f"{bar.label}: {bar.words}" for bar in bars]
    yield ExportField(
        "Statistical bias, 3.2 and 3.3",
        ("page: How", "small groups vanish first", *chances) if chances else None,
    )
    yield ExportField("Systemic and human bias, 3.3", None, BY_HAND)
    recodes = [each.text for each in own.how.steps if each.name in ("recode", "suppress")]
    yield _answer("Bins made from the data, 3.4.1", "certificate: claim", *recodes)
    yield _answer(
        "Subsampling without noise, 3.2",
        "certificate: claim",
        *(f"{each.name}: {each.text}" for each in own.how.steps[1:]),
        "ε and δ are of these steps together",
    )
    yield _answer("Interactive access", "page: How", "a file is published; nobody queries")
    assumed = [each.assumption for each in own.risks.questions]
    yield _answer("Trust that does not hold", "certificate: assumptions", *assumed)
    yield _answer("Side channels, 4.3", "page: Risks that remain", *own.risks.side_channels)
    yield _stated("Security and access, 4.4", "access", who.access)
    yield ExportField("Collecting too much, 4.5", None, BY_HAND)


def _stated(name: str, key: str, text: str | None) -> ExportField:
    value = None if text is None else (f"about.{key} of the policy", text)
    return ExportField(name, value, about(key))


def _composed(name: str, view: ReportView) -> ExportField:
    budget = view.budget
    if budget is None:
        return ExportField(name, None, "report where the ledger is")
    limit = budget.limit
    most = f"limit ε = {limit.epsilon}, δ = {limit.delta}" if limit else "the account has no limit"
    texts = (f"{budget.charges} charges to the account {budget.account}", most)
    return _answer(name, "ledger", *texts)
