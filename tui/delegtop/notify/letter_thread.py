"""Sends letters away by a thread of its own, so that nobody waits for a server: each a few times if need be, and once
more, for a moment, when the program ends.

What waits, how much of it goes at once and what becomes of what did not arrive is for its box to say.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from delegtop.base.clock import monotonic
from delegtop.notify import Say
from delegtop.notify.http_post import Accepts, HttpAnswer, Letter, post

TIMEOUT = 10.0
"""Seconds that a server has for an answer."""
LONGEST = 300.0
"""A server that wants to be left alone for longer is asked again after so many seconds."""

Item = TypeVar("Item", contravariant=True)
Load = TypeVar("Load")
Post = Callable[[Letter, Accepts, float], HttpAnswer]


class LetterBox(Protocol[Item, Load]):
    """What waits to be sent. It is asked by one at a time."""

    def put(self, items: Sequence[Item], /) -> None: ...

    def take(self) -> Load | None:
        """What goes next, if there is anything and it may go now."""

    def failed(self, load: Load, answer: HttpAnswer, /) -> None:
        """It did not arrive, and this was answered."""

    def delay(self) -> float:
        """Seconds until something may go again that waits."""

    def clear(self) -> int:
        """Drop what waits; how many did not arrive in all."""


class LetterThread(Generic[Item, Load]):
    """Takes what is in a box and sends it."""

    def __init__(
        self,
        name: str,
        box: LetterBox[Item, Load],
        say: Say,
        *,
        pauses: tuple[float, ...],
        timeout: float = TIMEOUT,
        send: Post = post,
        pause: Callable[[float], None] | None = None,
    ) -> None:
        self._name, self._box, self._say = name, box, say
        self._timeout, self._pauses, self._send = timeout, pauses, send
        self._pause = pause or self._rest
        self._changed = threading.Condition()
        """Whoever holds it may look at what follows."""
        self._closing: float | None = None
        """By when everything must be over; None while there is time."""
        self._complaints: list[str] = []
        self._said: set[str] = set()
        self._under_way = 0
        self._thread: threading.Thread | None = None

    # -- what each kind has of its own ---------------------------------------------------------------------------------

    def write(self, load: Load) -> Letter:
        raise NotImplementedError

    def accepts(self, status: int, body: bytes) -> bool:
        raise NotImplementedError

    def count(self, _load: Load) -> int:
        """How many things are told in it."""
        return 1

    def left_over(self, count: int) -> str:
        """That so many were not sent when it ended, in words."""
        raise NotImplementedError

    # -- for whoever tells ---------------------------------------------------------------------------------------------

    def tell(self, items: Sequence[Item]) -> None:
        with self._changed:
            self._box.put(items)
            self._changed.notify_all()
        if self._thread is None:
            self._start()
        self.tend()

    def _start(self) -> None:
        thread = threading.Thread(target=self._work, name=f"notify-{self._name}", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # so many threads are running that there is none to be had: with the next, perhaps
            with self._changed:
                self._complain("no thread can be had to send messages by")
        else:
            self._thread = thread

    def tend(self) -> None:
        """Say what the thread has to complain about: only whoever owns the screen may write there."""
        with self._changed:
            complaints, self._complaints = self._complaints, []
        for each in complaints:
            self._say(each)

    def hurry(self, seconds: float) -> None:
        """From now on everything is tried once, for so long."""
        with self._changed:
            self._closing = monotonic() + seconds
            self._changed.notify_all()

    def close(self, seconds: float) -> None:
        """Wait for what is under way, that long at most, and say what was not sent."""
        if self._closing is None:
            self.hurry(seconds)
        if self._thread is not None:
            self._thread.join(max((self._closing or 0.0) - monotonic(), 0.0))
        with self._changed:
            left = self._box.clear() + self._under_way
            if left:
                self._complain(self.left_over(left))
        self.tend()

    # -- the thread ----------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        while (load := self._next()) is not None:
            answer = self._deliver(load)
            with self._changed:
                self._under_way = 0
                if not answer.delivered:
                    self._box.failed(load, answer if self._closing is None else answer._replace(again=False))
                    self._complain(answer.words)

    def _next(self) -> Load | None:
        with self._changed:
            while True:
                is_time = self._closing is not None or not self._box.delay()
                load = self._box.take() if is_time and self._left() > 0 else None
                if load is not None:
                    self._under_way = self.count(load)
                    return load
                if self._closing is not None:
                    return None
                self._changed.wait(self._box.delay() or None)

    def _deliver(self, load: Load) -> HttpAnswer:
        letter = self.write(load)
        for pause in self._pauses:
            is_last = self._closing is not None
            answer = self._attempt(letter)
            if answer.delivered or not answer.again or is_last:
                return answer
            self._pause(max(pause, min(answer.retry_after, LONGEST)))
            if self._left() <= 0:
                return answer
        return self._attempt(letter)

    def _attempt(self, letter: Letter) -> HttpAnswer:
        try:
            return self._send(letter, self.accepts, min(self._timeout, self._left()))
        except Exception as error:  # noqa: BLE001 -- whatever it is, it must not end the telling
            return HttpAnswer(False, f"{letter.where} cannot be asked ({type(error).__name__})")

    def _left(self) -> float:
        """Seconds until all must be over."""
        return self._timeout if self._closing is None else max(self._closing - monotonic(), 0.0)

    def _rest(self, seconds: float) -> None:
        """Wait that long, or until the program ends."""
        with self._changed:
            self._changed.wait_for(lambda: self._closing is not None, seconds)

    def _complain(self, message: str) -> None:
        """Each thing once: a server that is down may be so all night."""
        message = f"{self._name}: {message}"
        if message not in self._said:
            self._said.add(message)
            self._complaints.append(message)
