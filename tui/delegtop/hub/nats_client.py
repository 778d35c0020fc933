"""The one who speaks to NATS servers: connecting, asking, and what goes wrong in words. Nobody else knows `nats-py`.

A connection that is lost is not mended but made anew by whoever has it: they know what was not answered. A server is
not trusted more than a host is: what it sends is bounded, and nothing that proves who we are goes out in the open.
"""

import asyncio
import base64
import errno
import json
import logging
import os
import random
import re
import ssl
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from nats import errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.protocol.parser import Parser

from delegtop.base.hub_address import HubAddress
from delegtop.base.text import line
from delegtop.hub.hub_key import NAME, HubKey, HubKeyError, public_half

LARGEST = 4 * 1024 * 1024
"""Bytes of one message of a server, which we let take no more than one."""
CONNECTING = 10.0
ANSWER = 5.0
"""Seconds that a connection, or an answer, may take."""
_PING = 5
"""Seconds between two questions whether the server is still there."""
_WORDS = 200
_WANTS = "it may want a certificate of yours (cert and key)"
_MOST = 64 * 1024
"""Bytes of a .creds file."""
_JWT, _SEED = (re.compile(rf"BEGIN {what}-+\n([\w.=-]+)\n") for what in ("NATS USER JWT", "USER NKEY SEED"))

Message = Msg
Heed = Callable[[Msg], Awaitable[None]]


class HubError(Exception):
    """The hub cannot be had, or says no; the message is why, in short."""

    def __init__(self, why: str, *, refused: bool = False) -> None:
        super().__init__(why)
        self.refused = refused
        """Whether it is our key that it does not want."""


class _BoundedParser(Parser):
    """Gives up a server that announces more than it may send."""

    async def parse(self, data: bytes = b"") -> None:
        await super().parse(data)
        if max(self.needed, len(self.buf)) > LARGEST:
            self.reset()
            raise errors.ProtocolError


class _Client(Client):
    """One that does not say who it is before the line is safe, if it was told to have it safe."""

    def __init__(self, *, with_tls: bool) -> None:
        super().__init__()
        self._ps = _BoundedParser(self)
        self._with_tls = with_tls
        self.is_safe = False
        """Whether the line was safe before anything was said."""

    def _connect_command(self) -> bytes:
        # By then the line is safe if the server asked for that in its greeting, which anybody can write who is between.
        offered = self._server_info.get("tls_required") or self.options["tls_handshake_first"]
        if self._with_tls and not offered:
            raise errors.Error("nats: the server offers no TLS")
        self.is_safe = self._with_tls
        return bytes(super()._connect_command())


