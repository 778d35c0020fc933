"""Without a source, delegtop looks here and in the homes of the known agents."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from delegtop.agents.claude_code import folder_name
from delegtop.dialects import products
from delegtop.observation.source_discovery import OpenError, places
from delegtop.settings import Settings


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with Claude Code, Codex and OpenCode in it, and a project to stand in."""
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "work" / "app").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work" / "app")
    slug = folder_name(tmp_path / "work" / "app")
    for folder in (slug, f"{slug}-web", f"{slug}lication", "-another"):
        (tmp_path / ".claude" / "projects" / folder).mkdir(parents=True)
    (tmp_path / ".codex" / "sessions").mkdir(parents=True)
    (tmp_path / ".local" / "share" / "opencode").mkdir(parents=True)
    return tmp_path


def names(machine: Path, sources: Iterable[str]) -> list[str]:
    return [os.path.relpath(source, machine) for source in sources]


def test_the_homes_of_the_agents_that_are_here_are_found(machine: Path) -> None:
    found = places([], Settings())
    assert names(machine, found.sources) == [".claude/projects", ".local/share/opencode", ".codex/sessions"]


def test_the_agents_own_variables_move_their_homes(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/elsewhere")
    monkeypatch.setenv("CODEX_HOME", "/codex")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    found = {str(home.path(os.environ, machine, Path("/p"))) for home in products.homes()}
    assert {"/elsewhere/projects", "/elsewhere/sessions", "/codex/sessions", "/data/opencode"} <= found


@pytest.mark.usefixtures("machine")
def test_only_recent_sessions_are_read_unless_all_is_asked_for() -> None:
    assert places([], Settings()).since is not None
    assert places([], Settings(), since="all").since is None
    assert places(["x"], Settings()).since is None
    two_days, two_hours = places([], Settings(), since="2d").since, places([], Settings()).since
    assert two_days is not None
    assert two_hours is not None
    assert two_days < two_hours


def test_here_means_this_folder_and_below(machine: Path) -> None:
    found = places([], Settings(), here=True)
    slug = folder_name(machine / "work" / "app")
    assert [f".claude/projects/{slug}", f".claude/projects/{slug}-web"] == names(machine, found.sources)[:2]
    assert not any("another" in source or "lication" in source for source in found.sources)
    assert found.only == f'project:"{machine}/work/app"|"{machine}/work/app/*"'


@pytest.mark.usefixtures("machine")
def test_named_sources_are_taken_as_they_are() -> None:
    assert places(["a", "b"], Settings()).sources == ["a", "b"]


def test_the_settings_add_places(machine: Path) -> None:
    (machine / "logs").mkdir()
    found = places([], Settings(sources=("~/logs", "~/not-there")))
    assert "logs" in names(machine, found.sources)
    assert "not-there" not in names(machine, found.sources)


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("sources", [[], ["x"]])
def test_a_span_that_is_none_is_refused_by_its_name(sources: list[str]) -> None:
    with pytest.raises(OpenError, match=r"^since soon: that is no time; write it like 30m, 2h or 7d, or all$"):
        places(sources, Settings(), since="soon")


def test_a_folder_that_is_gone_has_no_sources(machine: Path) -> None:
    gone = machine / "work" / "app"
    gone.rmdir()
    with pytest.raises(OpenError, match="this folder is gone; go to another one"):
        places([], Settings(), here=True)


def test_what_is_not_there_yet_is_awaited_and_no_source(machine: Path) -> None:
    found = places([], Settings(sources=("~/not-there",)))
    awaited = names(machine, found.awaited)
    assert {".claude/sessions", ".copilot/session-state", "state/delegtop/logs", "not-there"} <= set(awaited)
    assert not set(awaited) & set(names(machine, found.sources))


def test_a_session_below_this_folder_that_begins_later_is_awaited_too(machine: Path) -> None:
    slug = folder_name(machine / "work" / "app")
    assert f".claude/projects/{slug}-*" in names(machine, places([], Settings(), here=True).awaited)


def test_the_database_of_codex_is_found_by_its_pattern(machine: Path) -> None:
    (machine / ".codex" / "state_5.sqlite").touch()
    assert ".codex/state_5.sqlite" in names(machine, places([], Settings()).sources)


def test_what_lies_in_a_known_place_was_not_only_come_across(machine: Path) -> None:
    project = machine / "work" / "app"
    for place in ("specs", "runs"):
        (project / place).mkdir()
        record = {"event": "register", "at": "2026-05-01T10:00:00Z", "session_id": "sess_20260501_abc123"}
        (project / place / "events.jsonl").write_text(json.dumps(record) + "\n")
    found = places([], Settings())
    assert {"specs", "runs"} <= set(found.sources)
    assert found.here == ["runs"]
