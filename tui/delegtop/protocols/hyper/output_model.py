"""The output of a hyper sub-agent as a model: the output contract, in its own words."""

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from delegtop.protocols.contract_model import ContractModel, Demand, Said, broken
from delegtop.protocols.hyper.output_contract import KEY_POINTS, SUMMARY_SENTENCES, ArtifactType, Status
from delegtop.protocols.standard.contract.artifact_paths import climbs, is_absolute
from delegtop.protocols.standard.contract.return_contract import sentences

_FIELDS = "hyper output contracts, Field Specifications"


def _relative(path: str) -> str:
    if is_absolute(path) or path.startswith("$") or climbs(path):
        raise broken("HYP-007", "", f'is "{path[:60]}", which is not relative to the root of the workspace')
    return path


def _concise(summary: str) -> str:
    if (count := sentences(summary)) > SUMMARY_SENTENCES[1]:
        raise broken("HYP-009", "", f"has {count} sentences, more than {SUMMARY_SENTENCES[1]}")
    return summary


class OutputMeta(ContractModel):
    """Who answers, and how it went."""

    agent_name: Annotated[
        Said,
        Demand(f"{_FIELDS}: meta", "HYP-003", "HYP-005"),
        Field(description="Agent identifier; matches the agent file name."),
    ]
    status: Annotated[
        Status,
        Demand(f"{_FIELDS}: meta", "HYP-003", "HYP-005", "HYP-004"),
        Field(
            description="complete: all objectives achieved. partial: some objectives achieved, others blocked or "
            "skipped. error: critical failure, unable to proceed."
        ),
    ]
    execution_time_ms: Annotated[
        float,
        Demand(f"{_FIELDS}: meta", "HYP-003", "HYP-005"),
        Field(ge=0, lt=1e13, description="Execution time in milliseconds."),
    ]


class OutputArtifactModel(ContractModel):
    """An artifact created during execution."""

    type: Annotated[
        ArtifactType,
        Demand(f"{_FIELDS}: artifacts", "HYP-003", "HYP-005", "HYP-006"),
        Field(
            description="document: Markdown/MDX files. code: source code files created or modified. data: JSON, YAML, "
            "or other data files."
        ),
    ]
    path: Annotated[
        Said,
        AfterValidator(_relative),
        Demand(f"{_FIELDS}: artifacts", "HYP-003", "HYP-005"),
        Field(description="Relative path from $HYPER_WORKSPACE_ROOT/."),
    ]
    summary: Annotated[
        Said,
        AfterValidator(_concise),
        Demand(f"{_FIELDS}: artifacts", "HYP-003", "HYP-005"),
        Field(description="Brief description (1-2 sentences max)."),
    ]
    key_points: Annotated[
        tuple[Said, ...],
        Demand(f"{_FIELDS}: artifacts", "HYP-003", "HYP-005", "HYP-010"),
        Field(
            strict=False,
            min_length=KEY_POINTS[0],
            max_length=KEY_POINTS[1],
            description="3-5 key findings or highlights.",
        ),
    ]


class OutputErrorModel(ContractModel):
    """Why it was unable to proceed."""

    code: Annotated[
        Said, Demand("hyper output contracts, TypeScript Schema", "HYP-003", "HYP-005"), Field(description="Its code.")
    ]
    message: Annotated[
        Said,
        Demand("hyper output contracts, TypeScript Schema", "HYP-003", "HYP-005"),
        Field(description="What happened."),
    ]
    details: Annotated[
        str | None, Demand("hyper output contracts, TypeScript Schema", "HYP-005"), Field(description="More on it.")
    ] = None


class AgentOutput(ContractModel):
    """What a sub-agent answers, as a JSON block in its final message."""

    meta: Annotated[OutputMeta, Demand(f"{_FIELDS}: meta", "HYP-003", "HYP-005"), Field(description="Required.")]
    artifacts: Annotated[
        tuple[OutputArtifactModel, ...],
        Demand(f"{_FIELDS}: artifacts", "HYP-003", "HYP-005"),
        Field(
            strict=False,
            description="Artifacts created during execution, written to disk before reporting; may be empty.",
        ),
    ]
    next_steps: Annotated[
        tuple[Said, ...],
        Demand(f"{_FIELDS}: next_steps", "HYP-003", "HYP-005"),
        Field(strict=False, description="Recommended follow-up actions, in imperative form; may be empty."),
    ]
    error: Annotated[
        OutputErrorModel | None,
        Demand("hyper output contracts, Orchestrator Expectations 4", "HYP-013", "HYP-005"),
        Field(description="Included if the status is error."),
    ] = None

    @model_validator(mode="after")
    def _explained(self) -> "AgentOutput":
        if self.meta.status == "error" and self.error is None:
            raise broken("HYP-013", "error", "must say what went wrong if the status is error")
        if self.meta.status == "partial" and not self.next_steps:
            raise broken("HYP-012", "next_steps", "must explain what is left if the status is partial")
        return self
