"""The frontmatter of a subagent file as a model: what the structure standard asks for, in its own words."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from delegtop.protocols.contract_model import ContractModel, Demand, Said, broken
from delegtop.protocols.standard.contract.agent_file_contract import (
    CONTEXT_LIMITS,
    DESCRIPTION_SENTENCES,
    RETURN_FORMAT,
    SEMVER,
    STAGES,
    TOOLS,
    AgentType,
    Strategy,
)
from delegtop.protocols.standard.contract.delegation_limits import MAX_DEPTH
from delegtop.protocols.standard.contract.return_contract import sentences

_WHERE = "Structure standard, Frontmatter"
Positive = Annotated[int, Field(gt=0)]


def _short(text: str) -> str:
    if (count := sentences(text)) > DESCRIPTION_SENTENCES:
        raise broken("AGT-019", "", f"has {count} sentences, more than {DESCRIPTION_SENTENCES}")
    return text


Patterns = list[dict[str, list[str]]]


class ToolPermissions(ContractModel):
    """What it may do with its tools."""

    allow: Annotated[
        Patterns,
        Demand(f"{_WHERE}: Tool permissions", "AGT-011"),
        Field(min_length=1, description="Allowed patterns and commands, by tool."),
    ]
    deny: Annotated[
        Patterns,
        Demand(f"{_WHERE}: Tool permissions", "AGT-011"),
        Field(min_length=1, description="Denied bash commands and protected paths, by tool."),
    ]


class ContextLoading(ContractModel):
    """What it loads before it works."""

    strategy: Annotated[
        Strategy, Demand(f"{_WHERE}: Context loading", "AGT-013"), Field(description="lazy, eager or minimal.")
    ]
    index: Annotated[
        Said, Demand(f"{_WHERE}: Context loading", "AGT-013"), Field(description="Where the context is listed.")
    ]
    required: Annotated[
        list[Said],
        Demand(f"{_WHERE}: Context loading", "AGT-013"),
        Field(min_length=1, description="Always load these; the return format standard among them."),
    ]
    optional: Annotated[
        list[Said] | None, Demand(f"{_WHERE}: Context loading", "AGT-013"), Field(description="Load if needed.")
    ] = None
    max_context_size: Annotated[
        Positive,
        Demand(f"{_WHERE}: Context loading", "AGT-014"),
        Field(le=max(CONTEXT_LIMITS.values()), description="Maximum bytes to load."),
    ]

    @model_validator(mode="after")
    def _fits(self) -> "ContextLoading":
        if self.max_context_size > (limit := CONTEXT_LIMITS[self.strategy]):
            raise broken("AGT-014", "max_context_size", f"is more than the {limit} bytes of {self.strategy} loading")
        if not any(RETURN_FORMAT in each for each in self.required):
            raise broken("AGT-013", "required", f"has no {RETURN_FORMAT}")
        return self


class DelegationLimits(ContractModel):
    """To whom and how far it may hand work on."""

    max_depth: Annotated[
        int,
        Demand(f"{_WHERE}: Delegation", "AGT-015"),
        Field(ge=0, le=MAX_DEPTH, description="Maximum delegation depth."),
    ]
    can_delegate_to: Annotated[
        list[Said], Demand(f"{_WHERE}: Delegation", "AGT-016"), Field(description="Agents this can delegate to.")
    ]
    timeout_default: Annotated[
        Positive, Demand(f"{_WHERE}: Delegation", "AGT-017"), Field(description="Default timeout for delegations.")
    ]
    timeout_max: Annotated[
        Positive, Demand(f"{_WHERE}: Delegation", "AGT-017"), Field(description="Maximum timeout allowed.")
    ]

    @model_validator(mode="after")
    def _ordered(self) -> "DelegationLimits":
        if self.timeout_default > self.timeout_max:
            raise broken("AGT-017", "timeout_default", f"is more than timeout_max, {self.timeout_max}")
        if self.can_delegate_to and self.max_depth == 0:
            raise broken("AGT-015", "max_depth", "is 0, but it may delegate")
        return self


class LifecycleModel(ContractModel):
    """Who calls it, and how it returns."""

    stage: Annotated[
        int,
        Demand(f"{_WHERE}: Lifecycle", "AGT-018"),
        Field(ge=STAGES[0], le=STAGES[1], description="Which command stage invokes this."),
    ]
    command: Annotated[
        str | None,
        Demand(f"{_WHERE}: Lifecycle", "AGT-018"),
        Field(pattern="^/.", description="Which command uses this; a utility belongs to none."),
    ] = None
    return_format: Annotated[
        str,
        Demand(f"{_WHERE}: Lifecycle", "AGT-018"),
        Field(pattern=r"subagent-return-format\.md$", description="Return format spec: subagent-return-format.md."),
    ]


class AgentFrontmatter(ContractModel):
    """The YAML at the head of a subagent file."""

    name: Annotated[
        Said, Demand(f"{_WHERE}: Required fields", "AGT-002"), Field(description="Subagent name (matches filename).")
    ]
    version: Annotated[
        str,
        Demand(f"{_WHERE}: Required fields", "AGT-003"),
        Field(pattern=rf"^{SEMVER}$", description="Semantic version."),
    ]
    description: Annotated[
        Said,
        AfterValidator(_short),
        Demand(f"{_WHERE}: Required fields", "AGT-004"),
        Field(description="1-2 sentence description."),
    ]
    mode: Annotated[
        Literal["subagent"], Demand(f"{_WHERE}: Required fields", "AGT-005"), Field(description='Always "subagent".')
    ]
    agent_type: Annotated[
        AgentType,
        Demand(f"{_WHERE}: Required fields", "AGT-006"),
        Field(description="planning, implementation, research, review or utility."),
    ]
    temperature: Annotated[
        float,
        Demand(f"{_WHERE}: Required fields", "AGT-007"),
        Field(ge=0, le=1, description="LLM temperature (0.0-1.0)."),
    ]
    max_tokens: Annotated[
        Positive, Demand(f"{_WHERE}: Required fields", "AGT-008"), Field(description="Maximum tokens for response.")
    ]
    timeout: Annotated[
        Positive, Demand(f"{_WHERE}: Required fields", "AGT-009"), Field(description="Execution timeout in seconds.")
    ]
    tools: Annotated[
        dict[str, bool],
        Demand(f"{_WHERE}: Tool permissions", "AGT-010"),
        Field(
            min_length=1,
            description=f"Which tools it can use: {', '.join(TOOLS)}.",
            examples=[dict.fromkeys(TOOLS, True)],
        ),
    ]
    permissions: Annotated[
        ToolPermissions, Demand(f"{_WHERE}: Tool permissions", "AGT-011"), Field(description="Tool permissions.")
    ]
    context_loading: Annotated[
        ContextLoading, Demand(f"{_WHERE}: Context loading", "AGT-013"), Field(description="Context loading.")
    ]
    delegation: Annotated[
        DelegationLimits | None,
        Demand(f"{_WHERE}: Delegation", "AGT-027"),
        Field(description="Delegation configuration, if it delegates."),
    ] = None
    lifecycle: Annotated[
        LifecycleModel,
        Demand(f"{_WHERE}: Lifecycle", "AGT-018"),
        Field(description="Lifecycle stage and return format."),
    ]

    @model_validator(mode="after")
    def _by_others(self) -> "AgentFrontmatter":
        if self.lifecycle.command is None and self.agent_type != "utility":
            raise broken("AGT-018", "lifecycle.command", "is missing")
        if self.delegation and self.name in self.delegation.can_delegate_to:
            raise broken("AGT-016", "delegation.can_delegate_to", "has its own name: a cycle")
        return self
