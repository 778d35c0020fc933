"""Streams as hosts send them, told by a stand-in for ssh."""

from pathlib import Path

from tests.fleet.host_stand_ins import FakeSsh

from delegtop.base.clock import MINUTE, Millis, WallClock
from delegtop.base.origin import of_host
from delegtop.dialects.recording.tape import Header, TapeBeat, TapeEvents, TapeSource, Written, frames, written
from delegtop.model.events import Event

NOW = WallClock().now()
"""Some moment; by the time that a test is run it may have been a while ago."""
GOES_ON = "sleep 600"


def data(*records: Written) -> bytes:
    return b"".join(part for record in records for part in frames(record))


def header(mark: str = "there", beat: int = 60_000, version: int = 1) -> Header:
    return Header(version, "delegtop 0.2.0", NOW, host="real-name", machine=mark, beat=beat, can=("have", "want"))


def told(line: int, *events: Event) -> TapeEvents:
    """One line of the first source, with what it tells."""
    place = (1, line, line)
    return TapeEvents(place, NOW, tuple(written(event, place, place) for event in events))


def minutes_ago(minutes: float) -> Millis:
    return Millis(int(WallClock().now() - minutes * MINUTE))


SOURCE = TapeSource(1, "/srv/run.jsonl")
HERE = of_host("")
"""Any place: where an event stands the record says."""


class ToldStreams:
    """What each host sends, and what it does then."""

    def __init__(self, folder: Path) -> None:
        self.ssh = FakeSsh(folder)

    def streams(self, name: str, *records: Written, raw: bytes = b"", then: str = GOES_ON) -> None:
        """The host sends these records, and then does that."""
        (self.ssh.folder / f"{name}.stream").write_bytes(raw + data(*records))
        self.ssh.host(name, f'cat "{self.ssh.folder}/{name}.stream"; {then}')

    def lives(self, name: str, *records: Written) -> None:
        """The host sends these, and that it is there."""
        self.streams(name, header(mark=name), SOURCE, *records, TapeBeat(WallClock().now()))

    def fails(self, name: str, words: str, code: int) -> None:
        self.ssh.host(name, f"cat >&2 <<'END'\n{words}\nEND\nexit {code}")
