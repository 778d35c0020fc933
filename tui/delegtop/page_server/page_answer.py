"""An answer, with the headers that every answer has: what a browser may do with it is next to nothing."""

import gzip
from collections.abc import Iterable
from http import HTTPStatus
from typing import NamedTuple

HTML, TEXT, CSS, SCRIPT, EVENTS = (
    "text/html; charset=utf-8",
    "text/plain; charset=utf-8",
    "text/css; charset=utf-8",
    "text/javascript; charset=utf-8",
    "text/event-stream; charset=utf-8",
)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_ALWAYS = (
    f"Content-Security-Policy: {POLICY}",
    "X-Content-Type-Options: nosniff",
    "X-Frame-Options: DENY",
    "Cross-Origin-Resource-Policy: same-origin",
    "Cross-Origin-Opener-Policy: same-origin",
    "Referrer-Policy: no-referrer",
    "Cache-Control: no-store",
    "Connection: close",
)
_WORTH_PACKING = 1_024
_LEVEL = 4


class PageAnswer(NamedTuple):
    """What is sent back."""

    status: int
    kind: str
    body: bytes
    headers: tuple[str, ...] = ()

    def encoded(self, *, packed: bool = False) -> bytes:
        """All of it; `packed` if the other side can unpack it."""
        body, more = self.body, self.headers
        if packed and len(body) >= _WORTH_PACKING:
            body, more = (
                gzip.compress(body, _LEVEL, mtime=0),
                (*more, "Content-Encoding: gzip", "Vary: Accept-Encoding"),
            )
        return head(self.status, self.kind, (*more, f"Content-Length: {len(body)}")) + body


def head(status: int, kind: str, headers: Iterable[str] = ()) -> bytes:
    """The head of an answer."""
    lines = (f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", f"Content-Type: {kind}", *_ALWAYS, *headers)
    return "\r\n".join(lines).encode("ascii") + b"\r\n\r\n"


def refusal(status: int, words: str) -> PageAnswer:
    """Why nothing is told."""
    more = ("Allow: GET",) if status == HTTPStatus.METHOD_NOT_ALLOWED else ()
    return PageAnswer(status, TEXT, f"{words}\n".encode(), more)


def page(lines: Iterable[str], *headers: str) -> PageAnswer:
    """A page of HTML."""
    return PageAnswer(200, HTML, "\n".join(lines).encode("utf-8", "replace"), headers)
