"""The sources as they grow, for commands that go on: read to the end once, then whatever comes."""

import gc
from argparse import Namespace
from typing import TYPE_CHECKING, NamedTuple

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


class Changes(NamedTuple):
    """What one look brought."""

    touched: "set[Handle]"
    """All that changed."""
    lives: "set[Handle]"
    """Those of which more changed than what they do: they began, ended, moved, or are in another state."""
    assessed: "set[Handle]"
    """Those that are assessed otherwise."""

    def __bool__(self) -> bool:
        return bool(self.touched or self.assessed)


class Following:
    """A feed, the forest it grows, and what is the matter in it."""

    def __init__(self, feed: "Feed", forest: "Forest", clock: Clock) -> None:
        from delegtop.diagnosis.assessments import Assessments

        self.feed, self.forest, self._clock = feed, forest, clock
        self.assessments = Assessments(forest)
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
        self.assessments.begin_again()
        self.assessments.update()

    def _take_in(self, progress: Progress | None = None) -> "Changes":
        touched: set[Handle] = set()
        lives: set[Handle] = set()
        # Of a stream that has ended the last line is whole, even without its newline.
        for batch in self.feed.read_all() if self.is_over else self.feed.poll():
            change = self.forest.apply(batch.events)
            touched |= change.touched
            lives.update(change.lives, change.added)
            if progress is not None:
                progress.update(self.feed.progress)
        return Changes(touched, lives, set())

    def look(self) -> "Changes":
        """Take in what is new and let time pass; returns what changed by either."""
        touched, lives, _ = self._take_in()
        self._looked_at = monotonic()
        lives |= self.forest.advance(self._clock.now())
        self.assessments.touch(touched, lives)
        return Changes(touched | lives, lives, self.assessments.update())

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
