"""Stage one of a delegation: the context a caller hands over, and the checks before anything starts."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeGuard

from delegtop.base.clock import SECOND, Clock, Millis, monotonic
from delegtop.delegate.context import Context
from delegtop.delegate.error_objects import error_fields, typed
from delegtop.delegate.new_session_id import generate_session_id
from delegtop.protocols.standard.contract.delegation_limits import MAX_DEPTH, timeout_of
from delegtop.protocols.standard.contract.delegation_paths import ORCHESTRATOR
from delegtop.protocols.standard.contract.return_contract import ERROR_CODES

if TYPE_CHECKING:
    from delegtop.protocols.standard.contract.return_model import ReturnError

CONTEXT_VARIABLE = "DELEGTOP_CONTEXT"
"""Holds the delegation context of a process, as JSON."""
SESSION_VARIABLE = "DELEGTOP_SESSION_ID"
"""Holds the session id alone, for scripts that print a return; nothing reads it back."""
LOG_VARIABLE = "DELEGTOP_LOG"
"""Names the session log delegations are written to."""
REGISTRY_VARIABLE = "DELEGTOP_REGISTRY"
"""Names the registry snapshot they are listed in, if there is one."""


class ContextInvalid(ValueError):  # noqa: N818  # the name says what is wrong
    """What should be a delegation context is none; the message says why."""


class DelegationRefused(Exception):  # noqa: N818  # it reads as what happened: nothing is broken
    """A delegation that must not start. `code` is MAX_DEPTH_EXCEEDED or CYCLE_DETECTED."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message

    def error(self) -> "ReturnError":
        """The error for a log or a return. Recoverable: the caller can go on without this delegation."""
        return typed(error_fields("validation", self.code, self.message, _sentence(ERROR_CODES[self.code].recovery)))


@dataclass(frozen=True, kw_only=True)
class DelegationContext:
    """What a delegation knows of itself. The path ends with its own name."""

    session_id: str
    delegation_depth: int
    delegation_path: tuple[str, ...]
    timeout: float
    """Seconds, as in every file."""
    caller: str | None = None
    task_context: Mapping[str, Any] = field(default_factory=dict)
    parent: str | None = None
    """The session id of the delegation that hands out this one."""
    began: float = field(default_factory=monotonic, compare=False, repr=False)
    """When it was made or taken over, by the monotonic clock of this process: durations are measured from there."""

    @property
    def seconds(self) -> float:
        """How long that is ago."""
        return round(monotonic() - self.began, 3)

    @property
    def name(self) -> str:
        """The agent, or at depth 0 the command."""
        return self.delegation_path[-1]

    @property
    def command(self) -> str:
        """The command everything here belongs to: what the orchestrator called."""
        return self.delegation_path[min(1, len(self.delegation_path) - 1)]

    def to_dict(self) -> dict[str, Any]:
        """The context as JSON has it; what is not known is left out."""
        fields = {
            "session_id": self.session_id,
            "delegation_depth": self.delegation_depth,
            "delegation_path": list(self.delegation_path),
            "timeout": self.timeout,
            "caller": self.caller,
            "task_context": dict(self.task_context) or None,
            "parent_session_id": self.parent,
        }
        return {name: value for name, value in fields.items() if value is not None}

    @classmethod
    def from_dict(cls, value: object) -> Self:
        """The context that `to_dict` wrote. Raises ContextInvalid."""
        if not isinstance(value, dict):
            raise ContextInvalid("it must be a JSON object")
        session_id, path = value.get("session_id"), value.get("delegation_path")
        depth, timeout = value.get("delegation_depth"), value.get("timeout")
        if not (isinstance(session_id, str) and session_id):
            raise ContextInvalid("session_id must be text")
        if not (isinstance(path, list) and path and all(isinstance(name, str) for name in path)):
            raise ContextInvalid("delegation_path must be a list of names")
        if not (isinstance(depth, int) and not isinstance(depth, bool) and depth >= 0):
            raise ContextInvalid("delegation_depth must be a whole number from 0")
        if not _is_span(timeout):
            raise ContextInvalid("timeout must be a number of seconds above 0")
        task_context = value.get("task_context")
        return cls(
            session_id=session_id,
            delegation_depth=depth,
            delegation_path=tuple(path),
            timeout=timeout,
            caller=_text(value.get("caller")),
            task_context=task_context if isinstance(task_context, dict) else {},
            parent=_text(value.get("parent_session_id")),
        )

    def to_environment(self, log: Path | None = None, registry: Path | None = None) -> dict[str, str]:
        """The variables a process gets so that its own delegations become children of this one."""
        variables = {CONTEXT_VARIABLE: json.dumps(self.to_dict()), SESSION_VARIABLE: self.session_id}
        if log is not None:
            variables[LOG_VARIABLE] = str(log.absolute())
        if registry is not None:
            variables[REGISTRY_VARIABLE] = str(registry.absolute())
        return variables

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self | None:
        """The context this process was started with; None outside of any delegation. Raises ContextInvalid."""
        given = environ.get(CONTEXT_VARIABLE)
        if not given:
            return None
        try:
            return cls.from_dict(json.loads(given))
        except (ValueError, RecursionError) as error:
            reason = str(error) if isinstance(error, ContextInvalid) else "it is not JSON"
            raise ContextInvalid(f"{CONTEXT_VARIABLE}: {reason}") from None

    def entry(self, at: Millis, *, pid: int | None = None, host: str | None = None) -> Context:
        """This delegation as logs and registries list it, handed out at that moment."""
        span = round(self.timeout * SECOND)
        number = self.task_context.get("task_number")
        return Context(
            session_id=self.session_id,
            command=self.command,
            subagent=self.name,
            caller=self.caller,
            parent_session_id=self.parent,
            task_number=number if isinstance(number, int | str) else None,
            task_context=self.task_context,
            timeout=span,
            deadline=Millis(at + span),
            depth=self.delegation_depth,
            path=self.delegation_path,
            pid=pid,
            host=host,
        )


