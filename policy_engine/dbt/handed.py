"""What a template hands to a package's macro that runs statements while dbt renders it.

A macro of a package is reviewed once, as a package, and not what the project has it run: a query
that is handed to it is the project's own. What is known to ask nothing else needs no reading: refs
and sources, which are edges, and plain words, numbers and dates, as of columns. All else is read by
a person: a text of SQL, a name of a table, a text that is put together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policy_engine.dbt.lexing import words
from policy_engine.dbt.manifest import words_in
from policy_engine.dbt.texts import CALLED, REF, SOURCE, STRINGS, code_in
from policy_engine.values import frozen

_ASKS = words("""
    attach call copy create delete describe drop exec execute export from insert into join lateral
    merge pragma select set show table union update values with
""")
"""The words of a statement that reads something, or does something."""
_FUNCTIONS = words("""
    cast coalesce count current_date date date_add date_trunc dateadd datediff lower max min now sum
    timestamp to_date trim upper
""")
"""Functions that read no table, whatever they are given."""
_SIGNS = re.compile(r"[\"`\[\]{};]|--|/\*|\|\||(?<!\d)\.|\.(?!\d)")
"""What names in parts, quoted names, comments and texts that are put together have."""
_PLAIN_CODE = re.compile(r"(?:[\w\s,()\[\]=]|(?<=\w)\.(?=\w)|-(?=\d))*")
_VARIABLE = re.compile(r"(?<![\w.])([A-Za-z_]\w*)(?!\w|\s*[=(.])")
_CONSTANTS = words("true false none this")
_DEPTH = 8


@frozen
class Packages:
    """The macros of packages: ``running`` those that run statements, ``reading`` those of them that
    put what they are given behind FROM; by package and name, in lower case. ``sensitive`` are the
    names of sensitive tables.
    """

    names: frozenset[str]
    running: frozenset[tuple[str, str]]
    reading: frozenset[tuple[str, str]]
    sensitive: frozenset[str]


def hands_over(template: str, packages: Packages) -> bool:
    """Whether a template hands to a macro that runs statements what a person has to read.

    >>> utils = {("dbt_utils", "get_single_value")}
    >>> packages = Packages(frozenset({"dbt_utils"}), frozenset(utils), frozenset(), frozenset())
    >>> hands_over("{{ dbt_utils.get_single_value('select ' ~ x) }}", packages)
    True
    >>> hands_over("{{ dbt_utils.get_single_value(ref('days'), 'day') }}", packages)
    False
    """
    code = code_in(template)
    if not packages.names & words_in(code):
        return False
    bare = STRINGS.sub("''", code)
    named = "|".join(sorted(map(re.escape, packages.names)))
    if re.search(rf"(?<![\w.'])(?:{named})\b(?!\s*\.\s*\w+\s*\()", bare, re.IGNORECASE):
        return True  # a macro by another name, or looked up
    texts = " ".join(STRINGS.findall(code))
    if "dispatch" in words_in(bare) and packages.names & words_in(texts):
        return True
    given = {name.lower(): expression for name, expression in _set_in(code)}
    for package, name, arguments in _calls(code, named):
        macro = (package.lower(), name.lower())
        if macro in packages.running and not _is_plain(arguments, given, macro, packages):
            return True
    return False


def _set_in(code: str) -> Iterator[tuple[str, str]]:
    """What a template calls by a name; a name of two meanings, or of a block, has none."""
    found: dict[str, str | None] = {}
    for match in CALLED.finditer(code):
        name = (match["name"] or match["each"]).lower()
        found[name] = match["value"] if name not in found else None
    yield from ((name, value) for name, value in found.items() if value is not None)


def _calls(code: str, named: str) -> Iterator[tuple[str, str, str]]:
    """The calls of packages' macros: package, name, and what stands in the brackets."""
    for match in re.finditer(rf"(?<![\w.])({named})\s*\.\s*(\w+)\s*\(", code, re.IGNORECASE):
        yield match[1], match[2], _within(code, match.end())


def _within(code: str, start: int) -> str:
    """What stands from a place to the bracket that closes; all the rest where none does."""
    depth, place = 1, start
    while place < len(code):
        text = STRINGS.match(code, place)
        if text is not None:
            place = text.end()
            continue
        depth += {"(": 1, ")": -1}.get(code[place], 0)
        if depth == 0:
            return code[start:place]
        place += 1
    return code[start:]


def _is_plain(
    written: str,
    given: Mapping[str, str],
    macro: tuple[str, str],
    packages: Packages,
    depth: int = 0,
) -> bool:
    """Whether what is handed over is refs, plain words, numbers and dates alone."""
    rest = SOURCE.sub(" this ", REF.sub(" this ", written))
    texts = [each[1:-1] for each in STRINGS.findall(rest)]
    code = STRINGS.sub(" ", rest)
    if _PLAIN_CODE.fullmatch(code) is None or not all(_asks_nothing(t, packages) for t in texts):
        return False
    called = {name.lower() for name in re.findall(r"([\w.]+)\s*\(", code)}
    if not all(name.partition(".")[0] in {*packages.names, "dbt", "range"} for name in called):
        return False
    variables = {name.lower() for name in _VARIABLE.findall(code)} - _CONSTANTS
    has_relation = "this" in words_in(code)
    for name in variables:
        value = given.get(name)
        if value is None or depth == _DEPTH:
            return False
        if not _is_plain(value, given, ("", ""), packages, depth + 1):
            return False
        has_relation = has_relation or bool(REF.search(value) or SOURCE.search(value))
    # Without a relation a plain word is the name of one, where the macro reads what it is given.
    return has_relation or not texts or macro not in packages.reading


def _asks_nothing(text: str, packages: Packages) -> bool:
    said = words_in(text)
    called = {name.lower() for name in re.findall(r"(\w+)\s*\(", text)}
    return not (said & (_ASKS | packages.sensitive) or called - _FUNCTIONS or _SIGNS.search(text))
