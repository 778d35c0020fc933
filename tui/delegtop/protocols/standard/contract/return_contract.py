"""The standard return: its enums, limits and error codes, and how an older form of it reads in the standard one.

Three documents speak of it, and not always alike: the return format standard, the structure standard and the
delegation guide. Where they contradict each other, both words are here.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.protocols.standard.contract.agent_file_contract import PATH_PATTERNS
from delegtop.protocols.standard.contract.sentence_count import sentences

Status = Literal["completed", "failed", "partial", "blocked"]
STATUSES: tuple[Status, ...] = get_args(Status)
NEEDS_ERRORS = ("failed", "partial", "blocked")
STATUS_ALIASES = {
    "done": "completed",
    "success": "completed",
    "finished": "completed",
    "researched": "completed",
    "planned": "completed",
    "implemented": "completed",
    "in_progress": "partial",
    "error": "failed",
    "failure": "failed",
}
"""Words agents write instead, by the status they mean."""

ArtifactType = Literal["research", "plan", "implementation", "summary", "documentation"]
StructureArtifactType = Literal["implementation", "plan", "research", "summary", "review"]
ARTIFACT_TYPES: tuple[ArtifactType, ...] = get_args(ArtifactType)
STRUCTURE_ARTIFACT_TYPES: tuple[StructureArtifactType, ...] = get_args(StructureArtifactType)
"""The structure standard has `review` where the return format standard has `documentation`."""

ErrorType = Literal["timeout", "validation", "execution", "tool_unavailable"]
OtherErrorType = Literal[
    "build_error", "validation_failure", "file_operation_failure", "delegation_failure", "git_failure"
]
ERROR_TYPES: tuple[ErrorType, ...] = get_args(ErrorType)
OTHER_ERROR_TYPES: dict[str, tuple[str, ErrorType]] = {
    "build_error": ("the delegation guide", "execution"),
    "validation_failure": ("the structure standard", "validation"),
    "file_operation_failure": ("the structure standard", "execution"),
    "delegation_failure": ("the structure standard", "execution"),
    "git_failure": ("the structure standard", "execution"),
}
"""Types only another document uses: which one, and what the return format standard calls it."""

METADATA = ("session_id", "duration_seconds", "agent_type", "delegation_depth", "delegation_path")

SUMMARY_SENTENCES = (2, 5)
SUMMARY_TOKENS = 100
TOKEN = 4
"""Characters that are about one token; the standard's own estimate."""
SUMMARY_CHARACTERS = SUMMARY_TOKENS * TOKEN
SUMMARY_HARD_LIMIT = 500
"""Above this the delegation guide refuses the return."""
NEXT_STEPS_SENTENCES = 2


ErrorCodeName = Literal[
    "TIMEOUT",
    "VALIDATION_FAILED",
    "TOOL_UNAVAILABLE",
    "BUILD_ERROR",
    "FILE_NOT_FOUND",
    "CYCLE_DETECTED",
    "MAX_DEPTH_EXCEEDED",
    "STATUS_SYNC_FAILED",
    "GIT_COMMIT_FAILED",
    "UNKNOWN_ERROR",
]


class ErrorCode(NamedTuple):
    """One code of the table of ten."""

    meaning: str
    recovery: str
    resumes: bool = False
    """Running the same command again continues the work."""


ERROR_CODES: dict[str, ErrorCode] = {
    "TIMEOUT": ErrorCode(
        "it took longer than it was given",
        "look for partial artifacts, keep the task in progress and run the same command again to continue",
        resumes=True,
    ),
    "VALIDATION_FAILED": ErrorCode(
        "an input or a return did not pass validation",
        "correct what the message names, then delegate again",
    ),
    "TOOL_UNAVAILABLE": ErrorCode(
        "a tool it needs is not there",
        "install or configure the tool (.mcp.json for an MCP server), then run the command again",
        resumes=True,
    ),
    "BUILD_ERROR": ErrorCode(
        "compiling or building failed",
        "fix the build errors in the files it changed, then run the command again",
        resumes=True,
    ),
    "FILE_NOT_FOUND": ErrorCode(
        "a file it needs is missing",
        "restore or create the file, or correct the path it was given, then run the command again",
        resumes=True,
    ),
    "CYCLE_DETECTED": ErrorCode(
        "the agent to be called is already in the delegation path",
        "let the caller do the work itself or hand it to another agent; trying again leads to the same cycle",
    ),
    "MAX_DEPTH_EXCEEDED": ErrorCode(
        "the delegation would go deeper than three levels",
        "shorten the chain: let an agent higher up hand out this work",
    ),
    "STATUS_SYNC_FAILED": ErrorCode(
        "TODO.md or state.json could not be updated",
        "the work itself may be done: compare both files with the artifacts and correct the status by hand",
    ),
    "GIT_COMMIT_FAILED": ErrorCode(
        "the commit could not be made",
        "the work is in the working tree: see `git status`, resolve what blocks it and commit by hand",
    ),
    "UNKNOWN_ERROR": ErrorCode(
        "something happened that no code describes",
        "read its message and its last lines in the log before trying again",
    ),
}


