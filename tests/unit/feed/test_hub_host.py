"""One host of a hub: what it tells is taken as it comes, time moves only when all is here, and it speaks for itself."""

import json
from collections.abc import Iterator

import pytest

from delegtop.base.clock import HOUR, Millis, WallClock
from delegtop.base.origin import of_host
from delegtop.dialects.recording.tape import Header, TapeBeat, TapeEvents, TapeSource, Written, frames, written
from delegtop.feed.host_states import HostState
from delegtop.feed.hub_host import HostPresence, HubHost, presence
from delegtop.feed.incoming import LINE, HostStream
from delegtop.model.events import Started

NOW = WallClock().now()


def data(*records: Written) -> bytes:
    return b"".join(part for record in records for part in frames(record))


def header(mark: str = "there") -> bytes:
    return data(Header(1, "delegtop 0.2.0", NOW, host="real", machine=mark, beat=5_000))


def piece(number: int, source: str, id: str) -> bytes:
    event = Started(id, NOW, of_host(""), agent="x")
    place = (number, 1, 0)
    return data(TapeSource(number, source), TapeEvents(place, NOW, (written(event, place, place),)))


@pytest.fixture
def host() -> Iterator[HubHost]:
    made = HubHost("gpu1", HostStream("gpu1", WallClock()))
    made.enters(HostPresence("r1", NOW, header=header()))
    yield made
    made.stream.close()


def ids(host: HubHost) -> list[tuple[str, str]]:
    told = [event for line in host.stream.drain() for event in line.told if isinstance(event, Started)]
    return [(event.id, event.origin.source) for event in told]


def test_numbers_of_sources_are_those_of_one_start_of_the_shipper(host: HubHost) -> None:
    host.take("r1", piece(1, "/a", "one"))
    host.take("r2", piece(1, "/b", "two"))
    host.take("r1", piece(2, "/c", "three"))
    assert ids(host) == [("one", "/a"), ("two", "/b"), ("three", "/c")]


def test_that_all_is_told_counts_only_once_it_is_here(host: HubHost) -> None:
    host.beats("r1", 7, data(TapeBeat(NOW)), through=5)
    assert host.stream.news_at is None
    host.take("r1", piece(1, "/a", "one"))
    host.let_go(6)
    assert host.stream.news_at is None
    host.let_go(7)
    assert host.stream.news_at == NOW
    host.look(NOW, is_read=True, lost="")
    assert host.state is HostState.LIVE


def test_what_its_entry_says_of_the_time_tells_nothing_of_its_clock(host: HubHost) -> None:
    host.enters(HostPresence("r1", NOW, told=Millis(NOW - 3 * HOUR), left=True, header=header()))
    host.is_read()
    assert host.stream.news_at == NOW - 3 * HOUR
    assert host.stream.offset == 0
    host.look(NOW, is_read=True, lost="")
    assert host.status().text == "gpu1: cannot be reached: delegtop ship has ended there"


def test_a_beat_is_nothing_but_a_beat(host: HubHost) -> None:
    host.beats("r1", 0, piece(1, "/a", "forged"), through=9)
    host.beats("r1", 0, b"\xff" * 1000, through=9)
    host.beats("r1", 0, data(TapeBeat(NOW, marks={"1": (1, 1, 1)})) + piece(1, "/a", "forged"), through=9)
    assert ids(host) == []
    assert host.stream.marks == {}


def test_a_piece_that_is_torn_does_not_reach_the_next(host: HubHost) -> None:
    host.take("r1", piece(1, "/a", "one")[:-20])
    host.take("r1", piece(1, "/a", "two"))
    assert ids(host) == [("two", "/a")]


def test_a_host_that_sends_more_than_can_be_right_is_closed_until_somebody_says_otherwise(host: HubHost) -> None:
    host.take("r1", b"x" * (LINE + 1))
    host.look(NOW, is_read=True, lost="")
    assert host.status().text == "gpu1: sends more than can be right (line over 1 MiB); closed"
    assert host.retry()
    host.look(NOW, is_read=True, lost="")
    assert host.state is HostState.CONNECTING


def test_more_starts_than_can_be_right_close_it(host: HubHost) -> None:
    for number in range(10_001):
        host.take(str(number), b"")
    host.look(NOW, is_read=True, lost="")
    assert host.state is HostState.FLOOD


def test_of_a_hub_that_is_away_every_host_says_so(host: HubHost) -> None:
    host.look(NOW, is_read=True, lost="the hub h:1: Connection refused; next try in 2 s (R tries now)")
    assert host.status().plain == "gpu1: cannot be reached: the hub h:1: Connection refused"


@pytest.mark.parametrize(
    "entry",
    [b"", b"{", b"[]", b'{"run":1}', b'{"run":"a","at":"x"}', b'{"run":"a","at":1e999}', b"[" * 100_000, b"\xff\n\xff"],
)
def test_an_entry_that_is_none_is_passed_over(entry: bytes) -> None:
    assert presence(entry) is None


def test_an_entry_with_another_first_line_is_taken_without_it() -> None:
    entry = presence(json.dumps({"run": "a", "at": 1}).encode() + b"\n" + data(TapeBeat(NOW)))
    assert entry is not None
    assert entry.header == b""
