"""Each of our formats stands what logs go through, by the same kit that a plugin's author uses."""

from collections.abc import Iterable
from itertools import count
from pathlib import Path

import pytest

from delegtop.dialects.session_log import SessionLog
from delegtop.dialects.testing import conform
from delegtop.model.events import Event
from delegtop.sources.record import Line, Unreadable

SAMPLES = Path(__file__).parents[2] / "sample_logs"
FORMATS: dict[str, tuple[str, ...]] = {
    "01_happy_implement": ("session-log",),
    "09_two_books": ("session-log", "registry"),
    "claude-code": ("claude-code",),
    "claude-stream": ("claude-stream",),
    "codex": ("codex",),
    "hyper": ("hyper-output", "hyper-session", "hyper-run"),
    "opencode": ("opencode-storage",),
    "otel": ("otlp",),
}


@pytest.mark.parametrize("folder", FORMATS)
def test_the_samples_give_the_same_tree_however_they_come(folder: str, tmp_path: Path) -> None:
    conform(FORMATS[folder], SAMPLES / folder, tmp_path, rounds=3)


def test_a_format_whose_answer_depends_on_how_the_bytes_came_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = SessionLog.read
    lines = count(1)

    def forgetful(self: SessionLog, line: Line) -> Iterable[Event | Unreadable]:
        return read(self, line) if next(lines) % 7 else ()

    monkeypatch.setattr(SessionLog, "read", forgetful)
    with pytest.raises(AssertionError, match="another tree"):
        conform("session-log", SAMPLES / "01_happy_implement", tmp_path, rounds=2)


def test_samples_of_another_format_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="read as session-log, not as codex"):
        conform("codex", SAMPLES / "01_happy_implement", tmp_path)
