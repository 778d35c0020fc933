"""A feed over other hosts and this machine: what each of them tells, together.

Whoever asks for a line or a history is answered by the host that it is of.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Protocol

from delegtop.base import machine
from delegtop.base.clock import Clock, FrozenClock, Millis, WallClock, monotonic
from delegtop.base.hub_address import HubAddress
from delegtop.base.origin import Origin
from delegtop.base.ssh_command import SshAddress
from delegtop.feed.as_of import AsOf
from delegtop.feed.batch import Batch
from delegtop.feed.fleet_links import FleetLinks
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.host_link import HostConnection, HostLink
from delegtop.feed.host_states import HostState, HostStatus
from delegtop.feed.incoming import HostStream, Incoming, ToldLine
from delegtop.feed.line_reading import Witness
from delegtop.feed.live_feed import BATCH, Feed
from delegtop.feed.source_statuses import SourceStatuses
from delegtop.model.delegation import Delegation
from delegtop.model.events import Event
from delegtop.sources.file_status import FileStatus, State
from delegtop.sources.records import Line, Unreadable
from delegtop.sources.ssh_process import SshProcess

if TYPE_CHECKING:
    from delegtop.feed.hub_host import HubHost
    from delegtop.feed.spoken_pages import SpokenPages
    from delegtop.kernel.open_call import OpenCall

PATIENCE = 15.0
"""Seconds that a host is waited for by who reads once."""
_PAUSE = 0.1
HERE = "this machine"


class FleetLink(Protocol):
    """One host, whatever carries what it tells."""

    @property
    def name(self) -> str: ...
    @property
    def stream(self) -> HostStream: ...
    @property
    def state(self) -> HostState: ...
    @property
    def is_settled(self) -> bool: ...
    def status(self) -> HostStatus: ...


class Links(Protocol):
    """The hosts that come by one carrier."""

    @property
    def links(self) -> Sequence[FleetLink]: ...
    def start(self) -> None: ...
    def retry(self) -> list[str]: ...
    def close(self) -> None: ...


class Fleet:
    """Hosts that are listened to, beside a feed of this machine's own sources, if some are wanted."""

    def __init__(
        self,
        addresses: Sequence[SshAddress | HubAddress],
        local: Feed | None,
        *,
        clock: Clock,
        zone: tzinfo = UTC,
        witness: Witness | None = None,
        patience: float = PATIENCE,
        connect: Callable[[list[str]], HostConnection] = SshProcess,
    ) -> None:
        self._clock, self._zone, self.local = clock, zone, local
        self._witness, self._patience = witness, patience
        self._horizon = AsOf(clock) if isinstance(clock, FrozenClock) else None
        self._stirred = threading.Event()
        wall = WallClock()
        self._incoming = Incoming(wall, zone)
        by_ssh = [each for each in addresses if isinstance(each, SshAddress)]
        links = [HostLink(each, self._incoming.stream(each.name, each.shell_target), wall, connect) for each in by_ssh]
        self._carriers: list[Links] = []
        if links:
            self._carriers.append(FleetLinks(links, self._tell, with_this_machine=local is not None))
        hubs = [each for each in addresses if isinstance(each, HubAddress)]
        if hubs:
            from delegtop.feed.hub_links import HubLinks  # only who names a hub needs NATS

            self._carriers += [HubLinks(each, wall, self._met_at_hub, self._shown_as, self._tell) for each in hubs]
        for carrier in self._carriers:
            carrier.start()

    @property
    def links(self) -> list[FleetLink]:
        return [link for carrier in self._carriers for link in carrier.links]

    def _met_at_hub(self, host: str, hub: str) -> HostStream:
        """The stream of a host that a hub knows of, by a name that no other has."""
        names = self._incoming.streams
        name = next(
            each for each in (host, f"{host}@{hub}", *(f"{host}@{hub}~{n}" for n in range(2, 99))) if each not in names
        )
        return self._incoming.stream(name, scheme="nats://")

    def _shown_as(self, host: "HubHost") -> str | None:
        """As what a host of a hub is shown already, if it is a place that comes another way."""
        if not host.place[1]:
            return None
        if self.local is not None and host.place == (machine.name(), machine.mark()):
            return HERE
        for stream in self.streams:
            header = stream.header if stream is not host.stream and stream.is_accepted else None
            if header is not None and (header.host, header.machine) == host.place:
                return stream.name
        return None

    # -- reading ---------------------------------------------------------------------------------------------------

    def _tell(self) -> None:
        if self.local is not None:
            self.local.nudge()
        self._stirred.set()

    def poll(self) -> Iterator[Batch]:
        """Everything that is new now, in batches."""
        if self.local is not None:
            yield from self.local.poll()
        for stream in self.streams:
            yield from self._batches(stream.drain())

    @property
    def streams(self) -> list[HostStream]:
        return list(self._incoming.streams.values())

    def _batches(self, lines: Iterator[ToldLine]) -> Iterator[Batch]:
        events: list[Event] = []
        for each in lines:
            if self._witness is not None:
                self._witness(each.line, each.told)
            for event in each.told:
                if not isinstance(event, Unreadable):
                    events += (event,) if self._horizon is None else self._horizon.let(event) or ()
            if len(events) >= BATCH:
                yield Batch(events)
                events = []
        if events:
            yield Batch(events)

    def read_all(self) -> Iterator[Batch]:
        """Everything there is: of each host what it had to tell, if it can be had soon."""
        yield from self.meet()
        if self.local is not None:
            yield from self.local.read_all()
        if self._horizon is not None:
            yield Batch(list(self._horizon.settle()))

    def meet(self) -> Iterator[Batch]:
        """Until every host has told all there was, or cannot be had."""
        until = monotonic() + self._patience
        yield from self.poll()
        while not all(link.is_settled for link in self.links) and monotonic() < until:
            self._stirred.wait(_PAUSE)
            self._stirred.clear()
            for stream in self.streams:
                yield from self._batches(stream.drain())

    def wait(self, timeout: float) -> None:
        """Until something probably changed, at most that many seconds."""
        if self.local is not None:
            self.local.wait(timeout)
        else:
            self._stirred.wait(timeout)
            self._stirred.clear()

    def wake(self) -> None:
        self._stirred.set()
        if self.local is not None:
            self.local.wake()

    def rest_with(self, rest: Callable[[], None]) -> None:
        if self.local is not None:
            self.local.rest_with(rest)

    def watch_calls(self, calls: "Sequence[OpenCall]") -> None:
        """Of this machine: each host asks its own kernel."""
        if self.local is not None:
            self.local.watch_calls(calls)

    @property
    def is_behind(self) -> bool:
        """Whether there is something that nobody has looked at yet."""
        return (self.local is not None and self.local.is_behind) or any(stream.has_more for stream in self.streams)

    @property
    def is_over(self) -> bool:
        """Hosts may always tell more."""
        return False

    @property
    def unwritten(self) -> Sequence[Event]:
        """What no line tells of this machine."""
        return () if self.local is None else self.local.unwritten

    def tell_once(self) -> None:
        if self.local is not None:
            self.local.tell_once()

    # -- hosts -----------------------------------------------------------------------------------------------------

    def hosts(self) -> tuple[HostStatus, ...]:
        """How each of them stands, this machine first if it is shown."""
        here = [] if self.local is None else [HostStatus("", HostState.LIVE, HERE, self._clock.now())]
        return (*here, *(link.status() for link in self.links))

    def retry(self) -> list[str]:
        """Try again now whoever is not there; returns their names."""
        return [name for carrier in self._carriers for name in carrier.retry()]

    # -- health ----------------------------------------------------------------------------------------------------

    def statuses(self) -> SourceStatuses:
        local = SourceStatuses(()) if self.local is None else self.local.statuses()
        return local.plus(self._status(link) for link in self.links)

    def _status(self, link: FleetLink) -> SourceStatus:
        told, size = link.status(), link.stream.spool.size
        detail = "" if told.state is HostState.LIVE else told.plain.removeprefix(f"{link.name}: ")
        changed = None if told.news_at is None else Millis(told.news_at + told.offset)
        reading = link.stream.reading
        return reading.status(
            FileStatus(reading.path, _STATUSES.get(told.state, "unreadable"), detail, size, size, changed)
        )

    def progress(self) -> tuple[int, int]:
        return (0, 0) if self.local is None else self.local.progress()

    # -- reading again ---------------------------------------------------------------------------------------------

    def raw(self, origin: Origin) -> bytes | None:
        """The very line: of another host one that it sent, or still has."""
        if origin.host in self._incoming.streams:
            return self._incoming.streams[origin.host].raw(origin)
        return None if self.local is None else self.local.raw(origin)

    def history(self, delegation: Delegation, limit: int = 200) -> list[tuple[Line, list[Event]]]:
        if delegation.told_by in self._incoming.streams:
            return self._incoming.streams[delegation.told_by].history(delegation, limit)
        return [] if self.local is None else self.local.history(delegation, limit)

    def transcript(self, delegation: Delegation) -> "SpokenPages":
        """What was said in one delegation; of another host what its events tell."""
        if self.local is not None and delegation.told_by not in self._incoming.streams:
            return self.local.transcript(delegation)
        from delegtop.feed.transcript_files import transcript_of  # only who reads one needs it

        until = self._clock.now() if self._horizon is not None else None
        return transcript_of(delegation, (), lambda: self.history(delegation, _CONVERSATION), until)

    def is_first_hand(self, origin: Origin) -> bool:
        return self.local is not None and self.local.is_first_hand(origin)

    def past(self, local: Feed | None) -> "PastFleet":
        """The same hosts as far as they told, read once more; `local` reads this machine's sources."""
        return PastFleet(self, local)

    def close(self) -> None:
        for carrier in self._carriers:
            carrier.close()
        for stream in self.streams:
            stream.close()
        if self.local is not None:
            self.local.close()


_CONVERSATION = 2_000
_STATUSES: dict[HostState, State] = {
    HostState.LIVE: "live",
    HostState.BEHIND: "loading",
    HostState.CONNECTING: "loading",
    HostState.STALE: "stale",
    HostState.SAME: "stale",
}


class PastFleet:
    """What a fleet was told so far, for somebody who goes back in time. It asks nobody."""

    def __init__(self, fleet: Fleet, local: Feed | None) -> None:
        self._local = local
        self._streams = [stream.again() for stream in fleet.streams]
        self._has_read = False

    def read_all(self) -> Iterator[Batch]:
        return self.poll()

    def poll(self) -> Iterator[Batch]:
        """What was told and was not read by this one yet."""
        if self._local is not None:
            yield from self._local.poll() if self._has_read else self._local.read_all()
        self._has_read = True
        for stream in self._streams:
            yield Batch(list(stream.events()))

    def tell_once(self) -> None:
        if self._local is not None:
            self._local.tell_once()

    def progress(self) -> tuple[int, int]:
        return (0, 0) if self._local is None else self._local.progress()

    def close(self) -> None:
        if self._local is not None:
            self._local.close()
