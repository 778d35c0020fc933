"""The process between `delegtop run` and a command that has a terminal of its own.

A terminal belongs to a session, and only who is in that session can say which of its groups is in the foreground, and
hear that one was stopped. So this process leads the session, starts the command, tells how it fares and does what it is
told, until the command has ended and nobody needs the terminal any more.
"""

import fcntl
import json
import os
import signal
import socket
import termios
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from subprocess import Popen
from typing import Any, NoReturn

from delegtop.base.system_errors import reason_of
from delegtop.delegate.mailbox import Mailbox
from delegtop.delegate.own_terminal import OwnTerminal
from delegtop.delegate.started_command import CannotStart

FOREGROUND, BACKGROUND, GO_ON = b"f", b"b", b"g"
"""What it can be told: to give the terminal to the command, to keep it from it, to have it go on if it was stopped."""

Start = Callable[[Callable[[], None]], tuple[Popen[bytes], str]]
"""Starts the command, whose process first calls what is given; with what could not be done, in words."""


class SessionLeader:
    """Our side of it: what it tells, and what it is told. Raises CannotStart."""

    def __init__(self, terminal: OwnTerminal, signals: Sequence[int], start: Start) -> None:
        self._line, theirs = socket.socketpair()
        in_foreground = terminal.is_in_foreground()
        try:
            self.pid = os.fork()
        except OSError as error:
            raise CannotStart(f"it could be given no terminal: {reason_of(error)}", missing=False) from None
        if self.pid == 0:
            self._line.close()
            _lead(theirs, terminal, signals, start, in_foreground=in_foreground)
        theirs.close()
        self._heard = b""
        self.is_gone = False
        """It has ended, and tells nothing any more."""
        told = self._told(0)
        first: dict[str, Any] = told[0] if told else {"cannot": "it could be given no terminal", "missing": False}
        if "cannot" in first:
            self.close()
            raise CannotStart(first["cannot"], missing=first["missing"])
        self.command: int = first["started"]
        self.trouble: str = first["trouble"]
        self._early = told[1:]

    def fileno(self) -> int:
        return self._line.fileno()

    def tell(self, what: bytes) -> None:
        with suppress(OSError):
            self._line.send(what)

    def news(self) -> list[dict[str, Any]]:
        """What it has told since this was last asked."""
        early, self._early = self._early, []
        return early + self._told(socket.MSG_DONTWAIT)

    def close(self) -> None:
        """It may go, once the command has ended."""
        self._line.close()

    def _told(self, flags: int) -> list[dict[str, Any]]:
        try:
            while not self.is_gone and b"\n" not in self._heard:
                data = self._line.recv(_MOST, flags)
                self._heard += data
                self.is_gone = not data
        except BlockingIOError:
            pass
        except OSError:
            self.is_gone = True
        *lines, self._heard = self._heard.split(b"\n")
        return [json.loads(line) for line in lines]


_MOST = 8192


def _lead(
    line: socket.socket, terminal: OwnTerminal, signals: Sequence[int], start: Start, *, in_foreground: bool
) -> NoReturn:
    try:
        os.setsid()
        fcntl.ioctl(terminal.theirs, termios.TIOCSCTTY, 0)
        os.close(terminal.ours)
        with Mailbox(*signals, signal.SIGCHLD) as mailbox:  # whatever is sent to us is meant for others
            _Leader(line, terminal, mailbox, start).run(in_foreground=in_foreground)
    finally:
        os._exit(0)


class _Leader:
    """The process itself."""

    def __init__(self, line: socket.socket, terminal: OwnTerminal, mailbox: Mailbox, start: Start) -> None:
        self._line = line
        self._terminal = terminal
        self._mailbox = mailbox
        self._start = start
        self._command = 0
        self._in_foreground = 0
        """The group that has the terminal when the command may use it: its own, or that of a job of it."""
        self._is_over = False
        self._is_alone = False

    def run(self, *, in_foreground: bool) -> None:
        try:
            child, trouble = self._start(self._take if in_foreground else lambda: None)
        except CannotStart as problem:
            self._tell(cannot=str(problem), missing=problem.missing)
            return
        self._command = self._in_foreground = child.pid
        self._let_go()
        self._tell(started=child.pid, trouble=trouble)
        while not (self._is_over and self._is_alone):
            self._mailbox.wait(inf, () if self._is_alone else (self._line.fileno(),))
            self._look()
            self._listen()

    def _take(self) -> None:
        """Called by the process of the command, in a group of its own."""
        _give(self._terminal.theirs, os.getpid())

    def _let_go(self) -> None:
        """Of what is open for the command, so that it is closed when the command closes it."""
        self._terminal.keep_keyboard()
        nothing = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(nothing, fd)
        os.close(nothing)

    def _look(self) -> None:
        """Tell how the command fares."""
        while not self._is_over:
            try:
                pid, status = os.waitpid(self._command, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return
            if not pid:
                return
            if os.WIFSTOPPED(status):
                self._tell(stopped=os.WSTOPSIG(status))
                continue
            self._is_over = True
            # What is left of it keeps the terminal; when we go, only who is in the foreground would be told to go too.
            _give(self._terminal.theirs, os.getpgrp())
            os.close(self._terminal.theirs)
            self._tell(ended=os.waitstatus_to_exitcode(status))

    def _listen(self) -> None:
        """Do what we are told."""
        try:
            told = self._line.recv(_MOST, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            told = b""
        if not told and not self._is_alone:
            self._is_alone = True
            self._terminal.restore()
        if self._is_over:
            return
        for word in told:
            self._do(bytes([word]))

    def _do(self, word: bytes) -> None:
        if word == FOREGROUND:
            _give(self._terminal.theirs, self._in_foreground)
        elif word == BACKGROUND:
            with suppress(OSError):
                self._in_foreground = os.tcgetpgrp(self._terminal.theirs)
            _give(self._terminal.theirs, os.getpgrp())
        else:
            for group in {self._command, self._in_foreground}:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(group, signal.SIGCONT)

    def _tell(self, **what: object) -> None:
        with suppress(OSError):
            self._line.sendall(json.dumps(what).encode() + b"\n")


def _give(terminal: int, group: int) -> None:
    """Have a group in the foreground. Who is not would be stopped for this, unless it says that it will not be."""
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTOU])
    try:
        with suppress(OSError):
            os.tcsetpgrp(terminal, group)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
