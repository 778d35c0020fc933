"""The end of a command that ran as a delegation, as its log tells it: the return it printed, or one made for it."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from delegtop.delegate.artifact_search import ArtifactSearch
from delegtop.delegate.command_end import CommandEnd
from delegtop.delegate.error_objects import error_fields
from delegtop.delegate.prepare import DelegationContext
from delegtop.delegate.registry import DelegationRegistry
from delegtop.delegate.return_objects import return_fields
from delegtop.delegate.return_validation import ReturnInvalid, return_breaches, session_id_of
from delegtop.protocols.standard.contract import own_words
from delegtop.protocols.standard.contract.return_contract import STATUSES
from delegtop.protocols.standard.contract.return_search import returns_in

MADE_BY = "delegtop run"
"""The `metadata.made_by` of a return that the command did not print itself."""
_NOT_FOUND = 127
_GAPS = frozenset(
    {
        *("RET-003", "RET-006", "RET-008", "RET-010", "RET-020"),
        *("RET-031", "RET-032", "RET-033", "RET-034", "RET-035"),
        *("DEL-004", "DEL-007", "LOG-002"),
    }
)
"""Rules whose breach leaves a return that one can go on with. `check` tells them; the return stays what it says."""


class Conclusion:
    """What is recorded of a command when it has ended.

    `log` is the session log and `offset` its size when the command began: what stands behind it tells which session ids
    belong to delegations inside of this one, whose returns may have been printed through it.
    """

    def __init__(
        self, context: DelegationContext, registry: DelegationRegistry, log: Path, offset: int, search: ArtifactSearch
    ) -> None:
        self._context = context
        self._registry = registry
        self._log = log
        self._offset = offset
        self._search = search

    def record(self, ended: CommandEnd) -> tuple[str, ...]:
        """Write it down; what is wrong with the return it printed, if something is."""
        printed = self._printed(ended.output)
        if ended.timed_out:
            named = printed.get("artifacts") if isinstance(printed, dict) else None
            self._registry.handle_timeout(self._context.session_id, self._search.found(named))
        if ended.timed_out or ended.interrupted:
            # After a timeout or a cancel only a good return says more than that.
            if printed is not None and not self._troubles(printed):
                self._registry.record(self._context.session_id, printed)
            return ()
        if printed is None:
            self._make(ended.code)
            return ()
        if ended.code and isinstance(printed, dict) and printed.get("status") == "completed":
            message = f"it ended with exit code {ended.code}, although its return says completed"
            self._registry.error(self._context.session_id, failure(message))
        return self._take(printed)

    def _take(self, printed: Mapping[str, Any] | str) -> tuple[str, ...]:
        """A return that says how it ended is recorded as it was printed: a wrapper knows no better. One that does not
        is a failed one, as the documents have it."""
        problems = self._troubles(printed)
        invalid = ReturnInvalid(problems, printed)
        if isinstance(printed, str) or printed.get("status") not in STATUSES:
            self._registry.refuse(self._context.session_id, invalid)
            return problems
        self._registry.record(self._context.session_id, printed)
        if problems:
            self._registry.error(self._context.session_id, invalid.fields())
        return problems

    def _troubles(self, printed: object) -> tuple[str, ...]:
        """What is wrong with a return, but for gaps."""
        found = return_breaches(printed, self._context.session_id)
        return tuple(str(each) for each in found if each.rule not in _GAPS and not each.field.startswith("errors["))

    def _make(self, code: int) -> None:
        words = f"{self._context.name} ended with exit code {code}. It printed no return; {MADE_BY} made this one."
        errors = []
        if code:
            errors.append(failure(f"{self._context.name} ended with exit code {code}", missing=code == _NOT_FOUND))
            self._registry.error(self._context.session_id, errors[0])
        made = return_fields(
            self._context,
            "failed" if code else "completed",
            words,
            artifacts=self._search.matching(),
            errors=errors,
            made_by=MADE_BY,
        )
        self._registry.record(self._context.session_id, made)

    def _printed(self, output: str) -> dict[str, Any] | str | None:
        """The last return in the output that is not one of a delegation inside of this one."""
        others = self._written_since() if "session_id" in output else b""
        for found in returns_in(output):
            id = session_id_of(found) if isinstance(found, dict) else None
            if id in (None, self._context.session_id) or f'"session_id":"{id}"'.encode() not in others:
                return found
        return None

    def _written_since(self) -> bytes:
        try:
            with self._log.open("rb") as file:
                file.seek(self._offset if os.fstat(file.fileno()).st_size >= self._offset else 0)
                return file.read()
        except OSError:
            return b""


def failure(message: str, *, missing: bool = False) -> dict[str, Any]:
    """The error of a command that failed without saying why; `missing` if it is not there at all."""
    if missing:
        return error_fields("tool_unavailable", "TOOL_UNAVAILABLE", message, own_words.INSTALL)
    return error_fields("execution", "UNKNOWN_ERROR", message, own_words.RUN_AGAIN)
