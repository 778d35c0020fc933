"""Random schedules of everything that happens to logs, against what was on disk whenever the tail looked.

The model is the disk itself. Right before every poll it collects the records that can be read there: in every file the
tail is given, and in files it knew that have lost their name since. All of them must have been delivered when the poll
ends; none may be delivered twice over the whole schedule; and nothing may be delivered that was never written. What
was written and destroyed between two polls was never seen by anybody and is expected of nobody.
"""

import os
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from delegtop.sources.records import Line, Record, Unreadable, records
from delegtop.sources.tail import Tail

PARTS = 12
STEPS = 22
LIMIT = 4_000
RECORD = re.compile(rb'\{"id": (\d+), "pad": "x*"\}')
PREAMBLE = b'{"preamble": "the same in every log", "filler": "' + b"-" * 280 + b'"}\n'


class World:
    """A directory that is watched, one that is not, and what was delivered of it."""

    preamble = PREAMBLE

    def __init__(self, home: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.inside = home / "inside"
        self.outside = home / "outside"
        for folder in (self.inside, self.outside):
            folder.mkdir(exist_ok=True)
        self.linger = self.random.choice([2, 100])
        self.tail = Tail(limit=LIMIT, linger=5 * self.linger, handles=self.random.choice([8, 64]))
        self.written: set[int] = set()
        self.delivered: Counter[int] = Counter()
        self.unfinished: dict[int, bytes] = {}
        self.copies: set[Path] = set()
        self.parted: set[int] = set()
        """Files that were replaced under one of their names since the last look."""
        self.have_parted = False
        self.known: set[int] = set()
        self.nameless: dict[int, tuple[int, int]] = {}
        self.oversize = self.reported = 0
        self.next = 0
        self.log: list[str] = []

    # What the writers do

    def path(self) -> Path:
        return self.inside / self.random.choice(["s.jsonl", "t.jsonl"])

    def record(self, size: int | None = None) -> bytes:
        self.next += 1
        self.written.add(self.next)
        pad = size if size is not None else self.random.choice([0, 3, 40, 64, 200, 900])
        return b'{"id": %d, "pad": "%s"}' % (self.next, b"x" * pad)

    def lines(self, most: int = 5) -> bytes:
        return b"".join(self.record() + b"\n" for _ in range(self.random.randint(1, most)))

    def write(self, path: Path, data: bytes) -> None:
        if not path.exists() and self.random.random() < 0.4:
            data = self.preamble + data
        with path.open("ab") as file:
            file.write(data)
            self.unfinished.pop(os.fstat(file.fileno()).st_ino, None)

    def append(self) -> None:
        self.write(self.path(), self.lines())

    def append_much(self) -> None:
        self.write(self.path(), b"".join(self.record(900) + b"\n" for _ in range(self.random.randint(4, 12))))

    def append_crlf(self) -> None:
        self.write(self.path(), self.lines().replace(b"\n", b"\r\n"))

    def append_noise(self) -> None:
        noise = [b"\n", b"not json\n", b"\xff\xfe\xfa\n", b"[1, 2]\n", b"{\n", b"\0\0\n", b"\xef\xbb\xbf"]
        self.write(self.path(), self.random.choice(noise) + self.lines(1))

    def append_glued(self) -> None:
        path = self.path()
        if not path.exists() or path.read_bytes().endswith(b"\n"):
            self.write(path, self.record() + self.record() + b"\n")

    def append_oversize(self) -> None:
        self.oversize += 1
        self.write(self.path(), b"\n" + b"y" * self.random.randint(LIMIT + 1, 5 * LIMIT) + b"\n")

    def append_unfinished(self) -> None:
        path = self.path()
        if path.exists() and path.stat().st_ino in self.unfinished:
            return
        record = self.record()
        cut = self.random.randint(1, len(record))
        self.write(path, record[:cut])
        self.unfinished[path.stat().st_ino] = record[cut:]

    def finish(self) -> None:
        for path in self.given():
            rest = self.unfinished.get(path.stat().st_ino)
            if rest is not None and self.may_grow(path):
                with path.open("ab") as file:
                    file.write(rest + b"\n")
                del self.unfinished[path.stat().st_ino]
                return

    def append_behind_a_hole(self) -> None:
        path = self.path()
        if path.exists():
            if path.stat().st_ino in self.unfinished:
                return
            with path.open("r+b") as file:
                file.seek(self.random.choice([1, 700, 5_000, 200_000]), os.SEEK_END)
                file.write(self.lines(2))

    def touch(self) -> None:
        if self.path().exists():
            self.path().touch()

    # What happens to the files

    def new_name(self, path: Path) -> Path:
        self.next += 1
        return path.with_suffix(f".jsonl.{self.next}")

    def rotate(self) -> None:
        path = self.path()
        if path.exists():
            path.rename(self.new_name(path))

    def rotate_and_go_on(self) -> None:
        path = self.path()
        if path.exists():
            old = path.rename(self.new_name(path))
            self.write(path, self.lines())
            if self.may_grow(old):
                self.write(old, self.lines())

    def write_late(self) -> None:
        old = [p for p in self.given() if p.suffix != ".jsonl" and p not in self.copies and self.may_grow(p)]
        if old:
            self.write(self.random.choice(old), self.lines(2))

    def may_grow(self, old: Path) -> bool:
        """Not one that was just replaced under another of its names: if both go on before anybody has seen them apart,
        and get other names too, nobody can tell them from two logs that begin alike."""
        return not old.is_symlink() and old.stat().st_ino not in self.parted

    def move_out(self) -> None:
        path = self.path()
        if path.exists() and path.stat().st_nlink == 1:
            self.lose(path)
            path.rename(self.outside / f"{self.next}.moved")

    def write_outside(self) -> None:
        moved = list(self.outside.glob("*.moved"))
        if moved:
            self.write(self.random.choice(moved), self.lines(2))

    def copy(self, path: Path) -> None:
        target = self.new_name(path)
        shutil.copyfile(path, target)
        self.copies.add(target)

    def copy_only(self) -> None:
        path = self.path()
        if path.exists():
            self.copy(path)

    def empty(self, path: Path) -> None:
        os.truncate(path, 0)
        self.unfinished.pop(path.stat().st_ino, None)

    def copytruncate(self) -> None:
        path = self.path()
        if path.exists():
            self.copy(path)
            self.empty(path)
            if self.random.random() < 0.5:
                self.write(path, self.lines())

    def copytruncate_and_outgrow(self) -> None:
        path = self.path()
        if path.exists():
            self.copy(path)
            size = path.stat().st_size
            self.empty(path)
            data = self.preamble if self.random.random() < 0.3 else b""
            while len(data) <= size:
                data += self.lines()
            self.write(path, data)

    def copytruncate_under_a_stale_writer(self) -> None:
        path = self.path()
        if path.exists() and path.stat().st_ino not in self.unfinished:
            self.copy(path)
            with path.open("r+b") as file:
                file.seek(0, os.SEEK_END)
                os.truncate(path, 0)
                file.write(self.lines())

    def truncate(self) -> None:
        path = self.path()
        if path.exists():
            self.empty(path)
            if self.random.random() < 0.5:
                self.write(path, self.lines())

    def rewrite_with_the_same_size_and_end(self) -> None:
        path = self.path()
        if not path.exists() or path.stat().st_ino in self.unfinished or path.stat().st_size < 200:
            return
        size = path.stat().st_size
        data = b""
        while size - len(data) > 1_900:
            data += self.record(900) + b"\n"
        data += self.record(0)[:-2]
        data += b"x" * (size - len(data) - 3) + b'"}\n'
        with path.open("r+b") as file:
            file.write(data)

    def replace_by_superset(self) -> None:
        path = self.path()
        if path.exists():
            new = self.outside / "new"
            new.write_bytes(path.read_bytes() + (self.lines() if self.random.random() < 0.8 else b""))
            if path.stat().st_nlink > 1:
                self.parted.add(path.stat().st_ino)
            self.lose(path)
            new.replace(path)

    def delete(self) -> None:
        path = self.path()
        if path.exists():
            self.lose(path)
            path.unlink()

    def delete_and_create(self) -> None:
        self.delete()
        self.write(self.path(), self.lines())

    def delete_rotated(self) -> None:
        old = [path for path in self.given() if path.suffix != ".jsonl"]
        if old:
            path = self.random.choice(old)
            self.lose(path)
            path.unlink()

    def hard_link(self) -> None:
        path = self.path()
        if path.exists():
            self.new_name(path).hardlink_to(path)

    def symlink(self) -> None:
        path = self.path()
        if path.exists():
            self.new_name(path).symlink_to(path)

    def swap_symlink(self) -> None:
        target = self.outside / f"target{self.random.randint(1, 3)}"
        if not target.exists() or self.random.random() < 0.5:
            self.write(target, self.lines())
        link = self.inside / "current.jsonl"
        if link.exists():
            self.lose(link)
        link.unlink(missing_ok=True)
        link.symlink_to(target)

    # What the tail is shown and must have delivered

    def given(self) -> list[Path]:
        return sorted(path for path in self.inside.iterdir() if path.is_file())

    def lose(self, path: Path) -> None:
        """A name goes away: keep what the tail must still read through its own descriptor."""
        inode = path.stat().st_ino
        others = [p for p in self.given() if p != path and p.stat().st_ino == inode]
        if path.stat().st_nlink == 1:
            self.unfinished.pop(inode, None)
        if inode in self.known and not others:
            self.nameless[inode] = (os.open(path, os.O_RDONLY), self.linger)

    def visible(self) -> set[int]:
        found: set[int] = set()
        for inode, (fd, polls) in list(self.nameless.items()):
            if polls <= 0 or any(path.stat().st_ino == inode for path in self.given()):
                os.close(fd)
                del self.nameless[inode]
                self.known.discard(inode)
                continue
            self.nameless[inode] = (fd, polls - 1)
            found |= self.whole_records(os.pread(fd, 1 << 30, 0))
        for path in self.given():
            found |= self.whole_records(path.read_bytes())
        return found

    def whole_records(self, data: bytes) -> set[int]:
        """The records in finished lines."""
        return {int(match[1]) for match in RECORD.finditer(data[: data.rfind(b"\n") + 1])}

    def take(self, items: list[Line | Unreadable]) -> None:
        for item in items:
            if isinstance(item, Unreadable):
                self.reported += item.reason == "oversize"
                continue
            self.delivered.update(
                record.value["id"] for record in records(item) if isinstance(record, Record) and "id" in record.value
            )

    def poll(self) -> None:
        expected = self.visible()
        paths = self.given()
        self.take(list(self.tail.poll([str(path) for path in paths])))
        self.known |= {path.stat().st_ino for path in paths}
        self.see_apart()
        lost = expected - self.delivered.keys()
        assert not lost, f"lost {sorted(lost)}"

    def see_apart(self) -> None:
        self.have_parted |= bool(self.parted)
        self.parted.clear()

    def poll_in_pieces(self) -> None:
        paths = [str(path) for path in self.given()]
        for most in (0, 1, 4):
            self.take(list(islice(self.tail.poll(paths), most)))
        self.poll()

    def poll_one(self) -> None:
        if self.given():
            path = self.random.choice(self.given())
            self.take(list(self.tail.poll([str(path)], whole=False)))

    def flush(self) -> None:
        self.take(list(self.tail.flush()))

    def directory_away(self) -> None:
        self.poll()
        away = self.inside.with_name("away")
        self.inside.rename(away)
        self.take(list(self.tail.poll([])))
        away.rename(self.inside)

    def actions(self) -> list[tuple[int, Callable[[], None]]]:
        return [
            (6, self.append),
            (2, self.append_much),
            (1, self.append_crlf),
            (1, self.append_noise),
            (1, self.append_glued),
            (1, self.append_oversize),
            (2, self.append_unfinished),
            (2, self.finish),
            (1, self.append_behind_a_hole),
            (1, self.touch),
            (1, self.rotate),
            (1, self.rotate_and_go_on),
            (1, self.write_late),
            (1, self.move_out),
            (1, self.write_outside),
            (1, self.copy_only),
            (2, self.copytruncate),
            (1, self.copytruncate_and_outgrow),
            (1, self.copytruncate_under_a_stale_writer),
            (1, self.truncate),
            (1, self.rewrite_with_the_same_size_and_end),
            (2, self.replace_by_superset),
            (1, self.delete),
            (1, self.delete_and_create),
            (1, self.delete_rotated),
            (1, self.hard_link),
            (1, self.symlink),
            (1, self.swap_symlink),
            (7, self.poll),
            (1, self.poll_in_pieces),
            (1, self.poll_one),
            (1, self.flush),
            (1, self.directory_away),
        ]

    def run(self) -> None:
        actions = self.actions()
        weights = [weight for weight, _ in actions]
        for _, action in self.random.choices(actions, weights, k=STEPS):
            self.log.append(action.__name__)
            action()
            self.check()
        self.log.append("last poll")
        self.poll()
        self.check()

    def check(self) -> None:
        twice = sorted(id for id, times in self.delivered.items() if times > 1)
        assert not twice, f"twice {twice}"
        ghosts = self.delivered.keys() - self.written
        assert not ghosts, f"never written {sorted(ghosts)}"
        assert self.reported <= self.oversize

    def close(self) -> None:
        self.tail.close()
        for fd, _ in self.nameless.values():
            os.close(fd)
        for folder in (self.inside, self.outside):
            for path in folder.iterdir():
                path.unlink()


@pytest.mark.parametrize("part", range(PARTS))
def test_every_record_on_disk_is_delivered_exactly_once_whatever_happens_to_the_files(
    part: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    schedules = request.config.getoption("--schedules")
    for seed in range(part, schedules, PARTS):
        world = World(tmp_path, seed)
        try:
            world.run()
        except AssertionError as error:
            pytest.fail(f"schedule {seed}: {error}\n" + " → ".join(world.log))
        finally:
            world.close()
