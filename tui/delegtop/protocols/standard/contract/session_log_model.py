"""The lines of a session log as models: what a writer should write. The reader decodes with Structs like them."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, RootModel
from pydantic_core import PydanticCustomError

from delegtop.protocols.contract_model import ContractModel, Demand
from delegtop.protocols.standard.contract.delegation_limits import MAX_DEPTH
from delegtop.protocols.standard.contract.delegation_paths import PATH_SCHEMA
from delegtop.protocols.standard.contract.moment_model import Moment
from delegtop.protocols.standard.contract.return_model import Return, ReturnArtifact, ReturnError
from delegtop.protocols.standard.contract.session_id_model import ID_SCHEMA

_PAGE = "docs/session-log.md"
_CONTEXT = "Delegation guide, Delegation Context Schema"
Count = Annotated[int, Field(ge=0, le=2**63 - 1)]
Wait = Annotated[float, Field(gt=0, le=1e10)]


def _whole_number(given: Any) -> Any:
    """Not true, which Python takes for 1."""
    if isinstance(given, bool):
        raise PydanticCustomError("int_type", "is no number")
    return given


class TaskContextModel(ContractModel):
    """What the caller says of the task. Any key is welcome; delegtop reads the one below."""

    task_number: Annotated[
        int | str | None,
        Demand(_CONTEXT, "LOG-002"),
        Field(description="Read if the record itself has no `task_number`."),
    ] = None


class LogEntry(ContractModel):
    """What every line has."""

    model_config = ConfigDict(extra="forbid")

    at: Annotated[
        Moment,
        Demand(_PAGE, "LOG-002"),
        Field(description="When it happened, such as `2026-02-03T09:00:00.000Z`."),
    ]
    session_id: Annotated[
        str,
        Demand(_PAGE, "DEL-001"),
        Field(min_length=1, description="The delegation it happened to.", json_schema_extra=ID_SCHEMA),
    ]
    schema_version: Annotated[
        Literal[1],
        BeforeValidator(_whole_number),
        Demand(_PAGE, "LOG-002"),
        Field(description="The version of this format."),
    ] = 1


class RegisterEntry(LogEntry):
    """A delegation was handed out."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["timeout"]}, {"required": ["deadline"]}]})

    event: Literal["register"] = Field(description="A delegation begins.")
    delegation_depth: Annotated[
        Count,
        Demand(_CONTEXT, "DEL-003"),
        Field(
            description="Levels below the command: 0 for the command itself.", json_schema_extra={"maximum": MAX_DEPTH}
        ),
    ]
    delegation_path: Annotated[
        list[str],
        Demand(_CONTEXT, "DEL-003"),
        Field(description="The names from the orchestrator down to this delegation.", json_schema_extra=PATH_SCHEMA),
    ]
    parent_session_id: Annotated[
        str | None, Demand(_PAGE, "LOG-002"), Field(description="The delegation that handed it out.")
    ] = None
    command: Annotated[
        str | None, Demand(_PAGE, "LOG-002"), Field(description="The command it belongs to, such as `implement`.")
    ] = None
    subagent: Annotated[
        str | None,
        Demand(_PAGE, "LOG-002"),
        Field(description="The agent the work was handed to; absent for a command."),
    ] = None
    caller: Annotated[
        str | None, Demand(_CONTEXT, "LOG-002"), Field(description="The agent or command that handed it out.")
    ] = None
    task_number: Annotated[
        int | str | None, Demand(_PAGE, "LOG-002"), Field(description="The task the work belongs to.")
    ] = None
    task_context: Annotated[
        TaskContextModel | None, Demand(_CONTEXT, "LOG-002"), Field(description="What the caller says of the task.")
    ] = None
    timeout: Annotated[
        Wait | None,
        Demand(_CONTEXT, "DEL-002", "LOG-002"),
        Field(description="The longest the caller waits, in seconds."),
    ] = None
    deadline: Annotated[
        Moment | None, Demand(_PAGE, "LOG-002"), Field(description="When the caller stops waiting.")
    ] = None
    pid: Annotated[Count | None, Demand(_PAGE, "LOG-002"), Field(description="The process that does the work.")] = None
    host: Annotated[str | None, Demand(_PAGE, "LOG-002"), Field(description="The machine that process runs on.")] = None


class HeartbeatEntry(LogEntry):
    """A sign of life."""

    event: Literal["heartbeat"] = Field(description="It is still at work.")
    activity: Annotated[
        str | None, Demand(_PAGE, "LOG-002"), Field(description="What it is doing now, for people.")
    ] = None
    tool: Annotated[str | None, Demand(_PAGE, "LOG-002"), Field(description="The tool it is using now.")] = None
    tokens: Annotated[Count | None, Demand(_PAGE, "LOG-002"), Field(description="Tokens used so far, in all.")] = None
    cost: Annotated[
        Annotated[float, Field(ge=0, le=1e12)] | None,
        Demand(_PAGE, "LOG-002"),
        Field(description="US dollars spent so far, in all."),
    ] = None


class ReturnEntry(LogEntry):
    """The agent handed back its result. The log takes any; this is what one should be."""

    event: Literal["return"] = Field(description="It came back with a return.")
    returned: Annotated[
        Return, Demand(_PAGE, "RET-001"), Field(alias="return", description="The return object, as the agent gave it.")
    ]


class TimeoutEntry(LogEntry):
    """The caller stopped waiting."""

    event: Literal["timeout"] = Field(description="Its time is over.")
    artifacts: Annotated[
        tuple[ReturnArtifact, ...],
        Demand("Delegation guide, Stage 3: timeout_handling", "LOG-002"),
        Field(strict=False, description="What was found of the work up to then; may be empty."),
    ] = ()


class ErrorEntry(LogEntry):
    """Something went wrong. The delegation goes on unless the error says that it is not recoverable."""

    event: Literal["error"] = Field(description="Something went wrong; it may go on.")
    error: Annotated[ReturnError, Demand(_PAGE, "LOG-002"), Field(description="What went wrong.")]
    stack_trace: Annotated[
        str | None,
        Demand("Delegation guide, Stage 3: exception_handling", "LOG-002"),
        Field(description="Where in a program it went wrong, for people."),
    ] = None


class CancelEntry(LogEntry):
    """Someone ended the delegation before it was done."""

    event: Literal["cancel"] = Field(description="It was called off.")
    reason: Annotated[str | None, Demand(_PAGE, "LOG-002"), Field(description="Why, for people.")] = None


class SessionLogLine(
    RootModel[
        Annotated[
            RegisterEntry | HeartbeatEntry | ReturnEntry | TimeoutEntry | ErrorEntry | CancelEntry,
            Field(discriminator="event"),
        ]
    ]
):
    """One line of a session log."""
