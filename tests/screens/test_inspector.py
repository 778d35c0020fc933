"""The inspector: what each tab says of a delegation, and that the disk is asked only for the tab that needs it."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest
from tests.piloting import until
from tests.screens.looking import running
from tests.telling import handle_of
from textual.pilot import Pilot
from textual.widgets import Static

from delegtop.app import clipboard
from delegtop.app.main import DelegtopApp
from delegtop.app.pages.inspector.matter import command_line
from delegtop.app.screens.raw_line import RawLine
from delegtop.app.widgets.chips import Chips
from delegtop.app.widgets.sheet import CopyableCommand, Sheet
from delegtop.app.widgets.vitals import Vitals
from delegtop.base.clock import FrozenClock, Millis, parse_time
from delegtop.base.origin import Origin
from delegtop.base.secrets import mask
from delegtop.base.text import safe
from delegtop.model.events import Described, Erred, Event, Fault, Heard, Noted, Phase, Started
from delegtop.sources import artifact_files
from delegtop.sources.artifact_files import Presence

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]
SIZE = (120, 45)
HUNG, PLAN = "sess_1766743200_def456", "sess_1766743380_plan01"
START = parse_time("2025-12-26T10:00:00Z") or Millis(0)


class ScriptedFeed(Protocol):
    def say(self, *events: Event) -> None: ...


class Script(Protocol):
    def origin(self) -> Origin: ...
    def started(self, id: str, minutes: float, **facts: object) -> Started: ...
    def heard(self, id: str, minutes: float, doing: str, **facts: object) -> Heard: ...


def shown(app: DelegtopApp) -> str:
    """The text of the tree in view."""
    table = app.monitor.table
    return "\n".join(table.render_line(y).text for y in range(table.size.height))


async def page(app: DelegtopApp, pilot: Pilot[None], id: str, tab: str, expect: str = "") -> str:
    """The text of one tab for one delegation; waits for what comes from the disk."""
    app.monitor._go_to(handle_of(app.board.forest, id))
    app.monitor.action_show_tab(tab)
    await pilot.pause()
    await until(pilot, lambda: expect in app.monitor.inspector.sheet.text, f"showing {expect}")
    return app.monitor.inspector.sheet.text


async def test_the_overview_names_the_state_the_deadline_and_where_the_deadline_comes_from(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        text = await page(app, pilot, "sess_1766743200_def456", "overview")
        assert "! overdue" in text
        assert "11:00:18 · 1:53 over · timeout 3600 s" in text
        assert "named by the log" in text
        assert "18,342 tokens · $0.42" in text


async def test_the_overview_begins_with_what_is_the_matter_what_to_do_and_what_to_type(make_app: MakeApp) -> None:
    async with running(make_app(), size=(160, 45)) as (app, pilot):
        lines = (await page(app, pilot, HUNG, "overview")).splitlines()
        assert lines[0].split(maxsplit=4)[:4] == ["hung", "in", "a", "tool"]
        assert "It has been inside bash: lake build for 12:41" in lines[0]
        facts = {line[:22].strip(): line[22:] for line in lines[:5]}
        assert facts["do this"].startswith("Stop the process of the tool")
        assert facts["command"].startswith("/implement 191 · Once it is stopped")
        assert facts["command"].endswith("y copies")


async def test_the_page_of_who_waits_says_on_what_and_where_to_look(make_app: MakeApp) -> None:
    async with running(make_app(), size=(160, 45)) as (app, pilot):
        text = await page(app, pilot, "sess_1766743200_root00", "overview")
        assert text.startswith("waits on              implementer sess_1766743200_def456 · It has been inside bash")
        assert "Look there: e goes to it." in text
        await pilot.press("e")
        assert app.monitor.table.cursor == handle_of(app.board.forest, HUNG)


async def test_the_overview_counts_on_while_it_is_open(make_app: MakeApp, clock: FrozenClock) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await page(app, pilot, "sess_1766743200_def456", "overview", "1:53 over")
        clock.set(Millis(clock.now() + 5_000))
        app._second()
        await page(app, pilot, "sess_1766743200_def456", "overview", "1:58 over")


async def test_a_depth_that_contradicts_the_path_shows_both(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        text = await page(app, pilot, "sess_1766743200_lint07", "overview")
        assert "3 claimed · 2 derived" in text


async def test_claims_that_disagree_are_both_shown_with_their_line(
    make_app: MakeApp, feed: ScriptedFeed, script: Script
) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        feed.say(
            script.started("sess_two", 50, agent="alpha", timeout=60_000),
            script.started("sess_two", 50, agent="beta", timeout=90_000),
        )
        await until(pilot, lambda: app.board.forest.find("sess_two") is not None)
        text = await page(app, pilot, "sess_two", "overview", "Sources disagree")
        assert "alpha" in text
        assert "beta" in text
        assert "/runs/191/session.jsonl:1001" in text
        assert "/runs/191/session.jsonl:1002" in text


async def test_what_is_unknown_is_a_dash(make_app: MakeApp, feed: ScriptedFeed, script: Script) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        feed.say(Heard("sess_bare", None, script.origin()))
        await until(pilot, lambda: app.board.forest.find("sess_bare") is not None)
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
    async with running(make_app(), size=SIZE) as (app, pilot):
        text = await page(app, pilot, "sess_1766743320_res196", "return", "exists")
        assert "specs/195/report.md · ✔ exists" in text
        assert "/etc/passwd · ? outside the project, not looked at" in text
        assert "Plan task 195 with the second approach" in text


async def test_a_delegation_that_runs_says_that_it_has_not_returned(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        assert "not returned yet" in await page(app, pilot, "sess_1766743200_def456", "return")


async def test_errors_begin_with_what_to_do(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        text = await page(app, pilot, "sess_1766743200_def456", "errors")
        first = text.splitlines()[0]
        assert first.startswith("do this")
        assert "Run lake clean" in first
        assert "build_error · E_BUILD · recoverable" in text


async def test_the_number_of_errors_stands_in_the_tab(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await page(app, pilot, "sess_1766743200_def456", "overview")
        assert "Errors 1" in str(app.monitor.query_one("#tabs").render())


async def test_activity_tells_what_happened_when_newest_first(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        text = await page(app, pilot, "sess_1766743200_def456", "activity", "started")
        lines = text.splitlines()
        assert lines[0].startswith("10:49:30  bash: lake build")
        assert lines[-1].startswith("10:00:18  started · task-executor · 1:00:00 allowed")


async def test_activity_tells_once_what_several_lines_say_of_one_moment(
    make_app: MakeApp, feed: ScriptedFeed, script: Script
) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: not app.board.loading)
        waits = [Heard(HUNG, Millis(START + 61 * 60_000), script.origin(), phase=Phase.MODEL) for _ in range(3)]
        feed.say(*waits, Described(HUNG, Millis(START + 61 * 60_000), script.origin(), model="opus"))
        text = await page(app, pilot, HUNG, "activity", "model opus")
        assert "11:01:00  waits for the model · 3 times" in text
        assert text.count("waits for the model") == 1


async def test_activity_follows_what_arrives(make_app: MakeApp, feed: ScriptedFeed, script: Script) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await page(app, pilot, "sess_1766743200_def456", "activity", "started")
        feed.say(script.heard("sess_1766743200_def456", 62, "bash: lake test"))
        await page(app, pilot, "sess_1766743200_def456", "activity", "lake test")


async def test_raw_shows_the_very_lines_by_file_and_line(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        text = await page(app, pilot, "sess_1766743200_def456", "raw", "session.jsonl")
        assert "/runs/191/session.jsonl:7" in text
        assert "lake build" in text


async def test_a_log_that_cannot_be_read_again_is_told_in_the_tab(
    make_app: MakeApp, feed: ScriptedFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise OSError("vanished")

    monkeypatch.setattr(feed, "history", gone)
    async with running(make_app(), size=SIZE) as (app, pilot):
        await page(app, pilot, "sess_1766743200_def456", "raw", "vanished")


async def test_findings_tell_what_is_wrong_where_it_is_written_and_what_to_do(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        text = await page(app, pilot, "sess_1766743200_def456", "findings", "VER-005")
        assert "error" in text
        assert "do this" in text
        assert "/runs/191/session.jsonl:" in text


async def test_the_number_in_the_tab_is_that_of_the_findings_on_its_page(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: not app.board.loading)
        text = await page(app, pilot, "sess_1766743320_res196", "findings", "Does not exist")
        found = sum(line.startswith(("error ", "warning ", "info ")) for line in text.splitlines())
        assert f" Findings {found} " in app.monitor.inspector.query_one("#tabs", Chips).line.plain


async def test_enter_on_a_line_of_evidence_opens_the_very_line(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await page(app, pilot, HUNG, "findings", "VER-005")
        await pilot.press("enter", "down")
        await pilot.pause()
        origin = app.monitor.inspector.sheet.target
        assert isinstance(origin, Origin)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RawLine) and "said" in app.screen.query_one(Sheet).text)
        text = app.screen.query_one(Sheet).text
        assert text.startswith(str(origin))
        assert "Indented" in text
        await pilot.press("escape")
        assert app.screen is app.monitor


async def test_enter_on_a_command_copies_it(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    async with running(make_app(), size=SIZE) as (app, pilot):
        text = await page(app, pilot, HUNG, "findings", "command")
        assert "y copies" in text
        await pilot.press("enter", "enter")
        await pilot.pause()
        assert app.clipboard
        assert app.clipboard in text


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("make\nrm -r /", "more than one line"),
        ("make \x1b[2J", "hides a control"),
        ("make \u202eevil", "hides a control"),
        ("curl -H 'Authorization: Bearer abc123def456'", "holds a secret"),
    ],
)
def test_a_command_that_hides_something_is_shown_with_why_it_is_not_copied(command: str, why: str) -> None:
    fact = command_line("command", mask(command))
    assert why in fact.value.plain
    assert safe(fact.value.plain) == fact.value.plain
    assert isinstance(fact.target, CopyableCommand)
    assert clipboard.refusal(fact.target.text)


async def test_everything_the_data_says_about_going_on_is_shown_and_review_comes_first(
    make_app: MakeApp, feed: ScriptedFeed, script: Script
) -> None:
    kinds = ("blocker", "resume", "next", "handoff", "followup", "salvage", "parked", "loop", "defect", "review")
    async with running(make_app(), size=(120, 90)) as (app, pilot):
        feed.say(*(Noted(PLAN, Millis(1), script.origin(), kind, f"words on {kind}") for kind in kinds))
        await until(
            pilot, lambda: len(app.board.forest.delegation(handle_of(app.board.forest, PLAN)).notes) == len(kinds)
        )
        for tab in ("findings", "return", "overview"):
            text = await page(app, pilot, PLAN, tab, "words on loop")
            first = " ".join(text.splitlines()[0].split())
            assert first.startswith(
                "needs review A person must look" if tab == "overview" else "⚑ review words on review"
            )
            assert first.rstrip(".").endswith("words on review")
            assert [kind for kind in kinds if f"words on {kind}" not in text] == []
            assert "Run /research 196 first" in text, "the recommendation of its error"


async def test_the_agents_words_and_delegtops_are_told_apart(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 60)) as (app, pilot):
        text = await page(app, pilot, PLAN, "findings", "What the agent says about going on")
        ours, theirs = text.split("What the agent says about going on")
        assert ours.startswith("What delegtop finds")
        assert "Run /research 196 first" in theirs


async def test_what_delegtop_wrote_in_the_place_of_an_agent_is_not_shown_as_what_the_agent_says(
    make_app: MakeApp, feed: ScriptedFeed, script: Script
) -> None:
    fault = Fault("too deep", recommendation="Shorten the chain.", made_by="delegtop")
    async with running(make_app(), size=(120, 60)) as (app, pilot):
        feed.say(Erred(HUNG, Millis(1), script.origin(), fault))
        text = await page(app, pilot, HUNG, "overview", "What delegtop says about going on")
        _, _, told = text.partition("What the agent says about going on")
        theirs, ours = told.split("What delegtop says about going on")
        assert "Shorten the chain." not in theirs
        assert "Shorten the chain." in ours
        assert "written by delegtop" in await page(app, pilot, HUNG, "errors", "Shorten the chain.")


async def test_the_overview_says_who_it_is_and_what_it_is_in_the_middle_of(
    make_app: MakeApp, feed: ScriptedFeed, script: Script
) -> None:
    async with running(make_app(), size=(160, 60)) as (app, pilot):
        feed.say(
            script.started("root", 55, agent="claude", product="claude-code"),
            script.heard("root", 56, "", tokens=1_000, cost=0.5),
            script.started("kid", 57, agent="Explore", product="claude-code", parent="root"),
            Described(
                "kid", Millis(1), script.origin(), "Find the leak", "scout", "opus", "Look for pools", "/home/me", "2.1"
            ),
            script.heard("kid", 60, "grep -r pool", tool="Bash", phase=Phase.TOOL, tokens=500, cost=0.25),
            script.started("grandkid", 61, agent="Explore", product="claude-code", parent="kid"),
            script.heard("grandkid", 62, "", tokens=30),
        )
        await until(pilot, lambda: app.board.forest.find("grandkid") is not None)
        text = await page(app, pilot, "kid", "overview", "Look for pools")
        for words in (
            "Explore · scout", "Find the leak", "opus", "claude-code · 2.1", "/home/me", "500 tokens · $0.25",
            "530 tokens · ~$0.25 · 2 delegations", "inside Bash · grep -r pool · for 2:11",
        ):  # fmt: skip
            assert words in text
        text = await page(app, pilot, "root", "overview", "1,530 tokens")
        assert "1,530 tokens · ~$0.75 · 3 delegations" in text


async def test_secrets_are_hidden_until_a_key_shows_them_and_then_the_screen_says_so(
    make_app: MakeApp, feed: ScriptedFeed, script: Script
) -> None:
    secret = "hunter2" * 2
    async with running(make_app(), size=(156, 50)) as (app, pilot):
        feed.say(
            script.started("leaky", 61, agent="x"),
            script.heard("leaky", 62, f"mysql --password={secret}"),
            Described("leaky", Millis(1), script.origin(), prompt=f"The password is: password={secret}"),
        )
        await until(pilot, lambda: app.board.forest.find("leaky") is not None)
        for tab, expect in (("overview", "The password is"), ("activity", "mysql"), ("raw", "mysql")):
            assert secret not in await page(app, pilot, "leaky", tab, expect)
        assert secret not in shown(app)
        assert "secrets shown" not in str(app.monitor.query_one(Vitals).line)
        await pilot.press("x")
        await pilot.pause()
        assert "secrets shown" in str(app.monitor.query_one(Vitals).line)
        assert secret in shown(app)
        for tab in ("overview", "activity", "raw"):
            await page(app, pilot, "leaky", tab, secret)
        await pilot.press("x")
        await pilot.pause()
        assert secret not in shown(app)


async def test_tab_goes_round_and_numbers_go_straight(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("3")
        assert app.monitor.inspector.tab == "errors"
        await pilot.press("tab", "tab", "tab", "tab")
        assert app.monitor.inspector.tab == "overview"
        await pilot.press("shift+tab")
        assert app.monitor.inspector.tab == "findings"


async def test_the_title_gives_name_whom_it_holds_up_id_and_path(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await page(app, pilot, "sess_1766743200_def456", "overview")
        title = str(app.monitor.query_one("#title", Static).content)
        assert title.split() == [
            *("implementer", "◀3", "holds", "up", "3", "sess_1766743200_def456"),
            *("orchestrator", "›", "implement", "›", "task-executor", "›", "implementer"),
        ]


async def test_a_long_page_scrolls_with_the_keys(make_app: MakeApp) -> None:
    async with running(make_app(), size=(80, 24)) as (app, pilot):
        await page(app, pilot, "sess_1766743200_def456", "overview")
        await pilot.press("enter", "end")
        await until(pilot, lambda: app.monitor.inspector.sheet.scroll_offset.y > 0)


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
    assert artifact_files.look([path], [root]) == {path: presence}
