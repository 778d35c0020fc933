"""The only writer of stderr: what delegtop has to say that is not the product."""

import sys
from typing import NoReturn

from delegtop.base import text


class UsageError(Exception):
    """The command cannot be run as it was asked for; the message is one sentence for people."""


def fail(message: str) -> NoReturn:
    raise UsageError(message)


def say(message: str) -> None:
    """One line on stderr, foreign text in it made harmless."""
    _write(f"delegtop: {text.line(message)}\n")


def ring() -> None:
    """The bell of the terminal."""
    _write("\a")


def is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def status(line: str) -> None:
    """Put `line` in place of the last line of the terminal; an empty one wipes it."""
    _write(f"\r\x1b[K{text.line(line)}")


def _write(what: str) -> None:
    try:
        sys.stderr.write(what)
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass  # nobody reads stderr: there is no one left to tell
