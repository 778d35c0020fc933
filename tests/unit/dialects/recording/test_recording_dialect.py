"""The form of a recording: what is written is read back as it was, and what is torn or damaged is named."""

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, get_args, get_type_hints
from zlib import crc32

import msgspec
import pytest
from tests.filled import filled, value
from tests.telling import handle_of

from delegtop.base.clock import FrozenClock, Millis, WallClock
from delegtop.base.origin import Origin
from delegtop.dialects import Sample, load
from delegtop.dialects.recording.recording_dialect import DAMAGED, MISSING, NEWER, UNKNOWN, Recording
from delegtop.dialects.recording.tape import LARGEST, VERSION, Header, frames
from delegtop.feed.live_feed import Feed
from delegtop.feed.recorder import RAW, UNRECORDED, Recorder, Tape
from delegtop.feed.recordings import recorded_limits
from delegtop.model.delegation import Delegation
from delegtop.model.events import (
    Artifact,
    Deviation,
    Ended,
    Ending,
    Event,
    Fault,
    Heard,
    Outcome,
    Phase,
    Report,
    Started,
    Surveyed,
)
from delegtop.model.forest import Forest
from delegtop.model.policy import AgentLimits
from delegtop.sources.records import TORN, Line, Unreadable

AT = Millis(1_770_000_000_000)
LOG = "/logs/session.jsonl"


KINDS: tuple[type[Any], ...] = get_args(Event)


def lines(data: bytes, path: str = "run.delegtop") -> list[Line]:
    found, offset = [], 0
    for number, raw in enumerate(data.splitlines(keepends=True), 1):
        found.append(Line(Origin(path, number, offset), raw.rstrip(b"\n")))
        offset += len(raw)
    return found


def read(data: bytes) -> list[Event | Unreadable]:
    dialect = Recording()
    return [event for line in lines(data) for event in dialect.read(line)]


def recorded(*told: tuple[Line | None, Sequence[Event | Unreadable]], lines: bool = True) -> bytes:
    recorder = Recorder(FrozenClock(AT), "delegtop test", lines=lines)
    return b"".join([recorder.header(), *(recorder.record(line, found) for line, found in told), recorder.end()])


def line(number: int, text: str = "{}") -> Line:
    return Line(Origin(LOG, number, number * 100), text.encode())


def heard(number: int, doing: str = "reading") -> Heard:
    return Heard("a", Millis(AT + number), Origin(LOG, number, number * 100), doing)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_of_event_comes_back_with_every_field(kind: type[Any]) -> None:
    event = filled(kind)
    assert read(recorded((None, [event]))) == [event]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_of_event_comes_back_with_only_what_it_must_have(kind: type[Any]) -> None:
    hints = get_type_hints(kind)
    must = [field for field in msgspec.structs.fields(kind) if field.required]
    event = kind(*(value(hints[field.name], "x") for field in must))
    assert read(recorded((None, [event]))) == [event]


def test_a_recording_is_told_by_its_first_bytes() -> None:
    head = recorded()
    assert Recording.sniff(Sample("x", head, True)) == 100
    assert Recording.sniff(Sample("x", b'{"crc":"00000000","is":"other"}', True)) == 0
    assert load("recording") is Recording


def test_an_event_keeps_the_place_of_another_line_that_it_waited_at() -> None:
    late = heard(1)
    assert read(recorded((line(1), ()), (line(9), [heard(9), late, heard(9, "more")]))) == [
        heard(9),
        late,
        heard(9, "more"),
    ]


def test_what_could_not_be_read_is_told_again_with_its_place() -> None:
    bad = Unreadable(Origin(LOG, 4, 400), "not JSON", "half a li")
    assert read(recorded((None, [bad]), (line(5), [heard(5), bad]))) == [bad, heard(5), bad]


def test_a_line_comes_back_as_it_stood() -> None:
    dialect = Recording()
    data = recorded((line(2, '{"a": "ü"}'), [heard(2)]), (Line(Origin(LOG, 3, 300), b"\xff\xfe!"), [heard(3)]))
    originals = []
    for found in lines(data):
        dialect.read(found)
        originals.append(dialect.original(found))
    kept = [original for original in originals if original.origin.source == LOG]
    assert [(original.origin.line, original.data) for original in kept] == [
        (2, '{"a": "ü"}'.encode()),
        (3, b"\xff\xfe!"),
    ]


def test_a_very_long_line_is_cut_and_says_how_long_it_was() -> None:
    data = recorded((line(1, "x" * 100_000), [heard(1)]))
    assert len(data) < RAW + 1_000
    assert b"(100,000 bytes)" in data


def test_a_cut_line_is_not_cut_again_when_a_recording_is_recorded() -> None:
    once = recorded((line(1, "x" * 100_000), [heard(1)]))
    dialect = Recording()
    told = [(dialect.read(found), dialect.original(found)) for found in lines(once)]
    assert b"(100,000 bytes)" in recorded(*((original, list(found)) for found, original in told))


