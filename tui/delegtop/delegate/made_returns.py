"""Returns that delegtop makes in the place of somebody who ended and gave none."""

from collections.abc import Iterable, Mapping
from typing import Any

from delegtop.delegate.child_ends import ChildEnd, errors_of, named
from delegtop.delegate.command_end import CommandEnd
from delegtop.delegate.error_objects import error_fields
from delegtop.delegate.kept_output import KEPT
from delegtop.delegate.prepare import DelegationContext
from delegtop.delegate.return_objects import return_fields
from delegtop.protocols.standard.contract import own_words
from delegtop.protocols.standard.contract.return_contract import Status

_MEGABYTE = 1024 * 1024


def failure(message: str, *, missing: bool = False) -> dict[str, Any]:
    """The error of a command that failed without saying why; `missing` if it is not there at all."""
    if missing:
        return error_fields("tool_unavailable", "TOOL_UNAVAILABLE", message, own_words.INSTALL)
    return error_fields("execution", "UNKNOWN_ERROR", message, own_words.RUN_AGAIN)


def return_of_command(
    context: DelegationContext,
    ended: CommandEnd,
    undone: list[ChildEnd],
    artifacts: Iterable[Mapping[str, Any]],
    made_by: str,
) -> dict[str, Any]:
    """That of a command that printed none: its exit code says how it ended, and its children whether that is all."""
    how = f"{context.name} ended with exit code {ended.code}"
    kept = f" in the last {KEPT // _MEGABYTE} MB that it printed, and {ended.dropped} bytes before were not kept"
    words = f"{how}. It printed no return{kept if ended.dropped else ''}; {made_by} made this one."
    said = f", and said last: {ended.said}" if ended.said else ""
    own = [failure(f"{how}{said}", missing=ended.is_missing)] if ended.code else []
    return _made(context, words, own, undone, artifacts, made_by)


def return_of_block(
    context: DelegationContext, undone: list[ChildEnd], artifacts: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """That of a block that was left without one: what raised nothing did its own work."""
    words = f"{context.name} ended without an error. It gave no return; delegtop made this one."
    return _made(context, words, [], undone, artifacts, own_words.DELEGTOP)


def _made(
    context: DelegationContext,
    words: str,
    own: list[dict[str, Any]],
    undone: list[ChildEnd],
    artifacts: Iterable[Mapping[str, Any]],
    made_by: str,
) -> dict[str, Any]:
    status: Status = "failed" if own else "partial" if undone else "completed"
    if undone:
        words = f"{words} Not all that it called succeeded: {named(undone)}."
    return return_fields(
        context, status, words, artifacts=artifacts, errors=[*own, *errors_of(undone)], made_by=made_by
    )
