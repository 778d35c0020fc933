"""How a host stands is said in the words that are promised, whatever ssh or the host does; and it is tried again."""

import json
import re
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet.host_stand_ins import wait_a_moment
from tests.fleet.told_streams import GOES_ON, NOW, ToldStreams, data, header
from tests.patience import until

from delegtop.base.clock import Millis, WallClock
from delegtop.base.origin import Origin, of_host
from delegtop.base.ssh_command import HostNameError, SshAddress, checked_command, checked_host
from delegtop.dialects.recording.tape import Header, Part, TapeBeat, TapeEvents, TapeLine, TapeSource, written
from delegtop.feed import fleet_links, host_link
from delegtop.feed.fleet import Fleet
from delegtop.feed.host_states import HostState, HostStatus
from delegtop.feed.incoming import NAMES, ROWS, HostStream
from delegtop.model.delegation import Delegation
from delegtop.model.events import Event, Heard, HostBeat, HostMet, Started
from delegtop.sources import handles


class World(ToldStreams):
    """A fake ssh and the fleets that use it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._fleets: list[Fleet] = []

    def fleet(self, *addresses: SshAddress | str) -> Fleet:
        made = [SshAddress(each, each) if isinstance(each, str) else each for each in addresses]
        self._fleets.append(Fleet(made, None, clock=WallClock()))
        return self._fleets[-1]

    def settles(self, name: str, state: HostState, address: SshAddress | None = None) -> HostStatus:
        """How the host stands, once it stands so."""
        return stands(self.fleet(address or name), name, state)

    def close(self) -> None:
        for fleet in self._fleets:
            fleet.close()


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    made = World(tmp_path)
    monkeypatch.setenv("PATH", made.ssh.path)
    monkeypatch.setattr(fleet_links, "_TICK", 0.05)
    yield made
    made.close()


def drained(fleet: Fleet) -> list[Event]:
    return [event for batch in fleet.poll() for event in batch.events]


def stands(fleet: Fleet, name: str, state: HostState) -> HostStatus:
    def found() -> HostStatus | None:
        drained(fleet)
        return next((each for each in fleet.hosts() if each.name == name and each.state is state), None)

    until(found, f"{name} to be {state}: {fleet.hosts()}")
    status = found()
    assert status is not None
    return status


# -- the words ---------------------------------------------------------------------------------------------------------


def test_connecting(world: World) -> None:
    world.ssh.host("gpu1", GOES_ON)
    assert re.fullmatch(r"gpu1: connecting \(\d s\)", world.settles("gpu1", HostState.CONNECTING).text)


def test_reading_its_history(world: World) -> None:
    world.streams("gpu1", header(), TapeBeat(NOW, behind=True))
    assert world.settles("gpu1", HostState.BEHIND).text == "gpu1: reading its history"


def test_live(world: World) -> None:
    world.streams("gpu1", header(), TapeBeat(NOW))
    told = world.settles("gpu1", HostState.LIVE)
    assert (told.text, told.version, told.news_at) == ("gpu1: live", "0.2.0", NOW)


def test_stale(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_link, "_LOST", 1_000)
    world.streams("gpu1", header(beat=20), TapeBeat(NOW))
    told = world.settles("gpu1", HostState.STALE).text
    assert re.fullmatch(r"gpu1: no word for \d+ s; its rows are as of \d\d:\d\d:\d\d", told)


def test_one_that_says_nothing_for_long_is_not_waited_for(world: World) -> None:
    world.streams("gpu1", header(beat=20), TapeBeat(NOW))
    told = world.settles("gpu1", HostState.UNREACHABLE).text
    pattern = r"gpu1: cannot be reached: no word for \d s; next try in \d+ s \(R tries now\)"
    assert re.fullmatch(pattern, told)


FAILURES = {
    "ssh: connect to host gpu1 port 22: Connection timed out": (
        255,
        r"gpu1: cannot be reached: Connection timed out; next try in \d+ s \(R tries now\)",
    ),
    "kex_exchange_identification: Connection closed by remote host": (
        255,
        r"gpu1: cannot be reached: kex_exchange_identification: Connection closed by remote host; "
        r"next try in \d+ s \(R tries now\)",
    ),
    "A banner\nme@gpu1: Permission denied (publickey).": (
        255,
        r'gpu1: ssh refuses the key \(Permission denied \(publickey\)\); "ssh gpu1 true" must work without a question',
    ),
    "No ED25519 host key is known for gpu1 and you have requested strict checking.\nHost key verification failed.": (
        255,
        r'gpu1: its host key is not known; run "ssh gpu1" once and compare it',
    ),
    "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\nHost key verification failed.": (
        255,
        r"gpu1: its HOST KEY CHANGED; not tried again until R",
    ),
    "": (
        127,
        r'gpu1: delegtop is not installed there; "ssh gpu1 uv tool install delegtop", or command = "uvx delegtop"',
    ),
}


@pytest.mark.parametrize("words", FAILURES, ids=lambda words: words[-40:] or "nothing")
def test_what_ssh_says_is_told_in_our_words(world: World, words: str) -> None:
    code, pattern = FAILURES[words]
    world.fails("gpu1", words, code)
    fleet = world.fleet("gpu1")
    until(lambda: drained(fleet) or re.fullmatch(pattern, fleet.hosts()[0].text), f"{pattern}: {fleet.hosts()}")


def test_a_delegtop_that_cannot_stream(world: World) -> None:
    world.ssh.host(
        "gpu1",
        'case "$LAST" in *--version) echo delegtop 0.1.0;; *) echo "no such option --heartbeat" >&2; exit 2;; esac',
    )
    fleet = world.fleet("gpu1")
    wanted = "gpu1: delegtop 0.1.0 cannot stream (0.2 or later can)"
    until(lambda: drained(fleet) or fleet.hosts()[0].text == wanted, f"{wanted}: {fleet.hosts()}")


def test_a_delegtop_that_can_stream_and_does_not(world: World) -> None:
    world.fails("gpu1", "a banner\ndelegtop: \x1b[31mconfig.toml: sourcs: no such setting", 2)
    told = world.settles("gpu1", HostState.FAILS).text
    words = r"gpu1: delegtop fails there: \S*config.toml: sourcs: no such setting; next try in \d+ s \(R tries now\)"
    assert re.fullmatch(words, told)
    assert "\x1b" not in told
    world.fails("gpu2", "Traceback\nModuleNotFoundError: No module named 'msgspec'", 1)
    assert "gpu2: delegtop fails there: ModuleNotFoundError: No module named 'msgspec'; next" in (
        world.settles("gpu2", HostState.FAILS).text
    )


def test_one_that_is_ahead_of_us(world: World) -> None:
    world.streams("gpu1", header(version=2))
    told = world.settles("gpu1", HostState.NEWER)
    assert told.text == "gpu1: written in form 2, this reads form 1; update here"


def test_two_ways_to_one_place(world: World) -> None:
    for name in ("gpu1", "10.0.0.7"):
        world.streams(name, header(), TapeBeat(NOW))
    fleet = world.fleet("gpu1", "10.0.0.7")
    told: list[Event] = []

    def is_found_out() -> bool:
        told.extend(drained(fleet))
        return any(each.state is HostState.SAME for each in fleet.hosts())

    until(is_found_out, "one to be the same")
    kept, other = sorted(fleet.hosts(), key=lambda each: each.state is HostState.SAME)
    assert other.text == f"{kept.name} and {other.name} are one place; shown once as {kept.name}"
    assert {event.origin.host for event in (*told, *drained(fleet))} == {kept.name}


def test_hosts_that_were_cloned_are_told_apart_by_their_names(world: World) -> None:
    for name in ("gpu1", "gpu2"):
        world.streams(name, Header(1, "delegtop 0.2.0", NOW, host=name, machine="one"), TapeBeat(NOW))
    fleet = world.fleet("gpu1", "gpu2")
    for name in ("gpu1", "gpu2"):
        stands(fleet, name, HostState.LIVE)


def test_a_line_that_does_not_end(world: World) -> None:
    world.ssh.host("gpu1", "exec tr '\\0' x </dev/zero")
    assert world.settles("gpu1", HostState.FLOOD).text == (
        "gpu1: sends more than can be right (line over 1 MiB); closed"
    )


# -- trying again ------------------------------------------------------------------------------------------------------


def test_one_that_comes_back_goes_on_where_it_was(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_link, "FIRST_TRY", 0.01)
    marks = {"1": (120, 7, 9)}
    source = TapeSource(1, "run.jsonl")
    world.streams("gpu1", header(), source, TapeBeat(NOW, marks=marks), then='read have; echo "$have" >> have')
    fleet = world.fleet("gpu1")
    told = world.ssh.folder / "gpu1" / "have"
    until(lambda: drained(fleet) is None or (told.exists() and len(told.read_text().splitlines()) >= 3), "three tries")
    assert [json.loads(each) for each in told.read_text().splitlines()[:2]] == [
        {"have": {}},
        {"have": {"run.jsonl": [120, 7, 9]}},
    ]


def test_each_try_waits_longer_than_the_one_before_and_r_waits_for_none(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("random.uniform", lambda _least, most: most)
    world.fails("gpu1", "ssh: connect to host gpu1 port 22: No route to host", 255)
    fleet = world.fleet("gpu1")
    stands(fleet, "gpu1", HostState.UNREACHABLE)
    (link,) = fleet.links
    assert isinstance(link, host_link.HostLink)
    assert 1.0 < link._next_try - link._since + 0.05 <= 1.3
    assert link._wait == 2.0
    calls = len(world.ssh.calls)
    assert fleet.retry() == ["gpu1"]
    until(lambda: len(world.ssh.calls) > calls, "another try")
    for _ in range(10):
        link._fail(HostState.UNREACHABLE, "")
    assert link._wait == 60.0
    assert link._next_try - link._since <= 60 * 1.2 + 1


def test_what_only_a_person_can_change_is_not_tried_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_link, "FIRST_TRY", 0.01)
    world.fails("gpu1", "", 127)
    fleet = world.fleet("gpu1")
    stands(fleet, "gpu1", HostState.NO_DELEGTOP)
    wait_a_moment()
    assert len(world.ssh.calls) == 1
    world.streams("gpu1", header(), TapeBeat(NOW))
    assert fleet.retry() == ["gpu1"]
    stands(fleet, "gpu1", HostState.LIVE)


def test_no_more_than_four_are_connected_to_at_once(world: World) -> None:
    (world.ssh.folder / "open").mkdir()
    for number in range(12):
        world.streams(f"host{number}", header(mark=str(number)), TapeBeat(NOW))
        world.ssh.host(
            f"host{number}",
            f"touch ../open/{number}; ls ../open | wc -l >> ../most; sleep 0.1; rm ../open/{number}; "
            f'cat "{world.ssh.folder}/host{number}.stream"; {GOES_ON}',
        )
    fleet = world.fleet(*(f"host{number}" for number in range(12)))
    for number in range(12):
        stands(fleet, f"host{number}", HostState.LIVE)
    most = [int(each) for each in (world.ssh.folder / "most").read_text().split()]
    assert max(most) <= 4
    assert len(most) == 12


def test_what_ssh_started_to_get_there_ends_with_it(world: World) -> None:
    """A ProxyCommand, say."""
    noted = world.ssh.folder / "below"
    world.ssh.host("dev", f"sh -c 'echo $$ > {noted}; exec sleep 600' & exec sleep 600")
    fleet = world.fleet("dev")
    until(lambda: noted.exists() and noted.read_text().strip(), "it to begin")
    fleet.close()
    below = Path("/proc") / noted.read_text().strip()
    until(lambda: not below.exists() or " Z " in (below / "stat").read_text(), "it to end")


def test_there_is_room_for_the_pipes_of_all_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1_024, 4_096))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: asked.append(limits))
    handles.make_room(1_000)
    assert asked == []
    handles.make_room(2_000)
    handles.make_room(20_000)
    assert asked == [(2_000, 4_096), (4_096, 4_096)]


def test_one_that_does_not_answer_is_not_waited_for_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("delegtop.feed.incoming.ANSWER", 0.01)
    made, asked = stream(BEGIN, data(started("a"))), list[object]()
    told_by(made)
    made.send = asked.append
    for line in range(2, 50):
        assert made.raw(Origin("run.jsonl", line, line, host="gpu1")) is None
    assert len(asked) == 1
    made.take(data(TapeLine(1, "late")))
    made.raw(Origin("run.jsonl", 2, 2, host="gpu1"))
    assert len(asked) == 2, "it answers after all"


# -- what is asked of ssh ----------------------------------------------------------------------------------------------


def test_the_very_command() -> None:
    *options, separator, host, wrapper = SshAddress("me@devbox", "dev").stream()
    assert " ".join(options) == (
        "ssh -C -T -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5 -o ServerAliveCountMax=3 "
        "-o ClearAllForwardings=yes -o RemoteCommand=none -o LogLevel=INFO"
    )
    assert (separator, host) == ("--", "me@devbox")
    assert wrapper == (
        """sh -c 'PATH="$HOME/.local/bin:$HOME/bin:/opt/homebrew/bin:/usr/local/bin:$PATH"; """
        """command -v delegtop >/dev/null 2>&1 && exec delegtop "$@"; exit 127' """
        "sh record -o - --heartbeat 5 --no-lines --mask --since 2h"
    )
    assert SshAddress("h:2222", "h").stream()[-5:-1] == ["-p", "2222", "--", "h"]
    all_lines = SshAddress("h", "h", ("uvx", "delegtop"), lines="all").stream()[-1]
    assert "exec uvx delegtop" in all_lines
    assert "--no-lines" not in all_lines
    assert "--mask" in all_lines


