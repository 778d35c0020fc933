"""Keys are waited for asleep, and come as Textual's own driver tells them, however they are cut on their way."""

import asyncio
import os
import random
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from select import select
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from tests.patience import until
from textual import constants
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key, Paste
from textual.message import Message

from delegtop.app import key_driver
from delegtop.app.key_driver import KeyDriver, stands_in_for
from delegtop.app.terminal_loan import Borrowing

KEYS = [
    *(b"a", b"\r", b"\t", b"\x03", "é".encode(), "漢字".encode(), b"\x1bx", b"\x1b[A", b"\x1b[1;5C", b"\x1bOP"),
    *(b"\x1b[27;5;9~", b"\x1b[<0;7;5M\x1b[<0;7;5m", b"\x1b[<64;7;5M", b"\x1b[I", b"\x1b[O"),
    b"\x1b[200~what was copied\x1b[A\n\x1b[201~",
]
"""Not a lone Escape, which is a question of time."""


class Pressed:
    """A driver that listens to a pipe, and what it told."""

    def __init__(self, kind: type[LinuxDriver], *, starts: bool = True) -> None:
        self._heard, self.fd = os.pipe()
        self._before = {number: signal.getsignal(number) for number in (signal.SIGTSTP, signal.SIGCONT)}
        self.driver = asyncio.run(_made(kind))
        self.driver.fileno = self._heard
        self.messages: list[Message] = []
        driver: Any = self.driver
        driver.process_message = self.messages.append
        self._thread = Thread(target=self.driver.run_input_thread)
        self.driver._key_thread = self._thread
        if starts:
            self._thread.start()

    def press(self, keys: bytes) -> None:
        os.write(self.fd, keys)

    def told(self) -> list[object]:
        return [told for message in self.messages for told in _words(message)]

    @property
    def is_over(self) -> bool:
        return not self._thread.is_alive()

    def close(self) -> None:
        self.driver.disable_input()
        self.driver.close()
        os.close(self.fd)
        os.close(self._heard)
        for number, handler in self._before.items():
            signal.signal(number, handler)


async def _made(kind: type[LinuxDriver]) -> LinuxDriver:
    return kind(App(), mouse=False)  # there is nothing to tell it to


def _words(message: Message) -> Iterator[object]:
    if isinstance(message, Key):
        yield message.key
    elif isinstance(message, Paste):
        yield message.text
    else:
        yield type(message).__name__, getattr(message, "x", None), getattr(message, "y", None)


@contextmanager
def pressed(kind: type[LinuxDriver] = KeyDriver) -> Iterator[Pressed]:
    made = Pressed(kind)
    try:
        yield made
    finally:
        made.close()


def told_by(kind: type[LinuxDriver], parts: Sequence[bytes]) -> list[object]:
    """What it tells of these, each of which comes when all that the one before told is told; up to a last key."""
    with pressed(kind) as keys:
        for part in parts:
            keys.press(part)
            until(lambda: not select([keys.driver.fileno], [], [], 0)[0])
        keys.press(b"\x1b[24~")  # F12 ends whatever was begun
        until(lambda: "f12" in keys.told())
        return keys.told()


def test_a_lone_escape_is_told_though_nothing_follows_it() -> None:
    with pressed() as keys:
        for count in range(1, 4):
            keys.press(b"\x1b")
            until(lambda count=count: keys.told() == ["escape"] * count)  # type: ignore[misc]


def test_an_escape_that_goes_on_at_once_is_one_key() -> None:
    with pressed() as keys:
        keys.press(b"\x1b[A\x1bx")
        until(lambda: len(keys.told()) == 2)
        assert keys.told() == ["up", "alt+x"]


