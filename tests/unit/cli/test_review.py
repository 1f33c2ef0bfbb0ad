"""review: the commands, as people run them."""

from __future__ import annotations

import json
import re
import shlex

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

from policy_engine.attest.approvals import APPROVAL
from policy_engine.attest.attestation import sign, statement, unverified
from policy_engine.attest.keys import generate_key, key_id, load_public_key
from policy_engine.attest.signers import KeySigner
from policy_engine.policy.review_models import key_line

ROLES = {"ada": "owner", "ben": "privacy", "cleo": "author"}
CLAIM = "out/a.certificate.claim.review.json"
LIMIT = "people.limit.change.review.json"
BUNDLE = "out/a.certificate.approvals.intoto.jsonl"


@pytest.fixture
def people(project):
    """Keys of three people, and a review policy that needs two of them."""
    told = {}
    for name, role in ROLES.items():
        key = Ed25519PrivateKey.generate()
        generate_key(project / f"{name}.pem", key)
        told[name] = {"role": role, "keys": [key_line(key.public_key().public_bytes_raw())]}
    return told


@pytest.fixture
def required(cli, project, people):
    """Sets a review policy, with changes; the result."""

    def require(**changes):
        document = {"version": 1, "account": "people", "serial": 1, "people": people,
                    "claim": {"owner": 1, "privacy": 1}, "change": {"owner": 1, "privacy": 1},
                    "days": 30, "expires": "2999-12-31"}  # fmt: skip
        told = {name: each for name, each in (document | changes).items() if each is not None}
        (project / "p.review.yaml").write_text(json.dumps(told))
        return cli(
            "review", "require", "p.review.yaml", "--alone", "--by", "Ada", "--why", "a test"
        )

    return require


def approve(cli, request=CLAIM, *names):
    for name in names or ("ada", "ben"):
        done = cli(
            "review", "approve", request, "--yes", "--role", ROLES[name], "--key", f"{name}.pem"
        )
        assert done.code == 0, done.err


def test_a_release_waits_for_two(cli, policy, required):
    path = policy()
    assert required().code == 0
    refused = cli("release", path)
    assert (refused.code, "nobody has asked for approvals" in refused.err) == (1, True)
    asked = cli("review", "request", path, "--key", "cleo.pem", "--format", "json")
    assert asked.document["needs"] == {"owner": 1, "privacy": 1}
    assert asked.document["written"]
    approve(cli, CLAIM, "ada")
    state = cli("review", "status", CLAIM, "--format", "json")
    assert state.code == 1
    assert state.document["counted"] == [{"by": "ada", "role": "owner"}]
    assert state.document["missing"] == ["1 more of role privacy"]
    assert cli("release", path).code == 1
    again = cli("review", "request", path, "--key", "cleo.pem", "--format", "json")
    assert not again.document["written"]
    approve(cli, CLAIM, "ben")
    assert cli("review", "status", CLAIM).code == 0
    assert cli("release", path).code == 0
    [entry] = cli("ledger", "show", "--format", "json").document["entries"]
    assert [told["stage"] for told in entry["approvals"]] == ["claim"]
    assert len(entry["approvals"][0]["statements"]) == 2
    verified = cli("ledger", "verify")
    assert "every charge and change that required approvals had them (1)" in verified.out


def test_each_line_of_the_approvals_says_verdict_role_and_time(cli, policy, required, project):
    required()
    cli("review", "request", policy(), "--key", "cleo.pem")
    approve(cli)
    cli("review", "reject", CLAIM, "--role", "author", "--key", "cleo.pem", "--note", "too coarse")
    found = [unverified(line, APPROVAL).predicate for line in (project / BUNDLE).open()]
    assert [each["verdict"] for each in found] == ["approved", "approved", "rejected"]
    assert [each["role"] for each in found] == ["owner", "privacy", "author"]
    assert found[2]["note"] == "too coarse"
    assert all(each["time"].endswith("Z") for each in found)
    refused = cli("release", "a.yaml")
    assert "cleo has rejected it" in refused.err


