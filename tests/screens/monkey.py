"""A hand that knows every key and no purpose: it presses, clicks, drags, resizes and lets the logs grow, by chance.

What it does follows from its seed and never from what it sees, so a seed can be tried again. When it takes effect is up
to the machine: like a quick hand it seldom waits for one key to be done before it presses the next.
"""

import asyncio
import pkgutil
import random
import shutil
from collections import deque
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from textual import events
from textual.app import App
from textual.dom import DOMNode
from textual.geometry import Size
from textual.keys import key_to_character
from textual.widgets import Input, OptionList

import delegtop.app
from delegtop.app import keymap
from delegtop.app.main import DelegtopApp
from delegtop.base.clock import MINUTE, SECOND, Millis

LINES = frozenset({".jsonl", ".log"})
SIZES = ((80, 24), (120, 35), (160, 45), (200, 60), (40, 10), (300, 20))
JUNK = (*"äß日🙂\u0301\u202e\x00", "f12", "ctrl+at", "insert", "ctrl+shift+left", "alt+enter", "ctrl+underscore")
OFTEN = (
    ("enter",) * 8
    + ("escape",) * 8
    + ("t", "r", "g", "y", "e", "down", "colon", "ctrl+p", "C", "W", "O", "d", "tab") * 2
)
"""What opens, leaves and goes on: without these most keys would fall into some line of text."""
WAYS = (
    ("t", "s"),
    ("t", "w", "1", "enter"),
    ("5", "enter", "enter"),
    ("6", "enter", "down", "enter"),
    ("t", "tab", "enter"),
    ("g", "1", "0", "colon", "4", "1", "enter"),
    ("r", "g", "minus", "5", "m", "enter"),
)
"""Some screens lie behind several keys, which chance would seldom press in this order."""
REMEMBERED = 60
HANGS = 120.0
"""Seconds without an answer that are not for want of time."""


class Hours:
    """A clock that is put on by hand, for a program that takes its time for the wall's."""

    def __init__(self, at: Millis) -> None:
        self.at = at

    def now(self) -> Millis:
        return self.at


