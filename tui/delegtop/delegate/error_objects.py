"""Errors that delegtop writes in the place of an agent that did not say itself what went wrong."""

from typing import TYPE_CHECKING, Any

from delegtop.protocols.standard.contract import own_words

if TYPE_CHECKING:
    from delegtop.protocols.standard.contract.return_contract import ErrorType
    from delegtop.protocols.standard.contract.return_model import ReturnError

_LONGEST = 2_000
"""Characters of a message: it is read by people, in a table."""


def error_fields(type: "ErrorType", code: str, message: str, recommendation: str) -> dict[str, Any]:
    """The error as JSON has it, marked as delegtop's. Recoverable: trying again can help."""
    return {
        "type": type,
        "message": message if len(message) <= _LONGEST else f"{message[: _LONGEST - 1]}…",
        "code": code,
        "recoverable": True,
        "recommendation": recommendation,
        "made_by": own_words.DELEGTOP,
    }


def typed(fields: dict[str, Any]) -> "ReturnError":
    """The same as a model, for callers."""
    from delegtop.protocols.standard.contract.return_model import ReturnError

    return ReturnError.model_validate(fields)


def exception_error(error: BaseException) -> dict[str, Any]:
    """The error of work that raised an exception."""
    try:
        told = str(error)
    except Exception:  # noqa: BLE001  # its class is foreign code too
        told = ""
    message = f"{type(error).__name__}: {told}" if told else type(error).__name__
    if isinstance(error, FileNotFoundError):
        return error_fields("execution", "FILE_NOT_FOUND", message, own_words.RESTORE)
    if isinstance(error, ImportError):
        return error_fields("tool_unavailable", "TOOL_UNAVAILABLE", message, own_words.INSTALL_MODULE)
    return error_fields("execution", "UNKNOWN_ERROR", message, own_words.READ_TRACE)
