"""The only writer of stdout: the product, and nothing but the product."""

import os
import sys
from collections.abc import Iterable


def emit(lines: Iterable[str]) -> None:
    """Write the lines. A reader that left early (`| head`) is no error: the rest is dropped."""
    stream = sys.stdout
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
    try:
        for line in lines:
            stream.write(line + "\n")
        stream.flush()
    except BrokenPipeError:
        # Python flushes stdout once more at exit; let that go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def takes(characters: str) -> bool:
    """True if stdout can carry these characters."""
    try:
        characters.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
