"""The search reaches everything that ever was, and triage says whether it happened before."""

import json
import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pytest
from tests.past_sessions import few, place_of
from tests.piloting import comes, until
from tests.screens.looking import running, said, settled, text_of, under_cursor

from delegtop.app.main import DelegtopApp
from delegtop.app.screens.found_session import FoundSessionDialog
from delegtop.app.screens.past_search import PastSearch
from delegtop.app.screens.triage import Triage
from delegtop.app.state.past_sessions import PastSessions
from delegtop.base.clock import DAY, MINUTE, Millis
from delegtop.cli import main
from delegtop.model.events import Fault, Phase
from delegtop.search.search_file import SearchFile, Stored
from delegtop.search.session_words import KeptWords, PastTrouble, SessionWords, error_keys, still_keys

if TYPE_CHECKING:
    from textual.pilot import Pilot

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]
SIZE = (120, 40)
NOW = Millis(1_766_746_931_000)
FAILED = "sess_1766743380_plan01"


def kept(
    number: int, title: str, *, troubles: Sequence[PastTrouble] = (), id: str = "", prompt: str = "", log: str = ""
) -> None:
    """One session of the past that can be found."""
    at = Millis(NOW - number * DAY)
    id = id or f"{number:08x}-0000-4000-8000-{number:012x}"
    log = log or f"/srv/logs/{id}.jsonl"
    words = KeptWords(title=title, prompt=prompt, session=id, named=id, cwd="/srv/garden", place=log.encode())
    told = SessionWords(id, at, at, None, "idle", "claude", "claude-code", "/srv/garden", "", words, tuple(troubles))
    assert SearchFile().write([Stored(number, 1, [told])])


async def looked(app: DelegtopApp, pilot: "Pilot[None]", count: int) -> PastSearch:
    """Wait until so many are found."""

    def is_there() -> bool:
        screen = app.screen
        if not isinstance(screen, PastSearch) or screen._looking.waits or screen._asked is not None:
            return False
        return len(screen.found) == count and bool(screen._said)

    await until(pilot, is_there)
    assert isinstance(app.screen, PastSearch)
    return app.screen


async def test_words_are_found_in_everything_that_ever_was_while_they_are_typed(make_app: MakeApp) -> None:
    kept(3, "Prune the roses")
    kept(9, "Water the tomatoes", prompt="and look at the roses", log=__file__)
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("vertical_line", *"ros")
        await looked(app, pilot, 2)
        shown = text_of(app)
        assert "2025-12-23 11:02  ○ idle       claude              /srv/garden               Prune the roses" in shown
        assert "prompt: and look at the roses" in shown
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, FoundSessionDialog))
        await pilot.pause()
        assert "cd /srv/garden && claude --resume 00000009-0000-4000-8000-000000000009" in text_of(app)
        assert "replay it in this terminal" in text_of(app)


async def test_nothing_opens_a_session_whose_log_is_gone(make_app: MakeApp) -> None:
    kept(3, "Prune the roses")
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("vertical_line", *"ros")
        await looked(app, pilot, 1)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, FoundSessionDialog))
        await pilot.pause()
        assert "its log is gone" in text_of(app)
        assert "--resume" not in text_of(app)


async def test_what_was_copied_or_written_a_moment_ago_is_found_as_in_a_shell(
    make_app: MakeApp, capsys: pytest.CaptureFixture[str]
) -> None:
    few()
    for number in (1, 2, 3):
        os.utime(place_of(number))
    main(["find", "roses", "--json"])
    in_a_shell = [each["id"] for each in json.loads(capsys.readouterr().out)["found"]]
    async with running(make_app(), size=SIZE) as (app, pilot):
        app.past._updates = True  # as where no source is named
        await pilot.press("vertical_line", *"roses")
        screen = await looked(app, pilot, 1)
        await until(pilot, lambda: "1 found   as it was" in text_of(app))
        assert [each.id for each in screen.found] == in_a_shell


