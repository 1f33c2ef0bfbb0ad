"""The engines by the names that users give them."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches

from policy_engine.engines import ENGINES, Engine
from policy_engine.engines.installed import engine_named, names_installed
from policy_engine.errors import UsageError
from policy_engine.policy.project_models import COMPILED

__all__ = ["ENGINES", "Engine", "dialect_named", "spark_of"]

_SAMPLED = (4, 3)


def dialect_named(name: str) -> Engine:
    """The engine called ``name``.

    Raises:
        UsageError: there is none.

    >>> dialect_named("duckdb").name
    'duckdb'
    """
    engine = engine_named(name)
    if engine is None:
        known = ", ".join(dict.fromkeys((*ENGINES, *names_installed())))
        meant = COMPILED.get(name.lower()) or next(iter(get_close_matches(name, ENGINES, 1)), "")
        hint = f"; did you mean {meant!r}?" if meant else ""
        raise UsageError(f"the dialect must be one of {known}, found {name!r}{hint}")
    return engine


def spark_of(version: str) -> Engine:
    """Spark of a version: before 4.3 its own sampling has too few seeds.

    >>> "native_sample" in spark_of("4.2.1").lacks, "native_sample" in spark_of("4.3.0").lacks
    (True, False)
    """
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers >= _SAMPLED:
        return ENGINES["spark"]
    reason = "TABLESAMPLE has 1,000 possible seeds before Spark 4.3"
    native = (reason, "use method: keyed, or a later Spark")
    lacks = {**ENGINES["spark"].lacks, "native_sample": native}
    return replace(ENGINES["spark"], lacks=lacks)
