"""Reading a stream of a hub: by a consumer of one's own that nobody has to answer, from any message on.

It is made for one connection. Whatever is odd (a gap, silence, a server that is gone) ends it, and whoever reads begins
a new one after the last message that came.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any, NamedTuple

from delegtop.base.clock import Millis
from delegtop.hub.nats_client import HubClient, HubError, Message

BATCH, BYTES = 512, 4 * 1024 * 1024
"""Messages, and bytes of these, that are asked for at once."""
BEAT = 2
"""Seconds between two signs of life that are asked for."""
_SILENCE = 3.0 * BEAT
_EXPIRES = 30
_NANO = 1_000_000_000
_INACTIVE = 60
"""Seconds after which the server forgets a consumer that nobody asks any more."""
_STATUS, _HEARTBEAT = "Status", "100"
_OVER = ("404", "408", "409")


class StreamMessage(NamedTuple):
    """One message of a stream."""

    subject: str
    data: bytes
    headers: dict[str, str]
    sequence: int
    at: Millis
    pending: int
    """How many that are wanted, too, come after it."""


class Pull:
    """One consumer."""

    def __init__(self, client: HubClient, stream: str, name: str, pending: int) -> None:
        self._client, self._stream, self._name = client, stream, name
        self.pending = pending
        """How many there were at first."""
        self._came: asyncio.Queue[Message] = asyncio.Queue()
        self._delivered = 0

    @classmethod
    async def begin(
        cls,
        client: HubClient,
        stream: str,
        wanted: Sequence[str],
        *,
        start: int = 0,
        last_of_each: bool = False,
        heads: bool = False,
    ) -> "Pull":
        """A consumer of these subjects: from message `start` on, or of each subject the last first; with `heads`
        without what is in them."""
        config: dict[str, Any] = {
            "ack_policy": "none",
            "deliver_policy": "by_start_sequence" if start else "last_per_subject" if last_of_each else "all",
            "replay_policy": "instant",
            "inactive_threshold": _INACTIVE * _NANO,
            "mem_storage": True,
            "num_replicas": 1,
            "max_waiting": 8,
        }
        config |= {"opt_start_seq": start} if start else {}
        config |= {"headers_only": True} if heads else {}
        config |= {"filter_subject": wanted[0]} if len(wanted) == 1 else {"filter_subjects": list(wanted)}
        made = await client.ask(f"CONSUMER.CREATE.{stream}", {"stream_name": stream, "config": config})
        try:
            return cls(client, stream, str(made["name"]), int(made.get("num_pending") or 0))
        except (KeyError, TypeError, ValueError):
            raise HubError("what it answers is no consumer") from None

    async def read(self, *, to_the_end: bool = False) -> AsyncIterator[StreamMessage]:
        """What comes, for ever; or all that there is."""
        if to_the_end and not self.pending:
            return
        inbox = self._client.inbox()
        end = await self._client.subscribe(inbox, self._came.put)
        try:
            async for each in self._messages(inbox):
                yield each
                if to_the_end and not each.pending:
                    return
        finally:
            await end()

    async def _messages(self, inbox: str) -> AsyncIterator[StreamMessage]:
        left = 0
        while True:
            if left <= 0:
                await self._ask(inbox)
                left = BATCH
            try:
                message = await asyncio.wait_for(self._came.get(), _SILENCE)
            except TimeoutError:
                raise HubError("it does not answer") from None
            headers = message.headers or {}
            status = headers.get(_STATUS)
            if status == _HEARTBEAT:
                continue
            if status in _OVER and "consumer" not in headers.get("Description", "").lower():
                left = 0
                continue
            if status is not None:
                raise HubError(f"it ends what is read: {headers.get('Description', status)}"[:200])
            left -= 1
            yield self._read(message)

    async def _ask(self, inbox: str) -> None:
        question = {
            "batch": BATCH,
            "max_bytes": BYTES,
            "expires": _EXPIRES * _NANO,
            "idle_heartbeat": BEAT * _NANO,
        }
        subject = f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{self._name}"
        await self._client.publish(subject, json.dumps(question).encode(), reply=inbox)

    def _read(self, message: Message) -> StreamMessage:
        """What a message is, by the place that answers to it would go to."""
        words = message.reply.split(".")
        if len(words) >= 11:  # with the domain and the account of the server
            words = ["$JS", "ACK", *words[4:]]
        try:
            _, _, _, _, _, sequence, delivered, at, pending, *_ = words
            numbers = int(sequence), int(delivered), int(at), int(pending)
        except ValueError:
            raise HubError("what it sends is no message of a stream") from None
        if numbers[1] != self._delivered + 1:
            raise HubError("messages are missing")
        self._delivered = numbers[1]
        return StreamMessage(
            message.subject,
            bytes(message.data),
            dict(message.headers or {}),
            numbers[0],
            Millis(numbers[2] // 1_000_000),
            numbers[3],
        )