def test_a_rejected_request_is_asked_anew_and_is_approved_no_more(cli, policy, required):
    path = policy()
    required()
    ask = ("review", "request", path, "--key", "cleo.pem", "--format", "json")
    cli(*ask)
    approve(cli, CLAIM, "ada")
    no = ("--note", "too fine")
    assert cli("review", "reject", CLAIM, "--role", "privacy", "--key", "ben.pem", *no).code == 0
    late = cli("review", "approve", CLAIM, "--yes", "--role", "privacy", "--key", "ben.pem")
    assert late.code == 2
    assert "ben has rejected it, and this request serves no more" in late.err
    assert cli(*ask).document["written"]
    assert cli("review", "status", CLAIM).out.startswith("waits: 1 more of role owner; 1 more")
    approve(cli)
    assert cli("release", path).code == 0
    given = ("--release", "out/a.parquet", "--review-policy", "p.review.yaml")
    verified = cli("verify", "out/a.certificate.json", *given)
    assert verified.code == 0, verified.err
    assert "the claim is approved by ada (owner), ben (privacy)" in verified.out


def test_several_policies_are_refused_before_the_first_is_charged(cli, policy, required):
    required()
    paths = [policy("a"), policy("b")]
    cli("review", "request", paths[0], "--key", "cleo.pem")
    approve(cli)
    refused = cli("release", *paths)
    assert refused.code == 1
    assert len(cli("ledger", "show", "--format", "json").document["entries"]) == 0


@pytest.mark.parametrize("window", ["", ", each: year"])
@pytest.mark.parametrize("is_raised", [False, True])
def test_an_account_that_cannot_pay_names_the_request_before_the_command_that_needs_it(
    cli, policy, required, project, window, is_raised
):
    file = project / "policy-engine.yaml"

    def limited(epsilon, delta):
        pins = file.read_text().split("accounts: ")
        told = f"accounts: {{people: {{epsilon: {epsilon}, delta: {delta}{window}}}}}\n"
        file.write_text(pins[0] + told)

    limited("1.0", "1.0e-6")
    required()
    path = policy("a", ("sample: {rate: 0.1}\nk: 20\n", ""), epsilon="1.5")
    if is_raised:
        limited("2", "1.0e-6")
    refused = cli("release", path)
    assert ("cannot pay" in refused.err, "allows account 'people'" in refused.err) == (
        not is_raised, is_raised
    )  # fmt: skip
    found = re.findall(r"'policy-engine ((?:review request|ledger limit) [^']*)'", refused.err)
    [request, limit] = (each.replace("KEY", "cleo.pem") for each in found)
    assert "once that is approved" in refused.err
    assert cli(*shlex.split(request)).code == 0
    approve(cli, LIMIT)
    words = shlex.split(limit.replace("NAME", "Ada").replace("TEXT", "more"))
    assert cli(*words).code == 0
    limited(words[words.index("--epsilon") + 1], words[words.index("--delta") + 1])
    again = cli("release", path).err
    assert "requires approvals of the claim" in again and "cannot pay" not in again


WINDOWS = {"": "no 'each'", ", each: year": "'each: year' and no 'of'"}


@pytest.mark.parametrize(("window", "then"), [("", "each: year"), (", each: year", "each: month")])
def test_other_windows_are_taken_back_first_and_approvers_see_them(
    cli, policy, required, project, window, then
):
    """The first remedy was to ask for approvals of a limit that was the same to its readers."""
    file, path = project / "policy-engine.yaml", policy("a")
    account = f"accounts: {{people: {{epsilon: 1.0, delta: 1.0e-6{window}}}}}\n"
    file.write_text(account)
    required()
    begun = file.read_text()
    file.write_text(begun.replace(account, account.replace(f"e-6{window}", f"e-6, {then}")))
    refused = cli("release", path)
    back = f"changes how long a limit is for; write {WINDOWS[window]} there again, or run 'policy-"
    assert (refused.code, back in refused.err) == (1, True), refused.err
    asks = ("--limit", "people", "--epsilon", "1", "--delta", "1e-6", "--key", "cleo.pem")
    assert cli("review", "request", *asks).code == 0
    shown = cli("review", "show", LIMIT, "--format", "json").document["decides"]["limit"]
    was = window.replace(", each:", " each")
    assert shown == [f"ε 1, δ 0.000001{was} → ε 1, δ 0.000001 {then.replace(':', '')}"]
    file.write_text(begun)
    assert "requires approvals of the claim" in cli("release", path).err


