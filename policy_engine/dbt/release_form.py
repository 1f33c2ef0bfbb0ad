"""The one form that the template of a release has, and the texts that it becomes.

A comment, a config, and ``is_incremental()`` between the empty select and the release. Within the
release stand refs, sources and the calls that ``sync`` writes, and nothing else: what such a
template becomes is plain, on every target and every day.
"""

from __future__ import annotations

import re

from policy_engine.dbt.manifest import Manifest, Node
from policy_engine.dbt.sources import read_wanted
from policy_engine.dbt.texts import opens
from policy_engine.values import frozen
from policy_engine.warehouse.quoting import quoted

_TEXT = r"'[^']*'|\"[^\"]*\""
_ELSE, _END = r"\{%-?\s*else\s*-?%\}", r"\{%-?\s*endif\s*-?%\}"
_COMMENT = r"\{#(?:(?!#\}).)*#\}"
_CONFIG = rf"\{{\{{-?\s*config\((?:{_TEXT}|[^'\")])*\)\s*-?\}}\}}"
_EDITION = r"\{%-?\s*set edition = policy_engine\.edition\([^(){}]*\)\s*-?%\}"
_HEAD = rf"\s*(?:{_COMMENT}\s*)*(?:{_CONFIG}\s*)?(?P<anew>{_EDITION}\s*)?"


_ASKED = r"\{%-?\s*if\s+is_incremental\(\)(?(anew) and not edition\[0\])\s*-?%\}"
_FORM = re.compile(rf"{_HEAD}{_ASKED}(?P<noop>.*?){_ELSE}(?P<body>.*){_END}\s*", re.DOTALL)
_EXPRESSION = re.compile(r"\{\{ (?P<said>.*?) \}\}", re.DOTALL)
_SALTS = re.compile(r"policy_engine\.salts\('([^']+)'\)")
_CALL = re.compile(
    r"\{% call policy_engine\.(in_sample|secret|noise)\([^(){}]*\) %\}(.*?)\{% endcall %\}",
    re.DOTALL,
)
_EMPTY = {"in_sample": "false", "secret": "''"}
"""What a call becomes where nothing is released, if not its own text."""
_ALL_SHOWN = re.compile(r"\{\{ policy_engine\.all_shown\(edition\[0\], '(where|having)'\) \}\}")
_OPENS = '"{"'
_ANEW = re.compile(r"edition\[[0-9]+\] or '([^']*)'")
_ANEW_CALL = re.compile(rf"\{{\{{ {_ANEW.pattern} \}}\}}")
_HOLE = "\0"


@frozen
class ReleaseForm:
    """What a release becomes: where it stands, where it is drawn, where nobody is in its sample.

    ``any_edition`` matches what is drawn of each edition, where it has several.
    """

    stands: str
    drawn: str
    empty: str
    any_edition: re.Pattern[str] | None = None


def release_form(node: Node, manifest: Manifest) -> ReleaseForm | None:
    """The texts of a release's template; None where it has another form.

    >>> raw = "{% if is_incremental() %}select 1{% else %}select 2{% endif %}"
    >>> from pathlib import Path
    >>> release_form(Node("m", {"raw_code": raw}), Manifest(Path("m"), "", "", "", "", {}))
    ReleaseForm(stands='select 1', drawn='select 2', empty='select 2', any_edition=None)
    """
    found = _FORM.fullmatch(node.raw)
    if found is None:
        return None
    drawn = _ALL_SHOWN.sub("", _CALL.sub(lambda each: each[2], found["body"]))
    empty = _CALL.sub(lambda each: _EMPTY.get(each[1], each[2]), found["body"])
    empty = _ALL_SHOWN.sub(lambda each: f"{each[1]} false ", empty)
    filled = (_filled(each, node, manifest) for each in (found["noop"], drawn, empty))
    texts = [text for text in filled if text is not None]
    if len(texts) < 3:
        return None
    any_edition = None
    if found["anew"]:
        holed = _filled(_ANEW_CALL.sub(_HOLE, drawn), node, manifest) or ""
        any_edition = re.compile(re.escape(holed).replace(re.escape(_HOLE), "[^']*"))
    return ReleaseForm(texts[0], texts[1], texts[2], any_edition)


def _filled(template: str, node: Node, manifest: Manifest) -> str | None:
    """A template with the relations in the place of its refs; None where it has more."""
    pieces = _EXPRESSION.split(template)
    values = [_value(said, node, manifest) for said in pieces[1::2]]
    known = [value for value in values if value is not None]
    if len(known) < len(values) or any(map(opens, pieces[::2])):
        return None
    pieces[1::2] = known
    return "".join(pieces)


def _value(said: str, node: Node, manifest: Manifest) -> str | None:
    """What an expression becomes, of those that may stand in a release."""
    if said == "this":
        return node.relation
    if said == _OPENS:
        return "{"
    anew = _ANEW.fullmatch(said)
    if anew is not None:
        return anew[1]
    salts = _SALTS.fullmatch(said)
    if salts is not None:
        return quoted(*salts[1].split("."))
    wanted = read_wanted(said)
    found = wanted.node(manifest) if wanted.call != "name" else None
    return found.relation or None if found else None
