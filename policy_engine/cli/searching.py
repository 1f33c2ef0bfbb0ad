"""search: which recoding shows most people, and tells most of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from policy_engine.accounting.in_words import in_text
from policy_engine.choose.public import LOCAL, PublicSearch, SchemeSaid, search_public
from policy_engine.choose.searching import Objective
from policy_engine.cli.comparing import check_place, draw, legend
from policy_engine.cli.options import EditionOption, PolicyArgument
from policy_engine.cli.output import confirm, emit, note
from policy_engine.cli.reading import decimal_of
from policy_engine.errors import UsageError
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.policy.scalars import counted
from policy_engine.policy.search_models import level_words
from policy_engine.releasing.editions import utc_now
from policy_engine.releasing.planning import project_of
from policy_engine.values import frozen

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from policy_engine.choose.safe import Chosen

_OF_RAW_DATA = "public, or made up, by the word of who drew this; of raw data: confidential"
_PUBLIC = (
    "public, as you state: nothing here has an ε; of raw data all of it is confidential, and no"
    " policy is written"
)
_MOST_LINES = 12


def search(
    policy: PolicyArgument,
    public: Annotated[
        bool, Option("--public", help="You state that the source is public or synthetic.")
    ] = False,
    objective: Annotated[
        Objective,
        Option(
            help="The number to maximise. score is the number of people shown, times the precision."
        ),
    ] = Objective.score,
    k: Annotated[
        int | None,
        Option(min=1, help="Also run the k-anonymity searches of the literature, with this k."),
    ] = None,
    suppress: Annotated[
        str,
        Option(
            metavar="SHARE",
            help="With --k: the share of people who may be in groups smaller than k, such as 0.05.",
        ),
    ] = "0",
    epsilon: Annotated[
        list[str] | None,
        Option(
            metavar="ε",
            help="With --public: also show the schemes that no other scheme beats at "
            "this ε and the policy's δ. Repeat the option for more.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        Option(
            "--output",
            "-o",
            help="The policy to write. Default: POLICY.chosen.yaml. With --public: a plot of"
            " people against precision, FILE.svg, .pdf or .png.",
        ),
    ] = None,
    edition: EditionOption = None,
    replace: Annotated[
        bool,
        Option("--replace", help="Replace the policy of an earlier choice, or the plot."),
    ] = False,
) -> None:
    """Choose a level for each column of a policy, so that a release shows many people precisely.

    Each column has levels. The finest level is the value itself, and the coarsest level is one
    label for all. Between these two are the levels of the column's hierarchy, the levels of the key
    `levels`, or the column's recode. The key `search` of the policy can exclude levels (at_least,
    at_most, precision) and give weights to columns.

    A scheme is one level for each column. The command draws a scheme with differential privacy: a
    scheme with a higher score is more likely. The account pays `search.epsilon` before the source
    is read. The command writes the scheme as an ordinary policy, and a certificate that lists the
    candidates. It shows nothing else.

    If you ask again, you get the same choice. The second answer costs nothing, and reads no source.
    --edition NAME chooses again, at a price. If the policy has a period, NAME is the period whose
    rows are read.

    With --public, you state that the source is public or made up. Then the output shows the best
    scheme, and how many people can be shown at which precision. Nothing is charged, and no policy
    is written. With --k, the output also shows what known k-anonymity searches find: optimal
    search, Samarati, Incognito, Datafly and Mondrian.

    Example: policy-engine search policies/adult_hierarchies/policy.yaml --public --k 5
    """
    if not public:
        if k is not None or objective is not Objective.score or epsilon:
            raise UsageError(
                "--k, --objective and --epsilon are of data that may be looked at: --public says"
                " that it may. The price of a private choice is search.epsilon of the policy"
            )
        loaded = load_policy(policy)
        choose(loaded, project_of(loaded), output, edition or "", replace=replace)
        return
    if edition is not None:
        raise UsageError("--public writes no policy: leave --edition out")
    if output is not None:
        check_place(output, replace=replace)
    loaded = load_policy(policy, unpromised=True)
    share = decimal_of("--suppress", suppress)
    if not 0 <= share < 1:
        raise UsageError(f"--suppress must be at least 0 and below 1, found {suppress}")
    if share and k is None:
        raise UsageError("--suppress stands beside --k: it is of groups of fewer than k")
    found = search_public(
        loaded, project_of(loaded), objective=objective, k=k, share=Fraction(share),
        epsilons=[decimal_of("--epsilon", each) for each in epsilon or ()],
    )  # fmt: skip
    lines = [*_lines(found)]
    if output is not None:
        draw(output, partial(_paint, found), width=6.4)
        lines.append(f"plot       {output}")
    emit(found, lines)


def _paint(found: PublicSearch, figure: Figure) -> None:
    """People shown against precision: the frontier, and the best scheme upon it."""
    axes = figure.subplots()
    lines = {"no scheme is better in both": found.frontier}
    lines |= {f"the same at ε {in_text(each.epsilon)}": each.schemes for each in found.frontiers}
    for label, schemes in lines.items():
        shown = [100 * scheme.shown / found.people for scheme in schemes]
        axes.step([scheme.precision for scheme in schemes], shown, where="pre", label=label)
    best = found.best
    label = f"best by {found.objective}: precision {best.precision:.2f}"
    axes.plot(best.precision, 100 * best.shown / found.people, "o", label=label)
    axes.set(xlabel="precision", ylabel="people shown, %", xlim=(0, 1), ylim=(0, 102))
    axes.set_title(_OF_RAW_DATA, fontsize="small")
    legend(axes)


@frozen
class ChosenSaid:
    """A private choice: the policy that was written, its certificate, and what it cost.

    The precision of its levels is told by the policy alone; how many people they show is not.
    """

    policy: str
    certificate: str
    outcome: str
    levels: dict[str, int]
    precision: float
    epsilon: Decimal
    delta: Decimal
    candidates: int
    account: str
    entry: int


def choose(
    policy: Policy,
    project: Project,
    output: Path | None,
    edition: str,
    *,
    replace: bool,
    goes_on: str = "plan {}",
) -> None:
    """Choose a scheme privately, and say what it cost; ``goes_on`` is the command after it."""
    from policy_engine.choose.candidates import Candidates
    from policy_engine.choose.safe import choose_recoding, in_period

    chosen = choose_recoding(
        policy, project, output=output, edition=edition, replace=replace, say=note
    )
    candidates = Candidates.of(in_period(policy, project, edition, utc_now))
    scheme = candidates.scheme_in(chosen.policy)
    precision = float(candidates.public_lattice.precision(scheme))
    columns = [each.column for each in candidates.columns]
    said = ChosenSaid(
        str(chosen.policy), str(chosen.certificate), chosen.outcome,
        dict(zip(columns, scheme, strict=True)), round(precision, 4), chosen.epsilon, Decimal(0),
        chosen.candidates, chosen.account, chosen.entry,
    )  # fmt: skip
    lines = [
        f"chose one of {counted(chosen.candidates, 'candidate')}: {chosen.policy}",
        f"  levels       precision {precision:.3f}; its release tells how many people they show",
        *(
            f"               {column}: {level_words(recoding)}"
            for column, recoding in candidates.recode(scheme).items()
        ),
        *price_of_choice(chosen, goes_on),
    ]
    confirm(said, lines)


def price_of_choice(chosen: Chosen, goes_on: str) -> Iterator[str]:
    """What a private choice cost, and what is next."""
    price = f"ε {in_text(chosen.epsilon)}, δ 0"
    told = {
        "chosen": f"{price}, charged to account {chosen.account!r} (entry {chosen.entry})",
        "stands": f"it was chosen before (entry {chosen.entry}, {price}); nothing was looked at",
        "put back": f"put back from its kept bytes (entry {chosen.entry}); nothing was looked at",
    }
    yield f"  price        {told[chosen.outcome]}"
    yield f"  certificate  {chosen.certificate}"
    yield f"next: policy-engine {goes_on.format(chosen.policy)}"


def _lines(found: PublicSearch) -> Iterator[str]:
    yield _PUBLIC
    yield (
        f"{found.candidates:,} candidates of {len(found.best.levels)} columns, over"
        f" {found.people:,} people in {found.groups:,} groups; one of {found.least_shown:,} is"
        " shown half the time"
    )
    yield f"best by {found.objective}: {_scheme(found.best, found.people)}"
    for column, recoding in found.recode.items():
        yield f"  {column}: {_written(recoding)}"
    yield "levels     what the numbers of each column mean"
    for column, called in found.levels.items():
        yield f"  {column}: {', '.join(f'{level} {told}' for level, told in called.items())}"
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
    yield from _frontier(found.frontier, found.people)
    for other in found.frontiers:
        yield (
            f"frontier   at ε {in_text(other.epsilon)}, δ {in_text(other.delta)}: one of"
            f" {other.least_shown:,} is shown half the time"
        )
        yield from _frontier(other.schemes, found.people)


def _frontier(schemes: Sequence[SchemeSaid], people: int) -> Iterator[str]:
    step = max(1, -(-len(schemes) // _MOST_LINES))
    for scheme in schemes[::step]:
        yield f"  {_scheme(scheme, people)}"


def _scheme(scheme: SchemeSaid, people: int) -> str:
    """A scheme on one line."""
    levels = _levels(scheme.levels)
    suppressed = "" if scheme.suppressed is None else f", {scheme.suppressed:,} suppressed"
    share = 100 * scheme.shown / people
    return f"precision {scheme.precision:.3f}, {share:.1f} % shown{suppressed}: {levels}"


def _levels(levels: Mapping[str, int]) -> str:
    """The level of each column."""
    return ", ".join(f"{column} {level}" for column, level in levels.items())


def _written(recoding: object) -> str:
    """A recoding as a policy has it, on one line; JSON is YAML."""
    return recoding if isinstance(recoding, str) else dumps(recoding, default=str)
