"""Read all logs in every way there is, and compare what is printed, byte by byte.

python -m tests.logs.sameness [--real FOLDER] [--only WORDS,…] [--seed 1] [--changes 15] [--jobs 2]

Of each set of logs, when its last word was just said, hours later and days later: without an index, line by line, with
an index that is made, with the one that is there, with one that other commands made, and with what other processes
read. Then again after each of some changes to its files, and beside another host. What a command prints, says and
learns must be the same.
"""

import argparse
import collections
import gc
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.logs.all_logs import LogSet, all_logs
from tests.logs.file_changes import CHANGES, ChangingFiles
from tests.logs.ways import LENT, LENT_THERE, MADE, ONE_BY_ONE, PLAIN, SHARED, THERE, Said, Stage, Way

from delegtop.base.clock import DAY, HOUR, MINUTE, Millis

WAYS = (PLAIN, ONE_BY_ONE, MADE, THERE, SHARED)
MOMENTS = {"at its last word": 1_000, "hours after": 2 * HOUR, "days after": 3 * DAY}
_LINES = 12
"""Of a difference that are told."""


class Difference(NamedTuple):
    """Two ways to read that say different things."""

    logs: str
    when: str
    way: str
    command: str
    told: str

    def __str__(self) -> str:
        return f"{self.logs}, {self.when}, {self.way}: {self.command}\n{self.told}"


Compared = tuple[str, dict[str, int], list[Difference]]
"""The name of the logs, how many commands were compared by each way, and which differ."""


class Comparison:
    """What was compared of some logs."""

    def __init__(self, logs: LogSet, stage: Stage, seed: int) -> None:
        self.logs, self._stage = logs, stage
        self.source = logs.place(stage.home)
        self.counts: collections.Counter[str] = collections.Counter()
        self.differences: list[Difference] = []
        logs.put(stage.home)
        if not logs.is_home:
            stage.look_into(self.source)
        self.files = ChangingFiles(stage.home, stage.folder / "backup", random.Random(f"{seed} {logs.name}"))
        self.last = stage.last_word(self.source)
        self._age()

    def _age(self) -> None:
        """Half of the files were last written to two hours before the last word."""
        for number, path in enumerate(sorted(path for path in self._stage.home.rglob("*") if path.is_file())):
            at = (self.last - number % 2 * 2 * HOUR) / 1000
            os.utime(path, (at, at))

    def at(self, after: int) -> None:
        """It is so much later than the last word."""
        self._stage.now = Millis(self.last + after)

    def compare(self, when: str, commands: Sequence[Sequence[str]], ways: Sequence[Way]) -> None:
        for command in commands:
            plain = self._stage.said(command, PLAIN)
            for way in ways:
                self.counts[way.name] += 1
                found = self._stage.said(command, way)
                if found != plain:
                    told = "\n".join(_told(plain, found))
                    self.differences.append(Difference(self.logs.name, when, way.name, " ".join(command), told))
        gc.collect(0)  # what the commands left: none of it was looked at before

    def at_rest(self) -> None:
        """Nothing happens but that time passes."""
        for when, after in MOMENTS.items():
            self.at(after)
            self.compare(when, self._stage.commands(self.source).all(), WAYS)

    def beside_another_host(self) -> None:
        """One that tells of sessions that may be here too. Time goes back for that, so nothing is known yet."""
        self.at(1_000)
        self._stage.forget(SHARED)
        self._stage.meet_another_host()
        self.compare("with another host", self._stage.commands(self.source).of_hosts(), (MADE, SHARED, SHARED))

    def lent(self) -> None:
        self.at(3 * DAY)
        commands = self._stage.commands(self.source)
        self.compare("days after", [*commands.few(), ["stats", "--json", str(self.source)]], (LENT, LENT_THERE))

    def changed(self, count: int, seed: int, only: Sequence[str] = ()) -> None:
        """Something happens to the files, again and again; the index is one that was made before. Only these commands
        are asked, if any are named."""
        dice = random.Random(f"{seed} {self.logs.name} changes")
        self.files.take_away(0.3)
        self._stage.forget(SHARED)  # time does not go back
        self.at(3 * HOUR)
        done = ["some files are missing"]
        self.compare(done[0], self._commands(done, only), (MADE, SHARED, SHARED))
        kinds: list[str] = []
        after = 3 * HOUR
        for number in range(count):
            kinds = kinds or dice.sample(CHANGES, len(CHANGES))
            how = kinds.pop()
            after += dice.choice((MINUTE, 30 * MINUTE, 3 * HOUR))
            self.at(after)
            path = self.files.change(how, self._stage.now / 1000)
            if not path:
                continue
            done.append(f"{how} {path}")
            if number == count // 2:
                self.files.bring(0.5)
                done.append("some files come")
            self.compare(f"after {number}: {done[-1]}", self._commands(done, only), (SHARED, SHARED))
        self.at(after + 3 * DAY)
        self.compare("days after all that", self._commands(done, only), (SHARED, LENT))

    def _commands(self, done: Sequence[str], only: Sequence[str]) -> list[list[str]]:
        """What is found of a log stays when it is no longer there (docs/find.md), and of two copies either may be
        named: so that it is not asked for then."""
        found = self._stage.commands(self.source).few()
        is_moved = any(each.startswith(("delete", "rename", "copy")) for each in done)
        return [each for each in found if each[0] in (only or (each[0],)) and not (is_moved and each[0] == "find")]


