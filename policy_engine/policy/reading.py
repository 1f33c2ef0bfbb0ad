"""Text → document, for the policy file and the project file alike."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from textwrap import dedent
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from policy_engine.errors import FileError, InternalError, PolicyError, Problem
from policy_engine.opening import opened
from policy_engine.policy import tree
from policy_engine.policy.laws import Document
from policy_engine.policy.tree import YamlNode
from policy_engine.policy.within import apart, texts_within

_YAML = frozenset({".yaml", ".yml"})
MISSING = "does not exist"
D = TypeVar("D", bound=Document)


@dataclass
class HalfRead(Generic[D]):
    """A file half read: its tree, its document if it is valid, and the problems so far."""

    file: str
    kind: str
    root: YamlNode
    document: D | None = None
    problems: list[Problem] = field(default_factory=list)

    def refuse(
        self,
        path: tree.Path,
        predicate: str,
        remedy: str = "",
        *,
        on_key: bool = False,
        account: str = "",
    ) -> None:
        """Add a problem of the value (or the key) at ``path``; ``account`` is one not known."""
        place = self.root.locate(path, key=on_key)
        subject = tree.path_text(path)
        message = f"{subject or 'the ' + self.kind} {predicate}"
        self.problems.append(Problem(self.file, *place, subject, message, remedy, account))

    def result(self) -> D:
        """The document, or all problems in the order of the file, other files after it."""
        if self.problems:
            ranked = sorted(
                dict.fromkeys(self.problems),
                key=lambda each: (each.file != self.file, each.file, each.line, each.column),
            )
            raise PolicyError(tuple(ranked))
        if self.document is None:
            raise InternalError("a file without problems has no document")
        return self.document


def meant(missing: Path) -> str:
    """``did you mean 'NAME'?`` for a file of the same folder and kind with a similar name.

    Empty where there is none. Only names are looked at.
    """
    suffixes = _YAML if missing.suffix in _YAML else {missing.suffix}
    try:
        near = {
            path.stem: path.name
            for path in sorted(missing.parent.iterdir())
            if path.suffix in suffixes and path.stem != "policy-engine" and path.name.isprintable()
            if path.is_file()
        }
    except (OSError, ValueError):
        return ""
    found = get_close_matches(missing.stem[:100], near, n=1)
    return f"did you mean {near[found[0]]!r}?" if found else ""


def unread(path: Path, error: OSError, *, lost: bool = False) -> str:
    """Why a file that somebody names could not be read, and which one may be meant.

    ``lost``: it is a release that should be there, for its certificate is.

    >>> unread(Path("a.parquet"), FileNotFoundError(2, "No such file or directory"), lost=True)[:52]
    'a.parquet could not be read: No such file or directo'
    """
    said = [f"{path} could not be read: {error.strerror}"]
    if isinstance(error, FileNotFoundError):
        said.append(meant(path))
        if lost:
            said.append("if it is lost, 'policy-engine restore POLICY' puts that policy's back")
    return "; ".join(filter(None, said))


def read_bytes(file: Path, most: int) -> tuple[bytes, str]:
    """At most so many bytes of a file; or why it cannot be read."""
    try:
        if file.is_dir():
            return b"", "is a directory"
        with opened(file) as stream:
            return stream.read(most), ""
    except FileNotFoundError:
        return b"", MISSING
    except (OSError, ValueError) as error:
        return b"", f"cannot be read: {getattr(error, 'strerror', None) or 'not a file name'}"


def plain_yaml(text: str) -> Any:
    """What a policy's file holds, to be written again with its comments, numbers as they are."""
    from ruamel.yaml import YAML

    return YAML().load(dedent(text).lstrip("\n"))  # within a file it has blanks before each line