class HubClient:
    """A connection to one server of a hub. `lost` is set once it is no more."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.lost = asyncio.Event()
        self.why = "the connection ended"
        self.refusals: list[str] = []
        """What the server did not let us do."""

    async def publish(
        self, subject: str, data: bytes, headers: Mapping[str, str] | None = None, reply: str = ""
    ) -> None:
        try:
            await self._client.publish(subject, data, reply=reply, headers=dict(headers) if headers else None)
        except (errors.Error, OSError) as error:
            raise HubError(_reason(error)) from None

    async def request(
        self, subject: str, data: bytes, headers: Mapping[str, str] | None = None, timeout: float = ANSWER
    ) -> bytes:
        """What is answered."""
        try:
            message = await self._client.request(
                subject, data, timeout=timeout, headers=dict(headers) if headers else None
            )
        except errors.NoRespondersError:
            raise HubError("nobody answers there") from None
        except (errors.Error, OSError) as error:
            raise HubError(self.refusals[-1] if self.refusals else _reason(error)) from None
        return bytes(message.data)

    async def ask(self, subject: str, question: object, timeout: float = ANSWER) -> dict[str, Any]:
        """The answer of JetStream to a question that is JSON."""
        return answer(await self.request(f"$JS.API.{subject}", json.dumps(question).encode(), timeout=timeout))

    async def subscribe(self, subject: str, heed: Heed) -> Callable[[], Awaitable[None]]:
        """Have that called for each message; what is returned ends it."""
        try:
            made = await self._client.subscribe(
                subject, cb=heed, pending_msgs_limit=65_536, pending_bytes_limit=64 * 1024 * 1024
            )
        except (errors.Error, OSError) as error:
            raise HubError(_reason(error)) from None

        async def end() -> None:
            try:
                await made.unsubscribe()
            except errors.Error:
                return  # it ended with its connection

        return end

    def inbox(self) -> str:
        return str(self._client.new_inbox())

    async def flush(self) -> None:
        try:
            await self._client.flush(timeout=round(ANSWER))
        except (errors.Error, OSError) as error:
            raise HubError(_reason(error)) from None

    async def close(self) -> None:
        try:
            await asyncio.wait_for(self._client.close(), ANSWER)
        except (errors.Error, OSError, TimeoutError):
            return


def answer(data: bytes) -> dict[str, Any]:
    """What JetStream says; HubError if it says no."""
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise HubError("what it answers is no JSON")
    if isinstance(error := told.get("error"), dict):
        raise HubError(line(str(error.get("description") or error.get("code") or "it says no"), _WORDS))
    return told


async def connect(address: HubAddress, key: HubKey, what: str) -> HubClient:
    """A connection to any server of the hub. `what` says who connects, for whoever looks after the server."""
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # of every TLS connection that ends it warns on stderr
    why = HubError("no server")
    for server in random.sample(address.servers, len(address.servers)):
        try:
            return await _connect(server, address, key, what)
        except HubError as error:
            why = error
    raise why


async def _connect(server: str, address: HubAddress, key: HubKey, what: str) -> HubClient:
    with_tls = address.with_tls or key.has_tls
    client = _Client(with_tls=with_tls)
    try:
        made = HubClient(client)
        options = _options(key, with_tls=with_tls)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise HubError(where + _reason(error)) from None
    said: list[Exception] = []

    async def hear(error: Exception) -> None:
        said.append(error)
        if "permissions violation" in str(error).lower():
            made.refusals[:] = [*made.refusals[-9:], line(str(error).removeprefix("nats: "), _WORDS)]

    async def lost() -> None:
        made.why = _reason(client.last_error) if client.last_error is not None else made.why
        made.lost.set()

    try:
        await asyncio.wait_for(
            client.connect(
                servers=[f"{'tls' if with_tls else 'nats'}://{server}"],
                name=what,
                error_cb=hear,
                closed_cb=lost,
                disconnected_cb=lost,
                allow_reconnect=False,
                max_reconnect_attempts=1,
                reconnect_time_wait=0,
                connect_timeout=int(CONNECTING),
                ping_interval=_PING,
                max_outstanding_pings=2,
                inbox_prefix=key.inbox_prefix(),
                **options,
            ),
            CONNECTING,
        )
    except (errors.Error, OSError, TimeoutError, ValueError, asyncio.IncompleteReadError) as error:
        telling = said[-1] if said and isinstance(error, errors.NoServersError) else error
        await _dropped(client)
        if with_tls and _is_unwanted(telling, is_safe=client.is_safe):
            raise HubError(f"it ends the connection once it is safe: {_unwanted(key)}") from None
        raise HubError(_reason(telling), refused="authorization" in str(telling).lower()) from None
    return made


async def _dropped(client: Client) -> None:
    try:
        await asyncio.wait_for(client.close(), 1.0)
    except (errors.Error, OSError, TimeoutError, AttributeError):
        return  # it never was one


def _options(key: HubKey, *, with_tls: bool) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if with_tls:
        options["tls"] = _context(key)
    if key.certificate:
        options |= {"tls_hostname": NAME, "tls_handshake_first": True}
    if key.seed:
        options["nkeys_seed_str"] = key.seed
    if key.creds:
        options["user_credentials"] = str(_checked_creds(Path(key.creds).expanduser()))
    return options | {name: value for name in ("user", "password", "token") if (value := getattr(key, name))}


def _context(key: HubKey) -> ssl.SSLContext:
    """Whom to trust: the very certificate of a hub, or who is named, and always who it says it is."""
    if key.certificate:
        context = ssl.create_default_context(cadata=base64.b64decode(key.certificate))
    elif key.ca and key.ca != "system":
        context = _trusting(Path(key.ca).expanduser())
    else:
        context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if key.cert:
        _prove(context, Path(key.cert).expanduser(), Path(key.key or key.cert).expanduser())
    return context


def _trusting(ca: Path) -> ssl.SSLContext:
    ca.open("rb").close()  # else it is not said which file is missing
    try:
        return ssl.create_default_context(cafile=str(ca))
    except ssl.SSLError:
        raise HubError(f"{ca}: there is no certificate in it") from None


def _prove(context: ssl.SSLContext, cert: Path, key: Path) -> None:
    """Have a certificate to show. Nobody is asked for the pass phrase of its key: there may be nobody, or a screen."""
    for path in (cert, key):
        path.open("rb").close()  # as above
    try:
        context.load_cert_chain(cert, key, password=lambda: "")
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise HubError(f"{key} is not the key of {cert}") from None
        why = "they are no certificate and its key, or the key wants a pass phrase"
        raise HubError(f"{cert} and {key}: {why}") from None


def _checked_creds(path: Path) -> Path:
    """The same if it is such a file: who reads it for us does not say what it misses."""
    with path.open("rb") as file:
        text = file.read(_MOST).decode("utf-8", "replace")
    seed = _SEED.search(text)
    try:
        if _JWT.search(text) and seed is not None and public_half(seed[1]):
            return path
    except HubKeyError:
        pass
    raise HubError(f"{path}: this is no .creds file, with a JWT and the seed of its user")


def _is_unwanted(error: Exception, *, is_safe: bool) -> bool:
    """Whether a server whom we trust hangs up before it says a word; only sometimes its alert comes through."""
    if isinstance(error, ssl.SSLError):
        return "ALERT" in (error.reason or "")
    return is_safe and isinstance(error, (ConnectionError, asyncio.IncompleteReadError))


def _unwanted(key: HubKey) -> str:
    """Why a server may not want us whom we trust: it does not say so."""
    return f"it may not trust the certificate {key.cert}" if key.cert else _WANTS


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not the one that is trusted ({error.verify_message})"
    if isinstance(error, ssl.SSLError):
        return line(f"TLS: {error.reason or error}", _WORDS)
    if isinstance(error, OSError) and error.errno is not None and error.errno in errno.errorcode:
        return os.strerror(error.errno)
    if isinstance(error, OSError) and error.strerror:
        return line(error.strerror, _WORDS)
    if isinstance(error, (TimeoutError, errors.TimeoutError, asyncio.TimeoutError)):
        return "it does not answer"
    if isinstance(error, errors.AuthorizationError) or "authorization violation" in str(error).lower():
        return "it does not know this key (authorization violation)"
    return line(str(error).removeprefix("nats: ") or type(error).__name__, _WORDS)
