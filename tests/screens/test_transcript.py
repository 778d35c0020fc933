"""The transcript of an agent: what was said, folded, searched, followed, and the tree as it was on return."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from tests.piloting import until
from tests.samples import MOMENTS, lay_out, moment, observed
from tests.screens.looking import ready, text_of
from tests.screens.test_hostile_text import HOSTILE, dangerous
from textual.pilot import Pilot

from delegtop.app.main import DelegtopApp
from delegtop.app.screens.transcript import TranscriptScreen
from delegtop.app.screens.triage import Triage
from delegtop.base.clock import Clock, FrozenClock

pytestmark = pytest.mark.anyio

ID = "0f4c2a10-7c00-4a01-8b00-0000000000aa"
NOW = moment("2026-11-17T12:00:00Z")


class Log:
    """The transcript of one session, written record by record."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "projects" / "-work" / f"{ID}.jsonl"
        self.path.parent.mkdir(parents=True)
        self._count = 0

    def write(self, type: str, content: Any, /, **more: Any) -> None:
        self._count += 1
        minute, second = divmod(self._count, 60)
        record = {
            "parentUuid": None, "isSidechain": False, "cwd": "/work", "sessionId": ID, "version": "2.1.325",
            "uuid": f"{self._count:032}", "timestamp": f"2026-11-17T11:{minute % 60:02}:{second:02}.000Z", "type": type,
            "message": {"role": type, "id": f"m{self._count}", "model": "m", "content": content, "usage": {}}, **more,
        }  # fmt: skip
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def turn(self, text: str = "Look round") -> None:
        self.write("user", text)
        self.write("assistant", [{"type": "thinking", "thinking": "first thought\nsecond thought\nthird thought"}])
        call = {"type": "tool_use", "id": f"t{self._count}", "name": "Bash", "input": {"command": "ls -l"}}
        self.write("assistant", [call])
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": "\n".join(f"row {n}" for n in range(20))}
        self.write("user", [result])
        self.write("assistant", [{"type": "text", "text": "There is nothing."}], message_stop=True)


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


def app_on(path: Path, clock: Clock | None = None, **how: Any) -> DelegtopApp:
    return DelegtopApp(observed(path, clock=clock or FrozenClock(NOW)), zone=UTC, **how)


@asynccontextmanager
async def reading(app: DelegtopApp, **how: Any) -> AsyncIterator[tuple[TranscriptScreen, Pilot[None]]]:
    """The transcript of what is under the cursor, once its end is there."""
    async with app.run_test(**how) as pilot:
        await ready(pilot)
        yield await opened(pilot), pilot


async def opened(pilot: Pilot[None], key: str = "v") -> TranscriptScreen:
    await pilot.press(key)
    screen = pilot.app.screen
    assert isinstance(screen, TranscriptScreen)
    await until(pilot, lambda: screen.view.pieces, "the end of it is read")
    return screen


async def test_what_was_said_is_shown_with_its_times_and_thoughts_folded(log: Log) -> None:
    log.turn()
    async with reading(app_on(log.path), size=(120, 30)) as (screen, pilot):
        shown = text_of(pilot.app)  # type: ignore[arg-type]  # the pilot's app is any app
        for words in ("11:00:01 prompt", "Look round", "thinking", "first thought", "2 more lines", "Bash", "ls -l"):
            assert words in shown
        assert "row 3" in shown
        assert "16 more lines" in shown
        assert "second thought" not in shown
        assert "There is nothing." in shown
        await pilot.press("h")
        assert "third thought" in screen.view.text
        await pilot.press("h")
        assert "third thought" not in screen.view.text
        await pilot.press("asterisk")
        assert "third thought" in screen.view.text
        assert "row 19" in screen.view.text


