"""The first screen answers within five seconds of looking: which one is stuck, why, and what to do.

The home is that of somebody who runs agents all day: a hundred sessions that are over, and one that hangs now.
"""

from datetime import UTC
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.homes import MINUTE, operators_home
from tests.screens.looking import banner, earlier, ids, page, running, screen, settled, table, under_cursor
from tests.telling import handle_of

from delegtop.app.main import DelegtopApp
from delegtop.base.clock import HOUR, SECOND, Clock, FrozenClock, Millis, WallClock
from delegtop.diagnosis.assessment import Urgency
from delegtop.observation.observation import opened
from delegtop.observation.source_discovery import Places
from delegtop.settings import Settings

pytestmark = pytest.mark.anyio
SIZES = [(80, 24), (120, 35), (160, 45)]
SINCE = [pytest.param(2 * HOUR, id="plain"), pytest.param(None, id="all")]
SESSION = "a0000001-0000-4000-8000-000000000001"
RESUME = f"cd /home/ann/webapp && claude --resume {SESSION}"


class Stuck(NamedTuple):
    """What an operator is to see of it."""

    id: str
    banner: tuple[str, ...]
    """What the line above the tree says, one after the other; in a narrow one some of it is cut."""
    state: str
    sentence: str
    remedy: str
    command: str


KINDS = {
    "model": Stuck(
        "toolu_hung",
        ("STUCK  general-", " “Profile the login", "◀1  no model answer 3"),
        "no model answer",
        "It has waited 31:00 for the model's answer; of 16,031 known answers none took as long. claude waits",
        "Interrupt it and send the prompt again.",
        RESUME,
    ),
    "tool": Stuck(
        "toolu_hung",
        ("STUCK?  gener", " “Profile the l", "◀1  in Bash: python"),
        "silent?",
        "inside Bash: python -m cProfile login.py for 31:00; of 4,356 known Bash calls none took as long.",
        "Look at its last record and at its process before you stop it.",
        RESUME,
    ),
    "permission": Stuck(
        SESSION,
        ("NEEDS YOU  claude “Make the ", "  asks permission: Bash"),
        "asks permission",
        "a person to allow Bash: rm -r build.",
        "Answer it: allow it or deny it. Its terminal: tmux work:@1.%3, pid ",
        "tmux switch-client -t work:@1.%3 || tmux attach -t work:@1.%3",
    ),
    "deadline": Stuck(
        "sess_1790000000_late01",
        ("STUCK  implementer ◀1  in bash: lake build 31:00",),
        "hung in a tool",
        "It has been inside bash: lake build for 31:00, 21:03 past its deadline. /implement 7 waits for it.",
        "Stop the process of the tool",
        "/implement 7",
    ),
}


def dashboard(home: Path, clock: Clock, since: int | None) -> DelegtopApp:
    """The dashboard on everything that is found in a home."""
    homes = [home / ".claude" / "projects", home / ".claude" / "sessions", home / "runs"]
    written = None if since is None else Millis(clock.now() - since)
    places = Places([str(place) for place in homes if place.exists()], written)
    return DelegtopApp(opened(places, Settings(), clock), zone=UTC)


def row_of(app: DelegtopApp, id: str) -> int:
    """On which row of the screen it is, from the top."""
    handle = handle_of(app.board.forest, id)
    row = app.board.outline.row_of(handle)
    assert row is not None
    return row - app.monitor.table._view.top


