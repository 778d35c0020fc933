"""Random schedules of what happens to logs, read as `delegtop record` reads them: through the whole feed.

As in test_tail_faults the model is the disk. Every step has a random number generator of its own, so that a schedule
that fails can be made shorter: steps are left out one by one as long as it still fails.

    python -m tests.property.feed_schedules --schedules 10000 --seed 1
"""

import argparse
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


def main() -> int:
    parser = argparse.ArgumentParser(description="Random fault schedules through the whole feed.")
    parser.add_argument("--schedules", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1, help="the first of them")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # a text stream, unless somebody replaced it
    sys.stdout.write(f"schedules {arguments.seed} to {arguments.seed + arguments.schedules - 1}\n")
    kinds: Counter[str] = Counter()
    with folder() as home:
        for seed in range(arguments.seed, arguments.seed + arguments.schedules):
            if (told := report(home, seed)) is not None:
                kinds[told.split()[3]] += 1
                sys.stdout.write(told + "\n")
    sys.stdout.write(f"{arguments.schedules} schedules, {sum(kinds.values())} failed {dict(kinds) if kinds else ''}\n")
    return bool(kinds)


if __name__ == "__main__":
    sys.exit(main())
