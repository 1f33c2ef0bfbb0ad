"""The texts of four files: ``--- what it is``, a schema of its own or none, and the text below it.

``accepted.sql`` and ``refused.sql`` read the tables of ``schema.sql``. The texts of strangers, who
had read the theory and the contract and had seen no code, say in a comment why they are sound.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    """A text, and the DDL of what it reads; empty where nothing is known."""

    name: str
    sql: str
    ddl: str = ""

    def __str__(self) -> str:
        return self.name


def _blocks(file: str) -> list[tuple[str, str]]:
    blocks = ("\n" + (HERE / file).read_text("utf-8")).split("\n--- ")[1:]
    return [(name, body.strip()) for name, _, body in (each.partition("\n") for each in blocks)]


def ours(file: str) -> list[Case]:
    """The texts of a file that are over the tables of ``schema.sql``."""
    return [Case(name, sql) for name, sql in _blocks(file)]


def strangers(file: str) -> list[Case]:
    """The texts of a file that may have their own schema above them."""
    found: list[Case] = []
    for name, body in _blocks(file):
        if name.startswith("schema above"):
            last = found.pop()
            found.append(Case(last.name, body, last.sql))
        else:
            found.append(Case(name, body))
    return found


#: What a text of ours reads; the type is one that only the database knows.
TABLES = (HERE / "schema.sql").read_text("utf-8")
DDL = TABLES.replace("CREATE TYPE money AS DOUBLE;", "")