def test_no_approvals_are_asked_for_of_windows_that_no_entry_sets(cli, policy, required, project):
    """People approved them, and the command that followed refused."""
    file, path = project / "policy-engine.yaml", policy("a")
    account = "accounts: {people: {epsilon: 1.0, delta: 1.0e-6, each: year}}\n"
    file.write_text(account)
    required()
    cli("review", "request", path, "--key", "cleo.pem")
    told = cli("review", "show", CLAIM, "--format", "json").document["decides"]["price"]
    assert "states: the account's limit is ε 1, δ 0.000001 each year; left" in told[1]
    approve(cli)
    assert cli("release", path).code == 0
    file.write_text(file.read_text().replace(", each: year", ""))
    why = "no limit for ever follows them: write 'each: year' in the project file, as it was, and"
    refused = cli("release", path, "--revise", "--replace")
    assert (refused.code, why in refused.err, "review request" in refused.err) == (1, True, False)
    asks = ("--limit", "people", "--epsilon", "1", "--delta", "1e-6", "--key", "cleo.pem")
    asked = cli("review", "request", *asks)
    assert (asked.code, why in asked.err) == (2, True)


def test_amounts_are_written_as_by_every_other_command(cli, policy, required):
    required(release={"privacy": 1})
    path = policy()
    price = [line for line in cli("plan", path).out.splitlines() if line.startswith("price")]
    amounts = price[0].removeprefix("price      ").partition(" for one")[0]
    for file in (CLAIM, CLAIM.replace("claim", "release")):
        cli("review", "request", path, "--key", "cleo.pem")
        price = cli("review", "show", file, "--format", "json").document["decides"]["price"][0]
        assert price.startswith(amounts if file == CLAIM else "already paid by")
        if file == CLAIM:
            approve(cli)
            cli("release", path)
    words = ("--limit", "people", "--epsilon", "3", "--delta", "1E-9", "--key", "cleo.pem")
    cli("review", "request", *words)
    assert "→ ε 3, δ 1e-9" in cli("review", "status", "people.limit.change.review.json").out


def test_a_release_is_compared_with_an_earlier_charge_and_the_words_say_so(cli, policy, required):
    """The claim of the same charge was approved: that nothing was approved would be false."""
    required(release={"privacy": 1})
    path = policy()

    def compared(stage, *more):
        file = CLAIM.replace("claim", stage)
        assert cli("review", "request", path, "--key", "cleo.pem", *more).code == 0
        found = cli("review", "show", file, "--format", "json").document
        approve(cli, file, *(("ben",) if stage == "release" else ()))
        cli("release", path, "--replace", *more)
        return found["decides"]["since last"]

    first = ["no request for an earlier charge of this policy was approved"]
    assert [compared("claim"), compared("release")] == [first, first]
    [claim, release] = compared("claim", "--revise"), compared("release")
    assert "  + asked for by hand" in claim
    assert release == claim  # with the charge before, and not with the claim, which is the same
    assert cli("ledger", "verify").code == 0


def test_a_limit_is_approved(cli, policy, required):
    required()
    words = ("--epsilon", "3", "--delta", "1e-6")
    set_it = ("ledger", "limit", "people", *words, "--by", "Ada", "--why", "a test")
    refused = cli(*set_it)
    assert "requires approvals of the limit ε 3, δ 0.000001 (review policy 1" in refused.err
    assert cli("review", "request", "--limit", "people", *words, "--key", "cleo.pem").code == 0
    approve(cli, "people.limit.change.review.json")
    done = cli(*set_it)
    assert done.code == 0, done.err
    assert cli(*set_it).code == 1  # once
    assert cli("ledger", "verify").code == 0