@pytest.mark.parametrize("seed", range(6))
def test_what_it_tells_is_what_textual_tells(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ESCAPE_DELAY", 60.0)  # however long the machine takes for the rest
    dice = random.Random(seed)
    whole = b"".join(dice.choice(KEYS) for _ in range(12))
    cuts = sorted(dice.sample(range(1, len(whole)), 5))
    parts = [whole[left:right] for left, right in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert told_by(KeyDriver, parts) == told_by(LinuxDriver, parts)


@pytest.mark.parametrize(
    "unheard_of",
    [
        *(b"\xe9", b"\x80\xff", b"\xe6\xbcx", b"\xed\xa0\x80"),  # no UTF-8: of a Latin-1 terminal, or cut off
        *(b"\x1b[99999999999u", b"\x1b[1114112u", b"\x1b[97;;1114112u", b"\x1b[97;1:3u"),  # no key, and no character
        b"\x1b[48;0;0;0;0t\x1b[<35;4;2M",  # a mouse within nothing
    ],
)
def test_what_no_keyboard_sends_ends_nothing(unheard_of: bytes) -> None:
    told = told_by(KeyDriver, [b"a" + unheard_of, b"b"])
    assert (told[0], told[-2], told[-1]) == ("a", "b", "f12")


def test_a_letter_that_is_no_utf8_is_one_that_nobody_can_read() -> None:
    assert told_by(KeyDriver, [b"\x1b[200~caf\xe9\x1b[201~"]) == ["caf\N{REPLACEMENT CHARACTER}", "f12"]


def test_it_does_not_wake_until_something_is_pressed(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float | None] = []

    def waiting(heard: Any, *others: Any) -> Any:
        waits.append(others[-1])
        return select(heard, *others)

    monkeypatch.setattr(key_driver, "select", waiting)
    with pressed() as keys:
        until(lambda: waits == [None])
        keys.press(b"a")
        until(lambda: waits == [None, None])
        keys.press(b"\x1b")
        until(lambda: keys.told() == ["a", "escape"] and waits[-1] is None)
        assert len(waits) > 3  # it looked again for what might have followed


def test_told_to_end_it_ends_asleep_as_it_is_and_begins_anew() -> None:
    keys = Pressed(KeyDriver)
    keys.driver.disable_input()
    assert keys.is_over
    assert not keys.driver.exit_event.is_set()
    again = Thread(target=keys.driver.run_input_thread)
    keys.driver._key_thread = again
    again.start()
    keys.press(b"b")
    until(lambda: keys.told() == ["b"])
    keys.close()
    assert not again.is_alive()


def test_where_there_is_no_terminal_any_more_it_waits_for_the_end_asleep(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[object] = []

    def waiting(heard: Any, *others: Any) -> Any:
        waits.append(heard)
        return select(heard, *others)

    monkeypatch.setattr(key_driver, "select", waiting)
    keys = Pressed(KeyDriver, starts=False)
    keys.press(b"c")
    os.close(keys.fd)
    keys._thread.start()
    until(lambda: keys.told() == ["c"] and len(waits) == 3)  # the key, the end, and then nothing but the end
    keys.driver.disable_input()
    assert keys.is_over
    keys.fd = os.open(os.devnull, os.O_RDONLY)
    keys.close()


def test_a_terminal_that_is_taken_away_is_told_of_and_not_waited_for() -> None:
    said: list[str] = []
    keys = Pressed(KeyDriver, starts=False)
    driver: Any = keys.driver
    driver.input_tty, driver._app = True, SimpleNamespace(hung_up=lambda: said.append("it is gone"))
    os.close(keys.fd)
    keys._thread.start()
    until(lambda: keys.is_over)
    assert said == ["it is gone"]
    keys.fd = os.open(os.devnull, os.O_RDONLY)
    keys.close()


def test_another_driver_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(LinuxDriver):
        pass

    assert stands_in_for(LinuxDriver)
    assert not stands_in_for(Other)
    assert Borrowing().get_driver_class() is KeyDriver
    monkeypatch.setattr(key_driver, "XTermParser", object)  # one that tells otherwise whether it holds back
    assert Borrowing().get_driver_class() is LinuxDriver
