"""A log that the test writes on, and what is told of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from delegtop.base.clock import Millis, WallClock, iso
from delegtop.mcp_server.followed_scope import FollowedScope
from delegtop.observation.observation import opened
from delegtop.observation.source_discovery import Places
from delegtop.settings import Settings

ROOT, CHILD, OTHER = "sess_1790000000_root01", "sess_1790000000_child1", "sess_1790000000_other1"
SECRET = "sk-ant-api03-" + "a1" * 30


class Log:
    """A session log of the standard; times are seconds before now."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()

    def tell(self, event: str, ago: float, session: str, **more: Any) -> None:
        at = iso(Millis(WallClock().now() - int(ago * 1_000)))
        line = {"schema_version": 1, "event": event, "at": at, "session_id": session, **more}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def start(self, session: str, ago: float = 10, agent: str = "implementer", timeout: int = 600, **more: Any) -> None:
        self.tell("register", ago, session, subagent=agent, timeout=timeout, **more)

    def end(self, session: str, ago: float = 0, status: str = "completed", summary: str = "All done.") -> None:
        returned = {"status": status, "summary": summary, "artifacts": [], "errors": []}
        self.tell("return", ago, session, **{"return": returned})


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path / "session.jsonl")


@pytest.fixture
def followed(log: Log) -> Iterator[FollowedScope]:
    found = FollowedScope(lambda: opened(Places([str(log.path)]), Settings()))
    yield found
    found.close()
