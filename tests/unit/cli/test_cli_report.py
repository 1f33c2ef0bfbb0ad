"""report: a certificate as a page and as JSON; what is stated, and what is not."""

from __future__ import annotations

import hashlib
import html
import json
import re
from base64 import b64encode
from contextlib import chdir
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.accounting.events import SampledSuppression
from policy_engine.attest.attestation import sign, statement
from policy_engine.attest.keys import load_private_key
from policy_engine.attest.signers import KeySigner
from policy_engine.ledger.account import Limit
from policy_engine.ledger.asked import Asked
from policy_engine.ledger.pricing import Spent, price

from .forged_envelopes import forged
from .test_noisy_counts import NOISY, WIDE
from .test_public_values import ANSWERS, PURE, TUPLES

SAID = (
    "name: a\n",
    "name: a\npurpose: yearly table\nabout: {contact: ada@example.org, recipients: the public,"
    " access: three people, justification: as last year,"
    " region: Bavaria, sector: health}\n",
)
SAMPLED = Asked(SampledSuppression(20, "0.1"), Decimal("0.5"), Decimal("2.6317834665e-11"))
CERTIFICATE, RELEASE = Path("out/a.certificate.json"), Path("out/a.parquet")


@pytest.fixture
def reported(cli, policy):
    """Releases the policy 'a' with some changes, and gives its report's document."""

    def made(*words, changes=(), **numbers):
        assert cli("release", policy("a", *changes, **numbers)).code == 0
        given = ("report", CERTIFICATE, "--release", RELEASE, "--format", "json", *words)
        found = cli(*given)
        # Of what the second route cannot reach the page is amber, and says so.
        assert found.code == {"green": 0, "amber": 4}[found.document["band"]["colour"]], found.err
        return found.document

    return made


def test_a_release_that_was_looked_at_is_green(reported):
    found = reported()
    assert found["band"]["colour"] == "green"
    assert found["band"]["reasons"] == []
    assert found["band"]["purpose"] is None
    assert found["details"]["promise"]["numbers"].endswith("unit: row")
    assert found["details"]["rows"]["size"] == 6
    assert found["check"]["release_sha256"] == hashlib.sha256(RELEASE.read_bytes()).hexdigest()
    assert [each["name"] for each in found["details"]["columns"]] == ["age", "sex"]


def test_the_page_answers_what_nist_asks_and_leaves_open_what_nobody_states(reported):
    found = reported()
    answers = {each["name"]: each["answer"] for each in found["details"]["hazards"]}
    [failure] = answers["δ as total failure"]
    assert re.match(r"ε = 0.5, δ = 2.63\S+, unit: row; ε = 1, δ = \S+, unit: row: ", failure)
    [read] = answers["Collecting too much, 4.5"]
    assert read.endswith(": age, sex")
    assert (
        "account people has paid for 0 other releases, about the same people;"
        in answers["Exact releases of the same data"][0]
    )
    assert len(answers["Side channels, 4.3"]) == 3
    assert answers["Trust that does not hold"] == []
    assert all(answers.values()) is False


def test_a_release_that_was_not_looked_at_is_amber(cli, policy):
    cli("release", policy())
    found = cli("report", CERTIFICATE, "--format", "json")
    assert (found.code, found.document["band"]["colour"]) == (4, "amber")
    assert found.document["details"]["rows"] is None
    assert found.document["details"]["risks"]["not_counted"] == "the release was not given"


def test_another_file_is_red_and_none_of_its_rows_are_shown(cli, policy):
    cli("release", policy())
    pq.write_table(pa.table({"age": ["hidden_value"], "sex": ["x"], "n": [20]}), "other.parquet")
    found = cli("report", CERTIFICATE, "--release", "other.parquet", "--format", "json")
    assert (found.code, found.document["band"]["colour"]) == (1, "red")
    assert "is not the release" in found.document["band"]["reasons"][0]
    assert "hidden_value" not in found.out
    # What holds is told from what does not: the certificate by itself holds.
    assert found.document["band"]["fault"] == "release"
    assert "The certificate is valid" in found.document["band"]["verdict"]
    assert cli("verify", CERTIFICATE).code == 4
    assert found.document["details"] is None
    cli("report", CERTIFICATE, "--release", "other.parquet", "-o", "p.html")
    page = Path("p.html").read_text().partition("<body>")[2]
    assert not any(part in page for part in ("even odds", "<svg", "Confirmed by", 'class="bar"'))


