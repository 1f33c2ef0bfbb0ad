"""Make data/digests.parquet: one invented account a row, with the SHA-1 of its password.

    python policies/password_prefix/make_digests.py

No real password is used. The script invents words from syllables, makes passwords of them the
way people do (a word, a capital, two digits, a year), and hands them out by Zipf's law: a few
are very common, most are rare. The seed is fixed, so the same table comes out every time.
"""

import argparse
import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SEED = 5_381
ACCOUNTS = 250_000
PASSWORDS = 30_000
EXPONENT = 0.9  # of Zipf's law
SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]


def words(rng: np.random.Generator, count: int) -> list[str]:
    """Distinct pronounceable words, of two or three syllables."""
    found: dict[str, None] = {}
    while len(found) < count:
        length = rng.integers(2, 4)
        found["".join(rng.choice(SYLLABLES, length))] = None
    return list(found)


def passwords(rng: np.random.Generator, count: int) -> list[str]:
    """Distinct passwords, the commonest first."""
    stock = words(rng, 6_000)
    endings = ["", "1", "12", "123", "!", *(str(year) for year in range(1970, 2010))]
    found: dict[str, None] = {}
    while len(found) < count:
        word = stock[rng.integers(len(stock))]
        word = word.capitalize() if rng.random() < 0.3 else word
        found[word + endings[rng.integers(len(endings))]] = None
    return list(found)


def make() -> pa.Table:
    """One row an account: a serial number and the digest of its password."""
    rng = np.random.default_rng(SEED)
    digests = [hashlib.sha1(p.encode()).hexdigest() for p in passwords(rng, PASSWORDS)]
    weights = np.arange(1, PASSWORDS + 1) ** -EXPONENT
    chosen = rng.choice(PASSWORDS, ACCOUNTS, p=weights / weights.sum())
    return pa.table(
        {
            "account_id": pa.array(np.arange(1, ACCOUNTS + 1), pa.int32()),
            "sha1": pa.DictionaryArray.from_arrays(
                pa.array(chosen, pa.int32()), pa.array(digests)
            ).cast(pa.string()),
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = Path(__file__).parent
    parser.add_argument("--out", type=Path, default=here / "data" / "digests.parquet")
    arguments = parser.parse_args()
    table = make()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, arguments.out, compression="zstd", compression_level=19)
    print(f"{arguments.out}: {table.num_rows} accounts, {PASSWORDS} passwords at most")


if __name__ == "__main__":
    main()