def test_the_limit_that_people_saw_is_that_of_the_charge(cli, policy, required, project):
    """The first one was whatever the project file said at the charge: ε 50 after requests of 1."""
    file = project / "policy-engine.yaml"
    plain = file.read_text().partition("accounts:")[0]
    file.write_text(f"{plain}accounts: {{people: {{epsilon: 1, delta: 1.0e-6}}}}\n")
    assert required().code == 0
    [account] = cli("ledger", "show", "people", "--format", "json").document["accounts"]
    assert account["epsilon_limit"] == 1
    path = policy("a", ("sample: {rate: 0.1}\nk: 20\n", ""), epsilon="0.5")
    assert cli("review", "request", path, "--key", "cleo.pem").code == 0
    approve(cli)
    pins = file.read_text()
    file.write_text(pins.replace("epsilon: 1,", "epsilon: 50,"))
    refused = cli("release", path)
    assert refused.code == 1 and "only an entry that says who and why raises" in refused.err
    file.write_text(pins)
    done = cli("release", path)
    assert done.code == 0, done.err


def test_another_review_policy_is_approved_by_the_people_of_the_one_in_force(cli, required):
    required()
    assert required(serial=2, days=5).code == 1
    asked = cli("review", "request", "--review-policy", "p.review.yaml", "--key", "cleo.pem")
    assert asked.code == 0, asked.err
    approve(cli, "p.review.change.review.json")
    assert required(serial=2, days=5).code == 0
    shown = cli("ledger", "show").out
    assert "review policy 1, sha256:" in shown
    assert "review policy 2, sha256:" in shown


def test_a_key_is_revoked_by_its_first_digits(cli, policy, required, project):
    required()
    cli("review", "request", policy(), "--key", "cleo.pem")
    approve(cli)
    name = key_id(load_public_key(project / "ben.pub"))
    assert cli("review", "revoke", "12345678", "--by", "Ada", "--why", "x").code == 2
    revoked = cli("review", "revoke", name[:8], "--by", "Ada", "--why", "stolen")
    assert revoked.code == 0
    assert "of ben: revoked" in revoked.out
    assert cli("release", "a.yaml").code == 1
    assert f"nothing counts that the key {name[:8]} of ben approves" in cli("ledger", "show").out


def test_the_project_file_names_the_review_policy(cli, policy, required, project):
    note = required().err
    digest = note.partition("{people: ")[2].partition("}")[0]
    file = project / "policy-engine.yaml"
    file.write_text(file.read_text() + f"reviews: {{people: 'sha256:{'0' * 64}'}}\n")
    refused = cli("release", policy())
    assert (refused.code, "the ledger requires sha256:" in refused.err) == (1, True)
    file.write_text(file.read_text().replace("0" * 64, digest.removeprefix("sha256:")))
    cli("review", "request", "a.yaml", "--key", "cleo.pem")
    approve(cli)
    assert cli("release", "a.yaml").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("request",), "name a POLICY"),
        (("request", "a.yaml", "--limit", "people"), "one only"),
        (("request", "--limit", "people", "--epsilon", "x"), "must be a number"),
        (("approve", "a.yaml", "--yes", "--role", "owner"), "must be a request"),
        (("approve", "nowhere.json", "--yes", "--role", "owner"), "does not exist"),
        (("show", "nowhere.json"), "does not exist"),
        (("reject", "nowhere.json", "--role", "owner"), "note"),
        (("status", "nowhere.json"), "does not exist"),
        (("request", "a.yaml", "--key", "mallory.pem"), "nobody's"),
    ],
)
def test_what_is_said_of_wrong_usage(cli, policy, required, project, words, said):
    policy()
    required()
    generate_key(project / "mallory.pem")
    done = cli("review", *words)
    assert done.code in {2, 3}
    assert said in done.err


def test_an_account_without_a_review_policy_has_nothing_to_ask(cli, policy):
    path = policy()
    cli("release", path)
    refused = cli("review", "request", path)
    assert (refused.code, "requires no approvals" in refused.err) == (1, True)


