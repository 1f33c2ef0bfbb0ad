"""What dbt makes of a release's model, held against what the kernel prints for its policy.

The print has the real names in it: the source as dbt calls its node, and the secrets relation where
the text itself reads it. Which types the source's columns have is the warehouse's word, and else
that of the model's mark and of the project.
"""

from __future__ import annotations

import re

from policy_engine.compile.catalog import Field, Table
from policy_engine.compile.compiler import compiled
from policy_engine.compile.rendering import name_of
from policy_engine.dbt.marks import marks_of
from policy_engine.dbt.naming import read_name
from policy_engine.dbt.releases import DbtRelease
from policy_engine.dbt.sources import of_manifest
from policy_engine.dbt.texts import secrets_read
from policy_engine.dbt.types import Columns, table_of
from policy_engine.dialects import Engine
from policy_engine.engines import ENGINES
from policy_engine.errors import Finding, NotCertifiable
from policy_engine.kernel.certificate import NotPrinted, check_text
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms import Secret


class Unlike(NotCertifiable):
    """A text of dbt's is not what is printed for its policy; ``why`` says where it differs."""

    def __init__(self, release: DbtRelease, why: str) -> None:
        self.why = f"is not what is printed for {release.policy.file.name}: {why}"
        super().__init__((Finding("G21", f"{release.id} {self.why}"),))


def known_table(release: DbtRelease, dialect: Engine) -> Table:
    """The source of a release where nobody asks the warehouse.

    Its columns are those that the model was written for, else those that the project declares.
    """
    node = of_manifest(release.source, "")
    declared = Columns(node.spelled(dialect.name) if node is not None else {})
    parts = named(release.source.relation, dialect.name)
    read = tuple(Field(name, kind) for name, kind in marks_of(release.model).reads)
    return Table(read, parts=parts) if read else table_of(declared, dialect, parts)


def named(written: str, engine: str) -> tuple[str, ...]:
    """The parts of a relation's name as the engine has them, whatever signs stand around them."""
    return tuple(part.kept(engine) for part in read_name(written) or ())


def printed_for(release: DbtRelease, table: Table, dialect: Engine, text: str) -> tuple[Claim, str]:
    """The claim of a release over its source, and what dbt must make of its model.

    ``table`` is called as dbt calls it, and the secret is read where ``text`` reads it.

    Raises:
        PolicyError: the policy does not fit the source.
        Unlike: ``text`` is not that, token for token, or reads no secrets relation.
    """
    engine, written = dialect.name, secrets_read(text)
    place = named(written, engine)
    if not place and release.policy.method == "keyed":
        raise Unlike(release, "it reads no secrets relation")
    secret = Secret(place, release.id) if place else None
    if not table.columns:
        raise Unlike(release, "the types of its source's columns are not declared")
    claim, query = compiled(release.policy, table, dialect, secret)
    own = _in_quotes(text, release.source.relation, table.parts, engine)
    try:
        check_text(_in_quotes(own, written, place, engine), claim, engine)
    except NotPrinted as error:
        raise Unlike(release, str(error)) from None
    return claim, query


def _in_quotes(text: str, written: str, parts: tuple[str, ...], engine: str) -> str:
    """A text with a relation named as the kernel names it: dbt has quotes of its own, or none."""
    name = name_of(parts, ENGINES[engine])
    read = re.compile(rf"(?<=FROM ){re.escape(written)}(?=\s)")
    return text if written == name else read.sub(lambda found: name, text)
