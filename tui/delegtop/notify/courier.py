"""Sends messages away, one after the other, by one of the ways that are set."""

from collections.abc import Callable

from delegtop.notify import Say
from delegtop.notify.http_post import Letter, post
from delegtop.notify.letter_thread import TIMEOUT, LetterThread, Post
from delegtop.notify.notification import Notification
from delegtop.notify.outbox import Outbox, Taken
from delegtop.notify.web_way import WebWay

PAUSES = (2.0, 8.0, 30.0)
"""Seconds between one attempt and the next."""


class Courier(LetterThread[Notification, Taken]):
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
        super().__init__(way.name, outbox or Outbox(), say, pauses=pauses, timeout=timeout, send=send, pause=pause)
        self.way = way

    def write(self, load: Taken) -> Letter:
        return self.way.write(load)

    def accepts(self, status: int, body: bytes) -> bool:
        return self.way.accepts(status, body)

    def left_over(self, count: int) -> str:
        messages = "1 message" if count == 1 else f"{count} messages"
        return f"{messages} did not arrive, or may not have, when it ended"

    def try_out(self, notice: Notification) -> tuple[bool, str]:
        """Send this one now, once: whether it was taken, and what was answered."""
        answer = self._send(self.way.write(Taken(notice, 0)), self.way.accepts, self._timeout)
        return answer.delivered, answer.words
