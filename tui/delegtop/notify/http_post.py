"""One message over HTTP: sent once, answered within a time or not at all, and believed only if it was.

TLS is verified, nothing is followed elsewhere, of an answer only the beginning is read, and no error names more of an
address than its host. Proxies are those of the environment, as the standard library has them; what goes to this very
machine goes there directly.
"""

import http.client
import io
import ipaddress
import re
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from delegtop.base import text
from delegtop.base.clock import SECOND, Millis, WallClock, millis, monotonic
from delegtop.base.secret_references import shown
from delegtop.base.secrets import MASKED, mask

_ANSWER = 1 << 16
"""Bytes that are read of an answer."""
_ECHO = 1 << 12
"""Characters of it among which a secret is looked for, before it is cut."""
_SHOWN = 160
_TELLING = 4
"""Shorter parts of an address are no secrets, and stand in many words."""
_WALL = WallClock()
_LONGEST_URL = 2048
_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
"""What may go better in a moment."""


class AddressError(ValueError):
    """An address to which nothing is sent; the message is one sentence for people, without the address."""


class Letter(NamedTuple):
    """What is sent."""

    url: str
    body: bytes
    headers: Mapping[str, str] = {}
    secret: str = ""
    """What of the body only the server may know."""

    @property
    def where(self) -> str:
        """The address, masked."""
        return shown(self.url)


class HttpAnswer(NamedTuple):
    """What came back."""

    delivered: bool
    words: str
    """In words, for people."""
    again: bool = False
    """Whether it may go better in a moment."""
    retry_after: float = 0.0
    """Seconds that the other side wants to be left alone."""


Accepts = Callable[[int, bytes], bool]
"""Whether such an answer to a message means that it was taken."""


def checked(url: str, *, allow_http: bool = False) -> str:
    """The address, if messages may go there: to this machine, or so that nobody on the way can read them."""
    if len(url) > _LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise AddressError("is no address: it is too long, or has characters that must be written as %XX")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressError("is no address") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise AddressError("is no address: it should begin with https:// and a host")
    if parts.username is not None or parts.password is not None:
        raise AddressError("has a name or password before its host, which is not sent; leave them out")
    if parts.scheme == "http" and not allow_http and not is_here(parts):
        raise AddressError(
            f"goes to {parts.hostname} without TLS, where others can read it; write https://, or set "
            "notifications.allow_http"
        )
    return url


def is_here(parts: SplitResult) -> bool:
    """Whether it is this very machine."""
    host = parts.hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def post(letter: Letter, accepts: Accepts, timeout: float) -> HttpAnswer:
    """Send it, once."""
    headers = {"User-Agent": "delegtop", "Content-Type": "application/json; charset=utf-8", **letter.headers}
    request = urllib.request.Request(letter.url, letter.body, headers, method="POST")  # noqa: S310 -- see `checked`
    where = shown(letter.url)
    try:
        with _opener(letter.url, timeout).open(request, timeout=timeout) as reply:
            return _judged(letter, reply.status, reply.reason, reply.headers, reply.read(_ANSWER), accepts)
    except urllib.error.HTTPError as error:
        with error:
            return _judged(letter, error.code, error.reason, error.headers, _read(error), accepts)
    except TimeoutError:
        return HttpAnswer(False, f"{where} did not answer within {timeout:g} s", again=True)
    except urllib.error.URLError as error:
        return _unreached(where, error.reason, timeout)
    except (OSError, http.client.HTTPException) as error:
        return _unreached(where, error, timeout)
    except ValueError:
        return HttpAnswer(False, f"{where} cannot be asked: the address is wrong")


def _judged(
    letter: Letter, status: int, reason: object, headers: "Message[str, str]", body: bytes, accepts: Accepts
) -> HttpAnswer:
    where = shown(letter.url)
    said = text.line(_without_secrets(body[:_ECHO].decode("utf-8", "replace").strip(), letter), _SHOWN)
    because = text.line(_without_secrets(str(reason or ""), letter), 40)
    words = f"{where} answered {status} {because}".rstrip() + (f": {said}" if said else "")
    if 300 <= status < 400:
        place = text.line(_without_secrets(shown(str(headers.get("Location") or "")), letter), _SHOWN)
        return HttpAnswer(
            False, f"{where} answered {status} and sends elsewhere ({place or 'nowhere'}), which is not followed"
        )
    if accepts(status, body):
        return HttpAnswer(True, words)
    if 200 <= status < 300:
        return HttpAnswer(False, f"{words}; that is not how it answers if it takes a message")
    return HttpAnswer(False, words, status in _AGAIN, _retry_after(headers.get("Retry-After")))


