"""The hosts of one hub, listened to in a thread of their own: what the hub has of them, then what comes.

Which hosts there are is learned there. The subject of a message says whose it is, whatever stands in it. What is
read is what a session told that was heard of lately, from its beginning: the logs of which something came within that
time.
"""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from delegtop.base.clock import Clock, Millis, monotonic, parse_span
from delegtop.base.hub_address import HubAddress
from delegtop.base.system_errors import reason_of
from delegtop.base.text import line
from delegtop.feed.host_states import FINAL, HostState
from delegtop.feed.hub_host import HubHost, HubItself, presence
from delegtop.feed.incoming import HostStream
from delegtop.hub import subjects
from delegtop.hub.hub_key import SHIP, VIEW, HubKey, HubKeyError, key_for
from delegtop.hub.hub_thread import HubThread
from delegtop.hub.nats_client import HubClient, HubError, Message, connect
from delegtop.hub.pull import Pull, StreamMessage
from delegtop.hub.subjects import RUN, SEQUENCE

HOSTS = 1_000
"""Hosts of one hub that are shown."""
SOURCES = 100_000
FILTERS = 250
"""Logs that are asked for by one question."""
FIRST_TRY, LAST_TRY = 1.0, 60.0
_JITTER = 0.2
_TICK = 0.25
_FULL = 0.05
_RUN = 32

NewStream = Callable[[str, str], HostStream]
SamePlace = Callable[[HubHost], str | None]


