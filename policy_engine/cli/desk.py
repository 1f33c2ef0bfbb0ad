"""desk: a project's ledger, policies and certificates as pages of this machine, to be read."""

from __future__ import annotations

import socket
from contextlib import suppress
from ipaddress import ip_address
from typing import Annotated

from typer import Option

from policy_engine.cli.output import emit, note
from policy_engine.cli.reading import own_project
from policy_engine.errors import EnvironmentFailed, UsageError, to_install

PORT = 8770
_EVERYBODY = (
    "the pages are now for everybody who reaches this machine's port and is given the address:"
    " there is no password and no encryption, and the ledger is confidential"
)
_OWN_NAMES = ("localhost", "127.0.0.1", "::1")


def desk(
    host: Annotated[
        str, Option(help="The address to listen on. By default only this machine can reach it.")
    ] = "127.0.0.1",
    port: Annotated[
        int, Option(min=0, max=65535, help="The port. With 0, a free port is chosen.")
    ] = PORT,
    open_to_network: Annotated[
        bool,
        Option(
            "--open-to-network",
            help="Let other machines open the pages, without a password and without encryption.",
        ),
    ] = False,
    names: Annotated[
        list[str] | None,
        Option("--name", help="Another name of this machine that browsers may use in the address."),
    ] = None,
) -> None:
    """Show accounts, releases, private choices, approvals and keys of this project in a browser.

    You can only look at the pages. They change nothing. The command prints the address of the
    pages, which is new each time. Without --open-to-network, only people on this machine who have
    the address can open the pages. To end the command, press Ctrl-C.

    Example: policy-engine desk --port 8770
    """
    is_ours = _is_loopback(host)
    if not (is_ours or open_to_network):
        raise UsageError(
            f"{host} is not this machine alone: with --open-to-network everybody who reaches it and"
            " is given the address reads the ledger, without a password and without encryption"
        )
    try:
        from policy_engine.desk.app import run, word
        from policy_engine.desk.reader import ProjectReader
    except ModuleNotFoundError as error:
        if error.name not in {"starlette", "uvicorn"}:
            raise
        raise EnvironmentFailed(f"desk needs starlette and uvicorn; {to_install('desk')}") from None
    project = own_project()
    folder = project.directory
    with _listening(host, port) as listens:
        taken, secret = listens.getsockname()[1], word()
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{taken}/{secret}/"
        known = tuple(dict.fromkeys((host, *_OWN_NAMES, *(names or ()))))

        def ready() -> None:
            emit({"address": address, "project": folder.name}, [f"{folder.name}: {address}"])
            if not is_ours:
                note(_EVERYBODY)

        # Whoever ends it by Ctrl-C has had what they asked for.
        with suppress(KeyboardInterrupt):
            run(ProjectReader(folder, project.file), listens, known, secret, ready)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens; EnvironmentFailed where it cannot."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise EnvironmentFailed(
            f"{host}, port {port}: cannot be listened on: {error.strerror}; --port 0 takes a port"
            " that is free"
        ) from None
