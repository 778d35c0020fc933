"""The lines of a session log, field by field: the decoder, the JSON Schema and the reference page come from these.

The Structs say what a writer should write. Reading is more forgiving: see `lenient`.
"""

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from delegtop.model.events import Artifact, Fault
from delegtop.protocols.standard.dialects.return_reading import Count, ReturnObject

Wait = Annotated[float, Meta(gt=0, le=1e10)]
"""Seconds that somebody waits: more than none."""
Moment = Annotated[datetime, Meta(tz=True)]
"""ISO 8601 with a zone."""


class _Entry(msgspec.Struct, tag_field="event", forbid_unknown_fields=True, gc=False, kw_only=True):
    """What every line has."""

    at: Annotated[Moment, Meta(description="When it happened, such as `2026-02-03T09:00:00.000Z`.")]
    session_id: Annotated[str, Meta(min_length=1, description="The delegation it happened to.")]
    schema_version: Annotated[Literal[1], Meta(description="The version of this format.")] = 1


class TaskContext(msgspec.Struct, gc=False):
    """What the caller says of the task. Any key is welcome; delegtop reads the one below."""

    task_number: Annotated[int | str | None, Meta(description="Read if the record itself has no `task_number`.")] = None


class Register(_Entry, tag="register"):
    """A delegation was handed out."""

    delegation_depth: Annotated[Count, Meta(description="Levels below the command: 0 for the command itself.")]
    delegation_path: Annotated[
        tuple[str, ...], Meta(description="The names from the orchestrator down to this delegation.")
    ]
    parent_session_id: Annotated[str | None, Meta(description="The delegation that handed it out.")] = None
    command: Annotated[str | None, Meta(description="The command it belongs to, such as `implement`.")] = None
    subagent: Annotated[str | None, Meta(description="The agent the work was handed to; absent for a command.")] = None
    caller: Annotated[str | None, Meta(description="The agent or command that handed it out.")] = None
    task_number: Annotated[int | str | None, Meta(description="The task the work belongs to.")] = None
    task_context: Annotated[TaskContext | None, Meta(description="What the caller says of the task.")] = None
    timeout: Annotated[Wait | None, Meta(description="The longest the caller waits, in seconds.")] = None
    deadline: Annotated[Moment | None, Meta(description="When the caller stops waiting.")] = None
    pid: Annotated[Count | None, Meta(description="The process that does the work.")] = None
    host: Annotated[str | None, Meta(description="The machine that process runs on.")] = None


class Heartbeat(_Entry, tag="heartbeat"):
    """A sign of life."""

    activity: Annotated[str | None, Meta(description="What it is doing now, for people.")] = None
    tool: Annotated[str | None, Meta(description="The tool it is using now.")] = None
    tokens: Annotated[Count | None, Meta(description="Tokens used so far, in all.")] = None
    cost: Annotated[
        Annotated[float, Meta(ge=0, le=1e12)] | None, Meta(description="US dollars spent so far, in all.")
    ] = None


class ReturnLine(_Entry, tag="return"):
    """The agent handed back its result."""

    returned: Annotated[ReturnObject, Meta(description="The return object, as the agent gave it.")] = msgspec.field(
        name="return"
    )


class Timeout(_Entry, tag="timeout"):
    """The caller stopped waiting."""

    artifacts: Annotated[
        tuple[Artifact, ...], Meta(description="What was found of the work up to then; may be empty.")
    ] = ()


class Error(_Entry, tag="error"):
    """Something went wrong. The delegation goes on unless the error says that it is not recoverable."""

    error: Annotated[Fault, Meta(description="What went wrong.")]
    stack_trace: Annotated[str | None, Meta(description="Where in a program it went wrong, for people.")] = None


class Cancel(_Entry, tag="cancel"):
    """Someone ended the delegation before it was done."""

    reason: Annotated[str | None, Meta(description="Why, for people.")] = None


Entry = Register | Heartbeat | ReturnLine | Timeout | Error | Cancel