async def test_enter_unfolds_the_piece_under_the_cursor_and_folds_it_again(log: Log) -> None:
    log.turn()
    async with reading(app_on(log.path), size=(120, 30)) as (screen, pilot):
        await pilot.press("up")
        await pilot.press("enter")
        assert "row 19" in screen.view.text
        await pilot.press("enter", "enter", "enter")
        assert "row 19" not in screen.view.text
        assert pilot.app.screen is screen


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (40, 10)])
@pytest.mark.parametrize("kind", HOSTILE)
async def test_no_text_acts_or_breaks_the_screen(log: Log, kind: str, size: tuple[int, int]) -> None:
    text = HOSTILE[kind]
    log.write("user", text)
    log.write(
        "assistant",
        [
            {"type": "thinking", "thinking": text},
            {"type": "text", "text": text},
            {"type": "tool_use", "id": text, "name": text, "input": {text: text, "command": text}},
            {"type": text, "text": text},
        ],
    )
    log.write("user", [{"type": "tool_result", "tool_use_id": text, "content": text, "is_error": True}])
    log.write("system", None, subtype=text, content=text)
    async with reading(app_on(log.path), size=size) as (screen, pilot):
        for keys in ((), ("asterisk",), ("pageup", "pageup"), ("home",), ("x",)):
            await pilot.press(*keys)
            await pilot.pause()
            assert list(dangerous(pilot.app)) == [], keys  # type: ignore[arg-type]  # as above
        assert pilot.app.screen is screen


async def test_secrets_are_masked_until_they_are_asked_for(log: Log) -> None:
    log.write("user", "use sk-ant-api03-abcdefghijklmnopqrst1234567890 for it")
    async with reading(app_on(log.path), size=(120, 30)) as (screen, pilot):
        assert "[masked]" in screen.view.text
        assert "abcdefghij" not in screen.view.text
        await pilot.press("x")
        assert "abcdefghij" in screen.view.text
        await pilot.press("escape")
        assert "abcdefghij" not in text_of(pilot.app)  # type: ignore[arg-type]  # as above


async def test_words_are_found_where_they_are_folded_away_and_in_what_is_not_read_yet(log: Log) -> None:
    log.write("user", "the very first words")
    for _ in range(400):
        log.turn("again " + "and again " * 40)
    log.write(
        "user", [{"type": "tool_result", "tool_use_id": "t", "content": "\n".join([*"abcdefghijklm", "a needle"])}]
    )
    async with reading(app_on(log.path), size=(120, 30)) as (screen, pilot):
        assert "the very first" not in screen.view.text
        await pilot.press("slash", *"needle", "enter")
        await until(pilot, lambda: "a needle" in text_of(pilot.app), "it is unfolded there")  # type: ignore[arg-type]  # as above
        await pilot.press("escape")
        await pilot.press("backslash", *"very", "space", *"first", "enter")
        await until(pilot, lambda: "the very first words" in text_of(pilot.app), "it is found")  # type: ignore[arg-type]  # as above
        await pilot.press("n")
        await pilot.pause()
        assert "the very first words" in text_of(pilot.app)  # type: ignore[arg-type]  # as above
        await pilot.press("escape")
        assert pilot.app.screen is screen, "the first escape ends the search"
        await pilot.press("slash", *"nowhere-at-all", "enter")
        await until(pilot, lambda: not screen.busy, "it has looked")
        assert pilot.app.screen is screen


async def test_scrolling_reads_more_and_the_beginning_is_one_key_away(log: Log) -> None:
    log.write("user", "the very first words")
    for _ in range(400):
        log.turn("again " + "and again " * 40)
    async with reading(app_on(log.path), size=(120, 30)) as (screen, pilot):
        count = len(screen.view.pieces)
        assert count < 1_000
        while screen.view.scroll_offset.y > 0 and len(screen.view.pieces) == count:
            await pilot.press("pageup", "pageup", "pageup")
        await until(pilot, lambda: len(screen.view.pieces) > count, "more is read")
        await pilot.press("home")
        await until(pilot, lambda: "the very first words" in text_of(pilot.app), "its beginning")  # type: ignore[arg-type]  # as above
        await pilot.press("end")
        await until(pilot, lambda: screen.held is not None and screen.held.is_last and not screen.busy, "its end")
        assert screen.view.is_at_end


