"""A document written as YAML, in whatever style, is read back as the same document."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from io import StringIO
from pathlib import Path

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from policy_schemas import json_schema
from ruamel.yaml import YAML

from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.models import PolicyDocument
from policy_engine.policy.reading import read_document

VALIDATOR = Draft202012Validator(json_schema())

# What YAML can print without an escape; control characters are another test's.
texts = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn", "Zl", "Zp"]), max_size=20)
lines = texts.filter(str.strip).filter(lambda found: "\ufeff" not in found)
names = st.from_regex(r"[A-Za-z][A-Za-z0-9_.\-]{0,20}", fullmatch=True)
integers = st.integers(1, 10**6)
numbers = st.decimals(Decimal("0.001"), 1000, places=3)
shares = st.decimals(Decimal("0.000001"), Decimal("0.999999"), places=6)
labels = texts.filter(lambda found: "\ufeff" not in found)
dates = st.dates().map(lambda found: found.isoformat())


def bins(cuts: st.SearchStrategy) -> st.SearchStrategy:
    """Cuts that ascend, with labels or without."""
    ascending = st.lists(cuts, min_size=1, max_size=5, unique=True).map(sorted)

    def with_labels(found: list) -> st.SearchStrategy:
        size = len(found) + 1
        some = st.lists(labels, min_size=size, max_size=size, unique=True)
        return st.one_of(
            st.just({"bins": found}), some.map(lambda texts: {"bins": found, "labels": texts})
        )

    return ascending.flatmap(with_labels)


recodings = st.one_of(
    st.just("keep"),
    bins(numbers),
    bins(st.integers(-1000, 1000)),
    bins(dates),
    st.fixed_dictionaries(
        {
            "map": st.dictionaries(labels, st.none() | labels, min_size=1, max_size=4),
            "other": st.none() | labels,
        }
    ),
    st.fixed_dictionaries({"prefix": integers}),
    st.sampled_from(["year", "week", "hour"]).map(lambda unit: {"truncate": unit}),
    numbers.map(lambda step: {"round": step}),
    labels.map(lambda value: {"constant": value}),
)
places = st.tuples(st.sampled_from(["file", "table"]), lines)
kept = st.just("any") | lines.map(lambda column: {"first_by": [column]})
units = st.just("row") | st.fixed_dictionaries({"column": lines, "rows": kept}).filter(
    lambda unit: unit["rows"] == "any" or unit["column"] not in unit["rows"]["first_by"]
)


priors = st.one_of(
    st.fixed_dictionaries(
        {"people": st.integers(10**6, 10**9), "groups": integers},
        optional={"exponent": st.decimals(0, 10, places=2)},
    ),
    st.dictionaries(integers.map(str), integers, min_size=1, max_size=4).map(
        lambda sizes: {"sizes": sizes}
    ),
)
choices = st.fixed_dictionaries(
    {"maximise": st.sampled_from(["people", "groups"]), "prior": priors}
)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, object]:
    """A good policy."""
    columns = draw(
        st.lists(
            lines.filter(lambda name: name.casefold() != "n"),
            min_size=1,
            max_size=4,
            unique_by=str.casefold,
        )
    )
    place, source = draw(places)
    if place == "file":
        source = re.sub(r"[*?\[:{}]", "", source) + ".csv"
    unit = draw(units)
    if isinstance(unit, dict):  # who is released as a group of their own is refused
        assume(unit["column"].casefold() not in map(str.casefold, columns))
    document: dict[str, object] = {
        "version": 1,
        "name": draw(names),
        "source": {place: source, "sampled_at": draw(shares)},
        "privacy_unit": unit,
        "recode": {column: draw(recodings) for column in columns},
        "sample": {"rate": draw(shares), "method": draw(st.sampled_from(["keyed", "native"]))},
        "k": draw(st.integers(2, 10**6)),
        "guarantee": {"epsilon": draw(numbers), "delta": draw(shares)},
        "release": {
            place: (re.sub(r"[{}]", "", source) or "a") + ".out.parquet",
            "as": draw(st.sampled_from(["counts", "rows"])),
        },
    }
    if draw(st.booleans()):
        document["description"] = draw(labels)
        document["account"] = draw(lines)
    return document


class _Number(float):
    """A float that JSON prints as the text of a decimal."""

    def __init__(self, exact: Decimal) -> None:
        self.exact = exact

    def __repr__(self) -> str:
        return str(self.exact)


def plain(found: object, number: object = float) -> object:
    """The document with its decimals as another type."""
    if isinstance(found, dict):
        return {key: plain(value, number) for key, value in found.items()}
    if isinstance(found, list):
        return [plain(value, number) for value in found]
    return number(found) if isinstance(found, Decimal) else found


def as_json(document: object, *, ascii_only: bool) -> str:
    """JSON, which is YAML 1.2, with decimals as they are."""
    marked = plain(document, lambda exact: f"\u2063{exact}\u2063")
    text = json.dumps(marked, ensure_ascii=ascii_only)
    mark = "\\u2063" if ascii_only else "\u2063"
    return text.replace(f'"{mark}', "").replace(f'{mark}"', "")


def as_block_yaml(document: object) -> str:
    """YAML in block style, plain scalars wherever ruamel thinks they are safe."""
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.allow_unicode = True
    yaml.sort_base_mapping_type_on_output = False
    yaml.representer.add_representer(
        Decimal, lambda made, exact: made.represent_scalar("tag:yaml.org,2002:float", f"{exact:f}")
    )
    stream = StringIO()
    yaml.dump(document, stream)
    return stream.getvalue()


def read(text: str) -> PolicyDocument:
    return read_document(text, Path("p.yaml"), PolicyDocument, "policy").result()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents())
def test_what_is_written_is_read(document):
    meant = PolicyDocument.model_validate(document)
    for text in (
        as_json(document, ascii_only=False),
        as_json(document, ascii_only=True),
        as_block_yaml(document),
    ):
        found = read(text)
        assert found == meant
        assert list(found.recode) == list(document["recode"])
    VALIDATOR.validate(plain(document))


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents(), choices)
def test_a_choice_that_is_written_is_read(document, choice):
    document |= {"k": "auto", "sample": {"rate": "auto"}, "auto": choice}
    meant = PolicyDocument.model_validate(document)
    assert meant.auto is not None
    for text in (as_json(document, ascii_only=True), as_block_yaml(document)):
        assert read(text) == meant
    VALIDATOR.validate(plain(document))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents())
def test_style_does_not_change_the_policy(document):
    one = load_policy_text(as_json(document, ascii_only=True), "p.yaml", "/d")
    two = load_policy_text(as_block_yaml(document), "p.yaml", "/d")
    assert one == two
    assert one.columns == tuple(document["recode"])
