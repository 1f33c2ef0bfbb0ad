"""Counts with noise, each broken in one way, that an audit must flag; beside each the sound one.

As in ``policy_engine.audit.controls``. The numbers are loose, so that few runs tell: at ε = 0.5 and
δ ≤ 0.1 noise is from −3 to 2, and a group is shown with 3 or more.
"""

from __future__ import annotations

import re
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.audit.controls import Control, Session
from policy_engine.audit.people import People, Person

NOISY = "mechanism: noisy_counts"
LAPLACE = f"{NOISY}\nnoise: {{distribution: truncated_laplace}}"
Loose = partial(Control, mechanism=LAPLACE, epsilon="0.5", delta="0.1")


def alike(number: int, cell: str = "x", age: str | None = None) -> People:
    """So many people with one row each."""
    return tuple(Person(i, ((("cell", cell), ("age", age)),)) for i in reversed(range(number)))


def named(number: int) -> People:
    """So many people of one name, whose age is 0."""
    row = (("cell", "x"), ("name", "a"), ("age", "0"))
    return tuple(Person(i, (row,)) for i in reversed(range(number)))


def changed(*changes: tuple[str, str]):
    """A run of the certified text with these changes in it."""
    return lambda session: session.release(session.but(*changes))


def before(session: Session) -> str:
    """The text on the day before one person came."""
    return session.but(('"people"\n', '"people"\n  WHERE "name" IS NULL\n'))


def same_secret(session: Session) -> list[pa.Table]:
    return session.release(before(session), session.texts[0])


def fresh_secrets(session: Session) -> list[pa.Table]:
    return [session.release(text)[0] for text in (before(session), session.texts[0])]


def unsorted(session: Session) -> list[pa.Table]:
    """The cut points in falling order, each with the value that stood beside it."""
    cuts = re.findall(r"\n +WHEN policy_engine_hash < .*", session.texts[0])
    assert len(cuts) == len(session.certificates[0].claim.law.table.entries)
    return session.release(session.but(("".join(cuts), "".join(reversed(cuts)))))


GROUPED = 'COUNT(*) AS policy_engine_people\n  FROM recoded\n  GROUP BY "cell"'
HASH_OF_GROUP = (
    "SHA256($salt || ':o:' || CAST(policy_engine_unit AS VARCHAR) || ':' ||"
    " CAST(policy_engine_place AS VARCHAR))"
)
# Of everybody: only who has too many groups is in the step ``placed``.
SIZES = (
    "SELECT * FROM placed JOIN"
    ' (SELECT "cell", COUNT(*) AS size FROM found GROUP BY "cell") USING ("cell")'
)
IN_BOTH = ((("cell", "a"),), (("cell", "b"),))

SUMS = f"{LAPLACE}\nmeasures: {{age: {{sum: age, bounds: [0, 10], missing: {{as: 0}}}}}}"
SUM = 'SUM("policy_engine_value_1")'
LISTED = """(SELECT 'x' AS "cell" UNION ALL SELECT 'y' AS "cell")"""
SHOWN, NUMBER = "\nWHERE policy_engine_n >= ", 'policy_engine_n AS "n"'


def sum_of_the_unshown(session: Session) -> list[pa.Table]:
    """Every group, its count where it is large enough."""
    least = session.certificates[0].claim.law.least_shown
    count = f'CASE WHEN policy_engine_n >= {least} THEN policy_engine_n END AS "n"'
    return session.release(session.but((f"{SHOWN}{least}", ""), (NUMBER, count)))


BY_BOTH = "policy_engine_grouping, "
CENTRE = 5
"""The middle of the bounds: a sum has noise without it, and then gets it once for each of n."""


def sums_by_grouping(session: Session, text: str) -> list[pa.Table]:
    """The sums of both groupings, each as a table of its own, without the noise of their n."""
    assert f'("policy_engine_total_1" + {CENTRE} * "policy_engine_n")' in text
    [rows] = session.release(text)
    totals = pc.subtract(rows["age"], pc.multiply(rows["n"], CENTRE))
    sums = rows.select(["cell", "name"]).append_column("n", totals)
    return [sums.filter(pc.equal(rows["grouping"], number)) for number in (1, 2)]


def one_noise(session: Session) -> list[pa.Table]:
    """Groups are numbered anew in each grouping for the noise of their sums."""
    shared = r"\1(PARTITION BY policy_engine_grouping ORDER BY "
    text = re.sub(rf"(':g:1:.*? OVER )\(ORDER BY {BY_BOTH}", shared, session.texts[0])
    assert text != session.texts[0]
    return sums_by_grouping(session, text)


