"""One release in the words of an engine, and what must not pass however it is written.

An engine says how it quotes, draws, orders and writes a label; the tamperings are the same for all.
The release itself is answered with a text to run instead; no tampered one is certified.
"""

from __future__ import annotations

from dataclasses import dataclass

COLUMNS = (
    "person", "code", "age", "income", "weight", "zip", "town", "married", "born", "seen", "moved",
)  # fmt: skip
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


_WAITS = "(SELECT {0}salt{1} FROM {0}policy_engine_salts{1} WHERE {0}release_id{1} = 'next')"
_QUOTED, _TICKED, _BRACKETED = (_WAITS.format(*quotes) for quotes in ('""', "``", "[]"))
_BINARY = "COLLATE Latin1_General_100_BIN2"
_SPARK = f"SHA2({_TICKED} || ':u:' || CAST({{person}} AS STRING), 256) < '400000000000000'"
ENGINES = (
    Engine(
        "postgres",
        "sha256(convert_to(current_setting('policy_engine.salt') || ':u:' || CAST({person} AS"
        " TEXT), 'UTF8')) < decode('4000000000000000', 'hex')",
        "current_setting('policy_engine.salt')",
        last="{} NULLS LAST",
    ),
    Engine("spark", _SPARK, _TICKED, quotes="``", last="{} ASC NULLS LAST"),
    Engine("databricks", _SPARK, _TICKED, quotes="``", last="{} ASC NULLS LAST"),
    Engine(
        "snowflake",
        "SHA2($policy_engine_salt || ':u:' || CAST({person} AS VARCHAR), 256) < '400000000000000'",
        "$policy_engine_salt",
    ),
    Engine(
        "bigquery",
        f"TO_HEX(SHA256({_TICKED} || ':u:' || CAST({{person}} AS STRING))) < '400000000000000'",
        _TICKED,
        quotes="``",
        last="{} ASC NULLS LAST",
    ),
    Engine(
        "redshift",
        f"SHA2({_QUOTED} || ':u:' || CAST({{person}} AS VARCHAR(MAX)), 256) < '400000000000000'",
        _QUOTED,
    ),
    Engine(
        "trino",
        f"LOWER(TO_HEX(SHA256(TO_UTF8({_QUOTED} || ':u:' || CAST({{person}} AS VARCHAR)))))"
        " < '400000000000000'",
        _QUOTED,
    ),
    Engine(
        "tsql",
        f"HASHBYTES('SHA2_256', CAST({_BRACKETED} AS VARCHAR(32)) + ':u:' +"
        " LOWER(CAST({person} AS VARCHAR(40)))) < CONVERT(VARBINARY(8), '4000000000000000', 2)",
        _BRACKETED,
        value=f"CASE WHEN {{age}} < 18 THEN 'child' {_BINARY} ELSE 'adult' {_BINARY} END",
        quotes="[]",
        last="CASE WHEN {0} IS NULL THEN 1 ELSE 0 END, {0} ASC",
        count="COUNT_BIG(*)",
    ),
    Engine(
        "clickhouse",
        "lower(hex(SHA256({{salt:String}} || ':u:' || toString({person})))) < '400000000000000'",
        "{salt:String}",
    ),
    Engine(
        "datafusion",
        "encode(sha256($salt || ':u:' || CAST({person} AS VARCHAR)), 'hex') < '400000000000000'",
        "$salt",
    ),
    Engine(
        "sqlite",
        "policy_engine_sha256(CAST(:salt || ':u:' || CAST({person} AS TEXT) AS BLOB))"
        " < '400000000000000'",
        ":salt",
        quotes="``",
        last="{} NULLS LAST",
    ),
)
