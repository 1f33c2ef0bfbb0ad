"""Texts of models, alike for the engine and for the macros of the package; what a template tells.

dbt renders SQL and YAML: they are templates to it, and a label is not. No template is run here:
most have refs, and a condition or two. The settings of a node may hold queries, which no compiled
text shows: the timestamp of a snapshot, the columns that it compares, a predicate of an incremental
model, the type of a column, the calculation of a test.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from policy_engine.dbt.lexing import READERS, words
from policy_engine.dbt.manifest import Manifest, Node, leaves, mapping, sequence
from policy_engine.dbt.naming import read_name
from policy_engine.opening import text_in

_OPENS = re.compile(r"\{(?=[{%#])")
_PART = r"(?:\"[^\"]+\"|`[^`]+`|\[[^\]]+\]|[^\s.\"`\[\]()',;]+)"
_SECRETS = re.compile(
    rf"select\s+[\"`\[]?salt[\"`\]]?\s+from\s+({_PART}(?:\.{_PART})*)", re.IGNORECASE
)


def plain(text: str) -> str:
    """A text without what does not matter around it, its lines ended as on Unix.

    >>> plain(" select 1\\r\\n")
    'select 1'
    """
    return text.strip().replace("\r\n", "\n")


def on_one_line(text: str) -> str:
    """A text with one blank in the place of each of its gaps.

    >>> on_one_line(" a\\n  b")
    'a b'
    """
    return " ".join(text.split())


def read(file: Path) -> str:
    """The text of a file; empty where it cannot be read."""
    try:
        return text_in(file, errors="replace")
    except OSError:
        return ""


def text_md5(text: str) -> str:
    """The digest by which dbt notices that a text was changed, as its ``local_md5`` gives it.

    It proves nothing.

    >>> text_md5("select 1\\r\\n") == text_md5(" select 1")
    True
    """
    return hashlib.md5(plain(text).encode(), usedforsecurity=False).hexdigest()


def secrets_read(text: str) -> str:
    """The secrets relation that a text reads, as it writes it; empty where it reads none.

    >>> secrets_read("… < (SELECT salt FROM main.salts WHERE release_id = 'towns_v1')")
    'main.salts'
    """
    found = _SECRETS.search(text)
    return found[1] if found is not None else ""


def escaped(text: str) -> str:
    """``text`` as a template that renders to it, in dbt 1 (Jinja) and 2 (minijinja) alike.

    >>> escaped("{{ x }} {% if %} {")
    '{{ "{" }}{ x }} {{ "{" }}% if %} {'
    """
    return _OPENS.sub('{{ "{" }}', text)


def opens(text: str) -> bool:
    """Whether some of a text would be taken for a template."""
    return _OPENS.search(text) is not None


def spaced(text: str) -> str:
    """A text for readers in which nothing can be taken for a template.

    The versions of dbt render a description once, twice or never: escapes would show in some.

    >>> spaced("{{ x }}")
    '{ { x }}'
    """
    return _OPENS.sub("{ ", text)


# Templates

_CALL = r"\((?:[^(){}]|\([^(){}]*\))*\)"
_STRING = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_SETTINGS = rf"config\s*\((?:{_STRING}|(?!\{{\{{)[^'\"])*?\)"
_CONFIG = re.compile(rf"\{{\{{-?\s*{_SETTINGS}\s*-?\}}\}}", re.DOTALL)
_PLAIN = re.compile(
    rf"\{{#.*?#\}}|\{{\{{-?\s*(?:(?:ref|source)\s*{_CALL}|this|{_SETTINGS})\s*-?\}}\}}", re.DOTALL
)
_CONDITION = re.compile(
    r"\{%-?\s*(?:(?:el)?if\b(?:[^%()]|\b(?:is_incremental|var|env_var)\([^()%]*\))*|else|endif)"
    r"\s*-?%\}"
)
_JINJA = re.compile(r"\{[{%#]")
_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
_STATEMENT = re.compile(r"\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_ELSE = re.compile(r"\{%-?\s*el(?:se|if)\b.*?%\}", re.DOTALL)
_VALUE = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_CODE = re.compile(r"\{[{%](?P<code>.*?)[%}]\}", re.DOTALL)
STRINGS = re.compile(_STRING, re.DOTALL)
CALLED = re.compile(
    r"^(?:set\s+(?P<name>\w+)\s*=|for\s+(?P<each>\w+)\s+in\b)\s*(?P<value>.*)$", re.MULTILINE
)
"""What a template calls by a name, as ``code_in`` shows it."""
_PYTHON = re.compile(r"'{3}.*?'{3}|\"{3}.*?\"{3}|" + _STRING, re.DOTALL)
REF = re.compile(
    r"\bref\s*\(\s*['\"](?P<one>[^'\"]+)['\"]\s*(?:,\s*['\"](?P<two>[^'\"]+)['\"]\s*)?"
    r"(?:,\s*(?:v|version)\s*=\s*['\"]?(?P<version>\w+)['\"]?\s*)?\)"
)
SOURCE = re.compile(r"\bsource\s*\(\s*['\"]([^'\"]+)['\"]\s*,\s*['\"]([^'\"]+)['\"]\s*\)")


def is_generic_test(node: Node) -> bool:
    """Whether a node is a generic test, whose text is the call of a macro."""
    return node.kind == "test" and "_dbt_generic_test_kwargs" in node.raw


def has_code(node: Node, *, conditions: bool = True) -> bool:
    """Whether a template has more than refs and a config of its own; ``conditions`` are more."""
    if "{" not in node.raw or is_generic_test(node):
        return False
    rest = _PLAIN.sub("", node.raw)
    return _JINJA.search(rest if conditions else _CONDITION.sub("", rest)) is not None


def named(found: re.Match[str]) -> tuple[str, str, str]:
    """The package, the name and the version of a ref."""
    package = found["one"] if found["two"] else ""
    return package, found["two"] or found["one"], found["version"] or ""


def refs_in(raw: str, manifest: Manifest) -> Iterator[str]:
    """The nodes that a template refs in any of its branches."""
    bare = _COMMENT.sub(" ", raw)
    meant = [manifest.node_named(*named(match)) for match in REF.finditer(bare)]
    meant += [manifest.source_named(*pair) for pair in SOURCE.findall(bare)]
    yield from (each.id for each in meant if each is not None)


def with_holes(raw: str, hole: str) -> str:
    """What stands outside the braces of a template, every branch of it, with holes for values.

    What stands behind ``else`` may be another relation, and no alias.

    >>> with_holes("from {% if x %}a{% else %}b{% endif %} {{ b }}.c", "hole")
    'from  a , b  hole.c'
    """
    return _VALUE.sub(hole, _STATEMENT.sub(" ", _ELSE.sub(" , ", _CONFIG.sub("", raw))))


def code_of(raw: str) -> str:
    """What stands within the braces of a template, without its texts and comments.

    >>> code_of("select a {# b #} from {{ ref('c') }}{% do d %}{{ config(a='{{ e }}') }}").split()
    ['ref()', 'do', 'd', 'config(a=)']
    """
    bare = _CONFIG.sub(lambda found: STRINGS.sub("", found[0]), _COMMENT.sub(" ", raw))
    return " ".join(STRINGS.sub("", found["code"]) for found in _CODE.finditer(bare))


def code_in(raw: str) -> str:
    """What stands within the braces of a template, with its texts, a line for each pair of braces.

    >>> code_in("{{ config(a='b') }}{% set x = 'y' %} select {{ x }}{# {{ z }} #}").split("\\n")
    ["set x = 'y'", 'x']
    """
    bare = _CONFIG.sub(" ", _COMMENT.sub(" ", raw))
    lines = (on_one_line(found["code"].strip("-")) for found in _CODE.finditer(bare))
    return "\n".join(lines)


def texts_in(node: Node, raw: str) -> Iterator[str]:
    """The texts that the code of a template names, or that of a Python model; with its settings.

    Those of a unit test are what it has in the place of macros and variables.
    """
    yield from leaves([value for key, value in node.config.items() if key not in _READ_ELSEWHERE])
    yield from leaves(node.data.get("overrides"))
    if node.is_python:
        yield from (each[0].strip("'\"") for each in _PYTHON.finditer(raw))
        return
    for found in _CODE.finditer(_PLAIN.sub(" ", raw)):
        yield from (each[0][1:-1] for each in STRINGS.finditer(found["code"]))


_DECIDED_LATER = re.compile(
    r"""\b(?:adapter\s*\.\s*(?:check|get|list)\w*|dbt_metadata_envs|dbt_version|env_var|flags|graph
    |invocation_args_dict|invocation_id|load_relation|run_started_at|selected_resources
    |should_full_refresh|target|thread_id)\b|^(?!(?:el)?if\b).*\b(?:execute|is_incremental)\b""",
    re.MULTILINE | re.VERBOSE,
)
"""What another run may have another value of."""
_MADE = r"""(?:~|[+%](?!\s*\d)|\[\s*(?:-?\w+\s*)?:|\bfrom(?:json|yaml)\b
    |\b(?:ref|source)\b(?!\s*=[^=])
    |\|\s*(?!(?:abs|as_bool|as_native|as_number|as_text|count|d|default|dictsort|first|float|int
        |items|last|length|list|lower|max|min|reject|rejectattr|round|select|selectattr|sort|string
        |sum|tojson|trim|unique|upper)\b)\w
    |\.\s*(?:capitalize|casefold|center|decode|encode|expandtabs|format|format_map|join|ljust|lstrip
        |partition|removeprefix|removesuffix|replace|rjust|rpartition|rsplit|rstrip|split|splitlines
        |strip|sub|swapcase|title|translate|zfill)\s*\()"""
"""What makes a text of others in a template's code, or a ref of no plain text."""
_MADE_IN_A_BRANCH = re.compile(
    rf"""^(?:(?:set\ (\w+)\ ?=|macro\ (\w+)\b.*\n(?:(?!endmacro$).*\n)*?).*{_MADE}(?s:.*?)^)?
    (?:el)?if\b.*\b(?:execute|is_incremental|modules|var)\b.*\n
    (?:if\b.*\n(?:(?!endif$).*\n)*endif\n|(?!endif$).*\n)*?
    .*(?(1)\b\1\b|(?(2)\b\2\b|{_MADE}))""",
    re.MULTILINE | re.VERBOSE,
)
"""The same in a branch that a variable or the warehouse decides, or by a name that has it."""
_GLUED = re.compile(
    r"""\\[\dNUux]|\{%-?\s*(?:set|for)\s+(\w+)\s*(?:=|in\b)\s*['"({[].*\b(?:from|join)\s+[\w."`]*\{\{-?\s*\1\b
    |\b(?:from|join)\s+(?:[^\s{}()]|\{[{%][^{}]*[%}]\})*?
    (?:\w\{\{|\}\}\w|\w(?:\{%(?!-?\s*el)[^{}]*%\})+\w|\{\{-?\s*(?:env_var\b[^{}]*|['"({[].*?)\}\})
    (?!(?:[^\s{}()]|\{\{[^{}]*\}\})*\.)""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
"""The name of a relation that a text, or the environment, gives whole or in part."""


def puts_together(raw: str) -> bool:
    """Whether a template makes up what no reader finds, and another run may take another way.

    >>> puts_together("{% if target.name == 'x' %}select * from {{ 'a' ~ 'b' }}{% endif %}")
    True
    >>> puts_together("{% if target.name == 'x' %}select * from {{ ref('a') }}{% endif %}")
    False
    """
    code = STRINGS.sub("''", SOURCE.sub("this", REF.sub("this", code_in(raw))))
    is_made = re.search(_MADE, code, re.VERBOSE) or _GLUED.search(raw)
    is_later = is_made and _DECIDED_LATER.search(code)
    return (is_later or _MADE_IN_A_BRANCH.search(code)) is not None


# What settings read: dbt writes many of them into SQL as they stand.

_NO_SQL = words("""
    alias contract database description docs enabled full_refresh grants group materialized meta
    packages persist_docs post-hook post_hook pre-hook pre_hook query_comment quoting schema
    severity sql_header static_analysis store_failures store_failures_as tags
""")
"""Settings that are no SQL, or that are read elsewhere."""
_READ_ELSEWHERE = _NO_SQL - {"meta"}
_QUERY = re.compile(
    r";|\b(?:select|from|table|join|copy|export|into|summarize|describe|pivot|unpivot|call|execute)\b"
    rf"|\b(?:{'|'.join(sorted(READERS))})\s*\(",
    re.IGNORECASE,
)


def queries_in_config(node: Node) -> tuple[str, ...]:
    """The settings of a node that hold a query.

    >>> queries_in_config(Node("snapshot.a.b", {"config": {"updated_at": "(select 1 from x)"}}))
    ('(select 1 from x)',)
    """
    if node.kind not in {"model", "snapshot", "seed", "test", "function"}:
        return ()
    said = [value for key, value in node.config.items() if value and key not in _NO_SQL]
    if read_name(node.relation) is None:  # a name that ends its quotes
        said.append(node.relation)
    typed = (*mapping(node.data, "columns").values(), *sequence(node.data, "arguments"))
    columns = [each for each in (*typed, node.data.get("returns")) if isinstance(each, Mapping)]
    said += [each.get(key) for each in columns for key in ("data_type", "default_value")]
    for place in (node.data, *columns):
        constraints = sequence(place, "constraints")
        said += [each.get("expression") for each in constraints if isinstance(each, Mapping)]
    return tuple(dict.fromkeys(each for each in leaves(said, keys=True) if _QUERY.search(each)))