async def test_what_is_not_looked_through_is_said(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("vertical_line", *"roses")
        await looked(app, pilot, 0)
        assert "nothing   new logs not read: `delegtop find`" in text_of(app)
        monkeypatch.setattr(PastSessions, "is_reading", True)
        app.past._unread = 1_234
        await until(pilot, lambda: "1,234 logs are not read yet …" in text_of(app))
        await pilot.press(*" red")
        await until(pilot, lambda: "nothing yet   1,234 logs" in text_of(app))


async def test_what_is_still_at_work_is_said_to_be_in_the_rows(make_app: MakeApp) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("vertical_line", *"implement")
        await looked(app, pilot, 0)
        assert "nothing, but the rows have it: esc, \\" in text_of(app)


async def test_what_has_a_row_is_gone_to(make_app: MakeApp) -> None:
    kept(1, "A plan for the roses", id=FAILED)
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("backslash", *"roses", "tab")
        await looked(app, pilot, 1)
        await pilot.press("enter")
        await settled(pilot)
        assert app.screen is app.monitor
        assert under_cursor(app) == FAILED


async def test_words_that_stand_in_no_row_are_looked_for_in_the_past(make_app: MakeApp) -> None:
    kept(1, "Prune the roses")
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("backslash", *"roses", "enter")
        await looked(app, pilot, 1)
        await pilot.press("escape")
        await settled(pilot)
        assert app.screen is app.monitor


async def test_who_keeps_nothing_is_told_what_reads_the_past(make_app: MakeApp) -> None:
    async with running(make_app(index=False), size=SIZE) as (app, pilot):
        await pilot.press("vertical_line")
        await settled(pilot)
        assert "Nothing of the past is kept (index = false): `delegtop find` reads it." in said(app)


async def test_keys_are_taken_while_it_is_looked_and_the_last_words_count(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(1, "Prune the roses")
    go_on, asked, find = threading.Event(), list[str](), PastSessions.find

    def slow(past: PastSessions, text: str) -> object:
        asked.append(text)
        go_on.wait()
        return find(past, text)

    monkeypatch.setattr(PastSessions, "find", slow)
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("vertical_line")
        await until(pilot, lambda: isinstance(app.screen, PastSearch))
        screen = app.screen
        assert isinstance(screen, PastSearch)
        screen._prompt.open("x")
        await comes(lambda: asked == ["x"])
        screen._prompt.open("roses")
        await comes(lambda: screen._words == "roses" and screen._prompt.text == "roses")
        go_on.set()
        await looked(app, pilot, 1)
        assert asked == ["x", "roses"]


@pytest.mark.parametrize("words", ['"', "NEAR(a b)", "depth>1", "a" * 300, "[red]x[/]", "\\"])
async def test_whatever_is_typed_it_goes_on(words: str, make_app: MakeApp) -> None:
    kept(1, "[bold red]Prune[/] \x1b[2J the \u202eroses")
    async with running(make_app(), size=SIZE) as (app, pilot):
        await pilot.press("vertical_line")
        await until(pilot, lambda: isinstance(app.screen, PastSearch))
        screen = app.screen
        assert isinstance(screen, PastSearch)
        screen._prompt.open(words)
        await until(pilot, lambda: bool(screen._said))
        screen._prompt.open("prune")
        await looked(app, pilot, 1)
        assert "[bold red]Prune[/] ␛[2J the <U+202E>roses" in text_of(app)


async def triage_of(app: DelegtopApp, pilot: "Pilot[None]", words: str) -> str:
    """What triage shows once these words stand there."""
    await pilot.press("t")
    await until(pilot, lambda: isinstance(app.screen, Triage) and words in text_of(app))
    return text_of(app)


async def test_triage_says_when_it_stood_still_before_and_what_ended_it(make_app: MakeApp) -> None:
    keys = still_keys(Phase.TOOL, "bash", "bash: lake build", "implementer")
    for number, ended in enumerate(("went on", "ended interrupted", "went on", "was taken up again"), 2):
        kept(number, "Build it", troubles=[PastTrouble(Millis(NOW - number * DAY), *keys, number * 10 * MINUTE, ended)])
    kept(120, "Long ago", troubles=[PastTrouble(Millis(NOW - 120 * DAY), *keys, MINUTE, "went on")])
    async with running(make_app(), size=(108, 70)) as (app, pilot):
        shown = await triage_of(app, pilot, "Seen before")
        assert "4 times in 90 days: bash bash: lake build" in shown
        assert "2025-12-24  2d00h ago   went on after 20:00 · claude · /srv/garden" in shown
        assert "2025-12-23  3d00h ago   ended interrupted after 30:00" in shown
        assert "2025-12-21" not in shown


async def test_triage_says_honestly_that_it_never_happened_before_or_only_alike(make_app: MakeApp) -> None:
    kept(2, "Something else")
    async with running(make_app(), size=(108, 70)) as (app, pilot):
        assert "Never in 90 days, of 1 delegations that can be found: bash bash: lake build" in await triage_of(
            app, pilot, "Seen before"
        )
        exact, loose = still_keys(Phase.TOOL, "bash", "make", "implementer")
        kept(3, "Make it", troubles=[PastTrouble(Millis(NOW - DAY), exact, loose, MINUTE, "went on")])
        app.past.version += 1
        await until(pilot, lambda: "Not with these words; the same tool and agent once in 90 days" in text_of(app))


async def test_an_error_is_known_again_by_its_words_without_numbers_and_paths() -> None:
    one, other = (
        Fault(f"unknown identifier 'Nat.foo' in /home/{who}/Basic.lean:{line} (request {id})", code="E_BUILD")
        for who, line, id in (("ann", 41, "req_0a1b2c3d"), ("bob", 7, "req_9f8e7d6c"))
    )
    assert error_keys(one, "implementer") == error_keys(other, "implementer")
    assert error_keys(one, None) != error_keys(Fault("unknown module 'Nat'", code="E_BUILD"), None)


async def test_where_nothing_of_the_past_is_known_nothing_is_said_of_it(make_app: MakeApp) -> None:
    async with running(make_app(), size=(108, 70)) as (app, pilot):
        assert "Seen before" not in await triage_of(app, pilot, "What to do")