def test_a_stranger_s_certificate_is_red(cli, policy):
    cli("release", policy())
    Path("stranger.pub").write_text(
        cli("keys", "generate", "--output", "stranger.pem").out and Path("stranger.pub").read_text()
    )
    found = cli(
        "report", CERTIFICATE, "--release", RELEASE, "--key", "stranger.pub", "-o", "p.html"
    )
    assert found.code == 1
    assert "no signature by a trusted key" in found.out
    page = Path("p.html").read_text()
    assert 'class="band red"' in page
    assert "This certificate is not valid" in page
    assert "even odds" not in page and "<svg" not in page
    words = ("report", CERTIFICATE, "--key", "stranger.pub", "--format", "json")
    assert cli(*words).document["band"]["fault"] == "certificate"


def test_a_certificate_of_a_later_version_is_red_and_says_nothing_of_its_own(cli, policy):
    cli("release", policy())
    later = forged(CERTIFICATE, lambda payload: payload["predicate"].update(further=1))
    found = cli("report", later, "-o", "p.html", "--format", "json")
    assert (found.code, found.document["details"]) == (1, None)
    assert "do not know" in found.out or "does not know" in found.out
    assert "cannot be read" in Path("p.html").read_text()


def test_the_page_and_both_ways_to_json_say_the_same(cli, policy):
    cli("release", policy())
    words = ("report", CERTIFICATE, "--release", RELEASE)
    shown = cli(*words, "--format", "json").document
    assert cli(*words, "-o", "a.json").code == cli(*words, "-o", "a.html").code == 0
    assert json.loads(Path("a.json").read_text()) == shown
    page = Path("a.html").read_text()
    assert shown["details"]["promise"]["sentence"] in page
    assert cli(*words, "-o", "b.html").code == 0
    assert Path("b.html").read_bytes() == Path("a.html").read_bytes()


def test_a_report_is_not_written_over_unless_asked(cli, policy):
    cli("release", policy())
    Path("a.html").write_text("mine")
    assert cli("report", CERTIFICATE, "-o", "a.html").code == 3
    assert Path("a.html").read_text() == "mine"
    assert cli("report", CERTIFICATE, "-o", "a.html", "--replace").code == 4
    assert cli("report", CERTIFICATE, "-o", "a.pdf").code == 2
    assert cli("report", CERTIFICATE).code == 2


def test_what_the_author_says_stands_in_the_certificate(reported):
    found = reported(changes=(SAID,))
    assert found["band"]["purpose"] == "yearly table"
    assert found["check"]["contact"] == "ada@example.org"
    assert found["details"]["protection"]["recipients"] == "the public"
    assert found["details"]["protection"]["access"] == "three people"
    assert found["details"]["promise"]["justification"] == "as last year"
    assert (found["band"]["region"], found["band"]["sector"]) == ("Bavaria", "health")


def test_an_empty_statement_in_a_certificate_is_refused(cli, policy):
    cli("release", policy())
    empty = forged(CERTIFICATE, lambda payload: payload["predicate"].update(purpose=""))
    assert "lacks or misstates: purpose" in cli("verify", empty).err


def test_a_very_long_region_is_cut_on_the_page_and_its_length_is_said(cli, policy):
    cli("release", policy())
    long = forged(CERTIFICATE, lambda payload: payload["predicate"].update(region="x" * 200_000))
    assert cli("report", long, "-o", "a.html").code == 4
    page = Path("a.html").read_text()
    assert "… (the first 2000 of 200000 characters)" in page
    assert len(page) < 100_000
    assert len(cli("report", long, "--format", "json").document["band"]["region"]) == 200_000


def test_how_it_was_made_says_which_models_hold(reported):
    models = ("k: 20", "k: 20\nmodels: {l_diversity: {of: sex, l: 2}}")
    steps = reported(changes=(models,))["details"]["how"]["steps"]
    assert [each["name"] for each in steps][-3:] == ["suppress", "models", "release"]
    assert "classes that do not have distinct 2-diversity of sex are left out" in steps[-2]["text"]


