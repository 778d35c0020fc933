"""The standard return as a model: what the return format standard prescribes, in its own words.

What another document of the family allows by its own example is allowed here too: `review` as the type of an artifact,
`build_error` as that of an error, one sentence as a summary, the session id beside the metadata. Guidelines of style,
such as no emojis, refuse nothing: rules tell them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from delegtop.protocols.contract_model import Breach, ContractModel, Demand, Said, broken, some, when
from delegtop.protocols.standard.contract.agent_file_contract import AGENT_TYPES
from delegtop.protocols.standard.contract.artifact_paths import SCHEMA_PATTERN, climbs, is_absolute, is_usable
from delegtop.protocols.standard.contract.delegation_limits import MAX_DEPTH
from delegtop.protocols.standard.contract.delegation_paths import ORCHESTRATOR, own_path, repeated
from delegtop.protocols.standard.contract.return_contract import (
    NEEDS_ERRORS,
    SUMMARY_HARD_LIMIT,
    SUMMARY_SENTENCES,
    ArtifactType,
    ErrorCodeName,
    ErrorType,
    OtherErrorType,
    Status,
    StructureArtifactType,
)
from delegtop.protocols.standard.contract.sentence_count import sentences
from delegtop.protocols.standard.contract.session_id_model import ID_SCHEMA, well_formed

_FORMAT = "Return format standard, Field Specifications"
_STRUCTURE = "Structure standard, Return Format"


def _relative(path: str) -> str:
    if is_absolute(path):
        raise broken("RET-021", "", f'is "{path[:60]}", which is not relative to the root of the project')
    if climbs(path):
        raise broken("RET-022", "", f'is "{path[:60]}", which climbs out of the project')
    if not is_usable(path):
        raise broken("RET-026", "", "has characters that stand in no name of a file")
    return path


def _brief(summary: str) -> str:
    count = sentences(summary)
    if count > SUMMARY_SENTENCES[1]:
        raise broken("RET-010", "", f"has {count} sentences, more than {SUMMARY_SENTENCES[1]}")
    return summary


class ReturnArtifact(ContractModel):
    """A file that was created or changed."""

    type: Annotated[
        Literal[ArtifactType, StructureArtifactType],
        Demand(f"{_FORMAT}: artifacts", "RET-020"),
        Field(description="What the file is for; the type must match the purpose of the artifact."),
    ]
    path: Annotated[
        Said,
        AfterValidator(_relative),
        Demand(f"{_FORMAT}: artifacts", "RET-026"),
        Field(
            description="Relative path from the project root; it must exist or be created during execution.",
            json_schema_extra={"pattern": SCHEMA_PATTERN},
        ),
    ]
    summary: Annotated[
        str | None,
        Demand(f"{_FORMAT}: artifacts", "LOG-002"),
        Field(description="Optional one-sentence description."),
    ] = None


class ReturnError(ContractModel):
    """What went wrong, so that a caller can act on it."""

    type: Annotated[
        Literal[ErrorType, OtherErrorType],
        Demand(f"{_FORMAT}: errors", "RET-032"),
        Field(description="timeout, validation, execution or tool_unavailable."),
    ]
    message: Annotated[
        Said, Demand(f"{_FORMAT}: errors", "RET-034"), Field(description="Human-readable error description.")
    ]
    code: Annotated[
        ErrorCodeName,
        Demand("Return format standard, Error Codes", "RET-033"),
        Field(description="Standardized error code; UNKNOWN_ERROR if no other describes it."),
    ]
    recoverable: Annotated[
        bool,
        Demand("Delegation guide, Error Propagation: Command Handling", "RET-034"),
        Field(description="Whether trying again can help; the caller offers recovery only if all errors say so."),
    ]
    recommendation: Annotated[
        Said, Demand(f"{_FORMAT}: errors", "RET-035"), Field(description="Suggested fix or next step.")
    ]
    made_by: Annotated[
        str | None,
        Demand("docs/session-log.md", "LOG-002"),
        Field(description="Who wrote it, if it was not the agent itself; delegtop's own addition."),
    ] = None


class ReturnMetadata(ContractModel):
    """Which delegation returns: enables cycle detection and delegation tracking."""

    session_id: Annotated[
        str,
        AfterValidator(well_formed("RET-006")),
        Demand(f"{_FORMAT}: metadata", "RET-005"),
        Field(
            description="Unique identifier for this delegation (format: sess_{timestamp}_{random}).",
            json_schema_extra=ID_SCHEMA,
        ),
    ]
    duration_seconds: Annotated[
        float, Demand(f"{_FORMAT}: metadata", "RET-003"), Field(ge=0, le=1e10, description="Execution time in seconds.")
    ]
    agent_type: Annotated[
        Said, Demand(f"{_FORMAT}: metadata", "RET-003"), Field(description="Name of the agent returning results.")
    ]
    delegation_depth: Annotated[
        int,
        Demand(f"{_FORMAT}: metadata", "RET-003", value="DEL-004", least="RET-003"),
        Field(ge=0, le=MAX_DEPTH, description="Current depth in delegation chain (prevents cycles)."),
    ]
    delegation_path: Annotated[
        tuple[Said, ...],
        Demand(f"{_FORMAT}: metadata", "RET-003"),
        Field(
            strict=False,
            min_length=1,
            description="Array of agent names in delegation chain.",
            json_schema_extra={"uniqueItems": True},
        ),
    ]

    @model_validator(mode="after")
    def _counted(self) -> "ReturnMetadata":
        path = _path(self.delegation_path, self.agent_type)
        if twice := repeated(path):
            raise broken("DEL-007", "delegation_path", _cycle(twice))
        if path[0] == ORCHESTRATOR and self.delegation_depth != len(path) - 2:
            what = f"is {self.delegation_depth}, but the path makes it {len(path) - 2}"
            raise broken("RET-008", "delegation_depth", what)
        return self


class Return(ContractModel):
    """What a subagent returns to the command or agent that invoked it."""

    model_config = ConfigDict(
        json_schema_extra={
            "allOf": [
                when("status", sorted(NEEDS_ERRORS), some("errors")),
                when("status", ["completed"], {"properties": {"errors": {"maxItems": 0}}}),
            ]
        }
    )

    status: Annotated[
        Status,
        Demand(f"{_FORMAT}: status", "RET-001", value="RET-002"),
        Field(
            description="completed: all work finished successfully. failed: work failed, no usable results. partial: "
            "some work completed, partial results available. blocked: cannot proceed, requires external resolution."
        ),
    ]
    summary: Annotated[
        Said,
        AfterValidator(_brief),
        Demand(f"{_FORMAT}: summary", "RET-001", value="RET-011"),
        Field(
            max_length=SUMMARY_HARD_LIMIT,
            description="Brief 2-5 sentence summary, max 100 tokens (about 400 characters).",
        ),
    ]
    artifacts: Annotated[
        tuple[ReturnArtifact, ...],
        Demand(f"{_FORMAT}: artifacts", "RET-001", "LOG-002"),
        Field(strict=False, description="All created or modified files; can be an empty array."),
    ]
    metadata: Annotated[
        ReturnMetadata, Demand(f"{_FORMAT}: metadata", "RET-001"), Field(description="Object with required fields.")
    ]
    errors: Annotated[
        tuple[ReturnError, ...],
        Demand(f"{_FORMAT}: errors", "RET-030", "LOG-002"),
        Field(strict=False, description="Must be there if failed, partial or blocked; empty if completed."),
    ] = ()
    next_steps: Annotated[
        str | None,
        Demand(f"{_FORMAT}: next_steps", "LOG-002"),
        Field(description="Recommended next actions, 1-2 sentences."),
    ] = None
    session_id: Annotated[
        str | None,
        Demand(_STRUCTURE, "RET-005", "LOG-002"),
        Field(description="The structure standard has the session id here; taken if the metadata has none."),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _session_beside(cls, value: Any) -> Any:
        """A session id beside the metadata is as good as one in them."""
        if not isinstance(value, Mapping) or not isinstance(metadata := value.get("metadata"), Mapping):
            return value
        beside = value.get("session_id")
        if metadata.get("session_id") is not None or beside is None:
            return value
        return {**value, "metadata": {**metadata, "session_id": beside}}

    @model_validator(mode="after")
    def _agrees(self) -> "Return":
        if self.session_id not in (None, self.metadata.session_id):
            raise broken("RET-005", "session_id", f"is {self.session_id}, the metadata say {self.metadata.session_id}")
        if (told := _of_errors(self.status, bool(self.errors))) is not None:
            raise broken(told.rule or "", told.field, told.what)
        return self


def across_fields(value: Mapping[str, Any]) -> Iterator[Breach]:
    """What is wrong between fields. The model tells it only of a return whose fields are all right by themselves."""
    metadata, errors = value.get("metadata"), value.get("errors", ())
    path = metadata.get("delegation_path") if isinstance(metadata, Mapping) else None
    if isinstance(metadata, Mapping) and isinstance(path, list | tuple) and all(isinstance(name, str) for name in path):
        agent = metadata.get("agent_type")
        if twice := repeated(_path(tuple(path), agent if isinstance(agent, str) else None)):
            yield Breach("metadata.delegation_path", _cycle(twice), "DEL-007")
    if isinstance(errors, list | tuple) and (told := _of_errors(value.get("status"), bool(errors))) is not None:
        yield told


def _path(path: tuple[str, ...], agent: str | None) -> tuple[str, ...]:
    """The path down to the agent; a kind of agent is in no path."""
    return own_path(path, agent if agent not in AGENT_TYPES else None) or ()


def _cycle(twice: Sequence[str]) -> str:
    return f"comes back to {twice[0]}"


def _of_errors(status: object, has_errors: bool) -> Breach | None:
    if status in NEEDS_ERRORS and not has_errors:
        return Breach("errors", f"must say why the status is {status}", "RET-030")
    if status == "completed" and has_errors:
        return Breach("errors", "must be empty if the status is completed", "RET-031")
    return None