HOSTILE_NAMES = (
    *("-oProxyCommand=touch pwned", "-", "--", "", " ", "a b", "a;touch pwned", "$(touch pwned)", "`touch pwned`"),
    *("a\nb", "a\0b", "host|x", "h&", "h>x", "h'", 'h"', "h\\", "h/../x", "hôst", "x" * 300, "-l root"),
)


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_what_is_no_name_of_a_host_never_reaches_ssh(name: str) -> None:
    with pytest.raises(HostNameError):
        checked_host(name)


@pytest.mark.parametrize("words", [(), ("delegtop;x",), ("a b",), ("$(x)",), ("-x",), ("uvx", "'")])
def test_what_starts_delegtop_there_means_nothing_else_to_a_shell(words: tuple[str, ...]) -> None:
    with pytest.raises(HostNameError):
        checked_command(words)


# -- hosts that are not to be trusted ----------------------------------------------------------------------------------


_streams: list[HostStream] = []


@pytest.fixture(autouse=True)
def _streams_are_closed() -> Iterator[None]:
    yield
    while _streams:
        _streams.pop().close()


def stream(*parts: bytes) -> HostStream:
    made = HostStream("gpu1", WallClock())
    _streams.append(made)
    made.begin()
    for part in parts:
        made.take(part)
    made.is_accepted = True
    return made


