"""Who is answered: whoever names this server rightly, comes from its own page, and has its cookie or its token.

Each rule stands for itself, so that one that fails leaves the others. A browser sends cookies to every port of a
machine, so this one is bound to a folder that only the page knows: another server on this machine is not told it.
"""

import hmac
import re
import secrets
from collections.abc import Collection, Iterable
from enum import Enum
from typing import NamedTuple

from delegtop.page_server.request_head import RefusedRequest, RequestHead

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(?::[0-9]{1,5})?")
_COOKIES = re.compile(r";[ \t]*")
_NO_TOKEN = "open the address that delegtop printed when it was started"  # noqa: S105 - words for people


class InOrder(NamedTuple):
    """What a browser says of a request that is in order."""

    sites: frozenset[str]
    modes: frozenset[str]
    uses: frozenset[str]


class RequestKind(Enum):
    """What is asked for, by what for; a browser tells that with every request, and no page can make it lie."""

    ENTRY = InOrder(
        frozenset({"none", "same-origin", "same-site", "cross-site"}), frozenset({"navigate"}), frozenset({"document"})
    )
    """The printed address: it may be clicked on anywhere, for the token is in it."""
    PAGE = InOrder(frozenset({"none", "same-origin"}), frozenset({"navigate"}), frozenset({"document"}))
    DATA = InOrder(frozenset({"same-origin"}), frozenset({"cors", "same-origin"}), frozenset({"empty"}))
    PAGE_OR_DATA = InOrder(PAGE.sites, PAGE.modes | DATA.modes, PAGE.uses | DATA.uses)
    SCRIPT = InOrder(frozenset({"same-origin"}), frozenset({"no-cors"}), frozenset({"script"}))
    STYLE = InOrder(frozenset({"same-origin"}), frozenset({"no-cors"}), frozenset({"style"}))


def is_host_name(name: str) -> bool:
    """Whether it may be one by which this is reached: `box.example` or `localhost:9000`."""
    return _NAME.fullmatch(name) is not None


class AccessRules:
    """Those of one run: token, cookie and folder are other ones each time."""

    def __init__(self, port: int, names: Iterable[str] = ()) -> None:
        self.token, self._secret = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.folder = f"/{secrets.token_hex(8)}/"
        """Below which everything lies."""
        self._cookie = f"delegtop_{port}"
        self._hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}", *(name.lower() for name in names)})
        self._origins = frozenset(f"{scheme}://{host}" for scheme in ("http", "https") for host in self._hosts)

    @property
    def set_cookie(self) -> str:
        """The header that lets a browser in: no script can read it, and no other site has it sent."""
        return f"{self._cookie}={self._secret}; Path={self.folder}; HttpOnly; SameSite=Strict"

    def check_host(self, head: RequestHead) -> None:
        """A name that leads here without being ours is how a stranger's page would become one of this server."""
        if (head.header("host") or "").lower() not in self._hosts:
            raise RefusedRequest(421, "this is not the server of that name; --name allows one")

    def check_sender(self, head: RequestHead, kind: RequestKind) -> None:
        """Only our own page may ask, and for what it is; who says nothing of that is judged by the other rules."""
        origin = head.header("origin")
        if origin is not None and origin.lower() not in self._origins:
            raise RefusedRequest(403, "another page asks")
        asked = kind.value
        for name, allowed in (("site", asked.sites), ("mode", asked.modes), ("dest", asked.uses)):
            if not _is_one_of(head.header(f"sec-fetch-{name}"), allowed):
                raise RefusedRequest(403, "another page asks, or for something else")

    def has_token(self, query: str) -> bool:
        """Whether it is the query of the printed address."""
        return hmac.compare_digest(query.encode(), f"token={self.token}".encode())

    def check_cookie(self, head: RequestHead) -> None:
        given = [each.partition("=") for each in _COOKIES.split(head.header("cookie") or "")]
        found = [value for name, _, value in given if name == self._cookie]
        if len(found) != 1 or not hmac.compare_digest(found[0].encode(), self._secret.encode()):
            raise RefusedRequest(403, _NO_TOKEN)


def _is_one_of(told: str | None, allowed: Collection[str]) -> bool:
    return told is None or told.lower() in allowed
