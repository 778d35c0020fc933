"""A feed that is followed with a witness, as `delegtop record` follows it: what its recording holds, in its order."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.patience import until

from delegtop.base.clock import WallClock
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.live_feed import Feed
from delegtop.model.events import Event
from delegtop.sources.records import Line, Record, Unreadable, records


class RecordedFeed:
    """A feed and every line that it told, as the recording would hold it."""

    def __init__(self, *sources: Path | str, **how: Any) -> None:
        self.lines: list[Line] = []
        self.told: list[Event | Unreadable] = []
        self.feed = Feed([str(source) for source in sources], clock=WallClock(), witness=self._take, **how)

    def _take(self, line: Line | None, told: Sequence[Event | Unreadable]) -> None:
        if line is not None:
            self.lines.append(line)
        self.told += told

    def look(self, times: int = 1) -> list[str]:
        for _ in range(times):
            self.feed._rounds.at_once()  # look round at every look
            for _ in self.feed.poll():
                pass
            while self.feed.is_behind:
                for _ in self.feed.poll():
                    pass
        return self.ids

    def until(self, count: int) -> list[str]:
        """Look until so many records are there, and once more for what must not follow; gives the sessions of all."""
        until(lambda: len(self.look()) >= count, f"{count} records")
        return self.look(2)

    @property
    def ids(self) -> list[str]:
        """The end of the session id of every record that was told, in the order of telling."""
        found = [record for line in self.lines for record in records(line)]
        return [str(each.value.get("session_id", ""))[-6:] for each in found if isinstance(each, Record)]

    @property
    def unreadable(self) -> list[Unreadable]:
        return [each for each in self.told if isinstance(each, Unreadable)]

    @property
    def counted(self) -> Counter[str]:
        return Counter(self.ids)

    def status(self, path: Path | str) -> SourceStatus:
        [found] = [status for status in self.feed.statuses() if Path(status.path).name == Path(path).name]
        return found

    def close(self) -> None:
        self.feed.close()


def session_lines(*names: str) -> str:
    """One record for each name."""
    return "".join(
        json.dumps({"event": "heartbeat", "at": "2026-05-01T10:00:00Z", "session_id": f"sess_20260501_{name}"}) + "\n"
        for name in names
    )
