"""A command that was started, as whoever supervises it needs to know it."""

import os
from collections.abc import Callable, Mapping, Sequence
from math import inf
from subprocess import Popen, SubprocessError
from typing import Any

from delegtop.base.system_errors import reason_of
from delegtop.delegate.group import Group
from delegtop.delegate.kept_output import KeptOutput
from delegtop.delegate.pump import OutputPump, leave_behind

_NOTE = 4096


class CannotStart(Exception):  # noqa: N818  # the name says what is wrong
    """The command is not there, or cannot be executed."""

    def __init__(self, words: str, *, missing: bool) -> None:
        self.missing = missing
        super().__init__(words)


class StartedCommand:
    """One command, its processes and what it prints; how it stands to the terminal is up to its kinds."""

    at_terminal = False
    """Keys that are typed at our terminal may end or stop it."""
    pid: int
    group: Group
    """All of its processes."""
    trouble = ""
    """What could not be done when it began, in words."""

    def kept(self) -> Sequence[KeptOutput]:
        """What it prints, its standard output first."""
        raise NotImplementedError

    def poll(self) -> int | None:
        """How its process ended, as `Popen` tells it; None while it runs."""
        raise NotImplementedError

    def is_heard_out(self) -> bool:
        """Its process has ended: whether all that it printed has come. What it left behind is not waited for."""
        raise NotImplementedError

    def files(self) -> Sequence[int]:
        """What has to be looked at when something can be read from it."""
        return ()

    def turn(self) -> float:
        """Do what has to be done now and then; in so many seconds again, at the latest."""
        return inf

    def takes(self, _number: int) -> bool:
        """Whether a signal that we got needs not to be passed on, since it has been dealt with."""
        return False

    def ended_by_key(self, _number: int) -> bool:
        """Whether the key of that signal was typed, and only the command has got it."""
        return False

    def close(self) -> None:
        """It has ended."""


class PumpedCommand(StartedCommand):
    """One whose output is passed on to ours."""

    def __init__(self, pumps: Sequence[OutputPump]) -> None:
        self.pumps = pumps

    def kept(self) -> Sequence[KeptOutput]:
        return [pump.kept for pump in self.pumps]

    def is_heard_out(self) -> bool:
        for pump in self.pumps:
            pump.leave()
        return all(pump.ended for pump in self.pumps)

    def close(self) -> None:
        self.leave_behind()

    def leave_behind(self, *needed: int) -> None:
        """Have what it left in the background go on printing."""
        if all(pump.ended for pump in self.pumps):
            for pump in self.pumps:
                pump.join()
            leave_behind(self.pumps, *needed)


def spawn(
    command: Sequence[str], environ: Mapping[str, str], begin: Callable[[], str], **options: Any
) -> tuple[Popen[bytes], str]:
    """Start it. `begin` is called by its process before anything else, and what that says is given back.

    For a program without threads. Raises CannotStart.
    """
    note, note_end = os.pipe()
    try:
        # Descriptors that a shell opened for the command are left open for it; ours close by themselves.
        child = Popen(  # noqa: S603  # the very purpose
            command,
            env=environ,
            close_fds=False,
            preexec_fn=lambda: os.write(note_end, begin().encode("utf-8", "replace")[:_NOTE]),
            **options,
        )
    except (OSError, SubprocessError) as error:
        missing = isinstance(error, FileNotFoundError)
        told = "there is no such command" if missing else reason_of(error)
        raise CannotStart(f"{command[0]}: {told}", missing=missing) from None
    finally:
        os.close(note_end)
        words = os.read(note, _NOTE).decode("utf-8", "replace")
        os.close(note)
    return child, words
