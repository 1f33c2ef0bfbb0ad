"""Make data/visits.parquet: invented hospital visits of real, long-public census answers.

    python policies/hospital_visits/make_visits.py ../shared/data/census_income.parquet

Age and sex are those of a fixed sample of people of the Census-Income (KDD) extract; every
visit (how many, when, where, how long) is invented. The seed is fixed, so the same input
gives the same table.
"""

import argparse
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SEED = 20_240_117
PEOPLE = 60_000
FIRST_DAY, DAYS = date(2024, 1, 1), 366
VISITS = np.array([0.46, 0.24, 0.13, 0.08, 0.05, 0.04])  # the chance of 1, 2, … 6 visits
DEPARTMENTS = np.array(
    ["Emergency", "General medicine", "Surgery", "Orthopaedics", "Cardiology", "Paediatrics"]
)


def shares(age: np.ndarray) -> np.ndarray:
    """How likely each department is for a person of each age; a row sums to 1."""
    child, old = age < 16, age >= 60
    weights = np.column_stack(
        [
            np.full(age.shape, 0.30),
            np.full(age.shape, 0.26),
            np.where(child, 0.06, 0.16),
            np.where(child, 0.08, 0.16),
            np.where(child, 0.01, np.where(old, 0.26, 0.08)),
            np.where(child, 0.40, 0.0),
        ]
    )
    return weights / weights.sum(axis=1, keepdims=True)


def make(people: pa.Table) -> pa.Table:
    """One row a visit; no two visits of one person on the same day."""
    rng = np.random.default_rng(SEED)
    people = people.sort_by("person_id")
    chosen = np.sort(rng.choice(people.num_rows, PEOPLE, replace=False))
    people = people.take(pa.array(chosen))
    how_many = rng.choice(np.arange(1, VISITS.size + 1), PEOPLE, p=VISITS)
    person = np.repeat(np.arange(PEOPLE), how_many)
    days = np.concatenate([rng.choice(DAYS, n, replace=False) for n in how_many])
    order = np.lexsort((person, days))  # as a hospital would write them down: by day
    person, days = person[order], days[order]

    age = people["age"].to_numpy()[person]
    cumulated = shares(age).cumsum(axis=1)
    department = (rng.random(person.size)[:, None] > cumulated[:, :-1]).sum(axis=1)
    nights = rng.geometric(0.45, person.size) - 1
    return pa.table(
        {
            "visit_id": pa.array(np.arange(1, person.size + 1), pa.int32()),
            "person_id": people["person_id"].combine_chunks().take(pa.array(person)),
            "visit_date": pa.array([FIRST_DAY + timedelta(int(d)) for d in days], pa.date32()),
            "department": pa.array(DEPARTMENTS[department]),
            "nights": pa.array(nights, pa.int16()),
            "age": pa.array(age, pa.int16()),
            "sex": people["sex"].combine_chunks().take(pa.array(person)),
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("census", type=Path, help="census_income.parquet")
    here = Path(__file__).parent
    parser.add_argument("--out", type=Path, default=here / "data" / "visits.parquet")
    arguments = parser.parse_args()
    table = make(pq.read_table(arguments.census, columns=["person_id", "age", "sex"]))
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, arguments.out, compression="zstd", compression_level=19)
    print(f"{arguments.out}: {table.num_rows} visits of {PEOPLE} people")


if __name__ == "__main__":
    main()
