"""Log text is hostile: whatever stands in any field, no control character gets out, nothing acts, nothing breaks."""

import unicodedata
from collections.abc import Callable, Iterator

import pytest
from tests.piloting import until
from tests.screens.looking import running
from textual.pilot import Pilot

from delegtop.app.main import DelegtopApp
from delegtop.app.pages.inspector.inspector_pane import TABS, Inspector
from delegtop.base.clock import FrozenClock, Millis
from delegtop.base.origin import Origin, kernel
from delegtop.feed.bounded_facts import TEXT
from delegtop.feed.followed_file import SourceStatus
from delegtop.model import notes
from delegtop.model.events import (
    LOCALHOST,
    Artifact,
    Awaited,
    Described,
    Deviation,
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Heard,
    Noted,
    Outcome,
    Outlook,
    Phase,
    ProcessSeen,
    Report,
    Started,
    WaitsFor,
)
from delegtop.sources.records import Unreadable

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]

HOSTILE = {
    "control": "\x1b]52;c;RVZJTA==\x07\x1b]0;title\x07\x1b[c\x1b[2J\x9b31m\x90q\x9c\x1bc\r\x08\x7f"
    "\u202egnp.exe\u2066\u2069\u200b\u200f\ufeff\u2028\u2029\u061c"
    "one\ntwo\r\nthree\tfour\vfive\fsix",
    "markup": "[@click=app.quit]press[/] [@click=app.screenshot('x','/tmp')]a[/] [@click=app.notify]b[/]"
    "[/x] a[/]b [bold [red] arr[i]=[1,2] \\[",
    "long": "A" * TEXT,
    "wide": "漢字" * 300 + "👩‍👩‍👧" * 50 + "e" + "\u0301" * 500,
}

KINDS = [kind for name, kind in vars(notes).items() if name.isupper() and isinstance(kind, str)]


def story(text: str) -> list[Event]:
    """One delegation of every kind with the text in every field that can hold any."""
    place = Origin(f"/logs/{text[:2_000]}.jsonl", 1, 0)
    at = Millis(1_766_743_200_000)
    fault = Fault(message=text, type=text, code=text, recoverable=False, recommendation=text)
    report = Report(
        status=text, summary=text, artifacts=(Artifact(text, text, text), Artifact("x", None, text)), errors=(fault,),
        next_steps=text, session_id=text, agent=text, path=(text, text), depth=7,
    )  # fmt: skip
    return [
        Started(
            id=f"root {text}", at=at, origin=place, agent=text, command=text, caller=text, task=text, path=(text, text),
            depth=3, timeout=60_000, parent=f"never seen {text}", host=text, pid=1, product=text,
            refs=((text, text), ("tool_use_id", text)),
        ),
        Started(id=f"child {text}", at=at, origin=place, agent=text, parent=f"root {text}", path=(text,), host=text),
        Started(id=f"child {text}", at=at, origin=Origin("/other.jsonl", 9, 9), agent=text + "?", task=text + "!"),
        *(told for id in (f"root {text}", f"child {text}") for told in described(id, at, place, text)),
        Heard(
            id=f"root {text}", at=at, origin=place, doing=text, tool=text, tokens=1, cost=0.1, phase=Phase.PERMISSION
        ),
        Erred(id=f"root {text}", at=at, origin=place, fault=fault),
        Ended(id=f"child {text}", at=at, origin=place, outcome=Outcome.FAILED, by=Ending.RETURN, report=report),
        Deviation(place, text, text),
        *hung(f"stuck {text}", at, place, text),
    ]  # fmt: skip


def hung(id: str, at: Millis, place: Origin, text: str) -> list[Event]:
    """One whose tool hangs, in a process that is called whatever it likes."""
    return [
        Started(id, at, place, agent=text, pid=1_234, host=LOCALHOST),
        Heard(id, at, place, doing=text, tool=text, phase=Phase.TOOL),
        ProcessSeen(
            id, Millis(at + 115_000), kernel(4_711), 4_711, WaitsFor.INPUT, on=text, outlook=Outlook.ENDLESS,
            still_since=at, name=text, command=text, fits=("descendant", "started", "command"),
        ),
        Noted(id, at, kernel(4_712), notes.LEFT_RUNNING, text),
    ]  # fmt: skip


def described(id: str, at: Millis, place: Origin, text: str) -> list[Event]:
    """All that other programs tell beside a start and an end."""
    return [
        Described(id, at, place, title=text, name=text, model=text, prompt=text, cwd=text, version=text),
        Awaited(id, at, place, until=Millis(at + 30_000), by=text),
        *(Noted(id, at, place, kind, text) for kind in (*(KINDS if len(text) < 10_000 else KINDS[:1]), text[:100])),
    ]


