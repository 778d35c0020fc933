"""The monitor: keys, mouse, sizes, what arrives while it runs, and what it shows when there is nothing to show."""

import asyncio
import base64
import os
import stat
from collections.abc import Callable
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Protocol

import pytest
from tests import patience
from tests.piloting import offers, until
from tests.screens.looking import running, screen
from tests.telling import handle_of
from textual.widgets import OptionList

from delegtop.app.main import DelegtopApp
from delegtop.app.screens.copy import CopyMenu
from delegtop.app.screens.help_page import Help
from delegtop.app.screens.source_health import SourceHealth
from delegtop.base.clock import FrozenClock, Millis
from delegtop.feed.followed_file import SourceStatus
from delegtop.model.events import Erred, Event, Heard, Started
from delegtop.model.states import State

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]


class ScriptedFeed(Protocol):
    closed: bool

    def say(self, *events: Event) -> None: ...
    def fail(self, error: Exception) -> None: ...


class Script(Protocol):
    def started(self, id: str, minutes: float, **facts: object) -> Started: ...
    def heard(self, id: str, minutes: float, doing: str, **facts: object) -> Heard: ...
    def erred(self, id: str, minutes: float, **fault: object) -> Erred: ...


def text_of(app: DelegtopApp) -> str:
    """The whole screen as text, as it would stand in the terminal."""
    return "\n".join(line.text for line in app.screen._compositor.render_strips()[: app.size.height])


def names(app: DelegtopApp) -> list[str]:
    outline, forest = app.board.outline, app.board.forest
    return [forest.delegation(row.handle).name for row in outline.window(0, len(outline))]


def under_cursor(app: DelegtopApp) -> str:
    cursor = app.monitor.table.cursor
    return app.board.forest.delegation(cursor).name if cursor is not None else ""


