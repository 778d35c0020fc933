"""The only writer of stderr: what delegtop has to say that is not the product."""

import sys
from collections.abc import Iterable
from typing import NoReturn

from delegtop.base import text


class UsageError(Exception):
    """The command cannot be run as it was asked for; the message is one sentence for people."""


def fail(message: str) -> NoReturn:
    raise UsageError(message)


def advice(word: str, known: Iterable[str], otherwise: str) -> str:
    """What was probably meant by a word that is not known."""
    from difflib import get_close_matches  # only who mistypes needs it

    near = get_close_matches(word, list(known), 1)
    return f"did you mean {near[0]}?" if near else otherwise


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
