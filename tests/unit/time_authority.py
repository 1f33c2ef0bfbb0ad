"""A real time stamp authority: `openssl ts` behind HTTP on this machine."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_CONFIG = """\
[tsa]
default_tsa = own
[own]
serial = {folder}/serial
signer_cert = {folder}/tsa.pem
signer_key = {folder}/tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha512
ess_cert_id_alg = sha256
"""
_EXTENSIONS = "extendedKeyUsage=critical,timeStamping\n"


def _openssl(folder: Path, *words: str, given: bytes = b"") -> bytes:
    done = subprocess.run(
        ["openssl", *words], cwd=folder, input=given, capture_output=True, check=True
    )
    return done.stdout


def make_authority(folder: Path) -> Path:
    """Keys and certificates of an authority; the root that vouches for it is ``ca.pem``."""
    folder.mkdir()
    key = ("-newkey", "rsa:2048", "-nodes")
    _openssl(folder, "req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=ca")
    _openssl(folder, "req", *key, "-keyout", "tsa.key", "-out", "tsa.csr", "-subj", "/CN=tsa")
    (folder / "tsa.ext").write_text(_EXTENSIONS)
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "tsa.ext")
    _openssl(folder, "x509", "-req", "-in", "tsa.csr", *signed, "-out", "tsa.pem")
    (folder / "serial").write_text("01\n")
    (folder / "tsa.cnf").write_text(_CONFIG.format(folder=folder))
    return folder / "ca.pem"


def answer(folder: Path, request: bytes) -> bytes:
    """What the authority answers."""
    (folder / "request").write_bytes(request)
    words = ("-config", "tsa.cnf", "-queryfile", "request", "-out", "answer")
    _openssl(folder, "ts", "-reply", *words)
    return (folder / "answer").read_bytes()


@contextmanager
def authority_at(folder: Path, instead: bytes | None = None) -> Iterator[str]:
    """The address of an authority; ``instead`` is what it answers whatever is asked."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = self.rfile.read(int(self.headers["Content-Length"]))
            content = answer(folder, request) if instead is None else instead
            self.send_response(200)
            self.send_header("Content-Type", "application/timestamp-reply")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
