"""The inspector: what each tab says of a delegation, and that the disk is asked only for the tab that needs it."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from delegtop.app import artifacts
from delegtop.app.artifacts import Presence
from delegtop.app.main import DelegtopApp
from delegtop.clock import FrozenClock, Millis
from delegtop.model.events import Event, Heard, Started
from delegtop.origin import Origin

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]
SIZE = (120, 45)


class ScriptedFeed(Protocol):
    def say(self, *events: Event) -> None: ...


class Script(Protocol):
    def origin(self) -> Origin: ...
    def started(self, id: str, minutes: float, **facts: object) -> Started: ...
    def heard(self, id: str, minutes: float, doing: str, **facts: object) -> Heard: ...


async def page(app: DelegtopApp, pilot: Pilot[None], id: str, tab: str, expect: str = "") -> str:
    """The text of one tab for one delegation; waits for what comes from the disk."""
    handle = app.board.forest.find(id)
    assert handle is not None
    app.monitor._go_to(handle)
    app.monitor.action_show_tab(tab)
    await pilot.pause()
    for _ in range(60):
        text = app.monitor.inspector.sheet.text
        if expect in text:
            return text
        await pilot.pause(0.05)
    raise AssertionError(f"{expect!r} is not in:\n{text}")


async def test_the_overview_names_the_state_the_deadline_and_where_the_deadline_comes_from(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        text = await page(app, pilot, "sess_1766743200_def456", "overview")
        assert "! overdue" in text
        assert "11:00:18 · 1:53 over · timeout 3600 s" in text
        assert "named by the log" in text
        assert "18,342 tokens · $0.42" in text


async def test_the_overview_counts_on_while_it_is_open(make_app: MakeApp, clock: FrozenClock) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await page(app, pilot, "sess_1766743200_def456", "overview", "1:53 over")
        clock.set(Millis(clock.now() + 5_000))
        app._second()
        await page(app, pilot, "sess_1766743200_def456", "overview", "1:58 over")


async def test_a_depth_that_contradicts_the_path_shows_both(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        text = await page(app, pilot, "sess_1766743200_lint07", "overview")
        assert "3 claimed · 2 derived" in text


async def test_claims_that_disagree_are_both_shown_with_their_line(
    make_app: MakeApp, feed: ScriptedFeed, script: Script
) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        feed.say(
            script.started("sess_two", 50, agent="alpha", timeout=60_000),
            script.started("sess_two", 50, agent="beta", timeout=90_000),
        )
        for _ in range(40):
            await pilot.pause(0.05)
            if app.board.forest.find("sess_two") is not None:
                break
        text = await page(app, pilot, "sess_two", "overview", "Sources disagree")
        assert "alpha" in text
        assert "beta" in text
        assert "/runs/191/session.jsonl:1001" in text
        assert "/runs/191/session.jsonl:1002" in text


async def test_what_is_unknown_is_a_dash(make_app: MakeApp, feed: ScriptedFeed, script: Script) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        feed.say(Heard("sess_bare", None, script.origin()))
        for _ in range(40):
            await pilot.pause(0.05)
            if app.board.forest.find("sess_bare") is not None:
                break
        text = await page(app, pilot, "sess_bare", "overview")
        lines = {line.split()[0]: line.split()[1] for line in text.splitlines() if len(line.split()) > 1}
        assert lines["deadline"] == "–"
        assert lines["started"] == "–"


async def test_the_return_lists_artifacts_with_what_is_on_disk(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "specs" / "195").mkdir(parents=True)
    (tmp_path / "specs" / "195" / "report.md").write_text("here")
    monkeypatch.chdir(tmp_path)
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        text = await page(app, pilot, "sess_1766743320_res196", "return", "exists")
        assert "specs/195/report.md · ✔ exists" in text
        assert "/etc/passwd · ? outside the project, not looked at" in text
        assert "Plan task 195 with the second approach" in text


async def test_a_delegation_that_runs_says_that_it_has_not_returned(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert "not returned yet" in await page(app, pilot, "sess_1766743200_def456", "return")


async def test_errors_begin_with_what_to_do(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        text = await page(app, pilot, "sess_1766743200_def456", "errors")
        first = text.splitlines()[0]
        assert first.startswith("do this")
        assert "Run lake clean" in first
        assert "build_error · E_BUILD · recoverable" in text


async def test_the_number_of_errors_stands_in_the_tab(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await page(app, pilot, "sess_1766743200_def456", "overview")
        assert "Errors 1" in str(app.monitor.query_one("#tabs").render())


async def test_activity_tells_what_happened_when_newest_first(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        text = await page(app, pilot, "sess_1766743200_def456", "activity", "started")
        lines = text.splitlines()
        assert lines[0].startswith("10:49:30  bash: lake build")
        assert lines[-1].startswith("10:00:18  started · task-executor · 1:00:00 allowed")


async def test_activity_follows_what_arrives(make_app: MakeApp, feed: ScriptedFeed, script: Script) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await page(app, pilot, "sess_1766743200_def456", "activity", "started")
        feed.say(script.heard("sess_1766743200_def456", 62, "bash: lake test"))
        await page(app, pilot, "sess_1766743200_def456", "activity", "lake test")


async def test_raw_shows_the_very_lines_by_file_and_line(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        text = await page(app, pilot, "sess_1766743200_def456", "raw", "session.jsonl")
        assert "/runs/191/session.jsonl:7" in text
        assert "lake build" in text


async def test_a_log_that_cannot_be_read_again_is_told_in_the_tab(
    make_app: MakeApp, feed: ScriptedFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise OSError("vanished")

    monkeypatch.setattr(feed, "history", gone)
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await page(app, pilot, "sess_1766743200_def456", "raw", "vanished")


async def test_findings_tell_what_is_wrong_where_it_is_written_and_what_to_do(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        text = await page(app, pilot, "sess_1766743200_def456", "findings", "DEL-020")
        assert "error" in text
        assert "do this" in text
        assert "/runs/191/session.jsonl:" in text


async def test_tab_goes_round_and_numbers_go_straight(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await pilot.press("3")
        assert app.monitor.inspector.tab == "errors"
        await pilot.press("tab", "tab", "tab", "tab")
        assert app.monitor.inspector.tab == "overview"
        await pilot.press("shift+tab")
        assert app.monitor.inspector.tab == "findings"


async def test_the_title_gives_name_id_and_path(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await page(app, pilot, "sess_1766743200_def456", "overview")
        title = str(app.monitor.query_one("#title", Static).content)
        assert title.split() == [
            *("implementer", "sess_1766743200_def456"),
            *("orchestrator", "›", "implement", "›", "task-executor", "›", "implementer"),
        ]


async def test_a_long_page_scrolls_with_the_keys(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await page(app, pilot, "sess_1766743200_def456", "overview")
        await pilot.press("enter", "end")
        await pilot.pause(0.4)
        assert app.monitor.inspector.sheet.scroll_offset.y > 0


@pytest.mark.parametrize(
    ("path", "presence"),
    [
        ("inside.txt", Presence.THERE),
        ("folder/../inside.txt", Presence.THERE),
        ("nothing.txt", Presence.MISSING),
        ("", Presence.MISSING),
        ("a" * 5_000, Presence.MISSING),
        ("nul\0byte", Presence.OUTSIDE),
        ("../secret.txt", Presence.OUTSIDE),
        ("folder/../../secret.txt", Presence.OUTSIDE),
        ("/etc/passwd", Presence.OUTSIDE),
        ("link-out", Presence.OUTSIDE),
        ("folder-out/secret.txt", Presence.OUTSIDE),
        ("~/secret.txt", Presence.MISSING),
    ],
)
def test_artifacts_are_looked_for_beneath_the_root_and_nowhere_else(
    tmp_path: Path, path: str, presence: Presence
) -> None:
    root = tmp_path / "project"
    (root / "folder").mkdir(parents=True)
    (root / "inside.txt").write_text("x")
    (tmp_path / "secret.txt").write_text("secret")
    (root / "link-out").symlink_to(tmp_path / "secret.txt")
    (root / "folder-out").symlink_to(tmp_path)
    assert artifacts.look([path], [root]) == {path: presence}
