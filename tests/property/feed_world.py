"""Folders of logs that everything happens to, followed by a whole feed: what was told of them, and what had to be.

The model is the disk, as in test_tail_faults. It is followed in one of three ways: as `record` follows it; as a
dashboard does that puts quiet sessions away and reads them again when they stir; and as one that reads only what is
recent.
"""

import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from tests.property.test_tail_faults import World

from delegtop.base import zstd
from delegtop.base.clock import WallClock, parse_time
from delegtop.feed import dormant_sessions, live_feed
from delegtop.feed.file_catalogue import FileCatalogue
from delegtop.feed.live_feed import Feed
from delegtop.feed.recent_window import session_of
from delegtop.model.events import Event, Heard, Surveyed
from delegtop.sources import discover, inode, snapshot
from delegtop.sources import tail as tail_module
from delegtop.sources.records import Line, Unreadable

NOBODY = 65534
SINCE = parse_time("2026-05-01T12:00:00Z")
OLD, RECENT = b"2026-05-01T10:00:00Z", b"2026-05-01T14:00:00Z"
START = b'{"event": "heartbeat", "at": "%s", "session_id": "sess_20260501_'
RECORD = re.compile(rb'\{"event": "heartbeat", "at": "([^"]+)", "session_id": "sess_20260501_(\d{6})", "pad": "x*"\}')
NUMBER = re.compile(r"sess_20260501_(\d{6})")
REGISTRY = "registry.json"
SESSIONS = ("0b9b1c2e-1111-4222-8333-444455556666.jsonl", "0b9b1c2e-1111-4222-8333-777788889999.jsonl")
WAYS = ("recorded", "recorded", "recorded", "put away", "recent")


class Signs:
    """Reports of changes, some true and some not, in place of those of the kernel."""

    mode = "watching"
    trouble = ""

    def __init__(self) -> None:
        self.said: list[str] = []

    def stirred(self) -> bool:
        return bool(self.said)

    def grown(self) -> Sequence[str]:
        said, self.said = self.said, []
        return said

    def watch(self, _folders: Sequence[str]) -> None:
        """Whatever is reported was made up."""

    def close(self) -> None:
        """There is nothing to end."""


