"""Triage shows the problems worst first, says what to do, copies and notes, and never runs or changes anything."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.piloting import offers, until
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import Input

from delegtop.app import clipboard
from delegtop.app.main import DelegtopApp
from delegtop.app.screens import triage
from delegtop.app.screens.ask import Ask
from delegtop.app.screens.triage import Triage
from delegtop.app.widgets.earlier import Earlier
from delegtop.base.clock import FrozenClock, Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Described, Event, Heard, Noted, Outcome, Phase, Started

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]
SIZE = (140, 40)
HUNG, FAILED = "sess_1766743200_def456", "sess_1766743380_plan01"

if TYPE_CHECKING:
    from tests.screens.conftest import Script, ScriptedFeed


async def opened(pilot: Pilot[Any]) -> Triage:
    app = pilot.app
    assert isinstance(app, DelegtopApp)
    await until(pilot, lambda: not app.reader.loading and len(app.board.outline) > 0)
    await pilot.press("t")
    await until(pilot, lambda: isinstance(app.screen, Triage) and not app.board.assessments.waiting)
    screen = app.screen
    assert isinstance(screen, Triage)
    await pilot.pause()
    return screen


def names(screen: Triage) -> list[str]:
    return [screen._board.forest.delegation(each.handle).name for each in screen.problems.problems]


def kinds(screen: Triage) -> list[str]:
    return [each.kind for each in screen.problems.problems]


def title(screen: Triage) -> str:
    return str(screen.query_one("#triage-title").render())


def claude(feed: "ScriptedFeed", s: "Script", *extra: Event, cwd: str = "/home/me/my project") -> "ScriptedFeed":
    """A session of Claude Code that waits for a permission."""
    id, at = "7f3c", s.at(50)
    return type(feed)([
        Started(id, s.at(0), s.origin(), agent="claude", refs=(("session_id", id),), product="claude-code"),
        Described(id, at, s.origin(), cwd=cwd),
        Heard(id, at, s.origin(), "rm -r build", "Bash", phase=Phase.PERMISSION),
        *extra,
    ])  # fmt: skip


async def test_the_worst_comes_first_and_what_waits_is_not_a_problem_of_its_own(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        assert kinds(screen) == sorted(kinds(screen), key=kinds(screen).index)
        assert (names(screen)[0], kinds(screen)[0]) == ("implementer", "hung in a tool")
        assert "task-executor" not in names(screen)
        assert kinds(screen)[1:] == ["partial", "blocked", "silent"]


async def test_a_page_says_what_since_when_what_to_do_what_is_saved_and_where_it_is_written(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        await until(pilot, lambda: "said" in screen.sheet.text)
        text = screen.sheet.text
        for words in (
            "It has been inside bash: lake build for 12:41",
            "hung in a tool · likely · VER-005",
            "10:49:30 · 12:41 ago",
            "holds up      3: task-executor, /implement 191, orchestrator",
            "1 delegtop says",
            "Stop the process of the tool",
            "2 the agent says",
            "Run lake clean",
            "the protocol says",
            "/implement 191 · y copies",
            "last words    bash: lake build",
            "/runs/191/session.jsonl:7",
        ):
            assert words in text


async def test_two_of_one_name_are_told_apart_by_their_work(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    works = {"a1": "Lint the sources", "a2": "説明を書く"}
    failed = [
        event
        for id, title in works.items()
        for event in (
            Started(id, script.at(1), script.origin(), agent="general-purpose"),
            Described(id, script.at(1), script.origin(), title=title),
            script.returned(id, 2, Outcome.FAILED, summary="Overloaded"),
        )
    ]
    app = make_app(feed=type(feed)(failed))
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        for width in (66, 80, 120):
            rows = [screen._row(each, width) for each in screen.problems.problems]
            assert {title for row in rows for title in works.values() if f"general-purpose  {title}" in row.plain} == {
                *works.values()
            }
            assert all(row.cell_length <= width for row in rows)
        first = app.board.forest.id(screen.problems.problems[0].handle)
        assert f"general-purpose · {works[first]} · ✖ failed" in screen.sheet.text


async def test_enter_goes_to_the_delegation_in_the_tree_whatever_hides_it(make_app: MakeApp) -> None:
    app = make_app(query="agent:researcher")
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: bool(app.board.query))
        await opened(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.monitor)
        assert app.monitor.table.cursor == app.board.forest.find(HUNG)
        assert not app.board.query


@pytest.mark.parametrize("id", [FAILED, "sess_1766743500_dep001"], ids=["earlier", "of this moment"])
async def test_the_problem_under_the_cursor_is_where_triage_begins(make_app: MakeApp, id: str) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: not app.reader.loading and len(app.board.outline) > 0)
        wanted = app.monitor.table.cursor = app.board.forest.find(id)
        screen = await opened(pilot)
        await until(pilot, lambda: screen.problems.current is not None and screen.problems.current.handle == wanted)


async def test_e_steps_through_the_problems_and_wraps_round(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        count = len(screen.problems.problems)
        await pilot.press("E")
        assert screen.problems.place == count
        await pilot.press("e")
        assert screen.problems.place == 1


@pytest.mark.parametrize("key", ["question_mark", "o"])
async def test_e_and_t_work_from_any_screen(make_app: MakeApp, key: str) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: not app.reader.loading and len(app.board.outline) > 0)
        await pilot.press("g", key)
        await until(pilot, lambda: app.screen is not app.monitor)
        await pilot.press("e")
        await until(pilot, lambda: app.screen is app.monitor)
        assert app.monitor.table.cursor == app.board.forest.find(HUNG)
        await pilot.press(key)
        await until(pilot, lambda: app.screen is not app.monitor)
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, Triage))


async def test_the_palette_opens_it_once(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: not app.reader.loading and len(app.board.outline) > 0)
        for _ in range(2):
            await pilot.press("ctrl+p")
            await until(pilot, lambda: isinstance(app.screen, CommandPalette))
            await pilot.press(*"triage")
            await until(pilot, lambda: offers(app, "riage"))
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, Triage))
        assert sum(isinstance(screen, Triage) for screen in app.screen_stack) == 1


async def test_what_is_acknowledged_is_hidden_dimmed_on_wish_and_shown_again_when_it_happens_anew(
    make_app: MakeApp, feed: "ScriptedFeed", clock: FrozenClock, script: "Script"
) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        before = names(screen)
        await pilot.press("a")
        assert names(screen) == before[1:]
        assert "1 seen to" in title(screen)
        await pilot.press("D")
        assert names(screen) == before
        await pilot.press("D")
        feed.say(script.heard(HUNG, 63, "bash: lake build", tool="bash"))
        clock.set(Millis(clock.now() + 3_600_000))
        await until(pilot, lambda: "implementer" in names(screen))


async def test_d_lists_earlier_trouble_below_what_is_now_and_folds_it_again(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        now = names(screen)
        assert "planner" not in now
        line = screen.query_one(Earlier)
        assert line.display
        assert "earlier: 1 failed" in line.line.plain
        await pilot.press("d")
        assert names(screen) == [*now, "planner"]
        assert not line.display
        await pilot.press("d")
        assert names(screen) == now
        await until(pilot, lambda: screen.get_widget_at(*line.region.offset)[0] is line)
        await pilot.click(Earlier, offset=(4, 0))
        await until(pilot, lambda: names(screen) == [*now, "planner"])


async def test_of_very_many_the_rest_is_listed_once_they_are_looked_at(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(triage, "_TO_BEGIN_WITH", -1.0)
    many = [f"job-{number:03}" for number in range(100)]
    told = [each for id in many for each in (script.started(id, -90), script.returned(id, -80, Outcome.FAILED))]
    app = make_app(feed=type(feed)(told))
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        await until(pilot, lambda: len(screen.problems.problems) == len(many))
        assert title(screen).endswith("100 problems")


async def test_slash_lists_only_the_problems_of_what_matches(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        everything = names(screen)
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        field = app.screen.query_one(Input)
        field.value = "state:nonsense"
        await pilot.press("enter")
        assert isinstance(app.screen, Ask), "a filter that means nothing is not taken"
        field.value = "agent:deploy*"
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen)
        assert names(screen) == ["deployer"]
        assert "/agent:deploy*" in title(screen)
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        app.screen.query_one(Input).value = "agent:nobody"
        await pilot.press("enter")
        await until(pilot, lambda: "No problem of a delegation that matches" in screen.sheet.text)
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        app.screen.query_one(Input).value = ""
        await pilot.press("enter")
        await until(pilot, lambda: names(screen) == everything)


async def test_capital_a_acknowledges_all_that_are_listed_and_no_others(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        count = len(names(screen))
        await pilot.press("A")
        await until(pilot, lambda: f"{count} seen to" in title(screen))
        assert "Nothing else" in screen.sheet.text
        await pilot.press("d")
        assert names(screen) == ["planner"], "what was not listed has not been seen to"
        await pilot.press("D")
        assert len(names(screen)) == count + 1


async def test_a_mark_survives_the_program(make_app: MakeApp, feed: "ScriptedFeed") -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await pilot.press("a")
    again = make_app(feed=type(feed)(feed.events))
    async with again.run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        assert "implementer" not in names(screen)


async def test_a_snoozed_problem_wakes_when_its_time_has_come(make_app: MakeApp, clock: FrozenClock) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        field = app.screen.query_one(Input)
        field.value = "yesterday"
        await pilot.press("enter")
        assert isinstance(app.screen, Ask), "an answer that is no time to come is not taken"
        field.value = "30m"
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen)
        assert "implementer" not in names(screen)
        clock.set(Millis(clock.now() + 31 * 60_000))
        await until(pilot, lambda: "implementer" in names(screen))


async def test_a_note_is_kept_and_shown(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        await pilot.press("w")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        await pilot.press(*"asked ops", "enter")
        await until(pilot, lambda: "your note     asked ops" in screen.sheet.text)


async def test_copying_copies_the_command_that_resumes_it_and_runs_nothing(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    app = make_app(feed=claude(feed, script))
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        assert kinds(screen) == ["awaiting a permission"]
        await pilot.press("y")
        await pilot.pause()
        assert app.clipboard == "cd '/home/me/my project' && claude --resume 7f3c"


@pytest.mark.parametrize(
    ("cwd", "reason"),
    [("/tmp/a\nrm -r ~", "more than one line"), ("/tmp/\x1b[31m", "U+001B"), ("/tmp/\u202egnp", "U+202E")],
)
async def test_a_command_that_hides_something_is_refused_with_the_reason(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script", cwd: str, reason: str
) -> None:
    app = make_app(feed=claude(feed, script, cwd=cwd))
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        await pilot.press("y")
        await pilot.pause()
        assert app.clipboard == ""
        assert not (clipboard.state_directory() / "clipboard.txt").exists()
        assert any(reason in note.message for note in app._notifications)
        assert "cannot be copied" in " ".join(screen.sheet.text.split())
        assert "\x1b" not in screen.sheet.text


async def test_a_lone_page_takes_the_place_of_the_list_and_back(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(pilot)
        await pilot.press("z")
        shown = screen.query_one("#triage-list")
        assert not shown.display
        await pilot.press("e")
        assert screen.problems.place == 2
        await pilot.press("tab")
        assert screen.sheet.has_focus, "what is not there is not gone to"
        await pilot.press("z")
        assert shown.display


async def test_without_problems_it_says_so(make_app: MakeApp, feed: "ScriptedFeed", script: "Script") -> None:
    healthy: list[Event] = [script.started("a", 61, agent="planner"), script.heard("a", 62, "thinking")]
    app = make_app(feed=type(feed)(healthy))
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        await until(pilot, lambda: "No problem" in screen.sheet.text)
        await pilot.press("a", "s", "w", "y", "enter", "e", "escape")
        await until(pilot, lambda: app.screen is app.monitor)


async def test_unreadable_marks_are_put_aside_with_a_message(make_app: MakeApp) -> None:
    path = clipboard.state_directory() / "triage.json"
    path.write_bytes(b"\x00not json")
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        assert "marks cannot be read" in title(screen)
        await pilot.press("a")
        assert "implementer" not in names(screen)
    assert path.with_suffix(".unreadable.json").read_bytes() == b"\x00not json"


async def test_hostile_words_are_shown_as_they_are_and_harm_nothing(
    make_app: MakeApp, feed: "ScriptedFeed", script: "Script"
) -> None:
    nasty = "[bold red]\x1b]52;c;AAAA\x07[/]\u202e"
    review = Noted("7f3c", script.at(55), Origin("x", 1, 0), "review", nasty)
    app = make_app(feed=claude(feed, script, review))
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        assert kinds(screen) == ["needs review"]
        assert "[bold red]" in screen.sheet.text
        assert not set("\x1b\x07\u202e") & set(screen.sheet.text)


def test_nothing_is_written_but_in_the_state_folder(tmp_path: Path) -> None:
    from delegtop.app.state.problem_marks import NAME, Marks

    assert Marks().path == clipboard.state_directory() / NAME
    assert Marks(tmp_path / NAME).path == tmp_path / NAME
