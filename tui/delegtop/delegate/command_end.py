"""How a command ended."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CommandEnd:
    """How a command ended."""

    code: int
    """Its exit code; for a command that a signal ended, 128 and the signal's number, as shells have it."""
    timed_out: bool
    interrupted: bool
    """Somebody asked for its end: by a signal to us, or by one to itself."""
    output: str
    """The end of its standard output."""


def exit_code(status: int | None) -> int:
    """The exit code as shells have it; what did not end was killed."""
    return 128 + 9 if status is None else 128 - status if status < 0 else status
