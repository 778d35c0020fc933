"""Source health: one line a file, what is wrong first, the newest next, small files with the log they belong to."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.piloting import until
from tests.screens.conftest import NOW, ScriptedFeed
from tests.screens.looking import text_of

from delegtop.app.main import DelegtopApp
from delegtop.app.screens.source_health import SourceHealth, listed
from delegtop.base.clock import DAY, MINUTE
from delegtop.base.origin import Origin
from delegtop.feed.followed_file import SourceStatus
from delegtop.sources.records import Unreadable

MakeApp = Callable[..., DelegtopApp]
SESSION = "5d0f3a52-8b1e-4c67-9a40-2f6be1c7d301"
OTHER = SESSION.replace("5d", "6e")


def source(path: str, *, ago: int = MINUTE, **more: Any) -> SourceStatus:
    known: dict[str, Any] = {"dialect": "claude-code", "records": 7, "unreadable": 0, "status": "live", "size": 1_500}
    known |= {"read": 1_500, "changed_at": NOW - ago}
    return SourceStatus(path, **(known | more))


BROKEN = source(
    "/runs/broken.jsonl",
    ago=9 * DAY,
    unreadable=2,
    reasons={"not JSON": 2},
    examples=(Unreadable(Origin("/runs/broken.jsonl", 14, 0), "not JSON", "{oops"),),
)
FAMILY = (
    source(f"/home/{SESSION}/subagents/agent-a1.jsonl", ago=3 * MINUTE),
    source(f"/home/{SESSION}/subagents/agent-a1.meta.json", ago=4 * MINUTE),
    source(f"/home/{SESSION}/subagents/agent-a2.meta.json", ago=5 * MINUTE),
    source(f"/home/{SESSION}.jsonl", ago=2 * MINUTE),
    source("/runs/old.jsonl", ago=258 * DAY),
)


def paths(*statuses: SourceStatus, wanted: str = "") -> list[tuple[str, int]]:
    return [(entry.status.path, entry.beside) for entry in listed(statuses, wanted)]


def test_what_ails_comes_first_then_the_newest_and_side_files_stand_with_their_session() -> None:
    assert paths(*FAMILY, BROKEN) == [
        ("/runs/broken.jsonl", 0),
        (f"/home/{SESSION}.jsonl", 2),
        (f"/home/{SESSION}/subagents/agent-a1.jsonl", 0),
        ("/runs/old.jsonl", 0),
    ]


def test_a_side_file_that_ails_or_whose_log_is_not_there_has_a_line_of_its_own() -> None:
    alone = source(f"/home/{OTHER}/subagents/agent-a1.meta.json")
    spoilt = source(f"/home/{SESSION}/subagents/agent-a2.meta.json", unreadable=1)
    assert {path for path, _ in paths(*FAMILY[:1], alone, spoilt)} == {FAMILY[0].path, alone.path, spoilt.path}


def test_words_narrow_the_list_by_path_format_and_status() -> None:
    gone = source("/runs/gone.jsonl", dialect="codex", status="gone")
    assert paths(*FAMILY, gone, wanted="runs gone") == [("/runs/gone.jsonl", 0)]
    assert paths(*FAMILY, gone, wanted="CODEX") == [("/runs/gone.jsonl", 0)]
    assert paths(*FAMILY, gone, wanted="nothing like it") == []


async def opened(app: DelegtopApp, pilot: Any) -> str:
    await until(pilot, lambda: not app.reader.loading)
    await pilot.press("o")
    await pilot.pause()
    assert isinstance(app.screen, SourceHealth)
    return text_of(app)


@pytest.mark.anyio
async def test_a_file_has_one_line_and_two_if_something_is_wrong(make_app: MakeApp) -> None:
    app = make_app(feed=ScriptedFeed((), (*FAMILY, BROKEN)))
    async with app.run_test(size=(140, 30)) as pilot:
        lines = (await opened(app, pilot)).splitlines()
        first = next(number for number, line in enumerate(lines) if "STATUS" in line)
        shown = [" ".join(line.split()).rstrip(" ▁▂▃▄▅▆▇█") for line in lines[first + 1 : first + 6]]
        assert shown == [
            "read to the end 9d00h ago claude-code 7 1.5 kB /runs/broken.jsonl",
            "2 unreadable · line 14 · not JSON · {oops",
            f"live 2m ago claude-code 7 1.5 kB /home/{SESSION}.jsonl +2 side files",
            f"live 3m ago claude-code 7 1.5 kB /home/{SESSION}/subagents/agent-a1.jsonl",
            "read to the end 258d ago claude-code 7 1.5 kB /runs/old.jsonl",
        ]


@pytest.mark.anyio
async def test_on_a_narrow_screen_every_file_still_has_one_line(make_app: MakeApp) -> None:
    app = make_app(feed=ScriptedFeed((), FAMILY))
    async with app.run_test(size=(60, 30)) as pilot:
        lines = [line for line in (await opened(app, pilot)).splitlines() if "ago" in line or "side" in line]
        assert len(lines) == 3


@pytest.mark.anyio
async def test_the_list_is_filtered_and_escape_leaves_the_filter_first(make_app: MakeApp) -> None:
    app = make_app(feed=ScriptedFeed((), (*FAMILY, BROKEN)))
    async with app.run_test(size=(140, 30)) as pilot:
        await opened(app, pilot)
        await pilot.press("slash", *"broken")
        await until(pilot, lambda: "old.jsonl" not in text_of(app))
        shown = text_of(app)
        assert "1 source" in shown
        assert "/runs/broken.jsonl:14 · not JSON · {oops" in " ".join(shown.split())
        await pilot.press("enter")
        assert isinstance(app.screen, SourceHealth)
        await pilot.press("escape")
        await until(pilot, lambda: "old.jsonl" in text_of(app))
        assert isinstance(app.screen, SourceHealth)
        await pilot.press("escape")
        assert app.screen.id == "monitor"


@pytest.mark.anyio
async def test_who_looks_is_told_once_of_each_place_that_cannot_be_read(make_app: MakeApp) -> None:
    closed = [
        SourceStatus(path, None, 0, 0, "unreadable", "permission denied") for path in ("/runs/closed", "/runs/also")
    ]
    feed = ScriptedFeed([], closed[:1])
    app = make_app(feed=feed)
    async with app.run_test(size=(160, 30)) as pilot:
        await until(pilot, lambda: len(app._notifications) == 1, "it is told")
        [told] = app._notifications
        assert told.message == (
            "/runs/closed cannot be read (permission denied), so agents it tells of may be missing or seem silent."
        )
        assert "1 cannot be read" in text_of(app)
        app._second()
        await pilot.pause()
        assert len(app._notifications) == 1
        feed._statuses = tuple(closed)
        feed.wake()
        await until(pilot, lambda: len(app._notifications) == 2, "the other one is told")
