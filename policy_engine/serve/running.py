"""The server that answers, until it is told to stop."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from socket import socket

import uvicorn

from policy_engine.serve.app import application
from policy_engine.serve.guard import hosts
from policy_engine.serve.reader import Reader


def word() -> str:
    """The first word of each address: nobody guesses it."""
    return secrets.token_urlsafe(18)


def run(
    reader: Reader,
    listens: socket,
    names: tuple[str, ...],
    secret: str,
    ready: Callable[[], None],
) -> None:
    """Show a project on a socket, to whoever asks by one of ``names``; ``ready`` is called before.

    The ledger is read first: raises LedgerError where it cannot be, PolicyError of the project.
    """
    reader.books()
    app = application(reader, hosts(names, listens.getsockname()[1]), secret)
    config = uvicorn.Config(
        app, lifespan="off", ws="none", access_log=False, log_level="critical",
        server_header=False, proxy_headers=False, timeout_graceful_shutdown=2,
    )  # fmt: skip
    ready()
    uvicorn.Server(config).run([listens])
