"""A release in the forms of others: their own schemas take it, and nothing is made up."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from export_world import TOWN, exported, in_folder, make_world
from jsonschema import Draft201909Validator
from ruamel.yaml import YAML

from policy_engine.report.exports.claims import at_least

FORMS = ("registry", "nist", "odcs", "dbt")
LAWS = ("sampled", "noisy", "answers", "tuples")
#: The fields of the registry's schema at 3e9c812, by section.
REGISTRY = {
    "basic": "name data_curators intended_use data_product_type data_product_region description"
    " publication_date data_product_sector",
    "dp_variant": "variant_name data_domain unprotected_quantities",
    "privacy_loss": "privacy_unit privacy_unit_details privacy_parameters"
    " privacy_parameters_details",
    "deployment_model": "model_name model_name_details actors release_type release_type_details"
    " data_source_type data_source_type_details access_type access_type_details",
    "accounting": "post_processing composition",
    "implementation": "preprocessing_and_hyperparameter_tuning mechanisms justification",
    "administrative": "sources notes registry_authors",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Releases of whose authors everything is said, in hostile words."""
    folder = tmp_path_factory.mktemp("exports")
    make_world(folder)
    return folder


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Releases of whose authors nothing is said."""
    folder = tmp_path_factory.mktemp("silent")
    make_world(folder, None)
    return folder


def loaded(text: str) -> dict[str, Any]:
    return YAML(typ="safe").load(text)


@pytest.mark.parametrize("form", FORMS)
def test_no_export_holds_a_character_that_hides_and_each_is_the_same_twice(
    world: Path, form: str
) -> None:
    text = exported(world, "noisy", form)
    assert "\u202e" not in text
    assert exported(world, "noisy", form) == text


def test_the_registry_knows_every_field_and_those_that_are_missing_are_named(
    silent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = exported(silent, "sampled", "registry")
    asked = re.findall(r"^not stated: (\w+); (.*)$", capsys.readouterr().err, re.MULTILINE)
    document = loaded(text)
    known = {name for names in REGISTRY.values() for name in names.split()}
    stated = set()
    for section, fields in document["deployment"].items():
        assert set(fields) <= set(REGISTRY[section].split())
        stated |= set(fields)
    assert {name for name, _ in asked} == known - stated
    assert len(known) == 32
    remedies = dict(asked)
    assert remedies["intended_use"] == "write 'purpose' in the policy"
    assert remedies["justification"] == "write 'about.justification' in the policy"
    assert "'about.access'" in remedies["actors"]
    assert remedies["data_product_region"] == "write 'about.region' in the policy"
    assert remedies["data_product_sector"] == "write 'about.sector' in the policy"
    assert all(f"# not stated: {name}; {remedy}" in text for name, remedy in asked)
    assert (document["status"], document["tier"]) == ("Draft", 1)


def test_the_registry_says_of_each_law_what_it_leaves_open_and_what_is_computed(
    world: Path,
) -> None:
    found = {name: loaded(exported(world, name, "registry"))["deployment"] for name in LAWS}
    opened = {name: each["dp_variant"]["unprotected_quantities"] for name, each in found.items()}
    assert "without noise" in opened["sampled"]
    assert "noisy numbers" in opened["noisy"]
    assert "how many people are in the source" in opened["answers"]
    assert "list of combinations" in opened["tuples"]
    after = {name: each["accounting"]["post_processing"] for name, each in found.items()}
    assert "a noisy sum and a noisy count: pay" in after["noisy"]
    assert len({*after.values()}) == len({*opened.values()}) == len(LAWS)
    names = [each["dp_variant"]["variant_name"] for each in found.values()]
    assert names == ["Approximate DP", "Approximate DP", "Pure DP", "Pure DP"]
    kinds = [each["basic"]["data_product_type"] for each in found.values()]
    assert kinds == ["Summary statistics"] * 3 + ["Dataset"]


@pytest.mark.parametrize("form", ["registry", "nist"])
@pytest.mark.parametrize("name", LAWS)
def test_no_epsilon_stands_without_its_delta_and_unit(world: Path, name: str, form: str) -> None:
    text = exported(world, name, form)
    found = re.findall(r"ε = \S+(.*?)(?=ε = |$)", text, re.MULTILINE)
    assert found
    assert all(re.match(r",? δ = \S+, unit: row", each) for each in found)


def test_a_number_of_the_registry_is_never_smaller_than_the_certificates() -> None:
    for text in ("0.1000000000000000056", "2.6317834665e-11", "1e-400", "3"):
        assert Fraction(at_least(text)) >= Fraction(text)
    assert at_least("1e-400") > 0


def test_markdown_of_the_registry_and_the_checklist_has_no_link_or_tag_of_others(
    world: Path,
) -> None:
    for form in ("registry", "nist"):
        text = exported(world, "sampled", form)
        assert "<script>" not in text.replace("\\<script\\>", "")
        assert "[x](" not in text.replace("\\[x\\](", "")


def test_the_checklist_ticks_what_is_stated_and_nothing_else(world: Path, silent: Path) -> None:
    told, bare = (exported(each, "sampled", "nist") for each in (world, silent))
    ticks = [
        set(re.findall(r"^- \[x\] \*\*(.*?)\*\*", each, re.MULTILINE)) for each in (told, bare)
    ]
    by_author = {
        "Purpose", "Who receives it, 4.2", "Why these numbers, 2.3",
        "Interactive access; security and access, 4.4",
    }  # fmt: skip
    assert ticks[0] - ticks[1] == by_author
    assert ticks[1] < ticks[0]
    assert "- [ ] **Trust that does not hold**: not stated; say who confirmed" in told
    assert "Subsampling alone, 3.2" in ticks[0]
    assert "Subsampling" not in exported(world, "noisy", "nist")


def test_without_a_ledger_composition_is_not_stated(
    world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = world / ".policy-engine" / "signing.pub"
    for name in ("noisy.certificate.json", "noisy.parquet"):
        (tmp_path / name).write_bytes((world / name).read_bytes())
    words = ("noisy.certificate.json", "--release", "noisy.parquet", "--key", str(key))
    assert in_folder(tmp_path, "report", *words, "--format", "nist") == 0
    done = capsys.readouterr()
    line = "Composition with other releases, 2.2"
    assert (
        f"- [ ] **{line}**: not stated; export in the project that has the account's ledger"
        in done.out
    )
    assert f"not stated: {line}; " in done.err


@pytest.mark.parametrize("name", LAWS)
def test_the_schema_of_odcs_takes_the_contract(world: Path, silent: Path, name: str) -> None:
    schema = json.loads(files("open_data_contract_standard").joinpath("schema.json").read_text())
    for folder in (world, silent):
        document = loaded(exported(folder, name, "odcs"))
        assert not [*Draft201909Validator(schema).iter_errors(document)]
        [relation] = document["schema"]
        assert relation["properties"][1]["name"] == TOWN
        kinds = {each["name"]: each["logicalType"] for each in relation["properties"]}
        assert kinds["age"] == kinds[TOWN] == "string"
        assert (kinds.get("n", "integer"), kinds.get("pay", "number")) == ("integer", "number")
        said = {each["name"]: each.get("description", "") for each in relation["properties"]}
        assert bool(said.get("n", "people")) is bool(said.get("pay", "mean")) is True
    assert [*Draft201909Validator(schema).iter_errors({**document, "apiVersion": "v9"})]


def test_a_contract_says_what_each_number_is(world: Path) -> None:
    said = {}
    for name in ("sampled", "noisy"):
        [relation] = loaded(exported(world, name, "odcs"))["schema"]
        said |= {(name, each["name"]): each.get("description") for each in relation["properties"]}
    assert said["sampled", "n"].startswith("n counts people of a sample, which each person")
    assert "n / 0.2 estimates the group in the source" in said["sampled", "n"]
    assert said["noisy", "n"].startswith("n is how many people of the source are in the group")
    assert said["noisy", "pay"].startswith(
        "pay is the mean of pay over the people, a missing value as 0"
    )
    made = loaded(exported(world, "noisy", "registry"))["deployment"]
    assert "pay is the mean of pay" in made["basic"]["description"]
    assert "pay is the mean of pay" in made["implementation"]["mechanisms"]


def test_an_exposure_has_who_releases_as_its_owner_where_no_contact_is_stated(
    silent: Path,
) -> None:
    before = exported(silent, "noisy", "dbt")
    assert "# not stated: owner; write 'about.contact' in the policy, or say whose the" in before
    ring = silent / ".policy-engine" / "keys.json"
    nobodys = ring.read_text()
    ring.write_text(nobodys.replace('"note": ""', '"note": "Ada"'))
    [exposure] = loaded(exported(silent, "noisy", "dbt"))["exposures"]
    assert exposure["owner"] == {"name": "Ada"}
    ring.write_text(nobodys)


def test_a_certificate_that_does_not_hold_is_not_exported(
    world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "noisy.parquet"
    bad.write_bytes((world / "sampled.parquet").read_bytes())
    for form in FORMS:
        out = tmp_path / f"x.{form}.md"
        words = ("noisy.certificate.json", "--release", str(bad), "--format", form)
        assert in_folder(world, "report", *words) == 1
    assert not out.exists()
    done = capsys.readouterr()
    assert not done.out
    assert "SHA-256" in done.err


def test_what_was_not_looked_at_is_exported_with_exit_code_4(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("report", "noisy.certificate.json", "--format", "dbt")
    assert in_folder(world, *words) == 4
    assert loaded(capsys.readouterr().out)["exposures"][0]["name"] == "noisy"


def test_what_an_export_is_made_of_is_never_replaced_by_it(world: Path) -> None:
    certificate = world / "noisy.certificate.json"
    before = certificate.read_bytes()
    out = ("-o", "./noisy.certificate.json", "--replace")
    assert in_folder(world, "report", "noisy.certificate.json", *out) == 2
    policy = ("--policy", "noisy.yaml", "-o", "noisy.yaml", "--replace", "--format", "odcs")
    assert in_folder(world, "report", "noisy.certificate.json", *policy) == 2
    assert certificate.read_bytes() == before


def test_no_export_is_made_of_evidence_that_does_not_hold(world: Path) -> None:
    from policy_engine.attest.keys import TrustedKeys, load_public_key
    from policy_engine.report.evidence import Named, gather
    from policy_engine.report.exports.fields import ExportSource
    from policy_engine.report.view import view

    path = world / "sampled.certificate.json"
    keys = TrustedKeys.of(load_public_key(world / ".policy-engine" / "signing.pub"))
    refused = replace(gather(Named(path, path.read_text(), keys)), verified=None)
    with pytest.raises(ValueError, match="does not hold"):
        ExportSource.of(refused, view(refused))
