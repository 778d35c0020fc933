"""One entry of the orchestrator's registry of active delegations as a model, as the delegation guide prescribes it."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from delegtop.protocols.contract_model import ContractModel, Demand, Said
from delegtop.protocols.standard.contract.delegation_limits import MAX_DEPTH
from delegtop.protocols.standard.contract.delegation_paths import PATH_SCHEMA
from delegtop.protocols.standard.contract.moment_model import MOMENT_SCHEMA

Standing = Literal["running", "completed", "failed", "partial", "blocked", "timeout"]
_REGISTRY = "Delegation guide, Orchestrator Delegation Registry"


class RegistryEntry(ContractModel):
    """One delegation. An orchestrator deletes it when it completes or times out, so most entries are `running`."""

    model_config = ConfigDict(extra="forbid")

    command: Annotated[
        Said,
        Demand(_REGISTRY, "DEL-015"),
        Field(description="The command that delegates, such as `implement`."),
    ]
    subagent: Annotated[
        Said,
        Demand(_REGISTRY, "DEL-015"),
        Field(description="The agent the work was handed to."),
    ]
    task_number: Annotated[
        int | str | None, Demand(_REGISTRY, "LOG-002"), Field(description="The task the work belongs to.")
    ] = None
    start_time: Annotated[
        str,
        Demand(_REGISTRY, "DEL-015"),
        Field(description="When it was handed out, ISO 8601 with a zone.", json_schema_extra=MOMENT_SCHEMA),
    ]
    timeout: Annotated[
        float,
        Demand(_REGISTRY, "DEL-015"),
        Field(gt=0, le=1e10, description="The longest the caller waits, in seconds."),
    ]
    deadline: Annotated[
        str,
        Demand(_REGISTRY, "DEL-015"),
        Field(
            description="When the caller stops waiting, ISO 8601 with a zone; start_time + timeout.",
            json_schema_extra=MOMENT_SCHEMA,
        ),
    ]
    status: Annotated[
        Standing,
        Demand(_REGISTRY, "DEL-015", "LOG-002"),
        Field(description="How it stands; `running` until something else is known."),
    ]
    delegation_depth: Annotated[
        int,
        Demand(_REGISTRY, "DEL-003"),
        Field(
            ge=0,
            le=2**63 - 1,
            description="Levels below the command: 1 for the agent a command calls.",
            json_schema_extra={"maximum": MAX_DEPTH},
        ),
    ]
    delegation_path: Annotated[
        list[str],
        Demand(_REGISTRY, "DEL-003"),
        Field(description="The agents from the orchestrator down to this one.", json_schema_extra=PATH_SCHEMA),
    ]
    return_: Annotated[
        dict[str, Any] | None,
        Demand("Delegation guide, Registry Operations: Complete", "LOG-002"),
        Field(alias="return", description="The return object, in the moment between completion and deletion."),
    ] = None