def test_without_lines_only_what_they_tell_is_kept() -> None:
    data = recorded((line(1, "the very words"), [heard(1)]), (line(2, "nothing told"), ()), lines=False)
    assert b"words" not in data
    assert b"nothing told" not in data
    assert read(data) == [heard(1)]


def test_a_record_too_long_for_a_line_is_written_in_parts_and_read_as_one() -> None:
    survey = Surveyed(AT, Origin(LOG, 1, 0), tuple(f"sess_{number:020}" for number in range(60_000)))
    data = recorded((None, [survey]))
    assert max(map(len, data.splitlines())) < 1024 * 1024
    assert len(data) > 2 * LARGEST
    assert read(data) == [survey]


def test_a_part_that_is_missing_is_told_and_costs_only_its_record() -> None:
    survey = Surveyed(AT, Origin(LOG, 1, 0), tuple(f"sess_{number:020}" for number in range(60_000)))
    rows = recorded((None, [survey]), (line(2), [heard(2)])).splitlines(keepends=True)
    first = next(index for index, row in enumerate(rows) if b'"is":"part","number":2' in row)
    found = read(b"".join(rows[:first] + rows[first + 1 :]))
    assert found[-1] == heard(2)
    assert {event.reason for event in found[:-1] if isinstance(event, Unreadable)} == {MISSING}


def test_a_torn_end_is_told_and_everything_before_it_counts() -> None:
    data = recorded((line(1), [heard(1)]), (line(2), [heard(2)]))
    torn = read(data[: data.rindex(b'"is":"end"') - 60])
    assert torn[0] == heard(1)
    assert [event.reason for event in torn[1:] if isinstance(event, Unreadable)] == [TORN]


def test_a_changed_byte_is_noticed_and_costs_only_its_line() -> None:
    rows = recorded((line(1), [heard(1)]), (line(2), [heard(2, "honest")]), (line(3), [heard(3)])).splitlines(True)
    found = read(b"".join(row.replace(b"honest", b"hornet") for row in rows))
    assert [event for event in found if isinstance(event, Heard)] == [heard(1), heard(3)]
    assert [event.reason for event in found if isinstance(event, Unreadable)] == [DAMAGED]


def test_a_source_whose_name_is_lost_is_not_guessed() -> None:
    rows = recorded((line(1), [heard(1)])).splitlines(keepends=True)
    [lost] = read(b"".join(row for row in rows if b'"is":"source"' not in row))
    assert isinstance(lost, Unreadable)
    assert lost.reason == MISSING


def test_a_newer_form_is_named_and_a_record_nobody_knows_is_counted() -> None:
    newer = b"".join(frames(Header(VERSION + 1, "delegtop 99", AT)))
    assert [event.reason for event in read(newer) if isinstance(event, Unreadable)] == [NEWER]
    strange = newer.replace(b'"recording"', b'"surprise!"')
    body = strange[16:-1]
    [deviation] = read(b'{"crc":"%08x' % crc32(body) + body + b"\n")
    assert isinstance(deviation, Deviation)
    assert deviation.kind == UNKNOWN


def test_half_of_a_character_in_a_name_is_told_and_stops_nothing() -> None:
    data = recorded((None, [Heard("\udc80", AT, Origin(LOG, 1, 0))]), (line(2), [heard(2)]))
    lost, event = read(data)
    assert isinstance(lost, Unreadable)
    assert lost.reason == UNRECORDED
    assert event == heard(2)


