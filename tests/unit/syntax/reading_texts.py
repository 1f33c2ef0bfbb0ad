"""One release in the words of an engine, and what must not pass however it is written.

An engine's test says how it quotes, draws, orders and writes a label; the tamperings that are the
same for all are made here. Each must be refused, and the release itself must pass.
"""

from __future__ import annotations

from dataclasses import dataclass

from policy_engine.syntax.schema import Schema
from policy_engine.verify.proof import Proof, prove

COLUMNS = {
    "person": "BIGINT",
    "code": "VARCHAR",
    "age": "INTEGER",
    "income": "DECIMAL(10,2)",
    "weight": "DOUBLE",
    "zip": "VARCHAR",
    "town": "VARCHAR COLLATE nocase",
    "married": "BOOLEAN",
    "born": "DATE",
    "seen": "TIMESTAMP",
    "moved": "TIMESTAMP WITH TIME ZONE",
}
SCHEMA = Schema({"main.people": COLUMNS}, known=True)
_TEXT = """\
WITH {sampled} AS (
  SELECT {age}, {zip}, {born}, {seen}, {moved}, {weight}, {income}, {married}, {town},
    ROW_NUMBER() OVER (PARTITION BY {person} ORDER BY {by_seen}) AS {rank}
  FROM {main}.{people}
  WHERE {sample}
), {recoded} AS (
  SELECT {value} AS {x} FROM {sampled} WHERE {rank} = 1
)
SELECT {x}, {count} AS {n} FROM {recoded} GROUP BY {x} HAVING {count} >= 5 ORDER BY {by_x}
"""


def steps(value: str, step: str, small: str, kept: str = "") -> str:
    """How many times ``step`` is in ``value``, rounded; 0 of what is below ``small``."""
    quotient = f"{kept or f'ABS({value})'} / {step}"
    up = f"FLOOR({quotient}) + CASE WHEN {quotient} - FLOOR({quotient}) >= 0.5 THEN 1 ELSE 0 END"
    return f"CASE WHEN ABS({value}) < {small} THEN 0 WHEN {value} < 0 THEN -({up}) ELSE {up} END"


@dataclass(frozen=True)
class Engine:
    """How one engine writes the release; ``sample`` and ``value`` name columns as ``{age}``."""

    name: str
    sample: str
    secret: str
    value: str = "CASE WHEN {age} < 18 THEN 'child' ELSE 'adult' END"
    quotes: str = '""'
    last: str = "{} ASC"
    count: str = "COUNT(*)"

    def quoted(self, name: str) -> str:
        """A name in the engine's quotes."""
        return self.quotes[0] + name + self.quotes[1]

    def filled(self, text: str) -> str:
        """``text``, its names quoted."""
        names = {name: self.quoted(name) for name in (*COLUMNS, "main", "people", "rank")}
        return text.format(**names)

    def text(self, value: str = "", sample: str = "") -> str:
        """The release of ``value``, of a ``sample`` drawn in another way."""
        names = {name: self.quoted(name) for name in (*COLUMNS, "main", "people", "rank")}
        names |= {name: self.quoted(name) for name in ("sampled", "recoded", "x", "n")}
        return _TEXT.format(
            **names,
            sample=self.filled(sample or self.sample),
            value=self.filled(value or self.value),
            by_seen=self.last.format(self.quoted("seen")),
            by_x=self.last.format(self.quoted("x")),
            count=self.count,
        )

    def proof(self, text: str) -> Proof:
        """What the kernel makes of a text."""
        return prove(text, self.name, SCHEMA)

    def accepts(self, value: str) -> bool:
        """Whether the release of ``value`` is proved."""
        return self.proof(self.text(value)).shape is not None

    def tampered(self) -> dict[str, str]:
        """Texts that are no release, by what is wrong with each."""
        text, having = self.text(), f" HAVING {self.count} >= 5"
        rank, literal = self.filled("WHERE {rank} = 1"), "'00112233445566778899aabbccddeeff'"
        found = {
            "no threshold": text.replace(having, ""),
            "a threshold of one": text.replace(f"{self.count} >= 5", f"{self.count} >= 1"),
            "another aggregate": text.replace(having, self.filled(" HAVING MAX({age}) >= 5")),
            "a limit": text + " LIMIT 5",
            "a place to start": text + " OFFSET 5",
            "a second statement": text + "; DROP TABLE people",
            "another separator": text.replace("':u:'", "':v:'"),
            "a secret that is written": text.replace(self.secret, literal),
            "no secret": text.replace(self.secret, "''"),
            "a bound in capitals": text.replace("4000000000000", "4CCCCCCCCCCCC"),
            "a bound that is longer than a hash": text.replace("40000000", "4" * 65),
            "every row": text.replace(rank, ""),
            "the second row": text.replace(rank, rank.replace("= 1", "= 2")),
            "another person's row": text.replace(
                self.filled("PARTITION BY {person}"), self.filled("PARTITION BY {age}")
            ),
            "a hint": text.replace("SELECT", "SELECT /*+ PARALLEL(4) */", 1),
            "a comment that runs": text.replace("SELECT", "SELECT /*! DISTINCT */", 1),
            "a nested comment": text.replace("SELECT", "SELECT /* /* */ */", 1),
            "distinct rows": text.replace("SELECT", "SELECT DISTINCT", 1),
            "a union": text.replace(
                self.filled("FROM {main}.{people}"),
                self.filled("FROM (SELECT * FROM {main}.{people} UNION ALL SELECT * FROM {main}"
                            ".{people}) AS u"),
            ),
            "a join": text.replace(
                self.filled("FROM {main}.{people}"),
                self.filled("FROM {main}.{people} CROSS JOIN {main}.{people} AS other"),
            ),
            "a random number": self.text("CASE WHEN RANDOM() < 0.5 THEN 'a' ELSE 'b' END"),
            "a function nobody knows": self.text("MY_OWN({age})"),
            "a cast that fails": self.text("CAST({zip} AS BIGINT)"),
            "a division by a column": self.text("1 / {age}"),
            "a clock": self.text("CURRENT_TIMESTAMP"),
            "another row's value": self.text("LAG({age}) OVER (ORDER BY {age})"),
            "a query in a column": self.text("(SELECT MAX({age}) FROM {main}.{people})"),
            "a name that hides a column": text.replace(
                self.filled("AS {rank}"), self.filled("AS {age}"), 1
            ),
            "no sample": self.text(sample="{age} > 0"),
            "another key": self.text(sample=self.sample.replace("{person}", "{age}")),
            "a floating-point number": self.text("{weight}"),
            "a text under a collation": self.text("{town}"),
        }  # fmt: skip
        same = [name for name, each in found.items() if each == text]
        assert same == [], f"these are not tampered with: {same}"
        return found