def check_timeout(timeout: float | None) -> None:
    """Refuse what is no time that somebody can wait for; None is left to whoever has a default."""
    if timeout is not None and not _is_span(timeout):
        raise ValueError(f"a timeout is a number of seconds above 0, not {timeout!r}")


def check_depth(depth: int, limit: int = MAX_DEPTH) -> None:
    """Refuse a delegation at this depth if it would be deeper than the limit."""
    if depth > limit:
        raise DelegationRefused("MAX_DEPTH_EXCEEDED", f"depth {depth} is deeper than the limit of {limit}")


def check_cycle(path: tuple[str, ...], target: str) -> None:
    """Refuse a target that is already in the path: whoever waits for it would wait for itself."""
    if target in path:
        raise DelegationRefused("CYCLE_DETECTED", f"{' → '.join(path)} → {target} would go round in a circle")


def prepare_delegation(
    parent: DelegationContext | None,
    target: str,
    *,
    timeout: float | None = None,
    task_context: Mapping[str, Any] | None = None,
    max_depth: int = MAX_DEPTH,
    clock: Clock | None = None,
) -> DelegationContext:
    """The context for handing work to `target`; raises DelegationRefused for one that would be too deep or a cycle.

    Without a parent it is the orchestrator that calls: `target` is a command, at depth 0. A timeout that is not given
    is the guide's for the kind of work, told by the target's name. The task's context is the parent's if none is given.
    """
    if not (isinstance(target, str) and target.strip()):
        raise ValueError(f"work is handed to somebody by name, not to {target!r}")
    check_timeout(timeout)
    path = (ORCHESTRATOR,) if parent is None else parent.delegation_path
    depth = 0 if parent is None else parent.delegation_depth + 1
    check_depth(depth, max_depth)
    check_cycle(path, target)
    if task_context is None:
        task_context = {} if parent is None else parent.task_context
    return DelegationContext(
        session_id=generate_session_id(clock=clock),
        delegation_depth=depth,
        delegation_path=(*path, target),
        timeout=timeout_of(target) if timeout is None else timeout,
        caller=None if parent is None else parent.name,
        task_context=task_context,
        parent=None if parent is None else parent.session_id,
    )


def _is_span(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
