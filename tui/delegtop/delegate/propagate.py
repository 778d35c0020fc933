"""Errors on their way up: what a caller tells whoever called it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from delegtop.protocols.standard.contract.return_model import Return


_STANDS = {"failed": "Task failed", "partial": "Task is not finished", "blocked": "Task is blocked"}


def recovery_message(returned: "Return") -> str | None:
    """What to say of a return that did not complete; None if it did and nothing needs saying.

    If every error is recoverable, the first recommendation there is; if one is not, that one's message, for people.
    """
    if not returned.errors:
        return None
    fatal = next((error for error in returned.errors if not error.recoverable), None)
    if fatal is not None:
        return f"{_STANDS[returned.status]}. Manual intervention required: {fatal.message}"
    return f"{_STANDS[returned.status]} but is recoverable. {returned.errors[0].recommendation}"
