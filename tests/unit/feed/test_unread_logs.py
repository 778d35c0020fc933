"""What tells of a session at work and cannot be read is noted on it and on those in it, and withdrawn afterwards."""

import pytest

from delegtop.base.clock import FrozenClock, Millis
from delegtop.feed.open_sessions import SessionFacts
from delegtop.feed.unread_logs import UnreadLogs
from delegtop.model.events import Noted
from delegtop.model.notes import UNREAD

SESSION = "0b9b1c2e-1111-4222-8333-444455556666"
OTHER = SESSION.replace("0b", "1c")
NOW = Millis(1_790_000_000_000)


def session(id: str, log: str, *members: str) -> SessionFacts:
    at = tuple((member, NOW) for member in members)
    return SessionFacts(id, "claude-code", log, NOW, NOW, "/srv", None, at, is_over=False)


CLAUDE = session(SESSION, f"/logs/{SESSION}.jsonl", "agent")
CODEX = session(SESSION, f"/codex/2026/11/19/rollout-{SESSION}.jsonl", OTHER)
CLINE = session("1791_lamp", "/cline/1791_lamp/1791_lamp.json", "1791_lamp__agent")


@pytest.mark.parametrize(
    ("found", "closed", "noted"),
    [
        (CLAUDE, f"/logs/{SESSION}/subagents", {SESSION, "agent"}),
        (CLAUDE, f"/logs/{OTHER}/subagents", set[str]()),
        (CLAUDE, "/elsewhere", set[str]()),
        (CODEX, f"/codex/2026/11/20/rollout-{OTHER}.jsonl", {SESSION, OTHER}),
        (CLINE, "/cline/1791_lamp/agents", {"1791_lamp", "1791_lamp__agent"}),
        (CLINE, "/cline/1792_tide", set[str]()),
    ],
)
def test_it_is_noted_on_those_of_whom_it_could_tell(found: SessionFacts, closed: str, noted: set[str]) -> None:
    told = [*UnreadLogs(FrozenClock(NOW)).tell([closed], lambda: [found])]
    assert all(isinstance(note, Noted) and (note.kind, note.text) == (UNREAD, closed) for note in told)
    assert {note.id for note in told if isinstance(note, Noted)} == noted


def test_it_is_told_once_and_withdrawn_when_it_can_be_read() -> None:
    unread, closed = UnreadLogs(FrozenClock(NOW)), f"/logs/{SESSION}/subagents"
    assert len([*unread.tell([closed], lambda: [CLAUDE])]) == 2
    assert [*unread.tell([closed], lambda: [CLAUDE])] == []
    withdrawn = [*unread.tell([], lambda: [CLAUDE])]
    assert [note.text for note in withdrawn if isinstance(note, Noted)] == ["", ""]
    assert [*unread.tell([], lambda: [CLAUDE])] == []


def test_while_all_can_be_read_nobody_is_asked_who_is_at_work() -> None:
    def refused() -> list[SessionFacts]:
        raise AssertionError

    assert [*UnreadLogs(FrozenClock(NOW)).tell([], refused)] == []