def test_random_bytes_after_the_header_never_break_the_reader() -> None:
    chance = random.Random(5)
    good = recorded((line(1), [heard(1)]), (line(2), [heard(2)]))
    for _ in range(300):
        broken = bytearray(good)
        for _ in range(chance.randint(1, 6)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        events = [event for event in read(bytes(broken)) if isinstance(event, Heard)]
        assert all(event in (heard(1), heard(2)) for event in events)


class TestAsASource:
    """A feed reads recordings like any other file."""

    def events(self, feed: Feed) -> list[Event]:
        return [event for batch in feed.read_all() for event in batch.events]

    def facts(self, events: Iterable[Event], id: str) -> Delegation:
        forest = Forest()
        forest.apply(events)
        return forest.delegation(handle_of(forest, id))

    @pytest.fixture
    def told(self) -> bytes:
        ended = Ended(
            *("a", Millis(AT + 5), Origin(LOG, 3, 300), Outcome.COMPLETED, Ending.RETURN),
            Report("completed", "done", (Artifact("x.md"),), (Fault("odd"),)),
        )
        started = Started("a", AT, Origin(LOG, 1, 100), "writer", pid=999_999, host="localhost")
        return recorded(
            (line(1, '{"id":"a","first":1}'), [started]), (line(2, '{"id":"a"}'), [heard(2)]), (line(3), [ended])
        )

    @pytest.mark.parametrize("name", ["run.delegtop", "run.delegtop.gz"])
    def test_in_a_folder_plain_or_packed(self, told: bytes, name: str, tmp_path: Path) -> None:
        tape = Tape(tmp_path / name)
        tape.write(told)
        tape.close()
        feed = Feed([str(tmp_path)], clock=FrozenClock(Millis(AT + 10)))
        events = self.events(feed)
        [status] = feed.statuses()
        feed.close()
        assert len(events) == 3
        assert (status.dialect, status.unreadable) == ("recording", 0)

    @pytest.mark.parametrize("name", ["run.delegtop", "run.delegtop.gz"])
    def test_the_lines_can_be_read_again_from_it(self, told: bytes, name: str, tmp_path: Path) -> None:
        tape = Tape(tmp_path / name)
        tape.write(told)
        tape.close()
        feed = Feed([str(tmp_path / name)], clock=FrozenClock(Millis(AT + 10)))
        facts = self.facts(self.events(feed), "a")
        history = feed.history(facts)
        assert feed.raw(Origin(LOG, 1, 100)) == b'{"id":"a","first":1}'
        assert feed.raw(Origin(LOG, 8, 800)) is None
        assert [found.origin for found, _ in history] == [Origin(LOG, n, n * 100) for n in (1, 2, 3)]
        assert history[1][0].data == b'{"id":"a"}'
        feed.close()

    def test_while_somebody_still_writes_it(self, told: bytes, tmp_path: Path) -> None:
        path = tmp_path / "run.delegtop"
        rows = told.splitlines(keepends=True)
        path.write_bytes(b"".join(rows[:3]))
        feed = Feed([str(path)], clock=FrozenClock(Millis(AT + 10)))
        assert sum(len(batch.events) for batch in feed.poll()) == 1
        with path.open("ab") as file:
            file.write(rows[3][:20])
            file.flush()
            assert not list(feed.poll())
            file.write(rows[3][20:])
        assert [event for batch in feed.poll() for event in batch.events] == [heard(2)]
        feed.close()

    def test_no_process_of_another_machine_is_looked_for_here(self, told: bytes, tmp_path: Path) -> None:
        path = tmp_path / "run.delegtop"
        path.write_bytes(b"".join(told.splitlines(keepends=True)[:4]))
        feed = Feed([str(path)], clock=WallClock())
        events = self.events(feed)
        feed.close()
        assert not [event for event in events if isinstance(event, Ended)]

    def test_nothing_later_than_the_moment_is_known(self, told: bytes, tmp_path: Path) -> None:
        path = tmp_path / "run.delegtop"
        path.write_bytes(told)
        feed = Feed([str(path)], clock=FrozenClock(Millis(AT + 2)))
        assert len(self.events(feed)) == 2
        feed.close()

    def test_a_torn_end_shows_in_its_health(self, told: bytes, tmp_path: Path) -> None:
        path = tmp_path / "run.delegtop"
        path.write_bytes(told[: told.rindex(b'"is":"told"') + 40])
        feed = Feed([str(path)], clock=FrozenClock(Millis(AT + 10)))
        assert len(self.events(feed)) == 2
        [status] = feed.statuses()
        feed.close()
        assert status.reasons == {"unterminated": 1}


def test_what_agent_files_said_travels_with_the_recording(tmp_path: Path) -> None:
    limits = {"planner": AgentLimits("/x/planner.md", timeout=60_000, may_delegate_to=("a", "b"))}
    path = tmp_path / "run.delegtop"
    path.write_bytes(Recorder(FrozenClock(AT), "delegtop test", limits).header())
    assert recorded_limits(str(path)) == limits
    assert recorded_limits(str(tmp_path / "none.delegtop")) == {}
    path.write_bytes(b"something else\n")
    assert recorded_limits(str(path)) == {}


def test_a_tape_is_for_its_owner_alone_and_never_replaces_a_file(tmp_path: Path) -> None:
    path = tmp_path / "run.delegtop"
    Tape(path).close()
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        Tape(path)


def test_the_phase_of_a_sign_of_life_is_written_as_a_word() -> None:
    assert b'"phase":"tool"' in recorded((None, [Heard("a", AT, Origin(LOG, 1, 0), phase=Phase.TOOL)]))


def test_the_example_of_the_reference_page_is_a_recording(project: Path) -> None:
    page = (project / "docs" / "recording.md").read_text("utf-8")
    data = page.split("```json\n")[1].split("```")[0].encode()
    assert read(data) == [
        Heard(
            "sess_1772532120_c3d4e5",
            Millis(1_793_613_600_300),
            Origin("logs/session.jsonl", 3, 516),
            "bash: lake build",
        )
    ]


def test_records_that_lost_the_newline_between_them_are_all_read() -> None:
    tape = recorded((line(1), [heard(1)]), (line(2), [heard(2, 'say }{"crc":"x"')]), (line(3), [heard(3)]))
    head, source, *records = tape.splitlines(keepends=True)
    glued = b"".join([head, source, b"".join(records).replace(b"\n", b"")])
    assert read(glued) == [heard(1), heard(2, 'say }{"crc":"x"'), heard(3)]
    last = lines(glued)[-1]
    dialect = Recording()
    for each in lines(glued):
        dialect.read(each)
    assert dialect.retell(last) == [heard(1), heard(2, 'say }{"crc":"x"'), heard(3)]
    assert dialect.original(last).origin == line(1).origin
