"""review show: who approves sees what decides, before anything is signed, and nothing else."""

from __future__ import annotations

import html
import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.attest.approvals import ask
from policy_engine.attest.keys import generate_key, key_id, load_private_key, load_public_key
from policy_engine.attest.signers import KeySigner
from policy_engine.attest.validity import moment
from policy_engine.kernel.claim import digest_of
from policy_engine.ledger.reviews import last_of, without_time
from policy_engine.policy.review_models import key_line
from policy_engine.releasing.presenting import presented
from policy_engine.releasing.reviewing import RequestFile, read_request, write_request
from policy_engine.report.request_words import QUESTIONS

ROOT = Path(__file__).parents[3]
ROLES = {"ada": "owner", "ben": "privacy", "cleo": "author"}
NOTHING_BEFORE = "no request for an earlier charge of this policy was approved"
NO_FILTER = "none: the policy has no condition that a row must meet"
CLAIM = "out/a.certificate.claim.review.json"
BUNDLE = "out/a.certificate.approvals.intoto.jsonl"


@pytest.fixture
def required(cli, project):
    """Three people, two of whom are needed; sets a review policy with changes."""
    people = {}
    for name, role in ROLES.items():
        key = Ed25519PrivateKey.generate()
        generate_key(project / f"{name}.pem", key)
        people[name] = {"role": role, "keys": [key_line(key.public_key().public_bytes_raw())]}
    document = {"version": 1, "account": "people", "serial": 1, "people": people,
                "claim": {"owner": 1, "privacy": 1}, "change": {"owner": 1, "privacy": 1},
                "days": 30, "expires": "2999-12-31"}  # fmt: skip

    def require(**changes):
        told = {name: each for name, each in (document | changes).items() if each is not None}
        (project / "p.review.yaml").write_text(json.dumps(told))
        return cli(
            "review", "require", "p.review.yaml", "--alone", "--by", "Ada", "--why", "a test"
        )

    assert require().code == 0
    require.people = people
    return require


def asked(cli, path, request=CLAIM):
    done = cli("review", "request", path, "--key", "cleo.pem")
    assert done.code == 0, done.err
    return Path(request)


def decides(cli, request=CLAIM):
    return cli("review", "show", request, "--format", "json").document["decides"]


def approve(cli, *names):
    for name in names or ("ada", "ben"):
        words = ("review", "approve", CLAIM, "--yes", "--role", ROLES[name])
        done = cli(*words, "--key", f"{name}.pem")
        assert done.code == 0, done.err


def test_it_needs_nothing_but_the_file(cli, policy, required, tmp_path_factory, monkeypatch):
    file = asked(cli, policy())
    here = cli("review", "show", file).out
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "r.json").write_bytes(file.read_bytes())
    monkeypatch.chdir(elsewhere)
    found = cli("review", "show", "r.json")
    assert (found.code, found.out, found.err) == (0, here, "")
    assert [*elsewhere.iterdir()] == [elsewhere / "r.json"]
    told = decides(cli, "r.json")
    assert told["goes to"] == ['"out/a.parquet" (one row for each group)']
    assert told["source"] == ["the file people.parquet (Parquet)"]
    assert told["person"] == ["each row is one person"]
    assert told["columns"][:3] == ["age (integer)", "  bins:", '    below 30: "<30"']
    assert told["filter"] == [NO_FILTER]
    assert told["price"][0].startswith("ε 0.5, δ 2.63178346650e-11, paid by account"[:20])
    said, _, left = told["price"][1].partition("; left after this charge: ")
    assert said == '"cleo", who asks, states: the account\'s limit is ε 1, δ 0.000001' and left
    assert "62.3" in " ".join(told["promise"])
    assert told["since last"] == [NOTHING_BEFORE]
    assert told["asked by"][0].startswith('"cleo" (author)')
    assert told["approvers"][:2] == ['1 of owner: "ada"', '1 of privacy: "ben"']


PERIOD = 'privacy_unit: row\nperiod: {column: seen, every: year, from: "2024"}'
ROWS = "the rows with seen from 2024-01-01 to before 2025-01-01, days of UTC"