def tokens(text: str) -> int:
    """About how many tokens a text has, rounded up."""
    return -(-len(text) // TOKEN)


def migrate(old: Mapping[str, Any]) -> dict[str, Any]:
    """The return in its standard form. What the old one does not tell is null, never invented.

    Key findings go into the summary as far as its limit lets them, the project number becomes the task number in
    the metadata, and fields the standard does not know move there as well.
    """
    rest = {str(key): value for key, value in old.items()}
    status = rest.pop("status", None)
    given = rest.pop("metadata", None)
    metadata: dict[str, Any] = {**dict.fromkeys(METADATA), **(given if isinstance(given, Mapping) else {})}
    if given is not None and not isinstance(given, Mapping):
        metadata["old_metadata"] = given
    artifacts = [_artifact(each) for each in _list(rest.pop("artifacts", None))]
    errors = [_error(each) for each in _list(rest.pop("errors", None))]
    summary, left = _summary(rest.pop("summary", None), _list(rest.pop("key_findings", None)))
    next_steps = rest.pop("next_steps", None)
    if left:
        metadata["key_findings"] = left
    if "project_number" in rest:
        metadata["task_number"] = _task_number(artifacts, rest.pop("project_number"))
    for key, value in rest.items():
        _keep(metadata, key, value)
    new = {
        "status": _status(status) if isinstance(status, str) else None,
        "summary": summary,
        "artifacts": artifacts,
        "metadata": metadata,
        "errors": errors,
    }
    return new if next_steps is None else {**new, "next_steps": _text(next_steps)}


def gaps(standard: Mapping[str, Any]) -> list[str]:
    """The fields of a migrated return that only its author can fill in."""
    missing = [] if standard["status"] in STATUSES else ["status"]
    missing += [] if standard["summary"] else ["summary"]
    missing += [f"metadata.{field}" for field in METADATA if standard["metadata"][field] is None]
    missing += [
        f"errors[{index}].{field}"
        for index, error in enumerate(standard["errors"])
        for field in ("message", "recoverable", "recommendation")
        if error[field] is None
    ]
    if standard["status"] in NEEDS_ERRORS and not standard["errors"]:
        missing.append("errors")
    return missing


def _status(given: str) -> str:
    word = given.strip().lower()
    return word if word in STATUSES else STATUS_ALIASES.get(word, given)


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    """A text, or the texts in a list or an object, as one text."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return " ".join(_sentence(_text(each)) for each in value if each is not None)
    return "" if value is None else str(value)


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _summary(value: Any, findings: list[Any]) -> tuple[str, list[str]]:
    """The summary with the findings that fit into it, and the findings that do not."""
    summary = _text(value).strip()
    for index, finding in enumerate(findings):
        longer = f"{_sentence(summary)} {_sentence(_text(finding))}" if summary else _sentence(_text(finding))
        if len(longer) > SUMMARY_CHARACTERS or sentences(longer) > SUMMARY_SENTENCES[1]:
            return summary, [_text(each) for each in findings[index:]]
        summary = longer
    return summary, []


FOLDERS = {pattern.split("/")[-2]: type for type, pattern in PATH_PATTERNS.items()}
"""The type of what lies in a folder, by the structure standard's path patterns."""
_FOLDERS = FOLDERS | {"docs": "documentation"}


def _artifact(value: Any) -> dict[str, Any]:
    given = dict(value) if isinstance(value, Mapping) else {"path": _text(value)}
    path, type = _text(given.pop("path", None)), given.pop("type", None)
    note = given.pop("summary", None) or given.pop("description", None)
    standard = {"type": type if type in ARTIFACT_TYPES else _type_of(type, path), "path": path}
    return {**standard, **({"summary": _text(note)} if note else {}), **given}


def _type_of(type: Any, path: str) -> str:
    """What kind of artifact it is, by the folder it is in; agents say `report` for research."""
    if type == "report":
        return "research"
    parts = path.split("/")
    return next((kind for folder, kind in _FOLDERS.items() if folder in parts), "implementation")


def _error(value: Any) -> dict[str, Any]:
    given = dict(value) if isinstance(value, Mapping) else {"message": _text(value)}
    word, message, code = given.pop("type", None), given.pop("message", None), given.pop("code", None)
    type = word if word in ERROR_TYPES else OTHER_ERROR_TYPES.get(str(word), ("", "execution"))[1]
    if word is not None and word != type and message is not None:
        message = f"{_text(word)}: {_text(message)}"
    recoverable = given.pop("recoverable", None)
    return {
        "type": type,
        "message": message,
        "code": code or _code_for(str(word)),
        "recoverable": recoverable if isinstance(recoverable, bool) else None,
        "recommendation": given.pop("recommendation", None),
        **given,
    }


def _code_for(type: str) -> str:
    """The code that says the same as the type."""
    word = type.upper()
    if word.startswith("VALIDATION"):
        return "VALIDATION_FAILED"
    return word if word in ERROR_CODES else "UNKNOWN_ERROR"


_NUMBERED = lazy_pattern(r"(?:^|/)0*([0-9]{1,9})_")


def _task_number(artifacts: list[dict[str, Any]], given: Any) -> Any:
    """The number in the first artifact's path, `specs/195_lean_tools/…`; what was given if it has none."""
    found = _NUMBERED.search(artifacts[0]["path"]) if artifacts else None
    return int(found[1]) if found else given


def _keep(metadata: dict[str, Any], key: str, value: Any) -> None:
    """Put a field into the metadata; one that says something else there already keeps its own name beside it."""
    if metadata.get(key) is None:
        metadata[key] = value
    elif metadata[key] != value:
        metadata[f"old_{key}"] = value