def told_by(made: HostStream) -> list[Started | Heard]:
    return [event for line in made.drain() for event in line.told if isinstance(event, Started | Heard)]


def started(id: str, line: int = 1) -> TapeEvents:
    event = Started(id, NOW, of_host(""), agent="x")
    return TapeEvents((1, line, line), NOW, (written(event, (1, line, line), (1, line, line)),))


BEGIN = data(header(), TapeSource(1, "run.jsonl"))


def test_words_before_the_stream_are_counted_and_skipped() -> None:
    made = stream(b"Welcome to gpu1!\nLast login: never\n", BEGIN, data(started("a")))
    assert [event.id for event in told_by(made)] == ["a"]
    assert made.strange == 2


def test_a_host_can_only_tell_of_itself() -> None:
    hidden = TapeSource(2, "run.jsonl", host="gpu2")
    other = TapeEvents(
        (2, 1, 1), NOW, (written(Started("b", NOW, of_host(""), host="localhost"), (2, 1, 1), (2, 1, 1)),)
    )
    beat = written(HostBeat(NOW, of_host("gpu2"), 1, 0), (2, 1, 1), (2, 1, 1))
    met = written(HostMet(NOW, of_host("gpu2"), via="evil"), (2, 1, 1), (2, 1, 1))
    made = stream(BEGIN, data(hidden, other, TapeEvents((2, 2, 2), NOW, (beat, met))))
    found = [event for line in made.drain() for event in line.told]
    assert {event.origin.host for event in found} == {"gpu1"}
    assert [event.host for event in found if isinstance(event, Started)] == ["gpu1"]
    assert {event.via for event in found if isinstance(event, HostMet)} == {""}


