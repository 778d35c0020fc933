"""What the operator notes of problems is kept in one file, whole, and survives what is done to it."""

import json
from datetime import UTC, timedelta, timezone
from pathlib import Path

import pytest

from delegtop.app.pages.triage.put_off import until
from delegtop.app.state.problem_marks import KEPT, Marks, Problem
from delegtop.base.clock import HOUR, MINUTE, Millis, parse_time

NOW = parse_time("2026-04-01T09:30:00Z") or Millis(0)


def problem(id: str = "a", rule: str = "VER-005", since: int | None = NOW - MINUTE) -> Problem:
    return Problem(id, rule, None if since is None else Millis(since))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "triage.json"


def test_what_is_noted_is_there_again(path: Path) -> None:
    marks = Marks(path)
    assert marks.acknowledge(problem("a"), NOW)
    assert marks.snooze(problem("b"), NOW, Millis(NOW + HOUR))
    assert marks.write(problem("c"), NOW, "ask ops")
    again = Marks(path)
    assert again.is_settled(problem("a"), NOW)
    assert again.is_settled(problem("b"), NOW)
    assert not again.is_settled(problem("c"), NOW)
    mark = again.of(problem("c"))
    assert mark is not None
    assert mark.note == "ask ops"
    assert path.stat().st_mode & 0o077 == 0
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_another_problem_of_the_same_delegation_shows_up(path: Path) -> None:
    marks = Marks(path)
    marks.acknowledge(problem(), NOW)
    assert not marks.is_settled(problem(rule="DEL-020"), NOW)


def test_the_same_problem_that_begins_anew_shows_up(path: Path) -> None:
    marks = Marks(path)
    marks.acknowledge(problem(), NOW)
    assert not marks.is_settled(problem(since=NOW + MINUTE), Millis(NOW + HOUR))


def test_what_is_put_off_wakes(path: Path) -> None:
    marks = Marks(path)
    marks.snooze(problem(), NOW, Millis(NOW + HOUR))
    assert marks.is_settled(problem(), Millis(NOW + HOUR - 1))
    assert not marks.is_settled(problem(), Millis(NOW + HOUR))


def test_taking_it_back_leaves_nothing_behind(path: Path) -> None:
    marks = Marks(path)
    marks.acknowledge(problem(), NOW)
    marks.acknowledge(problem(), NOW, done=False)
    assert json.loads(path.read_text("utf-8"))["marks"] == []


def test_a_note_stays_when_it_is_acknowledged(path: Path) -> None:
    marks = Marks(path)
    marks.write(problem(), NOW, "ask ops")
    marks.acknowledge(problem(), NOW)
    mark = marks.of(problem())
    assert mark is not None
    assert (mark.note, mark.acknowledged) == ("ask ops", True)


def test_two_programs_see_each_others_marks(path: Path) -> None:
    one, two = Marks(path), Marks(path)
    one.acknowledge(problem("a"), NOW)
    two.acknowledge(problem("b"), NOW)
    one.read()
    assert one.is_settled(problem("b"), NOW)
    assert Marks(path).is_settled(problem("a"), NOW)


BROKEN = {
    "empty": b"",
    "no text": b"\xff\x00",
    "a list": b"[]",
    "no marks": b'{"schema_version":1}',
    "a mark that is none": b'{"schema_version":1,"marks":[{"id":1}]}',
    "too deep": b"[" * 99_999,
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_put_aside_with_a_message_and_nothing_is_lost(path: Path, data: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(data)
    marks = Marks(path)
    assert marks.of(problem()) is None
    if data:
        assert "cannot be read" in marks.trouble
        assert path.with_suffix(".unreadable.json").read_bytes() == data
    assert marks.acknowledge(problem(), NOW)
    assert Marks(path).is_settled(problem(), NOW)


def test_where_nothing_can_be_written_it_holds_until_the_end_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    marks = Marks(tmp_path / "file" / "triage.json")
    assert not marks.acknowledge(problem(), NOW)
    assert "cannot be" in marks.trouble
    assert marks.is_settled(problem(), NOW)


def test_old_marks_are_forgotten(path: Path) -> None:
    marks = Marks(path)
    marks.acknowledge(problem("old"), NOW)
    marks.acknowledge(problem("new"), Millis(NOW + KEPT))
    assert Marks(path).ids() == {"new"}


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("30m", "2026-04-01T10:00:00Z"),
        ("1h30m", "2026-04-01T11:00:00Z"),
        ("45", "2026-04-01T10:15:00Z"),
        ("14:30", "2026-04-01T14:30:00Z"),
        ("9:00", "2026-04-02T09:00:00Z"),
        (" Tomorrow ", "2026-04-02T09:00:00Z"),
        ("2026-04-03T08:00:00Z", "2026-04-03T08:00:00Z"),
        ("", None),
        ("0", None),
        ("soon", None),
        ("25:00", None),
        ("2026-03-01T08:00:00Z", None),
    ],
)
def test_until_when(text: str, moment: str | None) -> None:
    assert until(text, NOW, UTC) == (None if moment is None else parse_time(moment))


def test_a_day_and_a_time_are_those_of_the_operators_zone() -> None:
    assert until("2026-04-03 08:00", NOW, timezone(timedelta(hours=2))) == parse_time("2026-04-03T06:00:00Z")
