"""search: which recoding shows most people, and tells most of them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from json import dumps
from typing import Annotated

from typer import Option

from policy_engine.choose.public import LOCAL, PublicSearch, SchemeSaid, search_public
from policy_engine.choose.searching import Objective
from policy_engine.cli.options import PolicyArgument
from policy_engine.cli.output import emit
from policy_engine.cli.reading import decimal_of
from policy_engine.errors import UsageError
from policy_engine.policy.loading import load_policy
from policy_engine.releasing.planning import project_of

_PUBLIC = (
    "public by your word: nothing here has an ε; of raw data all of it is confidential, and no"
    " policy is written"
)
_MOST_LINES = 12


def search(
    policy: PolicyArgument,
    public: Annotated[
        bool, Option("--public", help="The source is public, or synthetic, by your word.")
    ] = False,
    objective: Annotated[
        Objective, Option(help="What makes a scheme good: score is people shown × precision.")
    ] = Objective.score,
    k: Annotated[
        int | None, Option(min=1, help="Also the searches of the literature, for k-anonymity.")
    ] = None,
    suppress: Annotated[
        str, Option(metavar="SHARE", help="With --k: who may be in smaller groups, as 0.05.")
    ] = "0",
) -> None:
    """Compare every scheme of a policy's levels: a level for each column.

    The levels of a column are the value itself, those of its hierarchy or of `levels`, or its
    recoding, and one label for all. `search` in the policy narrows them (at_least, at_most) and
    weighs the columns. Everybody is read from the warehouse once, by all levels.

    With --public the source may be looked at, because it is public or made up, and you say so. It
    shows the best scheme, the frontier of people against precision, and with --k what optimal
    search, Samarati, Incognito and Datafly find, and into how many parts Mondrian cuts.

    Example: policy-engine search policies/adult_hierarchies/policy.yaml --public --k 5
    """
    loaded = load_policy(policy, unpromised=True)
    if not public:
        raise UsageError(
            f"{policy}: to choose by looking at data has a price, unless the data is public or"
            " synthetic: then say so with --public"
        )
    share = decimal_of("--suppress", suppress)
    if not 0 <= share < 1:
        raise UsageError(f"--suppress must be at least 0 and below 1, found {suppress}")
    if share and k is None:
        raise UsageError("--suppress stands beside --k: it is of groups of fewer than k")
    found = search_public(
        loaded, project_of(loaded), objective=objective, k=k, share=Fraction(share)
    )
    emit(found, [*_lines(found)])


def _lines(found: PublicSearch) -> Iterator[str]:
    yield _PUBLIC
    yield (
        f"{found.schemes:,} schemes of {len(found.best.levels)} columns, over {found.people:,}"
        f" people in {found.groups:,} groups; one of {found.least_shown:,} is shown half the time"
    )
    yield f"best by {found.objective}: {_scheme(found.best, found.people)}"
    for column, recoding in found.recode.items():
        yield f"  {column}: {_written(recoding)}"
    for each in found.found:
        looks = "" if each.looks is None else f", {each.looks:,} looked at"
        yield f"{each.method:<10} {each.many:,} scheme{'' if each.many == 1 else 's'}{looks}"
        for scheme in each.schemes[:3]:
            yield f"  {_scheme(scheme, found.people)}"
        if each.many > 3:
            yield f"  and {each.many - 3:,} more: --format json lists up to 1,000"
    if found.mondrian is not None:
        yield f"mondrian   {found.mondrian:,} parts; {LOCAL}"
    yield "frontier   people shown, against precision"
    step = max(1, -(-len(found.frontier) // _MOST_LINES))
    for scheme in found.frontier[::step]:
        yield f"  {_scheme(scheme, found.people)}"


def _scheme(scheme: SchemeSaid, people: int) -> str:
    """A scheme on one line."""
    levels = ", ".join(f"{column} {level}" for column, level in scheme.levels.items())
    suppressed = "" if scheme.suppressed is None else f", {scheme.suppressed:,} suppressed"
    share = 100 * scheme.shown / people
    return f"precision {scheme.precision:.3f}, {share:.1f} % shown{suppressed}: {levels}"


def _written(recoding: object) -> str:
    """A recoding as a policy has it, on one line; JSON is YAML."""
    return recoding if isinstance(recoding, str) else dumps(recoding, default=str)
