"""The links to all hosts, in one thread: none of them waits for another, and few connect at the same time."""

import os
import selectors
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from delegtop.base import machine
from delegtop.base.clock import monotonic
from delegtop.feed.host_link import HostLink
from delegtop.feed.host_states import HostState
from delegtop.sources import handles

AT_ONCE = 4
"""Hosts that are connected to at the same time: a server that many go through refuses those that are too many."""
_TICK = 1.0
"""Seconds between two looks at those who say nothing."""
_SOON = 0.05
_EVERYONE = 0.25
"""Seconds between two looks at all of them while some are telling."""
_FILES, _OTHERS = 4, 512
"""Files that are open for a host (three pipes, and what it told), and for all else."""
_REAPED = 2.0
"""Seconds for a process to end whose output has."""


class FleetLinks:
    """Runs the links until it is closed. `told` is called when there is something to read."""

    def __init__(self, links: Sequence[HostLink], told: Callable[[], None], *, with_this_machine: bool) -> None:
        self.links = tuple(links)
        handles.make_room(_OTHERS + _FILES * len(self.links))
        self._told = told
        self._own = (machine.name(), machine.mark()) if with_this_machine else None
        """This place, if it is shown as well."""
        self._selector = selectors.DefaultSelector()
        self._wakes, self._wake = os.pipe()
        os.set_blocking(self._wakes, False)
        self._selector.register(self._wakes, selectors.EVENT_READ, None)
        self._ending: dict[HostLink, float] = {}
        self._full: set[HostLink] = set()
        """Those of whom enough waits to be read."""
        self._commands: list[Callable[[], object]] = []
        self._all_at = float("-inf")
        """When all are looked at next; long ago if that is due."""
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="delegtop-links", daemon=True)

    def start(self) -> None:
        if self._thread.ident is None and not self._closed.is_set():
            self._thread.start()

    def retry(self) -> list[str]:
        """Try again now whoever is not there; returns their names."""
        waiting = [link for link in self.links if link.connection is None and link.state is not HostState.CONNECTING]
        for link in waiting:
            self._commands.append(link.retry)
        self.wake()
        return [link.name for link in waiting]

    def wake(self) -> None:
        with suppress(OSError):
            os.write(self._wake, b".")

    def close(self) -> None:
        """End all connections, wherever they are."""
        self._closed.set()
        self.wake()
        if self._thread.ident is not None:
            self._thread.join(_REAPED)
        else:
            self._end()

    # -- in the thread ---------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while not self._closed.is_set():
                stirred = {key.data[0] for key in self._wait() if self._serve(key)}
                commands, self._commands = self._commands, []
                for command in commands:
                    command()
                if commands or monotonic() >= self._all_at:
                    self._all_at = float("-inf")
                self._look(self.links if self._is_time_for_all else stirred)
        finally:
            self._end()

    @property
    def _is_time_for_all(self) -> bool:
        """Whether not only those are looked at that say something: with thousands, each word would cost a look at
        every one of them."""
        return self._all_at == float("-inf")

    def _wait(self) -> list[selectors.SelectorKey]:
        """Those that have something to say, or take something."""
        if self._is_time_for_all:
            self._connect()
            timeout, self._all_at = self._timeout(), monotonic() + min(_EVERYONE, _TICK)
        else:
            timeout = max(self._all_at - monotonic(), 0.0)
        return [key for key, _ in self._selector.select(timeout)]

    def _connect(self) -> None:
        free = AT_ONCE - sum(link.is_connecting for link in self.links)
        for link in [link for link in self.links if link.is_due][: max(free, 0)]:
            link.connect()
            if (connection := link.connection) is not None:
                self._selector.register(connection.stdout, selectors.EVENT_READ, (link, "out"))
                self._selector.register(connection.stderr, selectors.EVENT_READ, (link, "err"))
            self._told()

    def _timeout(self) -> float:
        waits = [_SOON if self._ending or self._full else _TICK]
        waits += [link.seconds_left for link in self.links if link.connection is None and not link.is_due]
        return max(min(waits), 0.0 if any(link.is_due for link in self.links) and self._has_room else _SOON)

    @property
    def _has_room(self) -> bool:
        return sum(link.is_connecting for link in self.links) < AT_ONCE

    def _serve(self, key: selectors.SelectorKey) -> bool:
        """Whether it is of a host."""
        if key.data is None:
            with suppress(OSError):
                os.read(self._wakes, 4_096)
            return False
        link, pipe = key.data
        connection = link.connection
        if connection is None:
            self._selector.unregister(key.fileobj)
        elif pipe == "in":
            connection.send()
        elif pipe == "err":
            if not connection.hear():
                self._selector.unregister(key.fileobj)
        else:
            self._read(link, key)
        return True

    def _read(self, link: HostLink, key: selectors.SelectorKey) -> None:
        stream = link.stream
        known, heard, size = stream.header is not None, stream.heard_at, stream.spool.size
        if not link.read():
            self._selector.unregister(key.fileobj)
            self._ending[link] = monotonic() + _REAPED
            self._all_at = float("-inf")
        elif stream.is_full:
            self._selector.unregister(key.fileobj)
            self._full.add(link)
        if not known and stream.header is not None and not stream.fault:
            self._meet(link)
        if stream.spool.size > size or stream.heard_at != heard:
            self._told()

    def _meet(self, link: HostLink) -> None:
        """Its first line says who it is: two ways to one place are one. There is room for another now."""
        self._all_at = float("-inf")
        header = link.stream.header
        place = (header.host, header.machine) if header is not None else ("", "")
        others = {
            (each.stream.header.host, each.stream.header.machine): each.name
            for each in self.links
            if each is not link and each.connection is not None and each.stream.header is not None
        }
        if self._own is not None:
            others[self._own] = "this machine"
        if place[1] and place in others:
            shown = others[place]
            self._drop(link)
            link.is_same(f"{shown} and {link.name} are one place; shown once as {shown}")
        else:
            link.accept()

    def _look(self, links: Iterable[HostLink]) -> None:
        for link in [link for link in self._full if not link.stream.is_full]:
            self._full.discard(link)
            if link.connection is not None:
                self._selector.register(link.connection.stdout, selectors.EVENT_READ, (link, "out"))
        for link, deadline in list(self._ending.items()):
            connection = link.connection
            if connection is None or connection.code is not None or monotonic() > deadline:
                del self._ending[link]
                self._forget(link)
                link.ended()
                self._told()
        for link in links:
            if link in self._ending:
                continue
            state, fds = link.state, self._fds(link)
            link.look()
            if link.connection is None:
                self._unregister(fds)
            else:
                self._let_send(link)
            if link.state is not state:
                self._told()

    def _let_send(self, link: HostLink) -> None:
        connection = link.connection
        if connection is None:
            return
        registered = connection.stdin in self._selector.get_map()
        if connection.has_unsent and not registered:
            self._selector.register(connection.stdin, selectors.EVENT_WRITE, (link, "in"))
        elif registered and not connection.has_unsent:
            self._selector.unregister(connection.stdin)

    def _drop(self, link: HostLink) -> None:
        self._ending.pop(link, None)
        self._forget(link)

    def _forget(self, link: HostLink) -> None:
        self._full.discard(link)
        self._unregister(self._fds(link))

    def _fds(self, link: HostLink) -> tuple[int, ...]:
        connection = link.connection
        return () if connection is None else (connection.stdin, connection.stdout, connection.stderr)

    def _unregister(self, fds: Sequence[int]) -> None:
        for fd in fds:
            with suppress(KeyError, ValueError):
                self._selector.unregister(fd)

    def _end(self) -> None:
        for link in self.links:
            self._forget(link)
            link.close()
        self._selector.close()
        for fd in (self._wakes, self._wake):
            with suppress(OSError):
                os.close(fd)
