"""What is written under ``meta.privacy``. What cannot be read counts as sensitive.

A mark stands on a node, on the config of a node, on its columns, on a source or on a table of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from difflib import SequenceMatcher

from policy_engine.dbt.manifest import Node, mapping, strings, text
from policy_engine.values import frozen

SENSITIVE, INTERNAL, PUBLIC = "sensitive", "internal", "public"
_CLASSES = (SENSITIVE, INTERNAL, PUBLIC)
NAMESPACE = "privacy"
_TEXTS = ("policy_digest", "text_md5")
_FLAGS = ("release", "generated")
_SHOWING = frozenset({"exposure", "saved_query", "semantic_model"})
"""The kinds that say who sees what they show."""
_LAWS: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "classification": (str, "sensitive, internal or public"),
    **dict.fromkeys(_FLAGS, (bool, "true or false")),
    **dict.fromkeys(_TEXTS, (str, "text")),
    "policy": ((str, Mapping), "a policy"),
    "certificate": (Mapping, "a mapping"),
    "audience": (list, "a list of those who see an exposure, a semantic model or an export"),
}
KEYS = tuple(_LAWS)
"""What may stand under ``meta.privacy``."""

_ALIKE = 0.85


@frozen
class Words:
    """The tags, and the values of keys of ``meta``, by which a project says what is sensitive."""

    tags: frozenset[str] = frozenset()
    meta: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def are_of(self, *data: Mapping[str, object]) -> bool:
        """Whether a node or a column has one of them.

        >>> Words(frozenset({"pii"}), {"contains_pii": frozenset({"true"})}).are_of(
        ...     {"tags": []}, {"meta": {"contains_pii": True}}
        ... )
        True
        """
        tags = {tag for each in data for tag in (*strings(each, "tags"), each.get("tags"))
                if isinstance(tag, str)}  # fmt: skip
        told = (
            str(value).lower() in values
            for key, values in self.meta.items()
            for said in (mapping(each, "meta").get(key) for each in data)
            for value in (said if isinstance(said, list | tuple) else [said])
        )
        return not self.tags.isdisjoint(tags) or any(told)


@frozen
class Marks:
    """What is marked of one node. ``faults`` are what could not be read, each in words.

    ``columns`` are the sensitive ones, in lower case, where not all of the node is. ``reads`` are
    the columns that a release was written to read, with their types: of its source, then of what
    is joined to it. ``audience`` are those who see what it shows. ``has_policy``: a policy stands
    there, which reads it.
    """

    sensitive: bool = False
    classified: bool = False
    columns: frozenset[str] = frozenset()
    public: bool = False
    release: bool = False
    generated: bool = False
    policy: str = ""
    has_policy: bool = False
    policy_digest: str = ""
    text_md5: str = ""
    reads: tuple[tuple[tuple[str, str], ...], ...] = ()
    audience: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


def marks_of(node: Node, words: Words = Words()) -> Marks:
    """The marks of a node, of its columns and of the source it belongs to.

    >>> marks_of(Node("model.shop.a", {"meta": {"privacy": {"classification": "pii"}}})).faults
    ("meta.privacy.classification must be sensitive, internal or public, found 'pii'",)
    """
    faults: list[str] = []
    metas = [node.data.get("meta"), node.config.get("meta")]
    own = [mark for meta in metas for mark in _mark("meta", meta, faults)]
    if not own and node.kind == "source":  # its own only where its table has none
        own = list(_mark("the source's meta", node.data.get("source_meta"), faults))
    own = [mark for place, mark in enumerate(own) if mark not in own[:place]]
    marks = [mark for _, mark in own]
    wrong, sensitive = [*own], set[str]()
    for name, column in mapping(node.data, "columns").items():
        if not isinstance(column, Mapping):
            continue
        # dbt v2 copies the node's own marks into each column that has none.
        meta = mapping(column, "config").get("meta") or column.get("meta")
        found = [m for m in _mark(f"column {name}: meta", meta, faults) if m[1] not in marks]
        wrong += found
        is_marked = any(mark.get("classification") == SENSITIVE for _, mark in found)
        if is_marked or words.are_of(column, mapping(column, "config")):
            sensitive.add(str(name).lower().partition(".")[0])  # a field of a row of BigQuery's
    faults += (fault for where, mark in wrong for fault in _wrong(where, mark))
    merged = {key: found for mark in marks for key, found in mark.items()}
    if "audience" in merged and node.kind not in _SHOWING:
        faults.append(f"a {node.kind} has no audience: {_LAWS['audience'][1]}")
    source = {"meta": node.data.get("source_meta")}
    reads = mapping(merged, "certificate").get("reads")
    has_policy = isinstance(merged.get("policy"), Mapping)
    classes = [mark.get("classification") for mark in marks]
    return Marks(
        sensitive=bool(faults)
        or has_policy
        or SENSITIVE in classes
        or words.are_of(node.data, node.config, source),
        classified=any("classification" in mark for mark in marks),
        columns=frozenset(sensitive),
        public=PUBLIC in classes,
        release=merged.get("release") is True,
        generated=merged.get("generated") is True,
        policy=text(merged, "policy"),
        has_policy=has_policy,
        policy_digest=text(merged, "policy_digest"),
        text_md5=text(merged, "text_md5"),
        reads=tuple(
            tuple((str(name), str(kind)) for name, kind in each.items())
            for each in (reads if isinstance(reads, list) else ())
            if isinstance(each, Mapping)
        ),
        audience=strings(merged, "audience") if node.kind in _SHOWING else (),
        faults=tuple(dict.fromkeys(faults)),
    )


_Mark = tuple[str, Mapping[str, object]]


def _mark(where: str, meta: object, faults: list[str]) -> Iterator[_Mark]:
    if not isinstance(meta, Mapping):
        if meta:
            faults.append(f"{where} must be a mapping, found {_shown(meta)}")
        return
    for key, found in meta.items():
        if key == NAMESPACE:
            if isinstance(found, Mapping):
                yield f"{where}.{NAMESPACE}", found
            else:
                faults.append(f"{where}.{NAMESPACE} must be a mapping, found {_shown(found)}")
        elif _is_misspelt(key):
            faults.append(f"{where}.{key} is an unknown key; write {NAMESPACE}: {{…}}")


def _wrong(where: str, mark: Mapping[str, object]) -> Iterator[str]:
    for key, found in mark.items():
        if key not in KEYS:
            yield f"{where}.{key} is an unknown key, of {', '.join(KEYS)}"
            continue
        kind, law = _LAWS[key]
        if not isinstance(found, kind) or (key == "classification" and found not in _CLASSES):
            yield f"{where}.{key} must be {law}, found {_shown(found)}"


def _is_misspelt(key: object) -> bool:
    """Whether a key of ``meta`` is nearly ours: a slip of the pen must not hide a mark."""
    if not isinstance(key, str):
        return False
    bare = key.strip().lower()
    start = bare.split(".")[0]
    return start == NAMESPACE or SequenceMatcher(None, bare, NAMESPACE).ratio() >= _ALIKE


def _shown(found: object) -> str:
    said = repr(found)
    return said if len(said) <= 40 else said[:37] + "..."
