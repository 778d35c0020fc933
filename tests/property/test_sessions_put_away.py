"""Whatever happens to the files of sessions, putting quiet ones away is noticed by nobody.

One feed puts away whatever is quiet, the other never does; after any history of the files both tell the same.
"""

import os
from typing import ClassVar

from hypothesis import settings
from hypothesis.stateful import invariant
from tests.property.two_feeds import TwoFeeds

from delegtop.feed.live_feed import Feed
from delegtop.sources import snapshot

ONE, TWO = "0b9b1c2e-1111-4222-8333-444455556666", "0b9b1c2e-1111-4222-8333-777788889999"


class Sessions(TwoFeeds):
    NAMES: ClassVar = (
        f"{ONE}.jsonl",
        f"{ONE}/more.jsonl",
        f"elsewhere/{ONE}.jsonl",
        f"{TWO}.jsonl",
        "of-nobody.jsonl",
    )

    def __init__(self) -> None:
        super().__init__()
        self.patches.setattr(snapshot, "_SETTLED", 0)

    def counts(self, feed: Feed) -> dict[str, tuple[object, ...]]:
        found = {os.path.relpath(each.path, self.folder): each for each in feed.statuses()}
        assert len(found) == len(feed.statuses())
        return {
            name: (each.dialect, each.records, each.unreadable, each.status, each.size, each.read)
            for name, each in found.items()
            if name not in self.lost
        }

    @invariant()
    def every_file_is_in_one_place(self) -> None:
        files = self.tidy._files
        shelf = files.shelf
        kept = [each for away in shelf._sessions.values() for each in away]
        paths = [each.path for each in kept]
        assert not {*paths} & files.readings.keys()
        assert len({*paths}) == len(paths) == len(shelf)
        assert all(path in shelf for path in paths)
        assert shelf.size == sum(each.size for each in kept)
        assert all(map(len, shelf._sessions.values()))


TestSessions = Sessions.TestCase
TestSessions.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
