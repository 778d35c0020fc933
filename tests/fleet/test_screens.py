"""Several hosts on the screen and in lines: which there are, which is missing, whose each row is, what can be done."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from tests.fleet.told_streams import HERE, NOW, SOURCE, ToldStreams, header, minutes_ago, told
from tests.patience import PATIENCE, paces
from tests.piloting import until
from tests.screens.looking import ready, screen, settled, text_of
from textual.pilot import Pilot

from delegtop.app.main import DelegtopApp
from delegtop.app.screens.copy import choices
from delegtop.base.clock import MINUTE, FrozenClock, Millis, WallClock
from delegtop.base.ssh_command import SshAddress
from delegtop.dialects.recording.tape import TapeBeat, Written
from delegtop.feed import fleet_links
from delegtop.feed.host_states import HostState, HostStatus
from delegtop.model.events import Described, Ended, Ending, Fault, Heard, Outcome, Report, Started
from delegtop.model.session_manner import KERNEL, SEEN
from delegtop.observation.host_news import BACK, LOST, HostNews
from delegtop.observation.observation import opened
from delegtop.observation.source_discovery import Places
from delegtop.settings import Settings

pytestmark = pytest.mark.anyio


def work(name: str, *, quiet: float = 1) -> list[Written]:
    """An agent at work in a session that is there, and one that failed and says what to do."""
    seen = ((SEEN, KERNEL),)
    fault = Fault("no disk", recommendation="rm -rf /tmp/cache", recoverable=True)
    return [
        told(
            1,
            Started("s", minutes_ago(60), HERE, product="claude-code", depth=0, pid=4711, host="localhost", refs=seen),
        ),
        told(2, Described("s", minutes_ago(60), HERE, title=f"the work of {name}", cwd="/srv/app")),
        told(3, Heard("s", minutes_ago(quiet), HERE, f"make {name}", tool="bash")),
        told(4, Started("f", minutes_ago(9), HERE, agent="builder", product="claude-code", parent="s")),
        told(5, Ended("f", minutes_ago(5), HERE, Outcome.FAILED, Ending.RETURN, Report("failed", "", errors=(fault,)))),
    ]


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ToldStreams:
    made = ToldStreams(tmp_path)
    monkeypatch.setenv("PATH", made.ssh.path)
    monkeypatch.setattr(fleet_links, "_TICK", 0.05)
    return made


@asynccontextmanager
async def app_on(*names: str, size: tuple[int, int] = (160, 45)) -> AsyncIterator[tuple[DelegtopApp, Pilot[Any]]]:
    places = Places([], hosts=tuple(SshAddress(name, name) for name in names))
    app = DelegtopApp(opened(places, Settings(), rewinds=True))
    async with app.run_test(size=size) as pilot:
        await ready(pilot)
        yield app, pilot


async def shows(app: DelegtopApp, pilot: Pilot[Any], words: str) -> str:
    def drawn() -> bool:
        app.board.advance()
        app.monitor.draw()
        return words in text_of(app)

    await until(pilot, drawn, f"{words!r} in\n{text_of(app)}")
    await settled(pilot)
    return text_of(app)


async def test_the_header_says_how_many_are_there_and_which_is_missing(hosts: ToldStreams) -> None:
    for name in ("dev", "gpu1"):
        hosts.lives(name, *work(name))
    hosts.fails("gpu2", "ssh: connect to host gpu2 port 22: Connection timed out", 255)
    async with app_on("dev", "gpu1", "gpu2") as (app, pilot):
        await shows(app, pilot, "2 of 3 hosts")

        def in_order() -> bool:  # between two tries it is only connecting
            app.board.advance()
            app.monitor.draw()
            return re.search(r"● live +2 of 3 hosts +▲ gpu2 unreachable", screen(app)[0]) is not None

        await until(pilot, in_order, "the header")
        titles = next(line for line in screen(app) if "DELEGATION" in line)
        assert "HOST" in titles
        at = titles.index("HOST")
        rows = [line[at : at + 6].strip() for line in screen(app) if "the work of" in line and line.startswith(" ▾")]
        assert sorted(rows) == ["dev", "gpu1"]


async def test_triage_says_on_which_host_each_problem_is(hosts: ToldStreams) -> None:
    for name in ("dev", "gpu1"):
        hosts.lives(name, *work(name))
    async with app_on("dev", "gpu1") as (app, pilot):
        await shows(app, pilot, "the work of gpu1")
        await pilot.press("t")
        await until(pilot, lambda: sum("builder" in line for line in screen(app)) >= 2, "both problems")
        listed = [line for line in screen(app) if line.lstrip().startswith("failed")]
        assert sorted(name for line in listed for name in ("dev", "gpu1") if f"  {name} " in line[:72]) == [
            "dev",
            "gpu1",
        ]
        first = screen(app)[1]
        assert "builder on dev ·" in first or "builder on gpu1 ·" in first


async def test_a_click_on_a_host_shows_that_one_though_another_takes_two_lines(hosts: ToldStreams) -> None:
    for name in ("dev", "gpu2"):
        hosts.lives(name, *work(name))
    hosts.fails("a-name-that-is-long", "ssh: connect to host a-name-that-is-long port 22: Connection timed out", 255)
    async with app_on("a-name-that-is-long", "dev", "gpu2", size=(80, 30)) as (app, pilot):
        await shows(app, pilot, "the work of gpu2")
        await pilot.press("H")
        await shows(app, pilot, "● gpu2 ")
        end, pace = monotonic() + PATIENCE, paces()
        while not app.board.query.text:  # while the lost one is tried again, it takes one line only
            assert monotonic() < end, text_of(app)
            app.board.advance()
            app.monitor.draw()
            await pilot.pause(next(pace))
            lines = [line.lstrip() for line in screen(app)]
            lost, row = (
                next((number for number, line in enumerate(lines) if line.startswith(name)), 0)
                for name in ("▲ a-name-that-is-long ", "● gpu2 ")
            )
            if lost and row > lost + 2:
                await pilot.click(offset=(5, row))
                await pilot.pause()
        assert app.board.query.text == 'host:"gpu2"'


async def test_of_one_host_that_is_there_nothing_is_said(hosts: ToldStreams) -> None:
    hosts.lives("dev", *work("dev"))
    async with app_on("dev") as (app, pilot):
        await shows(app, pilot, "the work of dev")
        assert "host" not in screen(app)[0]
        assert "HOST" not in next(line for line in screen(app) if "DELEGATION" in line)


async def test_h_shows_rows_by_host_then_one_host_then_all(hosts: ToldStreams) -> None:
    for name in ("dev", "gpu1"):
        hosts.lives(name, *work(name))
    async with app_on("dev", "gpu1") as (app, pilot):
        await shows(app, pilot, "the work of gpu1")
        await pilot.press("H")
        told = await shows(app, pilot, "● dev ")
        assert "live  0.2.0  2 delegations, 1 open" in told
        outline = app.board.outline
        owners = [app.board.forest.host_of(outline.at(row)) for row in range(len(outline))]
        assert owners == sorted(owners)
        host = app.board.forest.host_of(app.monitor.table.cursor or 0)
        await pilot.press("H")
        await until(pilot, lambda: app.board.query.text == f'host:"{host}"', "one host")
        await settled(pilot)
        assert {app.board.forest.host_of(outline.at(row)) for row in range(len(outline))} == {host}
        await pilot.press("H")
        await until(pilot, lambda: not app.board.query and not app.board.by_host, "all")


async def test_rows_of_a_host_that_is_not_heard_of_are_as_they_were(hosts: ToldStreams) -> None:
    hosts.streams("gpu1", header(mark="g", beat=5_000), SOURCE, *work("gpu1"), TapeBeat(WallClock().now()))
    hosts.lives("dev", *work("dev"))
    async with app_on("dev", "gpu1") as (app, pilot):
        await shows(app, pilot, "the work of gpu1")
        forest = app.board.forest
        handle = forest.find("s", "gpu1")
        assert handle is not None
        assert not forest.is_stale(handle)
        app.board.clock = FrozenClock(Millis(WallClock().now() + 5 * MINUTE))
        app.monitor.table.cursor = handle
        told = await shows(app, pilot, "as of ")
        assert forest.is_stale(handle)
        assert forest.state(handle).value == "running", "by the viewer's clock it has been silent for six minutes"
        assert (told_ago := re.search(r"pid 4711 on gpu1: there \(told ([0-9]+) s ago\)", told)) is not None
        assert int(told_ago[1]) >= 299
        drawn = next(row for row in app.monitor.table._drawn if row.row.handle == handle)
        spans = app.board.rows.cells(drawn.row, app.monitor.table._layout)
        assert {span.part for span in spans} == {"muted"}


async def test_what_is_copied_of_another_host_is_typed_there_and_what_it_says_is_only_shown(hosts: ToldStreams) -> None:
    hosts.lives("dev", *work("dev"))
    async with app_on("dev") as (app, pilot):
        await shows(app, pilot, "the work of dev")
        forest = app.board.forest
        failed = forest.find("f", "dev")
        assert failed is not None
        found = {choice.name: choice for choice in choices(app.board.assessments, failed)}
        assert found["recommendation"].text == ""
        assert "dev says so" in found["recommendation"].refused
        assert found["id"].text == "f"
        commands = [step.command for step in app.board.assessments.todo(failed) if step.command]
        assert all(command.startswith("ssh -t dev ") for command in commands)


async def test_nothing_of_another_host_is_stopped_from_here(hosts: ToldStreams) -> None:
    hosts.lives("dev", *work("dev"))
    async with app_on("dev") as (app, pilot):
        await shows(app, pilot, "the work of dev")
        plan = app.acts.plan("s")
        assert plan is not None
        assert plan.rungs == ()
        assert plan.refused == (
            "it is on dev; only what runs on this machine can be stopped, and there: ssh -t dev 'delegtop stop s'"
        )


async def test_r_tries_hosts_again(hosts: ToldStreams) -> None:
    hosts.lives("dev", *work("dev"))
    hosts.fails("gpu1", "", 127)
    async with app_on("dev", "gpu1") as (app, pilot):
        await shows(app, pilot, "gpu1 no delegtop")
        hosts.lives("gpu1", *work("gpu1"))
        await pilot.press("R")
        await shows(app, pilot, "the work of gpu1")
        assert "  2 hosts  " in screen(app)[0]


async def test_x_says_that_it_is_masked_there(hosts: ToldStreams) -> None:
    hosts.lives("dev", *work("dev"))
    async with app_on("dev") as (app, pilot):
        await shows(app, pilot, "the work of dev")
        await pilot.press("x")
        await until(pilot, lambda: any("masked on dev" in note.message for note in app._notifications), "the words")


async def test_the_past_of_a_fleet_is_shown_with_its_hosts(hosts: ToldStreams) -> None:
    for name in ("dev", "gpu1"):
        hosts.lives(name, *work(name))
    async with app_on("dev", "gpu1") as (app, pilot):
        await shows(app, pilot, "the work of gpu1")
        app.go_back_to(minutes_ago(8))
        await until(pilot, lambda: app.board.moment is not None and len(app.board.forest) == 4, "the past")
        await settled(pilot)
        states = {app.board.forest.state(handle).value for handle in range(4)}
        assert "failed" not in states, "it had not failed then"
        assert {app.board.forest.host_of(handle) for handle in range(4)} == {"dev", "gpu1"}
        await pilot.press("r")
        await until(pilot, lambda: app.board.moment is None, "the present")


# -- lines -------------------------------------------------------------------------------------------------------------


def status(state: HostState, seconds: float = 0) -> HostStatus:
    return HostStatus("gpu1", state, f"gpu1: {state}; next try in 3 s (R tries now)", seconds=seconds)


def test_a_host_that_was_there_is_lost_and_comes_back_each_told_once() -> None:
    news = HostNews()
    assert news.look([status(HostState.UNREACHABLE)], NOW) == ([], []), "it was never there"
    assert news.look([status(HostState.LIVE)], NOW) == ([], [])
    assert news.look([status(HostState.STALE, 20)], NOW) == ([], [])
    (lost,), alerts = news.look([status(HostState.UNREACHABLE, 30)], NOW)
    assert (lost.what, lost.host, lost.message, alerts) == (LOST, "gpu1", "unreachable", [])
    assert news.look([status(HostState.CONNECTING, 60)], NOW) == ([], [])
    assert news.look([status(HostState.UNREACHABLE, 119)], NOW) == ([], [])
    _, (alert,) = news.look([status(HostState.UNREACHABLE, 121)], NOW)
    assert (alert.cause, alert.name, alert.since) == ("lost", "gpu1", NOW - 121_000)
    assert news.look([status(HostState.UNREACHABLE, 200)], NOW) == ([], [])
    (back,), (over,) = news.look([status(HostState.LIVE)], NOW)
    assert (back.what, over.cause, over.was) == (BACK, "resolved", "lost")


async def test_on_a_small_screen_the_row_that_is_looked_at_says_on_which_host_it_is(hosts: ToldStreams) -> None:
    for name in ("dev", "gpu1"):
        hosts.lives(name, *work(name))
    hosts.fails("gpu2", "ssh: connect to host gpu2 port 22: Connection timed out", 255)
    async with app_on("dev", "gpu1", "gpu2", size=(80, 24)) as (app, pilot):
        await shows(app, pilot, "2 of 3 hosts")
        for _ in range(2):
            await pilot.press("e")
            await settled(pilot)
            host = app.board.forest.host_of(app.monitor.table.cursor or 0)
            assert f"builder on {host}   f   " in await shows(app, pilot, "builder on")
