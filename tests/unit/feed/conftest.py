"""A feed over files that grow, and a first log for it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.watching import NOW, Opener, Watch, register

from delegtop.base.clock import Clock, FrozenClock
from delegtop.feed import rounds


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Opener]:
    """Watches sources, at a frozen moment unless told otherwise; looks for new files at every poll."""
    monkeypatch.setattr(rounds, "RESCAN_SECONDS", 0.0)
    opened: list[Watch] = []

    def open_watch(*sources: str | Path, clock: Clock | None = None, **how: Any) -> Watch:
        opened.append(Watch([str(source) for source in sources], clock or FrozenClock(NOW), **how))
        return opened[-1]

    yield open_watch
    for each in opened:
        each.feed.close()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "logs" / "session.jsonl"
    path.parent.mkdir()
    path.write_text(register("aaa111"))
    return path
