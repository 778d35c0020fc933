"""The only writer of stdout: the product, and nothing but the product."""

import os
import select
import sys
from collections.abc import Iterable
from typing import TextIO

from delegtop.base.system_errors import reason_of
from delegtop.cli.diagnostics import fail


def emit(lines: Iterable[str]) -> None:
    """Write the lines. A reader that left early (`| head`) is no error: the rest is dropped."""
    _write(lines, at_once=False)


def emit_now(lines: Iterable[str]) -> bool:
    """Write each line at once, for those that go on; False once nobody reads any more."""
    return _write(lines, at_once=True)


def _write(lines: Iterable[str], *, at_once: bool) -> bool:
    stream = sys.stdout
    if stream is None:  # it was closed before the start (`>&-`)
        return False
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
    try:
        for line in lines:
            stream.write(line + "\n")
            if at_once:
                stream.flush()
        stream.flush()
    except BrokenPipeError:
        _let_go(stream)
        return False
    except OSError as error:
        _let_go(stream)
        fail(f"standard output cannot be written: {reason_of(error)}")
    return True


def _let_go(stream: TextIO) -> None:
    """Python flushes stdout once more at exit; let that go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def is_read() -> bool:
    """False once the reader of a pipe has left; asked while there is nothing to write."""
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        return not any(state & (select.POLLERR | select.POLLHUP) for _, state in poll.poll(0))
    except (OSError, ValueError, AttributeError):  # no descriptor, or a system without this
        return True


def is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def takes(characters: str) -> bool:
    """True if stdout can carry these characters."""
    try:
        characters.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