@pytest.mark.parametrize(
    ("beside", "filtered"),
    [
        ("", "none beside the dates of the edition: the policy has no condition that a row must"),
        ("\nfilter: {sex: {missing: false}}", "sex (text) is not missing"),
    ],
)
def test_which_rows_an_edition_reads_is_told_and_not_that_it_reads_all(
    cli, policy, required, project, beside, filtered
):
    table = pq.read_table("people.parquet")
    seen = pa.array([date(2024, 3, 1)] * len(table), pa.date32())
    pq.write_table(table.append_column("seen", seen), "people.parquet")
    in_time = ("out/a.parquet", "'out/a-{edition}.parquet'")
    path = policy("a", ("privacy_unit: row", PERIOD + beside), in_time)
    file = asked(cli, path, "out/a-2024.certificate.claim.review.json")
    told = decides(cli, file)
    assert told["edition"] == [f"2024: {ROWS}"]
    assert told["filter"][0].startswith(filtered)
    assert not any(ROWS in line for line in told["mechanism"])
    assert f"  edition     2024: {ROWS}\n" in cli("review", "show", file).out
    cli("review", "show", file, "--output", "asked.html")
    page = html.unescape(Path("asked.html").read_text())
    assert f"2024: {ROWS}" in page
    assert "all rows" not in page


def test_what_names_say_against_who_is_one_person_is_told(cli, policy, required):
    """A row beside a patient's key by the word of who asks; an age as a key by the claim itself."""
    table = pq.read_table("people.parquet")
    pq.write_table(table.append_column("patient_id", [[*range(len(table))]]), "people.parquet")
    file = asked(cli, policy())
    assert decides(cli, file)["person"][1:] == [
        '"cleo", who asks, states: by its name the column patient_id of the source says whose row'
        " it is"
    ]
    file = asked(cli, policy("a", ("privacy_unit: row", "privacy_unit: {column: age, rows: any}")))
    assert decides(cli, file)["person"][1:] == ["by its name this is no person's key"]
    pq.write_table(table.append_column("patient_id", [[*range(len(table))]])
                   .append_column("genre", [["a"] * len(table)]), "people.parquet")  # fmt: skip
    genre = ("privacy_unit: row", "privacy_unit: {column: genre, rows: any}")
    file = asked(cli, policy("a", genre))
    assert decides(cli, file)["person"][1:] == [
        '"cleo", who asks, states: by its name the column patient_id of the source says whose row'
        " it is"
    ]


def test_its_page_has_every_line_and_what_to_ask_of_it(cli, policy, required, project):
    file = asked(cli, policy())
    done = cli("review", "show", file, "--output", "asked.html")
    assert (done.code, done.out) == (0, "page  asked.html\n")
    page = html.unescape((project / "asked.html").read_text())
    for label, lines in decides(cli).items():
        assert f">{label}</h2>" in page
        assert "\n".join(lines) in page
        if label in QUESTIONS:
            assert QUESTIONS[label].replace("*", "") in page
    assert f"review approve {file} --role ROLE" in page
    again = cli("review", "show", file, "--output", "asked.html")
    assert (again.code, again.err) == (
        3, "error: asked.html exists; use --replace to write it anew\n"
    )  # fmt: skip
    assert cli("review", "show", file, "--output", "asked.html", "--replace").code == 0
    assert cli("review", "show", file, "--output", "asked.txt").code == 2


def test_the_page_for_signers_asks_the_same():
    page = (ROOT / "docs/howto/approve.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(.+?)` \| (.+) \|$", page, re.MULTILINE))
    assert rows == QUESTIONS


@pytest.mark.parametrize(
    "change",
    [
        ("age: {bins: [30, 60]}", "age: keep"),
        ("age: {bins: [30, 60]}", "age: {bins: [31, 60], labels: ['<30', '[30,60)', '>=60']}"),
        ("people.parquet", "others.parquet"),
        ("k: 20", "k: 21"),
        ("rate: 0.1", "rate: 0.09"),
        ("k: 20", "k: 20\nfilter: {sex: {in: [female]}}"),
        ("k: 20", "k: 20\npurpose: research"),
        ("out/a.parquet", "out/other.parquet"),
    ],
)
def test_requests_that_ask_for_something_else_read_otherwise(
    cli, policy, required, project, change
):
    (project / "others.parquet").write_bytes((project / "people.parquet").read_bytes())
    told = []
    for changes in ((), (change,)):
        for each in (project / "out").glob("*.review.json"):
            each.unlink()
        path = policy("a", *changes)
        assert cli("review", "request", path, "--key", "cleo.pem").code == 0
        [file] = (project / "out").glob("*.review.json")
        found = decides(cli, file)
        # Not by what stands in digests alone, nor by when it was asked.
        told.append({k: v for k, v in found.items() if k not in {"policy", "asked by"}})
    assert told[0] != told[1]


