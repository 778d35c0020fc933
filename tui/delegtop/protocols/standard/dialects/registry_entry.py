"""One entry of the orchestrator's registry of active delegations, as the delegation guide prescribes it."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from delegtop.model.deviation_kinds import Departure, DeviationKind

Status = Literal["running", "completed", "failed", "partial", "blocked", "timeout"]


class Entry(BaseModel):
    """One delegation. An orchestrator deletes it when it completes or times out, so most entries are `running`."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    command: Annotated[str | None, Field(description="The command that delegates, such as `implement`.")] = None
    subagent: Annotated[str | None, Field(description="The agent the work was handed to.")] = None
    task_number: Annotated[int | str | None, Field(description="The task the work belongs to.")] = None
    start_time: Annotated[str, Field(description="When it was handed out, ISO 8601 with a zone.")]
    timeout: Annotated[float, Field(ge=0, le=1e10, description="The longest the caller waits, in seconds.")]
    deadline: Annotated[
        str | None, Field(description="When the caller stops waiting, ISO 8601 with a zone; start_time + timeout.")
    ] = None
    status: Annotated[Status, Field(description="How it stands; `running` until something else is known.")]
    delegation_depth: Annotated[
        int, Field(ge=0, le=2**63 - 1, description="Levels below the command: 1 for the agent a command calls.")
    ]
    delegation_path: Annotated[list[str], Field(description="The agents from the orchestrator down to this one.")]
    return_: Annotated[
        dict[str, Any] | None,
        Field(alias="return", description="The return object, in the moment between completion and deletion."),
    ] = None


def fit(value: Mapping[str, Any]) -> tuple[dict[str, Any], list[Departure]]:
    """The fields of an entry that hold what they should, and how the others depart."""
    try:
        Entry.model_validate(value)
    except ValidationError as error:
        departures = {str(problem["loc"][0]): _departure(problem, value) for problem in reversed(error.errors())}
        fitting = {key: given for key, given in value.items() if key not in departures}
        return fitting, list(reversed(departures.values()))
    return dict(value), []


def _departure(problem: Mapping[str, Any], value: Mapping[str, Any]) -> Departure:
    field = str(problem["loc"][0])
    match problem["type"]:
        case "extra_forbidden":
            return Departure(DeviationKind.UNKNOWN_KEY, field)
        case "missing":
            return Departure(DeviationKind.MISSING_FIELD, field)
        case "literal_error" if field == "status":
            return Departure(DeviationKind.UNKNOWN_STATUS, f"status: {value[field]!r}")
        case "greater_than_equal" | "less_than_equal" | "finite_number" | "string_unicode":
            return Departure(DeviationKind.WRONG_VALUE, f"{field}: {problem['msg']}")
        case _:
            return Departure(DeviationKind.WRONG_TYPE, f"{field}: {problem['msg']}")
