"""The sources as they grow, for commands that go on: read to the end once, then whatever comes."""

import gc
from argparse import Namespace
from typing import TYPE_CHECKING

from delegtop.cli import options, reading
from delegtop.cli.progress import Progress
from delegtop.clock import Clock, WallClock, monotonic, sleep

if TYPE_CHECKING:
    from delegtop.config import Settings
    from delegtop.feed import Feed
    from delegtop.model.forest import Forest
    from delegtop.model.ledger import Handle

PACE = 0.2
"""Seconds between two looks, at least: a busy log is read in gulps."""


class Following:
    """A feed and the forest it grows."""

    def __init__(self, feed: "Feed", forest: "Forest", clock: Clock) -> None:
        self.feed, self.forest, self._clock = feed, forest, clock
        self._looked_at = float("-inf")

    @property
    def is_over(self) -> bool:
        """Nothing more can come: standard input was all there is, and it has ended."""
        return self.feed.is_over

    def catch_up(self) -> None:
        """Take in everything that is there now."""
        gc.disable()  # what is read stays, so collecting garbage meanwhile finds none
        with Progress("reading") as progress:
            self._take_in(progress)
            while self.feed.is_behind:
                self._take_in(progress)
        gc.freeze()
        gc.enable()
        self.forest.advance(self._clock.now())

    def _take_in(self, progress: Progress | None = None) -> "set[Handle]":
        changed: set[Handle] = set()
        # Of a stream that has ended the last line is whole, even without its newline.
        for batch in self.feed.read_all() if self.is_over else self.feed.poll():
            change = self.forest.apply(batch.events)
            changed |= change.touched
            changed.update(change.added, change.moved)
            if progress is not None:
                progress.update(self.feed.progress)
        return changed

    def look(self) -> "set[Handle]":
        """Take in what is new and let time pass; returns what changed by either."""
        changed = self._take_in()
        self._looked_at = monotonic()
        return changed | self.forest.advance(self._clock.now())

    def wait(self, seconds: float) -> None:
        """Until something probably changed, at most that long."""
        self.feed.wait(max(seconds, 0.0))
        early = self._looked_at + PACE - monotonic()
        if early > 0:
            sleep(min(early, PACE))

    def close(self) -> None:
        self.feed.close()


def follow(arguments: Namespace, settings: "Settings") -> Following:
    """Open the sources of the arguments. They are read with `catch_up` and closed with `close`."""
    options.check_format(arguments.format)
    learned = not arguments.sources
    found = reading.settle(arguments, settings, waits=getattr(arguments, "appear", True))

    from delegtop.cli.limits import policy_for
    from delegtop.feed import Feed
    from delegtop.model.forest import Forest

    clock = WallClock()
    forest = Forest(policy_for(settings, arguments.sources, learned=learned))
    feed = Feed(
        arguments.sources,
        clock=clock,
        format=arguments.format,
        zone=settings.zone(),
        since=found.since,
        exclude=settings.exclude,
        awaited=found.awaited,
        here=found.here,
    )
    return Following(feed, forest, clock)
