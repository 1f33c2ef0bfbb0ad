"""`guarantee: none`: what is left of raw classes, and that all says first what it is not."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.attest.attestation import (
    UNPROMISED_TYPE,
    open_envelope,
    sign,
    statement,
    unverified,
)
from policy_engine.attest.certificates import certificate_in
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.release_check import verify_release
from policy_engine.attest.results import Verified
from policy_engine.attest.signers import signer_of
from policy_engine.errors import FileError, UsageError, VerificationFailed
from policy_engine.kernel.certificate import certify
from policy_engine.kernel.mechanisms.whole_classes.meaning import NO_GUARANTEE, NONE
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import load_project
from policy_engine.policy.resolve import terms_of
from policy_engine.releasing.planning import open_warehouse, prepare, project_of
from policy_engine.releasing.preview import preview

from .conftest import Cli

SYNTACTIC = """\
version: 1
name: {name}
source: {{file: patients.parquet}}
privacy_unit: {unit}
recode: {{age: {{bins: [30, 40]}}, zip: {{prefix: 3}}, illness: keep}}
k: {k}
models: {models}
guarantee: none
release: {{file: out/{name}.parquet, as: {form}}}
account: patients
"""
PROJECT = "accounts: {patients: {guarantee: none}, people: {epsilon: 10, delta: 0.5}}\n"
MODELS = {
    "distinct": "{l_diversity: {of: illness, l: 2}}",
    "close": "{t_closeness: {of: illness, t: 0.3}}",
    "both": "{l_diversity: {of: illness, l: 2}, t_closeness: {of: illness, t: 0.3}}",
}


@pytest.fixture
def patients(project: Path) -> Path:
    """Of 400 people some are alone in their class, and some classes have one illness."""
    ages = [20 + (i * 7) % 30 for i in range(400)]
    zips = [None if i % 11 == 0 else f"10{i % 9}17" for i in range(400)]
    ills = ["flu" if (a > 40 and z) or i % 3 else "hiv"
            for i, (a, z) in enumerate(zip(ages, zips, strict=True))]  # fmt: skip
    table = {"person": list(range(400)), "age": ages, "zip": zips, "illness": ills}
    pq.write_table(pa.table(table), "patients.parquet")
    Path("policy-engine.yaml").write_text(PROJECT)
    return project


def policy_at(name: str = "p", *, k: int = 9, models: str = "distinct", form: str = "counts",
              unit: str = "row") -> Path:  # fmt: skip
    told = MODELS[models]
    path = Path(f"{name}.yaml")
    path.write_text(SYNTACTIC.format(name=name, k=k, models=told, form=form, unit=unit))
    return path


def with_guarantee(path: Path) -> str:
    """The same policy with an (ε, δ)."""
    return path.read_text().replace("guarantee: none", "guarantee: {epsilon: 1, delta: 1e-6}")


def patients_account(cli: Cli) -> dict[str, Any]:
    """The account of the patients, as the ledger tells of it."""
    accounts = json.loads(cli("ledger", "show", "--format", "json").out)["accounts"]
    return next(each for each in accounts if each["account"] == "patients")


def brute_force(k: int, models: str) -> Counter[tuple[str | None, ...]]:
    """The release by the definitions, in plain Python."""
    source = pq.read_table("patients.parquet").to_pylist()
    rows = [
        ("<30" if r["age"] < 30 else "[30,40)" if r["age"] < 40 else ">=40",
         r["zip"] and r["zip"][:3], r["illness"])
        for r in source
    ]  # fmt: skip
    classes: dict[tuple[str | None, ...], Counter[str]] = {}
    for *quasi, ill in rows:
        classes.setdefault(tuple(quasi), Counter())[ill] += 1
    left = {key: cells for key, cells in classes.items() if cells.total() >= k}
    while True:
        whole = sum(left.values(), Counter())

        def far(cells: Counter[str], whole: Counter[str] = whole) -> float:
            shares = ((n / whole.total(), cells[v] / cells.total()) for v, n in whole.items())
            return sum(abs(q - p) for q, p in shares) / 2

        kept = {
            key: cells for key, cells in left.items()
            if (models == "close" or len(cells) >= 2)
            and (models == "distinct" or far(cells) <= 0.3)
        }  # fmt: skip
        if kept == left:
            cells = ((key, v, n) for key, found in left.items() for v, n in found.items())
            return Counter({(*key, value): n for key, value, n in cells})
        left = kept


@pytest.mark.parametrize(
    ("models", "form"), [*((models, "counts") for models in MODELS), ("both", "rows")]
)
def test_what_is_left_is_what_the_definitions_leave(
    cli: Cli, patients: Path, models: str, form: str
) -> None:
    path = policy_at(models=models, form=form)
    assert cli("release", path).code == 0
    table = pq.read_table("out/p.parquet")
    columns = table.select(["age", "zip", "illness"]).to_pylist()
    numbers = table.column("n").to_pylist() if form == "counts" else [1] * len(columns)
    found = Counter[tuple[str | None, ...]]()
    for row, n in zip(columns, numbers, strict=True):
        found[tuple(row.values())] += n
    wanted = brute_force(9, models)
    assert found == wanted and len(wanted) > 0
    assert cli("verify", "out/p.certificate.json", "--release", "out/p.parquet").code == 4


def test_everything_says_first_that_there_is_no_guarantee(cli: Cli, patients: Path) -> None:
    path = policy_at()
    assert NONE in cli("validate", path).out
    plan, done = cli("plan", path), cli("release", path)
    ends = ("out/p.certificate.json", "--release", "out/p.parquet")
    checked, shown = cli("verify", *ends), cli("show", "out/p.parquet")
    assert (plan.code, done.code, checked.code, shown.code) == (0, 0, 4, 0)
    for told in (plan, done, checked):
        assert told.out.startswith(NO_GUARANTEE)
        assert "background knowledge: " in told.out and "differencing: " in told.out
        assert "certified" not in told.out.replace("NOTHING OF THIS TEXT IS CERTIFIED", "")
    assert shown.out.split("what they mean:\n")[1].startswith(f"  - {NO_GUARANTEE}")
    for words in (["plan", path], ["release", path], ["verify", *ends]):
        document = json.loads(cli(*words, "--format", "json").out)
        assert next(iter(document)) == "guarantee" and document["guarantee"] == NO_GUARANTEE
        assert document["epsilon"] is document["delta"] is None
        assert document["certified"] is False
    assert cli("diff", path, path).out.startswith("price  no (ε, δ)")
    assert cli("diff", ends[0], ends[0]).code == 0


def test_a_page_is_amber_at_best_and_red_where_it_does_not_hold(cli: Cli, patients: Path) -> None:
    assert cli("release", policy_at()).code == 0
    words = ("report", "out/p.certificate.json", "--release", "out/p.parquet", "--replace")
    found = cli(*words, "-o", "page.html")
    html = Path("page.html").read_text()
    assert found.code == 4 and found.out.startswith("amber: No (ε, δ)")
    assert NO_GUARANTEE in html and 'class="band amber"' in html and "green" not in html.split(
        "</style>")[1]  # fmt: skip
    assert "differential privacy" not in html.lower() and "skewness" in html
    assert json.loads(cli(*words, "--format", "json").out)["band"]["colour"] == "amber"
    Path("out/p.parquet").write_bytes(b"another")
    found = cli(*words, "-o", "page.html")
    assert found.code == 1 and found.out.startswith("red: No (ε, δ)")
    assert 'class="band red"' in Path("page.html").read_text()
    assert cli(*words, "--policy", "p.yaml", "-o", "page.html").code == 2


def test_a_policy_with_a_guarantee_is_weaker_without_it(cli: Cli, patients: Path) -> None:
    path = policy_at()
    with_it = path.read_text().replace("guarantee: none", "guarantee: {epsilon: 1, delta: 1e-6}")
    Path("dp.yaml").write_text(with_it)
    document = json.loads(cli("diff", "dp.yaml", path, "--format", "json").out)
    weaker = {each["key"] for each in document["changes"] if each["effect"] == "weaker"}
    assert document["weakens"] and {"guarantee.epsilon", "guarantee.delta"} <= weaker
    back = json.loads(cli("diff", path, "dp.yaml", "--format", "json").out)
    effects = {each["key"]: each["effect"] for each in back["changes"]}
    assert effects["guarantee.epsilon"] == effects["guarantee.delta"] == "not weaker"


def test_the_account_must_be_said_to_be_of_such_releases(cli: Cli, patients: Path) -> None:
    path = policy_at()
    for text in (
        "{}",
        "accounts: {patients: {}}",
        "accounts: {patients: {epsilon: 9, delta: 0.5}}",
    ):
        Path("policy-engine.yaml").write_text(text + "\n")
        for words in (["plan", path], ["release", path], ["validate", path]):
            refused = cli(*words)
            assert refused.code == 1 and "guarantee: none" in refused.err + refused.out
    assert not Path("out").exists() and not Path(".policy-engine").exists()
    both = "accounts: {patients: {epsilon: 9, delta: 0.5, guarantee: none}}\n"
    Path("policy-engine.yaml").write_text(both)
    assert "cannot stand beside a limit" in cli("plan", path).err


def test_with_such_a_release_no_guarantee_holds_of_the_account(cli: Cli, patients: Path) -> None:
    assert cli("release", policy_at()).code == 0
    ledger = json.loads(cli("ledger", "show", "--format", "json").out)
    [entry], account = ledger["entries"], patients_account(cli)
    assert account["without_epsilon_delta"] == 1
    assert {account[key] for key in ("epsilon_spent", "delta_spent", "epsilon_basic")} == {None}
    assert entry["epsilon"] is entry["delta"] is None
    assert "patients: no (ε, δ) holds" in cli("ledger", "show").out
    assert cli("ledger", "verify").code == 0
    # Another release of the same people, with a guarantee of its own, says so too.
    dp = (
        Path("p.yaml")
        .read_text()
        .replace("guarantee: none", "guarantee: {epsilon: 1, delta: 1e-6}")
    )
    Path("dp.yaml").write_text(dp.replace("name: p", "name: dp").replace("out/p", "out/dp"))
    assert "no (ε, δ) holds of the account" in cli("release", "dp.yaml").out
    assert "of the account no (ε, δ) holds" in cli("plan", "dp.yaml").out
    # Its people cannot be charged to an account with a limit beside it.
    Path("dp.yaml").write_text(
        Path("dp.yaml").read_text().replace("account: patients", "account: people")
    )
    assert cli("release", "dp.yaml", "--replace").code == 1
    assert cli("ledger", "export", "-o", "ledger.json").code == 0
    told = cli("verify", "ledger.json")
    assert told.code == 0 and "releases without (ε, δ), 1; none holds" in told.out


def test_a_limit_that_comes_later_lets_nothing_more_be_charged(cli: Cli, patients: Path) -> None:
    path = policy_at()
    assert cli("release", path).code == 0
    limit = ("--epsilon", "5", "--delta", "0.1", "--by", "Ada", "--why", "x")
    assert cli("ledger", "limit", "patients", *limit).code == 0
    dp = with_guarantee(path)
    Path("dp.yaml").write_text(dp.replace("name: p", "name: dp").replace("out/p", "out/dp"))
    refused = cli("release", "dp.yaml")
    assert refused.code == 1 and "with which no limit is kept" in refused.err
    refused = cli("release", path, "--revise", "--replace")
    assert refused.code == 1 and "has no (ε, δ), with which no limit is kept" in refused.err
    account = patients_account(cli)
    left = {"like_this": 0, "or_more": False, "other_epsilon": None, "other_delta": None}
    assert account["left"] == left


def test_the_same_release_comes_again_and_a_changed_one_is_said_to_be_new(
    cli: Cli, patients: Path
) -> None:
    path = policy_at()
    assert cli("release", path).code == 0
    before = Path("out/p.parquet").read_bytes()
    Path("out/p.parquet").unlink()
    again = json.loads(cli("release", path, "--format", "json").out)
    assert again["repeated"] and Path("out/p.parquet").read_bytes() == before
    policy_at(k=12)
    changed = cli("release", path, "--replace")
    assert changed.code == 0 and "what is learnt from both together nothing limits" in changed.err


@pytest.mark.parametrize("rows", ["{first_by: [age]}", "any"])
def test_people_with_a_key_count_once(cli: Cli, patients: Path, rows: str) -> None:
    twice = pq.read_table("patients.parquet")
    pq.write_table(pa.concat_tables([twice, twice]), "patients.parquet")
    path = policy_at(unit=f"{{column: person, rows: {rows}}}")
    assert cli("release", path).code == 0
    assert sum(pq.read_table("out/p.parquet").column("n").to_pylist()) <= 400
    said = unverified(Path("out/p.certificate.json").read_bytes(), UNPROMISED_TYPE)
    assert certificate_in(said).unit == "person"


def test_nothing_that_certifies_takes_it(cli: Cli, patients: Path) -> None:
    path = policy_at()
    for words in (
        ["audit", path],
        ["certify-sql", "a.sql", "--policy", path],
    ):
        Path("a.sql").write_text("SELECT 1")
        refused = cli(*words)
        assert refused.code in (1, 2) and "guarantee is none" in refused.err
    policy = load_policy(path, unpromised=True)
    project = project_of(policy)
    warehouse = open_warehouse(policy, project, writes=False)
    with pytest.raises(UsageError, match="a policy with \\(ε, δ\\) is needed"):
        prepare(policy, project, warehouse)
    found = preview(policy).certificate
    terms = terms_of(policy, "rows", "")
    with pytest.raises(Exception) as caught:
        certify(found.query, found.claim, "duckdb", terms)
    assert not isinstance(caught.value, AssertionError)
    warehouse.close()
    assert cli("release", path).code == 0
    text, trusted = signed_text(), trusted_keys()
    for reads in (open_envelope, verify_release):
        with pytest.raises(VerificationFailed, match="predicateType must be"):
            reads(text, trusted)


def signed_text() -> str:
    return Path("out/p.certificate.json").read_text()


def trusted_keys() -> TrustedKeys:
    return TrustedKeys.of(signer_of(load_project(Path("policy-engine.yaml"))).public_key)


def verified(text: str, release: Path | None = None) -> Verified:
    return verify_release(text, trusted_keys(), release, UNPROMISED_TYPE)


FORGED = {
    "guarantee": "this release carries (1, 0)",
    "still_works": [],
    "models": "none",
    "epsilon": "1",
    "k": 2,
    "query": "SELECT 1",
    "query_digest": "sha256:" + "0" * 64,
    "columns": ["age"],
    "unit": "person",
    "claim": {},
    "mechanism": "noisy-counts",
    "engine": "postgres",
}


def test_a_statement_that_says_otherwise_is_refused(cli: Cli, patients: Path) -> None:
    assert cli("release", policy_at()).code == 0
    stated = unverified(signed_text(), UNPROMISED_TYPE)
    facts = json.loads(json.dumps(stated.predicate, default=list_or_dict))
    signer = signer_of(load_project(Path("policy-engine.yaml")))
    ends = (stated.subject_name, stated.subject_sha256)
    for changes in (
        {},
        {"still_works": "none"},
        *({name: value} for name, value in FORGED.items()),
    ):
        made = statement(*ends, {**facts, **changes}, UNPROMISED_TYPE)
        text = sign(made, signer).to_json()
        if not changes:
            assert verified(text, Path("out/p.parquet"))
            continue
        with pytest.raises(VerificationFailed):
            verified(text, Path("out/p.parquet"))


def list_or_dict(value: object) -> object:
    return dict(value) if hasattr(value, "keys") else list(value)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("DELETE FROM r WHERE illness = 'flu'", "breaks distinct 2-diversity"),
        ("UPDATE r SET n = 1", "k is 9"),
    ],
)
def test_rows_that_break_a_model_are_refused(
    cli: Cli, patients: Path, change: str, told: str
) -> None:
    assert cli("release", policy_at()).code == 0
    facts = pq.read_schema("out/p.parquet").metadata
    rows = pq.read_table("out/p.parquet")
    with duckdb.connect() as connection:
        connection.register("released", rows)
        connection.execute("CREATE TABLE r AS SELECT * FROM released")
        connection.execute(change)
        table = connection.sql("SELECT * FROM r ORDER BY ALL NULLS LAST").to_arrow_table()
    pq.write_table(table.cast(rows.schema).replace_schema_metadata(facts), "out/p.parquet")
    with pytest.raises(VerificationFailed, match=told):
        verify_again(Path("out/p.parquet"))


def verify_again(release: Path) -> None:
    """Verify a statement that was signed for what stands in the release's place."""
    stated = unverified(signed_text(), UNPROMISED_TYPE)
    facts = json.loads(json.dumps(stated.predicate, default=list_or_dict))
    digest = hashlib.sha256(release.read_bytes()).hexdigest()
    made = statement(stated.subject_name, digest, facts, UNPROMISED_TYPE)
    signer = signer_of(load_project(Path("policy-engine.yaml")))
    verified(sign(made, signer).to_json(), release)


def test_a_file_that_is_no_release_is_refused(cli: Cli, patients: Path) -> None:
    assert cli("release", policy_at()).code == 0
    path = Path("out/p.parquet")
    alone = verified(signed_text())
    assert "the release itself was not looked at: name it with --release" in alone.unchecked
    told = "the statement is valid; the release was not checked; it is no certificate: "
    assert cli("verify", "out/p.certificate.json").out.count(told) == 1
    pq.write_table(pq.read_table(path).drop(["illness"]), path)
    with pytest.raises(VerificationFailed, match="the columns are"):
        verify_again(path)
    path.write_bytes(b"no Parquet")
    with pytest.raises(VerificationFailed, match="is no Parquet file"):
        verify_again(path)
    path.unlink()
    with pytest.raises(FileError, match="could not be read"):
        verified(signed_text(), path)
