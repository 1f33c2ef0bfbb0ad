"""What can be told of a template without walking it: most have refs, and a condition or two."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policy_engine.dbt.manifest import Manifest, Node

_CALL = r"\((?:[^(){}]|\([^(){}]*\))*\)"
_PLAIN = re.compile(
    rf"\{{#.*?#\}}|\{{\{{-?\s*(?:(?:ref|source|config)\s*{_CALL}|this)\s*-?\}}\}}", re.DOTALL
)
_CONDITION = re.compile(
    r"\{%-?\s*(?:(?:el)?if\b(?:[^%()]|\b(?:is_incremental|var|env_var)\([^()%]*\))*|else|endif)"
    r"\s*-?%\}"
)
_JINJA = re.compile(r"\{[{%#]")
_WORD = re.compile(r"\w+")
_REF = re.compile(
    r"\bref\(\s*['\"](?P<one>[^'\"]+)['\"]\s*(?:,\s*['\"](?P<two>[^'\"]+)['\"]\s*)?"
    r"(?:,\s*(?:v|version)\s*=\s*['\"]?(?P<version>\w+)['\"]?\s*)?\)"
)
_ANY_REF = re.compile(r"\bref\(|\bsource\(")
_SOURCE = re.compile(r"\bsource\(\s*['\"]([^'\"]+)['\"]\s*,\s*['\"]([^'\"]+)['\"]\s*\)")


def is_plain(node: Node) -> bool:
    """Whether a template has no more than refs, a config and conditions."""
    if "{" not in node.raw or _is_generic_test(node):
        return True
    return not _JINJA.search(_CONDITION.sub("", _PLAIN.sub("", node.raw)))


def has_branches(node: Node) -> bool:
    """Whether a template is another text under another condition."""
    return "{%" in node.raw and not _is_generic_test(node)


def _is_generic_test(node: Node) -> bool:
    return node.kind == "test" and "_dbt_generic_test_kwargs" in node.raw


def refs_in(node: Node, manifest: Manifest) -> Iterator[str]:
    """What a template refs in any of its branches; '' for each that is no text or no node."""
    calls = len(_ANY_REF.findall(node.raw))
    named = [manifest.node_named(*_named(match)) for match in _REF.finditer(node.raw)]
    named += [manifest.source_named(*pair) for pair in _SOURCE.findall(node.raw)]
    yield from (each.id if each is not None else "" for each in named)
    if calls > len(named):
        yield ""


def _named(found: re.Match[str]) -> tuple[str, str, str]:
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


_TAGS = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)


def without_jinja(raw: str) -> str:
    """What stands outside the braces of a template, every branch of it.

    >>> without_jinja("{% if x %}from a{% endif %} {{ b }}").split()
    ['from', 'a']
    """
    return _TAGS.sub(" ", without_refs(raw))


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
