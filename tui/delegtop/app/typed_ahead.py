"""Keys that come quickly take effect one after the other.

Textual hands each key to whatever has the focus as soon as it is read, and what it means is done later: of `/hung` and
Enter typed in one go, or arriving so over a slow line, letters would be commands, and commands letters. So a key waits
until the one before it is done, which is when an echo, sent after that one, has come back.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial

from textual.events import Key, Paste
from textual.message import Message
from textual.widget import Widget

from delegtop.app.state.frame_pace import After

_ROUNDS = 3
"""Enter is heard by a line of text, which tells its bar, which tells the screen, which moves the focus."""
_MOST = 8
"""Rounds of one key, while the focus still moves."""
_LOST = 0.5
"""Seconds after which an echo is taken for lost."""


class Echo(Message):
    """Goes from what has the focus to the application, as a key does that nobody wants."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class TypedAhead:
    """What was typed before the key under way was done."""

    def __init__(self, has_focus: Callable[[], Widget], take: Callable[[Key | Paste], Awaitable[None]], after: After):
        self._has_focus, self._take, self._after = has_focus, take, after
        self._waiting = deque[Key | Paste]()
        self._asked: Widget | None = None
        """Who had the focus when the echo was sent that is under way."""
        self._number = self._round = 0
        """Of that echo, and how many there were of this key."""

    def holds(self, typed: Key | Paste) -> bool:
        """Whether it has to wait for what was typed before it."""
        if self._asked is None:
            return False
        if not self._waiting:
            self._after(_LOST, partial(self._give_up, self._number))
        self._waiting.append(typed)
        return True

    def follow(self, asked: Widget) -> None:
        """One was handed on, to whatever had the focus."""
        self._round = 0
        self._send(asked)

    def _send(self, asked: Widget) -> None:
        self._number, self._round = self._number + 1, self._round + 1
        self._asked = asked if asked.post_message(Echo(self._number)) else None

    def turned(self) -> None:
        """There is another page: who goes with the one before it takes along what was to be handed on."""
        if self._asked is not None:
            self._send(self._has_focus())

    async def come_back(self, echo: Echo) -> None:
        """What a key did is done, once so many echoes came back that nothing it set off can be left."""
        if echo.number != self._number or self._asked is None:
            return
        asked = self._has_focus()
        if self._round < _ROUNDS or (asked is not self._asked and self._round < _MOST):
            self._send(asked)
        else:
            self._asked = None
        await self._go_on()

    async def _give_up(self, number: int) -> None:
        if number == self._number:
            self._asked = None
        elif self._waiting:
            self._after(_LOST, partial(self._give_up, self._number))
        await self._go_on()

    async def _go_on(self) -> None:
        while self._waiting and self._asked is None:
            await self._take(self._waiting.popleft())