CONTROLS = (
    Loose(
        "HAVING on the raw n",
        "groups of fewer than 10 people are left out before the noise",
        "10 people alike, or 9",
        alike(10),
        changed((GROUPED, f"{GROUPED}\n  HAVING COUNT(*) >= 10")),
        runs=150,
    ),
    Loose(
        "τ = B",
        "the least number shown is one that the noise of an empty group reaches",
        "a unique person, or nobody",
        alike(1),
        changed((">= 2", ">= 1")),
        runs=450,
        epsilon="1.5",
        delta="0.16",
    ),
    Loose(
        "sticky noise",
        "a release before and one after a person came have one secret",
        "41 people after 40, or 40 after 40",
        (Person(40, ((("cell", "x"), ("name", "new")),)), *alike(40)),
        same_secret,
        runs=150,
        releases_all=True,
        sound=fresh_secrets,
    ),
    Loose(
        "noise by row",
        "each row has noise of its own, and the group their mean",
        "100 people alike, or 99",
        alike(100),
        changed(
            (GROUPED, 'COUNT(*) OVER (PARTITION BY "cell") AS policy_engine_people FROM recoded'),
            ("policy_engine_people + CASE", "CAST(ROUND(AVG(policy_engine_people + CASE"),
            ("END AS policy_engine_n", "END)) AS BIGINT) AS policy_engine_n"),
            ("FROM drawn", 'FROM drawn GROUP BY "cell"'),
        ),
        runs=400,
    ),
    Loose(
        "unsorted cut points",
        "the cut points stand in falling order",
        "20 people alike, or 19",
        alike(20),
        unsorted,
        runs=150,
    ),
    Loose(
        "largest groups",
        "of a person's groups those are counted that have most people",
        "one more in b beside 20 who are in a and b, or not",
        (Person(20, IN_BOTH[1:]), *(Person(i, IN_BOTH) for i in range(20))),
        changed((f"{HASH_OF_GROUP}, ", "size DESC, "), ("FROM placed", f"FROM ({SIZES})")),
        mechanism=f"{LAPLACE}\ncontribution: {{max_groups: 1}}",
        unit="{column: id, rows: all}",
        runs=150,
    ),
    Loose(
        "clipped after the sum",
        "the sum of a group is clipped, to what its people could have at most, and no person's",
        "one person far outside beside 20 with nothing, or not",
        (Person(20, ((("cell", "x"), ("age", "1000")),)), *alike(20, age="0")),
        changed(
            ('GREATEST(0, LEAST(10, "age"))', '"age"'),
            (SUM, f"LEAST({SUM}, 10 * COUNT(*))"),
        ),
        mechanism=SUMS,
        runs=150,
    ),
    Loose(
        "sum of an unshown count",
        "a group whose count is not shown has its sum shown",
        "a unique person, or nobody",
        alike(1, age="10"),
        sum_of_the_unshown,
        mechanism=SUMS,
        runs=150,
    ),
    Loose(
        "no threshold without keys",
        "every group that is there is shown, whatever its number, and no list says which",
        "a unique person, or nobody",
        alike(1),
        changed((f"{SHOWN}3", "")),
        runs=150,
    ),
    Loose(
        "keys from the data",
        "the list of keys is what stands in the source",
        "a unique person, or nobody",
        alike(1),
        changed((LISTED, '(SELECT DISTINCT "cell" FROM recoded)')),
        mechanism=f"{LAPLACE}\npublic_groups: {{cell: [x, y]}}",
        runs=150,
    ),
    Loose(
        "keys of nobody are left out",
        "a key of the list is shown where somebody has it",
        "a unique person, or nobody",
        alike(1),
        changed(("(policy_engine_there) = 1", "(policy_engine_there) = 1 AND COUNT(*) > 1")),
        mechanism=f"{LAPLACE}\npublic_groups: {{cell: [x, y]}}",
        runs=150,
    ),
    Loose(
        "one noise for the sums of all groupings",
        "the sums of both groupings have the same noise, so that one less the other is exact",
        "one person of another name beside 80 alike, or not",
        (Person(80, ((("cell", "x"), ("name", "b"), ("age", "10")),)), *named(80)),
        one_noise,
        mechanism=f"{SUMS}\nmarginals: [[cell, name], [cell]]",
        recodes=("{cell: keep, name: keep}",),
        runs=150,
        sound=lambda session: sums_by_grouping(session, session.texts[0]),
    ),
    Loose(
        "place above n",
        "a group is shown where its place is above its size, too",
        "a unique person, or nobody",
        alike(1),
        changed((">= 6", ">= 0")),
        mechanism=f"{NOISY}\nnoise: {{distribution: negative_binomial}}",
        runs=400,
    ),
)