async def test_what_is_added_appears_at_the_end_and_leaves_who_reads_above_alone(log: Log) -> None:
    for _ in range(30):
        log.turn()
    async with reading(app_on(log.path), size=(120, 30)) as (screen, pilot):
        log.write("assistant", [{"type": "text", "text": "something new"}])
        await until(pilot, lambda: "something new" in text_of(pilot.app), "it appears")  # type: ignore[arg-type]  # as above
        await pilot.press("pageup", "pageup")
        above = screen.view.scroll_offset.y
        log.write("assistant", [{"type": "text", "text": "newer still"}])
        await until(pilot, lambda: "newer still" in screen.view.text, "it is there")
        assert screen.view.scroll_offset.y == above
        await pilot.resize_terminal(70, 20)
        await pilot.pause()
        await pilot.press("end")
        await until(pilot, lambda: "newer still" in text_of(pilot.app), "at the end")  # type: ignore[arg-type]  # as above
        await pilot.resize_terminal(140, 40)
        await until(pilot, lambda: "newer still" in text_of(pilot.app), "still at the end")  # type: ignore[arg-type]  # as above


async def test_a_log_that_begins_anew_is_read_anew(log: Log) -> None:
    for _ in range(30):
        log.turn()
    async with reading(app_on(log.path), size=(120, 30)) as (screen, pilot):
        log.path.write_bytes(b"")
        log.write("user", "another beginning")
        await until(pilot, lambda: "another beginning" in screen.view.text, "the other one")
        assert "There is nothing." not in screen.view.text


async def test_keys_are_answered_where_nothing_was_left_of_a_conversation_and_more_came(log: Log) -> None:
    log.turn()
    async with reading(app_on(log.path), size=(120, 30)) as (screen, pilot):
        said = [piece.what for piece in screen.view.pieces]
        screen.view.show([], at=-1)
        screen.view.append(said[:1], follow=False)
        await pilot.press("up", "down", "pagedown")
        assert screen.view.current is not None


async def test_on_return_the_tree_is_as_it_was(tmp_path: Path) -> None:
    app = app_on(lay_out("claude-code", tmp_path), FrozenClock(moment(MOMENTS["claude-code"])))
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("slash", *"lantern", "enter")
        await pilot.press("home", "down", "minus", "down", "p")
        await pilot.pause()
        before = (
            app.monitor.table.cursor,
            app.monitor.table.scroll_offset,
            len(app.board.outline),
            app.board.query.text,
        )
        shown = text_of(app).splitlines()[2:]
        await opened(pilot)
        await pilot.press("escape")
        await opened(pilot)
        await pilot.press("v", "v", "v")
        await pilot.pause()
        after = (
            app.monitor.table.cursor,
            app.monitor.table.scroll_offset,
            len(app.board.outline),
            app.board.query.text,
        )
        assert app.screen is app.monitor
        assert after == before
        assert app.board.paused
        assert text_of(app).splitlines()[2:] == shown


async def test_triage_leads_to_the_words_too_and_takes_them_back(tmp_path: Path) -> None:
    app = app_on(lay_out("claude-code", tmp_path), FrozenClock(moment(MOMENTS["claude-code"])))
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("t")
        triage = app.screen
        assert isinstance(triage, Triage)
        await until(pilot, lambda: triage.problems.problems, "the problems are listed")
        await opened(pilot)
        await pilot.press("escape")
        assert app.screen is triage
        await pilot.press("z")
        assert triage.has_class("-alone")


async def test_a_file_that_cannot_be_read_is_said_and_read_once_it_can(log: Log) -> None:
    log.turn()
    app = app_on(log.path)
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        away = log.path.with_suffix(".away")
        log.path.rename(away)
        await pilot.press("v")
        await until(pilot, lambda: "it cannot be read" in text_of(app), "it is said")
        away.rename(log.path)
        await until(pilot, lambda: "Look round" in text_of(app), "it is read")
