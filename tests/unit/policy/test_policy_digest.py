"""The digest: the same for every way to write a policy, another for every other policy."""

from __future__ import annotations

from decimal import Decimal

import pytest

from policy_engine.policy.models import PolicyDocument, canonical_json, digest, scalar_text

UNIT = {"column": "p", "rows": {"first_by": ["v desc"]}}
DOCUMENT = {
    "version": 1,
    "name": "p",
    "source": {"file": "a.parquet"},
    "privacy_unit": UNIT,
    "recode": {
        "b": {"bins": ["2020-01-01"]},
        "a": "keep",
        "m": {"map": {"y": "1", "x": None}, "other": None},
        "h": {"hierarchy": "h.csv", "level": 1},
    },
    "sample": {"rate": "auto"},
    "k": 20,
    "guarantee": {"epsilon": 1, "delta": Decimal("1.0e-9")},
    "release": {"file": "b.parquet", "as": "rows"},
}


def test_the_golden_digest():
    document = PolicyDocument.model_validate(DOCUMENT)
    assert canonical_json(document, {"h": "sha256:00"}) == (
        '{"hierarchies":{"h":"sha256:00"},"policy":{"guarantee":{"delta":"0.000000001",'
        '"epsilon":"1"},"k":20,"name":"p","privacy_unit":{"column":"p",'
        '"rows":{"first_by":["v desc"]}},"recode":[["b",{"bins":["2020-01-01"],'
        '"labels":["<2020-01-01",">=2020-01-01"]}],["a","keep"],'
        '["m",{"map":{"x":null,"y":"1"},"other":null}],["h",{"hierarchy":"h.csv","level":1}]],'
        '"release":{"as":"rows","file":"b.parquet"},"sample":{"rate":"auto"},"source":'
        '{"file":"a.parquet"},"version":1}}'
    )
    assert digest(document, {"h": "sha256:00"}) == (
        "sha256:6a30963372d03bf5c9b1a32ff3d6a718e3ccb98f588372e991d5d5848817e4e6"
    )


@pytest.mark.parametrize(
    "lines",
    [
        {"sample": "sample:\n  # a comment\n  rate: 0.100"},
        {"guarantee": "guarantee: {delta: 0.000000001, epsilon: 5e-1}"},
        {"sample": "sample: {rate: 0.1, method: keyed}", "grouping": "grouping: auto"},
        {"source": "source: {file: 'a.parquet', sampled_at: 1.00}\nprivacy_unit: row"},
        {"description": "description: ''"},
        {"source": "source: {file: ./a.parquet/}\nprivacy_unit: row"},
        {"release": "release: {file: .//b.parquet}"},
    ],
)
def test_what_does_not_matter(load, lines):
    assert load(**lines).digest == load().digest


def test_the_order_of_keys_and_of_maps_does_not_matter(load, text, tmp_path):
    from policy_engine.policy.loading import load_policy_text

    backwards = "\n".join(reversed(text().splitlines()))
    assert load_policy_text(backwards, "q", tmp_path).digest == load().digest
    one = load(recode="recode: {c: {map: {a: x, b: y}, other: z}}")
    two = load(recode="recode: {c: {other: z, map: {b: y, a: x}}}")
    assert one.digest == two.digest


@pytest.mark.parametrize(
    "lines",
    [
        {"k": "k: 21"},
        {"k": "k: 2000"},
        {"description": "description: x"},
        {"budget": "account: a.parquet"},
        {"recode": "recode: {Age: keep}"},
        {"recode": "recode: {age: keep, b: keep}"},
        {"grouping": "grouping: recoded"},
        {"source": "source: {table: a.parquet}\nprivacy_unit: row"},
        {"source": "source: {file: a.parquet, columns: {age: text}}\nprivacy_unit: row"},
        {"release": "release: {file: b.parquet}\ncount: {people: m}"},
        {"guarantee": "guarantee: {epsilon: 0.5, delta: 1.0e-9, neighbours: replace_one}"},
    ],
)
def test_what_matters(load, lines):
    assert load(**lines).digest != load().digest


def test_the_order_of_columns_and_the_labels_of_bins_matter(load):
    digests = {
        load(recode=f"recode: {{{recode}}}").digest
        for recode in (
            "a: keep, b: keep",
            "b: keep, a: keep",
            "a: {bins: [1]}",
            "a: {bins: [1.0]}",
            "a: {bins: [1], labels: [x, y]}",
        )
    }
    assert len(digests) == 5
    assert (
        load(recode="recode: {a: {bins: [1]}}").digest
        == load(recode="recode: {a: {bins: [1], labels: ['<1', '>=1']}}").digest
    )


def test_the_bytes_of_a_hierarchy_matter(load, tmp_path):
    recode = "recode: {c: {hierarchy: h.csv, level: 1}}"
    (tmp_path / "h.csv").write_text("a;x\n")
    before = load(recode=recode).digest
    (tmp_path / "h.csv").write_text("a;y\n")
    assert load(recode=recode).digest != before


AUTO = {"sample": "sample: {rate: auto}", "k": "k: auto"}
ZIPF = "auto: {maximise: people, prior: {people: 900, groups: 9}}"


@pytest.mark.parametrize(
    "auto",
    [
        "auto: {prior: {groups: 9, people: 900, exponent: 1.0}, maximise: people}",
        "auto:\n  maximise: people\n  # a comment\n  prior:\n    people: 900\n    groups: 9",
    ],
)
def test_what_does_not_matter_to_a_choice(load, auto):
    assert load(**AUTO, auto=auto).digest == load(**AUTO, auto=ZIPF).digest


def test_what_a_pair_is_chosen_for_matters(load):
    written = [
        "description: ''",
        ZIPF,
        "auto: {maximise: groups, prior: {people: 900, groups: 9}}",
        "auto: {maximise: people, prior: {people: 901, groups: 9}}",
        "auto: {maximise: people, prior: {people: 900, groups: 9, exponent: 0.5}}",
        "auto: {maximise: people, prior: {sizes: {100: 9}}}",
    ]
    assert len({load(**AUTO, auto=auto).digest for auto in written}) == len(written)


def test_only_numbers_and_dates_have_a_text():
    with pytest.raises(TypeError, match="no canonical text for float"):
        scalar_text(0.1)
