"""What delegtop itself writes into logs and returns, where it stands in for an agent that did not answer or gave none.

Whoever reads it later must not take it for the agent's own word. So an error that delegtop wrote says so; logs of
before 0.2.0 do not, and there it is known by its advice.
"""

from typing import Protocol

DELEGTOP = "delegtop"
"""The `made_by` of an error or a return that delegtop wrote."""
RUN = "delegtop run"
"""That of a return which a command did not print itself."""

RESUME = "Resume with the same command to continue"
INSTALL = "Install the command or correct its name"
RUN_AGAIN = "Look at what it printed, remove the cause and run the same command again"
RETURN_STANDARD = "Let the agent return the standard format, then delegate again."
READ_TRACE = "Read the stack trace in the log, remove the cause and delegate again."
RESTORE = "Restore the file or correct its path, then delegate again; the stack trace in the log says who asked for it."
INSTALL_MODULE = "Install what could not be imported, then delegate again."
READ_CHILD = "Look at that child in the log, remove the cause and delegate again."
GIVE_RETURN = "Let it give a return before it ends; what it printed or raised may say why it did not."

_ADVICE_BEFORE = frozenset({RESUME, INSTALL, RUN_AGAIN, RETURN_STANDARD})


class _Error(Protocol):
    @property
    def made_by(self) -> str | None: ...

    @property
    def recommendation(self) -> str | None: ...


def is_own(error: _Error) -> bool:
    """Whether delegtop wrote that error."""
    return error.made_by is not None or error.recommendation in _ADVICE_BEFORE
