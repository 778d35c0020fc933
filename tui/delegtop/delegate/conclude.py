"""The end of a command that ran as a delegation, as its log tells it: the return it printed, or one made for it."""

import glob
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from delegtop.base.clock import SECOND, Millis
from delegtop.delegate.prepare import DelegationContext
from delegtop.delegate.registry import DelegationRegistry
from delegtop.delegate.return_objects import standard_return
from delegtop.delegate.return_validation import ReturnInvalid, returns_in, validate_return
from delegtop.delegate.supervise import CommandEnd
from delegtop.protocols.standard.contract import own_words
from delegtop.protocols.standard.contract.return_contract import ARTIFACT_TYPES

MADE_BY = "delegtop run"
"""The `metadata.made_by` of a return that the command did not print itself."""
_ARTIFACTS = 100
_NOT_FOUND = 127


class Conclusion:
    """What is recorded of a command when it has ended.

    `log` is the session log and `offset` its size when the command began: what stands behind it tells which session ids
    belong to delegations inside of this one, whose returns may have been printed through it.
    """

    def __init__(
        self,
        context: DelegationContext,
        registry: DelegationRegistry,
        log: Path,
        offset: int,
        started: Millis,
        patterns: Sequence[str] = (),
    ) -> None:
        self._context = context
        self._registry = registry
        self._log = log
        self._offset = offset
        self._started = started
        self._patterns = patterns

    def record(self, ended: CommandEnd, now: Millis) -> tuple[str, ...]:
        """Write it down; what is wrong with the return it printed, if something is."""
        printed = self._printed(ended.output)
        if ended.timed_out:
            self._registry.handle_timeout(self._context.session_id, self._artifacts(printed))
        if ended.timed_out or ended.interrupted:
            return self._take_if_valid(printed)
        if printed is None:
            self._make(ended.code, now)
            return ()
        if ended.code and isinstance(printed, dict) and printed.get("status") == "completed":
            message = f"it ended with exit code {ended.code}, although its return says completed"
            self._registry.error(self._context.session_id, failure(message))
        return self._take(printed)

    def _take(self, printed: object) -> tuple[str, ...]:
        try:
            self._registry.complete(self._context.session_id, printed)
        except ReturnInvalid as invalid:
            return invalid.problems
        return ()

    def _take_if_valid(self, printed: object) -> tuple[str, ...]:
        """After a timeout or a cancel only a good return says more than that."""
        try:
            validate_return(printed, self._context.session_id)
        except ReturnInvalid:
            return ()
        return self._take(printed)

    def _make(self, code: int, now: Millis) -> None:
        duration = (now - self._started) / SECOND
        words = f"{self._context.name} ended with exit code {code}. It printed no return; {MADE_BY} made this one."
        artifacts, errors = list(self._matching()), []
        if code:
            errors.append(failure(f"{self._context.name} ended with exit code {code}", missing=code == _NOT_FOUND))
            self._registry.error(self._context.session_id, errors[0])
        status = "failed" if code else "completed"
        made = standard_return(
            self._context, status, words, artifacts=artifacts, errors=errors, duration=duration, made_by=MADE_BY
        )
        self._registry.complete(self._context.session_id, made)

    def _printed(self, output: str) -> dict[str, Any] | str | None:
        """The last return in the output that is not one of a delegation inside of this one."""
        others = self._written_since() if "session_id" in output else b""
        for found in returns_in(output):
            id = _session_id(found) if isinstance(found, dict) else None
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

    def _artifacts(self, printed: object) -> list[dict[str, Any]]:
        """What there is of the work: the files a return names so far, and those that match and are new."""
        named = printed.get("artifacts") if isinstance(printed, dict) else None
        there = [each for each in named if _exists(each)] if isinstance(named, list) else []
        paths = {each["path"] for each in there}
        return there + [each for each in self._matching() if each["path"] not in paths]

    def _matching(self) -> Iterator[dict[str, Any]]:
        paths = (path for pattern in self._patterns for path in sorted(glob.glob(pattern, recursive=True)))  # noqa: PTH207  # keeps a relative path relative
        for path in islice(filter(self._is_new, dict.fromkeys(paths)), _ARTIFACTS):
            yield {"type": _type_of(path), "path": path}

    def _is_new(self, path: str) -> bool:
        try:
            return Path(path).is_file() and Path(path).stat().st_mtime * SECOND >= self._started - SECOND
        except OSError:
            return False


def failure(message: str, *, missing: bool = False) -> dict[str, Any]:
    """The error of a command that failed without saying why; `missing` if it is not there at all."""
    return {
        "type": "tool_unavailable" if missing else "execution",
        "message": message,
        "code": "TOOL_UNAVAILABLE" if missing else "UNKNOWN_ERROR",
        "recoverable": True,
        "recommendation": own_words.INSTALL if missing else own_words.RUN_AGAIN,
    }


def _session_id(value: dict[str, Any]) -> str | None:
    metadata = value.get("metadata")
    id = (metadata.get("session_id") if isinstance(metadata, dict) else None) or value.get("session_id")
    return id if isinstance(id, str) else None


def _exists(artifact: object) -> bool:
    path = artifact.get("path") if isinstance(artifact, dict) else None
    try:
        return isinstance(path, str) and Path(path).exists()
    except (OSError, ValueError):
        return False


def _type_of(path: str) -> str:
    """The type a path speaks of; work that names no type is the implementation."""
    return next((kind for kind in ARTIFACT_TYPES if kind in path.lower()), "implementation")