def test_what_a_request_shows_cannot_forge_a_line(cli, policy, required, project):
    required()
    cli("review", "request", policy(), "--key", "cleo.pem")
    document = json.loads((project / CLAIM).read_text())
    document["shown"]["query"] += "\n\x1b[2Kprice: ε 0.001"
    (project / CLAIM).write_text(json.dumps(document))
    refused = cli("review", "status", CLAIM)
    assert refused.code == 1
    assert "not what the request names" in refused.err


def test_a_source_is_the_accounts_before_its_first_charge(cli, policy, required, project):
    file = project / "policy-engine.yaml"
    file.write_text("accounts: {people: {epsilon: 1.0, delta: 1.0e-6}, others: {}}\n")
    path = policy()
    assert required().code == 0
    words = ("p.review.yaml", "--alone", "--by", "Ada", "--why", "a test", "--policy", path)
    for _ in range(2):
        done = cli("review", "require", *words)
        assert done.code == 0, done.err
    assert "the source that was charged to nobody yet" in cli("ledger", "show").out
    other = policy("b", ("account: people", "account: others"))
    refused = cli("release", other)
    assert (refused.code, "gave its source to account 'people'" in refused.err) == (1, True)
    # A source is where it lies: a link to it is the same.
    (project / "link.parquet").symlink_to("people.parquet")
    linked = policy("c", ("account: people", "account: others"), ("people.parquet", "link.parquet"))
    assert cli("release", linked).code == 1
    assert cli("ledger", "show", "--format", "json").document["entries"] == []
    assert cli("ledger", "verify").code == 0
    cli("review", "request", path, "--key", "cleo.pem")
    approve(cli)
    assert cli("release", path).code == 0


def test_a_source_of_another_account_is_not_taken(cli, policy, required, project):
    file = project / "policy-engine.yaml"
    file.write_text("accounts: {people: {epsilon: 1.0, delta: 1.0e-6}, others: {}}\n")
    other = policy("b", ("account: people", "account: others"))
    assert cli("release", other).code == 0
    assert required().code == 0
    words = ("p.review.yaml", "--alone", "--by", "Ada", "--why", "a test", "--policy", other)
    refused = cli("review", "require", *words)
    assert (refused.code, "belongs to account 'others' already" in refused.err) == (2, True)


def test_another_program_verifies_each_line_by_our_key_id_alone(cli, policy, required, project):
    required()
    cli("review", "request", policy(), "--key", "cleo.pem")
    approve(cli)
    for name, line in zip(("ada", "ben"), (project / BUNDLE).open(), strict=True):
        public = load_public_key(project / f"{name}.pub")
        ours = SSlibKey.from_crypto(public, keyid=key_id(public))
        envelope = Envelope.from_dict(json.loads(line))
        assert list(envelope.verify([ours], 1)) == [key_id(public)]
        with pytest.raises(VerificationError):
            envelope.verify([SSlibKey.from_crypto(public)], 1)


def test_the_report_says_whose_approvals_counted(cli, policy, required, project):
    required()
    cli("review", "request", policy(), "--key", "cleo.pem")
    approve(cli, CLAIM, "ada", "ben")
    assert cli("release", "a.yaml").code == 0
    late = ("review", "reject", CLAIM, "--role", "author", "--key", "cleo.pem", "--note", "no")
    assert "has served already, for record" in cli(*late).err
    cli(*late, "--anyway")
    bundle = project / BUNDLE
    twice, stranger = bundle.read_text(), Ed25519PrivateKey.generate()
    told = unverified(twice.splitlines()[0], APPROVAL)
    forged = statement(told.subject_name, told.subject_sha256, told.predicate, APPROVAL)
    bundle.write_text(twice + sign(forged, KeySigner(stranger)).to_json() + "\n")
    words = ("report", "out/a.certificate.json", "--release", "out/a.parquet", "--format", "json")
    made = cli(*words, "-o", "a.html").document
    assert made["band"]["colour"] == "green"
    found = [(each["person"], each["standing"]) for each in made["approvals"]]
    assert found[:2] == [("ada", "counted"), ("ben", "counted")]
    assert found[2:] == [("cleo", "not counted"), (None, "not counted")]
    fault = made["approvals"][2]["fault"]  # the clock of a signature has whole seconds
    assert "came after" in fault or "cleo has rejected it" in fault
    assert "nobody's in the review policy" in made["approvals"][3]["fault"]
    assert made["required"][0].startswith("for the claim: 1 of role owner, 1 of role privacy; all")
    bundle.unlink()
    kept = cli(*words).document["approvals"]
    assert [each["person"] for each in kept] == ["ada", "ben"]
    alone = cli(*words, "--key", "ada.pub").document
    assert alone["band"]["colour"] == "red"
    assert [each["standing"] for each in alone["approvals"]] == ["counted", "counted"]


