"""The frontmatter of a subagent file as a model: what the structure standard asks for, in its own words.

`delegtop lint` judges by it. What only a file on disk can tell, and how the documents are read, comes as the context.
"""

import re
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from delegtop.protocols.contract_model import ContractModel, Demand, Said, besides, broken, when
from delegtop.protocols.standard.contract.agent_file_contract import (
    AGENT_TYPES,
    CONTEXT_LIMITS,
    DESCRIPTION_SENTENCES,
    RETURN_FORMAT,
    SEMVER,
    STAGES,
    TOOLS,
    AgentType,
    Strategy,
)
from delegtop.protocols.standard.contract.protocol_options import ProtocolOptions
from delegtop.protocols.standard.contract.sentence_count import sentences

_WHERE = "Structure standard, Frontmatter"
_RETURN_FORMAT_READ = re.compile(r"(?:^|/)subagent-return(?:-format)?\.md$")
"""Later files of the family call it `subagent-return.md`."""
Positive = Annotated[int, Field(gt=0)]


class FileContext(NamedTuple):
    """Whose frontmatter it is."""

    name: str | None = None
    """The name of the file, if the agent must have the same."""
    reading: ProtocolOptions = ProtocolOptions()


def _context(info: ValidationInfo) -> FileContext:
    return info.context if isinstance(info.context, FileContext) else FileContext()


def _of_the_file(name: str, info: ValidationInfo) -> str:
    if (file := _context(info).name) not in (None, name):
        raise broken("AGT-002", "", f"is {name[:60]}, but the file is named {file}")
    return name


def _short(text: str) -> str:
    if (count := sentences(text)) > DESCRIPTION_SENTENCES:
        raise broken("AGT-019", "", f"has {count} sentences, more than {DESCRIPTION_SENTENCES}")
    return text


def _with_return_format(required: list[str]) -> list[str]:
    if not any(_RETURN_FORMAT_READ.search(each) for each in required):
        raise broken("AGT-035", "", f"has no {RETURN_FORMAT}")
    return required


def _shallow(depth: int, info: ValidationInfo) -> int:
    reading = _context(info).reading
    if depth > reading.max_depth:
        raise broken("AGT-015", "", f"is {depth}, not at most {reading.max_depth}{reading.chosen('max_depth')}")
    return depth


def _as_list(given: Any) -> Any:
    """Patterns by tool, as one mapping or as a list of such; one pattern needs no list."""
    if isinstance(given, dict):
        given = [given]
    if not isinstance(given, list):
        return given
    return [
        {tool: [each] if isinstance(each, str) else each for tool, each in item.items()}
        if isinstance(item, dict)
        else item
        for item in given
    ]


Patterns = Annotated[list[dict[str, list[str]]], BeforeValidator(_as_list)]


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

    model_config = ConfigDict(
        json_schema_extra={
            "allOf": [
                when("strategy", [strategy], {"properties": {"max_context_size": {"maximum": most}}})
                for strategy, most in CONTEXT_LIMITS.items()
            ]
        }
    )

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
        AfterValidator(_with_return_format),
    ]
    optional: Annotated[
        list[Said] | None, Demand(f"{_WHERE}: Context loading", "AGT-013"), Field(description="Load if needed.")
    ] = None
    max_context_size: Annotated[
        Positive,
        Demand(f"{_WHERE}: Context loading", "AGT-014"),
        Field(description="Maximum bytes to load.", json_schema_extra={"maximum": max(CONTEXT_LIMITS.values())}),
    ]

    @field_validator("max_context_size")
    @classmethod
    def _fits(cls, size: int, info: ValidationInfo) -> int:
        strategy: Strategy = info.data.get("strategy", "eager")
        if size > (limit := CONTEXT_LIMITS[strategy]):
            raise broken("AGT-014", "", f"is {size}, more than the {limit} bytes of {strategy} loading")
        return size


class DelegationLimits(ContractModel):
    """To whom and how far it may hand work on."""

    max_depth: Annotated[
        int,
        Demand(f"{_WHERE}: Delegation", "AGT-015"),
        Field(
            ge=0, description="Maximum delegation depth.", json_schema_extra={"maximum": ProtocolOptions().max_depth}
        ),
        AfterValidator(_shallow),
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

    @field_validator("can_delegate_to")
    @classmethod
    def _in_reach(cls, others: list[str], info: ValidationInfo) -> list[str]:
        if others and info.data.get("max_depth") == 0:
            raise broken("AGT-015", "", f"names {others[0][:60]}, but max_depth is 0")
        return others

    @field_validator("timeout_max")
    @classmethod
    def _ordered(cls, most: int, info: ValidationInfo) -> int:
        if (default := info.data.get("timeout_default", 0)) > most:
            raise broken("AGT-017", "", f"is {most}, less than timeout_default, {default}")
        return most


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
        Field(
            pattern=r"(^|/)subagent-return-format\.md$", description="Return format spec: subagent-return-format.md."
        ),
    ]


class AgentFrontmatter(ContractModel):
    """The YAML at the head of a subagent file."""

    model_config = ConfigDict(
        json_schema_extra=when(
            "agent_type",
            [kind for kind in AGENT_TYPES if kind != "utility"],
            {"properties": {"lifecycle": {"required": ["command"]}}},
        )
    )

    name: Annotated[
        Said,
        AfterValidator(_of_the_file),
        Demand(f"{_WHERE}: Required fields", "AGT-002"),
        Field(description="Subagent name (matches filename)."),
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
        Demand(f"{_WHERE}: Delegation", "AGT-016"),
        Field(description="Delegation configuration, if it delegates."),
    ] = None
    lifecycle: Annotated[
        LifecycleModel,
        Demand(f"{_WHERE}: Lifecycle", "AGT-018"),
        Field(description="Lifecycle stage and return format."),
    ]

    @field_validator("delegation", mode="wrap")
    @classmethod
    def _to_others(cls, given: Any, validate: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        names = {info.data.get("name"), _context(info).name} - {None}
        others = given.get("can_delegate_to") if isinstance(given, dict) else None
        listed = enumerate(others) if isinstance(others, list) else ()
        itself = next((index for index, each in listed if isinstance(each, str) and each in names), None)
        cycle = None if itself is None else broken("AGT-016", f"can_delegate_to[{itself}]", "is its own name: a cycle")
        return besides(given, validate, cycle)

    @field_validator("lifecycle", mode="wrap")
    @classmethod
    def _of_a_command(cls, given: Any, validate: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        needs_one = isinstance(given, dict) and info.data.get("agent_type") != "utility"
        bare = needs_one and given.get("command") is None
        return besides(given, validate, broken("AGT-018", "command", "is missing") if bare else None)
