"""Stand before ports and count what comes through them."""

import selectors
import socket
import threading
from contextlib import suppress


class ByteCounters:
    """Each port of ours leads to another, and what that sends is counted."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._received: dict[int, int] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "ByteCounters":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]  # sockets, all of them
        self._selector.close()

    def before(self, port: int) -> int:
        """A port that leads to that one."""
        listener = socket.create_server(("127.0.0.1", 0))
        self._received[port] = 0
        self._selector.register(listener, selectors.EVENT_READ, (port, None, False))
        own: int = listener.getsockname()[1]
        return own

    def received(self, port: int) -> int:
        """Bytes that came from that port."""
        return self._received[port]

    def _run(self) -> None:
        while not self._over.is_set():
            for key, _ in self._selector.select(0.05):
                port, other, counts = key.data
                if other is None:
                    self._accept(key.fileobj, port)  # type: ignore[arg-type]  # a socket
                else:
                    self._pass_on(key.fileobj, other, port, counts)  # type: ignore[arg-type]  # as above

    def _accept(self, listener: socket.socket, port: int) -> None:
        client, _ = listener.accept()
        try:
            server = socket.create_connection(("127.0.0.1", port), timeout=5)
        except OSError:
            client.close()
            return
        for one in (client, server):
            one.setblocking(True)
        self._selector.register(client, selectors.EVENT_READ, (port, server, False))
        self._selector.register(server, selectors.EVENT_READ, (port, client, True))

    def _pass_on(self, one: socket.socket, other: socket.socket, port: int, counts: bool) -> None:
        data = b""
        with suppress(OSError):
            data = one.recv(65_536)
            other.sendall(data)
        if counts:
            self._received[port] += len(data)
        if not data:
            for each in (one, other):
                with suppress(KeyError, ValueError):
                    self._selector.unregister(each)
                each.close()
