"""Who may ask for what: reading alone, under one address, by one name of this machine.

A page of another site can make a browser ask this server, by an address of its own that it lets
point here. So the host that a request names must be one of ours, and each address begins with a
word that only whoever started the server has seen; other users of the machine have not.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from policy_engine.values import frozen

_ALWAYS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_POLICY = (
    "default-src 'none'; style-src {}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def headers(style_digests: tuple[str, ...]) -> Mapping[str, str]:
    """The headers of every answer: nothing runs, nothing is fetched, no frame, no copy kept.

    >>> "script" in str(headers(("x",)))
    False
    """
    styles = " ".join(f"'sha256-{digest}'" for digest in style_digests)
    return {**_ALWAYS, "Content-Security-Policy": _POLICY.format(styles)}


@frozen
class Guard:
    """Lets through what asks under ``word`` by one of ``hosts``, to read; says no to all else."""

    app: ASGIApp
    hosts: frozenset[str]
    word: str
    headers: Mapping[str, str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, with_headers)
            return
        path = scope["path"].removeprefix(f"/{self.word}") or "/"
        await self.app({**scope, "path": path, "raw_path": path.encode()}, receive, with_headers)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        named = Headers(scope=scope).getlist("host")
        if len(named) != 1 or named[0].lower() not in self.hosts:
            return PlainTextResponse("This server has another name.\n", 421)
        first = scope["path"].split("/")[1]
        if not secrets.compare_digest(first.encode(), self.word.encode()):
            return PlainTextResponse("Nothing is here.\n", 404)
        if scope["method"] not in {"GET", "HEAD"}:
            return PlainTextResponse("This server only shows.\n", 405, {"Allow": "GET, HEAD"})
        return None


def hosts(names: tuple[str, ...], port: int) -> frozenset[str]:
    """What a request may name as its host: each name with the port.

    >>> sorted(hosts(("127.0.0.1", "::1"), 8770))
    ['127.0.0.1:8770', '[::1]:8770']
    """
    written = (f"[{name}]" if ":" in name else name.lower() for name in names)
    return frozenset(f"{name}:{port}" for name in written)
