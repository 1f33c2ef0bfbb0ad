"""The cases of accepted.sql and refused.sql: ``--- what it is`` and the text below it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from policy_engine.syntax.ddl import parse_schema
from policy_engine.syntax.schema import Schema

HERE = Path(__file__).parent
# A schema is tables and views: the type is one that only the database knows.
_DDL = (HERE / "schema.sql").read_text().replace("CREATE TYPE money AS DOUBLE;", "")
SCHEMA = parse_schema(_DDL, "duckdb")


@dataclass(frozen=True)
class Case:
    """``codes`` are expected; ``mode`` is open, known or both (with a schema and without)."""

    name: str
    codes: tuple[str, ...]
    mode: str
    sql: str

    def schemas(self) -> list[Schema | None]:
        """The schemas under which the case is what its file says."""
        return {"open": [None], "known": [SCHEMA], "both": [None, SCHEMA]}[self.mode]

    def __str__(self) -> str:
        return self.name


def cases(name: str) -> list[Case]:
    """The cases of one file, in its order."""
    found = []
    for block in ("\n" + (HERE / name).read_text()).split("\n--- ")[1:]:
        title, _, sql = block.partition("\n")
        words = title.split()
        codes = [word.strip(",") for word in words if word[0] == "V" and word[1:3].isdigit()]
        mode = next((word[:-1] for word in words if word in {"open:", "known:"}), "both")
        found.append(Case(title, tuple(codes), mode, sql.strip()))
    return found
