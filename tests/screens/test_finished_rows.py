"""Of what came and went while the dashboard ran the newest have rows; the others are counted, and found when wanted."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from msgspec.structs import replace
from tests.screens.conftest import NOW, ScriptedFeed, observed
from tests.screens.looking import earlier, ids, ready, said, screen, settled, under_cursor
from textual.pilot import Pilot

from delegtop.app.main import DelegtopApp
from delegtop.app.state import finished_rows
from delegtop.base.clock import Clock, Millis
from delegtop.base.origin import Origin, of_host
from delegtop.model.events import Ended, Ending, Event, Heard, HostBeat, Outcome, Report, Started

pytestmark = pytest.mark.anyio
FEW = 4


class Wall(Clock):
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.at = NOW

    def now(self) -> Millis:
        return self.at


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finished_rows, "KEPT", FEW)


def begun(id: str, at: int, **facts: Any) -> Started:
    return Started(id, Millis(at), Origin(f"{id}.jsonl", 1, 0), **({"agent": f"agent-{id}"} | facts))


def over(id: str, at: int, outcome: Outcome = Outcome.COMPLETED) -> Ended:
    return Ended(id, Millis(at), Origin(f"{id}.jsonl", 2, 90), outcome, Ending.RETURN, Report(summary=f"{id} is done"))


def session(number: int, outcome: Outcome = Outcome.COMPLETED) -> list[Event]:
    """One that came and went."""
    return [begun(f"s{number:03d}", NOW + number), over(f"s{number:03d}", NOW + number + 1, outcome)]


def sessions(*numbers: int) -> Iterator[Event]:
    return (event for number in numbers for event in session(number))


def app(feed: ScriptedFeed, **settings: Any) -> DelegtopApp:
    return DelegtopApp(observed(feed, Wall(), **settings))


async def told(dashboard: DelegtopApp, feed: ScriptedFeed, pilot: Pilot[Any], *events: Event) -> None:
    """These arrive, and seconds pass."""
    known = dashboard.intake.held
    feed.say(*events)
    assert not known
    await settled(pilot)
    for _ in range(3):
        dashboard._second()
        await settled(pilot)


async def watching(
    make: Callable[[DelegtopApp, ScriptedFeed, Pilot[Any]], Any], first: list[Event], **settings: Any
) -> None:
    feed = ScriptedFeed(first)
    dashboard = app(feed, **settings)
    async with dashboard.run_test(size=(140, 12)) as pilot:
        await ready(pilot)
        await make(dashboard, feed, pilot)


async def test_the_oldest_have_no_rows_and_are_counted() -> None:
    async def look(dashboard: DelegtopApp, feed: ScriptedFeed, pilot: Pilot[Any]) -> None:
        await told(dashboard, feed, pilot, *sessions(*range(30)))
        assert len(ids(dashboard)) < 30
        assert "s029" in ids(dashboard)
        assert "30 done" in screen(dashboard)[0]
        hidden = 30 - sum(id.startswith("s0") for id in ids(dashboard))
        assert earlier(dashboard) == f"{hidden} over and without a row   D shows more"

    await watching(look, [begun("open", NOW - 1_000)])


async def test_what_is_open_and_what_went_wrong_stays() -> None:
    async def look(dashboard: DelegtopApp, feed: ScriptedFeed, pilot: Pilot[Any]) -> None:
        await told(dashboard, feed, pilot, *sessions(*range(9)), *session(9, Outcome.FAILED), *sessions(*range(10, 30)))
        shown = ids(dashboard)
        assert {"open", "s009"} <= {*shown}
        assert [dashboard.board.forest.id(each.handle) for each in dashboard.board.assessments.problems()] == ["s009"]
        assert under_cursor(dashboard) == "s009"

    await watching(look, [begun("open", NOW - 1_000)])


async def test_of_earlier_troubles_too_the_newest_have_rows_and_all_are_counted() -> None:
    async def look(dashboard: DelegtopApp, feed: ScriptedFeed, pilot: Pilot[Any]) -> None:
        for number in range(20):
            feed.say(*session(number, Outcome.FAILED))
        await told(dashboard, feed, pilot, *sessions(20, 21))
        assert sum(id.startswith("s0") for id in ids(dashboard)) == 22, "what just ended badly is no earlier trouble"
        clock = dashboard.board.clock
        assert isinstance(clock, Wall)
        clock.at = Millis(NOW + 40 * 60_000)
        await told(dashboard, feed, pilot, *sessions(*range(22, 40)))
        await told(dashboard, feed, pilot)
        board = dashboard.board
        failed = [id for id in map(board.forest.id, range(len(board.forest))) if id < "s020"]
        assert FEW <= len(failed) < 20
        assert "s019" in failed
        assert "earlier: 20 failed" in earlier(dashboard)
        assert "20 failed" in screen(dashboard)[0]
        await pilot.press("colon", *"go s000", "enter")
        await settled(pilot)
        assert under_cursor(dashboard) == "s000"

    await watching(look, [begun("open", NOW - 1_000)])


async def test_what_was_over_at_the_start_stays() -> None:
    before: list[Event] = [event for n in range(30) for event in (begun(f"b{n}", NOW - 900), over(f"b{n}", NOW - 800))]

    async def look(dashboard: DelegtopApp, feed: ScriptedFeed, pilot: Pilot[Any]) -> None:
        await told(dashboard, feed, pilot, *sessions(*range(60)))
        assert sum(id.startswith("b") for id in ids(dashboard)) == 30
        assert dashboard.board.finished.hidden

    await watching(look, before)


async def test_who_is_heard_of_again_has_its_row_again_with_all_that_was_known() -> None:
    async def look(dashboard: DelegtopApp, feed: ScriptedFeed, pilot: Pilot[Any]) -> None:
        await told(dashboard, feed, pilot, *sessions(*range(30)))
        board = dashboard.board
        assert board.forest.find("s000") is None
        hidden = board.finished.hidden
        await told(dashboard, feed, pilot, Heard("s000", Millis(NOW + 50), Origin("s000.jsonl", 3, 99), "once more"))
        handle = board.forest.find("s000")
        assert handle is not None
        facts = board.forest.delegation(handle)
        assert (facts.agent, facts.started_at, facts.doing) == ("agent-s000", NOW, "once more")
        assert facts.report.summary == "s000 is done"
        assert board.finished.hidden == hidden - 1
        assert "30 done" in screen(dashboard)[0], "it is counted once"

    await watching(look, [begun("open", NOW - 1_000)])


async def test_a_child_brings_its_parent_back() -> None:
    async def look(dashboard: DelegtopApp, feed: ScriptedFeed, pilot: Pilot[Any]) -> None:
        await told(dashboard, feed, pilot, *sessions(*range(30)))
        await told(dashboard, feed, pilot, begun("child", NOW + 60, parent="s000"))
        forest = dashboard.board.forest
        child, parent = forest.find("child"), forest.find("s000")
        assert child is not None
        assert parent is not None
        assert forest.parent(child) == parent

    await watching(look, [begun("open", NOW - 1_000)])


async def test_a_key_gives_rows_to_more_of_them_and_the_line_finds_one_by_its_id() -> None:
    async def look(dashboard: DelegtopApp, feed: ScriptedFeed, pilot: Pilot[Any]) -> None:
        await told(dashboard, feed, pilot, *sessions(*range(30)))
        hidden, rows = dashboard.board.finished.hidden, len(ids(dashboard))
        await pilot.press("D")
        await settled(pilot)
        assert dashboard.board.finished.hidden == hidden - FEW
        assert len(ids(dashboard)) == rows + FEW
        await pilot.press("colon", *"go s001", "enter")
        await settled(pilot)
        assert under_cursor(dashboard) == "s001"
        for _ in range(30):
            await pilot.press("D")
        await settled(pilot)
        assert {f"s{number:03d}" for number in range(30)} <= {*ids(dashboard)}
        assert not earlier(dashboard)
        assert "All that is over has its row." in said(dashboard)

    await watching(look, [begun("open", NOW - 1_000)])


async def test_what_the_operator_looks_at_stays_and_so_do_the_folds() -> None:
    family: list[Event] = [
        begun("top", NOW),
        begun("below", NOW + 1, parent="top"),
        over("below", NOW + 2),
        over("top", NOW + 3),
    ]

    async def look(dashboard: DelegtopApp, feed: ScriptedFeed, pilot: Pilot[Any]) -> None:
        await told(dashboard, feed, pilot, *family)
        await pilot.press("colon", *"go top", "enter")
        await settled(pilot)
        await pilot.press("space")
        await told(dashboard, feed, pilot, *sessions(*range(30)))
        assert dashboard.board.finished.hidden
        assert under_cursor(dashboard) == "top"
        assert "below" not in ids(dashboard), "it is folded"
        await pilot.press("space")
        await settled(pilot)
        assert "below" in ids(dashboard)

    await watching(look, [begun("open", NOW - 1_000)])


async def test_nothing_is_told_twice_and_nothing_of_the_wrong_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DelegtopApp, "bell", lambda _: None)

    async def look(dashboard: DelegtopApp, feed: ScriptedFeed, pilot: Pilot[Any]) -> None:
        dashboard._second()
        heard: list[str] = []
        monkeypatch.setattr(dashboard, "notify", lambda message, title="", **_: heard.append(f"{title} {message}"))
        monkeypatch.setattr("delegtop.app.alarm.TOASTS", 1_000)
        for first in range(0, 40, 5):
            await told(dashboard, feed, pilot, *sessions(*range(first, first + 5)))
        await told(dashboard, feed, pilot, *session(0), over("open", NOW + 99, Outcome.FAILED))
        assert dashboard.board.finished.hidden
        for number in range(40):
            assert sum(f"agent-s{number:03d}" in each and "done" in each for each in heard) == 1
        assert sum("agent-open failed" in each for each in heard) == 1

    await watching(look, [begun("open", NOW - 1_000)], notify=("bell",))


def on(host: str, *events: Event) -> list[Event]:
    return [replace(event, origin=replace(event.origin, host=host)) for event in events]


def beat(host: str, at: int) -> HostBeat:
    return HostBeat(Millis(at), of_host(host), lasts=7_500)


def rows_on(dashboard: DelegtopApp, host: str) -> list[str]:
    forest = dashboard.board.forest
    return [forest.delegation(handle).id for handle in forest.on_host(host)]


async def test_of_several_hosts_too_the_oldest_have_no_rows_and_each_is_counted_on_its_own() -> None:
    async def look(dashboard: DelegtopApp, feed: ScriptedFeed, pilot: Pilot[Any]) -> None:
        both = [event for number in range(30) for host in ("dev", "gpu") for event in on(host, *session(number))]
        await told(dashboard, feed, pilot, *both, beat("dev", NOW), beat("gpu", NOW))
        board = dashboard.board
        shown = {host: rows_on(dashboard, host) for host in ("dev", "gpu")}
        assert board.finished.hidden > 30
        assert board.finished.hidden == 60 + 2 - sum(map(len, shown.values()))
        assert "60 done" in screen(dashboard)[0]
        assert "open" in shown["dev"]
        assert "s029" in shown["dev"]
        assert "s029" in shown["gpu"]
        await told(
            dashboard, feed, pilot, *on("gpu", Heard("s000", Millis(NOW + 50), Origin("s000.jsonl", 3, 99), "x"))
        )
        assert "s000" in rows_on(dashboard, "gpu")
        assert "s000" not in rows_on(dashboard, "dev"), "the one of that id on another host is not heard of"
        for _ in range(30):
            await pilot.press("D")
        await settled(pilot)
        assert {host: len(rows_on(dashboard, host)) for host in ("dev", "gpu")} == {"dev": 31, "gpu": 31}
        assert not board.finished.hidden

    await watching(look, [*on("dev", begun("open", NOW - 1_000)), *on("gpu", begun("open", NOW - 1_000))])


async def test_a_host_that_is_not_heard_of_keeps_its_rows() -> None:
    async def look(dashboard: DelegtopApp, feed: ScriptedFeed, pilot: Pilot[Any]) -> None:
        clock = dashboard.board.clock
        assert isinstance(clock, Wall)
        gone = [event for number in range(3) for event in on("gpu", *session(number))]
        await told(dashboard, feed, pilot, *gone, beat("gpu", NOW), beat("dev", NOW))
        clock.at = Millis(NOW + 60_000)
        others = [event for number in range(60) for event in on("dev", *session(number))]
        await told(dashboard, feed, pilot, *others, beat("dev", clock.at))
        assert dashboard.board.finished.hidden
        assert {"s000", "s001", "s002"} <= {*rows_on(dashboard, "gpu")}
        await told(dashboard, feed, pilot, beat("gpu", clock.at))
        more = [event for number in range(60, 90) for event in on("dev", *session(number))]
        await told(dashboard, feed, pilot, *more, beat("dev", clock.at))
        assert "s000" not in rows_on(dashboard, "gpu"), "it is there again, and what is over goes as elsewhere"

    await watching(look, [*on("dev", begun("open", NOW - 1_000)), *on("gpu", begun("open", NOW - 1_000))])


async def test_one_other_host_alone_is_no_different() -> None:
    async def look(dashboard: DelegtopApp, feed: ScriptedFeed, pilot: Pilot[Any]) -> None:
        await told(dashboard, feed, pilot, *on("dev", *sessions(*range(30))), beat("dev", NOW))
        assert dashboard.board.finished.hidden
        await pilot.press("colon", *"go s001", "enter")
        await settled(pilot)
        assert under_cursor(dashboard) == "s001"

    await watching(look, on("dev", begun("open", NOW - 1_000)))


async def test_a_host_that_comes_while_rows_are_put_away_is_not_forgotten() -> None:
    async def look(dashboard: DelegtopApp, feed: ScriptedFeed, pilot: Pilot[Any]) -> None:
        feed.say(*on("dev", *sessions(*range(30))))
        await settled(pilot)
        dashboard.board.finished._begin(())
        await told(dashboard, feed, pilot, *on("gpu", begun("late", NOW)), beat("gpu", NOW))
        assert rows_on(dashboard, "gpu") == ["late"]
        assert "30 done" in screen(dashboard)[0]
        assert dashboard.board.forest.hosts["gpu"].beaten_at == NOW

    await watching(look, on("dev", begun("open", NOW - 1_000)))


async def test_what_is_told_again_and_again_does_not_keep_its_rows_for_ever() -> None:
    """A host that is connected to anew tells of its registries and databases from the beginning."""

    async def look(dashboard: DelegtopApp, feed: ScriptedFeed, pilot: Pilot[Any]) -> None:
        everything = list(sessions(*range(60)))
        for _ in range(4):
            await told(dashboard, feed, pilot, *on("dev", *everything), beat("dev", NOW))
        for number in range(60, 120, 20):
            await told(dashboard, feed, pilot, *on("dev", *sessions(*range(number, number + 20))))
        assert len(rows_on(dashboard, "dev")) < 60

    await watching(look, on("dev", begun("open", NOW - 1_000)))
