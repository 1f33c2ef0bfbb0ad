"""What can be told of a template without walking it: most have refs, and a condition or two."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policy_engine.dbt.manifest import Manifest, Node

_CALL = r"\((?:[^(){}]|\([^(){}]*\))*\)"
_STRING = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_OTHER = r"(?!\{\{)[^'\"]"
_PLAIN = re.compile(
    rf"\{{#.*?#\}}|\{{\{{-?\s*(?:(?:ref|source)\s*{_CALL}|this"
    rf"|config\s*\((?:{_STRING}|{_OTHER})*?\))\s*-?\}}\}}",
    re.DOTALL,
)
_CONDITION = re.compile(
    r"\{%-?\s*(?:(?:el)?if\b(?:[^%()]|\b(?:is_incremental|var|env_var)\([^()%]*\))*|else|endif)"
    r"\s*-?%\}"
)
_JINJA = re.compile(r"\{[{%#]")
_WORD = re.compile(r"\w+")
REF = re.compile(
    r"\bref\(\s*['\"](?P<one>[^'\"]+)['\"]\s*(?:,\s*['\"](?P<two>[^'\"]+)['\"]\s*)?"
    r"(?:,\s*(?:v|version)\s*=\s*['\"]?(?P<version>\w+)['\"]?\s*)?\)"
)
_ANY_REF = re.compile(r"\bref\(|\bsource\(")
SOURCE = re.compile(r"\bsource\(\s*['\"]([^'\"]+)['\"]\s*,\s*['\"]([^'\"]+)['\"]\s*\)")


def is_plain(node: Node) -> bool:
    """Whether a template has no more than refs, a config and conditions."""
    if "{" not in node.raw or is_generic_test(node):
        return True
    return not _JINJA.search(_CONDITION.sub("", _PLAIN.sub("", node.raw)))


def has_code(node: Node) -> bool:
    """Whether a template has more than refs and a config of its own."""
    return not is_generic_test(node) and _JINJA.search(_PLAIN.sub("", node.raw)) is not None


def is_generic_test(node: Node) -> bool:
    """Whether a node is a generic test, whose text is the call of a macro."""
    return node.kind == "test" and "_dbt_generic_test_kwargs" in node.raw


def refs_in(node: Node, manifest: Manifest) -> Iterator[str]:
    """What a template refs in any of its branches; '' for each that is no text or no node."""
    raw = _COMMENT.sub(" ", node.raw)
    calls = len(_ANY_REF.findall(raw))
    meant = [manifest.node_named(*named(match)) for match in REF.finditer(raw)]
    meant += [manifest.source_named(*pair) for pair in SOURCE.findall(raw)]
    yield from (each.id if each is not None else "" for each in meant)
    if calls > len(meant):
        yield ""


def named(found: re.Match[str]) -> tuple[str, str, str]:
    """The package, the name and the version of a ref."""
    package = found["one"] if found["two"] else ""
    return package, found["two"] or found["one"], found["version"] or ""


def words_in(text: str) -> frozenset[str]:
    """The words of a text, in lower case.

    >>> sorted(words_in("from Main.people"))
    ['from', 'main', 'people']
    """
    return frozenset(_WORD.findall(text.lower()))


def is_word(text: str) -> bool:
    """Whether a name is one word, so that ``words_in`` would find it."""
    return _WORD.fullmatch(text) is not None


def without_refs(raw: str) -> str:
    """A template without its refs, its config and its comments."""
    return _PLAIN.sub(" ", raw)


_CONFIG = re.compile(rf"\{{\{{-?\s*config\s*\((?:{_STRING}|{_OTHER})*?\)\s*-?\}}\}}", re.DOTALL)
_STATEMENT = re.compile(r"\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_VALUE = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_STRINGS = re.compile(_STRING, re.DOTALL)
_PYTHON = re.compile(r"'{3}.*?'{3}|\"{3}.*?\"{3}|" + _STRING, re.DOTALL)
_CODE = re.compile(r"\{[{%](?P<code>.*?)[%}]\}", re.DOTALL)


def with_holes(raw: str, hole: str) -> str:
    """What stands outside the braces of a template, every branch of it, with holes for values.

    >>> with_holes("{% if x %}from a{% endif %} {{ b }}.c", "hole").split()
    ['from', 'a', 'hole.c']
    """
    return _VALUE.sub(hole, _STATEMENT.sub(" ", _CONFIG.sub("", raw)))


def code_of(raw: str) -> str:
    """What stands within the braces of a template, without its texts and comments.

    >>> code_of("select a {# b #} from {{ ref('c') }}{% do d %}{{ config(a='{{ e }}') }}").split()
    ['ref()', 'do', 'd', 'config(a=)']
    """
    bare = _CONFIG.sub(lambda found: _STRINGS.sub("", found[0]), _COMMENT.sub(" ", raw))
    return " ".join(_STRINGS.sub("", found["code"]) for found in _CODE.finditer(bare))


_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)


def texts_in(node: Node) -> Iterator[str]:
    """The texts that the code of a template names, or that of a Python model."""
    if node.is_python:
        yield from (each[0].strip("'\"") for each in _PYTHON.finditer(node.raw))
        return
    for found in _CODE.finditer(_PLAIN.sub(" ", node.raw)):
        yield from (each[0][1:-1] for each in _STRINGS.finditer(found["code"]))


def without(written: str, relation: str) -> str:
    """A text without a relation's name, where that is not a part of a longer one.

    >>> without("from a.b, a.bc, x.a.b", "a.b")
    'from  , a.bc, x.a.b'
    """
    pieces, start, place = [], 0, written.find(relation)
    while place >= 0:
        end = place + len(relation)
        around = written[place - 1 : place] + written[end : end + 1]
        if not any(sign in _IN_A_NAME or sign.isalnum() for sign in around):
            pieces.append(written[start:place])
            start = end
        place = written.find(relation, end)
    return " ".join([*pieces, written[start:]])


_IN_A_NAME = frozenset('_$."`')
