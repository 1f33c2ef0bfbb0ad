"""``privacy-review.yml``: which code beside the models somebody has read, and what is waived.

Code that is not in it, or is other code than what was read, is a finding. What a waiver names is no
finding until its day. Both say who, why and until when.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from difflib import unified_diff
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import LiteralScalarString

from policy_engine.dbt.foreign import AUDIENCE, KINDS, PACKAGE, Code
from policy_engine.dbt.project import DbtProject, apply, changed, read_settings
from policy_engine.dbt.rules import RULES, GateFinding, finding
from policy_engine.dbt.texts import read
from policy_engine.errors import FileError, PolicyError, Problem
from policy_engine.opening import text_in
from policy_engine.values import frozen

FILE = "privacy-review.yml"
_SECTIONS = ("version", "reviewed", "waived")
_REMEDY = "'policy-engine dbt review' writes entries"


@frozen
class ReviewedCode:
    """One piece of code that was read; ``lines`` are what it was, by which a change is shown."""

    kind: str
    name: str
    digest: str
    who: str
    why: str
    until: date
    given: tuple[str, ...] = ()
    version: str = ""
    lines: str = ""


@frozen
class Waiver:
    """A finding that is let be: its ``code``, and ``about`` what: a node, a piece of code, a file.

    ``origins`` are what is marked or unknown, and may reach it: ``raw.events.*`` is all of that.
    """

    code: str
    about: str
    who: str
    why: str
    until: date
    origins: frozenset[str] = frozenset()

    def covers(self, found: GateFinding) -> bool:
        """Whether it names a finding, whatever reaches that."""
        return found.code == self.code and self.about in {found.names[0], found.file}

    def more(self, found: GateFinding) -> set[str]:
        """What reaches a finding, and the waiver does not name."""
        starts = tuple(each[:-1] for each in self.origins if each.endswith(".*"))
        return {e for e in found.origins if not (e in self.origins or e.startswith(starts))}


@frozen
class Review:
    """What the file of a project says."""

    entries: tuple[ReviewedCode, ...] = ()
    waivers: tuple[Waiver, ...] = ()

    def missing(self, code: Code, today: date) -> str:
        """Why a piece of code counts as not reviewed; '' where it is."""
        same = [e for e in self.entries if (e.kind, e.digest) == (code.kind, code.digest)]
        read = [each for each in same if set(each.given) >= set(code.given)]
        if any(each.until >= today for each in read):
            return ""
        if read:
            return f"was reviewed by {read[0].who} until {read[0].until}"
        last, what = self.last(code), "audience" if code.kind == AUDIENCE else "code"
        return "is not reviewed" if last is None else f"is other {what} than {last.who} reviewed"

    def last(self, code: Code) -> ReviewedCode | None:
        """What was read of the name of a piece of code."""
        named = (e for e in self.entries if (e.kind, e.name) == (code.kind, code.name))
        return next(named, None)

    def waived(
        self, found: Iterable[GateFinding], today: date
    ) -> tuple[tuple[GateFinding, ...], tuple[str, ...]]:
        """The findings that stay, and what is to be said of the waivers."""
        kept, used, grown = [], set(), dict[Waiver, set[str]]()
        for each in found:
            covering = [w for w in self.waivers if w.until >= today and w.covers(each)]
            used.update(covering)
            if all(waiver.more(each) for waiver in covering):
                kept.append(each)
                for waiver in covering:
                    grown.setdefault(waiver, set()).update(waiver.more(each))
        notes = []
        for waiver in self.waivers:
            named = f"the waiver of {waiver.code} for {waiver.about!r}"
            if waiver.until < today:
                notes.append(f"{named} ended on {waiver.until}")
            elif waiver in grown:
                more, whole = (
                    ", ".join(sorted(names))
                    for names in (grown[waiver], grown[waiver] | waiver.origins)
                )
                notes.append(f"{named} is not of {more}, which reaches it: write from: [{whole}]")
            elif waiver in used:
                notes.append(f"waived until {waiver.until} by {waiver.who}: {named[14:]}")
            else:
                notes.append(f"{named} covers nothing any more")
        return tuple(kept), tuple(notes)


def read_review(project: DbtProject | None) -> Review:
    """What the review file of a project says; nothing where there is none.

    Raises:
        FileError: the file cannot be read.
        PolicyError: it says something else than a review does.
    """
    file = None if project is None else project.directory / FILE
    if file is None or not file.exists():
        return Review()
    data = _load(file)
    if not set(data) <= set(_SECTIONS):
        raise _refused(file, f"it must have no more than {', '.join(_SECTIONS)}, found {data!r}")
    for key in ("reviewed", "waived"):
        if not isinstance(data.get(key) or [], list):
            raise _refused(file, f"{key} must be a list")
    entries = tuple(_entry(file, each) for each in data.get("reviewed") or ())
    return Review(entries, tuple(_waiver(file, each) for each in data.get("waived") or ()))


def _load(file: Path) -> Any:
    return read_settings(file, ", ".join(_SECTIONS), _REMEDY)


def _refused(file: Path, law: str) -> PolicyError:
    return PolicyError((Problem(str(file), 0, 0, "", law, _REMEDY),))


def _entry(file: Path, data: Any) -> ReviewedCode:
    kinds = [kind for kind in KINDS if isinstance(data, dict) and kind in data]
    if len(kinds) != 1:
        raise _refused(file, f"an entry of reviewed names one of {', '.join(KINDS)}, found {data}")
    kind = kinds[0]
    version = ("version",) if kind == PACKAGE else ()
    told, until = _told(file, data, (kind, "digest"), (*version, "text", "given"))
    return ReviewedCode(
        kind, told[kind], told["digest"], told["who"], told["why"], until,
        _names(file, data, "given"), told.get("version", ""), told.get("text", ""),
    )  # fmt: skip


def _waiver(file: Path, data: Any) -> Waiver:
    if not isinstance(data, dict):
        raise _refused(file, f"a waiver is a mapping of code, about, who, why, until, found {data}")
    told, until = _told(file, data, ("code", "about"), ("from",))
    if told["code"] not in RULES:
        raise _refused(file, f"the code of a waiver is one of the gate's, found {told['code']}")
    origins = frozenset(_names(file, data, "from"))
    return Waiver(told["code"], told["about"], told["who"], told["why"], until, origins)


def _names(file: Path, data: Mapping[str, object], key: str) -> tuple[str, ...]:
    found = data.get(key) or []
    if not isinstance(found, list):
        raise _refused(file, f"{key} must be a list of names, found {found!r}")
    return tuple(map(str, found))


def _told(
    file: Path, data: Mapping[str, object], keys: tuple[str, ...], optional: tuple[str, ...] = ()
) -> tuple[dict[str, str], date]:
    """The texts of an entry, and until when it holds."""
    needed = (*keys, "who", "why", "until")
    unknown = [str(key) for key in data if key not in (*needed, *optional)]
    missing = [key for key in needed if not str(data.get(key) or "").strip()]
    if unknown or missing:
        wrong = f"has no {missing[0]}" if missing else f"has the unknown key {unknown[0]}"
        raise _refused(file, f"the entry {dict(data)} {wrong}")
    told = {key: str(each).strip() for key, each in data.items()}
    try:
        return told, date.fromisoformat(told["until"])
    except ValueError:
        law = f"until must be a day, as in 2027-06-30, found {data['until']}"
        raise _refused(file, law) from None


# Findings


def unreviewed(
    codes: Iterable[Code], review: Review, project: DbtProject | None, today: date
) -> Iterator[GateFinding]:
    """A finding for each piece of code that nobody has read as it is."""
    for code in codes:
        why = review.missing(code, today)
        if why:
            place = " and replaces that of dbt" if code.in_place else ""
            place += " and may put another name together in another run" if code.is_made_up else ""
            said = f"the {code.label} {why}{place}{code.what_is_given}"
            file, line = place_of(code, project)
            names = (code.label, code.digest)
            yield finding(code.rule, said, file, line, names=names)


def place_of(code: Code, project: DbtProject | None) -> tuple[str, int]:
    """The file and the line where the first words of a piece of code stand; line 0 for none."""
    if project is None or code.kind in {PACKAGE, AUDIENCE}:
        return code.file, 0
    words = code.texts[0].strip().split("\n")[0].strip()[:40]
    for name in (code.file, "dbt_project.yml"):
        lines = read(project.directory / name).split("\n")
        line = next((number for number, each in enumerate(lines, 1) if words in each), 0)
        if line:
            return name, line
    return code.file, 0


def version_of(package: str, project: DbtProject) -> str:
    """The version of an installed package, as it says itself; '' where it does not."""
    try:
        found = read_settings(project.packages / package / "dbt_project.yml")
    except (FileError, PolicyError):
        return ""
    return str(found.get("version") or "")


def entry_of(code: Code, project: DbtProject, who: str, why: str, until: date) -> ReviewedCode:
    """That somebody has read a piece of code as it is."""
    version = version_of(code.name, project) if code.kind == PACKAGE else ""
    lines = "\n".join(code.lines) + "\n"
    return ReviewedCode(
        code.kind, code.name, code.digest, who, why, until, code.given, version, lines
    )


def changes(code: Code, review: Review) -> tuple[str, ...]:
    """The lines of a piece of code that are others than were read of it last; none where it is new.

    They begin with + or -, and what stands beside them with a blank.
    """
    last = review.last(code)
    if last is None:
        return ()
    was = (*last.lines.strip().split("\n"), *(f"given: {each}" for each in last.given))
    now = (*code.lines, *(f"given: {each}" for each in code.given))
    return tuple(unified_diff(was, now, n=1, lineterm=""))[2:]


def write(entries: Iterable[ReviewedCode], project: DbtProject) -> None:
    """Write entries into the review file, in the place of those of their names.

    Raises:
        FileError: the file cannot be read or written.
        PolicyError: it is no YAML, or no mapping.
    """
    entries, file = tuple(entries), project.directory / FILE
    if not entries:
        return
    # With its comments, once it is known to be one.
    data: Any = YAML().load(text_in(file)) if file.exists() and _load(file) else {"version": 1}
    there = data.get("reviewed")
    if not isinstance(there, list):
        there = data["reviewed"] = []
    for entry in entries:
        there[:] = [each for each in there if each.get(entry.kind) != entry.name]
        version = {"version": entry.version} if entry.version else {}
        given = {"given": list(entry.given)} if entry.given else {}
        said = {"who": entry.who, "why": entry.why, "until": entry.until}
        said |= {"text": LiteralScalarString(entry.lines)}
        there.append({entry.kind: entry.name, **version, "digest": entry.digest, **given, **said})
    out, yaml = StringIO(), YAML()
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.width = 100
    yaml.representer.ignore_aliases = lambda _: True
    yaml.dump(data, out)
    change = changed(file, out.getvalue())
    if change is not None:
        apply([change])