def test_who_set_the_limit_and_why(cli, reported):
    reported()
    by = ("--by", "Ada", "--why", "the 2026 wave")
    assert cli("ledger", "limit", "people", "--epsilon", "2", "--delta", "1e-6", *by).code == 0
    Path("policy-engine.yaml").write_text("accounts: {people: {epsilon: 2.0, delta: 1.0e-6}}\n")
    words = ("report", CERTIFICATE, "--release", RELEASE, "--format", "json")
    budget = cli(*words).document["account"]
    assert (budget["limit_by"], budget["limit_why"]) == ("Ada", "the 2026 wave")
    assert (budget["before"]["epsilon"], budget["this"]["epsilon"]) == ("0", "0.5")
    assert budget["limit"] == {"epsilon": "2", "delta": "0.000001"}


def test_what_the_page_adds_up_is_of_other_releases(cli, policy):
    """ "After it ε 0" was read as the account's total after the release."""
    cli("release", policy("b"))
    cli("release", policy())
    words = ("report", CERTIFICATE, "--release", RELEASE, "--output", "page.html")
    assert cli(*words).code in (0, 4)
    page = Path("page.html").read_text()
    assert "<dt>Earlier releases</dt><dd>ε 0.5, δ " in page
    assert "<dt>Later releases</dt><dd>ε 0, δ 0 (sums of the certificates)</dd>" in page


def test_the_page_for_the_public_names_no_other_release_and_no_folder(cli, policy, reported):
    cli("release", policy("other", k="30"))
    public = reported()
    internal = reported("--audience", "internal")
    assert public["account"]["charges"] == internal["account"]["charges"] == 2
    assert [each["policy"] for each in internal["account"]["others"]] == ["other"]
    assert public["account"]["others"] == []
    assert internal["check"]["trusted"] and not public["check"]["trusted"]
    assert "out/" not in public["check"]["command"]


def test_the_bar_is_what_the_rule_says_was_spent(cli, policy):
    """Four releases of ε 0.5 at a limit of 1 showed a full bar: their sum."""
    for name in "bcd":
        cli("release", policy(name))
    cli("release", policy())
    cli("release", policy("e"))
    words = ("report", CERTIFICATE, "--release", RELEASE, "--format", "json")
    budget = cli(*words).document["account"]
    [account] = cli("ledger", "show", "people", "--format", "json").document["accounts"]
    parts = [budget[name]["share"] for name in ("before", "this", "since")]
    assert all(part > 0 for part in parts)
    assert sum(parts) == pytest.approx(account["epsilon_spent"] / account["epsilon_limit"])
    assert sum(parts) < 0.5 < 2.5 == account["epsilon_basic"]
    # One release at its own δ is another pair at the limit's: no sum of several is needed for it.
    assert budget["this"]["epsilon"] == "0.5"
    alone = Spent.none("add_remove").plus(SAMPLED, None)
    tight = price(alone, Limit(Decimal(1), Decimal("1e-6"))).tight_epsilon
    assert Decimal(budget["alone"]["epsilon"]) == tight < Decimal("0.2")
    assert budget["left"]["alike"] == account["left"]["like_this"]


def test_that_who_knows_the_rest_can_tell_is_called_a_guess_and_is_one(cli, policy, project):
    """Nearly everybody of 50 and older is female: 100 males of them are too few to be shown."""
    ages, sexes = [70] * 5000 + [70] * 100 + [20] * 5000, ["f"] * 5000 + ["m"] * 100 + ["m"] * 5000
    pq.write_table(pa.table({"age": ages, "sex": sexes}), "people.parquet")
    cli("release", policy(k="60"))
    words = ("report", CERTIFICATE, "--release", RELEASE)
    found = cli(*words, "--format", "json").document["details"]["risks"]
    sex = next(each for each in found["alike"] if each["column"] == "sex")
    assert (sex["combinations"], sex["known"]) == (2, 2)
    assert sex["people"] == sex["of_people"] < len(ages)  # of the sample, not of the source
    assert found["counted"] == "people of the sample"
    wrong = sum(age == 70 and sex == "m" for age, sex in zip(ages, sexes, strict=True))
    assert wrong == 100  # of whom the guess is wrong
    cli(*words, "-o", "p.html")
    page = Path("p.html").read_text()
    assert "can guess this value" in page and "learns this one" not in page
    assert "It is not known how often such guesses are right." in page


