"""A policy's release as a dbt model: the laws it must keep, its text, and the proof of that text.

The policy is printed over relations with names that stand for the source and for the secrets; dbt
puts the real ones in their place. What it compiles in a release target is, letter by letter, the
print of the claim with the real names in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from policy_engine.compile.catalog import Table
from policy_engine.compile.compiler import compiled
from policy_engine.dbt.jinja import opens
from policy_engine.dbt.release_text import model_text, templated
from policy_engine.dbt.releases import model_name
from policy_engine.dbt.sources import SourceNode
from policy_engine.dbt.texts import text_md5
from policy_engine.dbt.types import Columns, released_types, table_of
from policy_engine.dialects import Engine
from policy_engine.errors import InternalError, PolicyError, Problem
from policy_engine.kernel.certificate import ROWS, Certificate
from policy_engine.kernel.mechanisms import Secret
from policy_engine.policy.noise import Chance, Noise
from policy_engine.policy.project import DbtSpec
from policy_engine.policy.resolve import Policy
from policy_engine.policy.terms import terms_of
from policy_engine.releasing.planning import certified

STAND_IN = "policy_engine_source"
"""What the source is called where its real name is dbt's to say: the name of it, and a schema's."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = re.compile(r"[\w.$ -]+")
_QUOTES = '"`[]'
_Law = tuple[str, str, str]


@dataclass(frozen=True)
class ReleaseModel:
    """A release as a model: what dbt needs to know of it, and the certificate that it will have.

    ``printed`` is the text as dbt compiles it, with stand-ins for the two relations.
    """

    policy: Policy
    node: SourceNode
    dialect: Engine
    table: Table
    types: dict[str, str]
    columns: Columns
    text: str
    printed: str
    certificate: Certificate

    @property
    def model(self) -> str:
        """The name of the model, without its version."""
        return model_name(self.policy)

    @property
    def version(self) -> int:
        """The version of the model."""
        return self.policy.release.version

    @property
    def release(self) -> str:
        """The name of the release: of its file, its table and its secret."""
        return f"{self.model}_v{self.version}"

    @property
    def file(self) -> Path:
        """Where the text of the model stands: beside the policy."""
        return self.policy.directory / f"{self.release}.sql"

    @property
    def least_shown(self) -> int:
        """The least number that a group is released with."""
        noise = self.policy.noise
        return noise.least_shown(self.policy.k) if isinstance(noise, Noise) else self.policy.k

    @cached_property
    def text_md5(self) -> str:
        """The digest by which dbt notices that the text was changed; it proves nothing."""
        return text_md5(self.text)


def broken_laws(policy: Policy) -> Iterator[_Law]:
    """What a policy breaks of what holds in a dbt project: the key, the law and the remedy."""
    release, source = policy.release, policy.source
    if release.relation is None:
        remedy = "write relation: and the name of the model"
        yield "release.path", "release.path has no meaning in a dbt project", remedy
    elif not _NAME.fullmatch(model_name(policy)):
        law = "release.relation must end in the name of a model: letters, digits and underscores"
        yield "release.relation", f"{law}, found {release.relation!r}", "as in adult_public"
    if source.relation is None:
        remedy = "name a node of dbt, as in relation: ref('stg_people')"
        yield "source.path", "source.path has no meaning in a dbt project", remedy
    if isinstance(policy.noise, Chance):
        law = "mechanism must be sampled_suppression or noisy_counts in a dbt project, found"
        remedy = "take one of them, or release it by policy-engine release"
        yield "mechanism", f"{law} {policy.noise.mechanism}", remedy
    elif policy.method != "keyed":
        law = "sample.method must be keyed in a dbt project, found native"
        remedy = "a model may run many times, and would draw a new sample each time"
        yield "sample.method", law, remedy
    elif source.key is None and policy.noise is None:
        law = "source.unit must name a key in a dbt project, found row"
        remedy = (
            "a row of a model has no number that stays: write {key: person_id, keep: …},"
            " or {row_key: id}"
        )
        yield "source.unit", law, remedy
    keys = policy.noise.keys if isinstance(policy.noise, Noise) else ()
    for key, is_there in (
        ("aggregate", policy.beside), ("recode", policy.groupings), ("keys", keys),
    ):  # fmt: skip
        if is_there:
            law = "a dbt project releases counts alone, without aggregate, rollup, marginals, keys"
            yield key, law, "release it by policy-engine release, or take it out"
    if policy.part is not None:
        law = "part is of releases that policy-engine makes itself, which knows their secret"
        yield "part", law, "remove it, or release it by policy-engine release"
    if not policy.declared_budget:
        law = "budget must name the account that pays in a dbt project"
        yield "budget", law, "the source is made of other tables: as in budget: people"
    yield from _broken_names(policy)


