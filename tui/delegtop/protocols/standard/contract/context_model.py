"""The delegation context as a model: what every delegation must include, in the delegation guide's own words."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from delegtop.protocols.contract_model import ContractModel, Demand, Said, broken
from delegtop.protocols.standard.contract.delegation_limits import MAX_DEPTH
from delegtop.protocols.standard.contract.delegation_paths import repeated
from delegtop.protocols.standard.contract.session_id_model import ID_SCHEMA, well_formed

_SCHEMA = "Delegation guide, Delegation Context Schema"


class DelegationContextModel(ContractModel):
    """What a caller hands over together with the work."""

    session_id: Annotated[
        str,
        AfterValidator(well_formed("DEL-012")),
        Demand(_SCHEMA, "DEL-001", value="DEL-012"),
        Field(description="Unique identifier for this delegation.", json_schema_extra=ID_SCHEMA),
    ]
    delegation_depth: Annotated[
        int,
        Demand(_SCHEMA, "DEL-003", value="DEL-004", least="DEL-003"),
        Field(ge=0, le=MAX_DEPTH, description="Current depth (0-2, max 3)."),
    ]
    delegation_path: Annotated[
        tuple[Said, ...],
        Demand(_SCHEMA, "DEL-003"),
        Field(
            strict=False,
            min_length=1,
            description="Array of agent names in delegation chain.",
            json_schema_extra={"uniqueItems": True},
        ),
    ]
    timeout: Annotated[
        float, Demand(_SCHEMA, "DEL-002"), Field(gt=0, le=1e10, description="Maximum wait time in seconds.")
    ]
    caller: Annotated[
        str | None, Demand(_SCHEMA, "LOG-002"), Field(description="Name of calling agent or command.")
    ] = None
    task_context: Annotated[
        dict[str, Any] | None, Demand(_SCHEMA, "LOG-002"), Field(description="Additional context for the task.")
    ] = None
    parent_session_id: Annotated[
        str | None, Field(description="The delegation that hands out this one; delegtop's own addition.")
    ] = None

    @model_validator(mode="after")
    def _no_cycle(self) -> "DelegationContextModel":
        if twice := repeated(self.delegation_path):
            raise broken("DEL-007", "delegation_path", f"comes back to {twice[0]}")
        return self