# A request whose words differ from its claim


def rewritten(project, change, *, last=None):
    """The request again as cleo would sign it, after a change of what it shows."""
    file = project / CLAIM
    read = read_request(file)
    found = presented(file)
    shown = json.loads(json.dumps(read.shown))
    change(shown)
    timeless = without_time(shown)
    of = {**found.matter.of, "certificate": digest_of(timeless)}
    for name in ("unit", "neighbours"):
        of[name] = str(timeless[name])
    of["epsilon"] = of["epsilon"] if timeless["epsilon"] == read.shown["epsilon"] else "0.1"
    identity = digest_of(timeless["claim"]).removeprefix("sha256:")
    matter = replace(found.matter, sha256=identity, of=of)
    signer = KeySigner(load_private_key(project / "cleo.pem"))
    at = moment(found.said.predicate["time"])
    before = read.last if last is None else last
    envelope = ask(
        matter,
        found.policy.digest,
        signer,
        at,
        last=last_of(before),
        account=found.account.to_json(),
    )
    write_request(file, RequestFile(envelope, shown, before, read.review_policy))


def other_columns(shown):
    shown["columns"] = ["age"]


def a_larger_k(shown):
    shown["k"] = 200


def another_unit(shown):
    shown["unit"] = "person"


def fewer_assumptions(shown):
    shown["assumptions"] = shown["assumptions"][1:]


def another_query(shown):
    shown["query"] = shown["query"].replace("sex", "race")


def a_lower_rate(shown):
    shown["rate"] = "0.01"


def a_smaller_delta(shown):
    shown["delta"] = "1E-40"


def a_smaller_epsilon(shown):
    shown["epsilon"] = "0.1"


def another_way_to_draw(shown):
    shown["randomness"] = "a fair coin"


def another_claim(shown):
    shown["claim"]["columns"] = shown["claim"]["columns"][:1]


def free_text(shown):
    shown["summary"] = "all columns are binned"


@pytest.mark.parametrize(
    "change",
    [
        other_columns, a_larger_k, another_unit, fewer_assumptions, another_query, a_lower_rate,
        a_smaller_delta, a_smaller_epsilon, another_way_to_draw, another_claim, free_text,
    ],
    ids=lambda change: change.__name__,
)  # fmt: skip
def test_words_that_are_not_the_claims_are_neither_shown_nor_signed(
    cli, policy, required, project, change
):
    asked(cli, policy())
    rewritten(project, lambda shown: None)
    assert cli("review", "show", CLAIM).code == 0
    rewritten(project, change)
    shown = cli("review", "show", CLAIM)
    assert (shown.code, shown.out) == (1, "")
    words = ("review", "approve", CLAIM, "--yes", "--anyway", "--role", "owner", "--key", "ada.pem")
    assert cli(*words).code == 1
    assert not (project / BUNDLE).exists()


@pytest.mark.parametrize("part", ["shown", "last", "review_policy", "more"])
def test_what_nobody_has_signed_is_no_request(cli, policy, required, project, part):
    asked(cli, policy())
    document = json.loads((project / CLAIM).read_text())
    document.setdefault(part, {})["purpose"] = "all is well"
    (project / CLAIM).write_text(json.dumps(document))
    refused = cli("review", "show", CLAIM)
    assert (refused.out, refused.code) == ("", 1 if part != "more" else 3)


def test_a_request_of_a_stranger_is_not_shown(cli, policy, required, project):
    asked(cli, policy())
    generate_key(project / "cleo2.pem")
    (project / "cleo2.pem").replace(project / "cleo.pem")
    rewritten(project, lambda shown: None)
    refused = cli("review", "show", CLAIM)
    assert (refused.code, "nobody's in the review policy that it names" in refused.err) == (1, True)


# What was approved before it