def _broken_names(policy: Policy) -> Iterator[_Law]:
    counted = policy.release.form == "counts"
    named = [(f"recode.{name}", name) for name in policy.columns]
    named += [("release.count_as", policy.release.count_as)] if counted else []
    for path, name in named:
        if opens(name) or set(name) & set(_QUOTES):
            law = f"{path} must have a name without quotes, brackets and {{{{, for dbt's contracts"
            yield path, f"{law}, found {name!r}", "rename the column in the model that is read"
    if opens(policy.file.name) or not policy.file.name.isprintable():
        law = "the name of a policy's file must be plain text without {{"
        yield "", f"{law}, found {policy.file.name!r}", "rename the file"


def broken_length(policy: Policy, dialect: Engine) -> Iterator[_Law]:
    """That the name of the table is longer than the engine's names are."""
    name = f"{model_name(policy)}_v{policy.release.version}"
    if len(name.encode()) > dialect.longest_name:
        law = f"release.relation must make a name of at most {dialect.longest_name} bytes"
        yield "release.relation", f"{law}, found {name!r}", "shorten it"


def broken_settings(settings: DbtSpec) -> Iterator[_Law]:
    """What the project file's ``dbt:`` section breaks."""
    for index, name in enumerate(settings.release_targets):
        if not _PLAIN.fullmatch(name):
            law = f"dbt.release_targets[{index}] must be a plain name, found {name!r}"
            yield "dbt.release_targets", law, "letters, digits, '_', '.', '-' and blanks"
    parts = settings.secrets.split(".")
    if not _PLAIN.fullmatch(settings.secrets) or len(parts) > 3 or not all(parts):
        law = "dbt.secrets must be table, schema.table or database.schema.table, found"
        yield "dbt.secrets", f"{law} {settings.secrets!r}", "as in policy_engine_salts"
    elif len(parts) > 1 and len(settings.release_targets) > 1:
        law = "dbt.secrets must be a plain name where several targets release, found"
        remedy = "each has a table of its own then, in its schema: as in policy_engine_salts"
        yield "dbt.secrets", f"{law} {settings.secrets!r}", remedy


def release_model(
    policy: Policy, node: SourceNode, columns: Columns, dialect: Engine, settings: DbtSpec
) -> ReleaseModel:
    """The model of a policy's release, certified.

    Raises:
        PolicyError: the policy does not fit its source's columns, or the engine cannot do it.
        NotCertifiable: its guarantee is not met.
    """
    source, secrets = _stand_ins(policy)
    release = f"{model_name(policy)}_v{policy.release.version}"
    table = table_of(columns, dialect, (source, source))
    own = replace(policy, release=replace(policy.release, relation=None))
    claim, query = compiled(own, table, dialect, Secret((secrets,), release))
    if "\r" in query:
        law = "recode must hold no carriage return in a dbt project, which makes line feeds of them"
        raise PolicyError((Problem(str(policy.file), 0, 0, "recode", law, "take it out"),))
    quoted = dialect.identifier
    template = templated(query, quoted(secrets), is_noisy=policy.noise is not None)
    template = _put(template, f"{quoted(source)}.{quoted(source)}", f"{{{{ {node.call} }}}}")
    call = f"{{{{ policy_engine.salts('{settings.secrets}') }}}}"
    template = _put(template, quoted(secrets), call)
    return ReleaseModel(
        policy=policy,
        node=node,
        dialect=dialect,
        table=table,
        types=released_types(policy, columns, table, dialect),
        columns=columns,
        text=model_text(policy.file.name, release, settings.secrets, template),
        printed=query,
        certificate=certified(query, claim, dialect.name, terms_of(own, ROWS, "")),
    )


def _stand_ins(policy: Policy) -> tuple[str, str]:
    """Names for the two relations that stand nowhere else in the text: no column has such a one."""
    said = repr((policy.recodings, policy.filter, policy.source))
    number = 1
    while True:
        tail = "" if number == 1 else f"_{number}"
        names = f"{STAND_IN}{tail}", f"policy_engine_secrets{tail}"
        if not any(name in said for name in names):
            return names
        number += 1


def _put(text: str, stand_in: str, made: str) -> str:
    if stand_in not in text:
        raise InternalError(f"the text has no {stand_in}")
    return text.replace(stand_in, made)
