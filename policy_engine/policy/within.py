"""Policies within a properties file of dbt: ``models/schema.yml#towns`` is the one named towns.

It stands under ``config.meta.privacy.policy`` of what it reads. Its text is the lines that it has
there, and nothing else: it is read, and has its digest, as in a file of its own, and what is wrong
with it has the line and the column of the file in which it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from policy_engine.errors import PolicyError, Problem
from policy_engine.opening import opened
from policy_engine.policy.places import files_in
from policy_engine.policy.tree import MAX_BYTES

_PLACE = ("meta", "privacy", "policy")
_ENDINGS = (".yaml", ".yml")
# A key with a mapping below it or behind it: most files have none, and are not parsed.
_MAY_HAVE = re.compile(r"^[^#\n]*\bpolicy['\"]?\s*:\s*(?:[{&#].*)?\r?$", re.MULTILINE)


def apart(path: Path) -> tuple[Path, str]:
    """The file that a path names, and which policy within it; empty where it is the whole file.

    >>> apart(Path("models/schema.yml#towns")), apart(Path("towns.privacy.yml"))[1]
    ((PosixPath('models/schema.yml'), 'towns'), '')
    """
    file, _, name = path.name.rpartition("#")
    return (path.with_name(file), name) if file.endswith(_ENDINGS) else (path, "")


def policies_within(file: Path) -> tuple[Path, ...]:
    """The paths by which the policies within a properties file are read; most files have none.

    Raises PolicyError: the file may have some, and is no YAML.
    """
    try:
        with opened(file) as stream:
            text = stream.read(MAX_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return ()
    if "privacy" not in text or not _MAY_HAVE.search(text):
        return ()
    return tuple(file.with_name(f"{file.name}#{name}") for name in texts_within(text, str(file)))


def policy_paths(folder: Path) -> Iterator[Path]:
    """Each YAML file of a project's folder, and the policies within it."""
    for path in files_in(folder, _ENDINGS):
        yield path
        try:
            yield from policies_within(path)
        except PolicyError:  # no file of ours, for dbt to refuse
            continue


@lru_cache(maxsize=16)  # what is wrong with a policy is looked up in its text, one by one
def texts_within(text: str, file: str) -> Mapping[str, str]:
    """The policies within a text by their names: what each says, with blanks for all else.

    One without a name of its own is called by its line. Raises PolicyError: it is no YAML.

    >>> text = "models:\\n- name: a\\n  config: {meta: {privacy: {policy: {name: towns}}}}\\n"
    >>> texts_within(text, "schema.yml")["towns"].split()
    ['{name:', 'towns}']
    """
    try:
        root = YAML(typ="safe", pure=True).compose(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line, column = (0, 0) if mark is None else (mark.line + 1, mark.column + 1)
        raise PolicyError((Problem(file, line, column, "", "the file is not YAML"),)) from None
    found: dict[str, str] = {}
    for node in _policies(root, ()):
        start = node.start_mark
        named = (value.value for key, value in node.value if key.value == "name")
        name = next(named, "")
        if not isinstance(name, str) or not re.fullmatch(r"[^/#\n]+", name) or name in found:
            name = str(start.line + 1)
        above = "\n" * start.line + " " * start.column
        found[name] = above + text[start.index : node.end_mark.index]
    return found


def _policies(node: Node | None, path: tuple[str, ...]) -> Iterator[MappingNode]:
    """The mappings that stand at the place of a policy."""
    if isinstance(node, SequenceNode):
        for child in node.value:
            yield from _policies(child, ())
    elif isinstance(node, MappingNode):
        if path[-3:] == _PLACE:
            yield node
            return
        for key, child in node.value:
            yield from _policies(child, (*path, str(key.value)))
