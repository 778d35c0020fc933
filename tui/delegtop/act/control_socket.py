"""Asking a program's server to interrupt the turn of one thread: JSON-RPC in a WebSocket on its control socket, as
Codex speaks it.

Only a thread that this server has loaded can be interrupted, and only while a turn of it goes on.
"""

import json
import os
import socket
import struct
from pathlib import Path
from typing import Any

from delegtop import __version__
from delegtop.act.signal_sending import RefusalError
from delegtop.base.clock import monotonic
from delegtop.base.system_errors import reason_of
from delegtop.base.text import line

_PATIENCE = 10.0
_LARGEST = 16 << 20
_HEAD = 1 << 16
_PINGED = 125
"""Bytes that may come with a ping, and go back with the answer."""
_SHOWN = 120
_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10
_PEER = struct.calcsize("3i")


def interrupt(path: Path, thread: str) -> None:
    """Interrupt the turn that this thread is in; RefusalError if that cannot be asked for."""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_PATIENCE)
            connection.connect(str(path))
            _check_owner(connection)
            _Server(connection).interrupt(thread)
    except TimeoutError:
        raise RefusalError(f"the server at {path} did not answer within {_PATIENCE:g} s") from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise RefusalError(f"the server at {path} cannot be asked: {line(reason_of(error), _SHOWN)}") from None


def _check_owner(connection: socket.socket) -> None:
    """Nobody but the same user is asked."""
    if not hasattr(socket, "SO_PEERCRED"):
        return
    _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER))
    if user != os.getuid():
        raise RefusalError("whoever listens at the control socket is another user")


class _Server:
    """One conversation."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._data = b""
        self._number = 0
        self._until = monotonic() + _PATIENCE
        self._upgrade()

    def interrupt(self, thread: str) -> None:
        client = {"name": "delegtop", "title": "delegtop", "version": __version__}
        self._ask("initialize", {"clientInfo": client, "capabilities": {"experimentalApi": True}})
        self._send({"method": "initialized"})
        if thread not in self._ask("thread/loaded/list", {})["data"]:
            raise RefusalError("the server at the control socket does not run this thread")
        wanted = {"threadId": thread, "limit": 5, "sortDirection": "desc", "itemsView": "notLoaded"}
        turns = self._ask("thread/turns/list", wanted)["data"]
        turn = next((each["id"] for each in turns if each["status"] == "inProgress"), None)
        if turn is None:
            raise RefusalError("no turn of this thread goes on")
        self._ask("turn/interrupt", {"threadId": thread, "turnId": turn})

    def _ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": parameters})
        while True:
            told = self._receive()
            if told.get("id") == self._number and "method" not in told:
                if "error" in told:
                    raise ValueError(f"{method}: {told['error'].get('message')}")
                return told["result"] if isinstance(told["result"], dict) else {}

    # -- frames (RFC 6455) -------------------------------------------------------------------------------------------

    def _upgrade(self) -> None:
        self._connection.sendall(
            b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ZGVsZWd0b3AgZGVsZWd0b3A=\r\n\r\n"
        )
        while b"\r\n\r\n" not in self._data:
            if len(self._data) > _HEAD:
                raise ValueError("it speaks another protocol")
            self._more()
        head, _, self._data = self._data.partition(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise ValueError("it speaks another protocol")

    def _send(self, message: dict[str, Any], kind: int = _TEXT) -> None:
        self._put(json.dumps(message).encode(), kind)

    def _put(self, data: bytes, kind: int) -> None:
        size = len(data)
        head = (
            struct.pack("!BB", 0x80 | kind, 0x80 | size) if size < 126 else struct.pack("!BBH", 0x80 | kind, 0xFE, size)
        )
        key = os.urandom(4)
        masked = bytes(byte ^ key[at & 3] for at, byte in enumerate(data))
        self._connection.sendall(head + key + masked)

    def _receive(self) -> dict[str, Any]:
        """The next message."""
        message = b""
        while True:
            first, second = self._take(2)
            size = second & 0x7F
            if size == 126:
                (size,) = struct.unpack("!H", self._take(2))
            elif size == 127:
                (size,) = struct.unpack("!Q", self._take(8))
            if len(message) + size > _LARGEST:
                raise ValueError("its answer is too long")
            data = self._take(size)
            if first & 0x0F == _PING:
                self._put(data[:_PINGED], _PONG)
            elif first & 0x0F == _CLOSE:
                raise ValueError("it hung up")
            elif first & 0x0F != _PONG:
                message += data
                if first & 0x80:
                    told = json.loads(message)
                    return told if isinstance(told, dict) else {}

    def _take(self, size: int) -> bytes:
        while len(self._data) < size:
            self._more()
        taken, self._data = self._data[:size], self._data[size:]
        return taken

    def _more(self) -> None:
        if monotonic() > self._until:
            raise TimeoutError
        data = self._connection.recv(1 << 16)
        if not data:
            raise ValueError("it hung up")
        self._data += data
