"""desk, as a process that a browser, a stranger's page and another user ask."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.attest.keys import generate_key
from policy_engine.desk.views import account_id
from policy_engine.policy.review_models import key_line


@dataclass(frozen=True)
class Server:
    process: subprocess.Popen[str]
    port: int
    word: str

    def ask(self, path: str, method: str = "GET", word: str | None = None, **headers: str):
        """Status, headers and body of one request; ``path`` goes out as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        said = {"Host": f"127.0.0.1:{self.port}"} | headers
        connection.putrequest(method, f"/{word or self.word}{path}", skip_host=True)
        for name, value in said.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, body

    def page(self, path: str) -> str:
        status, _, body = self.ask(path)
        assert status == 200, body
        return body


@pytest.fixture
def serving(project):
    """Starts the server in the project's folder."""
    started = []

    def start(*words: str) -> Server:
        command = [sys.executable, "-m", "policy_engine", "desk", "--port", "0", *words]
        process = subprocess.Popen(
            [*command, "--format", "json"], cwd=project, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        started.append(process)
        assert process.stdout is not None
        text = ""
        while not text.endswith("}\n"):
            line = process.stdout.readline()
            assert line, process.stderr.read() if process.stderr else ""
            text += line
        _, _, rest = json.loads(text)["address"].partition("://")
        place, word, _ = rest.split("/")
        return Server(process, int(place.rpartition(":")[2]), word)

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def state_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a folder: when it was changed, and what it holds.

    Not the folders' own times: whoever reads a SQLite file has its locks beside it meanwhile.
    """
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


PAGES = ("/", "/releases", "/releases?page=7", "/waiting", "/policies", "/keys", "/nowhere")


def test_it_shows_what_the_ledger_has_and_writes_nothing(cli, policy, project, serving):
    assert cli("release", policy()).code == 0
    words = ("--epsilon", "0.9", "--delta", "1e-6", "--by", "Ada", "--why", "the plan of 2026")
    cli("ledger", "limit", "people", *words)
    (project / "policy-engine.yaml").write_text(
        (project / "policy-engine.yaml").read_text().replace("epsilon: 1.0", "epsilon: 0.9")
    )
    assert cli("release", policy("b", k="30")).code == 0
    before = state_of(project)
    server = serving()
    first = server.page("/")
    assert first.index("out/b.parquet") < first.index("out/a.parquet")
    account = server.page(f"/accounts/{account_id('people')}")
    assert 'by <b class="text">Ada</b>: <span class="text">the plan of 2026</span>' in account
    entries = cli("ledger", "show", "--format", "json").document["entries"]
    entry = server.page(f"/releases/{entries[0]['entry']}")
    [report] = {part.split('"')[0] for part in entry.split('href="../reports/')[1:]}
    page = server.page(f"/reports/{report}")
    assert "Verified: the certificate is valid" in page
    assert "the plan of 2026" in page
    for path in PAGES:
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
            server.ask(path, method)
    assert state_of(project) == before


def test_a_policy_is_shown_with_what_it_promises(policy, project, serving):
    """Noisy counts were "groups of 1 or more", and a policy without (ε, δ) "has problems"."""
    text = policy().read_text()
    noisy = text.replace("sample: {rate: 0.1}\nk: 20\n", "")
    listed = "public_groups: {file: groups.csv}\n"
    (project / "groups.csv").write_text("age,sex\n<30,female\n<30,male\n")
    (project / "noisy.yaml").write_text(noisy)
    (project / "listed.yaml").write_text(noisy + listed)
    models = "k: 5\nmodels: {l_diversity: {of: sex, l: 2}}\nguarantee: none\n"
    without = f"{noisy.split('guarantee')[0]}{models}release: {{file: out/w.parquet}}\n"
    (project / "without.yaml").write_text(without)
    page = " ".join(serving().page("/policies").split())
    found = re.findall(r"<dt>Promises</dt><dd>(.*?)</dd>", page)
    assert len(found) == 4, page
    assert sorted(re.sub(r"group of \d+ is", "group of N is", each) for each in found) == [
        "no (ε, δ): nothing is promised to any person",
        "ε 0.5, δ 1e-9 for one row; a group of N is shown half the time",
        "ε 0.5, δ 1e-9 for one row; a group of N is shown half the time",
        "ε 0.5, δ 1e-9 for one row; every public group is shown",
    ]


def test_what_is_charged_meanwhile_is_shown(cli, policy, serving):
    assert cli("release", policy()).code == 0
    server = serving()
    assert "out/b.parquet" not in server.page("/")
    assert cli("release", policy("b", k="30")).code == 0
    assert "out/b.parquet" in server.page("/")


LEVELS = ("age: {bins: [30, 60]}", "age: {levels: [{bins: [30, 60]}, {bins: [60]}], level: 1}")
SEARCHED = "search: {epsilon: 0.125}\n"


def report_of(page: str) -> str:
    """The one report that a page leads to."""
    [found] = re.findall(r'href="\.\./(reports/[0-9a-f]{64})"', page)
    return f"/{found}"


def test_a_private_choice_is_listed_and_its_entry_leads_to_its_page(cli, policy, project, serving):
    path = policy("a", LEVELS, ("account:", f"{SEARCHED}account:"))
    assert cli("search", path).code == 0
    levels = cli("search", path, "--format", "json").document["levels"]
    server = serving()
    account = f"/accounts/{account_id('people')}"
    age = ("bins: [30, 60]", "bins: [60]", "one label for all: *")
    chosen = f"A private choice of the level of each column: age: {age[levels['age'] - 1]}; sex: "
    for place in ("/", "/releases", account):
        text = server.page(place)
        assert "search of a" in text and "a.chosen.yaml" in text, place
        assert "ε 0.125, δ 0" in text and "✓ valid" in text and "<td>published</td>" not in text
        assert chosen in text
    [entry] = re.findall(r'href="\.\./(releases/\d+)"', server.page(account))
    page = server.page(f"/{entry}")
    assert "<dt>Chosen policy</dt>" in page and "the chosen policy was written" in page
    assert "Changes since the release" not in page
    assert report_of(page) == report_of(server.page(account))
    report = server.page(report_of(page))
    assert "Verified: the certificate of this choice is valid" in report
    assert f"entry {entry.partition('/')[2]} of its ledger" in report

    # The page of the release by the chosen policy tells of the choice as well.
    assert cli("release", "a.chosen.yaml").code == 0
    last = re.findall(r'href="\./(reports/[0-9a-f]{64})"', server.page("/"))[0]
    assert "How the recoding was chosen" in server.page(f"/{last}")

    # A policy that was changed, or is gone, is not said to be the one that was chosen.
    file = project / "a.chosen.yaml"
    file.write_text(file.read_text() + "\n")
    text = server.page(f"/{entry}")
    assert "✗ not valid" in text and "it was changed" in text
    assert chosen not in text
    file.unlink()
    assert "the chosen policy was not checked" in server.page(f"/{entry}")
    assert "do not rely" not in server.page(report_of(page))


def test_limits_that_were_chosen_are_listed_too(cli, policy, project, serving):
    numbers = "measures: {years: {sum: age, per: row, bounds: [0, 100]}}\n"
    noisy = ("sample: {rate: 0.1}\nk: 20\n", numbers)
    assert cli("suggest", policy("b", noisy), "--epsilon", "0.125").code == 0
    text = serving().page("/releases")
    assert "suggestion for b" in text and "b.suggested.yaml" in text and "✓ valid" in text
    [bounds] = re.findall(r"bounds: (\[.*?\])", (project / "b.suggested.yaml").read_text())
    assert f"A private choice of the limits for one person: measures.years.bounds: {bounds}" in text


def test_a_link_to_a_choice_out_of_the_project_is_not_followed(
    cli, policy, project, serving, tmp_path_factory
):
    path = policy("a", LEVELS, ("account:", f"{SEARCHED}account:"))
    assert cli("search", path).code == 0 and cli("release", "a.chosen.yaml").code == 0
    server = serving()
    last = re.findall(r'href="\./(reports/[0-9a-f]{64})"', server.page("/"))[0]
    assert "How the recoding was chosen" in server.page(f"/{last}")
    own = project / "a.chosen.certificate.json"
    own.symlink_to(own.rename(tmp_path_factory.mktemp("away") / own.name))
    assert "How the recoding was chosen" not in server.page(f"/{last}")


def test_a_release_without_a_promise_has_its_page(cli, policy, project, serving):
    (project / "policy-engine.yaml").write_text("accounts: {people: {guarantee: none}}\n")
    none = ("guarantee: {epsilon: 0.5, delta: 1.0e-9}", "guarantee: none")
    assert cli("release", policy("a", none, ("sample: {rate: 0.1}\n", ""))).code == 0
    server = serving()
    page = server.page("/releases/1")
    assert "the statement promises no (ε, δ)" in page and "<dd>no (ε, δ) for one row" in page
    assert "No (ε, δ): the statement is valid" in server.page(report_of(page))


def test_what_changed_between_releases_is_shown(cli, policy, serving):
    assert cli("release", policy()).code == 0
    assert cli("release", policy(k="15", delta="1.0e-7"), "--replace").code == 0
    entries = cli("ledger", "show", "--format", "json").document["entries"]
    text = serving().page(f"/releases/{entries[1]['entry']}")
    assert "smaller groups are shown" in text
    assert f'<a href="../releases/{entries[0]["entry"]}">' in text


def test_a_release_that_was_changed_is_red(cli, policy, project, serving):
    assert cli("release", policy()).code == 0
    server = serving()
    assert "✓ valid" in server.page("/releases")
    file = project / "out/a.parquet"
    file.write_bytes(file.read_bytes() + b"x")
    assert "✗ not valid" in server.page("/releases")
    file.unlink()
    assert "! checked in part" in server.page("/releases")


def test_nothing_but_reading_is_answered(serving):
    server = serving()
    for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "FOO"]:
        for path in PAGES:
            status, headers, _ = server.ask(path, method)
            assert (status, headers["allow"]) == (405, "GET, HEAD"), method


OTHERS = ("evil.example", "evil.example:{}", "127.0.0.1", "127.0.0.1:1",
          "localhost.evil.example:{}", "127.0.0.1:{}.evil.example", "",
          "127.0.0.1:{}@evil.example")  # fmt: skip


def test_a_page_of_another_name_gets_nothing(cli, policy, serving):
    assert cli("release", policy()).code == 0
    server = serving()
    for host in OTHERS:
        status, headers, body = server.ask("/", Host=host.format(server.port))
        assert status == 421, host
        assert "people" not in body
        assert "default-src 'none'" in headers["content-security-policy"]
    assert server.ask("/", Host=f"LOCALHOST:{server.port}")[0] == 200


def test_whoever_has_not_the_address_gets_nothing(serving):
    server = serving()
    for word in ("x", "..", server.word[:-1], server.word + "x", "ä".encode().hex()):
        assert server.ask("/", word=word)[0] == 404


WRONG = (
    "/reports/../../policy-engine.yaml", "/reports/..%2f..%2fpolicy-engine.yaml",
    "/reports/%2e%2e/keys", "/reports/" + "0" * 64, "/reports/out/a.certificate.json",
    "/reports/a.certificate.json", "//etc/passwd", "/../.policy-engine/signing.pem",
    "/reports/%00", "/accounts/people", "/releases/999999", "/releases/-1", "/releases/x",
)  # fmt: skip


def test_no_address_names_a_file(cli, policy, serving):
    assert cli("release", policy()).code == 0
    server = serving()
    for path in WRONG:
        status, _, body = server.ask(path)
        assert status == 404, path
        assert "PRIVATE" not in body
        assert "epsilon: 1.0" not in body


def test_a_link_out_of_the_project_is_not_followed(cli, policy, project, serving, tmp_path_factory):
    assert cli("release", policy()).code == 0
    away = tmp_path_factory.mktemp("away")
    certificate = (project / "out/a.certificate.json").rename(away / "a.certificate.json")
    (project / "out/a.certificate.json").symlink_to(certificate)
    assert "no certificate in this folder" in serving().page("/releases")


def test_every_answer_has_the_headers(serving):
    server = serving()
    for path in ("/", "/nowhere", "/releases"):
        _, headers, _ = server.ask(path)
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert "unsafe" not in policy
        assert "script" not in policy
        expected = {"cache-control": "no-store", "referrer-policy": "no-referrer",
                    "x-content-type-options": "nosniff", "x-frame-options": "DENY",
                    "cross-origin-resource-policy": "same-origin"}  # fmt: skip
        assert expected.items() <= headers.items()
        assert "server" not in headers
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_it_listens_to_this_machine_alone_unless_it_is_told_what_else_means(cli, project, host):
    refused = cli("desk", "--host", host)
    assert (refused.code, "without a password" in refused.err) == (2, True)


def test_open_to_the_network_it_says_so_and_keeps_its_names(cli, project, serving):
    server = serving("--host", "0.0.0.0", "--open-to-network", "--name", "desk.example")
    assert server.ask("/", Host=f"desk.example:{server.port}")[0] == 200
    assert server.ask("/", Host=f"other.example:{server.port}")[0] == 421
    server.process.send_signal(signal.SIGINT)
    assert "no password and no encryption" in server.process.communicate(timeout=30)[1]


def test_a_port_that_is_taken_is_said(cli, project):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = cli("desk", "--port", taken.getsockname()[1])
    assert (refused.code, "--port 0 takes a port" in refused.err) == (3, True)


def test_ctrl_c_ends_it_well(serving):
    server = serving()
    server.page("/")
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(timeout=30) == 0


def test_a_ledger_that_does_not_hold_is_said_before_anything_is_shown(cli, policy, project):
    assert cli("release", policy()).code == 0
    (project / ".policy-engine/ledger.sqlite").unlink()
    refused = cli("desk", "--port", "0")
    assert (refused.code, "the ledger is not here" in refused.err) == (3, True)


def test_what_is_wrong_later_is_said_in_the_browser(cli, policy, project, serving):
    assert cli("release", policy()).code == 0
    server = serving()
    (project / "policy-engine.yaml").write_text("accounts: {people: <script>}\n")
    status, _, body = server.ask("/")
    assert status == 500
    assert "policy-engine.yaml:1" in body
    assert "<script>" not in body


def test_approvals_that_wait_and_their_ends_are_shown(cli, policy, project, serving):
    told = {}
    for name, role in (("ada", "owner"), ("ben", "privacy"), ("cleo", "author")):
        key = Ed25519PrivateKey.generate()
        generate_key(project / f"{name}.pem", key)
        told[name] = {"role": role, "keys": [key_line(key.public_key().public_bytes_raw())]}
    document = {"version": 1, "account": "people", "serial": 1, "people": told, "days": 3,
                "claim": {"owner": 1, "privacy": 1}, "change": {"owner": 1},
                "expires": "2999-12-31"}  # fmt: skip
    (project / "p.review.yaml").write_text(json.dumps(document))
    assert (
        cli("review", "require", "p.review.yaml", "--alone", "--by", "Ada", "--why", "x").code == 0
    )
    path = policy()
    assert cli("review", "request", path, "--key", "cleo.pem").code == 0
    claim = "out/a.certificate.claim.review.json"
    assert cli("review", "approve", claim, "--yes", "--role", "owner", "--key", "ada.pem").code == 0
    before = state_of(project)
    server = serving()
    text = server.page("/waiting")
    assert "Waits: 1 more of role privacy" in text
    assert '<b class="text">ada</b>, owner: counts until' in text
    assert "2 days from now" in text
    assert "claim: 1 owner, 1 privacy; change: 1 owner" in server.page("/")
    assert state_of(project) == before
    assert (
        cli("review", "approve", claim, "--yes", "--role", "privacy", "--key", "ben.pem").code == 0
    )
    assert "the release or change can be made now" in server.page("/waiting")
    assert cli("release", path).code == 0
    assert "No request in this project's folder is waiting" in server.page("/waiting")
    [entry] = cli("ledger", "show", "--format", "json").document["entries"]
    text = server.page(f"/releases/{entry['entry']}")
    assert 'approved by <b class="text">ada</b>, owner; <b class="text">ben</b>, privacy' in text
    # A request that somebody rejects says who, and why.
    other = policy("b", epsilon="0.4")
    assert cli("review", "request", other, "--key", "cleo.pem").code == 0
    no = ("--role", "privacy", "--key", "ben.pem", "--note", "too fine <b>")
    assert cli("review", "reject", claim.replace("/a.", "/b."), *no).code == 0
    for page in ("/waiting", "/"):
        text = server.page(page)
        assert "ben has rejected it: &#34;too fine &lt;b&gt;&#34;" in text, text
        assert "the release or change can be made now" not in text