def test_the_difference_from_what_was_approved_last_is_told_and_bound(
    cli, policy, required, project
):
    path = policy()
    asked(cli, path)
    approve(cli)
    assert cli("release", path).code == 0
    policy("a", ("age: {bins: [30, 60]}", "age: keep"))
    (project / "out" / "a.parquet").unlink()
    (project / "out" / "a.certificate.json").unlink()
    asked(cli, path)
    since = decides(cli)["since last"]
    assert since[0] == "recode.age  (weaker: it shows more detail)"
    assert since[1].startswith("  - bins at 30, 60")
    assert since[2] == "  + as it is"
    # The author says that there is nothing before it: two approve, and the ledger refuses.
    rewritten(project, lambda shown: None, last={})
    assert decides(cli)["since last"] == [NOTHING_BEFORE]
    status = cli("review", "status", CLAIM)
    assert (status.code, "something else was approved meanwhile" in status.out) == (1, True)
    for name in ("ada", "ben"):
        words = ("review", "approve", CLAIM, "--yes", "--anyway", "--role", ROLES[name])
        assert cli(*words, "--key", f"{name}.pem").code == 0
    refused = cli("release", path)
    assert refused.code == 1
    assert "shows the difference from something else than what was approved last" in refused.err
    asked(cli, path)
    approve(cli)
    assert cli("release", path).code == 0
    assert cli("ledger", "verify").code == 0


def test_another_review_policy_is_told_in_names(cli, required, project):
    people = {**required.people}
    dora = Ed25519PrivateKey.generate().public_key().public_bytes_raw()
    people["dora"] = {"role": "owner", "keys": [key_line(dora)]}
    more = Ed25519PrivateKey.generate().public_key().public_bytes_raw()
    ben = {"role": "privacy", "keys": [*people["ben"]["keys"], key_line(more)]}
    people = {name: each for name, each in people.items() if name != "cleo"} | {"ben": ben}
    required(serial=2, people=people, claim={"privacy": 1}, four_eyes=False)
    asked = cli("review", "request", "--review-policy", "p.review.yaml", "--key", "cleo.pem")
    assert asked.code == 0, asked.err
    found = cli("review", "show", "p.review.change.review.json", "--format", "json").document
    told = found["decides"]["changes"]
    assert told[:4] == [
        'in: "dora" (owner, 1 key)',
        'out: "cleo" (author, 1 key)',
        '"ben": 1 more key',
        "claim: 1 of role owner, 1 of role privacy → 1 of role privacy",
    ]
    assert told[4].startswith("the person who asks cannot approve; an approval counts 30 days")
    keys = [key_id(load_public_key(project / f"{name}.pub")) for name in ROLES]
    assert not any(key[:8] in json.dumps(told) for key in keys)


def test_a_limit_is_told_before_and_after(cli, policy, required):
    words = ("--limit", "people", "--epsilon", "2", "--delta", "1e-6", "--key", "cleo.pem")
    cli("review", "request", *words)
    request = "people.limit.change.review.json"
    assert decides(cli, request)["limit"] == ["ε 1, δ 0.000001 → ε 2, δ 0.000001"]


# Signing


