"""The base of every model of a file: all problems of a mapping at once, in our own words.

Pydantic reports what its own fields refuse, then stops before the laws between fields. A
``Document`` reports both together, and turns *missing* and *extra* into messages with a remedy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from policy_engine.errors import InternalError
from policy_engine.policy.laws import refusal, suggestion
from policy_engine.policy.scalars import show


class Document(BaseModel):
    """A frozen mapping of a file, its keys closed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def across(cls, data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
        """The laws between keys that ``data`` breaks; values may be of any type here."""
        del data
        return ()

    @classmethod
    def needs(cls, key: str) -> str:
        """The remedy where ``key`` is missing."""
        del key
        return ""

    @model_validator(mode="wrap")
    @classmethod
    def _report_everything(cls, data: Any, handler: ModelWrapValidatorHandler[Any]) -> Any:
        """The model, or all its problems in one ``ValidationError``."""
        if isinstance(data, cls):
            return data
        if not isinstance(data, dict):
            raise refusal(f"must be a mapping, found {show(data)}", cls.needs(""))
        broken = [_details(error, {}) for error in cls.across(data)]
        made = None
        try:
            made = handler(data)
        except ValidationError as error:
            broken += [
                _details(cls._worded(found["type"], found["loc"], found.get("ctx", {})), found)
                for found in error.errors(include_url=False)
            ]
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
            return refusal("is missing", cls.needs(str(loc[-1])))
        if kind == "extra_forbidden":
            names = [field.alias or name for name, field in cls.model_fields.items()]
            return refusal("is an unknown key", suggestion(loc[-1], names), on_key=True)
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


def _details(error: PydanticCustomError, found: Mapping[str, Any]) -> InitErrorDetails:
    return InitErrorDetails(type=error, loc=tuple(found.get("loc", ())), input=None)
