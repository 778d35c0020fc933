"""Telling somebody who does not look: the terminal's bell, the desktop, or the user's own command.

What is told comes from logs, so it passes `text.line` and goes as arguments and variables, never through a shell. Which
command runs is the user's choice alone. Nothing here waits: programs run beside, are ended when they take too long, and
what fails is said once and stops nothing.
"""

import html
import os
import shutil
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from delegtop.base import text
from delegtop.base.clock import iso, monotonic
from delegtop.base.secrets import mask
from delegtop.diagnosis.alerts import Alert, Cause

TIMEOUT = 10.0
"""Seconds a program may take."""
AT_ONCE = 4
BURST, WINDOW = 10, 60.0
"""So many programs are started in so many seconds; what is more is counted, and told of with the next."""
_WAITING = 100
_TITLE, _MESSAGE = 80, 400
_OSASCRIPT = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
_URGENT = frozenset(Cause) - {Cause.DONE}

Say = Callable[[str], None]


class NoticeWords:
    """An alert in words that are safe to show anywhere."""

    def __init__(self, alert: Alert, *, masked: bool = True) -> None:
        self.alert = alert
        self._masked = masked

    def safe(self, foreign: str, limit: int = _MESSAGE) -> str:
        return text.line(mask(foreign[: 2 * limit]) if self._masked else foreign, limit)

    @property
    def title(self) -> str:
        cause = "needs a person" if self.alert.cause is Cause.PERSON else f"is {self.alert.cause}"
        verb = "failed" if self.alert.cause is Cause.FAILED else cause
        return f"{self.safe(self.alert.name, _TITLE)} {verb}"

    @property
    def body(self) -> str:
        of = f"{self.safe(self.alert.title, _TITLE)}: " if self.alert.title else ""
        return f"{of}{self.safe(self.alert.message)}"

    @property
    def environment(self) -> dict[str, str]:
        """The facts, as variables for the user's own command."""
        alert = self.alert
        return {
            "DELEGTOP_EVENT": alert.cause.value,
            "DELEGTOP_ID": text.line(alert.id, _MESSAGE),
            "DELEGTOP_STATE": alert.state.value,
            "DELEGTOP_NAME": self.safe(alert.name, _TITLE),
            "DELEGTOP_TITLE": self.safe(alert.title or "", _TITLE),
            "DELEGTOP_MESSAGE": self.safe(alert.message),
            "DELEGTOP_NOTICED_AT": iso(alert.at),
        }


class Way(Protocol):
    """One way of telling."""

    def tell(self, alerts: Sequence[NoticeWords]) -> None: ...

    def tend(self) -> None: ...

    def close(self) -> None: ...


class Bell:
    """Rings once, however many alerts there are."""

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring

    def tell(self, alerts: Sequence[NoticeWords]) -> None:
        if alerts:
            self._ring()

    def tend(self) -> None: ...

    def close(self) -> None: ...