def test_bytes_in_any_pieces_are_the_same_lines() -> None:
    whole = BEGIN + data(*(started(f"s{number}", number) for number in range(50)), TapeBeat(NOW))
    once = told_by(stream(whole))
    assert len(once) == 50
    assert told_by(stream(*(whole[start : start + 7] for start in range(0, len(whole), 7)))) == once


def test_what_is_torn_is_dropped_when_the_connection_ends() -> None:
    torn = data(started("torn"))
    made = stream(BEGIN, torn[:-20])
    made.ended()
    made.begin()
    made.take(BEGIN + data(started("whole")))
    made.is_accepted = True
    assert [event.id for event in told_by(made)] == ["whole"]
    assert made.reading.unreadable == 0


def test_random_bytes_are_counted_and_stop_nothing() -> None:
    import random

    noise = random.Random(1).randbytes(200_000)
    made = stream(BEGIN, noise + b"\n", data(started("a")))
    assert [event.id for event in told_by(made)] == ["a"]
    assert made.reading.unreadable > 100


def test_more_rows_than_any_host_has_close_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("delegtop.feed.incoming.ROWS", 10)
    made = stream(BEGIN, data(*(started(f"s{number}", number) for number in range(20))))
    assert len(told_by(made)) == 10
    assert made.fault == "more than 200,000 delegations"
    assert ROWS == 200_000


