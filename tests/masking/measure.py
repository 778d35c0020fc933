"""How many planted secrets stay hidden in everything that delegtop writes.

`python -m tests.masking.measure` plants 1,000 in the logs of every format; `--count`, `--seed`, `--rows` as told.
"""

import argparse
import asyncio
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from tests.masking.every_output import (
    COMMANDS,
    MORE_COMMANDS,
    RECORDING,
    about_one,
    answered,
    printed,
    served,
    told,
    written,
)
from tests.masking.every_screen import shown
from tests.masking.filled_logs import AT, filled
from tests.masking.planted import Planted, leaked, plant


def planted_logs(folder: Path, count: int, seed: int, only: Collection[str] = ()) -> tuple[Path, list[Planted]]:
    """All samples, or some, with so many secrets in their texts, and these."""
    slots = 0

    def counting(text: str) -> str:
        nonlocal slots
        slots += 1
        return text

    with tempfile.TemporaryDirectory() as other:
        filled(Path(other), counting, only_prose=True, only=only)
    chance = random.Random(seed)
    planted = list(plant(count, seed))
    where: dict[int, list[Planted]] = {}
    for number, each in enumerate(planted):
        slot = chance.randrange(slots) if count > slots else number * slots // count
        where.setdefault(slot, []).append(each)
    place = -1

    def planting(text: str) -> str:
        nonlocal place
        place += 1
        parts = [each.text for each in where.get(place, ())]
        return "\n".join((*parts, text) if chance.random() < 0.7 else (text, *parts)) if parts else text

    return filled(folder, planting, only_prose=True, only=only), planted


def outputs(logs: Path, folder: Path, rows: int) -> Iterator[tuple[str, str]]:
    yield from printed(logs, AT, (*COMMANDS, *MORE_COMMANDS))
    yield from about_one(logs, AT)
    yield from ((name, text) for name, text in written(logs, AT, folder) if name != RECORDING)
    yield from told(logs, AT)
    yield from answered(logs, AT)
    yield from served(logs, AT)
    yield "screens", asyncio.run(shown(logs, AT, rows))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=int, default=40, help="rows of the dashboard that are opened")
    parser.add_argument("--show", action="store_true", help="print what got out")
    asked = parser.parse_args()
    worst = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for variable in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
            os.environ[variable] = str(folder)
        logs, planted = planted_logs(folder, asked.count, asked.seed)
        for output, text in outputs(logs, folder, asked.rows):
            out = leaked(planted, text)
            worst = max(worst, len(out))
            sys.stdout.write(f"{output:42} {len(out):4} of {len(planted)} seen ({len(text):,} characters)\n")
            for kind, times in Counter((each.kind, each.way) for each in out).most_common() if asked.show else ():
                sys.stdout.write(f"    {times} {' '.join(kind)}\n")
    hidden = 100 * (1 - worst / asked.count)
    sys.stdout.write(f"hidden in the worst output: {hidden:.1f} %\n")
    return int(hidden < 99)


if __name__ == "__main__":
    sys.exit(main())
