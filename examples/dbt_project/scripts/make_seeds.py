"""Make the seeds of this project: census people, and visits to a clinic that are invented for them.

    python scripts/make_seeds.py adult.parquet

The people are the first 6,000 of the Adult census extract (Becker and Kohavi, UCI Machine Learning
Repository, 1996; CC BY 4.0). Their visits follow from the numbers of the people alone, by a hash:
whoever runs this gets the same bytes.
"""

from __future__ import annotations

import csv
import hashlib
import sys
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pyarrow.parquet as pq

PEOPLE = 6_000
COLUMNS = ("age", "education", "sex", "native_country", "hours_per_week", "income")
DEPARTMENTS = ("cardiology", "dermatology", "ophthalmology", "orthopaedics", "paediatrics")
SEEDS = Path(__file__).parent.parent / "seeds"


def digits(person: int, *what: object) -> int:
    """A number that looks random, and is always the same for the same person."""
    text = ":".join(map(str, (person, *what)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def visits(person: int, age: int) -> Iterator[tuple[date, str]]:
    """The visits of a person: none to five, and more with the years."""
    count = digits(person, "count") % (3 + age // 25)
    for number in range(count):
        day = date(2025, 1, 1) + timedelta(days=digits(person, number, "day") % 365)
        known = len(DEPARTMENTS) - (age >= 18)  # who is grown up goes to no paediatrician
        yield day, DEPARTMENTS[digits(person, number, "department") % known]


def main() -> None:
    """Write both files."""
    table = pq.read_table(sys.argv[1], columns=list(COLUMNS)).slice(0, PEOPLE)
    people = [{"person_id": number, **row} for number, row in enumerate(table.to_pylist(), start=1)]
    rows = [
        (person["person_id"], day.isoformat(), department)
        for person in people
        for day, department in visits(person["person_id"], person["age"])
    ]
    write("people.csv", ("person_id", *COLUMNS), (person.values() for person in people))
    numbered = ((number, *row) for number, row in enumerate(rows, start=1))
    write("visits.csv", ("visit_id", "person_id", "visited_on", "department"), numbered)


def write(name: str, header: tuple[str, ...], rows: Iterator) -> None:
    """Write a CSV file; what is missing is empty."""
    with (SEEDS / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
