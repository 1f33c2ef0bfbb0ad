"""When a policy is released, and for how long an account's limit is: as they are written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from difflib import get_close_matches
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from policy_engine.calendars import Calendar, zone_names
from policy_engine.policy import fields
from policy_engine.policy.laws import Broken, Data, Document, Ruled, barred, mapping, refusal
from policy_engine.policy.mechanisms.measures import shown_names
from policy_engine.policy.scalars import show

Every = Literal["day", "week", "month", "quarter", "year"]
EveryField = Annotated[Every, fields.word_of(Every)]
PLANNED = "planned"
"""What a policy writes as its guarantee that the plan of its account gives it."""
EDITION = "{edition}"
"""What stands in the name of a release for the name of its edition."""
MOST_EDITIONS = 100_000
_LONGEST_WAIT = 3660
_HOLES = re.compile(r"\{([^{}]*)\}")
_SCHEDULES = ("refresh", "period")
WINDOWED = ("each", "of", "joined", "plan", "rest", "neighbours", "ever")
"""The keys of an account that are of its windows."""
_ZONE_EXAMPLE = "as in Europe/Berlin"


A_CALENDAR = (
    "write refresh: {every: month} for the whole table anew, or period for a month's own rows"
)
"""How a policy gets a calendar."""
MEANT = {
    **dict.fromkeys(("every", "schedule", "cron", "calendar", "each", "interval"), A_CALENDAR),
    "editions": "write guarantee: {editions: 12}",
}
"""What people write into a policy for its calendar, and what is to be written."""
MEANT_GUARANTEE = {
    "planned": f"write guarantee: {PLANNED}, and how many editions in the plan of the account,"
    " before a window's first draw",
    "edition": "write guarantee: {editions: 12}, without epsilon and delta",
}
"""The same of its guarantee."""


def days_of(wait: str) -> int:
    """How many days a wait is.

    >>> days_of("10d")
    10
    """
    return int(wait.removesuffix("d"))


def _is_wait(found: object) -> bool:
    days = re.fullmatch("([0-9]{1,4})d", found) if isinstance(found, str) else None
    return days is not None and int(days[1]) <= _LONGEST_WAIT


class RefreshSpec(Document):
    """The whole source is released again, once in each period of a calendar."""

    needs = ("", "as in refresh: {every: month}")

    every: EveryField
    """The length of a period, in the zone of the project file. A week begins on Monday."""


class PeriodSpec(Document):
    """The rows of each period are released once, after the period has ended. The guarantee
    protects all rows of one person in one period.
    """

    needs = ("", 'as in period: {column: visit_date, every: month, from: "2026-01"}')

    column: fields.LineField
    """The source's column of dates or times. It says in which period a row lies."""
    every: EveryField
    """The length of a period, in the zone of the project file. A week begins on Monday."""
    first: fields.LineField = Field(alias="from")
    """The name of the first period: `2026-01` for a month, `2026-W05` for a week, `2026-Q1`,
    `2026`.
    """
    after: Annotated[
        str, fields.kind(f"be a number of days from 0d to {_LONGEST_WAIT}d", _is_wait,
                         remedy="as in 10d", type="string", pattern="^[0-9]{1,4}d$")
    ] = "0d"  # fmt: skip
    """The wait between the end of a period and its release, such as `10d`, so that late rows are
    included.
    """

    @classmethod
    def _across(cls, data: Data) -> Broken:
        """The first is one of that calendar."""
        every, first = data.get("every"), data.get("from")
        if every not in get_args(Every) or not isinstance(first, str):
            return  # its own law says so
        calendar = Calendar(every)
        if not calendar.has(first):
            example = calendar.period(date(2026, 11, 27)).name
            yield refusal(f"must be a {every}, as {example}, found {show(first)}", at=("from",))


class ReviseSpec(Document):
    """Each period is drawn a second time, so that rows that came late are counted. The calendar
    sets the time of this draw, which never depends on the data.
    """

    needs = ("", "as in revise: {after: 90d}")

    after: Annotated[
        str, fields.kind(f"be a number of days from 1d to {_LONGEST_WAIT}d", _is_wait,
                         remedy="as in 90d", type="string", pattern="^[0-9]{1,4}d$")
    ]  # fmt: skip
    """The wait between the end of a period and the second draw, such as `90d`. This wait
    must be longer than `period.after`. The second draw has a price of its own. If the first draw
    of a period comes after this time, there is no second draw.
    """


