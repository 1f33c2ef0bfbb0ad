"""What our command line signed, other programs verify and read: they know nothing of us."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_project import Project
from google.protobuf import json_format
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

from policy_engine.attest.keys import generate_key, key_id, load_public_key

OPENSSL = """\
set -e
sed -nE 's/.*"payload": ?"([^"]*)".*/\\1/p' "$1" | openssl base64 -d -A > payload
sed -nE 's/.*"sig": ?"([^"]*)".*/\\1/p' "$1" | openssl base64 -d -A > signature
{ printf 'DSSEv1 28 application/vnd.in-toto+json %d ' $(wc -c < payload); cat payload; } > signed
openssl pkeyutl -verify -pubin -inkey "$2" -rawin -in signed -sigfile signature
"""
SIGSTORE = """\
import { readFileSync } from 'node:fs';
import crypto from 'node:crypto';
import { Verifier } from '@sigstore/verify';
import { DSSESignatureContent } from '@sigstore/verify/dist/bundle/dsse.js';
const read = JSON.parse(readFileSync(process.argv[2]));
const publicKey = crypto.createPublicKey(readFileSync(process.argv[3]));
const envelope = {
  payload: Buffer.from(read.payload, 'base64'),
  payloadType: read.payloadType,
  signatures: read.signatures.map(s => ({ keyid: s.keyid, sig: Buffer.from(s.sig, 'base64') })),
};
const trust = {
  publicKey: () => ({ publicKey, validFor: () => true }),
  certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [],
};
const none = { tlogThreshold: 0, ctlogThreshold: 0, tsaThreshold: 0, timestampThreshold: 0 };
new Verifier(trust, none).verify({
  signature: new DSSESignatureContent(envelope),
  key: { $case: 'public-key', hint: read.signatures[0].keyid },
  tlogEntries: [], timestamps: [],
});
console.log(JSON.parse(envelope.payload).predicateType);
"""

#: The recipe of docs/howto/keys.md, and what cosign calls verify-blob-attestation with a key.
BUNDLE = """\
import { readFileSync } from 'node:fs';
import crypto from 'node:crypto';
import { bundleFromJSON } from '@sigstore/bundle';
import { Verifier, toSignedEntity } from '@sigstore/verify';
const bundle = bundleFromJSON(JSON.parse(readFileSync(process.argv[2])));
const publicKey = crypto.createPublicKey(readFileSync(process.argv[3]));
const trust = {
  publicKey: () => ({ publicKey, validFor: () => true }),
  certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [],
};
const none = { tlogThreshold: 0, ctlogThreshold: 0, tsaThreshold: 0, timestampThreshold: 0 };
new Verifier(trust, none).verify(toSignedEntity(bundle));
console.log(JSON.parse(bundle.content.dsseEnvelope.payload).predicateType);
"""


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a certificate, its key, another key, and a certificate that was changed."""
    folder = tmp_path_factory.mktemp("signed")
    words = ("calculate", "--unknown", "1000", "--lambda", "0.1", "--epsilon", "0.5")
    assert Project(folder).run(*words, "--output", "good.json").code == 0
    shutil.copy(folder / ".policy-engine/signing.pub", folder / "own.pub")
    generate_key(folder / "other.pem")
    envelope = json.loads((folder / "good.json").read_text())
    payload = base64.b64decode(envelope["payload"]).replace(b'"0.5"', b'"0.1"')
    envelope["payload"] = base64.b64encode(payload).decode()
    (folder / "changed.json").write_text(json.dumps(envelope, separators=(",", ":")))
    return folder


#: Certificate, key, and whether a verifier must accept.
CASES = pytest.mark.parametrize(
    ("certificate", "key", "good"),
    [("good.json", "own.pub", True), ("changed.json", "own.pub", False),
     ("good.json", "other.pub", False)],
)  # fmt: skip


@CASES
def test_openssl_verifies_it(signed: Path, certificate: str, key: str, good: bool) -> None:
    done = subprocess.run(
        ["sh", "-c", OPENSSL, "sh", certificate, key],
        cwd=signed, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode == 0) is good
    verdict = "Signature Verified Successfully" if good else "Signature Verification Failure"
    assert verdict in done.stdout


@CASES
def test_securesystemslib_verifies_it(signed: Path, certificate: str, key: str, good: bool) -> None:
    public = load_public_key(signed / key)
    envelope = Envelope.from_dict(json.loads((signed / certificate).read_text()))
    known = SSlibKey.from_crypto(public, keyid=key_id(public))
    if good:
        assert list(envelope.verify([known], 1)) == [key_id(public)]
    else:
        with pytest.raises(VerificationError):
            envelope.verify([known], 1)


@pytest.fixture(scope="module")
def sigstore(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A script that verifies with sigstore-js; skipped where npm reaches no registry."""
    if shutil.which("npm") is None:
        pytest.skip("there is no npm")
    folder = tmp_path_factory.mktemp("sigstore")
    (folder / "package.json").write_text('{"private": true}')
    install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
    done = subprocess.run(
        [*install, "@sigstore/verify@3.1.1", "@sigstore/bundle@4.0.0"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip("npm reaches no registry")
    (folder / "verify.mjs").write_text(SIGSTORE)
    (folder / "bundle.mjs").write_text(BUNDLE)
    return folder / "verify.mjs"


def recipe() -> str:
    """The program that keys.md shows, which makes a Sigstore bundle of a certificate."""
    page = (Path(__file__).parents[2] / "docs" / "howto" / "keys.md").read_text("utf-8")
    return page.split("`as_bundle.py`:\n\n```python\n")[1].split("```")[0]


@pytest.mark.slow
@CASES
def test_sigstore_js_verifies_the_bundle_of_the_recipe(
    signed: Path, sigstore: Path, certificate: str, key: str, good: bool
) -> None:
    (signed / "as_bundle.py").write_text(recipe())
    words = [sys.executable, "as_bundle.py", certificate, "bundle.json"]
    subprocess.run(words, cwd=signed, check=True)
    done = subprocess.run(
        ["node", sigstore.with_name("bundle.mjs"), "bundle.json", key],
        cwd=signed, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode == 0) is good
    assert ("signature verification failed" in done.stderr) is not good


def test_the_reference_reader_of_in_toto_statements_reads_the_payload(signed: Path) -> None:
    envelope = json.loads((signed / "good.json").read_text())
    message = json_format.Parse(base64.b64decode(envelope["payload"]), statement_pb2.Statement())
    read = Statement.copy_from_pb(message)
    read.validate()
    assert read.pb.predicate_type == "https://policy-engine.dev/noiseless-count/v1"
    assert read.pb.predicate["epsilon"] == "0.5"


@pytest.mark.slow
@CASES
def test_sigstore_js_verifies_it(
    signed: Path, sigstore: Path, certificate: str, key: str, good: bool
) -> None:
    done = subprocess.run(
        ["node", sigstore, certificate, key],
        cwd=signed,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode == 0) is good
    if good:
        assert done.stdout == "https://policy-engine.dev/noiseless-count/v1\n"
    else:
        assert "signature verification failed" in done.stderr