class FeedWorld(World):
    """The same directories, followed by a feed with a witness."""

    preamble = START % OLD + b'preamb", "pad": "' + b"-" * 280 + b'"}\n'

    def __init__(self, home: Path, seed: int) -> None:
        super().__init__(home, seed)
        self.tail.close()
        home.chmod(0o755)
        self.way = self.random.choice(WAYS)
        self.handles = self.random.choice([8, 64])
        self.at = OLD
        self.version = 0
        """Of the registry; each holds its number."""
        self.surveyed = 0
        self.taken_down: Counter[str] = Counter()
        self.sessions: dict[int, str | None] = {}
        """Whose file a record was last told from."""
        self.patches = pytest.MonkeyPatch()
        take_down = FileCatalogue._take_down

        def counted(files: FileCatalogue, session: str) -> None:
            self.taken_down[session] += 1
            take_down(files, session)

        self.patches.setattr(FileCatalogue, "_take_down", counted)
        self.patches.setattr(tail_module, "affordable", lambda: self.handles)
        self.feed = self.opened()

    def opened(self) -> Feed:
        since = SINCE if self.way == "recent" else None
        feed = Feed([str(self.inside)], clock=WallClock(), witness=self.told, since=since)
        feed._tidies = self.way == "put away"
        feed._waker = Signs()  # type: ignore[assignment]  # as much of one as a feed asks for that nobody waits with
        return feed

    def given(self) -> list[Path]:
        return [path for path in super().given() if path.name != REGISTRY]

    # What the writers do

    def path(self) -> Path:
        names = SESSIONS if self.way == "put away" else ("s.jsonl", "t.jsonl")
        return self.inside / self.random.choice(names)

    def record(self, size: int | None = None) -> bytes:
        self.next += 1
        self.written.add(self.next)
        pad = size if size is not None else self.random.choice([0, 3, 40, 64, 200, 900])
        return START % self.at + b'%06d", "pad": "%s"}' % (self.next, b"x" * pad)

    def found_in(self, data: bytes) -> list[re.Match[bytes]]:
        text = self.text_of(data)
        return list(RECORD.finditer(text[: text.rfind(b"\n") + 1]))

    def text_of(self, data: bytes) -> bytes:
        if data.startswith(b"\x1f\x8b"):
            return gzip.decompress(data)
        return zstd.decompress(data) if data.startswith(b"\x28\xb5\x2f\xfd") else data

    def whole_records(self, data: bytes) -> set[int]:
        """The records in finished lines; of a file in which nothing is recent none, if only that is read."""
        found = self.found_in(data)
        if self.way == "recent" and not any(match[1] == RECENT for match in found):
            return set()
        return {int(match[2]) for match in found}

    def may_grow(self, old: Path) -> bool:
        """Nor what has parted if only the recent is read: nobody knows whether it was seen."""
        may_have_parted = self.way == "recent" and bool(self.parted or self.have_parted) and old.suffix != ".jsonl"
        return not discover.is_packed(old.name) and not may_have_parted and super().may_grow(old)

    def hours_pass(self) -> None:
        """From now on what is written is recent."""
        self.at = RECENT

    def write_late(self) -> None:
        if not self.rotated():
            self.rotate()
        super().write_late()

    def noise_before_all(self) -> None:
        """A file that begins with much that is no record."""
        if not (path := self.path()).exists():
            self.write(path, (b"no record " * 100 + b"\n") * self.random.choice([1, 70]) + self.lines(1))

    # What happens to the files besides

    def rotated(self) -> list[Path]:
        """What a rotation has left and gzip takes: it leaves files with several names alone."""
        old = [path for path in self.given() if path.suffix[1:].isdigit() and not path.is_symlink()]
        return [path for path in old if path.stat().st_nlink == 1]

    def pack(self, suffix: str, compress: Callable[[bytes], bytes]) -> None:
        if not self.rotated():
            self.rotate()
        if old := self.rotated():
            path = self.random.choice(old)
            packed = path.with_name(path.name + suffix)
            packed.write_bytes(compress(path.read_bytes()))
            self.goes_on_as(path, packed)
            if self.random.random() < 0.1:  # `--keep`
                self.copies.add(packed)
            else:
                self.lose(path)
                path.unlink()

    def goes_on_as(self, path: Path, other: Path) -> None:
        """A copy is one under any name."""
        if path in self.copies:
            self.copies.add(other)

    def packed(self) -> list[Path]:
        return [path for path in self.given() if discover.is_packed(path.name)]

    def gzip_rotated(self) -> None:
        self.pack(".gz", lambda data: gzip.compress(data, 1))

    def zstd_rotated(self) -> None:
        self.pack(".zst", zstd.compress)

    def rotate_packed(self) -> None:
        """What is compressed already gets another name, as with the next rotation."""
        if not self.packed():
            self.gzip_rotated()
        elif packed := self.packed():
            path = self.random.choice(packed)
            self.next += 1
            name = f"{discover.unrotated(path.name)}.{self.next}{path.suffix}"
            self.goes_on_as(path, path.rename(path.with_name(name)))

    def unpack(self) -> None:
        if not self.packed():
            self.zstd_rotated()
        elif packed := [path for path in self.packed() if not path.with_suffix("").exists()]:
            path = self.random.choice(packed)
            path.with_suffix("").write_bytes(self.text_of(path.read_bytes()))
            self.goes_on_as(path, path.with_suffix(""))
            self.lose(path)
            path.unlink()

    def many_files(self) -> None:
        for _ in range(self.random.choice([5, 30])):
            self.next += 1
            self.write(self.inside / f"many{self.next}.jsonl", self.lines(1))

    def permission_flip(self) -> None:
        """A look while one file may not be read, and as somebody whom that stops."""
        if (path := self.path()).exists():
            mode = path.stat().st_mode
            path.chmod(0)
            me = os.geteuid()
            if not me:
                os.seteuid(NOBODY)
            try:
                self.look()
            finally:
                os.seteuid(me)
            path.chmod(mode)

    def registry(self, version: int) -> bytes:
        entry = {"subagent": "planner", "status": "running", "delegation_depth": 1, "timeout": 3600}
        entry["start_time"] = RECENT.decode()
        entries = {f"sess_2026060{day}_{version:06d}": entry for day in range(1, 1 + version % 3 + 1)}
        return json.dumps(entries, indent=1).encode()

    def rewrite_registry(self) -> None:
        """In place, in its place, torn, empty or away, and whole again or not."""
        path = self.inside / REGISTRY
        self.version += 1
        whole = self.registry(self.version)
        how = self.random.choice(["in place", "replaced", "torn", "empty", "away"])
        if how == "replaced":
            (self.outside / "registry").write_bytes(whole)
            (self.outside / "registry").replace(path)
        elif how == "away":
            path.unlink(missing_ok=True)
        else:
            path.write_bytes({"in place": whole, "torn": whole[:-20], "empty": b""}[how])

    # Who follows it

    def restart(self) -> None:
        """Another recording: all that is there is told once in it. Not of logs that parted, see there: who comes later
        has not seen them before."""
        if self.parted or self.have_parted:
            return
        self.poll()
        self.check()
        self.feed.close()
        self.feed = self.opened()
        self.delivered.clear()
        self.taken_down.clear()
        self.surveyed = 0
        for fd, _ in self.nameless.values():
            os.close(fd)
        self.nameless.clear()
        self.known.clear()

    def told(self, line: Line | None, events: Sequence[Event | Unreadable]) -> None:
        """What the recording holds."""
        for event in events:
            if isinstance(event, Surveyed):
                version = int(event.ids[0][-6:]) if event.ids else 0
                assert version >= self.surveyed, f"earlier registry {version} after {self.surveyed}"
                self.surveyed = version
        heard = {event.id for event in events if isinstance(event, Heard)}
        found = [int(match[1]) for each in heard if (match := NUMBER.fullmatch(each))]
        self.delivered.update(found)
        if line is not None:
            self.sessions |= dict.fromkeys(found, session_of(line.origin.source))

    def look(self) -> None:
        self.feed._rounds.at_once()  # look round at every look
        for _ in self.feed.poll():
            pass
        while self.feed.is_behind:
            for _ in self.feed.poll():
                pass

    def visible(self) -> set[int]:
        """Of files without a name what is still open: a look at others may have closed it if they are many."""
        for number, (fd, _) in list(self.nameless.items()):
            if self.feed._tail._handles.peek((os.fstat(fd).st_dev, number)) is None:
                os.close(fd)
                del self.nameless[number]
        return super().visible()

    def poll(self) -> None:
        expected = self.visible()
        paths = self.given()
        self.look()
        self.known |= {path.stat().st_ino for path in paths if self.whole_records(path.read_bytes())}
        self.see_apart()
        lost = expected - self.delivered.keys()
        assert not lost, f"lost {sorted(lost)}"
        self.check_registry()

    def check_registry(self) -> None:
        with suppress(FileNotFoundError):
            text = (self.inside / REGISTRY).read_bytes()
            if text == self.registry(self.version):
                assert self.surveyed == self.version, f"lost registry {self.version}"

    def check(self) -> None:
        """Nothing twice, but that what was put away is read again."""
        for id, times in self.delivered.items():
            again = self.taken_down[self.sessions.get(id) or ""] if self.way == "put away" else 0
            assert times <= 1 + again, f"twice {id}"
        ghosts = self.delivered.keys() - self.written
        assert not ghosts, f"never written {sorted(ghosts)}"

    def look_at_some(self) -> None:
        """Between two looks round: at files that are said to have grown. Of new ones that is told, too."""
        if not {*map(str, self.given())} <= {*self.feed._files._scan.files}:
            return
        grown = [path for path in self.given() if str(path) in self.feed._files.readings and self.may_grow(path)]
        for path in grown:
            if path not in self.copies and self.random.random() < 0.5:
                self.write(path, self.lines(2))
        said = [str(path) for path in self.given() if self.random.random() < 0.5]
        signs: Any = self.feed._waker
        signs.said = said + ([str(self.inside / "not there.jsonl")] if self.random.random() < 0.2 else [])
        self.feed._rounds.put_off()
        with self.patched(live_feed, "FEW", 0):
            for _ in self.feed.poll():
                pass
        signs.said = []

    def poll_in_pieces(self) -> None:
        """Somebody stops listening."""
        with self.patched(live_feed, "BATCH", 1):
            for most in (0, 1, 3):
                self.feed._rounds.at_once()
                for _ in islice(self.feed.poll(), most):
                    pass
        self.poll()

    def wait_for_ends(self) -> None:
        """Last lines without their end have waited long enough."""
        with self.patched(live_feed, "UNENDED_SECONDS", -1.0):
            self.poll()

    def time_passes(self) -> None:
        """Long enough for the times of files to be believed, and with a feed that puts away for all to be quiet."""
        self.tick()
        with (
            self.patched(inode, "_SETTLED", 0),
            self.patched(snapshot, "_SETTLED", 0),
            self.patched(discover, "_SETTLED", 0),
            self.patched(dormant_sessions, "QUIET", -(1 << 50)),
            self.patched(live_feed, "TIDY_SECONDS", -1.0),
        ):
            self.poll()
            self.poll()

    def tick(self) -> None:
        """Wait until whatever is written now has a later time than all that is there."""
        probe = self.outside / "probe"
        latest = max((path.lstat().st_ctime_ns for path in (self.inside, *self.inside.iterdir())), default=0)
        probe.touch()
        while probe.stat().st_ctime_ns <= latest:
            sleep(0.001)
            probe.write_bytes(b"x")

    def directory_away(self) -> None:
        self.poll()
        away = self.inside.with_name("away")
        self.inside.rename(away)
        try:
            self.look()
        finally:
            away.rename(self.inside)

    def lose(self, path: Path) -> None:
        """What is open can still be read. Of many files not all are, nor is what was put away."""
        found = path.stat()
        if self.feed._tail._handles.peek((found.st_dev, found.st_ino)) is not None:
            super().lose(path)
        elif found.st_nlink == 1:
            self.unfinished.pop(found.st_ino, None)

    @contextmanager
    def patched(self, module: Any, name: str, value: object) -> Any:
        before = getattr(module, name)
        setattr(module, name, value)
        try:
            yield
        finally:
            setattr(module, name, before)

    def actions(self) -> list[tuple[int, Callable[[], None]]]:
        of_the_tail = {"poll_one", "flush"}
        usual = [each for each in super().actions() if each[1].__name__ not in of_the_tail]
        return [
            *usual,
            (1, self.hours_pass),
            (1, self.noise_before_all),
            (2, self.gzip_rotated),
            (1, self.zstd_rotated),
            (1, self.rotate_packed),
            (1, self.unpack),
            (1, self.many_files),
            (1, self.permission_flip),
            (2, self.rewrite_registry),
            (1, self.restart),
            (3, self.look_at_some),
            (1, self.wait_for_ends),
            (2, self.time_passes),
        ]

    def close(self) -> None:
        self.patches.undo()
        self.feed.close()
        super().close()