@pytest.mark.parametrize("glue", [b"\n", b""], ids=["lines", "lines without their ends"])
def test_more_names_of_logs_than_any_host_has_close_it(monkeypatch: pytest.MonkeyPatch, glue: bytes) -> None:
    monkeypatch.setattr("delegtop.feed.incoming.NAMES", 100_000)
    names = [f"/srv/{number:04}{'x' * 990}.jsonl" for number in range(400)]
    told = [data(TapeSource(number, name)).rstrip(b"\n") for number, name in enumerate(names, 2)]
    beat = data(TapeBeat(WallClock().now(), marks={str(number): (1, 1, 1) for number in range(2, 402)}))
    made = stream(BEGIN, glue.join(told) + b"\n" + beat)
    for _ in made.drain():
        pass
    assert made.fault == "names of logs that take more than 32 MiB"
    assert NAMES == 32 * 1024 * 1024
    [(_, kept)] = made._eras
    assert 50 < len(kept._sources) < 100
    assert len(made.marks) < 100
    assert len(made._named) < 100


def test_names_that_are_told_again_with_every_line_are_as_many_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("delegtop.feed.incoming.NAMES", 1_000)
    again = data(TapeSource(1, "run.jsonl"), started("a"), TapeBeat(WallClock().now(), marks={"1": (1, 1, 1)}))
    made = stream(BEGIN, again * 100)
    assert len(told_by(made)) == 100
    assert not made.fault
    assert [*made.marks] == ["run.jsonl"]


def test_what_a_log_tells_whose_name_is_too_long_is_counted_and_told_of_no_other() -> None:
    made = stream(BEGIN, data(started("a"), TapeSource(1, "x" * 5_000), started("b", 2)))
    assert [event.id for event in told_by(made)] == ["a"]
    assert made.reading.reasons == {
        "a name of a log that is too long, or one too many": 1,
        "a part of the recording is missing": 1,
    }
    assert not made.fault


def test_of_the_oldest_conversations_no_line_is_read_again_if_they_name_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("delegtop.feed.incoming.NAMES", 10_000)
    made = stream()
    for number in range(20):
        made.begin()
        made.take(data(header(), TapeSource(1, f"{number:02}{'x' * 998}"), started(f"s{number:02}", number + 1)))
        made.is_accepted = True
        assert len(told_by(made)) == 1
    found = [origin_of(made, f"s{number:02}") for number in range(20)]
    assert [each is None for each in found] == [True] * 11 + [False] * 9
    assert {name[:2] for name in found if name} == {f"{number:02}" for number in range(11, 20)}


def origin_of(made: HostStream, id: str) -> str | None:
    """Where the lines stand that tell of a delegation, if they can be read again."""
    lines = made.history(Delegation(id), 10)
    return lines[0][0].origin.source if lines else None


def test_a_record_in_endless_parts_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("delegtop.dialects.recording.recording_dialect._LONGEST_RECORD", 10_000)
    made = stream(BEGIN, data(*(Part(number, 1_000_000, "x" * 100) for number in range(1, 200)), started("a")))
    assert [event.id for event in told_by(made)] == ["a"]
    assert made.reading.reasons["a record longer than any"] == 1
    assert sum(map(len, made._eras[0][1]._parts)) < 10_000


def test_beats_of_another_age_move_nothing() -> None:
    made = stream(BEGIN, data(TapeBeat(Millis(1 << 62), marks={"1": (1, 2, 3)})))
    assert made.news_at is None
    assert made.marks == {}
    assert made.offset == 0


def test_clocks_that_differ_by_less_than_a_second_are_the_same() -> None:
    now = WallClock().now()
    assert stream(BEGIN, data(TapeBeat(Millis(now - 500)))).offset == 0
    assert stream(BEGIN, data(TapeBeat(Millis(now - 1_700))), data(TapeBeat(Millis(now - 850)))).offset == 0
    far = stream(BEGIN, data(TapeBeat(Millis(now - 600_000)))).offset
    assert abs(far - 600_000) < 5_000
