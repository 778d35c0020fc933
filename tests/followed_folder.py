"""A folder of logs that a feed follows with a witness, in one of three ways: what a recording of it would hold.

It is looked at when somebody asks; or the kernel reports what changed, and between two looks round only those files are
read; or nobody can report anything.
"""

import errno
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.patience import until
from tests.recorded_feed import RecordedFeed, session_lines

from delegtop.feed import live_feed, rounds
from delegtop.feed.followed_file import SourceStatus
from delegtop.sources import wakeups
from delegtop.sources.wakeups import Waker

ASKED, TOLD, UNTOLD = WAYS = ("somebody asks", "the kernel tells", "nobody can tell")


class FollowedFolder:
    """`logs` below the present folder, and all that was told of it."""

    def __init__(self, way: str) -> None:
        self.way = way
        self.inside, self.outside = Path("logs"), Path("elsewhere")
        for folder in (self.inside, self.outside):
            folder.mkdir()
        self.log = self.inside / "s.jsonl"
        self.recorded = RecordedFeed(self.inside)
        if way != ASKED:
            self._poll()
            until(self._is_followed, way)

    def _is_followed(self) -> bool:
        self._poll()
        waker = self.recorded.feed._waker
        return waker.mode == "watching" if self.way == TOLD else bool(waker.trouble)

    def _poll(self) -> None:
        """As whoever follows does: wait for a sign, then read what is new."""
        self.recorded.feed.wait(0.05)
        for _ in self.recorded.feed.poll():
            pass

    def look(self) -> None:
        """Take in what there is. What the kernel has to tell is waited for elsewhere."""
        if self.way == ASKED:
            self.recorded.look()
        else:
            self._poll()

    def tells(self, *names: str, but: str = "") -> None:
        """All of these were told once in the end, in whatever order, and nothing else; `but` may be told repeatedly."""
        wanted = Counter(names)

        def are_told() -> bool:
            self.look()
            return not wanted - self.recorded.counted

        until(are_told, f"all of {names}")
        self.recorded.look(2)  # and a whole look finds no more
        found = {name: times for name, times in self.recorded.counted.items() if name != but}
        assert found == wanted

    def becomes(self, path: Path, status: str, detail: str = "") -> SourceStatus:
        """It is said of the file how it is."""

        def is_said() -> bool:
            self.look()
            said = [each for each in self.recorded.feed.statuses() if Path(each.path) == path]
            return any(each.status == status and detail in each.detail for each in said)

        until(is_said, f"{path} {status} {detail}")
        return next(each for each in self.recorded.feed.statuses() if Path(each.path) == path)

    def reasons(self) -> Counter[str]:
        return Counter(each.reason for each in self.recorded.unreadable)

    def close(self) -> None:
        self.recorded.close()


@contextmanager
def followed_folder(way: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[FollowedFolder]:
    """Of so few files all would be looked at every time; waits are short, for nothing is to be waited for."""
    monkeypatch.setattr(live_feed, "UNENDED_SECONDS", 0.01)
    if way != ASKED:
        monkeypatch.setattr(live_feed, "FEW", 0)
        monkeypatch.setattr(rounds, "RESCAN_SECONDS", 0.3 if way == TOLD else 0.05)
        monkeypatch.setattr(rounds, "SETTLING_SECONDS", 0.02)
        monkeypatch.setattr(rounds, "SIGN_SECONDS", 0.01)
        monkeypatch.setattr(wakeups, "_STEP", 5)
        monkeypatch.setattr(wakeups, "_DEBOUNCE", 10)
    if way == UNTOLD:

        def fail(*_: object) -> None:
            raise OSError(errno.ENOSPC, "no watches left")

        monkeypatch.setattr(Waker, "_follow", fail)
    folder = FollowedFolder(way)
    try:
        yield folder
    finally:
        folder.close()


def append(path: Path, *names: str) -> None:
    """One record for each name."""
    with path.open("a") as file:
        file.write(session_lines(*names))


def padded(*names: str, pad: int) -> str:
    """The same, each a line of that many bytes more."""
    return "".join(
        line[:-2] + f', "pad": "{"x" * pad}"}}\n' for line in session_lines(*names).splitlines(keepends=True)
    )