def now() -> Millis:
    """The present, by whole seconds: a process that is looked for is one of now."""
    return Millis(WallClock().now() // SECOND * SECOND)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("since", SINCE)
@pytest.mark.parametrize("kind", KINDS)
async def test_it_says_which_one_is_stuck_why_and_what_to_type(
    tmp_path: Path, kind: str, since: int | None, size: tuple[int, int]
) -> None:
    told, moment = KINDS[kind], now()
    operators_home(tmp_path, moment, stuck=kind)
    clock = WallClock() if kind == "permission" else FrozenClock(moment)  # whether a process is there is asked only now
    async with running(dashboard(tmp_path, clock, since), size=size) as (app, _pilot):
        assert banner(app).startswith(told.banner[0])
        assert [words for words in told.banner if words not in banner(app)] == []
        assert banner(app).endswith("→  enter")
        assert under_cursor(app) == told.id, "the cursor is on the one to look at, not on who waits for it"
        assert row_of(app, told.id) <= 1, "only who waits for it stands above it"
        assert told.state in table(app)[row_of(app, told.id)]
        for words in (told.sentence, f"do this {told.remedy}", f"command {told.command}"):
            assert words in page(app)


@pytest.mark.parametrize("since", SINCE)
@pytest.mark.parametrize("kind", KINDS)
async def test_nothing_old_stands_above_what_is_now(tmp_path: Path, kind: str, since: int | None) -> None:
    moment = now()
    operators_home(tmp_path, moment, stuck=kind)
    async with running(dashboard(tmp_path, FrozenClock(moment), since), size=(120, 35)) as (app, pilot):
        for _ in range(2):
            roots = [row.handle for row in app.board.outline.window(0, len(app.board.outline)) if not row.level]
            urgencies = [app.board.pressing.key(root)[0] for root in roots]
            assert urgencies == sorted(urgencies)
            assert urgencies[0] in (Urgency.STUCK, Urgency.PERSON, Urgency.SUSPICIOUS)
            await pilot.press("d")  # with the earlier troubles, too
            await settled(pilot)
        assert Urgency.EARLIER in {app.board.pressing.key(root)[0] for root in app.board.forest.roots()}


async def test_earlier_failures_are_one_line_and_have_no_row(tmp_path: Path) -> None:
    moment = now()
    operators_home(tmp_path, moment)
    async with running(dashboard(tmp_path, FrozenClock(moment), 2 * HOUR), size=(120, 35)) as (app, _pilot):
        assert earlier(app) == "earlier: 2 failed   d shows them"
        assert not any("API error" in line for line in screen(app))


@pytest.mark.parametrize("since", SINCE)
async def test_f_goes_to_the_one_that_began_last_among_a_hundred_that_are_over(
    tmp_path: Path, since: int | None
) -> None:
    moment = now()
    operators_home(tmp_path, moment)
    async with running(dashboard(tmp_path, FrozenClock(moment), since), size=(120, 35)) as (app, pilot):
        await pilot.press("G", "F")
        assert app.monitor.table.follow
        assert under_cursor(app) == "toolu_hung"


@pytest.mark.parametrize("since", SINCE)
async def test_nothing_that_was_there_before_is_called_new(tmp_path: Path, since: int | None) -> None:
    moment = now()
    operators_home(tmp_path, moment, old=300)
    async with running(dashboard(tmp_path, FrozenClock(moment), since), size=(120, 35)) as (app, pilot):
        await pilot.press("p", "p")
        assert app.monitor.table.pending == 0
        assert " new " not in screen(app)[2]


async def test_the_wall_clock_tells_the_same(tmp_path: Path) -> None:
    operators_home(tmp_path, now())
    async with running(dashboard(tmp_path, WallClock(), 2 * HOUR), size=(80, 24)) as (app, _pilot):
        assert banner(app).startswith("STUCK  general-purpose “Profile the login” ◀1  no model answer 3")
        assert under_cursor(app) == "toolu_hung"
        assert RESUME in page(app)


async def test_whoever_waits_is_called_by_its_work_and_its_project(tmp_path: Path) -> None:
    moment = now()
    operators_home(tmp_path, moment)
    async with running(dashboard(tmp_path, FrozenClock(moment), 2 * HOUR), size=(160, 45)) as (app, _pilot):
        first, second = table(app)[:2]
        assert first.split()[:8] == ["▾", "claude", "Make", "the", "login", "faster", "webapp", "◐"]
        assert "general-purpose ◀1" in second
        assert "webapp" in second


async def test_what_begins_to_hang_while_one_looks_comes_up_and_the_cursor_stays(tmp_path: Path) -> None:
    moment = now()
    operators_home(tmp_path, moment, hang=20_000)
    clock = FrozenClock(moment)
    async with running(dashboard(tmp_path, clock, 2 * HOUR), size=(120, 35)) as (app, pilot):
        assert banner(app) == ""
        await pilot.press("G")
        held = under_cursor(app)
        clock.set(Millis(moment + 31 * MINUTE))
        app._second()
        await settled(pilot)
        assert banner(app).startswith("STUCK  general-purpose “Profile the login” in webapp ◀1")
        assert banner(app).endswith("→  e")
        assert ids(app)[:2] == [SESSION, "toolu_hung"]
        assert under_cursor(app) == held
        await pilot.press("e")
        assert under_cursor(app) == "toolu_hung"
        await settled(pilot)
        assert banner(app).endswith("→  enter")


@pytest.mark.parametrize("key", ["K", "v"])
async def test_whoever_has_taken_up_a_row_finds_the_cursor_on_it_afterwards(tmp_path: Path, key: str) -> None:
    moment = now()
    operators_home(tmp_path, moment, hang=20_000)
    clock = FrozenClock(moment)
    async with running(dashboard(tmp_path, clock, 2 * HOUR), size=(120, 35)) as (app, pilot):
        held = under_cursor(app)
        assert held != "toolu_hung"
        await pilot.press(key)
        await settled(pilot)
        clock.set(Millis(moment + 31 * MINUTE))
        app._second()
        await settled(pilot)
        await pilot.press("escape")
        await settled(pilot)
        assert banner(app).startswith("STUCK  general-purpose “Profile the login” in webapp ◀1")
        assert under_cursor(app) == held
