"""Writes what the reference pages say of the code: ``make reference``.

Each ``*_text`` function returns Markdown. In a page it stands between two comments, which neither
GitHub nor the site shows; the first names it. A test fails where a page is older than the code.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import textwrap
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import policy_engine
from policy_engine import errors
from policy_engine.check.laws import LAWS
from policy_engine.policy.laws import SCHEMAS


@cache
def _program() -> Any:
    """The click command of the whole CLI: to make it takes a tenth of a second."""
    from typer.main import get_command

    from policy_engine.cli.app import app

    return get_command(app)


def commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command of the CLI: its words and its click command, in the CLI's order."""

    def below(words: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
        children = getattr(command, "commands", None)
        if children is None:
            yield words, command
            return
        for name, child in children.items():
            yield from below((*words, name), child)

    yield from below((), _program())


def help_text(*words: str) -> str:
    """What ``policy-engine WORDS --help`` prints on a terminal of 88 columns."""
    from typer.testing import CliRunner

    from policy_engine.cli.app import app

    width = {"COLUMNS": "88", "TERMINAL_WIDTH": "88", "NO_COLOR": "1"}
    result = CliRunner().invoke(app, [*words, "--help"], prog_name="policy-engine", env=width)
    return result.output.strip("\n")


def command_text(name: str) -> str:
    """The help of a command, or of each command of a group, under its own heading."""
    below = [words for words, _ in commands() if words[0] == name]
    about = _escaped(" ".join(_program().commands[name].help.partition("\n\n")[0].split()))
    if below == [(name,)]:
        return f"{about}\n\n```text\n{help_text(name)}\n```\n"
    helps = {words: _options_of(help_text(*words)) for words in below}
    having = Counter(option for _, options in helps.values() for option in options)
    common = [option for option in having if having[option] > len(helps) / 2]
    rows = "\n".join(row(f"`{option}`", _escaped(meaning)) for option, meaning in common)
    title = "## Options that most commands have\n\n| option | meaning |\n|---|---|"
    parts = [f"{about}\n\n{title}\n{rows}\n"]
    for words, (text, options) in helps.items():
        own = [lines for option, lines in options.items() if option not in common]
        also = [option[0].partition(" <")[0] for option in common if option in options]
        listed = "\n".join([*own, _wrapped(f"also {', '.join(also)}: see the top of this page")])
        parts.append(f"## {' '.join(words)}\n\n```text\n{text}\n\nOptions:\n{listed}\n```\n")
    return "\n".join(parts)


def _wrapped(words: str) -> str:
    return textwrap.fill(
        words, 80, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
    )


def _options_of(text: str) -> tuple[str, dict[tuple[str, str], str]]:
    """A help without its options, and the lines of each option, by its names and its meaning."""
    head, _, listed = text.partition("\n\nOptions:\n")
    options = {}
    for lines in re.split(r"\n(?=  -)", listed):
        names, meaning = re.split(r"  +", lines.strip().replace("\n", "   "), maxsplit=1)
        options[names, " ".join(meaning.split())] = lines
    return head, options


def commands_text() -> str:
    """What prints the commands, and a list of links to their pages."""
    links = "\n".join(f"* [{name}]({name}.md)" for name in names())
    return f"```text\n{help_text()}\n```\n\n{links}\n"


def man_text() -> str:
    """The manual page: what the program is, its commands, and where the rest stands."""
    from typer.main import get_command

    from policy_engine.cli.app import app

    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    found = get_command(app).commands
    parts = [
        f'.TH POLICY-ENGINE 1 "" "policy-engine {version}" "User Commands"',
        ".SH NAME",
        "policy-engine \\- publish counts about people with differential privacy, from a YAML file",
        ".SH SYNOPSIS",
        ".B policy-engine",
        "[\\-q] [\\-C DIR] COMMAND [ARGS]...",
        ".SH COMMANDS",
    ]
    for name in names():
        about = " ".join(found[name].help.partition("\n\n")[0].split())
        parts += [".TP", f".B {_roff(name)}", _roff(about)]
    parts += [
        ".SH EXIT STATUS",
        "0 done, 1 a finding, 2 wrong usage, 3 a warehouse or a file failed,",
        "4 nothing was checked, 70 an internal error, 130 interrupted.",
        ".SH ENVIRONMENT",
        ".TP",
        ".B POLICY_ENGINE_SIGNING_KEY",
        "The signing key as PEM text, instead of a file.",
        ".SH SEE ALSO",
        "policy-engine COMMAND \\-\\-help, https://policy-engine.dev/",
    ]
    return "\n".join(parts) + "\n"


def _roff(words: str) -> str:
    return words.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")


def names() -> list[str]:
    """The words that may follow ``policy-engine``, in the CLI's order: one page each."""
    return list(dict.fromkeys(words[0] for words, _ in commands()))


def row(*cells: str) -> str:
    """A row of a table, whose cells may hold what else would end them."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def findings_text() -> str:
    """The laws by which a text is refused, by code."""
    found = [LAWS[code] for code in sorted(LAWS)]
    rows = "\n".join(row(f"`{law.code}`", law.text, law.remedy) for law in found)
    return f"| code | law | what mends it |\n|---|---|---|\n{rows}\n"


def gate_text() -> str:
    """The rules of the dbt gate by code."""
    from policy_engine.dbt.rules import RULES

    rows = "\n".join(
        row(f"`{code}`", rule.title, rule.why, rule.remedy) for code, rule in RULES.items()
    )
    return f"| code | rule | why | what mends it |\n|---|---|---|---|\n{rows}\n"


def errors_text() -> str:
    """The exception tree, one row a class, with exit codes."""

    def rows(kind: type[errors.PolicyEngineError], depth: int) -> Iterator[str]:
        summary = (inspect.getdoc(kind) or "").split("\n\n")[0].replace("\n", " ")
        indent = "&emsp;" * depth
        yield row(f"{indent}`{kind.__name__}`", str(kind.exit_code), summary)
        for child in kind.__subclasses__():
            if vars(errors).get(child.__name__) is child:
                yield from rows(child, depth + 1)

    table = "\n".join(rows(errors.PolicyEngineError, 0))
    return f"| error | exit code | meaning |\n|---|---|---|\n{table}\n"


def schema_text() -> str:
    """The keys of a policy file, a table a mapping, from its JSON Schema."""
    schema = json.loads((SCHEMAS / "v1.json").read_text("utf-8"))
    definitions = schema["$defs"]
    order = ["SourceSpec", "CsvSpec", "UnitSpec", "OrderSpec", *_recodings(definitions)]
    order += [name for name in definitions if name not in order]
    parts = ["## The file\n\n" + _mapping(schema)]
    for name in order:
        model = definitions[name]
        title = _TITLES.get(name, f"`{next(iter(model['properties']))}`")
        summary = model.get("description", "")
        parts.append(f"## {title}\n\n{summary}\n\n{_mapping(model)}")
    return "\n\n".join(parts)


_TITLES = {
    "SourceSpec": "`source`",
    "CsvSpec": "`source.csv`, for a CSV file",
    "JoinSpec": "`source.join`, for a table",
    "SpanSpec": "`source.compute`, for a column",
    "UnitSpec": "`privacy_unit`, where a person has many rows",
    "OrderSpec": "`privacy_unit.rows`",
    "SampleSpec": "`sample`",
    "NoiseSpec": "`noise`",
    "PartSpec": "`part`",
    "ContributionSpec": "`contribution`",
    "CountSpec": "`count`",
    "MeasureSpec": "`measures`, for a number",
    "MissingSpec": "`measures`, `missing`",
    "RollupSpec": "`rollup`",
    "ModelsSpec": "`models`",
    "LDiversitySpec": "`models.l_diversity`",
    "TClosenessSpec": "`models.t_closeness`",
    "AutoSpec": "`auto`",
    "PriorSpec": "`auto.prior`",
    "GuaranteeSpec": "`guarantee`",
    "EditionsSpec": "`guarantee`, by a number of editions",
    "RefreshSpec": "`refresh`",
    "PeriodSpec": "`period`",
    "ReviseSpec": "`revise`",
    "AboutSpec": "`about`",
    "ReleaseSpec": "`release`",
    "SearchSpec": "`search`",
    "BinsSpec": "Recoding `bins`",
    "HierarchySpec": "Recoding `hierarchy`",
    "MapSpec": "Recoding `map`",
    "PrefixSpec": "Recoding `prefix`",
    "TruncateSpec": "Recoding `truncate`",
    "RoundSpec": "Recoding `round`",
    "LevelsSpec": "Recoding `levels`",
    "KeptSpec": "Recoding `missing`, alone",
    "ConstantSpec": "Recoding `constant`",
    "FilterSpec": "`filter`, for a column",
}


def _recodings(definitions: dict[str, Any]) -> list[str]:
    return [name for name in _TITLES if "Recoding" in _TITLES[name] and name in definitions]


def _mapping(model: dict[str, Any]) -> str:
    required = set(model.get("required", ()))
    choices = [choice["required"] for choice in model.get("oneOf", ()) if "required" in choice]
    for choice in choices:
        required -= set(choice)
    one_of = [f"`{choice[0]}`" for choice in choices]
    lines = ["| key | value | default | meaning |", "|---|---|---|---|"]
    for key, field in model["properties"].items():
        default = "required" if key in required else _default(field)
        if f"`{key}`" in one_of:
            default = f"exactly one of {', '.join(one_of)}"
        meaning = field.get("description", "").replace("\n", " ")
        kind = _IN_WORDS.get(key) or _kind(field)
        lines.append(row(f"`{key}`", kind, default, meaning))
    return "\n".join(lines)


def _default(field: dict[str, Any]) -> str:
    value = field.get("default")
    if isinstance(value, dict):
        written = ", ".join(f"{key}: {each}" for key, each in value.items() if each is not None)
        return f"`{{{written}}}`" if written else ""
    return "" if value in (None, "", []) else _word(value)


def _word(value: object) -> str:
    """A value as YAML writes it."""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "below {}",
}


_MAPPING = "a mapping, see "
_IN_WORDS = {
    "public_groups": "see [`public_groups`](#public_groups)",
    "on": "text or a mapping",
}
"""Values that are too nested to be told from their schema."""


def _linked(title: str) -> str:
    """A link to the heading of a mapping's own table."""
    slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    return f"[{title.removeprefix('Recoding ').partition(',')[0]}](#{slug})"


def _kind(field: dict[str, Any]) -> str:
    """What a value may be, in words."""
    if "$ref" in field:
        name = field["$ref"].rsplit("/", 1)[1]
        return f"{_MAPPING}{_linked(_TITLES[name])}" if name in _TITLES else name
    if "const" in field:
        return _word(field["const"])
    if "enum" in field:
        return ", ".join(f"`{word}`" for word in field["enum"])
    if "anyOf" in field:
        kinds = list(dict.fromkeys(_kind(choice) for choice in field["anyOf"]))
        linked = ", ".join(k.removeprefix(_MAPPING) for k in kinds if k.startswith(_MAPPING))
        plain = [kind for kind in kinds if not kind.startswith(_MAPPING)]
        return " or ".join([*plain, f"{_MAPPING}{linked}"] if linked else plain)
    if field.get("type") == "array":
        return f"a list of: {_kind(field.get('items', {}))}"
    if field.get("type") == "object":
        return f"for each name: {_kind(field.get('additionalProperties') or {})}"
    types = field.get("type", "any")
    named = types if isinstance(types, str) else " or ".join(types)
    bounds = [
        text.format(field[key])
        for key, text in _BOUNDS.items()
        if key in field and field[key] != 1_000_000_000
    ]
    words = {"string": "text", "number": "a number", "integer": "an integer"}
    words["boolean"] = "`true` or `false`"
    named = words.get(named, named.replace("string", "text"))
    return f"{named} {' and '.join(bounds)}".strip()


PREDICATE = {
    "source": "the source, as the policy names it",
    "mechanism": "the [mechanism](../explanation/mechanism.md). `noisy-counts` adds noise from the "
    "claim's table to the count of each group. `sampled-suppression` draws a sample and suppresses "
    "groups below k. Both show only recoded values",
    "policy": "name and digest of the policy. The digest includes its hierarchy files",
    "k": "with a sample, the smallest count of a group that is shown. With noise, the smallest "
    "number of people that a shown group has in the source",
    "rate": "a decimal text. With at most this probability, a person of the population is in the "
    "sample",
    "sampled_at": "the known rate of the source, if the source itself is a sample. The `rate` "
    "includes it as a factor",
    "epsilon": "ε of the policy, as a decimal text",
    "delta": "δ at this ε as a decimal text, rounded up",
    "source_tag": "the name of the theorem that proves δ, see [the mechanism]"
    "(../explanation/mechanism.md)",
    "neighbours": "`add_remove` or `replace_one`",
    "unit": "the unit that is protected: `row`, or the column that identifies a person",
    "randomness": "what decides who is in the sample, or how much noise is added",
    "assumptions": "what must be true, although no program can prove it. Each object has a code, "
    "and says what the code is about",
    "columns": "the released columns, without the count",
    "count": "the column with the count. Null in the form `rows`",
    "form": "`counts` or `rows`",
    "claim": "the description of the release from which the SQL was printed: source, unit, sample "
    "or noise, columns and their recodes. Each value has the name of its type",
    "templates": "SHA-256 of the templates that printed the SQL",
    "query": "the SQL that was certified and then run, without any change",
    "query_digest": "SHA-256 of this SQL",
    "published_as": "the statement that makes a table from the SQL, `CREATE TABLE … AS`. It is "
    "`rows` if the rows went into a file, or if dbt made the table, and `rows of an edition` if dbt"
    " added them to a table of several editions",
    "models": "the models of the policy, if it has any, each with its column and numbers. The "
    "program checked them on the rows of the SQL, and left out each group that breaks a model",
    "engine": "the engine that runs the SQL",
    "engine_version": "the version of the engine that ran it",
    "time": "when the release was certified, in UTC. The data may have been read later",
    "purpose": "what the release is for, in the author's words. This field and the next six are "
    "missing if the author did not write them",
    "contact": "whom you can ask",
    "recipients": "who may read the release",
    "access": "who can read the source and use the machine",
    "justification": "why this unit, ε and δ were chosen",
    "region": "where the people in the source live",
    "sector": "the field of the source, such as health",
}
NOT_IN_ALL = {
    "edition": "which edition of the policy this is. The field is missing if the policy has only "
    "one",
    "settings": "the limits of the database session, such as its memory. The field is missing if "
    "none was set",
}
"""The fields of a predicate that the one of the page has not."""


def predicate_text() -> str:
    """The fields of a certificate's predicate, with those of a real one."""
    from policy_engine.compile.catalog import Field, Table
    from policy_engine.compile.compiler import compiled
    from policy_engine.dialects import dialect_named
    from policy_engine.kernel.certificate import certify
    from policy_engine.policy.loading import load_policy_text
    from policy_engine.policy.resolve import terms_of

    policy = load_policy_text(_SMALL_POLICY, "policy.yaml", ".")
    table = Table((Field("sex", "VARCHAR"),), path="people.parquet")
    claim, query = compiled(policy, table, dialect_named("duckdb"))
    from policy_engine.attest.certificates import predicate_of

    predicate = predicate_of(certify(query, claim, "duckdb", terms_of(policy, "rows", "2.0.0")))
    missing = set(predicate) ^ set(PREDICATE)
    if missing:
        raise ValueError(f"the reference of the predicate is out of date: {sorted(missing)}")
    lines = ["| field | example | meaning |", "|---|---|---|"]
    for name, value in predicate.items():
        lines.append(row(f"`{name}`", _example(name, value), PREDICATE[name]))
    lines += [row(f"`{name}`", "an object", meaning) for name, meaning in NOT_IN_ALL.items()]
    return "\n".join(lines)


_SMALL_POLICY = """
version: 1
name: by_sex
purpose: how many of each sex
about:
  {contact: us, recipients: all, access: none, justification: small, region: here, sector: health}
source: {file: people.parquet}
privacy_unit: row
recode: {sex: keep}
sample: {rate: 0.1, method: native}
k: 20
models: {l_diversity: {of: sex, l: 2}}
guarantee: {epsilon: 0.5, delta: 1e-9}
release: {file: out.parquet}
"""


def _example(name: str, value: object) -> str:
    if name == "assumptions":
        return "a list of objects"
    if name == "policy":
        return "`{name, digest}`"
    if name == "claim":
        return "an object"
    if name in {"query", "time"}:
        return "a text"
    text = str(value)
    return f"`{text if len(text) <= 24 else text[:16] + '…'}`"


def words() -> dict[str, dict[str, Any]]:
    """The words of the house: what each means, and which words it stands instead of."""
    return tomllib.loads((ROOT / "docs/_ext/words.toml").read_text("utf-8"))


def glossary_text() -> str:
    """The words and what they mean, as a list."""
    return "\n".join(f"* **{word}**: {said['means']}" for word, said in words().items()) + "\n"


def warehouses_text() -> str:
    """What each dialect can do, from the tables of the engines themselves."""
    from policy_engine.engines import OURS

    rows = "\n".join(_dialect_row(dialect) for dialect in OURS.values())
    does = " | ".join(_DOES.values())
    header = f"| engine | `dialect` | runs | {does} |\n{'|---' * (3 + len(_DOES))}|"
    sections = "\n\n".join(_engine_section(dialect) for dialect in OURS.values())
    return f"{header}\n{rows}\n\n{_shared_refusals()}\n\n{sections}"


_DOES = {
    "join": "`source.join`",
    "choice": "medians",
    "strict_cast": "types in `source.columns`",
    "native_sample": "native sample",
    "repeat": "`as: rows`",
}


def _dialect_row(dialect: Any) -> str:
    from policy_engine.policy.project_models import WAREHOUSES

    runs = "yes" if dialect.name in WAREHOUSES else "printed only"
    does = ["no" if operation in dialect.lacks else "yes" for operation in _DOES]
    return row(dialect.title, f"`{dialect.name}`", runs, *does)


@cache
def _refusals() -> dict[tuple[str, str, str], list[str]]:
    """Each operation that is refused, why, and the remedy; with the engines of which it is so."""
    from policy_engine.engines import OURS

    found: dict[tuple[str, str, str], list[str]] = {}
    for engine in OURS.values():
        for operation, (reason, remedy) in engine.lacks.items():
            if operation != "try_cast" or "strict_cast" not in engine.lacks:
                found.setdefault((operation, reason, remedy), []).append(engine.title)
    operations = [*_OPERATIONS]
    return dict(sorted(found.items(), key=lambda each: operations.index(each[0][0])))


def _shared_refusals() -> str:
    """What two engines or more refuse for one reason."""
    from policy_engine.engines import OURS
    from policy_engine.policy.project_models import WAREHOUSES

    lines = [
        "## What several engines refuse\n",
        "| what is refused | on | why | what to do instead |\n|---|---|---|---|",
    ]
    printed = [engine.title for engine in OURS.values() if engine.name not in WAREHOUSES]
    for (operation, reason, remedy), engines in _refusals().items():
        others = [engine.title for engine in OURS.values() if engine.title not in engines]
        on = f"all except {', '.join(others)}" if len(others) < 5 else ", ".join(engines)
        on = "all whose SQL is printed only" if engines == printed else on
        if len(engines) > 1:
            lines.append(row(_OPERATIONS[operation], on, _of_engine(reason, "the engine"), remedy))
    return "\n".join(lines)


def _of_engine(reason: str, name: str) -> str:
    """A message names the engine before the reason; a row of a table says it in the reason."""
    return re.sub(r"^it\b|\bit$", name, re.sub(r"^its\b", f"{name}'s", reason))


def _engine_section(engine: Any) -> str:
    """What a dialect's certificates rest on, and what it alone refuses, with the reason."""
    lines = [f"## {engine.title}\n", f"[The vendor's page]({_VENDORS[engine.name]})."]
    assumed = [text for name, text in engine.assumes.items() if name != "native"]
    if "native" in engine.assumes:
        # What it says of the session is a line of its own above.
        native = engine.assumes["native"].removesuffix(", and " + engine.assumes.get("session", ""))
        assumed.append(f"with native sampling, {native}")
    lines += ["The certificate assumes:\n", *(_listed(text) for text in assumed)]
    own = [
        row(_OPERATIONS[operation], _of_engine(reason, engine.title), remedy)
        for (operation, reason, remedy), engines in _refusals().items()
        if engines == [engine.title]
    ]
    if own:
        lines += ["", "| what else is refused | why | what to do instead |", "|---|---|---|", *own]
    return "\n".join(lines)


def _listed(text: str) -> str:
    """An assumption as a point of a list; its parts, if it has several, below it."""
    head, _, parts = text.partition(": ")
    if "; " not in parts:
        return f"* {text}"
    return "\n".join([f"* {head}:", *(f"  * {part}" for part in parts.split("; "))])


_VENDORS = {
    "bigquery": "https://cloud.google.com/bigquery/docs/reference/standard-sql/hash_functions",
    "clickhouse": "https://clickhouse.com/docs/sql-reference/functions/hash-functions",
    "datafusion": "https://datafusion.apache.org/user-guide/sql/scalar_functions.html",
    "duckdb": "https://duckdb.org/docs/stable/sql/query_syntax/sample",
    "mariadb": "https://mariadb.com/docs/server/reference/data-types/string-data-types/character-sets",
    "mysql": "https://dev.mysql.com/doc/refman/8.4/en/charset-binary-collations.html",
    "postgres": "https://www.postgresql.org/docs/current/functions-binarystring.html",
    "redshift": "https://docs.aws.amazon.com/redshift/latest/dg/SHA2.html",
    "snowflake": "https://docs.snowflake.com/en/sql-reference/functions/sha2",
    "spark": "https://spark.apache.org/docs/latest/sql-ref.html",
    "databricks": "https://docs.databricks.com/aws/en/sql/language-manual/",
    "sqlite": "https://www.sqlite.org/lang_expr.html",
    "trino": "https://trino.io/docs/current/functions/binary.html",
    "tsql": "https://learn.microsoft.com/sql/t-sql/functions/hashbytes-transact-sql",
}
_OPERATIONS = {
    "names_by_case": "two columns whose names differ only in upper and lower case",
    "file": "a release from a file",
    "join": "`source.join`",
    "row_number": "a keyed sample with `privacy_unit: row`",
    "native_sample": "a native sample (`method: native`)",
    "strict_cast": "types in `source.columns`",
    "try_cast": "a type in `source.columns` for a column that is not a text",
    "repeat": "`as: rows` under `release`",
    "choice": "medians and quantiles",
    "bytewise": "a text with a collation",
    "text_key": "a text as the key in `privacy_unit`",
    "create_table": "a release into a table",
    "blank_label": "some texts as a label",
    "zone": "`truncate` in another zone than UTC",
    "first_half": "`part` (one random part of the people)",
    "week_or_hour": "`truncate` to weeks and hours",
    "fine_decimal": "`round` to very small steps",
    "uuid_text": "columns of UUIDs",
    "label_column": "columns of an enumeration",
    "decimal_column": "columns of decimal numbers",
    "double_column": "columns of floating-point numbers",
    "boolean_column": "columns of truth values",
    "date_column": "columns of dates",
    "timestamp_column": "columns of times",
    "timestamp_zoned_column": "columns of times with a zone",
    "text_column": "columns of texts",
}


# Python

_PYTHON = {
    "names": """
        policy.loading.load_policy release.compile_policy kernel.certificate.certify
        release.release release.open_release attest.release_check.verify_release""",
    "values": """
        policy.resolve.Policy:from_dict kernel.certificate.Certificate
        attest.certificates.predicate_of
        policy.loading.load_policy_text check.answer.answer check.answer.Answer release.preview
        release.Preview release.Released
        release.OpenedRelease:to_arrow,to_pandas,to_polars,to_csv,picture,plot
        attest.release_check.Verified
        attest.keys.TrustedKeys:of,load,within,refusal attest.keyring.Keyring:read,trusted""",
    "recodings": """
        kernel.recodes.Bins kernel.recodes.Constant kernel.recodes.Keep kernel.recodes.Map
        kernel.recodes.Prefix kernel.recodes.Round kernel.recodes.Truncate""",
    "curve": """
        accounting.exact.delta_exact accounting.exact.epsilon_exact accounting.groups.delta_group
        accounting.curve.delta_remove accounting.curve.delta_add accounting.curve.Bound
        accounting.replace.delta_replace""",
    "bounds": """
        accounting.bounds.delta_lqs accounting.bounds.epsilon_lqs accounting.bounds.delta_safe
        accounting.bounds.amplify accounting.bounds.amplify_fixed_size
        accounting.bounds.randomised_response accounting.bounds.group
        accounting.bounds.compose_basic""",
    "events": """
        accounting.events.SampledSuppression accounting.events.PureDP
        accounting.events.ApproximateDP accounting.events.DiscreteLaplace
        accounting.events.RandomisedResponse accounting.events.Partitioned
        accounting.composition.Accountant:of,epsilon,delta,epsilons,deltas,certain""",
    "calibration": """
        accounting.calibration.least_k accounting.calibration.greatest_rate
        accounting.calibration.best_pair accounting.frontier.frontier
        accounting.frontier.least_group accounting.frontier.SamplePair:group
        accounting.prior.Prior:of_sizes,zipf,people,groups accounting.prior.expected_people
        accounting.prior.expected_groups accounting.prior.best_pair_for
        accounting.certificate_numbers.certify_numbers
        accounting.certificate_numbers.CertificateNumbers""",
}


#: The parts that stand a level deeper, below "Accounting".
_DEEPER = {"curve", "bounds", "events", "calibration"}
#: The types of Python, and those that have an entry.
_KNOWN = {
    "Decimal", "Mapping", "None", "Path", *re.findall(r"[A-Z]\w+", " ".join(_PYTHON.values())),
}  # fmt: skip
#: What calls return and nobody makes by hand: a reader wants their fields, with their types.
_RESULTS = {
    "Answer", "Bound", "Certificate", "CertificateNumbers", "Keyring", "OpenedRelease", "Policy",
    "Preview", "Released", "TrustedKeys", "Verified",
}  # fmt: skip


def python_text(part: str) -> str:
    """The public objects of one part of the page: name, signature, docstring."""
    level = "####" if part in _DEEPER else "###"
    entries = (path.partition(":") for path in _PYTHON[part].split())
    return "\n\n".join(_entry(level, path, methods) for path, _, methods in entries)


def _entry(level: str, path: str, methods: str) -> str:
    """The public name or ``MODULE.NAME``, and those of its methods that are named."""
    room, _, own = path.rpartition(".")
    item = getattr(importlib.import_module(f"policy_engine.{room}"), own)
    public = {getattr(policy_engine, each): each for each in policy_engine.__all__}
    name = public.get(item, own)
    place = "policy_engine" if item in public else f"policy_engine.{room}"
    title = f"{level} `{place}.{name}`"
    if name in _RESULTS:
        parts = [f"{title}\n\n{markdown_of(with_types(item))}"]
    else:
        parts = [_described(title, name, item)]
    for method in filter(None, methods.split(",")):
        title = f"{level}# `{name}.{method}`"
        parts.append(_described(title, f"{name}.{method}", getattr(item, method)))
    return "\n\n".join(parts)


def with_types(kind: type) -> str:
    """The docstring of a class; behind a field its type, if a reader can look it up and read it."""
    types = inspect.get_annotations(kind)
    head, fields, rest = inspect.cleandoc(kind.__doc__ or "").partition("Fields:\n")

    def typed(name: re.Match[str]) -> str:
        found = types[name[1]]
        is_known = {*re.findall(r"[A-Z]\w+", found)} <= _KNOWN
        return f"{name[0]} (``{found}``)" if is_known and found.count("[") < 2 else name[0]

    def named(line: re.Match[str]) -> str:
        return re.sub(r"``(\w+)``", typed, line[0])

    return head + fields + re.sub(r"^    ``.+?:(?= )", named, rest, flags=re.MULTILINE)


def _described(title: str, name: str, item: Any) -> str:
    signature = f"{name}{_signature(item)}"
    return f"{title}\n\n```python\n{signature}\n```\n\n{markdown_of(inspect.getdoc(item) or '')}"


def _signature(item: Any) -> str:
    """A signature, an argument a line where one line is too long; a class returns nothing."""
    called = item.fget if isinstance(item, property) else item
    signature = inspect.signature(called)
    parameters = [each for each in signature.parameters.values() if each.name != "self"]
    arguments = [_argument(each) for each in parameters]
    by_name = [place for place, each in enumerate(parameters) if each.kind is each.KEYWORD_ONLY]
    if by_name:
        arguments.insert(by_name[0], "*")
    line = f"({', '.join(arguments)})"
    if len(line) > 80:
        line = "(\n" + "".join(f"    {each},\n" for each in arguments) + ")"
    if isinstance(item, property):
        line = ""
    return line if inspect.isclass(item) else f"{line} -> {signature.return_annotation}"


def _argument(parameter: inspect.Parameter) -> str:
    """``name: type = value``; a function or a class that is a default is not printed."""
    star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    text = f"{star}{parameter.name}: {parameter.annotation}"
    if parameter.default is parameter.empty:
        return text
    return f"{text} = {'...' if callable(parameter.default) else repr(parameter.default)}"


def markdown_of(docstring: str) -> str:
    """A docstring as Markdown: its text is plain, and its examples are code."""
    blocks = (_block(block) for block in re.split(r"\n\s*\n", docstring.strip()))
    return "\n\n".join(blocks)


def _block(block: str) -> str:
    if block.lstrip().startswith(">>>"):
        return f"```python\n{inspect.cleandoc(block)}\n```"
    if re.match(r"\w+:\n    ", block):
        head, _, items = block.partition("\n")
        listed = re.sub(r"^    (?=\S)", "* ", items, flags=re.MULTILINE)
        block = f"{head}\n\n{re.sub(r'^ {8}', '  ', listed, flags=re.MULTILINE)}"
    words = re.split(r"(``.+?``)", block)
    return "".join(w if w.startswith("``") else _escaped(w) for w in words)


def _escaped(words: str) -> str:
    return re.sub(
        r"((?<!^)[*]|[|<\[\]]|(?<!\w)_|_(?!\w)|^[#>+-])", r"\\\1", words, flags=re.MULTILINE
    )


# The pages

ROOT = Path(__file__).parents[1]
_FIGURES = ROOT / "docs/_static/figures"

GENERATED: dict[str, Callable[[], str]] = {
    "commands": commands_text,
    **{f"command-{name}": partial(command_text, name) for name in names()},
    "findings": findings_text,
    "gate": gate_text,
    "glossary": glossary_text,
    "errors": errors_text,
    "schema": schema_text,
    "predicate": predicate_text,
    "warehouses": warehouses_text,
    **{f"python-{part}": partial(python_text, part) for part in _PYTHON},
    **{
        file.stem: partial(file.read_text, "utf-8")  # benchmarks/paper_figures.py writes them
        for file in sorted(_FIGURES.glob("*.md"))
    },
}
_END = "<!-- end of what is generated -->"
_PART = re.compile(rf"<!-- generated: ([\w-]+) -->\n.*?{_END}", re.DOTALL)


def by_hand(page: str) -> str:
    """What of a page is not made from the code."""
    return _PART.sub("", page)


def renewed(page: str) -> str:
    """The page, with what the code says now."""

    def part(found: re.Match[str]) -> str:
        name = found[1]
        return f"<!-- generated: {name} -->\n\n{GENERATED[name]().strip()}\n\n{_END}"

    return _PART.sub(part, page)


MANUAL = ROOT / "docs/policy-engine.1"


def main() -> None:
    """Write every page that is older than the code."""
    MANUAL.write_text(man_text(), "utf-8")
    for file in sorted((ROOT / "docs").rglob("*.md")):
        text = file.read_text("utf-8")
        new = renewed(text)
        if new != text:
            file.write_text(new, "utf-8")
            print(file.relative_to(ROOT))


if __name__ == "__main__":
    main()