def test_without_a_ledger_the_budget_is_not_stated(cli, policy, tmp_path, monkeypatch):
    cli("release", policy())
    key = Path(".policy-engine/signing.pub").resolve()
    folder = tmp_path / "reviewer"
    folder.mkdir()
    for name in (CERTIFICATE, RELEASE, key):
        (folder / Path(name).name).write_bytes(Path(name).read_bytes())
    (folder / "policy-engine.yaml").write_text("{}\n")
    monkeypatch.chdir(folder)
    words = ("a.certificate.json", "--release", "a.parquet", "--key", "signing.pub")
    assert cli("report", *words, "--format", "json").document["account"] is None


def test_the_policy_must_be_the_certificate_s(cli, policy, reported):
    assert reported("--policy", "a.yaml")["band"]["colour"] == "green"
    other = policy("b")
    found = cli("report", CERTIFICATE, "--release", RELEASE, "--policy", other, "--format", "json")
    assert (found.code, found.document["band"]["colour"]) == (1, "red")
    assert "is not the certificate's policy" in found.document["band"]["reasons"][0]
    assert found.document["band"]["fault"] == "policy"


def test_changes_since_the_previous_one(cli, policy, reported):
    cli("release", policy("b", ("[30, 60]", "[30]")))
    found = reported("--previous", "out/b.certificate.json")["changed"]
    by_key = {each["key"]: each for each in found["changes"]}
    assert by_key["recode.age"]["effect"] == "weaker"
    assert found["file"] == "b.certificate.json" and found["fault"] is None
    text = Path("out/b.certificate.json").read_text()
    head, sig = text.split('"sig": "')
    Path("b.json").write_text(f'{head}"sig": "{"A" if sig[0] != "A" else "B"}{sig[1:]}')
    words = ("report", CERTIFICATE, "--release", RELEASE, "--format", "json")
    assert cli(*words, "--previous", "b.json").document["changed"]["fault"]


def approval(key, **said):
    told = {"verdict": "approved", "role": "reviewer", "time": "2026-01-01T00:00:00Z", **said}
    made = statement("a.parquet", "0" * 64, told, "https://policy-engine.dev/approval/v1")
    return sign(made, KeySigner(key)).to_json()


def test_without_a_ledger_an_approval_names_its_key_and_a_trusted_one_signs(cli, policy):
    cli("release", policy())
    own = load_private_key(Path(".policy-engine/signing.pem"))
    public = Path(".policy-engine/signing.pub").resolve()
    said = "only the review policy says who has this key"
    lines = [
        approval(own), approval(Ed25519PrivateKey.generate(), note="<b>mine</b>"), "{}", "",
        json.dumps({"payload": b64encode(b"[1").decode(), "payloadType": "x", "signatures": []}),
    ]  # fmt: skip
    Path("elsewhere").mkdir()
    for name in ("a.approvals.intoto.jsonl", "a.certificate.approvals.intoto.jsonl"):
        place = Path("elsewhere") / name.partition(".")[2]
        place.mkdir()
        (place / CERTIFICATE.name).write_bytes(CERTIFICATE.read_bytes())
        (place / name).write_text("\n".join(lines))
        (place / "policy-engine.yaml").write_text("{}\n")
        with chdir(place):
            words = ("a.certificate.json", "--key", public, "-o", "a.html", "--format", "json")
            made = cli("report", *words).document
            page = Path("a.html").read_text()
        found = made["approvals"]
        assert (made["required"], made["band"]["colour"]) == (None, "amber")
        assert [each["verdict"] for each in found] == ["approved", "approved", None, None]
        assert [e["standing"] for e in found] == ["signed", "not known", "broken", "broken"]
        assert (found[0]["fault"], found[0]["role"]) == ("", "reviewer")
        assert said in found[1]["fault"] and "something else:" in page


def test_no_approval_counts_where_nobody_was_asked(reported):
    found = reported()
    assert (found["approvals"], found["required"]) == ([], [])
    Path("out/a.approvals.intoto.jsonl").write_text(
        approval(load_private_key(Path(".policy-engine/signing.pem")))
    )
    [line] = reported("-o", "a.html")["approvals"]
    assert (line["standing"], line["fault"]) == ("not counted", "nobody was asked to approve this")
    assert "required no approvals for this release" in Path("a.html").read_text()


