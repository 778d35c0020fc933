"""Looks at processes that follow each other quickly, for tests of something that hangs for certain: nothing is seen
otherwise by that, only sooner.

    python -m tests.quick_looks ARGUMENT…      the program itself, looking like that
"""

import sys
from typing import Protocol

from delegtop.app.state import reader_thread
from delegtop.base.clock import SECOND
from delegtop.cli import main
from delegtop.feed import kernel_watch
from delegtop.observation import call_watch

_PACE = 0.1
"""Seconds."""


class Patch(Protocol):
    """Sets a name of a module, as pytest's `monkeypatch` does."""

    def setattr(self, target: object, name: str, value: object, /) -> None: ...


def look_quickly(patch: Patch, *, quiet: int = SECOND) -> None:
    """Calls are looked at that were not heard of for so many milliseconds."""
    for name in ("EVERY", "AT_FIRST", "_SOON"):
        patch.setattr(kernel_watch, name, _PACE)
    patch.setattr(kernel_watch, "_SHARE", 1.0)
    patch.setattr(call_watch, "_SHARE", 1.0)
    patch.setattr(call_watch, "AGAIN", 0.0)
    patch.setattr(call_watch, "QUIET", quiet)
    patch.setattr(reader_thread, "_WAIT", _PACE)


class _ForGood:
    def setattr(self, target: object, name: str, value: object, /) -> None:
        setattr(target, name, value)


if __name__ == "__main__":
    look_quickly(_ForGood())
    sys.exit(main(sys.argv[1:]))
