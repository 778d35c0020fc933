"""Sends messages away by a thread of its own, so that nobody waits for a server: each a few times if need be, and once
more, for a moment, when the program ends.
"""

import threading
from collections.abc import Callable, Sequence

from delegtop.base.clock import monotonic
from delegtop.notify import Say
from delegtop.notify.http_post import Accepts, HttpAnswer, Letter, post
from delegtop.notify.notification import Notification
from delegtop.notify.outbox import Outbox, Taken
from delegtop.notify.web_way import WebWay

TIMEOUT = 10.0
"""Seconds that a server has for an answer."""
PAUSES = (2.0, 8.0, 30.0)
"""Seconds between one attempt and the next."""
LONGEST = 300.0
"""A server that wants to be left alone for longer is asked again after so many seconds."""

Post = Callable[[Letter, Accepts, float], HttpAnswer]


class Courier:
    """Tells by one way of sending messages away."""

    sends_away = True

    def __init__(
        self,
        way: WebWay,
        say: Say,
        outbox: Outbox | None = None,
        *,
        timeout: float = TIMEOUT,
        pauses: tuple[float, ...] = PAUSES,
        send: Post = post,
        pause: Callable[[float], None] | None = None,
    ) -> None:
        self.way, self._say, self._outbox = way, say, outbox or Outbox()
        self._timeout, self._pauses, self._send = timeout, pauses, send
        self._pause = pause or self._rest
        self._changed = threading.Condition()
        """Whoever holds it may look at what follows."""
        self._closing: float | None = None
        """By when everything must be over; None while there is time."""
        self._complaints: list[str] = []
        self._said: set[str] = set()
        self._under_way = False
        self._thread: threading.Thread | None = None

    def tell(self, notices: Sequence[Notification]) -> None:
        with self._changed:
            self._outbox.put(notices)
            self._changed.notify_all()
        if self._thread is None:
            self._start()
        self.tend()

    def _start(self) -> None:
        thread = threading.Thread(target=self._work, name=f"notify-{self.way.name}", daemon=True)
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
            left = self._outbox.clear() + self._under_way
            if left:
                messages = "1 message" if left == 1 else f"{left} messages"
                self._complain(f"{messages} did not arrive, or may not have, when it ended")
        self.tend()

    def try_out(self, notice: Notification) -> tuple[bool, str]:
        """Send this one now, once: whether it was taken, and what was answered."""
        answer = self._send(self.way.write(Taken(notice, 0)), self.way.accepts, self._timeout)
        return answer.delivered, answer.words

    # -- the thread ----------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        while (taken := self._next()) is not None:
            answer = self._deliver(taken)
            with self._changed:
                self._under_way = False
                if not answer.delivered:
                    self._outbox.failed(taken)
                    self._complain(answer.words)

    def _next(self) -> Taken | None:
        with self._changed:
            while True:
                taken = self._outbox.take() if self._left() > 0 else None
                if taken is not None:
                    self._under_way = True
                    return taken
                if self._closing is not None:
                    return None
                self._changed.wait(self._outbox.delay() or None)

    def _deliver(self, taken: Taken) -> HttpAnswer:
        letter = self.way.write(taken)
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
            return self._send(letter, self.way.accepts, min(self._timeout, self._left()))
        except Exception as error:  # noqa: BLE001 -- whatever it is, it must not end the telling
            return HttpAnswer(False, f"{self.way.where} cannot be asked ({type(error).__name__})")

    def _left(self) -> float:
        """Seconds until all must be over."""
        return self._timeout if self._closing is None else max(self._closing - monotonic(), 0.0)

    def _rest(self, seconds: float) -> None:
        """Wait that long, or until the program ends."""
        with self._changed:
            self._changed.wait_for(lambda: self._closing is not None, seconds)

    def _complain(self, message: str) -> None:
        """Each thing once: a server that is down may be so all night."""
        message = f"{self.way.name}: {message}"
        if message not in self._said:
            self._said.add(message)
            self._complaints.append(message)
