"""Without a source, delegtop looks here and in the homes of the known agents."""

import json
import os
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from delegtop.cli.diagnostics import UsageError
from delegtop.cli.places import places
from delegtop.config import Settings
from delegtop.sources.homes import claude_slug, homes


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with Claude Code, Codex and OpenCode in it, and a project to stand in."""
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "work" / "app").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work" / "app")
    slug = claude_slug(tmp_path / "work" / "app")
    for folder in (slug, f"{slug}-web", f"{slug}lication", "-another"):
        (tmp_path / ".claude" / "projects" / folder).mkdir(parents=True)
    (tmp_path / ".codex" / "sessions").mkdir(parents=True)
    (tmp_path / ".local" / "share" / "opencode").mkdir(parents=True)
    return tmp_path


def asked(**how: Any) -> Namespace:
    return Namespace(**{"sources": [], "since": None, "here": False, "all": False} | how)


def names(machine: Path, sources: Iterable[str]) -> list[str]:
    return [os.path.relpath(source, machine) for source in sources]


def test_the_homes_of_the_agents_that_are_here_are_found(machine: Path) -> None:
    found = places(asked(), Settings())
    assert names(machine, found.sources) == [".claude/projects", ".local/share/opencode", ".codex/sessions"]


def test_the_agents_own_variables_move_their_homes(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/elsewhere")
    monkeypatch.setenv("CODEX_HOME", "/codex")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    found = {str(home.path) for home in homes(os.environ, machine, Path("/p"))}
    assert {"/elsewhere/projects", "/elsewhere/sessions", "/codex/sessions", "/data/opencode"} <= found


@pytest.mark.usefixtures("machine")
def test_only_recent_sessions_are_read_unless_all_is_asked_for() -> None:
    assert places(asked(), Settings()).since is not None
    assert places(asked(all=True), Settings()).since is None
    assert places(asked(since="all"), Settings()).since is None
    assert places(asked(sources=["x"]), Settings()).since is None
    two_days, two_hours = places(asked(since="2d"), Settings()).since, places(asked(), Settings()).since
    assert two_days is not None
    assert two_hours is not None
    assert two_days < two_hours


def test_here_means_this_folder_and_below(machine: Path) -> None:
    found = places(asked(here=True), Settings())
    slug = claude_slug(machine / "work" / "app")
    assert [f".claude/projects/{slug}", f".claude/projects/{slug}-web"] == names(machine, found.sources)[:2]
    assert not any("another" in source or "lication" in source for source in found.sources)
    assert found.only == f'project:"{machine}/work/app"|"{machine}/work/app/*"'


@pytest.mark.usefixtures("machine")
def test_named_sources_are_taken_as_they_are() -> None:
    assert places(asked(sources=["a", "b"]), Settings()).sources == ["a", "b"]


def test_the_settings_add_places(machine: Path) -> None:
    (machine / "logs").mkdir()
    found = places(asked(), Settings(sources=("~/logs", "~/not-there")))
    assert "logs" in names(machine, found.sources)
    assert "not-there" not in names(machine, found.sources)


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("how", [{"here": True, "all": True}, {"since": "soon"}])
def test_what_cannot_be_meant_is_a_usage_error(how: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        places(asked(**how), Settings())


def test_what_is_not_there_yet_is_awaited_and_no_source(machine: Path) -> None:
    found = places(asked(), Settings(sources=("~/not-there",)))
    awaited = names(machine, found.awaited)
    assert {".claude/sessions", ".copilot/session-state", "state/delegtop/logs", "not-there"} <= set(awaited)
    assert not set(awaited) & set(names(machine, found.sources))


def test_a_session_below_this_folder_that_begins_later_is_awaited_too(machine: Path) -> None:
    slug = claude_slug(machine / "work" / "app")
    assert f".claude/projects/{slug}-*" in names(machine, places(asked(here=True), Settings()).awaited)


def test_the_database_of_codex_is_found_by_its_pattern(machine: Path) -> None:
    (machine / ".codex" / "state_5.sqlite").touch()
    assert ".codex/state_5.sqlite" in names(machine, places(asked(), Settings()).sources)


def test_what_lies_in_a_known_place_was_not_only_come_across(machine: Path) -> None:
    project = machine / "work" / "app"
    for place in ("specs", "runs"):
        (project / place).mkdir()
        record = {"event": "register", "at": "2026-05-01T10:00:00Z", "session_id": "sess_20260501_abc123"}
        (project / place / "events.jsonl").write_text(json.dumps(record) + "\n")
    found = places(asked(), Settings())
    assert {"specs", "runs"} <= set(found.sources)
    assert found.here == ["runs"]