@pytest.mark.parametrize(
    ("changes", "numbers", "steps", "bars"),
    [
        ((), {}, ["source", "sample", "recode", "count", "suppress", "release"], 4),
        ((NOISY,), WIDE, ["source", "recode", "count", "noise", "suppress", "release"], 4),
        (ANSWERS, PURE, ["source", "recode", "randomise", "release"], 2),
        (TUPLES, PURE, ["source", "recode", "look", "randomise", "release"], 2),
    ],
    ids=["sampled", "noisy", "answers", "tuples"],
)
def test_every_mechanism_has_its_steps_and_chances(reported, changes, numbers, steps, bars):
    found = reported("-o", "a.html", changes=changes, **numbers)
    how = found["details"]["how"]
    assert [each["name"] for each in how["steps"]] == steps
    assert [len(each["bars"]) for each in how["chances"]] == [bars]
    assert how["meaning"]
    assert all(0 <= bar["share"] <= 1 for each in how["chances"] for bar in each["bars"])
    assert all(each["meaning"] for each in found["check"]["clauses"])


def test_each_grouping_has_its_own_chances(reported):
    rollup = (NOISY[0], f"{NOISY[1]}rollup: {{to: [sex], share: 0.2}}\n")
    found = reported(changes=(rollup,), **WIDE)["details"]
    assert [each["caption"][-11:] for each in found["how"]["chances"]] == [
        "by age, sex",
        "hown by sex",
    ]
    assert "several sets" in found["risks"]["not_counted"]


def test_each_sum_and_mean_has_its_own_noise(reported):
    total = "{sum: age, bounds: [0, 9000]}"
    mean = "{mean: age, bounds: [0, 90], missing: {as: 0}}"
    own = f"measures: {{years: {total}, old: {mean}}}"
    how = reported(changes=((NOISY[0], f"{NOISY[1]}{own}\n"),), **WIDE)["details"]["how"]
    steps = {each["name"]: each["text"] for each in how["steps"]}
    beside = "the sum of age over the people with a value (years), the mean of age over the people"
    assert beside in steps["count"]
    count, years, old = steps["noise"].split("; ")
    ends = [re.findall(r"from -(\d+) to (\d+) is added", each) for each in (count, years, old)]
    assert len({str(each) for each in ends}) == 3
    assert count.endswith("added to each count")
    assert years.startswith("900 times a random") and years.endswith(
        "to each sum of which years is made"
    )
    assert old.startswith("3 times a random") and old.endswith("to each sum of which old is made")


def test_each_sum_of_a_rollup_has_the_noise_of_its_grouping(reported):
    own = "measures: {years: {sum: age, bounds: [0, 9000]}}\nrollup: {to: [sex]}\n"
    how = reported(changes=((NOISY[0], f"{NOISY[1]}{own}"),), **WIDE)["details"]["how"]
    steps = {each["name"]: each["text"] for each in how["steps"]}
    noises = steps["noise"].split("; ")
    assert [each.startswith("by sex ") for each in noises] == [False, False, True, True]
    assert noises[3].endswith("added to each sum of which years is made")
    ends = [int(re.search(r"to (\d+) is added", each)[1]) for each in noises]
    assert ends[2] > ends[0] and ends[3] > ends[1]


def test_a_release_of_nothing_says_so(cli, policy, project):
    pq.write_table(pa.table({"age": [1], "sex": ["x"]}), project / "people.parquet")
    assert cli("release", policy()).code == 0
    found = cli("report", CERTIFICATE, "--release", RELEASE, "-o", "a.html")
    assert found.code == 0
    assert "no group was large enough" in Path("a.html").read_text()


