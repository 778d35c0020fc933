"""Servers that mean ill: they offer no TLS, have another certificate, or send more than can be right."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

pytest.importorskip("nats", reason="there is no NATS here (pip install -e '.[dev,nats]')")

from nats.errors import ProtocolError

from delegtop.base.hub_address import hub_address
from delegtop.hub.hub_folder import HubFolder
from delegtop.hub.hub_key import HubKey
from delegtop.hub.nats_client import LARGEST, HubError, _BoundedParser, answer, connect

INFO = b'INFO {"server_id":"x","version":"2.15.1","max_payload":1048576,"auth_required":true}\r\n'
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def heard_by(greeting: bytes, key: HubKey, *, tls: bool) -> tuple[bytes, str]:
    """What a server hears that begins with this greeting, and what is said of it."""
    heard = bytearray()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting)
        await writer.drain()
        while data := await reader.read(4096):
            heard.extend(data)
            if b"PING" in data or b"\x16\x03" in data[:3]:
                break
        writer.close()

    async def run() -> str:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        try:
            await connect(hub_address(f"{'tls' if tls else 'nats'}://127.0.0.1:{port}"), key, "a test")
        except HubError as error:
            return str(error)
        finally:
            server.close()
        return ""

    said = asyncio.run(run())
    return bytes(heard), said


def test_a_server_that_offers_no_tls_learns_no_password() -> None:
    heard, said = heard_by(INFO, HubKey(user="me", password="hunter2"), tls=True)  # noqa: S106 -- it is none
    assert b"CONNECT" not in heard
    assert b"hunter2" not in heard
    assert said == "the server offers no TLS"


def test_one_whose_certificate_is_known_is_greeted_by_tls_alone(tmp_path: Path) -> None:
    made = HubFolder(tmp_path / "hub")
    made.make()
    heard, said = heard_by(b"", made.own_key("tls://127.0.0.1:1"), tls=False)
    assert heard[:2] == b"\x16\x03"
    assert b"CONNECT" not in heard
    assert said


def test_a_message_that_is_announced_larger_than_any_is_not_waited_for() -> None:
    parser = _BoundedParser()

    async def hear() -> None:
        await parser.parse(b"MSG delegtop.v1.a.beat 1 %d\r\n" % (LARGEST + 1))

    with pytest.raises(ProtocolError):
        asyncio.run(hear())


def test_a_line_without_an_end_is_not_kept() -> None:
    parser = _BoundedParser()

    async def hear() -> None:
        for _ in range(LARGEST // 65_536 + 2):
            await parser.parse(b"x" * 65_536)

    with pytest.raises(ProtocolError):
        asyncio.run(hear())


@pytest.mark.parametrize("data", [b"", b"[", b"[]", b"\xff", b'{"error":{"description":"no"}}', b"[" * 100_000])
def test_an_answer_that_is_none_is_an_error_in_words(data: bytes) -> None:
    with pytest.raises(HubError):
        answer(data)
