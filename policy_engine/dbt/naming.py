"""Names of relations: how they are written, and which known relation one means.

Two comparisons, because an error either way would hide something. *Surely* the same: every part,
folded as the engine folds it. *Perhaps* the same: without case, whatever stands before the schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from policy_engine.engines.sql_rules import rules_of

_PART = re.compile(
    r"\s*(?:\"(?P<double>(?:[^\"]|\"\")*)\"|`(?P<tick>(?:[^`]|``)*)`|\[(?P<square>[^\]]*)\]"
    r"|(?P<bare>[^\s.\"`\[\]()',;]+))\s*(?P<dot>\.|\Z)"
)
_ADAPTERS = {
    "alloydb": "postgres",
    "athena": "trino",
    "cratedb": "postgres",
    "databricks_sql": "databricks",
    "fabric": "tsql",
    "fabricspark": "spark",
    "greenplum": "postgres",
    "mysql5": "mysql",
    "risingwave": "postgres",
    "sqlserver": "tsql",
    "starburst": "trino",
    "synapse": "tsql",
}


def dialect_of(adapter: str) -> str:
    """The dialect of an adapter's SQL.

    >>> dialect_of("sqlserver"), dialect_of("duckdb")
    ('tsql', 'duckdb')
    """
    return _ADAPTERS.get(adapter, adapter)


class Part(NamedTuple):
    """One part of a name, as it is written."""

    text: str
    quoted: bool = False

    def folded(self, dialect: str) -> str:
        """The part in the form in which the engine compares it."""
        return self.text.lower() if rules_of(dialect).folds is None else self.kept(dialect)

    def kept(self, dialect: str) -> str:
        """The part as quotes would have it: a name without quotes as the engine folds it."""
        folds = rules_of(dialect).folds
        return self.text if self.quoted or folds is None else folds(self.text)


Name = tuple[Part, ...]


def read_name(written: str) -> Name | None:
    """The parts of a name; None where the text is no name, such as a function's call.

    >>> [part.text for part in read_name('"shop"."main"."People Dim"')]
    ['shop', 'main', 'People Dim']
    >>> read_name("read_parquet('people.parquet')")
    """
    parts, place = [], 0
    while place < len(written):
        found = _PART.match(written, place)
        if found is None:
            return None
        place = found.end()
        quoted = found["bare"] is None
        part = found["bare"] or found["double"] or found["tick"] or found["square"] or ""
        if found["tick"] is not None:
            # BigQuery writes `project.dataset.table` as well.
            parts += [Part(each, True) for each in part.replace("``", "`").split(".")]
        else:
            parts.append(Part(part.replace('""', '"') if quoted else part, quoted))
        if not found["dot"]:
            break
    return tuple(parts) or None


def shown(name: Name) -> str:
    """A name as a message shows it."""
    return ".".join(part.text for part in name if part.text)


@dataclass
class Names:
    """The relations of a project by name; several nodes may be one relation.

    >>> names = Names("postgres")
    >>> names.add("model.people", '"shop"."main"."people"')
    >>> names.meant(read_name("MAIN.People"))
    (frozenset({'model.people'}), frozenset())
    >>> names.meant(read_name('"People"'))
    (frozenset(), frozenset({'model.people'}))
    """

    dialect: str
    _known: dict[str, list[tuple[str, Name]]] = field(default_factory=dict)
    _texts: dict[str, set[str]] = field(default_factory=dict)

    def add(self, node: str, written: str) -> None:
        """Make a relation known: by its name, or by the call that reads it."""
        name = read_name(written)
        if name is None:
            self._texts.setdefault(_spaceless(written), set()).add(node)
        else:
            self._known.setdefault(name[-1].text.lower(), []).append((node, name))

    def meant(self, name: Name) -> tuple[frozenset[str], frozenset[str]]:
        """The relations that a name means: surely, and perhaps."""
        known = list(self._candidates(name))
        surely = frozenset(node for node, each in known if self._is_surely(name, each))
        perhaps = frozenset(node for node, each in known if _is_perhaps(name, each))
        return surely, perhaps - surely

    def read_by(self, text: str) -> frozenset[str]:
        """The nodes that a call or a file's name in quotes is written for."""
        return frozenset(self._texts.get(_spaceless(text), ()))

    def shared(self) -> list[frozenset[str]]:
        """The nodes that are one relation, where there are several."""
        groups: dict[tuple[str, ...], set[str]] = {}
        for entries in self._known.values():
            for node, name in entries if len(entries) > 1 else ():
                key = tuple(part.text.lower() for part in name)
                groups.setdefault(key, set()).add(node)
        found = (*groups.values(), *self._texts.values())
        return [frozenset(nodes) for nodes in found if len(nodes) > 1]

    def _candidates(self, name: Name) -> Iterable[tuple[str, Name]]:
        last = name[-1].text.lower()
        if last not in self._known:
            last = last.partition("$")[0] or last  # Trino's "people$snapshots"
        if not last.endswith("*") or last in self._known:
            return self._known.get(last, ())
        # A wildcard of BigQuery: every table whose name starts so.
        start = last.rstrip("*")
        return [e for key, entries in self._known.items() if key.startswith(start) for e in entries]

    def _is_surely(self, name: Name, known: Name) -> bool:
        if len(name) > len(known) or name[-1].text.endswith("*"):
            return name == known
        pairs = zip(reversed(name), reversed(known), strict=False)
        return all(one.folded(self.dialect) == other.folded(self.dialect) for one, other in pairs)


def _is_perhaps(name: Name, known: Name) -> bool:
    """Whether schema and identifier are the same without case, in whatever database."""
    pairs = list(zip(reversed(name), reversed(known), strict=False))[:2]
    if "*" in name[-1].text or "$" in name[-1].text:
        pairs = pairs[1:]
    return all(one.text.lower() == other.text.lower() for one, other in pairs)


def _spaceless(text: str) -> str:
    return re.sub(r"\s+", "", text).lower()