class Programs:
    """Tells by starting a program for each alert, few at once and not too many a minute."""

    def __init__(self, what: str, say: Say, timeout: float = TIMEOUT) -> None:
        self._what, self._say, self._timeout = what, say, timeout
        self._running: dict[subprocess.Popen[bytes], float] = {}
        self._waiting: deque[NoticeWords] = deque()
        self._started: deque[float] = deque(maxlen=BURST)
        self._dropped = 0
        self._said: set[str] = set()

    def arguments(self, alert: NoticeWords, more: int) -> list[str]:
        """What to run; `more` alerts before it were not told."""
        raise NotImplementedError

    def environment(self, alert: NoticeWords, more: int) -> Mapping[str, str]:  # noqa: ARG002 -- for those that have one
        return os.environ

    def tell(self, alerts: Sequence[NoticeWords]) -> None:
        self._waiting += alerts
        while len(self._waiting) > _WAITING:
            self._waiting.popleft()
            self._dropped += 1
        self.tend()

    def tend(self) -> None:
        """Look after what runs, and start what waits."""
        for process, until in list(self._running.items()):
            self._look_after(process, until)
        while self._waiting and len(self._running) < AT_ONCE and self._may_start():
            self._start(self._waiting.popleft())

    def close(self) -> None:
        """Start what still waits, as far as that is allowed. What runs is left to itself: nobody waits for it."""
        self.tend()
        self._waiting.clear()

    def _may_start(self) -> bool:
        return len(self._started) < BURST or monotonic() - self._started[0] >= WINDOW

    def _start(self, alert: NoticeWords) -> None:
        self._started.append(monotonic())
        more, self._dropped = self._dropped, 0
        try:
            process = subprocess.Popen(  # noqa: S603 - no shell, and the program is the user's choice
                self.arguments(alert, more),
                env=self.environment(alert, more),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            self._complain(f"{self._what} cannot be run: {getattr(error, 'strerror', None) or error}")
            return
        self._running[process] = monotonic() + self._timeout

    def _look_after(self, process: "subprocess.Popen[bytes]", until: float) -> None:
        code = process.poll()
        if code is None and monotonic() < until:
            return
        del self._running[process]
        if code is None:
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            self._complain(f"{self._what} took longer than {self._timeout:g} s and was ended")
        elif code:
            self._complain(f"{self._what} ended with exit code {code}")

    def _complain(self, message: str) -> None:
        """Each thing once: one that fails may fail all night."""
        if message not in self._said:
            self._said.add(message)
            self._say(message)


class Desktop(Programs):
    """A notification of the desktop."""

    def __init__(self, program: str, say: Say, timeout: float = TIMEOUT) -> None:
        super().__init__("the desktop notification", say, timeout)
        self._program = program

    def arguments(self, alert: NoticeWords, more: int) -> list[str]:
        title = f"delegtop: {alert.title}"
        body = f"{alert.body}{f' (and {more} more)' if more else ''}"
        if os.path.basename(self._program) == "osascript":  # noqa: PTH119 - a plain name of a plain string
            return [self._program, "-e", _OSASCRIPT, title, body]
        urgency = "critical" if alert.alert.cause in _URGENT else "normal"
        # Desktops read tags in the body: what looks like one is no tag.
        body = html.escape(body, quote=False)
        return [self._program, "--app-name=delegtop", f"--urgency={urgency}", "--", title, body]


class NotifyCommand(Programs):
    """The user's own command, with the facts in its environment."""

    def __init__(self, command: Sequence[str], say: Say, timeout: float = TIMEOUT) -> None:
        super().__init__(f"the notify command {command[0]}", say, timeout)
        self._command = list(command)

    def arguments(self, alert: NoticeWords, more: int) -> list[str]:  # noqa: ARG002 -- the facts are in the environment
        return self._command

    def environment(self, alert: NoticeWords, more: int) -> Mapping[str, str]:
        return {**os.environ, **alert.environment, "DELEGTOP_MORE": str(more)}


class NotifyError(Exception):
    """A way of telling that does not work here; the message is one sentence for people."""


class Notifier:
    """All the ways that are wanted."""

    def __init__(self, ways: Sequence[Way], *, masked: bool = True) -> None:
        self._ways = ways
        self._masked = masked

    def tell(self, alerts: Sequence[Alert]) -> None:
        """Tell of these, if there are any, and look after what was told before."""
        words = [NoticeWords(alert, masked=self._masked) for alert in alerts]
        for way in self._ways:
            if words:
                way.tell(words)
            else:
                way.tend()

    def close(self) -> None:
        for way in self._ways:
            way.close()


def notifier(
    ways: Sequence[str], command: Sequence[str], *, ring: Callable[[], None], say: Say, masked: bool = True
) -> Notifier:
    """The wanted ways, by name: bell, desktop, command; NotifyError if one cannot work."""
    made: list[Way] = []
    if "bell" in ways:
        made.append(Bell(ring))
    if "desktop" in ways:
        made.append(Desktop(_desktop_program(), say))
    if "command" in ways:
        if not command:
            raise NotifyError("there is no notify command: set notify_command, or give --notify-command")
        if shutil.which(command[0]) is None:
            raise NotifyError(f"the notify command {command[0]} is not found")
        made.append(NotifyCommand(command, say))
    return Notifier(made, masked=masked)


def _desktop_program() -> str:
    for name in ("notify-send", "osascript"):
        if (found := shutil.which(name)) is not None:
            return found
    raise NotifyError("desktop notifications need notify-send (or osascript), which is not found")