class HubLinks:
    """Listens to one hub until it is closed. `told` is called when there is something to read."""

    def __init__(
        self,
        address: HubAddress,
        clock: Clock,
        new_stream: NewStream,
        same_place: SamePlace,
        told: Callable[[], None],
    ) -> None:
        """`new_stream` makes the stream of a host that is met; `same_place` says as what else one is shown already."""
        self._address, self._clock = address, clock
        self._new_stream, self._same_place, self._told = new_stream, same_place, told
        self.itself = HubItself(address.name, HostStream(address.name, clock, scheme="nats://"))
        self._hosts: dict[str, HubHost] = {}
        self._key = HubKey()
        self._created = ""
        self._through = 0
        """The last message of the stream that was taken."""
        self._began_after = 0
        """The last that there was when it was first read; what is older is asked for log by log."""
        self._older: set[str] = set()
        """Logs of which nothing came lately, and nothing was taken."""
        self._is_read = False
        self._retry = asyncio.Event()
        self._thread = HubThread("delegtop-hub")
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self) -> None:
        self._thread.begin(self._run())
        self._thread.begin(self._tick())

    @property
    def links(self) -> Sequence[HubHost | HubItself]:
        """The hosts; the hub itself as long as there is none, or it does not let us in."""
        hosts = list(self._hosts.values())
        return hosts if hosts and self.itself.state is not HostState.REFUSED else [self.itself, *hosts]

    def retry(self) -> list[str]:
        """Try again now whoever is not there; returns their names."""
        names = [host.name for host in list(self._hosts.values()) if host.state in FINAL]
        if not self._is_connected:
            names = [link.name for link in self.links]
        self._thread.loop.call_soon_threadsafe(self._try_now)
        return names

    def _try_now(self) -> None:
        for host in self._hosts.values():
            host.retry()
        self._retry.set()

    @property
    def _is_connected(self) -> bool:
        return self.itself.state in (HostState.LIVE, HostState.BEHIND)

    def close(self) -> None:
        self._thread.close()

    # -- in the thread ---------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        wait = FIRST_TRY
        while True:
            self.itself.tries()
            client: HubClient | None = None
            try:
                self._key = key_for(self._address, VIEW)
                if self._key.can == SHIP:
                    raise HubError("the key is one to ship, not to look", refused=True)  # noqa: TRY301 -- as if it said so
                client = await connect(self._address, self._key, "delegtop")
                wait = FIRST_TRY if self._is_read else wait
                await self._listen(client)
            except HubKeyError as error:
                self.itself.enter(HostState.REFUSED, str(error))
            except HubError as error:
                self._lose(error)
            except Exception as error:  # noqa: BLE001 -- whatever a hub sends, it is tried again
                self._lose(HubError(line(f"{type(error).__name__}: {reason_of(error)}", 200)))
            finally:
                await self._hang_up(client)
            pause = wait * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 -- no secret
            self.itself.next_try = monotonic() + pause
            self._look()
            self._retry.clear()
            try:
                await asyncio.wait_for(self._retry.wait(), pause)
                wait = FIRST_TRY
            except TimeoutError:
                wait = min(2 * wait, LAST_TRY)

    async def _hang_up(self, client: HubClient | None) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        for host in self._hosts.values():
            host.stream.send = None
        if client is not None:
            await client.close()

    def _lose(self, error: HubError) -> None:
        if error.refused:
            named = self._address.credentials
            how = f"{named} is to have another" if named else "`delegtop hub join` keeps another"
            refused = f"the hub refuses the key ({error}); {how}"
            self.itself.enter(HostState.REFUSED, refused)
        else:
            self.itself.enter(HostState.UNREACHABLE, str(error))

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK)
            self._look()

    def _look(self) -> None:
        lost = "" if self._is_connected or self.itself.state is HostState.CONNECTING else self.itself.lost
        now = self._clock.now()
        changed = [host.look(now, is_read=self._is_read, lost=lost) for host in self._hosts.values()]
        if any(changed) or not self._hosts:
            self._told()

    # -- one connection --------------------------------------------------------------------------------------------

    async def _listen(self, client: HubClient) -> None:
        stream, bucket = self._key.stream, subjects.bucket_stream(self._key.hosts)
        last = await self._last(client, stream)
        self.itself.enter(HostState.BEHIND)
        await client.subscribe(subjects.beat(self._one_host), self._beat)
        entries = await Pull.begin(client, bucket, [subjects.presence(self._key.hosts)], last_of_each=True)
        await self._enter_all(entries)
        if not self._is_read:
            await self._read_history(client, stream, last)
        pull = await Pull.begin(client, stream, [subjects.all_told(self._one_host)], start=self._through + 1)
        if not pull.pending:
            self._caught_up(max(last, self._through))
        self.itself.enter(HostState.LIVE)
        for host in self._hosts.values():
            self._let_ask(host, client)
        await client.publish(subjects.CALL, b"")
        live = asyncio.create_task(self._live(client, stream, pull))
        present = asyncio.create_task(self._stay_present(client, bucket))
        lost = asyncio.create_task(client.lost.wait())
        self._tasks |= {live, present, lost}
        done, _ = await asyncio.wait((live, present, lost), return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
        raise HubError(client.why)

    @property
    def _one_host(self) -> str:
        """What the server is asked for: one host, or all, of which those that are not wanted are passed over."""
        return "*" if set("*?") & set(self._address.host) else self._address.host

    async def _last(self, client: HubClient, stream: str) -> int:
        """The number of the last message; if it is another stream than before, it is read from its beginning."""
        try:
            told = await client.ask(f"STREAM.INFO.{stream}", {})
        except HubError as error:
            if "stream not found" in str(error):
                raise HubError(f"it has no stream {stream}; `delegtop hub prepare` makes it") from None
            raise
        try:
            last, created = int(told["state"]["last_seq"]), str(told["created"])
        except (KeyError, TypeError, ValueError):
            raise HubError("what it answers is no stream") from None
        if created != self._created or last < self._through:
            self._created, self._through, self._is_read = created, 0, False
        return last

    async def _enter_all(self, pull: Pull) -> None:
        async for entry in pull.read(to_the_end=True):
            self._entered(entry)

    async def _stay_present(self, client: HubClient, bucket: str) -> None:
        pull = await Pull.begin(client, bucket, [subjects.presence(self._key.hosts)], last_of_each=True)
        async for entry in pull.read():
            self._entered(entry)

    def _entered(self, entry: StreamMessage) -> None:
        found, host = presence(entry.data), subjects.host_of(entry.subject)
        if found is None or host is None or not self._address.wants(host):
            return
        link = self._host(host) if host in self._hosts or entry.at >= self._since else None
        if link is not None:
            link.enters(found)

    @property
    def _since(self) -> Millis:
        span = None if self._address.since == "all" else parse_span(self._address.since)
        return Millis(0) if span is None else Millis(self._clock.now() - span)

    # -- what was told ---------------------------------------------------------------------------------------------

    async def _read_history(self, client: HubClient, stream: str, last: int) -> None:
        """Of every log of which something came lately, all that the hub has."""
        wanted = [subjects.all_told(self._one_host)]
        if self._address.since == "all":
            await self._read_all(client, stream, wanted, last)
        else:
            heads = await Pull.begin(client, stream, wanted, last_of_each=True, heads=True)
            since, recent = self._since, list[str]()
            async for each in heads.read(to_the_end=True):
                if not self._is_wanted(each.subject):
                    continue
                if each.at >= since:
                    recent.append(each.subject)
                elif len(self._older) < SOURCES:
                    self._older.add(each.subject)
            for start in range(0, len(recent), FILTERS):
                await self._read_all(client, stream, recent[start : start + FILTERS], last)
        self._through = self._began_after = last

    async def _read_all(self, client: HubClient, stream: str, wanted: Sequence[str], last: int) -> None:
        if not last:
            return
        pull = await Pull.begin(client, stream, wanted)
        async for each in _up_to(last, pull.read(to_the_end=True)):
            await self._take(each)

    async def _live(self, client: HubClient, stream: str, pull: Pull) -> None:
        async for each in pull.read():
            if each.subject in self._older:
                self._older.discard(each.subject)
                await self._read_all(client, stream, [each.subject], self._began_after)
            await self._take(each)
            self._through = each.sequence
            if (host := self._hosts.get(subjects.host_of(each.subject) or "")) is not None:
                host.let_go(self._through)
            if not each.pending:
                self._caught_up(self._through)
                self._told()
                # Someone who was met only now can be asked, too.
                if host is not None and host.stream.send is None:
                    self._let_ask(host, client)

    def _caught_up(self, through: int) -> None:
        self._through = through
        if not self._is_read:
            self._is_read = True
            for host in self._hosts.values():
                host.is_read()
        for host in self._hosts.values():
            host.let_go(through)

    async def _take(self, message: StreamMessage) -> None:
        host = subjects.host_of(message.subject)
        if host is None or not self._address.wants(host) or (link := self._host(host)) is None:
            return
        if link.state in FINAL:
            return
        link.take(message.headers.get(RUN, "")[:_RUN], message.data)
        self._meet(link)
        while link.stream.is_full and not link.stream.fault:
            self._told()
            await asyncio.sleep(_FULL)

    async def _beat(self, message: Message) -> None:
        host = subjects.host_of(message.subject)
        # What a server hands out for somebody else has a place for answers: a beat has none.
        if message.reply or host is None or not self._address.wants(host) or (link := self._host(host)) is None:
            return
        headers = message.headers or {}
        number = headers.get(SEQUENCE, "")
        if link.state not in FINAL and number.isascii() and number.isdecimal() and len(number) < 20:
            link.beats(headers.get(RUN, "")[:_RUN], int(number), bytes(message.data), self._through)
            self._meet(link)
            if link.look(self._clock.now(), is_read=self._is_read, lost="") or link.stream.has_more:
                self._told()

    # -- hosts -----------------------------------------------------------------------------------------------------

    def _is_wanted(self, subject: str) -> bool:
        host = subjects.host_of(subject)
        return host is not None and self._address.wants(host)

    def _host(self, host: str) -> HubHost | None:
        if host not in self._hosts:
            if len(self._hosts) >= HOSTS:
                return None
            self._hosts[host] = HubHost(host, self._new_stream(host, self._address.name))
        return self._hosts[host]

    def _meet(self, link: HubHost) -> None:
        """Two ways to one place are one."""
        if link.stream.header is None or link.state in FINAL:
            return
        if (shown := self._same_place(link)) is not None:
            link.stream.is_accepted = False
            link.is_same(f"{shown} and {link.name} are one place; shown once as {shown}")

    def _let_ask(self, host: HubHost, client: HubClient) -> None:
        """Lines can be asked for by who has a key for that."""
        if self._key.can == VIEW:
            return

        def send(request: object) -> None:
            self._thread.begin(self._want(client, host, request))

        host.stream.send = send

    async def _want(self, client: HubClient, host: HubHost, request: object) -> None:
        try:
            told = await client.request(subjects.want(host.host), json.dumps(request).encode())
        except HubError:
            return
        host.stream.take(told if told.endswith(b"\n") else told + b"\n")


async def _up_to(last: int, messages: AsyncIterator[StreamMessage]) -> AsyncIterator[StreamMessage]:
    async for each in messages:
        if each.sequence > last:
            return
        yield each