def lines(project):
    return (project / BUNDLE).read_text().splitlines() if (project / BUNDLE).exists() else []


@pytest.mark.parametrize(
    ("name", "role", "why"),
    [
        ("cleo", "author", "cleo has asked for it"),
        ("ada", "privacy", "it is of another role than its signer's, owner"),
        ("ada", "wizard", "it is of another role than its signer's, owner"),
        ("dora", "author", "nobody of role author is asked, but owner, privacy"),
        ("mallory", "owner", "its key is nobody's in the review policy"),
    ],
)
def test_an_approval_that_would_not_count_is_not_written_unless_anyway(
    cli, policy, required, people, project, name, role, why
):
    for other in ("dora", "mallory"):
        key = Ed25519PrivateKey.generate()
        generate_key(project / f"{other}.pem", key)
        if other == "dora":
            people[other] = {
                "role": "author",
                "keys": [key_line(key.public_key().public_bytes_raw())],
            }
    required()
    cli("review", "request", policy(), "--key", "cleo.pem")
    words = ("review", "approve", CLAIM, "--yes", "--role", role, "--key", f"{name}.pem")
    refused = cli(*words)
    assert (refused.code, refused.out, lines(project)) == (2, "", [])
    assert f"nothing was written because it would not count: {why}" in refused.err
    written = cli(*words, "--anyway")
    assert (written.code, len(lines(project))) == (0, 1)
    assert f"it does not count: {why}" in written.err
    missing = cli("review", "status", CLAIM, "--format", "json").document["missing"]
    assert missing == ["1 more of role owner", "1 more of role privacy"]


def test_a_rejection_counts_by_any_role_and_a_strangers_is_not_written(
    cli, policy, required, project
):
    required()
    cli("review", "request", policy(), "--key", "cleo.pem")
    generate_key(project / "mallory.pem")
    words = ("review", "reject", CLAIM, "--role", "wizard", "--note", "no", "--key")
    refused = cli(*words, "mallory.pem")
    assert (refused.code, lines(project)) == (2, [])
    assert cli(*words, "cleo.pem").code == 0
    status = cli("review", "status", CLAIM)
    assert status.out.splitlines()[0] == "rejected by cleo: this request serves no more"
    found = cli("review", "status", CLAIM, "--format", "json").document
    assert (found["rejected_by"], found["met"]) == (["cleo"], False)


def test_who_approves_need_not_have_the_ledger(
    cli, policy, required, project, tmp_path_factory, monkeypatch
):
    required()
    cli("review", "request", policy(), "--key", "cleo.pem")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "c.claim.review.json").write_bytes((project / CLAIM).read_bytes())
    words = ("review", "approve", "c.claim.review.json", "--yes", "--role", "owner", "--key")
    monkeypatch.chdir(elsewhere)
    done = cli(*words, project / "ada.pem")
    assert (done.code, "no ledger is here" in done.err) == (0, True)
    (elsewhere / "policy-engine.yaml").write_text((project / "policy-engine.yaml").read_text())
    done = cli(*words, project / "ada.pem")
    assert (done.code, "whether it counts is not known here" in done.err) == (0, True)


