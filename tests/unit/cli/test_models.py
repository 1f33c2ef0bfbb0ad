"""Models of a policy: enforced on released cells, at no price, and verified from the release."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.attest.attestation import sign, statement, unverified
from policy_engine.attest.enforcing import filtered
from policy_engine.attest.parquet_file import METADATA_KEY, record_of_file, write_parquet
from policy_engine.attest.signers import signer_of
from policy_engine.attest.validity import moment
from policy_engine.kernel.models import LDiversity, model_from
from policy_engine.measure.measuring import Questions, measure
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import load_project
from policy_engine.releasing.publish import file_digest
from policy_engine.releasing.release import release

from .conftest import Cli, Policies

NOISY = ("sample: {rate: 0.1}\nk: 20", "mechanism: noisy_counts")
DIVERSE = "models: {l_diversity: {of: sex, l: 2}}\nguarantee:"
CLOSE = "models: {t_closeness: {of: age, t: 0.1, distance: ordered}}\nguarantee:"


@pytest.fixture
def uneven(project) -> None:
    """Nobody of 60 or more is female; of the others a third is."""
    ages = [20 + i % 60 for i in range(12_000)]
    sexes = ["male" if age >= 60 or i // 60 % 3 else "female" for i, age in enumerate(ages)]
    pq.write_table(pa.table({"age": ages, "sex": sexes}), project / "people.parquet")


def facts(name: str) -> dict[str, object]:
    return dict(unverified(Path(f"out/{name}.certificate.json").read_bytes()).predicate)


@pytest.mark.parametrize("mechanism", ["noise", "sample", "rows"])
def test_classes_that_break_a_model_are_left_out_at_no_price(
    cli: Cli, policy: Policies, uneven: None, mechanism: str
) -> None:
    change = [NOISY] if mechanism == "noise" else []
    form = ", as: rows" if mechanism == "rows" else ""
    for name, models in (("plain", "guarantee:"), ("diverse", DIVERSE)):
        place = (f"out/{name}.parquet", f"out/{name}.parquet{form}")
        release(load_policy(policy(name, *change, ("guarantee:", models), place)))
    plain, diverse = (pq.read_table(f"out/{n}.parquet").to_pylist() for n in ("plain", "diverse"))
    assert any(row["age"] == ">=60" for row in plain)
    assert {row["age"] for row in diverse} == {"<30", "[30,60)"}
    one, other = facts("plain"), facts("diverse")
    same = ("epsilon", "delta", "k", "rate", "assumptions", "mechanism", "columns")
    assert [one[key] for key in same] == [other[key] for key in same]
    assert list(one["models"]) == []
    assert [dict(each) for each in other["models"]] == [
        {"model": "l_diversity", "of": "sex", "l": "2", "kind": "distinct"}
    ]
    (found,) = measure(Path("out/diverse.parquet"), Questions(("sex",))).tables
    assert found.disclosed[0].distinct == 2
    checked = cli("verify", "out/diverse.certificate.json", "--release", "out/diverse.parquet")
    assert checked.code == 0 and "has distinct 2-diversity of sex" in checked.out
    assert "distinct 2-diversity of sex" in cli("show", "out/diverse.parquet").out


def test_what_a_query_gives_alone_decides_what_stays(policy: Policies, uneven: None) -> None:
    """The filter of the rows of the same release without models is the release with them."""
    path = policy("close", NOISY, ("guarantee:", CLOSE))
    loaded = load_policy(path)
    done = release(loaded)
    left = pq.read_table(done.release)
    again = filtered(left, 2, "n", [model_from(each) for each in facts("close")["models"]])
    assert again.equals(left)
    (found,) = measure(Path(done.release), Questions(("age",))).tables
    assert found.disclosed[0].t_ordered is None or found.disclosed[0].t_ordered <= 0.1


def test_the_same_release_comes_again_at_no_price(cli: Cli, policy: Policies, uneven: None) -> None:
    path = str(policy("a", NOISY, ("guarantee:", DIVERSE)))
    first = cli("release", path, "--format", "json").document
    before = Path("out/a.parquet").read_bytes()
    Path("out/a.parquet").unlink()
    again = cli("release", path, "--format", "json").document
    assert again["repeated"] is True
    assert Path("out/a.parquet").read_bytes() == before
    assert again["ledger"]["entry"] == first["ledger"]["entry"]


def test_a_release_that_breaks_its_stated_model_is_refused(
    cli: Cli, policy: Policies, uneven: None, project: Path
) -> None:
    """Signed by the project's own key: the rows tell."""
    release(load_policy(policy("a", NOISY)))
    rows = pq.read_table("out/a.parquet")
    stated = facts("a") | {"models": [LDiversity("sex", Decimal(2)).to_json()]}
    signer = signer_of(load_project(project / "policy-engine.yaml"), moment(str(stated["time"])))

    metadata = {METADATA_KEY: record_of_file(stated, "a.parquet")}
    file = Path("out/a.parquet")
    write_parquet(rows, file, metadata)
    envelope = sign(statement(file.name, file_digest(file), stated), signer).to_json()
    Path("out/a.certificate.json").write_text(envelope)
    found = cli("verify", "out/a.certificate.json", "--release", "out/a.parquet")
    assert found.code == 1 and "breaks distinct 2-diversity of sex" in found.err + found.out


