"""Files → policies: every problem of a file at once, each with its file, line and column."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from policy_engine.errors import FileError, PolicyError
from policy_engine.kernel.recodes import Constant, Keep
from policy_engine.policy import fields, tree
from policy_engine.policy.auto import NoSolution
from policy_engine.policy.documents import read_policy
from policy_engine.policy.laws import inside, mapping
from policy_engine.policy.mechanisms.index import language_of
from policy_engine.policy.mechanisms.whole_classes import NO_PAIR
from policy_engine.policy.models import PolicyDocument
from policy_engine.policy.reading import read_root, read_text
from policy_engine.policy.resolve import Policy, resolve
from policy_engine.policy.source_models import key_columns, order_term
from policy_engine.policy.time_models import PLANNED, EditionsSpec


def load_policy(path: str | Path, *, unpromised: bool = False) -> Policy:
    """Read a policy file and check it. Most other calls need the result.

    Arguments:
        ``path``: the policy file, in YAML.
        ``unpromised``: if True, a policy with ``guarantee: none`` is accepted, too.

    Raises:
        FileError: the file cannot be read.
        PolicyError: the policy has mistakes. ``problems`` lists all mistakes of the file and of its
            hierarchy files, with their lines.

    >>> load_policy("policies/adult/policy.yaml").k
    20
    """
    file = Path(path)
    return load_policy_text(read_text(file, "policy"), file, file.parent, unpromised=unpromised)


def load_policy_text(
    text: str, file: str | Path, directory: str | Path, *, unpromised: bool = False
) -> Policy:
    """Check a policy that you have as a text. The result is the same as from a file.

    Arguments:
        ``text``: the YAML text.
        ``file``: the name of the text in messages. The file need not exist.
        ``directory``: the folder that relative paths in the text start from.
        ``unpromised``: if True, a policy with ``guarantee: none`` is accepted, too.

    Errors: PolicyError if the policy has mistakes. ``problems`` lists all of them.

    >>> load_policy_text("k: 1", "policy.yaml", ".")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    policy_engine.errors.PolicyError: policy.yaml:1:1: version is missing
    ...
    """
    read = read_policy(text, Path(file), Path(directory))
    document, reading = read.document, read.reading
    if document.guarantee == NO_PAIR and not unpromised:
        law = "is none, and this is of policies with an (ε, δ)"
        reading.refuse(("guarantee",), law, "write epsilon and delta")
        raise PolicyError(tuple(reading.problems))
    follows = None
    if document.guarantee == PLANNED or isinstance(document.guarantee, EditionsSpec):
        # Accounts, and the search for noise, are needed for such a policy alone.
        from policy_engine.policy.following import following

        follows = following(read)
    try:
        return resolve(document, read.hierarchies, read.file, read.directory, follows)
    except NoSolution as error:
        path: tree.Path = ("k",) if document.k == "auto" else ("sample", "rate")
        remedy = "'policy-engine calculate' shows what is possible"
        law = f"is auto, but nothing gives this guarantee: {error}"
        if document.sample is None:
            path, law = ("guarantee",), f"is met by no noise table that is tried: {error}"
            named = document.noise is not None and document.noise.distribution != "auto"
            remedy = "raise epsilon or delta" + ", or take another noise.distribution" * named
        language = language_of(document.mechanism, has_sample=document.sample is not None)
        if language is not None and not language.has_delta:
            law, remedy = f"is met by no chance: {error}", "raise epsilon"
        reading.refuse(path, law, remedy)
        raise PolicyError(tuple(reading.problems)) from None


_REST = {
    "version": 1,
    "name": "salvaged",
    "privacy_unit": "row",
    "recode": {"any": "keep"},
    "sample": {"rate": Decimal("0.5")},
    "k": 2,
    "guarantee": {"epsilon": 1, "delta": Decimal("0.5")},
    "release": {"file": "salvaged.parquet"},
}


def salvage(file: Path) -> Policy | None:
    """What a refused file still says of its source and its columns; None without a source.

    All else of it is made up: it is for asking the source which columns it has.
    """
    try:
        data: Any = read_root(read_text(file, "policy"), file, "policy")[0].data()
        source, recode = mapping(data.get("source")), mapping(data.get("recode"))
        if "join" in source:  # which columns there are depends on more than is left
            return None
        place = {key: source[key] for key in ("file", "table", "csv") if key in source}
        made = PolicyDocument.model_validate({**_REST, "source": place})
    except (FileError, PolicyError, ValidationError):
        return None
    policy = resolve(made, {}, file, file.parent)
    unit = data.get("privacy_unit")
    terms = inside(unit, "rows", "first_by")
    account = data.get("account")
    named = isinstance(account, str) and fields.is_line(account)
    return replace(
        policy,
        budget=account if named else policy.budget,
        declared_budget=named,
        source=replace(
            policy.source,
            keys=tuple(filter(_named, key_columns(unit))),
            unique=inside(unit, "rows") == "one",
            order_by=tuple(map(order_term, filter(_named, terms)))
            if isinstance(terms, list)
            else (),
            columns=tuple(
                (each, "text") for each in filter(_named, mapping(source.get("columns")))
            ),
        ),
        recodings=tuple(
            (name, Constant("") if "constant" in mapping(how) else Keep())
            for name, how in recode.items()
            if _named(name)
        ),
    )


def _named(found: object) -> bool:
    """Whether it can be the name of a column."""
    return isinstance(found, str) and fields.is_line(found)
