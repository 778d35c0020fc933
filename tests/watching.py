"""Logs and registries of a few delegations, and a feed that is watched together with the forest it grows."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.telling import handle_of

from delegtop.base.clock import Clock, Millis, parse_time
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.live_feed import Feed
from delegtop.model.delegation import Delegation
from delegtop.model.events import Event
from delegtop.model.forest import Forest
from delegtop.model.states import State

NOW = parse_time("2026-05-01T10:02:30Z") or Millis(0)


def line(event: str, session: str, at: str = "10:00:00", **more: Any) -> str:
    record = {"event": event, "at": f"2026-05-01T{at}Z", "session_id": f"sess_20260501_{session}", **more}
    return json.dumps(record) + "\n"


def register(session: str, agent: str = "planner", **more: Any) -> str:
    path = {"subagent": agent, "delegation_path": ["orchestrator", "plan", agent], "delegation_depth": 1}
    fields: dict[str, Any] = path | {"timeout": 3600} | more
    return line("register", session, **fields)


def returned(session: str, status: str = "completed") -> str:
    told = {"status": status, "summary": "All done.", "artifacts": [], "metadata": metadata(session)}
    return line("return", session, "10:02:00", **{"return": told})


def metadata(session: str) -> dict[str, Any]:
    return {"session_id": f"sess_20260501_{session}", "duration_seconds": 120, "agent_type": "planner"}


def entry(**more: Any) -> dict[str, Any]:
    return {
        "command": "plan",
        "subagent": "planner",
        "task_number": 7,
        "start_time": "2026-05-01T10:00:00Z",
        "timeout": 3600,
        "deadline": "2026-05-01T11:00:00Z",
        "status": "running",
        "delegation_depth": 1,
        "delegation_path": ["orchestrator", "plan", "planner"],
    } | more


def registry(*sessions: str, **more: Any) -> str:
    return json.dumps({f"sess_20260501_{session}": entry(**more) for session in sessions}, indent=2)


class Watch:
    """A feed and the forest it grows."""

    def __init__(self, sources: Sequence[str], clock: Clock, **how: Any) -> None:
        self.clock = clock
        self.feed = Feed(sources, clock=clock, **how)
        self.forest = Forest()

    def look(self, times: int = 1) -> list[Event]:
        """Take in what is new; gives the events."""
        events = [event for _ in range(times) for batch in self.feed.poll() for event in batch.events]
        self.forest.apply(events)
        self.forest.advance(self.clock.now())
        return events

    def state(self, session: str) -> State:
        return self.forest.state(self._handle(session))

    def delegation(self, session: str) -> Delegation:
        return self.forest.delegation(self._handle(session))

    def _handle(self, session: str) -> int:
        return handle_of(self.forest, f"sess_20260501_{session}")

    def ids(self) -> list[str]:
        return [self.forest.delegation(handle).id[-6:] for handle in self.forest.walk()]

    def status(self, name: str | Path) -> SourceStatus:
        [found] = [status for status in self.feed.statuses() if Path(status.path).name == Path(name).name]
        return found


Opener = Callable[..., Watch]


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)
