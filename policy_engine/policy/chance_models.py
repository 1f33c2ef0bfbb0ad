"""What a policy of a pure ε must say: randomised response, and αβ insertion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic_core import PydanticCustomError

from policy_engine.policy.laws import as_number, barred, mapping, refusal
from policy_engine.policy.scalars import show

PURE = ("randomised_response", "ab_insertion")
_LISTED = {"bins", "map", "hierarchy"}


def public_values(
    data: Mapping[str, Any], of_others: Iterable[str]
) -> Iterable[PydanticCustomError]:
    """The laws of a policy whose mechanism needs a public list of values of each column.

    ``of_others``: the keys that are of other mechanisms.
    """
    mechanism = data["mechanism"]
    wrong = f"must not stand beside mechanism: {mechanism}"
    yield from barred(data, ("sample", "k", "auto", *of_others), wrong)
    for column, recoding in mapping(data.get("recode")).items():
        if not isinstance(recoding, dict) or not _LISTED & recoding.keys():
            wrong = f"must be bins, map or hierarchy for {mechanism}, found {_named(recoding)}"
            remedy = "only these say which values there are"
            yield refusal(wrong, remedy, at=("recode", column))
    source = mapping(data.get("source"))
    if source.get("sampled_at", 1) != 1:
        wrong = f"must be 1 where everybody counts, found {show(source['sampled_at'])}"
        remedy = "leave it out: the price holds without it"
        yield refusal(wrong, remedy, at=("source", "sampled_at"))
    if mapping(source.get("unit")).get("keep") == "all":
        wrong = f"must be any or a mapping with order_by for {mechanism}, found all"
        yield refusal(wrong, "one row of a person counts", at=("source", "unit", "keep"))
    yield from (_answers if mechanism == "randomised_response" else _tuples)(data)


def pure_delta(data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
    """The law that δ is 0 where the mechanism costs none, and nowhere else."""
    delta = mapping(data.get("guarantee")).get("delta")
    found, is_pure = as_number(delta), data.get("mechanism") in PURE
    if found is None or (found == 0) == is_pure:
        return
    law = f"must be 0 for {data['mechanism']}" if is_pure else "must be above 0 and below 1"
    remedy = "it costs no δ" if is_pure else ""
    yield refusal(f"{law}, found {show(delta)}", remedy, at=("guarantee", "delta"))


def _answers(data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
    """Who answers is known, and everybody does."""
    neighbours = mapping(data.get("guarantee")).get("neighbours", "add_remove")
    if neighbours == "add_remove":
        wrong = "must be replace_one for randomised_response, found add_remove"
        remedy = "how many people answer is shown: what each of them is stays hidden"
        yield refusal(wrong, remedy, at=("guarantee", "neighbours"))
    wrong = "must not stand beside randomised_response, in which everybody answers"
    remedy = "remove it: whether a person is filtered would be shown"
    yield from barred(data, ["filter"], wrong, remedy)
    source, remedy = mapping(data.get("source")), "name the table of the people"
    yield from barred(source, ["view"], wrong, remedy, ("source",))


def _tuples(data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
    """A tuple is there or not."""
    form = mapping(data.get("release")).get("as", "counts")
    if form == "counts":
        wrong = "must be rows for ab_insertion, which shows tuples without a count, found counts"
        yield refusal(wrong, "write as: rows", at=("release", "as"))


def _named(recoding: object) -> str:
    return next(iter(recoding), "none") if isinstance(recoding, dict) else show(recoding)
