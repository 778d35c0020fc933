"""Random schedules of what happens to logs, read as `delegtop record` reads them: through the whole feed.

As in test_tail_faults the model is the disk. Every step has a random number generator of its own, so that a schedule
that fails can be made shorter: steps are left out one by one as long as it still fails.

    python -m tests.property.feed_schedules --schedules 100000 --seed 1 --progress FILE
"""

import argparse
import json
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.property.feed_world import REGISTRY, FeedWorld

STEPS = 22

Step = tuple[str, int]


@contextmanager
def folder() -> Iterator[Path]:
    """A folder for schedules, one after the other: making one for each would take as long as the schedule."""
    home = Path(tempfile.mkdtemp(prefix="schedules"))
    try:
        warm_up(home)
        yield home
    finally:
        shutil.rmtree(home)


def warm_up(home: Path) -> None:
    """Have everything imported: a schedule may look as somebody who may not read Python's own files."""
    world = FeedWorld(home, 0)
    try:
        for pack in (world.gzip_rotated, world.zstd_rotated):
            world.write(world.inside / f"{pack.__name__}.jsonl.1", world.lines())
            pack()
        (world.inside / REGISTRY).write_bytes(world.registry(1))
        world.append_noise()
        world.many_files()
        world.poll()
    finally:
        world.close()


def drawn(world: FeedWorld, seed: int) -> list[Step]:
    """The steps of a schedule, each with a seed of its own."""
    actions, chance = world.actions(), random.Random(seed)
    names = chance.choices([each.__name__ for _, each in actions], [weight for weight, _ in actions], k=STEPS)
    return [(name, chance.getrandbits(32)) for name in names]


def follow(world: FeedWorld, steps: Sequence[Step]) -> None:
    for name, seed in steps:
        world.random = random.Random(seed)
        getattr(world, name)()
        world.check()
    world.poll()
    world.check()


def failure(home: Path, seed: int, steps: Sequence[Step] | None = None) -> tuple[str, list[Step]] | None:
    """What goes wrong with these steps, else with those of the seed; None if nothing does."""
    world = FeedWorld(home, seed)
    done = list(drawn(world, seed) if steps is None else steps)
    try:
        follow(world, done)
    except Exception as error:  # noqa: BLE001 - whatever a schedule provokes is what is looked for
        return f"{type(error).__name__}: {error}", done
    finally:
        world.close()
    return None


def shortest(home: Path, seed: int, steps: list[Step], why: str) -> tuple[str, list[Step]]:
    """The same kind of failure with as few steps as leaving out single ones comes to."""
    kind, at = why.split()[1], 0
    while at < len(steps):
        found = failure(home, seed, steps[:at] + steps[at + 1 :])
        if found is not None and found[0].split()[1] == kind:
            why, steps = found
        else:
            at += 1
    return why, steps


def report(home: Path, seed: int) -> str | None:
    """The failure of a schedule, in as few steps as possible; None if there is none."""
    if (found := failure(home, seed)) is None:
        return None
    why, steps = shortest(home, seed, found[1], found[0])
    return f"schedule {seed}: {why}\n" + "\n".join(f"  {name} {number}" for name, number in steps)


class Effects:
    """How often each kind of step was done, how often it changed something, and how often a file with records in it
    that nobody had read yet."""

    def __init__(self) -> None:
        self.done, self.changed, self.unread = Counter[str](), Counter[str](), Counter[str]()

    def follow(self, home: Path, seed: int) -> None:
        world = FeedWorld(home, seed)
        try:
            for name, number in drawn(world, seed):
                before, told, feed = self._files(world), world.delivered.total(), world.feed
                world.random = random.Random(number)
                getattr(world, name)()
                after = self._files(world)
                touched = {path for path in before if after.get(path) != before[path]}
                self.done[name] += 1
                self.changed[name] += bool(
                    touched
                    or before.keys() != after.keys()
                    or told != world.delivered.total()
                    or feed is not world.feed
                )
                self.unread[name] += any(before[path][3] for path in touched)
        except AssertionError:  # it was reported
            pass
        finally:
            world.close()

    def _files(self, world: FeedWorld) -> dict[str, tuple[int, int, int, bool]]:
        found = {}
        for path in world.inside.iterdir():
            if path.exists():
                at = path.stat()
                unread = {int(match[2]) for match in world.found_in(path.read_bytes())} - world.delivered.keys()
                found[path.name] = (at.st_ino, at.st_size, at.st_mtime_ns, bool(unread))
        return found

    def table(self) -> str:
        rows = [
            f"{name:36} {self.done[name]:8} {self.changed[name]:8} {self.unread[name]:8}" for name in sorted(self.done)
        ]
        return "\n".join([f"{'step':36} {'done':>8} {'effect':>8} {'unread':>8}", *rows, ""])


class Progress:
    """How far a long run has come, kept in a file: started again with the same one, it goes on from there."""

    def __init__(self, seed: int, schedules: int, kept: Path | None) -> None:
        self.seed, self.schedules, self._kept = seed, schedules, kept
        self.next, self.failed = seed, Counter[str]()
        if kept is not None and kept.exists():
            known = json.loads(kept.read_text())
            if (known["seed"], known["schedules"]) != (seed, schedules):
                sys.exit(f"{kept} is of {known['schedules']} schedules from {known['seed']} on")
            self.next, self.failed = known["next"], Counter(known["failed"])

    def keep(self, reached: int) -> None:
        self.next = reached
        if self._kept is not None:
            told = {"seed": self.seed, "schedules": self.schedules, "next": reached, "failed": self.failed}
            new = self._kept.with_suffix(".new")
            new.write_text(json.dumps(told))
            new.replace(self._kept)


def run(progress: Progress, effects: Effects | None) -> None:
    end = progress.seed + progress.schedules
    with folder() as home:
        for seed in range(progress.next, end):
            told = report(home, seed)
            if told is not None:
                progress.failed[told.split()[3]] += 1
                sys.stdout.write(told + "\n")
            if effects is not None:
                effects.follow(home, seed)
            if told is not None or not (seed + 1) % 100 or seed + 1 == end:
                progress.keep(seed + 1)


def main() -> int:
    parser = argparse.ArgumentParser(description="Random fault schedules through the whole feed.")
    parser.add_argument("--schedules", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1, help="the first of them")
    parser.add_argument("--progress", type=Path, help="a file that says how far it has come, to go on from there")
    parser.add_argument("--effects", action="store_true", help="count how often each step did something, and to what")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # a text stream, unless somebody replaced it
    progress = Progress(arguments.seed, arguments.schedules, arguments.progress)
    sys.stdout.write(f"schedules {progress.next} to {progress.seed + progress.schedules - 1}\n")
    effects = Effects() if arguments.effects else None
    run(progress, effects)
    failed = progress.failed
    sys.stdout.write(
        f"{progress.schedules} schedules, {sum(failed.values())} failed {dict(failed) if failed else ''}\n"
    )
    if effects is not None:
        sys.stdout.write(effects.table())
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
