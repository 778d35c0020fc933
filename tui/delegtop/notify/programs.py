"""Telling by programs: that of the desktop, or the user's own command.

What is told goes as arguments, variables and JSON on standard input, never through a shell. Nobody waits for a program:
it runs beside and is ended when it takes too long.
"""

import html
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

from delegtop.base.clock import monotonic
from delegtop.base.system_errors import reason_of
from delegtop.notify import NotifyError, Say
from delegtop.notify.notification import Notification, delivery
from delegtop.notify.outbox import Outbox, Taken

TIMEOUT = 10.0
"""Seconds a program may take."""
AT_ONCE = 4
_OSASCRIPT = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"


class Programs:
    """Tells by starting a program for each notice, few at once and not too many a minute."""

    sends_away = False

    def __init__(self, what: str, say: Say, outbox: Outbox, timeout: float = TIMEOUT) -> None:
        self._what, self._say, self._timeout = what, say, timeout
        self._outbox = outbox
        self._running: dict[subprocess.Popen[bytes], float] = {}
        self._said: set[str] = set()

    def arguments(self, taken: Taken) -> list[str]:
        """What to run."""
        raise NotImplementedError

    def environment(self, taken: Taken) -> Mapping[str, str]:  # noqa: ARG002 -- for those that have one
        return os.environ

    def standard_input(self, taken: Taken) -> bytes | None:  # noqa: ARG002 -- for those that read it
        return None

    def tell(self, notices: Sequence[Notification]) -> None:
        self._outbox.put(notices)
        self.tend()

    def tend(self) -> None:
        """Look after what runs, and start what waits."""
        for process, until in list(self._running.items()):
            self._look_after(process, until)
        while len(self._running) < AT_ONCE and (taken := self._outbox.take()) is not None:
            self._start(taken)

    def hurry(self, seconds: float) -> None: ...

    def close(self, seconds: float) -> None:  # noqa: ARG002 -- nobody waits for it
        """Start what still waits, as far as that is allowed. What runs is left to itself."""
        self.tend()
        self._outbox.clear()

    def try_out(self, notice: Notification) -> tuple[bool, str]:
        """Tell this one now and wait for the end of it: whether that went well, and what came of it."""
        said: list[str] = []
        self._say = said.append
        self._start(Taken(notice, 0))
        for process in list(self._running):
            with suppress(subprocess.TimeoutExpired):
                process.wait(self._timeout)
            self._look_after(process, monotonic())
        return not said, said[0] if said else f"{self._what} ended with exit code 0"

    def _start(self, taken: Taken) -> None:
        given = self.standard_input(taken)
        try:
            process = subprocess.Popen(  # noqa: S603 - no shell, and the program is the user's choice
                self.arguments(taken),
                env=self.environment(taken),
                stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            self._complain(f"{self._what} cannot be run: {reason_of(error)}")
            self._outbox.failed(taken)
            return
        if given is not None and process.stdin is not None:
            with suppress(OSError):  # it does not want to know; all of it fits into the pipe, so nobody waits
                process.stdin.write(given)
            with suppress(OSError):
                process.stdin.close()
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

    def __init__(self, program: str, say: Say, outbox: Outbox | None = None, timeout: float = TIMEOUT) -> None:
        super().__init__("the desktop notification", say, outbox or Outbox(), timeout)
        self._program = program

    def arguments(self, taken: Taken) -> list[str]:
        notice, more = taken
        title = f"delegtop: {notice.headline}"
        body = f"{notice.body}{f' (and {more} more)' if more else ''}"
        if os.path.basename(self._program) == "osascript":  # noqa: PTH119 - a plain name of a plain string
            return [self._program, "-e", _OSASCRIPT, title, body]
        urgency = "critical" if notice.is_urgent else "normal"
        # Desktops read tags in the body: what looks like one is no tag.
        body = html.escape(body, quote=False)
        return [self._program, "--app-name=delegtop", f"--urgency={urgency}", "--", title, body]


class NotifyCommand(Programs):
    """The user's own command, with the facts in its environment, and as JSON on its standard input."""

    def __init__(
        self,
        command: Sequence[str],
        say: Say,
        outbox: Outbox | None = None,
        timeout: float = TIMEOUT,
        *,
        what: str = "the notify command",
    ) -> None:
        super().__init__(f"{what} {command[0]}", say, outbox or Outbox(), timeout)
        self._command = list(command)

    def arguments(self, taken: Taken) -> list[str]:  # noqa: ARG002 -- the facts are in the environment
        return self._command

    def environment(self, taken: Taken) -> Mapping[str, str]:
        return {**os.environ, **taken.notice.environment(taken.more)}

    def standard_input(self, taken: Taken) -> bytes:
        return json.dumps(taken.notice.facts(delivery(), taken.more)).encode() + b"\n"


def desktop_program() -> str:
    for name in ("notify-send", "osascript"):
        if (found := shutil.which(name)) is not None:
            return found
    raise NotifyError("desktop notifications need notify-send (or osascript), which is not found")


def runnable(command: Sequence[str], what: str, how: str) -> Sequence[str]:
    """The command; NotifyError if there is none, or no such program."""
    if not command:
        raise NotifyError(f"there is no {what}: {how}")
    if shutil.which(command[0]) is None:
        raise NotifyError(f"the {what} {command[0]} is not found")
    return command
