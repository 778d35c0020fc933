"""What a rung of the ladder would do, to the letter: each step can say itself in words before it is done."""

import shlex
import signal
from pathlib import Path
from typing import NamedTuple

from delegtop.act.process_identity import ProcessIdentity


class PlannedSignal(NamedTuple):
    """One signal to one process."""

    target: ProcessIdentity
    number: int
    after: float = 0.0
    """Only if it is still there so many seconds after the step before."""

    @property
    def name(self) -> str:
        return signal.Signals(self.number).name

    @property
    def words(self) -> str:
        if self.after:
            return f"{self.name} {self.after:g} s later, if it is still there"
        return f"{self.name} to {self.target}"

    @property
    def brief(self) -> str:
        return self.name.removeprefix("SIG")


class PlannedRequest(NamedTuple):
    """One request to the server that a process is."""

    server: ProcessIdentity
    host: str
    port: int
    path: str
    program: str
    """What the program calls itself: its password is named after it."""

    @property
    def words(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"POST http://{host}:{self.port}{self.path}"

    @property
    def brief(self) -> str:
        return f"POST {self.path}"


class PlannedInterrupt(NamedTuple):
    """The turn of one thread, by way of a control socket."""

    socket: Path
    thread: str

    @property
    def words(self) -> str:
        return f"turn/interrupt of {self.thread} at {self.socket}"

    @property
    def brief(self) -> str:
        return f"turn/interrupt of {self.thread}"


class PlannedCommand(NamedTuple):
    """A command of the program itself."""

    words_of_it: tuple[str, ...]

    @property
    def words(self) -> str:
        return shlex.join(self.words_of_it)

    @property
    def brief(self) -> str:
        return shlex.join(self.words_of_it)


PlannedStep = PlannedSignal | PlannedRequest | PlannedInterrupt | PlannedCommand


def targets(steps: tuple[PlannedStep, ...]) -> list[ProcessIdentity]:
    """The processes that are signalled."""
    return list(dict.fromkeys(step.target for step in steps if isinstance(step, PlannedSignal)))
