"""What a law of a file is, and how all that a mapping breaks is told at once, in our own words.

A law is a function that returns the value or raises ``refusal(…)``. The messages are predicates:
the loader puts the value's path in front of them and its line and column before that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, core_schema

from policy_engine.errors import InternalError
from policy_engine.policy.scalars import show
from policy_engine.values import frozen

SCHEMAS = Path(__file__).parent / "schemas"
"""The JSON Schemas of both kinds of file, for editors; scripts/policy_schemas.py makes them."""
At = tuple[str | int, ...]
Law = Callable[[object], Any]
Data = Mapping[str, Any]
Broken = Iterator[PydanticCustomError]


def refusal(
    predicate: str, remedy: str = "", *, at: At = (), on_key: bool = False
) -> PydanticCustomError:
    """The error of a law that does not hold, ``at`` a path below the value it is raised for.

    >>> refusal("must be 1, found 2").message()
    'must be 1, found 2'
    """
    context = {"predicate": predicate, "remedy": remedy, "at": at, "on_key": on_key}
    return PydanticCustomError("law", "{predicate}", context)


def suggestion(found: object, allowed: Iterable[str]) -> str:
    """A remedy: the allowed word that is meant, else all of them.

    >>> suggestion("lables", ["bins", "labels"]), suggestion("x", ["bins", "labels"])
    ("did you mean 'labels'?", 'allowed here: bins, labels')
    """
    words = list(allowed)
    close = get_close_matches(str(found)[:100], words, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else f"allowed here: {', '.join(words)}"


@frozen
class Ruled:
    """A law as the annotation of a field, with what the JSON Schema says of it.

    It alone decides; ``within`` a type of pydantic's it decides first, and the schema is added.
    """

    law: Law
    schema: Mapping[str, object] = field(default_factory=dict)
    within: bool = False

    def __call__(self, found: object) -> Any:
        """The value; the law's refusal is raised."""
        return self.law(found)

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """The law as pydantic asks for it."""
        if self.within:
            return core_schema.no_info_before_validator_function(self.law, handler(source))
        return core_schema.no_info_plain_validator_function(self.law)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, object]:
        """What an editor is told."""
        return {**(handler(schema) if self.within else {}), **self.schema}


def mapping(found: object) -> dict[str, Any]:
    """A value as a mapping; of another kind, which its own law refuses, an empty one."""
    return found if isinstance(found, dict) else {}


def inside(data: object, *keys: str) -> Any:
    """The value below some keys, one in the other; None where there is none."""
    for key in keys:
        data = mapping(data).get(key)
    return data


def barred(
    data: Data, keys: Iterable[str], law: str, remedy: str = "remove it", at: At = ()
) -> Broken:
    """A problem of each of the keys that stands in ``data``, which is itself ``at`` a path."""
    for key in keys:
        if key in data:
            yield refusal(law, remedy, at=(*at, key), on_key=True)


_MOST_KEYS = 9
"""So many keys of a mapping are named, where something else is written in its place."""


class Document(BaseModel):
    """A frozen mapping of a file, its keys closed.

    ``needs`` is a key and what to write where it is missing; of "", where there is no mapping.
    """

    # Most commands read one kind of file: what is not read is not built.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    needs: ClassVar[tuple[str, str]] = ("", "")
    meant: ClassVar[Mapping[str, str]] = {}
    """What to write instead of a key that people look for, and that none here is like."""

    @classmethod
    def _across(cls, data: Data) -> Broken:
        """The laws between keys that ``data`` breaks; values may be of any type here."""
        del data
        yield from ()

    @classmethod
    def _empty(cls, data: Data) -> Broken:
        """The law that a key which needs a mapping is not left empty: as left out it is not read.

        Whatever has a law of its own says there what null is.
        """
        for name, asked in cls.model_fields.items():
            key = asked.alias or name
            is_left_out = not asked.is_required() and not asked.metadata
            if is_left_out and key in data and data[key] is None:
                remedy = "write what it holds, or take the key out"
                yield refusal("must be a mapping, found null", remedy, at=(key,))

    @classmethod
    def _remedy(cls, key: str) -> str:
        return cls.needs[1] if cls.needs[0] == key else ""

    @classmethod
    def _its_keys(cls) -> str:
        """Which mapping it is: its keys, of many those that it needs."""
        known = {asked.alias or name: asked for name, asked in cls.model_fields.items()}
        needed = [name for name, asked in known.items() if asked.is_required()]
        has_few = len(known) <= _MOST_KEYS or not needed
        names = [*known] if has_few else needed
        told = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        if not has_few:
            return f"it needs {told}"
        return f"its keys are {told}" if len(names) > 1 else f"its key is {told}"

    @model_validator(mode="wrap")
    @classmethod
    def _report_everything(cls, data: Any, handler: ModelWrapValidatorHandler[Any]) -> Any:
        """The model, or all its problems in one ``ValidationError``.

        Pydantic stops at what its own fields refuse, before the laws between them.
        """
        if isinstance(data, cls):
            return data
        if not isinstance(data, dict):
            remedy = cls._remedy("") or cls._its_keys()
            raise refusal(f"must be a mapping, found {show(data)}", remedy)
        laws = (*cls._empty(data), *cls._across(data))
        broken = [InitErrorDetails(type=error, loc=(), input=None) for error in laws]
        made = None
        try:
            made = handler(data)
        except ValidationError as error:
            for found in error.errors(include_url=False):
                told = cls._worded(found["type"], found["loc"], found.get("ctx", {}))
                broken.append(InitErrorDetails(type=told, loc=found["loc"], input=None))
        if broken:
            raise ValidationError.from_exception_data(cls.__name__, broken)
        return made

    @classmethod
    def _worded(
        cls, kind: str, loc: tuple[Any, ...], context: dict[str, Any]
    ) -> PydanticCustomError:
        """An error of pydantic's in our words; what is ours already stays."""
        if kind == "law":
            return refusal(**context)
        if kind == "missing":
            return refusal("is missing", cls._remedy(str(loc[-1])))
        if kind == "extra_forbidden":
            names = [field.alias or name for name, field in cls.model_fields.items()]
            remedy = cls.meant.get(str(loc[-1])) or suggestion(loc[-1], names)
            return refusal("is an unknown key", remedy, on_key=True)
        raise InternalError(f"a field without a law of its own: {kind}")


def word_or(model: type[Document], *words: str, law: str, remedy: str) -> BeforeValidator:
    """The law of one of some words, or of a mapping that ``model`` reads."""

    def read(found: object) -> object:
        if found in words or isinstance(found, model):
            return found
        if isinstance(found, dict):
            return model.model_validate(found)
        raise refusal(f"must be {law}, found {show(found)}", remedy)

    return BeforeValidator(read)
