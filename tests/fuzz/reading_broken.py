"""Reads broken lines as a feed does, and notices what must not be: an exception, a line that takes long.

Only the processor time of this thread counts. What took long is read once more from the beginning of its file, three
times, without the collector of circles: what is the machine's noise does not take long again.
"""

import gc
import random
import time
import traceback
from collections import Counter
from collections.abc import Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.breaking import Breaker
from tests.fuzz.breaking_text import broken_path, broken_recording, broken_text
from tests.fuzz.corpus import Text, kind_of

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import Dialect, Unit
from delegtop.feed.bounded_facts import bounded
from delegtop.model.events import Deviation, Started
from delegtop.model.forest import Forest
from delegtop.report import tree_json
from delegtop.sources.records import Line, Record, Unreadable, records

SLOW = 0.005
"""Seconds of processor time that one line may take, and again for each `LONG` bytes of it, and for each `ROWS`
delegations that it tells of, as a registry does, or lines of a text that is read as a whole."""
LONG = 64 * 1024
ROWS = 100
MOST = 300
"""Lines of one file that are read in a row, at most."""
OPENING = 4
"""First lines of a log that stay whole at every other reading of its format: by them many know whose it is."""
_SHOWN = 12
"""Every so many files, what they told is printed as well."""
_ELSEWHERE = 0.1
"""So many files stand under another name."""
_NOW = Millis(1_790_000_000_000)


class Finding(NamedTuple):
    """Something that must not be."""

    what: str
    format: str
    path: str
    data: bytes
    detail: str
    lines: Sequence[Line] = ()
    """All that was read, up to it."""


class Tally:
    """What was read of one format."""

    def __init__(self) -> None:
        self.readings = self.lines = self.broken = self.reached = self.unreadable = self.over = self.long = 0
        self.slowest = self.short = 0.0
        """Seconds of the slowest line, and of the slowest that is short and tells of few."""
        self.kinds: Counter[str] = Counter()
        """Of the lines that were broken, what they had been."""


