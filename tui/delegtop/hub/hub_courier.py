"""Brings messages to a hub and does not rest before the hub says that it has them, whatever happens in between.

Whoever hands something over waits for that: what is not handed over yet is still in the logs, so nothing else keeps it.
"""

import asyncio
import json
import random
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from delegtop.base.clock import monotonic
from delegtop.base.hub_address import HubAddress
from delegtop.base.system_errors import reason_of
from delegtop.base.text import line
from delegtop.hub import subjects
from delegtop.hub.hub_key import HubKey
from delegtop.hub.hub_thread import HubThread
from delegtop.hub.nats_client import HubClient, HubError, Message, answer, connect
from delegtop.hub.subjects import MESSAGE_ID, RUN, SEQUENCE

AT_ONCE = 32
"""Messages that are under way at the same time."""
WAITING = 1_000
"""Questions that are kept; one who asks for more than can be answered is not heeded."""
FIRST_TRY, LAST_TRY = 0.5, 15.0
"""Seconds between two tries: each waits twice as long as the one before."""
_JITTER = 0.2
_AGAIN = 0.2
_SOON = 0.2
_QUESTION = 64 * 1024
_LAST_WORD = 3.0
"""Seconds that a hub that is not there is waited for at the end."""


class ForgottenError(Exception):
    """The hub has not got any more what it once said it has."""


class Parcel(NamedTuple):
    """One message."""

    subject: str
    id: str
    data: bytes


class HubQuestion(NamedTuple):
    """What somebody asks, and where the answer goes."""

    request: dict[str, Any]
    reply: str


