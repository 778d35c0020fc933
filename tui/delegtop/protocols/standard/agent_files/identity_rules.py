"""What the frontmatter says about the agent itself: name, version, description, mode, type and limits."""

import re
from collections.abc import Iterator

from delegtop.diagnosis.finding import Severity
from delegtop.protocols.standard.agent_files.agent_file import AgentFile, AgentFileKind
from delegtop.protocols.standard.agent_files.agent_file_rule import FileNote, rule
from delegtop.protocols.standard.contract.agent_file_contract import AGENT_TYPES, DESCRIPTION_SENTENCES, SEMVER
from delegtop.protocols.standard.contract.return_contract import sentences

ERROR, INFO = Severity.ERROR, Severity.INFO

READABLE = (AgentFileKind.SUBAGENT, AgentFileKind.PRIMARY, AgentFileKind.CLAUDE)
STANDARD = (AgentFileKind.SUBAGENT, AgentFileKind.PRIMARY)

_WHERE = "Structure standard, Frontmatter"


@rule(
    "AGT-001",
    "unusable frontmatter",
    ERROR,
    "the frontmatter can be read",
    f"{_WHERE}: a file starts with YAML between two lines of ---. Without it nothing is known about the agent.",
    (AgentFileKind.UNREADABLE,),
)
def readable(file: AgentFile) -> Iterator[FileNote]:
    if file.fault:
        yield file.fault.line, str(file.fault), file.fault.advice


@rule(
    "AGT-002",
    "no fitting name",
    ERROR,
    "the name is there and is that of the file",
    f"{_WHERE}, Required fields: callers find the file by the name they delegate to. Claude Code asks for a name only.",
    READABLE,
)
def name(file: AgentFile) -> Iterator[FileNote]:
    line = file.at("name").line
    if not file.name:
        yield line, "it has no name", f"add `name: {file.stem}`"
    elif file.name != file.stem and file.kind is not AgentFileKind.CLAUDE:
        message = f"the name {file.name} is not that of the file, {file.stem}"
        yield line, message, f"write `name: {file.stem}`, or rename the file"


@rule(
    "AGT-003",
    "no valid version",
    ERROR,
    "the version is a semantic version",
    f"{_WHERE}, Required fields: version, such as 1.0.0.",
)
def version(file: AgentFile) -> Iterator[FileNote]:
    given = file.at("version")
    written = given.string()
    if not written:
        yield given.line, "it has no version", 'add `version: "1.0.0"`'
    elif not re.fullmatch(SEMVER, written):
        yield given.line, f"the version {written} is no semantic version", "write three numbers, such as 1.0.0"


@rule(
    "AGT-004",
    "no description",
    ERROR,
    "it is described",
    f"{_WHERE}, Required fields: the description is what a caller chooses the agent by.",
    READABLE,
)
def description(file: AgentFile) -> Iterator[FileNote]:
    given = file.at("description")
    if not (given.string() or "").strip():
        advice = "add a `description` of one or two sentences: what it does, and when to call it"
        yield given.line, "it has no description", advice


@rule(
    "AGT-005",
    "mode not subagent",
    ERROR,
    "the mode is subagent",
    f"{_WHERE}, Required fields: mode is always subagent.",
)
def mode(file: AgentFile) -> Iterator[FileNote]:
    given = file.at("mode")
    if given.string() != "subagent":
        yield given.line, f"the mode is {given.shown()}, not subagent", "write `mode: subagent`"


@rule(
    "AGT-006",
    "no known agent type",
    ERROR,
    "the agent type is one of five",
    f"{_WHERE}, Required fields, and Agent Types: {', '.join(AGENT_TYPES)}.",
)
def agent_type(file: AgentFile) -> Iterator[FileNote]:
    given = file.at("agent_type")
    if given.string() not in AGENT_TYPES:
        yield given.line, f"the agent_type is {given.shown()}", f"choose one of {', '.join(AGENT_TYPES)}"


@rule(
    "AGT-007",
    "no valid temperature",
    ERROR,
    "the temperature is between 0 and 1",
    f"{_WHERE}, Required fields: temperature 0.0-1.0.",
    STANDARD,
)
def temperature(file: AgentFile) -> Iterator[FileNote]:
    given = file.at("temperature")
    number = given.number()
    if not _spared(file, "temperature") and (number is None or not 0 <= number <= 1):
        message = f"the temperature is {given.shown()}, not a number from 0 to 1"
        yield given.line, message, "write `temperature: 0.2`"


@rule(
    "AGT-008",
    "no valid token limit",
    ERROR,
    "max_tokens is a positive number",
    f"{_WHERE}, Required fields: the limit of a response.",
    STANDARD,
)
def max_tokens(file: AgentFile) -> Iterator[FileNote]:
    given = file.at("max_tokens")
    if not _spared(file, "max_tokens") and (given.integer() or 0) <= 0:
        message = f"`max_tokens` is {given.shown()}, not a positive whole number"
        yield given.line, message, "write `max_tokens: 4000`"


@rule(
    "AGT-009",
    "no valid timeout",
    ERROR,
    "the timeout is a positive number of seconds",
    f"{_WHERE}, Required fields: without a timeout a hung agent has no deadline.",
    STANDARD,
)
def timeout(file: AgentFile) -> Iterator[FileNote]:
    given = file.at("timeout")
    if not _spared(file, "timeout") and (given.integer() or 0) <= 0:
        message = f"the timeout is {given.shown()}, not a positive whole number of seconds"
        advice = "write seconds: 1800 for planning, 3600 for research, 7200 for implementation, 300 for a utility"
        yield given.line, message, advice


@rule(
    "AGT-019",
    "description too long",
    INFO,
    "the description has one or two sentences",
    f"{_WHERE}, Required fields: a description of one or two sentences.",
)
def description_length(file: AgentFile) -> Iterator[FileNote]:
    given = file.at("description")
    count = sentences(given.string() or "")
    if count > DESCRIPTION_SENTENCES:
        advice = "keep one or two; the rest belongs below the frontmatter"
        yield given.line, f"the description has {count} sentences", advice


def _spared(file: AgentFile, key: str) -> bool:
    """A primary agent need not say what only a subagent must; what it does say must be right."""
    return file.kind is AgentFileKind.PRIMARY and key not in file.values
