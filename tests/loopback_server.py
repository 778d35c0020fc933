"""A server on loopback that takes messages as it is told to: well, badly, slowly, or not at all."""

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from tests.patience import PATIENCE


class Asked(NamedTuple):
    """A request, as it came in."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Reply = bytes | Callable[[socket.socket, threading.Event], None]
"""What is sent back; or what is done with the connection, until the server ends."""


class Server:
    """Answers each request with the next of its replies, and the last one from then on."""

    def __init__(self, *replies: Reply) -> None:
        self.asked: list[Asked] = []
        self._replies = list(replies)
        self._ended = threading.Event()
        self._context: ssl.SSLContext | None = None
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._threads: list[threading.Thread] = []
        self._start(self._listen)

    def _start(self, work: Callable[..., None], *given: Any) -> None:
        self._threads.append(threading.Thread(target=work, args=given, daemon=True))
        self._threads[-1].start()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(PATIENCE)
            if self._context is not None:
                connection = self._context.wrap_socket(connection, server_side=True)
            asked = _read(connection)
            if asked is None:
                return
            self.asked.append(asked)
            reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
            if isinstance(reply, bytes):
                connection.sendall(reply)
            else:
                reply(connection, self._ended)

    def wrap(self, context: ssl.SSLContext) -> None:
        """From now on it speaks TLS."""
        self._context = context

    def close(self) -> None:
        self._ended.set()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for thread in self._threads:
            thread.join(PATIENCE)


def _read(connection: socket.socket) -> Asked | None:
    """One request, however it is cut into pieces."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return None
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    line, *lines = head.decode().split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (each.partition(":") for each in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += connection.recv(65536)
    return Asked(line, headers, body)


def reply(status: str, body: bytes = b"", *headers: str) -> bytes:
    lines = (f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers)
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def never(_: socket.socket, ended: threading.Event) -> None:
    """Says nothing, and keeps the line."""
    ended.wait()


def byte_by_byte(connection: socket.socket, ended: threading.Event) -> None:
    """Says something all the time, and never comes to an end."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not ended.wait(0.01):
        connection.sendall(b"x")


def endless(connection: socket.socket, ended: threading.Event) -> None:
    """A body that does not end."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    while not ended.is_set():
        connection.sendall(b"y" * 65536)


@contextmanager
def serving(*replies: Reply) -> Iterator[Server]:
    server = Server(*replies)
    try:
        yield server
    finally:
        server.close()


def free_port() -> int:
    """A port at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])
