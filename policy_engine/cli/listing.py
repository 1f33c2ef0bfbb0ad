"""engines: which there are, which a release can run on, and the packages that they are from."""

from __future__ import annotations

from policy_engine.cli.output import emit
from policy_engine.values import frozen


@frozen
class EngineSaid:
    """An engine: whether a release ``runs`` on it, and the ``package`` that brings it.

    ``wrong`` says why it cannot be used; of such a one nothing else is known.
    """

    name: str
    title: str
    runs: bool
    package: str
    wrong: str | None = None


@frozen
class EnginesSaid:
    """The engines that there are."""

    engines: tuple[EngineSaid, ...]


def engines() -> None:
    """List the engines: those that releases run on, and those for which only SQL is written.

    The list also names the package of each engine. Other packages can add engines. The program
    finds such packages if they are installed on this machine. If you install such a package, you
    trust its code, because its code says which SQL is certified for its engine. A certificate names
    the package of its engine.

    Example: policy-engine engines
    """
    from policy_engine.engines import OURS
    from policy_engine.engines.installed import names_installed

    found = tuple(map(_said, dict.fromkeys((*OURS, *names_installed()))))
    widest = max(len(each.name) for each in found)
    emit(EnginesSaid(found), [f"{each.name:<{widest}}  {_line(each)}" for each in found])


def _said(name: str) -> EngineSaid:
    from policy_engine.cli.app import PROGRAM
    from policy_engine.dialects import dialect_named
    from policy_engine.errors import UsageError
    from policy_engine.policy.project_models import WAREHOUSES

    try:
        engine = dialect_named(name)
    except UsageError as error:
        return EngineSaid(name, name, runs=False, package="", wrong=str(error))
    runs = name in WAREHOUSES or engine.warehouse != ""
    return EngineSaid(name, engine.title, runs, engine.package or PROGRAM)


def _line(said: EngineSaid) -> str:
    if said.wrong is not None:
        return said.wrong
    does = "releases run on it" if said.runs else "its SQL is written"
    return f"{said.title}: {does}; of {said.package}"
