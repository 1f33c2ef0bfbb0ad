"""Whether a template runs something while it is rendered, told from its words.

It errs to the safe side: a word that is only a comment counts too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from policy_engine.dbt.manifest import Macro, Manifest
from policy_engine.dbt.raw_text import words_in
from policy_engine.dbt.template_names import DONE, QUERIES

_CALLS = "|".join(sorted((QUERIES | DONE) - {"execute"}))
_RUNS = re.compile(
    rf"\b(?:{_CALLS}|load_result|set_sql_header|context)\b|\bexecute\s*\(|\.\s*execute\b|\badapter\s*(?:\[|\||%\}})"
)


@dataclass
class Runs:
    """Which templates and macros of a manifest run queries, by themselves or by others."""

    manifest: Manifest
    _told: dict[str, bool] = field(default_factory=dict)

    def queries(self, template: str) -> bool:
        """Whether a template may run something while it is rendered."""
        if "{" not in template:
            return False
        return _RUNS.search(template) is not None or self._by_macros(template)

    def _by_macros(self, template: str) -> bool:
        return any(map(self._of, self._called(template)))

    def _called(self, template: str) -> Iterable[Macro]:
        """The macros of the project and of packages whose names stand in a template."""
        for word in words_in(template) & self._macros.keys():
            yield from self._macros[word]

    def _of(self, macro: Macro) -> bool:
        if macro.id not in self._told:
            self._told[macro.id] = False  # a circle runs what its members run
            self._told[macro.id] = self.queries(macro.sql)
        return self._told[macro.id]

    @cached_property
    def _macros(self) -> dict[str, list[Macro]]:
        """The macros by their names in lower case, and by what they are dispatched as."""
        found: dict[str, list[Macro]] = {}
        for macro in self.manifest.macros.values():
            if not self.manifest.is_internal(macro.package):
                name = macro.name.lower()
                for each in {name, name.rpartition("__")[2]}:
                    found.setdefault(each, []).append(macro)
        return found