#: What a reviewer asks of a page: the question, the section that answers it, and by which words.
QUESTIONS = [
    ("Does this hold, and did somebody look at the file?", "verdict", "Verified"),
    ("If it does not, why?", "verdict", "✗"),
    ("What is it, and what is it for?", "verdict", "Purpose"),
    (
        "Who vouches for it, and when did they certify it, by their own clock?",
        "verdict",
        "Certified",
    ),
    ("What can somebody find out about one person?", "promise", "of the time"),
    ("What are ε and δ, and of whom?", "promise", "unit:"),
    ("Is that much or little, beside what others do?", "promise", "no ranking"),
    ("Why these numbers?", "promise", "Why these numbers"),
    ("Who counts as one person?", "protection", "Protected"),
    ("Who must be trusted, and who can get at the data?", "protection", "Who must be trusted"),
    ("What was done to the data, step by step?", "how", "Suppress"),
    ("How large must a group be to be seen?", "how", "How likely a group"),
    ("What does a number mean, and how wrong is it?", "how", "give or take"),
    ("Which columns leave, and how coarse?", "columns", "column of the source"),
    (
        "What does it mean that a group is missing?",
        "columns",
        "A group that is not shown can have people",
    ),
    ("What can still be learnt of groups that are alike?", "risks", "Groups that are alike"),
    ("What must be true that no program checks, and who confirms it?", "risks", "Confirmed by:"),
    ("What else was released about these people, and what is left?", "account", "Account"),
    ("What changed since the last time, and who approved it?", "changes", "guarantee.epsilon"),
    ("How do I check all this without you?", "check", "policy-engine verify"),
]


def unanswered(page):
    """The sections and words that are not on a page, as somebody reads it."""
    sections = dict(re.findall(r'id="(\w+)"(.*?)(?=<section|<main|<footer)', page, re.DOTALL))
    read = {name: html.unescape(re.sub(r"<[^>]*>", "", body)) for name, body in sections.items()}
    return [(name, words) for _, name, words in QUESTIONS if words not in read.get(name, "")]


def test_three_documents_answer_the_twenty_questions(cli, policy):
    """A release, its change, and one that is refused."""
    assert cli("release", policy("a", SAID)).code == 0
    assert cli("release", policy("b", epsilon="0.4")).code == 0
    words = ("--release", RELEASE, "--previous", "out/b.certificate.json")
    assert cli("report", CERTIFICATE, "--release", RELEASE, "-o", "release.html").code == 0
    assert cli("report", CERTIFICATE, *words, "-o", "change.html").code == 0
    Path("out/a.parquet").write_bytes(Path("out/b.parquet").read_bytes())
    assert cli("report", CERTIFICATE, *words, "-o", "refused.html").code == 1
    release, change, refused = (
        unanswered(Path(f"{name}.html").read_text()) for name in ("release", "change", "refused")
    )
    reason, changed, verdict = ("verdict", "✗"), ("changes", "guarantee.epsilon"), "Verified"
    assert release == [reason, changed]  # it holds, and no former one was named
    assert change == [reason]
    # Of what does not hold nothing is answered but that, what changed, and how to check it.
    assert ("verdict", verdict) in refused and ("promise", "of the time") in refused
    assert reason not in refused and changed not in refused
    assert "not given" not in Path("refused.html").read_text()


def test_no_epsilon_of_a_page_stands_without_delta(reported):
    reported("-o", "a.html")
    page = Path("a.html").read_text().split("</style>")[1].split('id="published"')[0]
    for sentence in re.findall(r">([^<]*ε [=\d][^<]*)<|aria-label=\"([^\"]*ε [=\d][^\"]*)\"", page):
        text = "".join(sentence)
        assert "δ" in text, text


def test_an_approval_of_this_release_and_of_this_claim_is_told_from_others(cli, policy):
    cli("release", policy())
    own = load_private_key(Path(".policy-engine/signing.pem"))
    check = cli("report", CERTIFICATE, "--format", "json").document["check"]
    told = {"verdict": "approved", "role": "owner", "time": "2026-01-01T00:00:00Z"}
    lines = [
        sign(
            statement("a", check[name], told, "https://policy-engine.dev/approval/v1"),
            KeySigner(own),
        ).to_json()
        for name in ("release_sha256", "claim_sha256")
    ]
    Path("out/a.approvals.intoto.jsonl").write_text("\n".join(lines))
    assert cli("report", CERTIFICATE, "-o", "a.html").code == 4
    page = Path("a.html").read_text()
    assert "<td>this release</td>" in page and "<td>this claim, before" in page
    assert "something else" not in page


def test_whose_key_it_is_says_the_keyring(cli, policy):
    assert cli("keys", "generate", "--note", "Statistics office").code == 0
    assert cli("ledger", "begin").code == cli("release", policy()).code == 0
    band = cli("report", CERTIFICATE, "--format", "json").document["band"]
    assert band["releaser_note"] == "Statistics office"
    bare = cli("report", CERTIFICATE, "--key", ".policy-engine/signing.pub", "--format", "json")
    assert bare.document["band"]["releaser"] == band["releaser"]