def _without_secrets(said: str, letter: Letter) -> str:
    """What a server said, without what only it was told: many repeat the path that was asked for."""
    parts = urlsplit(letter.url)
    told = [letter.secret, parts.path, parts.query, *re.split(r"[/&=]", f"{parts.path}&{parts.query}")]
    told += [word for value in letter.headers.values() for word in value.split()]
    for each in sorted({*told, *map(unquote, told)}, key=len, reverse=True):
        if len(each) >= _TELLING:
            said = said.replace(each, MASKED)
    return mask(said)


def _unreached(where: str, error: object, timeout: float) -> HttpAnswer:
    if isinstance(error, TimeoutError):
        return HttpAnswer(False, f"{where} did not answer within {timeout:g} s", again=True)
    if isinstance(error, ssl.SSLCertVerificationError):
        return HttpAnswer(False, f"{where} has a certificate that is not to be trusted: {error.verify_message}")
    if isinstance(error, http.client.HTTPException):
        return HttpAnswer(False, f"{where} does not speak HTTP ({type(error).__name__})", again=True)
    why = getattr(error, "strerror", None) or type(error).__name__
    return HttpAnswer(False, f"{where} cannot be reached: {text.line(mask(str(why)), _SHOWN)}", again=True)


def _read(error: urllib.error.HTTPError) -> bytes:
    try:
        return error.read(_ANSWER)
    except (OSError, http.client.HTTPException):
        return b""


def _retry_after(value: str | None, now: Callable[[], Millis] = _WALL.now) -> float:
    """Seconds, of a number of them or of a date."""
    if value is None:
        return 0.0
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = (millis(parsedate_to_datetime(value)) - now()) / SECOND
        except (ValueError, TypeError, OverflowError):
            return 0.0
    return seconds if 0.0 < seconds < float("inf") else 0.0


# -- however slowly somebody answers, it ends --------------------------------------------------------------------------


def _opener(url: str, timeout: float) -> urllib.request.OpenerDirector:
    """What asks: everything together within that time, though a socket only counts the time between two bytes."""
    until = monotonic() + timeout

    class Plain(http.client.HTTPConnection):
        def connect(self) -> None:
            super().connect()
            self.sock = _Hurried(self.sock, until)

    class Tls(http.client.HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            self.sock = _Hurried(self.sock, until)

    class PlainHandler(urllib.request.HTTPHandler):
        def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Plain, request)

    class TlsHandler(urllib.request.HTTPSHandler):
        def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Tls, request, context=ssl.create_default_context())

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            """Nothing is sent elsewhere: whoever answers so is told of."""

    proxies = urllib.request.ProxyHandler({} if is_here(urlsplit(url)) else None)
    return urllib.request.build_opener(proxies, PlainHandler, TlsHandler, Stay)


class _Hurried:
    """A socket of which everything is done before a moment."""

    def __init__(self, wrapped: socket.socket, until: float) -> None:
        self._socket, self._until = wrapped, until

    def sendall(self, data: Any) -> None:
        self._socket.settimeout(_left(self._until))
        self._socket.sendall(data)

    def makefile(self, *_: object) -> io.BufferedReader:
        return io.BufferedReader(_HurriedReader(self._socket, self._until))

    def close(self) -> None:
        self._socket.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)


class _HurriedReader(io.RawIOBase):
    def __init__(self, wrapped: socket.socket, until: float) -> None:
        super().__init__()
        self._socket, self._until = wrapped, until
        self._raw = wrapped.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._socket.settimeout(_left(self._until))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _left(until: float) -> float:
    left = until - monotonic()
    if left <= 0:
        raise TimeoutError
    return left