@pytest.mark.parametrize("stated", [[{"model": "k"}], [{"model": "l_diversity", "of": "sex"}],
    [{"model": "t_closeness", "of": "sex", "t": "-1"}], "l_diversity",
    [{"model": "t_closeness", "of": "sex", "t": "0.1", "further": "x"}]])  # fmt: skip
def test_what_is_no_model_is_refused(cli: Cli, policy: Policies, project, stated: object) -> None:
    release(load_policy(policy("a", NOISY)))
    signer = signer_of(
        load_project(project / "policy-engine.yaml"), moment(str(facts("a")["time"]))
    )
    forged = sign(statement("a.parquet", "0" * 64, facts("a") | {"models": stated}), signer)
    Path("forged.json").write_text(forged.to_json())
    found = cli("verify", "forged.json")
    assert found.code == 1 and "lacks or misstates: models" in found.err + found.out


@pytest.mark.parametrize(
    ("models", "told"),
    [
        ("{l_diversity: {of: seks, l: 2}}", "must be a column of recode, found 'seks'"),
        ("{l_diversity: {of: sex, l: 2.5}}", "must be a whole number for distinct"),
        ("{l_diversity: {of: sex, l: 1}}", "must be above 1"),
        ("{l_diversity: {of: sex, l: 2, kind: recursive}}", "needs c"),
        ("{l_diversity: {of: sex, l: 2, c: 3}}", "is of kind: recursive"),
        ("{t_closeness: {of: sex, t: 0.2, distance: ordered}}", "has no bins"),
        ("{t_closeness: {of: sex, t: 1}}", "must be above 0 and below 1"),
        ("{}", "must have l_diversity or t_closeness"),
    ],
)
def test_a_model_that_cannot_be_enforced_is_refused(
    cli: Cli, policy: Policies, models: str, told: str
) -> None:
    path = policy("a", ("guarantee:", f"models: {models}\nguarantee:"))
    shown = cli("validate", str(path))
    assert shown.code == 1 and told in shown.out + shown.err


def test_a_plan_names_them(cli: Cli, policy: Policies) -> None:
    path = str(policy("a", NOISY, ("guarantee:", DIVERSE)))
    told = "model      distinct 2-diversity of sex: classes that lack it are left out of what the"
    assert told in cli("plan", path).out
    assert [each["of"] for each in cli("plan", path, "--format", "json").document["models"]] == [
        "sex"
    ]


def test_models_are_for_files_of_one_grouping(cli: Cli, policy: Policies) -> None:
    several = "marginals: [[age], [sex]]\n" + DIVERSE
    shown = cli("validate", str(policy("a", NOISY, ("guarantee:", several))))
    assert shown.code == 1 and "cannot stand beside marginals" in shown.out + shown.err
    relation = ("release: {file: out/b.parquet}", "release: {table: b}")
    shown = cli("validate", str(policy("b", NOISY, ("guarantee:", DIVERSE), relation)))
    assert shown.code == 1 and "cannot stand beside release.table" in shown.out + shown.err
