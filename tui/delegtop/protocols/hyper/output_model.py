"""The output of a hyper sub-agent as a model: the output contract, in its own words. The rules tell what it finds."""

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, ModelWrapValidatorHandler, model_validator
from pydantic_core import PydanticCustomError

from delegtop.protocols.contract_model import ContractModel, Demand, Said, besides, broken, some
from delegtop.protocols.hyper.imperatives import is_statement
from delegtop.protocols.hyper.output_contract import (
    COMPLETE_WORDS,
    FAILED_WORDS,
    KEY_POINTS,
    LONGEST,
    STUCK_WORDS,
    SUMMARY_SENTENCES,
    ArtifactType,
    Status,
    other_type,
)
from delegtop.protocols.standard.contract.artifact_paths import SCHEMA_PATTERN, climbs, is_absolute, is_usable
from delegtop.protocols.standard.contract.sentence_count import sentences

_FIELDS = "hyper output contracts, Field Specifications"
_READ = 16_384
"""Characters of a text that are looked at; one this long is too long by any rule."""


def _relative(path: str) -> str:
    if is_absolute(path) or path.startswith("$") or climbs(path) or not is_usable(path):
        raise broken("HYP-007", "", f'is "{path[:60]}", which is not relative to the root of the workspace')
    return path


def _concise(summary: str) -> str:
    if (count := sentences(summary[:_READ])) > SUMMARY_SENTENCES[1]:
        raise broken("HYP-009", "", f"has {count} sentences, more than {SUMMARY_SENTENCES[1]}")
    return summary


def _imperative(step: str) -> str:
    if is_statement(step):
        raise broken("HYP-011", "", f'is "{step[:60]}", which is not in the imperative')
    return step


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
        Field(ge=0, lt=LONGEST, description="Execution time in milliseconds."),
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
        Field(
            description="Relative path from $HYPER_WORKSPACE_ROOT/.",
            json_schema_extra={"pattern": rf"^(?!\$){SCHEMA_PATTERN.removeprefix('^')}"},
        ),
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

    @model_validator(mode="after")
    def _fits(self) -> "OutputArtifactModel":
        if meant := other_type(self.type, self.path):
            raise broken("HYP-006", "type", f"is {self.type}, but {self.path[-60:]} is {_KINDS[meant]}")
        return self


_KINDS: dict[ArtifactType, str] = {"document": "a document", "code": "source code", "data": "data"}


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


def _of_status(status: Status, then: dict[str, Any]) -> dict[str, Any]:
    """For JSON Schema: what must hold of an answer with that status."""
    meta = {"properties": {"status": {"const": status}}, "required": ["status"]}
    return {"if": {"properties": {"meta": meta}, "required": ["meta"]}, "then": then}


class AgentOutput(ContractModel):
    """What a sub-agent answers, as a JSON block in its final message."""

    model_config = ConfigDict(
        json_schema_extra={
            "allOf": [
                _of_status("error", {"required": ["error"], "properties": {"error": {"type": "object"}}}),
                _of_status("partial", some("next_steps")),
                _of_status("complete", {"properties": {"error": {"type": "null"}}}),
            ]
        }
    )

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
        tuple[Annotated[Said, AfterValidator(_imperative)], ...],
        Demand(f"{_FIELDS}: next_steps", "HYP-003", "HYP-005"),
        Field(strict=False, description="Recommended follow-up actions, in imperative form; may be empty."),
    ]
    error: Annotated[
        OutputErrorModel | None,
        Demand("hyper output contracts, Orchestrator Expectations 4", "HYP-013", "HYP-005"),
        Field(description="Included if the status is error."),
    ] = None

    @model_validator(mode="wrap")
    @classmethod
    def _explained(cls, given: Any, validate: ModelWrapValidatorHandler["AgentOutput"]) -> "AgentOutput":
        output: AgentOutput = besides(given, validate, *(_unexplained(given) if isinstance(given, dict) else ()))
        return output


def _unexplained(given: dict[str, Any]) -> Iterator[PydanticCustomError]:
    """What does not go with the status; words that agents use for it are understood."""
    meta = given.get("meta") if isinstance(given.get("meta"), dict) else given
    status = meta.get("status") if isinstance(meta, dict) else None
    word = status.strip().lower() if isinstance(status, str) else ""
    if word in FAILED_WORDS and not given.get("error"):
        yield broken("HYP-013", "error", f"is missing, though the status is {word}")
    if word in COMPLETE_WORDS and given.get("error"):
        yield broken("HYP-013", "error", f"is there, though the status is {word}")
    if word in STUCK_WORDS and not (given.get("next_steps") or given.get("blockers")):
        yield broken("HYP-012", "next_steps", f"does not say what is left, though the status is {word}")