def sources(text: str) -> list[SourceStatus]:
    place = Origin(f"/logs/{text[:2_000]}.jsonl", 1, 0)
    return [
        SourceStatus(
            path=f"/logs/{text[:2_000]}", dialect=text, records=1, unreadable=1, status="unreadable", detail=text,
            deviations=1, reasons={text: 2}, examples=(Unreadable(place, text, text), Deviation(place, text, text)),
            size=10, read=5, changed_at=None,
        )
    ]  # fmt: skip


def dangerous(app: DelegtopApp) -> Iterator[str]:
    """Every character of the rendered screen that a terminal could act on or that hides or reorders text."""
    for strip in app.screen._compositor.render_strips():
        for char in strip.text:
            if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
                yield f"U+{ord(char):04X}"


def has_read(inspector: Inspector) -> bool:
    """Was all of the page that comes from the disk asked for?"""
    return inspector._wanted() in (None, inspector._fetched) and not inspector._fetching.waits


async def visit_everything(app: DelegtopApp, pilot: Pilot[None]) -> None:
    """Every tab for every row, then every screen."""
    await pilot.pause()
    for _ in range(3):
        for tab in TABS:
            app.monitor.action_show_tab(tab)
            await until(pilot, lambda: has_read(app.monitor.inspector))
            await pilot.pause()
            assert list(dangerous(app)) == [], tab
        await pilot.press("down")
    for keys in (("o",), ("y",), ("t",), ("question_mark",), ("slash", "x")):
        await pilot.press(*keys)
        await pilot.pause()
        assert list(dangerous(app)) == [], keys
        await pilot.press("escape")


@pytest.mark.parametrize("kind", HOSTILE)
async def test_hostile_text_in_every_field_is_shown_and_does_nothing(
    make_app: MakeApp, clock: FrozenClock, kind: str
) -> None:
    text = HOSTILE[kind]
    clock.set(Millis(1_766_743_200_000 + 120_000))
    app = make_app(feed=_feed_like(make_app, story(text), sources(text)))
    async with app.run_test(size=(120, 40)) as pilot:
        await visit_everything(app, pilot)
        assert app.is_running, "the text acted: it quit the app"
        assert app.screen is app.monitor
        assert len(app.board.forest) == 3
    assert not app.return_code


async def test_clicking_on_hostile_markup_runs_nothing(make_app: MakeApp, clock: FrozenClock) -> None:
    text = HOSTILE["markup"]
    clock.set(Millis(1_766_743_200_000 + 120_000))
    async with running(make_app(feed=_feed_like(make_app, story(text), sources(text))), size=(120, 40)) as (app, pilot):
        app.monitor.action_show_tab("errors")
        await pilot.pause()
        region = app.monitor.inspector.region
        for y in range(region.y, region.bottom):
            await pilot.click(offset=(20, y))
        app.monitor.action_show_tab("errors")
        await pilot.pause()
        assert app.is_running
        assert app.screen is app.monitor


async def test_a_file_name_that_is_no_unicode_is_shown(make_app: MakeApp) -> None:
    async with running(make_app(feed=_feed_like(make_app, [], sources("\udcff name"))), size=(120, 40)) as (app, pilot):
        await pilot.press("o")
        await pilot.pause()
        assert list(dangerous(app)) == []


def _feed_like(make_app: MakeApp, events: list[Event], statuses: list[SourceStatus]) -> object:
    """A scripted feed, which takes both."""
    return type(make_app().reader.feed)(events, statuses)  # type: ignore[call-arg]  # the protocol says nothing of making one


async def test_a_query_with_hostile_text_is_told_safely(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        app.monitor.show_filter("state:[/x]\u202e[@click=app.quit]x")
        await pilot.pause()
        assert list(dangerous(app)) == []
        assert app.is_running


async def test_a_failing_reader_cannot_smuggle_text_in(make_app: MakeApp) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        app.reader.failure = "\x1b]0;x\x07[/x]\u202e"
        await pilot.press("o")
        await pilot.pause()
        assert list(dangerous(app)) == []


async def test_no_privileged_action_is_left_to_call_by_name(make_app: MakeApp, tmp_path: object) -> None:
    async with running(make_app(), size=(120, 40)) as (app, pilot):
        await app.run_action(f"screenshot('pwn.svg', '{tmp_path}')")
        await app.run_action("simulate_key('q')")
        await pilot.pause()
        assert app.is_running
    from pathlib import Path

    assert list(Path(str(tmp_path)).iterdir()) == []