def read_text(file: Path, kind: str) -> str:
    """The text of a file, or of a policy within it.

    Raises ``FileError`` where the file cannot be read or has no such policy, ``PolicyError`` where
    what it holds is not text or too much of it.
    """
    file, name = apart(file)
    content, reason = read_bytes(file, tree.MAX_BYTES + 1)
    if reason:
        remedy = "name a file in it" if reason == "is a directory" else ""
        remedy = meant(file) if reason == MISSING else remedy
        raise FileError(str(Problem(str(file), 0, 0, "", f"the {kind} file {reason}", remedy)))
    if len(content) > tree.MAX_BYTES:
        raise _refused(file, f"the {kind} file must be at most {tree.MAX_BYTES} bytes")
    other = "a Parquet file" if content.startswith(b"PAR1") else ""
    if file.name.endswith(".certificate.json"):
        other = "a certificate"
    if other:
        raise _refused(file, f"this is {other}, and not a {kind}, which is a YAML file: name that")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        raise _refused(file, f"the {kind} file is not UTF-8 text", line, column) from None
    if not name:
        return text
    found = texts_within(text, str(file))
    if name not in found:
        listed = ", ".join(found) or "none"
        law = f"there is no policy {name} under meta.privacy.policy; it has {listed}"
        raise FileError(f"{file}: {law}")
    return found[name]


def _refused(file: Path, message: str, line: int = 0, column: int = 0) -> PolicyError:
    return PolicyError((Problem(str(file), line, column, "", message),))


def read_root(text: str, file: Path, kind: str) -> tuple[YamlNode, list[Problem]]:
    """The root mapping of a file and the problems met, or ``PolicyError`` if there is none."""
    root, problems = tree.read_tree(text, str(file))
    if root is None and not problems:
        raise _refused(file, f"the {kind} file is empty", 1, 1)
    if root is None:
        raise PolicyError(problems)
    if not isinstance(root.value, dict):
        found = "empty" if root.value is None else "not a mapping of keys to values"
        raise PolicyError(
            (*problems, Problem(str(file), *root.position, "", f"the {kind} file is {found}"))
        )
    return root, list(problems)


def read_document(text: str, file: Path, model: type[D], kind: str) -> HalfRead[D]:
    """What ``text`` says, checked against ``model``.

    Raises ``PolicyError`` only where the text has no mapping at all; every other problem waits
    in the reading, so that its caller can add more.
    """
    root, problems = read_root(text, file, kind)
    return check(HalfRead(str(apart(file)[0]), kind, root, problems=problems), model)


def check(reading: HalfRead[D], model: type[D]) -> HalfRead[D]:
    """The reading with its document, or with the problems that ``model`` finds."""
    unread = {(problem.line, problem.column) for problem in reading.problems}
    try:
        reading.document = model.model_validate(reading.root.data())
    except ValidationError as error:
        for found in error.errors(include_url=False):
            context = found["ctx"]
            path = (*found["loc"], *context["at"])
            if reading.root.locate(path, key=context["on_key"]) not in unread:
                reading.refuse(
                    path, context["predicate"], context["remedy"], on_key=context["on_key"]
                )
    return reading


def located(problems: tuple[Problem, ...], file: Path) -> tuple[Problem, ...]:
    """``problems`` with the line and column of the key each one names, in the file's order.

    A path that the file does not have (any more) leaves its problem without a place, and one that
    has its place keeps it.
    """
    if not problems:
        return ()
    try:
        root, _ = tree.read_tree(read_text(file, "policy"), str(file))
    except (FileError, PolicyError):
        return problems
    known = () if root is None else root.walk()
    places = {tree.path_text(path): key for path, key, _ in known if key is not None}
    found = [
        replace(p, line=place.line, column=place.column)
        if not p.line and (place := places.get(p.path))
        else p
        for p in problems
    ]
    return tuple(sorted(found, key=lambda p: (p.line, p.column)))


def refused(file: Path, key: str, message: str, remedy: str) -> PolicyError:
    """The error of one problem, at the place of its key."""
    return PolicyError(located((Problem(str(file), 0, 0, key, message, remedy),), file))
