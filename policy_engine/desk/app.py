"""The pages by their addresses: each is made when it is asked for, and nothing is ever written."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.resources import files
from socket import socket
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from policy_engine.desk import views
from policy_engine.desk.guard import Guard, headers, hosts
from policy_engine.desk.reader import CertificateFile, ProjectReader, Verification
from policy_engine.errors import PolicyEngineError
from policy_engine.ledger.account import brief
from policy_engine.ledger.entry import Entry
from policy_engine.report.page import (
    MOST,
    filled,
    page_file,
    style_digest,
)

_LATEST = 8
_SOON = 30
"""An end of a key or an approval within so many days is told on the first page."""


def application(reader: ProjectReader, hosts: frozenset[str], word: str) -> Guard:
    """The pages of a project, under ``/word/``, for whoever names one of ``hosts``."""
    pages = _Pages(reader)
    routes = {
        "/": pages.overview,
        "/accounts/{account}": pages.account,
        "/releases": pages.releases,
        "/releases/{entry:int}": pages.release,
        "/reports/{sha256}": pages.report,
        "/waiting": pages.waiting,
        "/policies": pages.policies,
        "/keys": pages.keys,
    }
    handlers: dict[Any, Callable[..., Response]] = {
        HTTPException: pages.not_there,
        PolicyEngineError: pages.cannot,
    }
    own = Starlette(routes=[Route(*each) for each in routes.items()], exception_handlers=handlers)
    own.router.redirect_slashes = False
    digests = (style_digest(pages.style), style_digest(page_file("page.css")))
    return Guard(own, hosts, word, headers(digests))


class _Pages:
    def __init__(self, reader: ProjectReader) -> None:
        self._reader = reader
        own = files("policy_engine.desk").joinpath("pages", "desk.css").read_text("utf-8")
        self.style = page_file("page.css") + own

    def overview(self, request: Request) -> Response:
        state, now, keys = self._reader.books(), _now(), self._reader.keys()
        ends = [(key, key.validity.until) for key in keys.entries if not key.validity.revoked]
        soon = [(key, at, (at - now).days) for key, at in ends if at and (at - now).days < _SOON]
        return self._page(
            "overview.html.j2",
            request,
            accounts=views.account_rows(state),
            latest=self._verdicts(state.entries[-_LATEST:][::-1]),
            waiting=self._reader.waiting(),
            soon=[each for each in soon if each[2] >= -_SOON],
            required=state.in_force,
            head=state.head,
        )

    def account(self, request: Request) -> Response:
        name = request.path_params["account"]
        whole, number = self._reader.books(), _number(request)
        found = next((a for a in whole.accounts if views.account_id(a.name) == name), None)
        if found is None:
            raise HTTPException(404)
        state = whole.of(found.name)
        sheet = views.sheet(state.entries, number)
        return self._page(
            "account.html.j2",
            request,
            account=views.account_rows(state)[0],
            burnt=views.burn_down(found, state.entries, state.changes, _now()),
            width=views.WIDTH,
            height=views.HEIGHT,
            changes=state.changes[::-1],
            sheet=sheet,
            rows=self._verdicts(sheet.rows),
        )

    def releases(self, request: Request) -> Response:
        sheet = views.sheet(self._reader.books().entries, _number(request))
        return self._page("releases.html.j2", request, sheet=sheet, rows=self._verdicts(sheet.rows))

    def release(self, request: Request) -> Response:
        state, number = self._reader.books(), request.path_params["entry"]
        entry = next((each for each in state.entries if each.id == number), None)
        if entry is None:
            raise HTTPException(404)
        [(_, certificate, verdict)] = self._verdicts((entry,))
        before = [c for c in state.changes if c.account == entry.account and c.record < number]
        return self._page(
            "release.html.j2",
            request,
            entry=entry,
            certificate=certificate,
            verdict=verdict,
            approvals=views.approvals_of(entry, state),
            since=views.since_last(entry, state.entries),
            limit=before[-1] if before else None,
        )

    def report(self, request: Request) -> Response:
        found = self._reader.certificate(request.path_params["sha256"])
        if found is None:
            raise HTTPException(404)
        return HTMLResponse(self._reader.report(found))

    def waiting(self, request: Request) -> Response:
        required, waiting = self._reader.books().in_force, self._reader.waiting()
        return self._page("waiting.html.j2", request, waiting=waiting, required=required)

    def policies(self, request: Request) -> Response:
        last: dict[str, Entry] = {}
        for entry in self._reader.books().entries:
            if entry.state != "cancelled":
                last[entry.policy_name] = entry
        return self._page(
            "policies.html.j2",
            request,
            last=last,
            policies=self._reader.policies(),
            promised=views.promised_by,
        )

    def keys(self, request: Request) -> Response:
        keys, required = self._reader.keys(), self._reader.books().in_force
        return self._page("keys.html.j2", request, keys=keys, required=required)

    def not_there(self, request: Request, error: HTTPException) -> Response:
        return self._page("fault.html.j2", request, error.status_code, lines=("Nothing is here.",))

    def cannot(self, request: Request, error: PolicyEngineError) -> Response:
        """What the project's own files say is wrong, as the command line would say it."""
        return self._page("fault.html.j2", request, 500, lines=error.lines)

    def _verdicts(
        self, entries: tuple[Entry, ...]
    ) -> list[tuple[Entry, CertificateFile | None, Verification | None]]:
        """Each charge with the certificate that is here of it, and what verifying that finds."""
        by_charge = {each.charge: each for each in self._reader.certificates()}
        found = [(each, by_charge.get(each.certificate_digest)) for each in entries]
        return [(each, c, None if c is None else self._reader.verdict(c)) for each, c in found]

    def _page(
        self, template: str, request: Request, status: int = 200, **values: Any
    ) -> HTMLResponse:
        depth = max(0, request.url.path.count("/") - 1)
        text = filled(
            "policy_engine.desk",
            template,
            self.style,
            root="../" * depth or "./",
            most=MOST,
            brief=brief,
            now=_now(),
            account_id=views.account_id,
            choice_of=views.choice_of,
            state_of=views.state_of,
            **values,
        )
        return HTMLResponse(text, status)


def _number(request: Request) -> int:
    """Which page of a list is asked for; the first where that is no number."""
    text = request.query_params.get("page", "1")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 1


def _now() -> datetime:
    return datetime.now(UTC)


def word() -> str:
    """The first word of each address: nobody guesses it."""
    return secrets.token_urlsafe(18)


def run(
    reader: ProjectReader,
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