class HubCourier:
    """One connection at a time, made anew whenever it is lost."""

    def __init__(self, address: HubAddress, key: HubKey, host: str, run: str) -> None:
        self._address, self._key, self._host, self._run = address, key, host, run
        self.sequence = 0
        """The number of the last message that the hub has."""
        self.questions: deque[HubQuestion] = deque(maxlen=WAITING)
        self.was_called = False
        """Whether somebody wants to hear at once that we are there."""
        self.wake: Callable[[], None] = lambda: None
        self.trouble = ""
        """Why the hub is not there now."""
        self.retries = self.duplicates = self.delivered = 0
        self._client: HubClient | None = None
        self._presence: tuple[bytes, bool] | None = None
        """What is to be said of us in the list of hosts, and whether that is said."""
        self._changed = asyncio.Event()
        self._thread = HubThread("delegtop-courier")
        self._thread.begin(self._stay_connected())

    # -- from the other thread -------------------------------------------------------------------------------------

    def deliver(self, parcels: Sequence[Parcel], meanwhile: Callable[[], None]) -> None:
        """Until the hub has them all. `meanwhile` is called again and again, and may raise to give up."""
        if not parcels:
            return
        before = self.sequence
        done = self._thread.begin(self._deliver(parcels))
        try:
            while True:
                with suppress(TimeoutError):
                    lowest = done.result(_SOON)
                    break
                meanwhile()
        finally:
            done.cancel()
        if lowest is not None and lowest <= before:
            raise ForgottenError

    def beat(self, data: bytes) -> None:
        """Say that all is told up to the last message that the hub has; nobody says it later if the hub is away."""
        headers = {RUN: self._run, SEQUENCE: str(self.sequence)}
        self._thread.begin(self._say(subjects.beat(self._host), data, headers))

    def answer(self, reply: str, data: bytes) -> None:
        self._thread.begin(self._say(reply, data, None))

    def be_present(self, entry: bytes) -> None:
        """Say that in the list of hosts, now and with each new connection."""
        self._presence = (entry, False)
        self._thread.begin(self._enter())

    def close(self, entry: bytes) -> None:
        """Leave, and say so if anybody is there to hear it."""
        self._presence = (entry, False)
        with suppress(Exception):
            self._thread.begin(self._enter()).result(_LAST_WORD)
        with suppress(Exception):
            self._thread.begin(self._leave()).result(_LAST_WORD)
        self._thread.close()

    # -- in the thread ---------------------------------------------------------------------------------------------

    async def _stay_connected(self) -> None:
        wait = FIRST_TRY
        while True:
            began = monotonic()
            try:
                client = await connect(self._address, self._key, f"delegtop ship {self._host}")
                await client.subscribe(subjects.want(self._host), self._ask)
                await client.subscribe(subjects.CALL, self._call)
            except HubError as error:
                self.trouble = str(error)
            except Exception as error:  # noqa: BLE001 -- whatever a server sends, it is tried again
                self.trouble = line(f"{type(error).__name__}: {reason_of(error)}", 200)
            else:
                self._client, self.trouble = client, ""
                self._changed.set()
                await self._enter()
                await client.lost.wait()
                self._client, self.trouble = None, client.why
                await client.close()
            self._changed.set()
            if monotonic() - began > LAST_TRY:
                wait = FIRST_TRY
            await asyncio.sleep(wait * random.uniform(1 - _JITTER, 1 + _JITTER))  # noqa: S311 -- no secret
            wait = min(2 * wait, LAST_TRY)

    async def _connected(self) -> HubClient:
        while self._client is None or self._client.lost.is_set():
            self._changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), 1.0)
        return self._client

    async def _deliver(self, parcels: Sequence[Parcel]) -> int | None:
        """The lowest new number that one of them got."""
        room = asyncio.Semaphore(AT_ONCE)

        async def one(parcel: Parcel) -> int | None:
            async with room:
                return await self._bring(parcel)

        got = await asyncio.gather(*(one(parcel) for parcel in parcels))
        return min((number for number in got if number is not None), default=None)

    async def _bring(self, parcel: Parcel) -> int | None:
        headers = {MESSAGE_ID: parcel.id, RUN: self._run}
        while True:
            client = await self._connected()
            try:
                told = answer(await _or_lost(client, client.request(parcel.subject, parcel.data, headers)))
                number = int(told["seq"])
            except (HubError, KeyError, TypeError, ValueError) as error:
                self.retries += 1
                self.trouble = str(error)
                await asyncio.sleep(_AGAIN)
                continue
            self.trouble = ""
            self.delivered += 1
            self.sequence = max(number, self.sequence)
            if told.get("duplicate"):
                self.duplicates += 1
                return None
            return number

    async def _say(self, subject: str, data: bytes, headers: dict[str, str] | None) -> None:
        if self._client is not None:
            with suppress(HubError):
                await self._client.publish(subject, data, headers)

    async def _enter(self) -> None:
        client, present = self._client, self._presence
        if client is None or present is None or present[1]:
            return
        with suppress(HubError):
            answer(await client.request(subjects.presence(self._key.hosts, self._host), present[0]))
            self._presence = (present[0], True)

    async def _leave(self) -> None:
        if self._client is not None:
            await self._client.flush()
            await self._client.close()

    async def _ask(self, message: Message) -> None:
        # Only into an inbox: with any other answer we would be made to write where the asker must not.
        if not message.reply.startswith(f"{subjects.INBOX}.") or len(message.data) > _QUESTION:
            return
        with suppress(ValueError, RecursionError):
            request = json.loads(message.data)
            if isinstance(request, dict):
                self.questions.append(HubQuestion(request, message.reply))
                self.wake()

    async def _call(self, message: Message) -> None:  # noqa: ARG002 -- that it came is all
        self.was_called = True
        self.wake()


async def _or_lost(client: HubClient, request: Any) -> bytes:
    """The answer, or that the connection is lost before it comes."""
    asked, lost = asyncio.ensure_future(request), asyncio.ensure_future(client.lost.wait())
    try:
        await asyncio.wait((asked, lost), return_when=asyncio.FIRST_COMPLETED)
        if not asked.done():
            raise HubError(client.why)
        return bytes(asked.result())
    finally:
        for each in (asked, lost):
            if not each.done():
                each.cancel()
        if asked.done() and not asked.cancelled():
            asked.exception()  # it is told, whoever wanted to know