async def test_long_words_of_what_is_over_are_pressed_once_nothing_else_waits(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("delegtop.model.store.archive._FULL", 1)  # every word fills a block
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        ((trees, _),) = app.board.forest.by_host()
        archive = trees.stores[0].ends._archive
        await until(pilot, lambda: bool(archive._full) and not app.board.forest.has_loose_words)
        assert max(archive._base) >= 0, "some are pressed with what others say"
        assert min(archive._base) == -1, "and none waits"


# Keys


async def test_e_steps_through_the_problems_and_comes_round(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        seen = [under_cursor(app)]
        for _ in range(5):
            await pilot.press("e")
            seen.append(under_cursor(app))
        assert seen == ["implementer", "writer", "deployer", "reviewer", "implementer", "writer"]
        await pilot.press("E")
        assert under_cursor(app) == "implementer"


async def test_e_goes_to_earlier_trouble_only_once_that_is_shown(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("d", "E")
        assert under_cursor(app) == "planner"
        await pilot.press("d", "g", "E")
        assert under_cursor(app) == "reviewer"


async def test_e_opens_the_fold_a_problem_hides_in(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("asterisk")
        assert names(app) == ["orchestrator"]
        await pilot.press("e")
        assert under_cursor(app) == "implementer"
        assert "implementer" in names(app)


@pytest.mark.parametrize(
    ("loading", "said"),
    [(True, "Still reading."), (False, "No problem among these rows, but 4 elsewhere: t lists them.")],
)
async def test_e_without_a_problem_says_whether_there_may_yet_be_one(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, loading: bool, said: str
) -> None:
    async with running(make_app(), size=(120, 40), notifications=True) as (app, pilot):
        monkeypatch.setattr(app.board, "problem", lambda _cursor, _step: None)
        monkeypatch.setattr(app.board, "loading", loading)
        app.monitor.action_problem(1)
        await pilot.pause()
        assert [note.message for note in app._notifications] == [said]


async def test_space_folds_and_unfolds_the_row(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        everything = names(app)
        await pilot.press("g", "space")
        assert names(app) == ["orchestrator"]
        await pilot.press("space")
        assert names(app) == everything


async def test_minus_folds_and_plus_unfolds(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("g", "minus", "minus")
        assert names(app) == ["orchestrator"]
        await pilot.press("plus", "plus")
        assert len(names(app)) > 1


async def test_z_shows_one_subtree_and_then_everything_again(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        everything = names(app)
        await pilot.press("g", "down", "down", "z")
        assert names(app) == ["task-executor", "implementer", "linter"]
        await pilot.press("z")
        assert names(app) == everything


async def test_escape_leaves_the_subtree(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        everything = names(app)
        await pilot.press("g", "down", "down", "z")
        assert names(app) != everything
        await pilot.press("escape")
        assert names(app) == everything


async def test_s_changes_the_order_and_capital_s_turns_it_round(make_app: MakeApp) -> None:
    async with running(make_app(sort="start"), size=(120, 40)) as (app, pilot):
        await pilot.press("s")
        assert app.board.sort == "name"
        siblings = [name for name in names(app) if name in ("planner", "reviewer", "writer", "deployer")]
        assert siblings == ["deployer", "planner", "reviewer", "writer"]
        await pilot.press("S")
        siblings = [name for name in names(app) if name in ("planner", "reviewer", "writer", "deployer")]
        assert siblings == ["writer", "reviewer", "planner", "deployer"]


async def test_enter_reads_the_details_and_escape_comes_back(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("enter")
        await pilot.pause()
        assert app.monitor.inspector.sheet.has_focus
        await pilot.press("escape")
        assert app.monitor.table.has_focus


async def test_i_hides_the_inspector_and_shows_it_again(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("i")
        await pilot.pause()
        assert not app.monitor.inspector.display
        await pilot.press("i")
        await pilot.pause()
        assert app.monitor.inspector.display


async def test_capital_t_goes_round_the_themes(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        seen = [app.theme]
        for _ in app.theme_names:
            await pilot.press("T")
            seen.append(app.theme)
        assert seen[0] == seen[-1]
        assert set(seen) == set(app.theme_names)


async def test_q_quits_with_code_zero_and_the_reader_stops(make_app: MakeApp, feed: ScriptedFeed) -> None:
    async with running(make_app()) as (app, pilot):
        await pilot.press("q")
    assert app.return_code == 0
    assert feed.closed


async def test_a_key_can_be_moved_by_the_id_of_its_command(make_app: MakeApp) -> None:
    async with running(make_app(keymap={"pause": "x"})) as (app, pilot):
        await pilot.press("p")
        assert not app.board.paused
        await pilot.press("x")
        assert app.board.paused


async def test_o_opens_source_health_with_the_unreadable_line(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("o")
        await pilot.pause()
        assert isinstance(app.screen, SourceHealth)
        shown = text_of(app)
        assert "/runs/191/session.jsonl:22" in shown
        assert "not JSON" in shown
        await pilot.press("escape")
        assert app.screen.id == "monitor"


# Pause


async def test_pause_holds_the_picture_and_counts_what_waits(
    make_app: MakeApp, feed: ScriptedFeed, script: Script
) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        before = names(app)
        await pilot.press("p")
        feed.say(script.started("sess_late", 61, agent="latecomer", parent="sess_1766743200_root00"))
        await until(pilot, lambda: app.intake.held == 1)
        app.monitor.draw()
        await pilot.pause()
        assert names(app) == before
        assert "paused · 1 held" in text_of(app)
        await pilot.press("p")
        await until(pilot, lambda: "latecomer" in names(app))
        assert app.intake.held == 0


async def test_what_is_held_amid_the_past_is_no_news_of_today(make_app: MakeApp) -> None:
    app = make_app()
    app.board.paused = True
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.intake.held and not app.reader.loading)
        app._second()
        await pilot.pause()
        assert app.board.loading, "what was there at the start is not all received"
        await pilot.press("p")
        await until(pilot, lambda: not app.board.loading)
        assert app.intake.held == 0
        assert len(names(app)) > 1


async def test_time_stands_still_while_paused(make_app: MakeApp, clock: FrozenClock) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("p")
        shown = app.board.forest.shown_at
        clock.set(Millis(shown + 3_600_000))
        app.board.advance()
        assert app.board.forest.shown_at == shown
        await pilot.press("p")
        assert app.board.forest.shown_at == shown + 3_600_000


# What arrives


async def test_a_delegation_that_arrives_is_shown_without_a_key_and_the_cursor_stays(
    make_app: MakeApp, feed: ScriptedFeed, script: Script
) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("down")
        feed.say(script.started("sess_early", 0.05, agent="early-bird", parent="sess_1766743200_root00"))
        await until(pilot, lambda: "early-bird" in names(app))
        assert under_cursor(app) == "linter"


async def test_what_arrives_before_a_frame_that_is_coming_wakes_nobody_and_is_in_it(
    make_app: MakeApp, feed: ScriptedFeed, script: Script
) -> None:
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: not app.reader.busy and not app._frames.coming)
        app._frames.coming = True
        feed.say(script.started("sess_late", 61, agent="latecomer", parent="sess_1766743200_root00"))
        await asyncio.to_thread(patience.until, lambda: app.reader.waiting)
        assert not app._woken
        assert "latecomer" not in names(app)
        app._frames._frame()
        assert "latecomer" in names(app)


async def test_one_more_new_row_lays_nothing_out_again(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: not app.reader.busy)
        pill = app.monitor._pill
        pill.count(3)
        await until(pilot, lambda: not pill._layout_required)
        pill.count(4)
        assert not pill._layout_required
        assert str(pill.content) == " 4 new "
        pill.count(40)
        assert pill._layout_required


async def test_a_deadline_that_passes_turns_a_row_overdue_by_time_alone(make_app: MakeApp, clock: FrozenClock) -> None:
    async with running(make_app(), size=(120, 40)) as (app, _pilot):
        linter = handle_of(app.board.forest, "sess_1766743200_lint07")
        assert app.board.forest.state(linter) is State.RUNNING
        clock.set(Millis(clock.now() + 120_000))
        app._second()
        assert app.board.forest.state(linter) is State.OVERDUE


async def test_a_reader_that_fails_is_told_on_the_screen_and_the_tree_stays(
    make_app: MakeApp, feed: ScriptedFeed
) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        feed.fail(OSError("the disk is gone"))
        await until(pilot, lambda: bool(app.reader.failure))
        await until(pilot, lambda: "reading stopped" in text_of(app))
        assert "implementer" in names(app)
        await pilot.press("o")
        await pilot.pause()
        assert "the disk is gone" in text_of(app)


async def test_nothing_is_painted_while_nothing_changes(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: not app.reader.loading)
        for _ in range(70):  # the first batch leaves the graph of the last minute
            app.intake.second()
        app._second()
        await until(pilot, lambda: not (app.board.remarks.wanted or app.board.assessments.waiting))
        painted: list[object] = []
        display = app._display

        def count_and_display(*of: object) -> None:
            painted.append(of)
            display(*of)  # type: ignore[arg-type]  # handed on as it came

        monkeypatch.setattr(app, "_display", count_and_display)

        async def pass_a_second() -> int:
            painted.clear()
            app._second()
            await pilot.pause()
            return len(painted)

        for _ in range(100):  # what was judged before is painted by a frame that a busy machine may be late with
            if await pass_a_second() == 0:
                break
        assert [await pass_a_second() for _ in range(5)] == [0] * 5


async def test_verdicts_come_though_the_machine_is_so_busy_that_every_timer_begins_late(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = count()
    monkeypatch.setattr("textual.timer._time.get_time", lambda: monotonic() + next(late) * 0.005)
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "implementer ◀3" in text_of(app))


# Nothing to show


async def test_without_a_source_it_says_what_to_do(make_app: MakeApp) -> None:
    async with running(make_app(feed=_empty_feed(make_app), watching=False), size=(100, 30)) as (app, _pilot):
        shown = text_of(app)
        assert "delegtop demo" in shown
        assert "delegtop SOURCE" in shown


async def test_a_source_that_cannot_be_read_is_named_with_its_reason(make_app: MakeApp) -> None:
    broken = SourceStatus(
        path="/runs/nothing.jsonl", dialect=None, records=0, unreadable=0, status="missing", detail="no such file",
        deviations=0, reasons={}, examples=(), size=0, read=0, changed_at=None,
    )  # fmt: skip
    app = make_app(feed=_empty_feed(make_app, broken))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: not app.reader.loading)
        app.monitor.draw()
        await pilot.pause()
        shown = text_of(app)
        assert "/runs/nothing.jsonl" in shown
        assert "no such file" in shown


async def test_where_all_that_is_found_is_too_old_it_says_how_to_look_further_back(make_app: MakeApp) -> None:
    old = SourceStatus(
        "/home/ada/.claude/projects/lantern", None, 0, 0, "left out", "2 files last written before 10:46"
    )
    app = make_app(feed=_empty_feed(make_app, old))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: not app.reader.loading)
        app.monitor.draw()
        await pilot.pause()
        assert "No agent was at work lately" in text_of(app)
        assert "Older files lie in 1 folder: delegtop --since 7d looks further back, --all at everything" in text_of(
            app
        )


async def test_where_what_is_read_tells_of_none_it_says_that_older_files_are_there(make_app: MakeApp) -> None:
    old = [SourceStatus(f"/home/ada/.claude/projects/{n}", None, 0, 0, "left out", "2 files") for n in range(21)]
    read = SourceStatus("/home/ada/.codex/empty.jsonl", "codex", 0, 0, "live", "")
    app = make_app(feed=_empty_feed(make_app, *old, read))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: not app.reader.loading)
        app.monitor.draw()
        await pilot.pause()
        assert "No agent was at work lately" in text_of(app)
        assert "/home/ada/.codex/empty.jsonl" in text_of(app), "what is read comes before what is not"
        assert "Older files lie in 21 folders: delegtop --since 7d looks further back" in text_of(app)


async def test_loading_shows_how_far_it_is(make_app: MakeApp) -> None:
    async with running(make_app(feed=_empty_feed(make_app)), size=(100, 30)) as (app, pilot):
        app.reader.loading, app.reader.progress = True, (43_000_000, 100_000_000)
        app.monitor.draw()
        await pilot.pause()
        shown = text_of(app)
        assert "loading 43%" in shown
        assert "43.0 MB of 100.0 MB" in shown


def _empty_feed(make_app: MakeApp, *statuses: SourceStatus) -> object:
    """A feed of the same kind as the scene's, with nothing in it."""
    kind = type(make_app().reader.feed)
    return kind((), statuses)  # type: ignore[call-arg]  # the scripted feed takes events and statuses


# Copying


async def test_copying_the_id_reaches_the_terminal_and_a_private_file(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        written: list[str] = []
        monkeypatch.setattr(app._driver, "write", written.append)
        await pilot.press("y", "i")
        await pilot.pause()
        code = base64.b64encode(b"sess_1766743200_def456").decode()
        assert f"\x1b]52;c;{code}\a" in written
        file = Path(os.environ["XDG_STATE_HOME"]) / "delegtop" / "clipboard.txt"
        assert file.read_text() == "sess_1766743200_def456\n"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert app.screen is app.monitor


async def test_y_and_enter_copy_the_command_that_the_page_shows(make_app: MakeApp) -> None:
    async with running(make_app(), size=(160, 45)) as (app, pilot):
        shown = next(line for line in app.monitor.inspector.sheet.text.splitlines() if line.startswith("command"))
        await pilot.press("y", "enter")
        await pilot.pause()
        assert app.clipboard == "/implement 191"
        assert app.clipboard in shown
        assert app.screen is app.monitor


async def test_a_recommendation_is_copied_as_a_comment(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("y", "r")
        await pilot.pause()
        assert app.clipboard == "# from agent: Run lake clean, then build again: Nat.foo was renamed to Nat.bar"


@pytest.mark.parametrize(
    ("advice", "reason"),
    [
        ("make clean\nrm -rf ~", "more than one line"),
        ("make \x1b[201~clean", "U+001B"),
        ("make \u202eclean", "U+202E"),
        ("make\u00a0clean", "U+00A0"),
        ("make\tclean", "U+0009"),
    ],
)
async def test_a_recommendation_that_hides_something_is_refused_with_the_reason(
    make_app: MakeApp, feed: ScriptedFeed, script: Script, advice: str, reason: str
) -> None:
    async with running(make_app(), size=(140, 40)) as (app, pilot):
        feed.say(
            script.started("sess_odd", 61, agent="odd-one", parent="sess_1766743200_root00"),
            script.erred("sess_odd", 61.5, message="no", recommendation=advice),
        )
        await until(pilot, lambda: app.board.forest.find("sess_odd") is not None)
        app.monitor._go_to(app.board.forest.find("sess_odd") or 0)
        before = app.clipboard
        await pilot.press("y", "r")
        await pilot.pause()
        assert isinstance(app.screen, CopyMenu)
        prompts = [str(option.prompt) for option in app.screen.query_one(OptionList).options]
        assert any(reason in prompt for prompt in prompts)
        assert app.clipboard == before


# The palette


async def test_every_command_can_be_found_in_the_palette(make_app: MakeApp) -> None:
    from delegtop.app import keymap
    from delegtop.app.screens.palette import Commands

    async with running(make_app()) as (app, _pilot):
        offered = " ".join([str(hit.prompt) async for hit in Commands(app.monitor).discover()]).lower()
        missing = [c.id for c in keymap.COMMANDS if c.id != "palette" and c.label.lower() not in offered]
        assert missing == []


async def test_a_command_chosen_in_the_palette_is_done(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.press("ctrl+p", *"sort by name")
        await until(pilot, lambda: offers(app, "Sort by name"))
        await pilot.press("enter")
        await until(pilot, lambda: app.board.sort == "name")


# The mouse


async def test_clicking_a_word_of_the_key_bar_does_what_it_says(make_app: MakeApp) -> None:
    async with running(make_app(), size=(160, 40)) as (app, pilot):
        bar = app.monitor.query_one("KeyBar")
        await pilot.click("KeyBar", offset=(str(bar.render()).index("help") + 1, 0))
        await pilot.pause()
        assert isinstance(app.screen, Help)


async def test_clicking_a_tab_shows_it(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await pilot.click("#tabs", offset=(14, 0))
        await pilot.pause()
        assert app.monitor.inspector.tab == "return"


async def test_clicking_the_sources_opens_their_health(make_app: MakeApp) -> None:
    async with running(make_app(), size=(160, 40)) as (app, pilot):
        vitals = app.monitor.query_one("Vitals")
        await pilot.click("Vitals", offset=(str(vitals.render()).index("sources") + 1, 0))
        await pilot.pause()
        assert isinstance(app.screen, SourceHealth)


# Colour and characters


def colours(app: DelegtopApp) -> set[str]:
    """Every colour that reaches the terminal."""
    found: set[str] = set()
    for strip in app.screen._compositor.render_strips():
        for segment in strip:
            if segment.style is not None:
                pair = (segment.style.color, segment.style.bgcolor)
                found |= {color.name for color in pair if color is not None and not color.is_default}
    return found


@pytest.mark.parametrize(("value", "colourful"), [("1", False), ("anything", False), ("", True)])
async def test_no_color_means_no_colour_at_all_and_only_if_it_is_not_empty(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, value: str, colourful: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", value)
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("e", "3")
        await pilot.pause()
        assert bool(colours(app)) is colourful
        assert os.environ["NO_COLOR"] == value


async def test_the_setting_turns_colour_off_too(make_app: MakeApp) -> None:
    async with running(make_app(color=False), size=(120, 40)) as (app, _pilot):
        assert colours(app) == set()


async def test_with_ascii_no_screen_has_any_other_character(make_app: MakeApp) -> None:
    async with running(make_app(ascii=True), size=(120, 40)) as (app, pilot):
        for keys in (
            ("e", "2"),
            ("3",),
            ("4",),
            ("o",),
            ("escape", "question_mark"),
            ("escape", "y"),
            ("escape", "ctrl+p"),
        ):
            await pilot.press(*keys)
            await pilot.pause()
            assert text_of(app).isascii(), keys
        await until(pilot, lambda: offers(app, ""))
        assert text_of(app).isascii()


# When it fails


async def press_and_leave(app: DelegtopApp, key: str) -> None:
    async with app.run_test() as pilot:
        await pilot.pause()
        await pilot.press(key)
        await pilot.pause()


async def test_a_crash_says_one_sentence_without_local_variables_and_is_not_a_success(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails() -> None:
        token = "sk-secret-token"  # noqa: S105 -- the secret that must not show
        raise KeyError(len(token))

    app = make_app()
    monkeypatch.setattr(app.monitor, "action_sort", fails)
    with pytest.raises(KeyError):
        await press_and_leave(app, "s")
    said = capsys.readouterr().err
    assert " ".join(said.split()).startswith("delegtop stopped by an internal error (KeyError); its traceback is in")
    assert "sk-secret-token" not in said
    assert app.return_code == 1


# Sizes


@pytest.mark.parametrize("size", [(80, 24), (160, 45), (40, 10), (20, 5), (220, 60)])
async def test_every_size_shows_something_useful_and_nothing_breaks(make_app: MakeApp, size: tuple[int, int]) -> None:
    async with running(make_app(), size=size) as (app, pilot):
        for key in (
            "e",
            "tab",
            "enter",
            "question_mark",
            "escape",
            "o",
            "escape",
            "y",
            "escape",
            "slash",
            "x",
            "escape",
        ):
            await pilot.press(key)
        await pilot.pause()
        assert all(len(line) <= size[0] for line in text_of(app).splitlines())


async def test_resizing_while_it_runs_lays_the_screen_out_again(make_app: MakeApp) -> None:
    async with running(make_app(), size=(160, 45)) as (app, pilot):
        await pilot.resize_terminal(40, 10)
        await pilot.pause()
        assert "overdue" in text_of(app)
        await pilot.resize_terminal(200, 50)
        await pilot.pause()
        assert app.monitor.inspector.region.x > 0, "a very wide screen has the inspector beside the tree"


async def test_on_a_tiny_screen_the_inspector_comes_when_it_is_asked_for(make_app: MakeApp) -> None:
    async with running(make_app(), size=(40, 10)) as (app, pilot):
        assert not app.monitor.inspector.display
        await pilot.press("enter")
        await pilot.pause()
        assert app.monitor.inspector.sheet.has_focus
        await until(pilot, lambda: "overdue" in app.monitor.inspector.sheet.text)


async def test_an_empty_screen_has_no_empty_inspector(make_app: MakeApp) -> None:
    async with running(make_app(feed=_empty_feed(make_app), watching=False), size=(100, 30)) as (app, _pilot):
        assert not app.monitor.inspector.display


async def test_at_80_columns_the_key_bar_keeps_the_keys_that_matter_most(make_app: MakeApp) -> None:
    async with running(make_app(), size=(80, 24)) as (app, _pilot):
        bar = str(app.monitor.query_one("KeyBar").render())
        assert all(word in bar for word in ("filter", "next problem", "inspect", "help", "quit"))
        assert len(bar.rstrip()) <= 78


@pytest.mark.parametrize("said", ["The mouse works here.", "word " * 25])
async def test_what_is_told_for_a_moment_does_not_hide_what_is_to_be_done(make_app: MakeApp, said: str) -> None:
    async with running(make_app(), size=(80, 24), notifications=True) as (app, pilot):
        before = screen(app)
        app.notify(said, markup=False)
        await until(pilot, lambda: screen(app) != before)
        told = len(said) // 80 + 1
        assert screen(app)[:-told] == before[:-told]
        assert said.split()[-1] in screen(app)[-1]
        assert any("command" in line for line in before[:-told])
