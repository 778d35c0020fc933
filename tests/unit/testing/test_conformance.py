"""Each of our formats stands what logs go through, by the same kit that a plugin's author uses."""

import shutil
from collections.abc import Iterable
from itertools import count
from pathlib import Path

import pytest
from tests.samples import SAMPLES
from tests.small_logs import BUILT

from delegtop.dialects import names
from delegtop.model.events import Event
from delegtop.protocols.standard.dialects.session_log import SessionLog
from delegtop.sources.records import Line, Unreadable
from delegtop.testing.conformance import conform

FORMATS: dict[str, tuple[str, ...]] = {
    "01_happy_implement": ("session-log",),
    "09_two_books": ("session-log", "registry"),
    "claude-code": ("claude-code",),
    "claude-stream": ("claude-stream",),
    "cleo/.cleo": ("cleo-compliance",),
    "cleo/answers": ("cleo-response",),
    "cleo/claudedocs": ("cleo-manifest",),
    "cline/data/db": ("cline",),
    "cline/data/sessions": ("cline-messages",),
    "codex": ("codex",),
    "copilot": ("copilot",),
    "crush": ("crush",),
    "cursor/projects": ("cursor",),
    "droid": ("droid",),
    "gemini": ("gemini",),
    "goose": ("goose",),
    "grok": ("grok",),
    "hyper": ("hyper-output", "hyper-session", "hyper-run"),
    "kilo": ("kilo",),
    "kimi": ("kimi",),
    "opencode": ("opencode-storage",),
    "otel": ("otlp",),
    "proofchecker/specs": ("proofchecker",),
    "qwen": ("qwen",),
}


@pytest.mark.parametrize("folder", FORMATS)
def test_the_samples_give_the_same_tree_however_they_come(folder: str, tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / folder, tmp_path / "samples" / Path(folder).name)
    conform(FORMATS[folder], tmp_path / "samples", tmp_path, rounds=2)


# -- formats without a sample, and other forms of those that have one -----------------------------------------------


@pytest.mark.parametrize("format", BUILT)
def test_a_small_log_gives_the_same_tree_however_it_comes(format: str, tmp_path: Path) -> None:
    BUILT[format](tmp_path / "samples")
    conform(format, tmp_path / "samples", tmp_path, rounds=2)


def test_no_format_of_ours_is_left_out() -> None:
    seen = {format for formats in FORMATS.values() for format in formats} | BUILT.keys()
    by_name_alone = {"return"}  # no file is taken for one unless somebody says so
    assert set(names()) == seen | by_name_alone


# -- the kit itself -------------------------------------------------------------------------------------------------


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
