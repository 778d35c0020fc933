"""Whatever happens to logs of which there are very many, nobody notices that those at rest are followed from afar.

One feed lets every log rest that is quiet and forgets what is gone, the other follows all; both tell the same.
"""

from typing import ClassVar

from hypothesis import settings
from hypothesis.stateful import invariant
from tests.property.two_feeds import TwoFeeds

from delegtop.feed import resting_logs
from delegtop.feed.live_feed import Feed
from delegtop.sources.wakeups import Waker


class Logs(TwoFeeds):
    NAMES: ClassVar = ("one.jsonl", "two.jsonl", "two.jsonl.1", "sub/one.jsonl", "sub/three.jsonl")

    def __init__(self) -> None:
        super().__init__()
        self.patches.setattr(resting_logs, "FOLLOWED", 0)
        self.patches.setattr(Waker, "watch", lambda *_: None)  # every look is called for here
        self.tidy._tail._linger = self.loose._tail._linger = 1
        self.tidy._rounds.is_followed = True

    def counts(self, feed: Feed) -> tuple[int, ...]:
        told = () if self.lost else feed.statuses()
        return (
            sum(each.records for each in told),
            sum(each.unreadable for each in told),
            sum(each.deviations for each in told),
            sum(each.size for each in told),
        )

    @invariant()
    def every_file_is_in_one_place(self) -> None:
        files = self.tidy._files
        assert not [path for path in files.readings if path in files.shelf]
        assert len(files.shelf.logs) == sum(len(bucket.paths) for bucket in files.shelf.logs._buckets)


TestLogs = Logs.TestCase
TestLogs.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
