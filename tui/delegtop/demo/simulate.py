"""The demo: a simulated orchestrator that writes a real session log and a real registry, in compressed time.

The first minute is a fixed programme that shows every situation; after it, stories are drawn by chance for ever. The
same seed and the same start give the same bytes.
"""

import heapq
from collections.abc import Iterator
from errno import EEXIST
from itertools import count
from pathlib import Path
from threading import Event, Thread

from delegtop.base.clock import SECOND, Clock, Millis
from delegtop.demo import scenarios
from delegtop.demo.demo_data import MIGRATION, TASKS, DemoTask
from delegtop.demo.hung_tool import HungTool
from delegtop.demo.orchestrator import Stage
from delegtop.demo.scenarios import REPERTOIRE, Story, Tale

_FIRST = 0.2
"""When the story with a real process begins: after this program has, and soon."""
_LATER = -30.0
"""When the made-up hang begins where a real one can be seen, which is to be looked at first."""
_LOOK = 0.25
"""Real seconds between two looks whether that process is still there."""
RECENT = 20 * SECOND
"""How long a failure stays what happened just now: an hour of work takes a minute here."""


def _hang_that_is_old(stage: Stage, task: DemoTask) -> Story:
    """The hang of the first minute: long silent when the demo begins, overdue half a minute into it."""
    return scenarios.hang(stage, task, patience=285)


# When each story begins, in seconds from the start of the demo, its task, and the story. What happens before 0 is the
# past: it is written at once, so that the first screen is full.
OPENING: tuple[tuple[float, int, Tale], ...] = (
    (-93_600, 173, scenarios.leave_behind),
    (-560, 195, scenarios.research),
    (-470, 188, scenarios.implement),
    (-400, 197, scenarios.plan),
    (-350, 233, scenarios.hang),
    (-340, 186, scenarios.fail),
    (-285, 191, _hang_that_is_old),
    (-120, 206, scenarios.revise),
    (-60, 210, scenarios.crash),
    (-18, 208, scenarios.run_out_of_time),
    (-12, 203, scenarios.twin_parents),
    (-9, 212, scenarios.slip_out),
    (-6, 224, scenarios.review_loosely),
    (-4, 215, scenarios.keep_two_books),
    (-3, 218, scenarios.implement),
    (1, 204, scenarios.guess_my_parent),
    (4, 221, scenarios.change_of_mind),
    (8, 226, scenarios.go_in_circles),
    (12, 229, scenarios.dig_too_deep),
    (20, 231, scenarios.research),
)


class Simulation:
    """One run of the demo in `directory`. `speed` compresses what is to come, deadlines included, but not the past.
    With a `tool` one of its agents hangs in a real process; without one everything is made up."""

    def __init__(self, seed: int, speed: float, directory: Path, clock: Clock, *, tool: HungTool | None = None) -> None:
        if not 0 < speed < float("inf"):
            raise ValueError(f"speed must be a positive number, not {speed}")
        self._clock = clock
        self._speed = speed
        self._began = clock.now()
        self._stage = Stage(seed, directory, self._moment)
        self._tool, self._real = tool, self._stage.for_real(seed)
        for path in (self.log, self.registry):
            if path.exists():
                raise FileExistsError(EEXIST, "it exists, and a made-up run is not mixed into it", str(path))
        self._steps = self._play()
        self._next = next(self._steps)
        self._stopped = Event()
        self._thread: Thread | None = None
        self.failure: OSError | None = None
        """Why the simulation stopped by itself, if it did."""

    @property
    def log(self) -> Path:
        return self._stage.journal.path

    @property
    def registry(self) -> Path:
        return self._stage.registry.path

    def write_all(self, until_seconds: float) -> None:
        """Write everything up to that many seconds after the start, without waiting."""
        while self._next <= until_seconds:
            self._next = next(self._steps)

    def start(self) -> None:
        """Write the past now, then go on in a thread of its own as time passes."""
        self.write_all(0)
        self._thread = Thread(target=self._run, name="delegtop demo", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(timeout=1)
        if self._tool is not None:
            self._tool.close()

    def _run(self) -> None:
        try:
            while not self._stopped.wait(max(0, self._moment(self._next) - self._clock.now()) / SECOND):
                self._next = next(self._steps)
        except OSError as error:  # the disk is full or the folder is gone: the dashboard goes on without news
            self.failure = error

    def _moment(self, seconds: float) -> Millis:
        """The real time of a moment of the story."""
        return Millis(self._began + round((seconds if seconds < 0 else seconds / self._speed) * SECOND))

    def _play(self) -> Iterator[float]:
        """Yield the moment of each step before taking it: all stories, woven into one by time."""
        turn = count()  # of two steps at the same moment, the one that was planned first goes first
        waiting: list[tuple[float, int, Story]] = []
        is_first = self._tool is not None and self._tool.can_be_seen
        for usual, number, tale in OPENING:
            begin = _LATER if is_first and tale is _hang_that_is_old else usual
            heapq.heappush(waiting, (begin, next(turn), tale(self._stage, TASKS[number])))
        heapq.heappush(waiting, (30, next(turn), self._begin_stories(waiting, turn)))
        if self._tool is not None:
            look = _LOOK * self._speed
            real = scenarios.wait_for_a_lock(self._real, MIGRATION, self._tool, self._clock, look)
            heapq.heappush(waiting, (_FIRST, next(turn), real))
        while waiting:
            now, _, story = heapq.heappop(waiting)
            yield now
            self._stage.now = self._real.now = now
            pause = next(story, None)
            if pause is not None:
                heapq.heappush(waiting, (now + pause, next(turn), story))

    def _begin_stories(self, waiting: list[tuple[float, int, Story]], turn: Iterator[int]) -> Story:
        tales, weights = list(REPERTOIRE), list(REPERTOIRE.values())
        while True:
            [tale] = self._stage.random.choices(tales, weights)
            heapq.heappush(waiting, (self._stage.now, next(turn), tale(self._stage, self._stage.next_task())))
            yield self._stage.wait(4, 9)
