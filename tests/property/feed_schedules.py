"""Random schedules of what happens to logs, read as `delegtop record` reads them: through the whole feed.

As in test_tail_faults the model is the disk. Every step has a random number generator of its own, so that a schedule
that fails can be made shorter: steps are left out one by one as long as it still fails.

    python -m tests.property.feed_schedules --schedules 10000 --seed 1
"""

import argparse
import gzip
import os
import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.property.test_tail_faults import World
from tests.recorded_feed import RecordedFeed

STEPS = 22
NOBODY = 65534
START = b'{"event": "heartbeat", "at": "2026-05-01T10:00:00Z", "session_id": "sess_20260501_'
RECORD = re.compile(re.escape(START) + rb'(\d{6})", "pad": "x*"\}')

Step = tuple[str, int]


class FeedWorld(World):
    """The same directories, followed by a feed with a witness."""

    preamble = START + b'preamb", "pad": "' + b"-" * 280 + b'"}\n'

    def __init__(self, home: Path, seed: int) -> None:
        super().__init__(home, seed)
        self.tail.close()
        home.chmod(0o755)
        self.recorded = RecordedFeed(self.inside)
        self.taken = 0

    def record(self, size: int | None = None) -> bytes:
        self.next += 1
        self.written.add(self.next)
        pad = size if size is not None else self.random.choice([0, 3, 40, 64, 200, 900])
        return START + b'%06d", "pad": "%s"}' % (self.next, b"x" * pad)

    def whole_records(self, data: bytes) -> set[int]:
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        return {int(match[1]) for match in RECORD.finditer(data[: data.rfind(b"\n") + 1])}

    def may_grow(self, old: Path) -> bool:
        return old.suffix != ".gz" and super().may_grow(old)

    def append_behind_a_hole(self) -> None:
        """Not behind mere noise: what has no record in its first 64 KiB is said to be of no known format."""
        if all(self.whole_records(path.read_bytes()[:65_536]) for path in self.inside.glob("[st].jsonl")):
            super().append_behind_a_hole()

    # What happens besides

    def gzip_rotated(self) -> None:
        old = [path for path in self.given() if path.suffix[1:].isdigit() and not path.is_symlink()]
        # A last line without its end counts as one in there, and another log may have the same bytes at that place.
        old = [path for path in old if path.stat().st_nlink == 1 and path.read_bytes().endswith(b"\n")]
        if old:
            path = self.random.choice(old)
            if self.copies:  # if nobody looked before, a short copy beside it may be another log that begins alike
                self.poll()
            path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
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

    def restart(self) -> None:
        """Another recording: all that is there is told once in it. Not of copies that were looked at before they were
        compressed, see there: who comes later has not."""
        if self.copies and any(path.suffix == ".gz" for path in self.given()):
            return
        self.poll()
        self.check()
        self.recorded.close()
        self.recorded = RecordedFeed(self.inside)
        self.taken = 0
        self.delivered.clear()
        for fd, _ in self.nameless.values():
            os.close(fd)
        self.nameless.clear()
        self.known.clear()

    # Looking

    def look(self) -> None:
        told = self.recorded.look()
        self.delivered.update(int(each) for each in told[self.taken :] if each.isdigit())
        self.taken = len(told)

    def poll(self) -> None:
        expected = self.visible()
        paths = self.given()
        self.look()
        self.known |= {path.stat().st_ino for path in paths if self.whole_records(path.read_bytes())}
        lost = expected - self.delivered.keys()
        assert not lost, f"lost {sorted(lost)}"

    def directory_away(self) -> None:
        self.poll()
        away = self.inside.with_name("away")
        self.inside.rename(away)
        self.look()
        away.rename(self.inside)

    def actions(self) -> list[tuple[int, Callable[[], None]]]:
        of_the_tail = {"poll_in_pieces", "poll_one", "flush"}
        usual = [each for each in super().actions() if each[1].__name__ not in of_the_tail]
        more = [(2, self.gzip_rotated), (1, self.many_files), (1, self.permission_flip), (1, self.restart)]
        return usual + more

    def drawn(self, seed: int) -> list[Step]:
        actions, chance = self.actions(), random.Random(seed)
        names = chance.choices([each.__name__ for _, each in actions], [weight for weight, _ in actions], k=STEPS)
        return [(name, chance.getrandbits(32)) for name in names]

    def follow(self, steps: Sequence[Step]) -> None:
        for name, seed in steps:
            self.random = random.Random(seed)
            getattr(self, name)()
            self.check()
        self.poll()
        self.check()

    def close(self) -> None:
        self.recorded.close()
        super().close()


def failure(seed: int, steps: Sequence[Step] | None = None) -> tuple[str, list[Step]] | None:
    """What goes wrong with these steps, else with those of the seed; None if nothing does."""
    home = Path(tempfile.mkdtemp(prefix="schedule"))
    world = FeedWorld(home, seed)
    done = list(world.drawn(seed) if steps is None else steps)
    try:
        world.follow(done)
    except Exception as error:  # noqa: BLE001 - whatever a schedule provokes is what is looked for
        return f"{type(error).__name__}: {error}", done
    finally:
        world.close()
        shutil.rmtree(home)
    return None


def shortest(seed: int, steps: list[Step], why: str) -> tuple[str, list[Step]]:
    """The same kind of failure with as few steps as leaving out single ones comes to."""
    kind, at = why.split()[1], 0
    while at < len(steps):
        found = failure(seed, steps[:at] + steps[at + 1 :])
        if found is not None and found[0].split()[1] == kind:
            why, steps = found
        else:
            at += 1
    return why, steps


def report(seed: int) -> str | None:
    """The failure of a schedule, in as few steps as possible; None if there is none."""
    if (found := failure(seed)) is None:
        return None
    why, steps = shortest(seed, found[1], found[0])
    return f"schedule {seed}: {why}\n" + "\n".join(f"  {name} {number}" for name, number in steps)


def main() -> int:
    parser = argparse.ArgumentParser(description="Random fault schedules through the whole feed.")
    parser.add_argument("--schedules", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1, help="the first of them")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # a text stream, unless somebody replaced it
    sys.stdout.write(f"schedules {arguments.seed} to {arguments.seed + arguments.schedules - 1}\n")
    kinds: Counter[str] = Counter()
    for seed in range(arguments.seed, arguments.seed + arguments.schedules):
        if (told := report(seed)) is not None:
            kinds[told.split()[3]] += 1
            sys.stdout.write(told + "\n")
    sys.stdout.write(f"{arguments.schedules} schedules, {sum(kinds.values())} failed {dict(kinds) if kinds else ''}\n")
    return bool(kinds)


if __name__ == "__main__":
    sys.exit(main())
