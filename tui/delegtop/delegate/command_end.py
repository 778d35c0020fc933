"""How a command ended."""

import os
import resource
import signal
from dataclasses import dataclass


@dataclass(frozen=True)
class CommandEnd:
    """How a command ended."""

    code: int
    """Its exit code; for a command that a signal ended, 128 and the signal's number, as shells have it."""
    timed_out: bool = False
    interrupted: bool = False
    """Somebody asked for its end: by a signal to us, or by one to itself."""
    output: str = ""
    """The end of its standard output."""
    said: str = ""
    """The last line that it printed, there or on its standard error."""
    dropped: int = 0
    """Bytes of output before that."""
    by_key: int = 0
    """The signal of a key that ended it, at our terminal; 0 if none did."""
    by_key_alone: bool = False
    """It was the only one who got it: others in our group would have, had it been typed without us."""

    @property
    def is_missing(self) -> bool:
        """There is no such command, as shells have it."""
        return self.code == _NOT_FOUND


_NOT_FOUND = 127


def exit_code(status: int | None) -> int:
    """The exit code as shells have it; what did not end was killed."""
    return 128 + 9 if status is None else 128 - status if status < 0 else status


def end_alike(ended: CommandEnd) -> None:
    """If a key ended it, end by the same signal: a shell goes on with its script after anything else."""
    if ended.by_key:
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))  # ours is no crash
        signal.signal(ended.by_key, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [ended.by_key])
        os.kill(0 if ended.by_key_alone else os.getpid(), ended.by_key)
