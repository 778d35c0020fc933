"""`delegtop ship`: tell a hub what happens on this machine, as it happens."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

from delegtop.base import machine
from delegtop.base.clock import MINUTE, SECOND, Millis, WallClock, monotonic, parse_span, sleep
from delegtop.base.hub_address import HubAddressError, checked_hub_host, hub_address
from delegtop.base.ssh_command import BEAT
from delegtop.base.system_errors import place_and_reason
from delegtop.cli import diagnostics, hub_extra, options, reading
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit
from delegtop.cli.stream_talk import StreamTalk, opened, read_again

if TYPE_CHECKING:
    from delegtop.base.hub_address import HubAddress
    from delegtop.feed.outgoing import Outgoing, OutgoingBatch
    from delegtop.hub.hub_key import HubKey
    from delegtop.hub.position_file import Position, PositionFile
    from delegtop.observation.source_discovery import Places
    from delegtop.settings import Settings

DESCRIPTION = (
    "Tell a hub what happens on this machine, as it happens, until Ctrl-C: events with secrets masked here, no lines "
    "of logs, and no prompts unless --prompts says so, for a hub is other people's eyes. What the hub has not got "
    "waits in the logs (docs/nats.md)."
)
PAGE = "docs/nats.md"
EXAMPLES = {
    "delegtop ship --to tls://hub.example:4222": "with the key that `delegtop hub join` keeps",
    "delegtop ship --to tls://hub.example:4222 --prompts": "also what agents were asked to do, masked",
}
PACE = 0.2
"""Seconds between two messages of one log, at least."""
PRESENT = 60.0
"""Seconds between two entries in the list of hosts."""
CALLED = 1.0
"""Seconds between two beats that somebody calls for, at least."""
LARGEST = 900 * 1024
"""Bytes of a message: a hub takes a megabyte."""
_ENTRY = 60 * 1024


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "sources", nargs="*", metavar="SOURCE", help="a file, a folder, a glob; else what is found on this machine"
    )
    parser.add_argument(
        "--to",
        required=True,
        metavar="ADDRESS",
        help="the hub, as tls://hub.example:4222; the servers of a cluster with commas between",
    )
    parser.add_argument("--credentials", metavar="FILE", help="the file of its key, if `hub join` did not keep one")
    parser.add_argument("--as", dest="host", metavar="NAME", help="what this host is called there; the key may say so")
    parser.add_argument(
        "--prompts", action="store_true", help="also what agents were asked to do, and single lines to who may ask"
    )
    options.add(parser, "since", "all", "format", "config")


def run(arguments: Namespace) -> int:
    settings = options.load(arguments).settings
    hub_extra.check()
    from delegtop.hub.hub_key import SHIP, HubKeyError, key_for

    options.check_format(arguments.format)
    try:
        address = hub_address(arguments.to)._replace(credentials=arguments.credentials or "")
        key = key_for(address, SHIP)
        if key.can and key.can != SHIP:
            fail(f"the key for {address.name} is one to look, not to ship")
        host = checked_hub_host(arguments.host or key.name or machine.name().replace(".", "_"))
    except (HubAddressError, HubKeyError) as error:
        fail(str(error))
    return _ship(arguments, settings, address, key, host)


def _ship(arguments: Namespace, settings: "Settings", address: "HubAddress", key: "HubKey", host: str) -> int:
    from delegtop.hub.hub_courier import ForgottenError
    from delegtop.hub.position_file import Position, PositionFile, PositionInUseError

    found = reading.settle(arguments, settings, waits=True)
    if found.hosts or "-" in found.sources:
        fail("ship tells of this machine alone: neither another host nor standard input can be a SOURCE")
    try:
        file = PositionFile(f"{key.certificate or ','.join(address.servers)}\0{key.stream}", host)
    except PositionInUseError as error:
        fail(str(error))
    except OSError as error:
        fail(place_and_reason(error))
    said = "" if arguments.prompts else "; prompts stay here (--prompts sends them, masked)"
    diagnostics.say(f"shipping to {address.name} as {host}{said}; Ctrl-C ends it")
    position = file.read()
    with closing(file):
        while True:
            shipment = _Shipment(address, key, host, file, position, arguments.prompts)
            try:
                return _told(arguments, settings, found, shipment)
            except ForgottenError:
                diagnostics.say(f"{address.name} has not got any more what it was told; it is told all of it again")
                position = Position()


def _told(arguments: Namespace, settings: "Settings", found: "Places", shipment: "_Shipment") -> int:
    prompt = None if arguments.prompts else 0
    outgoing, seen = opened(
        arguments, settings, found, dict(shipment.position.marks), lines=False, masked=True, prompt=prompt
    )
    with seen:
        talk = StreamTalk(seen, outgoing, shipment, float(BEAT))
        shipment.wakes(seen.feed.wake, talk.beat_soon)
        try:
            talk.begin(("want",))
            talk.go_on(float("inf"), partial(read_again, arguments, settings, found, outgoing))
        finally:
            shipment.leave()
    return Exit.OK


class _Shipment:
    """Carries a conversation to a hub: what is told is told once the hub says so, and then the position is written."""

    def __init__(
        self,
        address: "HubAddress",
        key: "HubKey",
        host: str,
        file: "PositionFile",
        position: "Position",
        answers: bool,
    ) -> None:
        from secrets import token_hex

        from delegtop.hub.hub_courier import HubCourier

        self._address, self._key, self._host, self._file, self._answers = address, key, host, file, answers
        self.position = position
        self._run = token_hex(4)
        self._courier = HubCourier(address, key, host, self._run)
        self._courier.sequence = position.sequence
        self._header = b""
        self._last_beat: Millis | None = None
        self._present_at = self._called_at = self._carried_at = float("-inf")
        self._keep = parse_span(key.keep) or 0
        self._beat_soon: Callable[[], None] = lambda: None
        self._trouble = self._round = ""
        self._resumed: list[str] = []
        self._looked_again_at = Millis(0)
        self._has_told_all = False
        self._clock = WallClock()

    is_over = False

    def wakes(self, wake: Callable[[], None], beat_soon: Callable[[], None]) -> None:
        self._courier.wake, self._beat_soon = wake, beat_soon

    def begin(self, header: bytes) -> None:
        self._header = header if len(header) <= _ENTRY else b""
        self._be_present()

    # -- what is told ----------------------------------------------------------------------------------------------

    def carry(self, batches: "Iterable[OutgoingBatch]") -> None:
        from delegtop.hub import subjects
        from delegtop.hub.hub_courier import Parcel

        parcels: list[Parcel] = []
        now = self._clock.now()
        for batch in batches:
            subject = subjects.told(self._host, batch.source)
            pieces = [batch.data] if len(batch.data) <= LARGEST else list(_pieces(batch.data))
            for number, piece in enumerate(pieces):
                parcel = Parcel(subject, f"{batch.id}.{number}{self._round}", piece)
                if len(pieces) > 1:  # one after the other: they belong together
                    self._courier.deliver([parcel], self._look)
                else:
                    parcels.append(parcel)
            if batch.source:
                self._note(batch.source, now)
        if parcels:
            early = self._carried_at + PACE - monotonic()
            if early > 0:  # what comes in a moment goes with the next
                sleep(early)
            self._courier.deliver(parcels, self._look)
            self._carried_at = monotonic()
        self._round = ""
        self._look()

    def _note(self, source: str, now: Millis) -> None:
        position = self.position
        if source not in position.begun_at and source in position.marks:
            self._resumed.append(source)  # after so long that the hub has forgotten its beginning
        position.begun_at.setdefault(source, now)
        position.told_at[source] = now

    def _look(self) -> None:
        """Say so when the hub is lost, and when it is back."""
        trouble = self._courier.trouble
        if trouble and not self._trouble:
            diagnostics.say(f"{self._address.name} cannot be reached: {trouble}; what is new waits in the logs")
        elif self._trouble and not trouble:
            diagnostics.say(f"{self._address.name} is there")
        self._trouble = trouble

    def beat(self, outgoing: "Outgoing", *, behind: bool) -> None:
        if not behind:
            self.position.marks.update(outgoing.marks())
            self.position.sequence = self._courier.sequence
            self._file.write(self.position)
        at, data = outgoing.bare_beat(behind=behind)
        self._courier.beat(data)
        self._last_beat = self._last_beat if behind else at
        if monotonic() - self._present_at > PRESENT or (not behind and not self._has_told_all):
            self._has_told_all = not behind
            self._be_present()

    # -- presence --------------------------------------------------------------------------------------------------

    def _be_present(self) -> None:
        self._present_at = monotonic()
        self._courier.be_present(self._entry(left=False))

    def _entry(self, *, left: bool) -> bytes:
        """What stands in the list of hosts: who it is, up to when all is told, and the first line of its recording."""
        import json

        told = {
            "run": self._run,
            "at": self._clock.now(),
            "told": self._last_beat,
            "sequence": self._courier.sequence,
            "beat": BEAT * SECOND,
            "left": left,
        }
        return json.dumps(told).encode() + b"\n" + self._header

    def leave(self) -> None:
        self._courier.close(self._entry(left=True))

    def end(self, outgoing: "Outgoing") -> None:
        """Nothing is left to be told: it ends by being ended."""

    # -- what is asked ---------------------------------------------------------------------------------------------

    def requests(self) -> Iterator[tuple[dict[str, Any], Callable[[bytes], None]]]:
        if self._courier.was_called and monotonic() - self._called_at > CALLED:
            self._courier.was_called, self._called_at = False, monotonic()
            self._beat_soon()
        while self._courier.questions:
            question = self._courier.questions.popleft()
            if self._answers:
                yield question.request, partial(self._courier.answer, question.reply)

    def due_again(self) -> list[str]:
        """Logs that grew while the hub keeps what it was told, and whose beginning it will soon have forgotten."""
        now, position = self._clock.now(), self.position
        if self._resumed:
            resumed, self._resumed = self._resumed, []
            return self._again(resumed)
        if not self._keep or now < self._looked_again_at + min(MINUTE, self._keep // 10):
            return []
        self._looked_again_at = now
        for source in [source for source, at in position.told_at.items() if at < now - self._keep]:
            position.told_at.pop(source, None)
            position.begun_at.pop(source, None)
        due = [source for source, at in position.begun_at.items() if at < now - self._keep // 2]
        return self._again(due)

    def _again(self, due: list[str]) -> list[str]:
        now = self._clock.now()
        self.position.begun_at.update(dict.fromkeys(due, now))
        self._round = f".{now}" if due else ""  # told anew, it is another message
        return due


def _pieces(data: bytes) -> Iterator[bytes]:
    """Of whole lines, each as long as a hub takes."""
    piece = b""
    for line in data.splitlines(keepends=True):
        if piece and len(piece) + len(line) > LARGEST:
            yield piece
            piece = b""
        piece += line
    yield piece