class EditionsSpec(Document):
    """You write how many equal editions shall share the account's limit, in each window. The
    program computes ε and δ of one edition from it.
    """

    editions: Annotated[int, fields.integer(1, MOST_EDITIONS)]
    """The number of editions."""
    neighbours: Annotated[fields.Neighbours, fields.word_of(fields.Neighbours)] = "add_remove"
    """Which two tables are neighbours. `add_remove`: one table has one person less. `replace_one`:
    one table has another person instead.
    """


_GUARANTEES = f"{{epsilon: …, delta: …}}, {{editions: …}}, {PLANNED} or none"


def _means_editions(found: Mapping[str, object]) -> bool:
    """Whether it names editions, or nearly, and neither ε nor δ."""
    if "editions" in found:
        return True
    pair = {"epsilon", "delta"} & found.keys()
    return not pair and any(get_close_matches(str(key)[:100], ["editions"]) for key in found)


def guarantee_or_editions(plain: BeforeValidator) -> BeforeValidator:
    """The law of a guarantee: of an account's plan, of so many editions, or as ``plain`` has it."""

    def read(found: object) -> object:
        if found == PLANNED or isinstance(found, EditionsSpec):
            return found
        if isinstance(found, dict) and _means_editions(found):
            return EditionsSpec.model_validate(found)
        if isinstance(found, str) and get_close_matches(found[:100], [PLANNED], n=1):
            raise refusal(f"must be {_GUARANTEES}, found {show(found)}", f"write {PLANNED}")
        return plain.func(found)  # type: ignore[call-arg]

    return BeforeValidator(read)


def time_laws(data: Data) -> Broken:
    """The laws of a policy's schedule, and of what an edition is called."""
    if all(key in data for key in _SCHEDULES):
        wrong = "must not stand beside refresh: a period is released once, and not anew"
        yield from barred(data, ("period",), wrong, "keep one of them")
    has_schedule = any(key in data for key in _SCHEDULES)
    if "revise" in data:
        yield from _revise_laws(data)
    release = mapping(data.get("release"))
    for place in ("file", "table"):
        text = release.get(place)
        if not isinstance(text, str) or "{{" in text or "{%" in text:
            continue  # no template: that is refused wherever it stands
        for hole in _HOLES.findall(text):
            if hole != "edition":
                wrong = f"has {{{hole}}}, and nothing but {EDITION} is filled in"
                yield refusal(wrong, f"write {EDITION}, or leave it out", at=("release", place))
            elif not has_schedule:
                wrong = f"has {EDITION}, and the policy has neither refresh nor period"
                yield refusal(wrong, "add one of them, or leave it out", at=("release", place))
    if release.get("append"):
        yield from _append_laws(data, release, has_schedule=has_schedule)
    elif "period" in data:
        yield from _place_laws(release)


def _place_laws(release: Mapping[str, object]) -> Broken:
    """The law that each period has a place: the next one would take that of the last."""
    for place, remedy in (
        ("file", f'as in "out/visits-{EDITION}.parquet"'),
        ("table", f'as in "visits_{EDITION}", or add append: true'),
    ):
        text = release.get(place)
        if isinstance(text, str) and not _HOLES.search(text):
            wrong = f"has no {EDITION}, so that each period would take the place of the last"
            yield refusal(wrong, remedy, at=("release", place))


def _revise_laws(data: Data) -> Broken:
    """What is drawn anew by the calendar is a period, after it was drawn for the first time."""
    if "period" not in data:
        wrong = "is of a period, whose late rows it is for, and there is none"
        remedy = "write period, or remove it: the whole table anew is refresh"
        yield from barred(data, ("revise",), wrong, remedy)
        return
    first = mapping(data["period"]).get("after", "0d")
    anew = mapping(data["revise"]).get("after")
    if _is_wait(first) and _is_wait(anew) and days_of(str(anew)) <= days_of(str(first)):
        wrong = f"must be more than period.after, {first}, found {anew}"
        yield refusal(wrong, "no edition would be drawn before that", at=("revise", "after"))