def test_status_says_the_standing_first_and_the_query_only_when_it_is_asked_for(
    cli, policy, required
):
    required()
    path = policy(
        "a",
        ("k: 20", "k: 20\npurpose: a public table\nfilter: {sex: {in: [female]}}"),
    )
    assert cli("review", "request", path, "--key", "cleo.pem").code == 0
    first = cli("review", "status", CLAIM).out
    assert first.startswith("waits: 1 more of role owner; 1 more of role privacy\n")
    assert "SELECT" not in first
    for line in (
        'purpose: "a public table"',
        "each row is one person",
        '"out/a.parquet" (one row for each group)',
        'sex (text) is one of "female"',
    ):
        assert line in first
    assert "SELECT" in cli("review", "status", CLAIM, "--sql").out
    approve(cli, CLAIM)
    assert cli("review", "status", CLAIM).out.startswith("approved\n  approved by ada, owner\n")
    assert cli("release", path).code == 0
    shown = cli("ledger", "show").out
    assert "claim approved by ada (owner), ben (privacy); required by review policy" in shown
    [entry] = cli("ledger", "show", "--format", "json").document["entries"]
    assert entry["approvals"][0]["people"][0] == {"by": "ada", "role": "owner"}


def test_a_release_that_waits_is_shown_by_its_own_words(cli, policy, required, project):
    path = policy()
    assert required(claim=None, release={"privacy": 1}).code == 0
    assert "it is paid for, and waits" in cli("release", path).err
    [waiting] = (project / ".policy-engine/drawn").glob("*/*.parquet")
    shown = cli("show", waiting)
    assert shown.code == 0
    told = "it waits for approvals, confidential until then; its certificate is not signed yet"
    assert f"  - {told}\n" in shown.out
    assert "  - n / 0.1 estimates the group in the source" in shown.out
    assert "is not known" not in shown.out
    cli("review", "request", path, "--key", "cleo.pem")
    approve(cli, "out/a.certificate.release.review.json", "ben")
    assert cli("release", path).code == 0
    assert told not in cli("show", "out/a.parquet").out


def test_a_review_policy_that_one_lost_key_would_end_is_refused_unless_it_is_meant(
    cli, policy, required, project
):
    warned = required()
    assert warned.code == 0 and "warning: if one key of ada, ben, cleo is lost" in warned.err
    refused = cli("review", "require", "p.review.yaml", "--by", "Ada", "--why", "a test")
    assert refused.code == 2
    assert "nobody can approve a change of account 'people' any more" in refused.err
    assert "--alone sets it all the same" in refused.err


def test_a_review_policy_of_an_account_that_nobody_has_is_refused(cli, policy, required, project):
    file = project / "policy-engine.yaml"
    file.write_text("accounts: {people: {epsilon: 1.0, delta: 1.0e-6}}\n")
    mistyped = required(account="peple")
    assert mistyped.code == 2
    assert "there is no account 'peple'; did you mean 'people'?" in mistyped.err
    other = required(account="hospital")
    assert (other.code, "known: people" in other.err) == (2, True)
    file.write_text("accounts: {people: {epsilon: 1.0, delta: 1.0e-6}}\naccounts_open: true\n")
    assert required(account="peple").code == 2
    assert required(account="hospital").code == 0
    assert required().code == 0
    assert cli("release", policy()).code == 1


def test_how_a_change_is_asked_for_is_told_as_a_command(cli, required):
    required()
    words = ("people", "--epsilon", "2", "--delta", "1e-6", "--by", "Ada", "--why", "a test")
    limit = cli("ledger", "limit", *words)
    command = "review request --limit people --epsilon NUMBER --delta NUMBER"
    assert limit.code == 1
    assert f"'policy-engine {command} --key KEY' asks for them" in limit.err
    stricter = required(serial=2, days=10)
    command = "'policy-engine review request --review-policy FILE --key KEY' asks for them"
    assert (stricter.code, command in stricter.err) == (1, True)


@pytest.mark.parametrize(
    "words",
    [
        ("status", "a.json"),
        ("require", "a.yaml", "--by", "Ada", "--why", "a test"),
        ("revoke", "01234567", "--by", "Ada", "--why", "a test"),
    ],
)
def test_what_asks_the_ledger_says_where_there_is_no_project(cli, tmp_path, monkeypatch, words):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    done = cli("review", *words)
    assert (done.code, done.err.startswith("error: no policy-engine.yaml here or above")) == (
        2,
        True,
    )
