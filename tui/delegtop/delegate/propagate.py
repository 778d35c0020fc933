"""Errors on their way up: what a caller tells whoever called it."""

from collections.abc import Mapping
from typing import Any


def recovery_message(returned: Mapping[str, Any]) -> str | None:
    """What to say of a return that did not complete; None if it did and nothing needs saying.

    If every error is recoverable, the first recommendation there is; if one is not, that one's message, for people.
    """
    errors = [error for error in _list(returned.get("errors")) if isinstance(error, Mapping)]
    if not errors:
        status = returned.get("status")
        return None if status == "completed" else f"Task {status or 'ended'}, and no error says why."
    fatal = next((error for error in errors if error.get("recoverable") is not True), None)
    if fatal is not None:
        return f"Task failed. Manual intervention required: {fatal.get('message') or 'no message'}"
    advice = next((error["recommendation"] for error in errors if error.get("recommendation")), "Try again.")
    return f"Task failed but is recoverable. {advice}"


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
