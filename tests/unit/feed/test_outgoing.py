"""What leaves a host: pieces that can be read alone, nothing that was had before, nothing lost by that, nothing that
must not leave."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.masking.planted import leaked, plant

from delegtop.base.clock import FrozenClock, Millis
from delegtop.base.origin import Origin
from delegtop.dialects.recording.recording_dialect import Recording
from delegtop.dialects.recording.tape import Mark, TapeBeat, TapeLine, unframe
from delegtop.feed.live_feed import Feed
from delegtop.feed.outgoing import LARGEST, Outgoing
from delegtop.feed.outgoing_words import OutgoingWords
from delegtop.feed.recorder import Recorder
from delegtop.model.events import Described, Event, Heard, Started
from delegtop.sources.records import Line, Unreadable

NOW = Millis(1_794_846_239_746)


def outgoing(have: dict[str, Mark] | None = None, *, masked: bool = False, lines: bool = False) -> Outgoing:
    clock = FrozenClock(NOW)
    recorder = Recorder(clock, "a test", lines=lines, place=("dev", "mark"))
    made = Outgoing(
        recorder, clock, OutgoingWords(masked=masked, prompt=None if lines else 200), have=have, place="mark"
    )
    made.grows = lambda _source: True
    return made


def read(made: Outgoing, *sources: Path) -> Outgoing:
    feed = Feed([str(source) for source in sources], clock=FrozenClock(NOW), witness=made.take)
    made.grows = feed.grows
    for _ in feed.read_all():
        pass
    feed.close()
    return made


def told(data: bytes, dialect: Recording | None = None) -> list[Event | Unreadable]:
    reader = dialect or Recording()
    lines = data.splitlines()
    return [event for number, line in enumerate(lines, 1) for event in reader.read(Line(Origin("x", number, 0), line))]


def leaves(made: Outgoing) -> list[Event | Unreadable]:
    return [event for batch in made.batches() for event in told(batch.data)]


def beat(made: Outgoing, *, behind: bool = False) -> TapeBeat:
    *_, last = made.beat(behind=behind).splitlines()
    record = unframe(last)
    assert isinstance(record, TapeBeat)
    return record


def marks(made: Outgoing) -> dict[str, Mark]:
    list(made.batches())
    return made.marks()


@pytest.fixture
def log(tmp_path: Path, project: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_bytes((project / "sample_logs" / "02_hang" / "session.jsonl").read_bytes())
    return path


def heartbeat(log: Path, doing: str) -> None:
    record = {"event": "heartbeat", "at": "2026-03-03T10:30:00Z", "session_id": "sess_1772532120_h9w4dg"}
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record | {"activity": doing}) + "\n")


def test_each_batch_is_read_by_itself_and_has_an_id_of_its_own(log: Path) -> None:
    with log.open("a", encoding="utf-8") as file:
        file.write(log.read_text("utf-8") * 40)
    batches = list(read(outgoing(), log).batches())
    assert len(batches) > 2
    assert len({batch.id for batch in batches}) == len(batches)
    assert all(len(batch.data) < LARGEST + 1_000 for batch in batches)
    assert not [event for batch in batches for event in told(batch.data) if isinstance(event, Unreadable)]
    assert [batch.id for batch in read(outgoing(), log).batches()] == [batch.id for batch in batches]


def test_a_batch_that_begins_as_another_did_and_is_longer_has_another_id(log: Path) -> None:
    (first,) = read(outgoing(), log).batches()
    heartbeat(log, "more")
    (second,) = read(outgoing(), log).batches()
    assert first.id != second.id


def test_who_had_it_before_is_told_only_what_is_new(log: Path) -> None:
    had = marks(read(outgoing(), log))
    heartbeat(log, "new")
    again = read(outgoing(had), log)
    assert [event.doing for event in leaves(again) if isinstance(event, Heard)] == ["new"]
    assert again.settle() == []
    assert again.marks() == marks(read(outgoing(), log))


def test_sources_of_which_nothing_is_new_are_named_all_the_same(log: Path) -> None:
    again = read(outgoing(marks(read(outgoing(), log))), log)
    (batch,) = again.batches()
    assert str(log).encode() in batch.data
    assert b'"told"' not in batch.data


@pytest.mark.parametrize("change", ["first byte", "shorter"])
def test_a_log_that_is_another_is_told_from_its_top(log: Path, change: str) -> None:
    first = read(outgoing(), log)
    whole, had = leaves(first), first.marks()
    data = log.read_bytes()
    log.write_bytes(data.replace(b"191", b"192", 1) if change == "first byte" else data[: data.index(b"\n") + 1])
    again = leaves(read(outgoing(had), log))
    assert len(again) == (len(whole) if change == "first byte" else 1)


def test_what_waited_for_another_file_and_was_not_told_before_is_told_now(tmp_path: Path) -> None:
    """The first time the line of the child says nothing, because its parent is not known; now it is, and it does."""
    child, parent = (Line(Origin(str(tmp_path / name), 1, 0), b"{}") for name in ("child.jsonl", "parent.jsonl"))
    for line in (child, parent):
        Path(line.origin.source).write_bytes(line.data + b"\n")
    above, late = Started("above", NOW, parent.origin), Started("below", NOW, child.origin, parent="above")
    first = outgoing()
    first.take(child, ())
    again = outgoing(marks(first))
    again.take(parent, [above])
    again.take(child, [late])
    assert [event.id for event in leaves(again) if isinstance(event, Started)] == ["above"]
    assert again.settle() == [child.origin.source]
    again.take_again(again.settle())(child, [late, above])
    assert [event.id for event in leaves(again) if isinstance(event, Started)] == ["below"]


def test_before_all_is_read_a_beat_promises_nothing_to_who_had_some_of_it(log: Path) -> None:
    made = read(outgoing(marks(read(outgoing(), log))), log)
    assert beat(made, behind=True).marks == {}
    made.settle()
    assert beat(made).marks


def test_what_no_line_tells_leaves_too() -> None:
    made = outgoing()
    made.take(None, [Started("s", NOW, Origin("kernel:7", 0, 0), pid=7)])
    assert [event.origin.source for event in leaves(made)] == ["kernel:7"]


# -- what must not leave -----------------------------------------------------------------------------------------------


def test_secrets_are_hidden_before_they_leave() -> None:
    """As many as locally: of five hundred of all kinds at most one in a hundred gets through."""
    secrets = list(plant(500, seed=7))
    made = outgoing(masked=True, lines=True)
    for number, each in enumerate(secrets, 1):
        line = Line(Origin("run.jsonl", number, number), json.dumps({"text": each.text}).encode())
        made.take(line, [Heard("s", NOW, line.origin, each.text), Described("s", NOW, line.origin, prompt=each.text)])
    sent = b"".join(batch.data for batch in made.batches()).decode()
    assert len({each.kind for each in secrets}) >= 25
    assert len(leaked(secrets, sent)) <= 5


def test_where_lines_do_not_leave_prompts_are_cut() -> None:
    line = Line(Origin("run.jsonl", 1, 0), b"{}")
    prompt = Described("s", NOW, line.origin, prompt="x" * 1_000)
    for lines, length in ((False, 201), (True, 1_000)):
        made = outgoing(lines=lines)
        made.take(line, [prompt])
        (event,) = leaves(made)
        assert isinstance(event, Described)
        assert len(event.prompt or "") == length


def asked(made: Outgoing, source: str, raw: bytes | None = b"the line") -> str | None:
    record = unframe(made.line(7, Origin(source, 1, 0), lambda _origin: raw).strip())
    assert isinstance(record, TapeLine)
    assert record.ask == 7
    return record.text


def test_a_line_is_only_to_be_had_of_sources_that_were_named(log: Path) -> None:
    made = read(outgoing(masked=True), log)
    assert asked(made, str(log)) is None, "nothing was told yet"
    list(made.batches())
    assert asked(made, str(log), b"key sk-ant-api03-" + b"a" * 93 + b"AA") == "key sk-ant-[masked]"
    assert asked(made, str(log), None) is None
    foreign: Sequence[str] = ("/etc/passwd", f"{log.parent}/../{log.name}", str(log.parent), "kernel:1", "", "host:")
    assert [asked(made, each) for each in foreign] == [None] * len(foreign)