def _append_laws(data: Data, release: Mapping[str, object], *, has_schedule: bool) -> Broken:
    """The laws of rows that are added: of several editions, to one table, beside its column."""
    at = ("release", "append")
    if not has_schedule:
        wrong = "is of several editions, and the policy has neither refresh nor period"
        yield refusal(wrong, "add one of them, or leave it out", at=at, on_key=True)
    if "file" in release:
        remedy = f"a folder gets one more file by file: out/edition={EDITION}/part.parquet"
        yield refusal("is of a table, and this is a file", remedy, at=at, on_key=True)
    elif EDITION in str(release.get("table", "")):
        wrong = f"adds all editions to one table, and its name has {EDITION}"
        yield refusal(wrong, "keep one of them", at=at, on_key=True)
    named = [(("recode", str(name)), name) for name in mapping(data.get("recode"))]
    wrong, remedy = "is the column that says of which edition a row is", "give it another name"
    for place, name in (*named, *shown_names(data)):
        if str(name).casefold() == "edition":
            yield refusal(wrong, remedy, at=place, on_key=place[0] != "count")


class LimitSpec(Document):
    """An ε and a δ."""

    epsilon: fields.StepField
    delta: fields.ShareField


class PlanSpec(Document):
    """The part of a window that is planned for one policy."""

    needs = ("", "as in {editions: 12}")

    editions: Annotated[int, fields.integer(1, MOST_EDITIONS)]
    """The number of editions of this policy in a window."""
    share: fields.OptionalStepField = None
    """The weight of all these editions together, compared with the other policies. The default is
    the number of editions. Then all editions of all policies are equally strong.
    """


RestField = Annotated[
    Decimal, fields.number("at least 0 and below 1", minimum=0, exclusiveMaximum=1)
]
PlansField = Annotated[
    dict[str, PlanSpec],
    fields.a_mapping("policy: {editions: …}", "name a policy, or remove it", minProperties=1),
]


def window_laws(data: Data) -> Broken:
    """The laws of an account's windows: what needs what, and what lasts for ever is no less."""
    if not {"epsilon", "delta"} & data.keys():
        wrong = "is of an account with a limit"
        yield from barred(data, WINDOWED, wrong, "write epsilon and delta, or remove it")
        return
    needed = (
        ("of", "each", "is of windows, and nothing says how long one is", "add each: month"),
        ("joined", "of", "is of windows of rows, and no column tells them apart", "remove it"),
        ("ever", "each", "is a limit over all windows, and there is one", "add each: year"),
        ("rest", "plan", "is what a plan leaves, and there is none", "add plan, or remove it"),
        ("neighbours", "plan", "is of a plan, and there is none", "add plan, or remove it"),
    )
    for key, other, wrong, remedy in needed:
        if other not in data:
            yield from barred(data, [key], wrong, remedy)
    for policy in mapping(data.get("plan")):
        try:
            fields.name(policy)
        except PydanticCustomError as error:
            wrong = f"is no policy's name: a name {error.message()}"
            yield refusal(wrong, at=("plan", policy), on_key=True)
    ever = mapping(data.get("ever"))
    for key in ("epsilon", "delta"):
        one, all_windows = fields.as_number(data.get(key)), fields.as_number(ever.get(key))
        if one is not None and all_windows is not None and all_windows < one:
            wrong = f"must be at least {key}, which one window has, {show(one)}"
            yield refusal(f"{wrong}, found {show(all_windows)}", at=("ever", key))


def _zone(found: object) -> str:
    name: str = fields.line(found)
    if name in zone_names():
        return name
    known = {each.lower(): each for each in sorted(zone_names())}
    known |= {each.rsplit("/", 1)[-1].lower(): each for each in sorted(zone_names())}
    close = get_close_matches(name[:100].lower(), known, n=1)
    remedy = f"did you mean {known[close[0]]!r}?" if close else _ZONE_EXAMPLE
    raise refusal(f"must be a name of the IANA's list of zones, found {show(found)}", remedy)


ZoneField = Annotated[str, Ruled(_zone, {"type": "string", "minLength": 1})]