def _told(plain: Said, found: Said) -> Iterator[str]:
    for name, one, other in zip(Said._fields, plain, found, strict=True):
        if one != other:
            lines = unified_diff(str(one).splitlines(), str(other).splitlines(), "plain", name, lineterm="", n=0)
            yield from (f"    {line[:400]}" for line in islice(lines, 2, 2 + _LINES))


def compared(logs: LogSet, *, seed: int, changes: int) -> Compared:
    """All of one set of logs, in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="delegtop-same-"))
    with pytest.MonkeyPatch.context() as patches:
        try:
            found = Comparison(logs, Stage(folder, patches), seed)
            found.at_rest()
            found.lent()
            if changes:
                found.changed(changes, seed)
            found.beside_another_host()
            return logs.name, dict(found.counts), found.differences
        except Exception:  # noqa: BLE001 -- it is told, and the others are compared
            return logs.name, {}, [Difference(logs.name, "", "", "", traceback.format_exc())]
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _number(number: int, *, real: Path | None, seed: int, changes: int) -> Compared:
    return compared(all_logs(real)[number], seed=seed, changes=changes)


def main() -> int:
    options = _options()
    real = Path(options.real) if options.real else None
    wanted = [
        number
        for number, logs in enumerate(all_logs(real))
        if not options.only or any(words in logs.name for words in options.only)
    ]
    counts: collections.Counter[str] = collections.Counter()
    differences: list[Difference] = []
    work = partial(_number, real=real, seed=options.seed, changes=options.changes)
    with multiprocessing.get_context("fork").Pool(options.jobs, maxtasksperchild=1) as pool:
        for done, (name, found, differ) in enumerate(pool.imap_unordered(work, wanted), 1):
            counts.update(found)
            differences += differ
            sys.stderr.write(f"{done} of {len(wanted)}: {name}: {sum(found.values())} compared, {len(differ)} differ\n")
            for each in differ:
                sys.stdout.write(f"{each}\n")
                sys.stdout.flush()
    for way, count in counts.items():
        differ_so = sum(each.way == way for each in differences)
        sys.stdout.write(f"{way:<36}{count:>8} commands{differ_so:>6} differ\n")
    sys.stdout.write(f"{sum(counts.values())} commands on {len(wanted)} sets of logs, {len(differences)} differ\n")
    return 1 if differences else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--real", default=os.environ.get("DELEGTOP_REAL_LOGS"), metavar="FOLDER")
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="WORDS,…")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--changes", type=int, default=15, metavar="N")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