class Reading:
    """Reads file after file and keeps count."""

    def __init__(self, dice: random.Random, slow: float = SLOW, most: int = MOST) -> None:
        self._dice = dice
        self._slow = slow
        self._most = most
        self._breaker = Breaker(dice)
        self.tallies: dict[str, Tally] = {}
        self.findings: list[Finding] = []
        self.lines = self.folders = 0
        self._episodes = 0

    def family(self, texts: Sequence[Text]) -> None:
        """Some files that one reader reads, some of their lines broken."""
        dice = self._dice
        chosen = dice.sample(texts, min(len(texts), dice.choice((1, 1, 2, 3))))
        harm = dice.choice((0.1, 0.4, 0.9))
        lines: list[Line] = []
        broken = set[int]()
        tally = self.tally(chosen[0].dialect)
        kinds = tally.kinds
        opening = 0 if tally.readings % 2 else OPENING
        tally.readings += 1
        for text in chosen:
            whole = opening if len(text.lines) > opening else 0
            start = dice.randrange(len(text.lines)) if not whole and dice.random() < 0.3 else 0
            picked = text.lines[start : start + self._most]
            path = broken_path(text.path, dice) if not whole and dice.random() < _ELSEWHERE else text.path
            for number, data in enumerate(picked, start):
                told = data
                if number >= whole and dice.random() < harm:
                    told = self._broken(text, data, picked)
                    broken.add(len(lines))
                    kinds[kind_of(data)] += 1
                origin = Origin(path, number + 1, number * 1_000)
                lines.append(Line(origin, told if text.unit is not Unit.LINES else told.replace(b"\n", b" "), _NOW))
        self.read(chosen[0].dialect, lines, broken)

    def _broken(self, text: Text, data: bytes, others: Sequence[bytes]) -> bytes:
        if text.dialect.name == "recording":
            return broken_recording(data, self._breaker, self._dice)
        if text.unit is Unit.TEXT:
            return broken_text(data, self._breaker, self._dice)
        return self._breaker.line(data, others)

    def tally(self, dialect: type[Dialect]) -> Tally:
        return self.tallies.setdefault(dialect.name, Tally())

    def read(self, dialect: type[Dialect], lines: Sequence[Line], broken: Set[int] = frozenset()) -> None:
        """All of it, by one new reader into one new tree; those numbers were broken."""
        tally = self.tally(dialect)
        reader, forest = dialect(), Forest()
        self._episodes += 1
        held = 0
        for number, line in enumerate(lines):
            held += len(line.data)
            began = time.thread_time()
            try:
                told = [*map(bounded, reader.read(line))]
                forest.apply([each for each in told if not isinstance(each, Unreadable)])
            except Exception as error:  # noqa: BLE001 -- whatever it is, it is what is looked for
                self._note("exception", dialect, line, error, lines[: number + 1])
                return
            spent = time.thread_time() - began
            lost = sum(isinstance(each, Unreadable) for each in told)
            tally.lines += 1
            tally.unreadable += lost
            if number in broken:
                tally.broken += 1
                tally.reached += len(told) > lost
            rows = sum(isinstance(each, Started) for each in told)
            rows += line.data.count(b"\n") if dialect.unit is Unit.TEXT else 0
            allowed = self._slow * (1 + held // LONG + rows // ROWS)
            if any(not isinstance(each, Unreadable | Deviation) for each in told):
                held = 0  # what tells nothing may be a part of what is told at its end
            if spent > self._slow:
                spent = self._again(dialect, lines[: number + 1])
                tally.over += spent > self._slow
                if spent > allowed:
                    tally.long += 1
                    self.findings.append(
                        Finding(
                            "slow",
                            dialect.name,
                            line.origin.source,
                            line.data,
                            f"{spent * 1e3:.1f} ms of {len(line.data):,} bytes",
                            lines[: number + 1],
                        )
                    )
            tally.slowest = max(tally.slowest, spent)
            tally.short = max(tally.short, spent if allowed == self._slow else 0)
        tally.lines += not lines  # an empty database is one, too
        self.lines += len(lines) or 1
        self._look(dialect, reader, forest, lines)

    def _again(self, dialect: type[Dialect], lines: Sequence[Line]) -> float:
        """The processor time of the last line, the least of three readings."""
        least = float("inf")
        gc.disable()
        try:
            for _ in range(3):
                reader, forest = dialect(), Forest()
                for line in lines[:-1]:
                    forest.apply([bounded(each) for each in reader.read(line) if not isinstance(each, Unreadable)])
                began = time.thread_time()
                forest.apply([bounded(each) for each in reader.read(lines[-1]) if not isinstance(each, Unreadable)])
                least = min(least, time.thread_time() - began)
        finally:
            gc.enable()
        return least

    def _look(self, dialect: type[Dialect], reader: Dialect, forest: Forest, lines: Sequence[Line]) -> None:
        """What people do with what was read: see it, see a line again, read what was said."""
        line = self._dice.choice(lines) if lines else None
        try:
            if line is not None:
                list(reader.retell(line))
                found = [each for each in records(line) if isinstance(each, Record)]
                list(reader.said(found))
                reader.needle("some-id", line.origin.source)
            if self._episodes % _SHOWN == 0:
                forest.advance(_NOW)
                "\n".join(tree_json.tree(forest, ()))
        except Exception as error:  # noqa: BLE001 -- as above
            self._note("exception when shown", dialect, line, error, lines)

    def _note(
        self, what: str, dialect: type[Dialect], line: Line | None, error: Exception, lines: Sequence[Line]
    ) -> None:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        data = line.data if line is not None else b""
        path = line.origin.source if line is not None else ""
        told = f"{type(error).__name__} {error} at {where}"
        self.findings.append(Finding(what, dialect.name, path, data, told, lines))


def resident() -> int:
    """Bytes of memory this process holds now, without what it could give back."""
    import ctypes
    import os

    gc.collect()
    with suppress(OSError, AttributeError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