def _at_a_terminal(words, answer):
    """Run the command where somebody is asked, and types an answer."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "policy_engine", *map(str, words)]
    running = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    os.write(ours, f"{answer}\n".encode())
    said = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the terminal is closed
            break
        if not part:
            break
        said += part
    os.close(ours)
    return running.wait(), said.decode()


@pytest.mark.parametrize(("answer", "code"), [("yes", 0), ("no", 2), ("", 2), ("y", 2)])
def test_a_person_sees_all_and_says_yes_before_anything_is_signed(
    cli, policy, required, project, answer, code
):
    asked(cli, policy())
    words = ("review", "approve", CLAIM, "--role", "owner", "--key", "ada.pem")
    found, said = _at_a_terminal(words, answer)
    assert found == code, said
    assert (project / BUNDLE).exists() == (code == 0)
    assert said.index("kept: every value is shown") < said.index("Do you approve all of this claim")


@pytest.mark.parametrize("more", [(), ("--format", "json")])
def test_where_nobody_can_be_asked_nothing_is_signed_without_yes(
    cli, policy, required, project, more
):
    asked(cli, policy())
    words = ("review", "approve", CLAIM, "--role", "owner", "--key", "ada.pem", *more)
    refused = cli(*words)
    assert (refused.code, "say --yes; nothing was signed" in refused.err) == (2, True)
    assert not (project / BUNDLE).exists()
    done = cli(*words, "--yes")
    assert (done.code, (project / BUNDLE).exists()) == (0, True)


# A rejection, and who is waited for


def test_the_author_is_told_whom_to_send_what_and_who_has_said_no(cli, policy, required, project):
    path = policy()
    asked(cli, path)
    waits = cli("release", path)
    assert f"send {CLAIM} to ada (owner), ben (privacy); nothing was charged" in waits.err
    approve(cli, "ada")
    assert "to ben (privacy); nothing" in cli("release", path).err
    note = "bins of ten years, please"
    words = ("review", "reject", CLAIM, "--role", "privacy", "--key", "ben.pem")
    assert cli(*words).code == 2
    assert cli(*words, "--note", note).code == 0
    refused = cli("release", path)
    assert f'ben has rejected it: "{note}"; \'policy-engine review request' in refused.err
    assert f'  rejected by ben: "{note}"\n' in cli("review", "status", CLAIM).out
    status = cli("review", "status", CLAIM, "--format", "json").document
    assert status["rejections"] == [{"by": "ben", "note": note}]


def test_a_revoked_key_is_told_by_its_persons_name(cli, policy, required, project):
    asked(cli, policy())
    approve(cli)
    key = key_id(load_public_key(project / "ben.pub"))
    assert cli("review", "revoke", key, "--by", "Ada", "--why", "stolen").code == 0
    status = cli("review", "status", CLAIM)
    assert "  revoked: a key of ben\n" in status.out
    assert "a key of ben that was revoked signed it" in status.out
    shown = f"nothing counts that the key {key[:8]} of ben approves, by Ada: stolen"
    assert shown in cli("ledger", "show").out
    assert cli("ledger", "show", "--format", "json").document["reviews"][-1]["people"] == ["ben"]


# What a reader of the report is told, by a review policy alone


def reported(cli, *more):
    words = ("report", "out/a.certificate.json", "--release", "out/a.parquet", "--key", "k.pub")
    return cli(*words, "--review-policy", "p.review.yaml", "--format", "json", *more)


def test_the_report_says_whose_approvals_are_met_without_a_ledger(
    cli, policy, required, project, tmp_path_factory, monkeypatch
):
    path = policy()
    asked(cli, path)
    approve(cli)
    assert cli("release", path).code == 0
    elsewhere = tmp_path_factory.mktemp("reader")
    (elsewhere / "out").mkdir()
    for name in ("a.parquet", "a.certificate.json", "a.certificate.approvals.intoto.jsonl"):
        (elsewhere / "out" / name).write_bytes((project / "out" / name).read_bytes())
    (elsewhere / "p.review.yaml").write_bytes((project / "p.review.yaml").read_bytes())
    (elsewhere / "k.pub").write_bytes((project / ".policy-engine" / "signing.pub").read_bytes())
    monkeypatch.chdir(elsewhere)
    found = reported(cli, "-o", "page.html")
    assert found.code == 0, found.err
    made = found.document
    assert made["band"]["colour"] == "green"
    said = made["by_policy"][0]
    assert said.startswith(
        "for the claim: 1 of role owner, 1 of role privacy (review policy 1, sha"
    )
    assert "the claim is approved by ada (owner), ben (privacy)" in said
    assert made["by_policy"][-1].startswith(
        "not known here: whether lines of the bundle are missing"
    )
    assert [(each["person"], each["standing"]) for each in made["approvals"]] == [
        ("ada", "signed"),
        ("ben", "signed"),
    ]
    page = Path("page.html").read_text()
    assert "Counted without a ledger, by the review policy that was given" in page
    bundle = elsewhere / BUNDLE
    bundle.write_text(bundle.read_text().splitlines()[0] + "\n")
    fewer = reported(cli)
    assert fewer.code == 1
    assert "approvals of the claim: 1 more of role privacy" in fewer.document["band"]["reasons"]
    assert "1 more of role privacy" in fewer.document["by_policy"][0]


# What an author may say


@pytest.mark.parametrize(
    ("purpose", "law"),
    [("x" * 201, "must have at most 200 characters, found 201"), ('"a\\nb"', "no line break")],
)
def test_a_purpose_is_one_short_line(cli, policy, purpose, law):
    found = cli("validate", policy("a", ("name: a\n", f"name: a\npurpose: {purpose}\n")))
    assert found.code == 1
    assert law in found.out + found.err
    fits = policy("b", ("name: b\n", f"name: b\npurpose: {'x' * 200}\n"))
    assert cli("validate", fits).code == 0
