"""What the dashboard shows of real files that ail: a registry that is broken for long, more lines than it can take."""

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.followed_folder import padded
from tests.patience import PATIENCE
from tests.piloting import comes, until
from tests.screens.conftest import observed
from tests.screens.looking import running, text_of
from tests.watching import registry

from delegtop.app.main import DelegtopApp
from delegtop.app.state import reader_thread
from delegtop.base.clock import MINUTE, Millis, WallClock
from delegtop.feed import live_feed, rounds
from delegtop.feed.batch import Batch
from delegtop.feed.live_feed import Feed
from delegtop.sources.lines import CHUNK

pytestmark = pytest.mark.anyio


async def test_29_a_registry_that_is_broken_for_long_is_stale_with_its_age(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = tmp_path / "registry.json"
    book.write_text(registry("aaa111", "bbb222"))
    passed, real = [0], WallClock().now
    monkeypatch.setattr(WallClock, "now", lambda _: Millis(real() + passed[0]))
    monkeypatch.setattr(rounds, "RESCAN_SECONDS", 0.05)
    async with running(DelegtopApp(observed(Feed([str(book)], clock=WallClock()), WallClock())), size=(140, 30)) as (
        app,
        pilot,
    ):
        assert len(app.board.forest) == 2
        book.write_text("")
        await comes(lambda: any(each.status == "stale" for each in app.reader.statuses), "stale")
        passed[0] = MINUTE
        await pilot.press("o")
        await until(pilot, lambda: "stale" in text_of(app))
        shown = [" ".join(line.split()) for line in text_of(app).splitlines()]
        assert [line for line in shown if line.startswith("stale 1m ago")], shown
        assert [line for line in shown if line.startswith("empty since ") and "; showing the one of " in line], shown
        assert len(app.board.forest) == 2


class HeldFeed(Feed):
    """A feed that goes on after its first slices, a tenth of all, only when it is let."""

    def __init__(self, *given: Any, **how: Any) -> None:
        super().__init__(*given, **how)
        self.go_on = threading.Event()
        self.longest = 0

    def poll(self) -> Iterator[Batch]:
        for batch in super().poll():
            self.longest = max(self.longest, len(batch.events))
            yield batch
            read, known = self.progress()
            if read > known / 10:
                self.go_on.wait(PATIENCE)


async def test_35_of_more_lines_than_can_be_read_at_once_slices_are_shown_and_keys_answered_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_feed, "BATCH", 100)
    monkeypatch.setattr(reader_thread, "_STATUS_EVERY", 0.0)
    for number in range(2):
        names = [f"{number}{each:05}" for each in range(1_000)]
        (tmp_path / f"{number}.jsonl").write_text(padded(*names, pad=900))
    feed = HeldFeed([str(tmp_path)], clock=WallClock())
    app = DelegtopApp(observed(feed, WallClock()))
    async with app.run_test(size=(100, 30)) as pilot:
        try:
            await comes(lambda: len(app.board.forest) >= 100, "the first slices")
            app.monitor.draw()
            await comes(lambda: re.search(r"loading [1-9]\d?%", text_of(app)), "progress")
            before = app.monitor.table.cursor
            await pilot.press("down")
            await comes(lambda: app.monitor.table.cursor != before, "an answer to the key")
            assert app.reader.loading
            assert len(app.board.forest) < 2_000
        finally:
            feed.go_on.set()
        await until(pilot, lambda: not app.board.loading)
        assert len(app.board.forest) == 2_000
        assert feed.longest <= 100 + CHUNK // 500  # what is left of a block
        assert "loading" not in text_of(app)
