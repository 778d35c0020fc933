"""Everything that a key must not be good for, tried at a real hub; and that what it is for can be done with it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec
from tests.fleet.hub_stand_ins import HubStandIn

from delegtop.base.hub_address import hub_address
from delegtop.hub import subjects
from delegtop.hub.hub_key import RAW, SHIP, VIEW, HubKey, new_seed
from delegtop.hub.nats_client import HubClient, HubError, Message, connect
from delegtop.hub.pull import Pull
from delegtop.hub.subjects import HOSTS, STREAM

_SOON = 0.1
_TRIES = 200

Probe = Callable[[], Awaitable[bool]]


def probes(world: HubStandIn) -> dict[str, bool]:
    """By what was tried, whether the hub held."""
    keys = {
        "a": world.made.invite("hosta", SHIP),
        "b": world.made.invite("hostb", SHIP),
        "view": world.made.invite("look", VIEW),
        "raw": world.made.invite("lines", RAW),
    }
    return asyncio.run(_Probes(world, keys).all())


class _Probes:
    def __init__(self, world: HubStandIn, keys: dict[str, HubKey]) -> None:
        self._world, self._keys, self._address = world, keys, hub_address(world.address)
        self._clients: dict[str, HubClient] = {}

    async def all(self) -> dict[str, bool]:
        last = await self._connected(self._keys["raw"])  # who came last is known last
        await last.close()
        self._clients = {name: await self._connected(key) for name, key in self._keys.items()}
        tried: dict[str, Probe] = {
            "a host tells of itself": lambda: self._may_store("a", "hosta"),
            "a host does not tell of another": lambda: self._denied("a", subjects.told("hostb", "x")),
            "a host does not say that another is there": lambda: self._denied("a", subjects.beat("hostb")),
            "a host does not enter another into the list": lambda: self._denied("a", subjects.presence(HOSTS, "hostb")),
            "a host does not hear what another is asked": lambda: self._deaf("a", subjects.want("hostb")),
            "a host does not hear what others tell": lambda: self._deaf("a", "delegtop.v1.>"),
            "a host does not read the stream": lambda: self._denied("a", f"$JS.API.CONSUMER.CREATE.{STREAM}"),
            "a host does not ask what the stream has": lambda: self._denied("a", f"$JS.API.STREAM.INFO.{STREAM}"),
            "a host does not fetch one message": lambda: self._denied("a", f"$JS.API.STREAM.MSG.GET.{STREAM}"),
            "a host does not overhear answers to another": self._overhear,
            "a host does not answer in the place of another": lambda: self._denied(
                "a", f"{self._keys['raw'].inbox_prefix()}.x.y"
            ),
            "who looks reads": self._may_read,
            "who looks tells nothing": lambda: self._denied("view", subjects.told("hosta", "x")),
            "who looks says for nobody that he is there": lambda: self._denied("view", subjects.beat("hosta")),
            "who looks asks for no lines": lambda: self._denied("view", subjects.want("hosta")),
            "who looks purges nothing": lambda: self._denied("view", f"$JS.API.STREAM.PURGE.{STREAM}"),
            "who looks deletes no stream": lambda: self._denied("raw", f"$JS.API.STREAM.DELETE.{STREAM}"),
            "who looks deletes no message": lambda: self._denied("raw", f"$JS.API.STREAM.MSG.DELETE.{STREAM}"),
            "who looks does not change the stream": lambda: self._denied("raw", f"$JS.API.STREAM.UPDATE.{STREAM}"),
            "who looks makes no stream": lambda: self._denied("raw", "$JS.API.STREAM.CREATE.OTHER"),
            "who looks does not list who else does": lambda: self._denied("view", f"$JS.API.CONSUMER.NAMES.{STREAM}"),
            "who looks hears no questions": lambda: self._deaf("raw", subjects.want()),
            "who looks hears no answers to another": lambda: self._deaf("view", f"{subjects.INBOX}.>"),
            "who may ask for lines is answered, once and not again": self._answers,
            "the stream does not deliver what is told as if another told it": self._no_replay,
            "without a key nobody enters": lambda: self._shut_out(_without(self._keys["view"])),
            "a strange key does not enter": lambda: self._shut_out(_strange(self._keys["view"])),
            "a hub with another certificate is not spoken to": lambda: self._shut_out(_other_pin(self._keys["view"])),
            "without TLS nobody is greeted": self._plain,
            "a key that was taken back does not enter": self._revoked,
            "a new key enters without a new start": self._invited,
        }
        results = {}
        for name, probe in tried.items():
            self._clients = {key: await self._alive(key) for key in self._clients}
            results[name] = await probe()
        for client in self._clients.values():
            await client.close()
        return results

    async def _connected(self, key: HubKey) -> HubClient:
        for left in reversed(range(_TRIES)):
            try:
                return await connect(self._address, key, "a test")
            except HubError:
                if not left:
                    raise
                await asyncio.sleep(_SOON)
        raise AssertionError

    async def _alive(self, name: str) -> HubClient:
        client = self._clients[name]
        return await self._connected(self._keys[name]) if client.lost.is_set() else client

    async def _denied(self, who: str, subject: str) -> bool:
        """Whether it may not publish there: the server says so."""
        client = self._clients[who]
        client.refusals.clear()
        with suppress(HubError):
            await client.publish(subject, b'{"config":{}}', reply=client.inbox())
        return await self._refused(client, "publish", subject)

    async def _deaf(self, who: str, subject: str) -> bool:
        client = self._clients[who]
        client.refusals.clear()

        async def heed(_message: Message) -> None:
            raise AssertionError

        with suppress(HubError):
            await client.subscribe(subject, heed)
        return await self._refused(client, "subscription", subject)

    async def _refused(self, client: HubClient, what: str, subject: str) -> bool:
        for _ in range(_TRIES):
            if any(what in each.lower() and subject.lower() in each.lower() for each in client.refusals):
                return True
            with suppress(HubError):
                await client.flush()
        return False

    async def _may_store(self, who: str, host: str) -> bool:
        told = json.loads(await self._clients[who].request(subjects.told(host, "x"), b"a line\n"))
        return bool(told.get("stream") == STREAM)

    async def _may_read(self) -> bool:
        client = self._clients["view"]
        pull = await Pull.begin(client, STREAM, [subjects.all_told()])
        return b"a line\n" in [each.data async for each in pull.read(to_the_end=True)]

    async def _answers(self) -> bool:
        """Somebody asks host a, which answers twice: the first comes, the second the hub does not let through."""
        host, done = self._clients["a"], asyncio.Event()
        host.refusals.clear()

        async def answer(message: Message) -> None:
            for number in range(2):
                await host.publish(message.reply, b"answer %d" % number)
            await host.flush()
            done.set()

        await host.subscribe(subjects.want("hosta"), answer)
        await host.flush()
        got = await self._clients["raw"].request(subjects.want("hosta"), b"{}")
        await asyncio.wait_for(done.wait(), 5)
        return got == b"answer 0" and any("publish" in each.lower() for each in host.refusals)

    async def _overhear(self) -> bool:
        return await self._deaf("b", f"{self._keys['a'].inbox_prefix()}.>")

    async def _no_replay(self) -> bool:
        """A viewer has the stream delivered where a host would tell, or beat: not taken, or told apart."""
        client, heard = self._clients["view"], list[Message]()
        own = await connect(self._address, self._hub_key(), "a test")

        async def heed(message: Message) -> None:
            heard.append(message)

        await own.subscribe(subjects.beat("hostb"), heed)
        await own.flush()
        before = (await own.ask(f"STREAM.INFO.{STREAM}", {}))["state"]["messages"]
        for target in (subjects.beat("hostb"), subjects.told("hostb", "x")):
            config = {"ack_policy": "none", "deliver_policy": "all", "deliver_subject": target}
            with suppress(HubError):
                await client.ask(f"CONSUMER.CREATE.{STREAM}", {"stream_name": STREAM, "config": config})
        await asyncio.sleep(_SOON)
        after = (await own.ask(f"STREAM.INFO.{STREAM}", {}))["state"]["messages"]
        await own.close()
        return before == after and all(message.reply for message in heard)

    def _hub_key(self) -> HubKey:
        folder = self._world.home / "state" / "delegtop" / "hub"
        return msgspec.structs.replace(self._keys["view"], seed=(folder / "own.seed").read_text(), can="")

    async def _shut_out(self, key: HubKey) -> bool:
        try:
            client = await connect(self._address._replace(with_tls=key.has_tls), key, "a test")
        except HubError:
            return True
        await client.close()
        return False

    async def _plain(self) -> bool:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._world.port)
        writer.write(b'CONNECT {"verbose":true}\r\nPING\r\n')
        told = b""
        with suppress(ConnectionError):
            told = await reader.read()
        writer.close()
        return not any(word in told for word in (b"INFO", b"PONG", b"OK", b"nats"))

    async def _revoked(self) -> bool:
        key = self._world.made.invite("gone", VIEW)
        client = await self._connected(key)
        self._world.made.revoke("gone")
        with suppress(TimeoutError):
            await asyncio.wait_for(client.lost.wait(), 20)
        return client.lost.is_set() and await self._shut_out(key)

    async def _invited(self) -> bool:
        client = await self._connected(self._world.made.invite("late", VIEW))
        await client.close()
        return True


def _without(key: HubKey) -> HubKey:
    return msgspec.structs.replace(key, seed="", inbox="_INBOX.x")


def _strange(key: HubKey) -> HubKey:
    return msgspec.structs.replace(key, seed=new_seed())


def _other_pin(key: HubKey) -> HubKey:
    """The same with another certificate of the same name, as a machine in between would have."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from delegtop.hub.hub_folder import HubFolder

    with TemporaryDirectory() as folder:
        other = HubFolder(Path(folder) / "hub")
        other.make()
        return msgspec.structs.replace(key, certificate=other.certificate())
