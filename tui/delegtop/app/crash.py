"""When the program fails: one sentence for the operator, the traceback in a private file, and never a local variable.

Locals hold log text, and log text holds whatever an agent was given, keys and tokens among it.
"""

import traceback
from collections import deque
from collections.abc import Iterable

from textual.events import Key
from textual.worker import WorkerFailed

from delegtop import __version__
from delegtop.app.clipboard import state_directory, write_private
from delegtop.base.secrets import mask
from delegtop.base.system_errors import place_and_reason
from delegtop.base.text import line, safe

KEYS = 50
"""How many keys are remembered."""
_TYPED = "·"


class Keys:
    """The keys that were pressed last, by name; of what was typed into a line only that something was."""

    def __init__(self) -> None:
        self._names: deque[str] = deque(maxlen=KEYS)

    def press(self, key: Key, *, typing: bool) -> None:
        self._names.append(_TYPED if typing and key.is_printable else line(key.key))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._names)


def record(error: BaseException, keys: Iterable[str] = ()) -> str:
    """Write the traceback and the keys before it to `crash.log`; returns the sentence to print."""
    if isinstance(error, WorkerFailed):  # names what happened and not where
        error = error.error
    what = line(f"delegtop stopped by an internal error ({type(error).__name__})")
    told = safe(mask("".join(traceback.format_exception(error))))  # what an error says may be a text of a log
    try:
        path = state_directory() / "crash.log"
        write_private(path, f"delegtop {__version__}\n{told}keys: {' '.join(keys) or 'none'}\n")
    except OSError as reason:
        return f"{what}; its traceback could not be written: {line(place_and_reason(reason))}"
    return f"{what}; its traceback is in {line(str(path))}"
