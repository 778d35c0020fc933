"""Session logs, written: one JSON object a line, each line whole however many processes write."""

import errno
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from delegtop.base.clock import Millis, iso
from delegtop.base.paths import make_private
from delegtop.delegate.context import Context

if TYPE_CHECKING:
    from delegtop.protocols.standard.contract.return_model import Return, ReturnArtifact, ReturnError

SCHEMA_VERSION = 1


class Journal:
    """Appends the events of delegations to one session log.

    The file is opened for every line, so the log may be rotated away between two of them. A symbolic link is not
    followed: whoever may put one there could have another file written to.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def size(self) -> int:
        """How long the log is by now."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def register(self, at: Millis, context: Context) -> None:
        self._append("register", at, context.session_id, context.register_fields())

    def heartbeat(
        self,
        at: Millis,
        session_id: str,
        activity: str,
        *,
        tool: str | None = None,
        tokens: int | None = None,
        cost: float | None = None,
    ) -> None:
        """A sign of life. `tokens` and `cost` (US dollars) are totals so far."""
        fields = {"activity": activity, "tool": tool, "tokens": tokens, "cost": cost}
        self._append("heartbeat", at, session_id, {name: value for name, value in fields.items() if value is not None})

    def returned(self, at: Millis, session_id: str, result: "Return | object") -> None:
        """The return exactly as the agent gave it, well-formed or not."""
        self._append("return", at, session_id, {"return": as_given(result)})

    def timed_out(
        self, at: Millis, session_id: str, artifacts: "Sequence[ReturnArtifact | Mapping[str, Any]]" = ()
    ) -> None:
        """The caller stopped waiting; `artifacts` are what it found on disk."""
        self._append("timeout", at, session_id, {"artifacts": [as_given(artifact) for artifact in artifacts]})

    def error(
        self, at: Millis, session_id: str, error: "ReturnError | Mapping[str, Any]", *, stack_trace: str | None = None
    ) -> None:
        """Something went wrong; `stack_trace` says where in a program."""
        where = {} if stack_trace is None else {"stack_trace": stack_trace}
        self._append("error", at, session_id, {"error": as_given(error), **where})

    def cancel(self, at: Millis, session_id: str, reason: str | None = None) -> None:
        self._append("cancel", at, session_id, {} if reason is None else {"reason": reason})

    def _append(self, event: str, at: Millis, session_id: str, fields: Mapping[str, Any]) -> None:
        record = {"schema_version": SCHEMA_VERSION, "event": event, "at": iso(at), "session_id": session_id, **fields}
        append_line(self.path, encode(record))


def as_given(value: object) -> object:
    """A model as JSON has it, with no field that nobody gave; anything else as it is."""
    if hasattr(value, "model_dump"):  # asked first: who writes plain objects loads no model
        from delegtop.protocols.contract_model import ContractModel, dumped

        return dumped(value) if isinstance(value, ContractModel) else value
    return dict(value) if isinstance(value, Mapping) else value


def encode(record: Mapping[str, Any]) -> bytes:
    """A record as JSON on one line. Text that is not valid Unicode loses only the characters that are not."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")


def append_line(path: Path, data: bytes) -> None:
    """Append one line with a single write, which the kernel keeps in one piece among several writers.

    A line that a writer could not finish, because it died or the disk was full, is closed first: it costs itself
    and not this one too. Another writer in the middle of a long line looks the same for an instant; then the newline
    lands behind that line and leaves an empty one, which no reader minds.
    """
    make_private(path.parent)
    fd = open_own(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    try:
        size = os.fstat(fd).st_size
        unfinished = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
        line = (b"\n" if unfinished else b"") + data + b"\n"
        written = os.write(fd, line)
    finally:
        os.close(fd)
    if written < len(line):
        raise OSError(f"{path}: only {written} of {len(line)} bytes could be written")


def open_own(path: Path, flags: int) -> int:
    """Open a file that delegtop writes, for its owner alone; a symbolic link is refused."""
    try:
        return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a symbolic link, which is not followed", str(path)) from None
        raise
