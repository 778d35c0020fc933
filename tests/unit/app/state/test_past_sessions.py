"""The search on the screen finds what `delegtop find` finds, and says what it does not look through."""

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from tests.past_sessions import few, place_of, session, write
from tests.patience import until
from tests.unprivileged import PREFIX, closed, needs_closed_folders

from delegtop.app.state import past_sessions
from delegtop.app.state.past_sessions import PastSessions
from delegtop.cli import main
from delegtop.feed import process_messages


@pytest.fixture
def past(monkeypatch: pytest.MonkeyPatch) -> Iterator[PastSessions]:
    monkeypatch.setattr(past_sessions, "_AGAIN", 0.0)
    monkeypatch.setattr(past_sessions, "_SHARE", 0)
    opened = PastSessions(kept=True, updates=True)
    yield opened
    opened.close()


def read(past: PastSessions) -> None:
    past.want()
    until(lambda: not past.is_reading, "all is read")


def on_screen(past: PastSessions, words: str) -> list[str]:
    return [each.id for each in past.find(words)]


def in_a_shell(words: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    main(["find", *words.split(), "--json"])
    return [each["id"] for each in json.loads(capsys.readouterr().out)["found"]]


def test_logs_that_were_copied_a_moment_ago_are_found_as_in_a_shell(
    past: PastSessions, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few()
    for number in (1, 2, 3):
        os.utime(place_of(number))
    monkeypatch.setattr(past_sessions, "monotonic", lambda: 7.0)
    read(past)
    assert on_screen(past, "roses") == in_a_shell("roses", capsys) == [session(2)]
    assert past.unread == "as it was 0s ago"


def test_what_goes_on_is_found_as_it_was_read_last_and_once(
    past: PastSessions, capsys: pytest.CaptureFixture[str]
) -> None:
    few()
    read(past)
    assert on_screen(past, "roses") == [session(2)]
    write(2, "Prune the roses", days=0, error="API Error: 529 Overloaded")
    write(4, "Water the lilies", days=0)
    read(past)
    for words in ("roses", "lilies", "overloaded"):
        assert on_screen(past, words) == in_a_shell(words, capsys) != []
    assert len(on_screen(past, "roses")) == 1


def test_what_is_not_read_yet_is_said_with_how_much(past: PastSessions, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    listen = PastSessions._listen

    def heard(past: PastSessions, process: "subprocess.Popen[bytes]") -> None:
        told.append(past.unread)
        listen(past, process)

    monkeypatch.setattr(PastSessions, "_listen", heard)
    few()
    assert past.unread == "new logs not read: `delegtop find`"
    past.want()
    until(lambda: not past.is_reading, "all is read")
    assert past._unread == 3
    monkeypatch.setattr(PastSessions, "is_reading", True)
    assert past.unread == "3 logs are not read yet …"
    past._unread = 1
    assert past.unread == "1 log is not read yet …"


@needs_closed_folders
def test_what_cannot_be_read_is_said(past: PastSessions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_messages, "_COMMAND", (*PREFIX, *process_messages._COMMAND))
    few()
    with closed(place_of(2)):
        read(past)
    assert "but for 1 that cannot be read: `delegtop sources`" in past.unread


def test_an_answer_says_of_when_it_is(past: PastSessions, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 7.0
    monkeypatch.setattr(past_sessions, "monotonic", lambda: now)
    few()
    read(past)
    now += 130
    assert past.unread == "as it was 2m ago"


def test_whatever_becomes_of_the_process_the_search_goes_on(
    past: PastSessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    few()
    read(past)

    def refused(*_: Sequence[str]) -> None:
        raise OSError

    with monkeypatch.context() as patched:
        patched.setattr(process_messages, "begun", refused)
        past.want()
    assert not past.is_reading
    assert on_screen(past, "roses") == [session(2)]
    past.want()
    assert past._process is not None
    past._process.kill()
    until(lambda: not past.is_reading, "it is noticed")
    assert on_screen(past, "roses") == [session(2)]
