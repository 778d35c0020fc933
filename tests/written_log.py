"""A session log of the standard that a test writes on; times are seconds before now."""

import json
from pathlib import Path
from typing import Any

from delegtop.base.clock import Millis, WallClock, iso


class WrittenLog:
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

    def does(self, session: str, activity: str, ago: float = 0) -> None:
        self.tell("heartbeat", ago, session, activity=activity, tool="bash")

    def end(self, session: str, ago: float = 0, status: str = "completed", summary: str = "All done.") -> None:
        returned = {"status": status, "summary": summary, "artifacts": [], "errors": []}
        self.tell("return", ago, session, **{"return": returned})
