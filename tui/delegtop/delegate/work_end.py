"""How work that somebody was invoked for ended, wherever it ran."""

import traceback
from dataclasses import dataclass
from typing import Any

from delegtop.delegate.command_end import CommandEnd
from delegtop.delegate.error_objects import exception_error
from delegtop.delegate.prepare import DelegationRefused
from delegtop.delegate.return_validation import ReturnInvalid
from delegtop.protocols.standard.contract import own_words
from delegtop.protocols.standard.contract.return_search import returns_in

_LONGEST = 20_000
"""Characters of a stack trace, the last of them: what went wrong stands at its end."""


@dataclass(frozen=True)
class WorkEnd:
    """How it ended."""

    value: object = None
    """What it gave: a return, or the text that one may stand in."""
    timed_out: bool = False
    goes_on: str | None = None
    """What still works although its time is over, and cannot be ended."""
    error: dict[str, Any] | None = None
    """Why it gave nothing."""
    trace: str | None = None
    command: CommandEnd | None = None
    """How it ended, of a command."""

    def returned(self) -> object:
        """The return it gave; of a text the last that is in it, and if there is none, the text."""
        return next(returns_in(self.value), self.value) if isinstance(self.value, str) else self.value


def end_of(error: BaseException) -> WorkEnd:
    """The end of work that raised an exception."""
    trace = _trace(error)
    if isinstance(error, DelegationRefused | ReturnInvalid):
        return WorkEnd(error={**error.error().model_dump(mode="json"), "made_by": own_words.DELEGTOP}, trace=trace)
    return WorkEnd(error=exception_error(error), trace=trace)


def _trace(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(error))[-_LONGEST:]
    except Exception:  # noqa: BLE001  # what an exception shows of itself is foreign code
        return "".join(traceback.format_tb(error.__traceback__))[-_LONGEST:]