class Growing:
    """A copy of some logs, of which the first part is there and the rest comes line by line, over and over."""

    def __init__(self, sample: Path, folder: Path) -> None:
        self.folder = shutil.copytree(sample, folder) if sample.is_dir() else folder
        paths = sorted(path for path in folder.rglob("*") if path.suffix in LINES)
        self._rests = {path: path.read_bytes().splitlines(keepends=True) for path in paths}
        self._begun = {path: deque(lines[len(lines) // 2 :]) for path, lines in self._rests.items()}
        for path, lines in self._rests.items():
            path.write_bytes(b"".join(lines[: len(lines) // 2]))

    def grow(self, chance: random.Random) -> None:
        """One line more, or half of one; a log that has been told begins again."""
        if not self._begun:
            return
        path = chance.choice(list(self._begun))
        rest = self._begun[path]
        if not rest:
            rest.extend(self._rests[path])
            path.unlink() if chance.random() < 0.5 else path.write_bytes(b"")
        whole = rest.popleft()
        cut = chance.randrange(len(whole)) if len(whole) > 1 and chance.random() < 0.2 else len(whole)
        if cut < len(whole):
            rest.appendleft(whole[cut:])
        with path.open("ab") as file:
            file.write(whole[:cut])


class Monkey:
    """One seed. `lived` tells what it did last."""

    def __init__(self, app: DelegtopApp, hours: Hours, logs: Growing, seed: str) -> None:
        self.app, self._hours, self._logs = app, hours, logs
        self.chance = random.Random(seed)
        self.lived: deque[str] = deque(maxlen=REMEMBERED)
        self._size = (120, 35)
        self._keys = sorted(set(keys()))

    async def play(self, steps: int) -> None:
        """Take so many steps, fewer if the program falls over; then leave it, whatever is under way."""
        if self.chance.random() < 0.8:
            await self._wait_for_rows()
        for _ in range(steps):
            if self.app._exception is not None:
                return
            assert self.app.screen_stack[0] is self.app.monitor
            self._step()
            await self._breathe()
        self.app.exit()
        async with asyncio.timeout(HANGS):
            while self.app._running:
                await asyncio.sleep(0.01)

    async def _wait_for_rows(self) -> None:
        """Else many would be paused or rewound before they have read a line."""
        for _ in range(200):
            if len(self.app.board.forest):
                return
            await asyncio.sleep(0.02)

    async def _breathe(self) -> None:
        luck = self.chance.random()
        if luck < 0.15:
            await asyncio.sleep(self.chance.choice((0.01, 0.03, 0.1)))
        elif luck < 0.4:
            await self._answer()
        elif luck < 0.6:
            await asyncio.sleep(0)

    async def _answer(self) -> None:
        """Until the program has done what it was sent; it fails if it never will."""
        for part in (self.app, self.app.monitor):
            answered = asyncio.Event()
            if part.call_later(answered.set):
                async with asyncio.timeout(HANGS):
                    while not (answered.is_set() or self.app._exception):
                        await asyncio.sleep(0)

    def _step(self) -> None:
        luck = self.chance.random()
        if luck < 0.8:
            self._press()
        elif luck < 0.92:
            self._touch()
        elif luck < 0.97:
            self._pass_time()
        else:
            self._resize()

    def _press(self) -> None:
        luck = self.chance.random()
        if luck > 0.97:
            for key in self.chance.choice(WAYS):
                self._key(key)
            return
        if luck < 0.12 and self.lived and self.lived[-1].isidentifier():
            key = self.lived[-1]  # the same key twice, as fast as can be
        else:
            key = self.chance.choice(OFTEN if luck < 0.4 else JUNK if luck > 0.93 else self._keys)
        self._key(key)

    def _key(self, key: str) -> None:
        self._send(pressed(key), key)

    def _touch(self) -> None:
        width, height = self._size
        x, y = self.chance.randrange(width), self.chance.choice((0, height - 1, self.chance.randrange(height)))
        luck = self.chance.random()
        if luck < 0.2:
            kind = self.chance.choice((events.MouseScrollDown, events.MouseScrollUp, events.MouseMove))
            self._send(_mouse(kind, x, y), f"{kind.__name__}({x},{y})")
            return
        for _ in range(self.chance.choice((1, 1, 2, 3))):
            self._send(_mouse(events.MouseDown, x, y, 1), f"down({x},{y})")
            if luck < 0.35:  # drag
                x, y = self.chance.randrange(width), self.chance.randrange(height)
                self._send(_mouse(events.MouseMove, x, y, 1), f"drag({x},{y})")
            self._send(_mouse(events.MouseUp, x, y, 1), f"up({x},{y})")

    def _resize(self) -> None:
        tiny = self.chance.randint(1, 30), self.chance.randint(1, 12)
        self._size = self.chance.choice((self.chance.choice(SIZES), tiny))
        size = Size(*self._size)
        if self.app._driver is not None:
            self.app._driver._size = self._size
        self._send(events.Resize(size, size), f"resize{self._size}")

    def _pass_time(self) -> None:
        for _ in range(self.chance.choice((1, 1, 5))):
            self._logs.grow(self.chance)
        self._hours.at = Millis(self._hours.at + self.chance.choice((0, SECOND, MINUTE, 30 * MINUTE)))
        self.app._second()
        self.lived.append("…")

    def _send(self, event: events.Event, told: str) -> None:
        self.lived.append(told)
        if self.app._driver is not None:
            self.app._driver.process_message(event)


def pressed(key: str) -> events.Key:
    return events.Key(key, key if len(key) == 1 else key_to_character(key))


def quickly(app: App[None], *keys: str) -> None:
    """Press these keys so fast that none is done before the next one comes."""
    assert app._driver is not None
    for key in keys:
        app._driver.process_message(pressed(key))


def _mouse(kind: type[events.MouseEvent], x: int, y: int, button: int = 0) -> events.MouseEvent:
    return kind(None, x, y, 0, 0, button, False, False, False)


def keys() -> Iterator[str]:
    """Every key that means something in the keymap, to a screen or widget of ours, or to those that Textual lends."""
    for command in keymap.COMMANDS + keymap.TRIAGE + keymap.TRANSCRIPT + keymap.GANTT + keymap.REPLAY:
        yield from command.keys.split(",")
    for module in pkgutil.walk_packages(delegtop.app.__path__, "delegtop.app."):
        import_module(module.name)
    kinds: list[type[DOMNode]] = [Input, OptionList]
    kinds += [kind for kind in _below(DOMNode) if kind.__module__.startswith("delegtop.")]
    for kind in kinds:
        for _, binding in kind._merge_bindings():
            yield binding.key


def _below(kind: type[DOMNode]) -> Iterator[type[DOMNode]]:
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)
