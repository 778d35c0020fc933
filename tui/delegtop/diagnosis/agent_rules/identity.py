"""What the frontmatter says about the agent itself: name, version, description, mode, type and limits."""

import re
from collections.abc import Iterator

from delegtop.contract.agent_file import AgentFile, Kind
from delegtop.contract.delegations import AGENT_TYPES
from delegtop.contract.returns import sentences
from delegtop.diagnosis.agent_rules.rule import rule, shown
from delegtop.diagnosis.finding import Finding, Severity

ERROR, INFO = Severity.ERROR, Severity.INFO

READABLE = (Kind.SUBAGENT, Kind.PRIMARY, Kind.CLAUDE)
STANDARD = (Kind.SUBAGENT, Kind.PRIMARY)

_WHERE = "Structure standard, Frontmatter"
# The grammar of semver.org: no leading zeros, then a pre-release and a build, each optional.
_NUMBER = r"(?:0|[1-9][0-9]*)"
_SEMVER = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")


@rule(
    "AGT-001",
    "unusable frontmatter",
    ERROR,
    "the frontmatter can be read",
    f"{_WHERE}: a file starts with YAML between two lines of ---. Without it nothing is known about the agent.",
    (Kind.UNREADABLE,),
)
def readable(file: AgentFile) -> Iterator[Finding]:
    if file.fault:
        yield readable.finding(file, file.fault.line, str(file.fault), file.fault.advice)


@rule(
    "AGT-002",
    "no fitting name",
    ERROR,
    "the name is there and is that of the file",
    f"{_WHERE}, Required fields: callers find the file by the name they delegate to. Claude Code asks for a name only.",
    READABLE,
)
def name(file: AgentFile) -> Iterator[Finding]:
    if not file.name:
        yield name.finding(file, file.line("name"), "it has no name", f"add `name: {file.stem}`")
    elif file.name != file.stem and file.kind is not Kind.CLAUDE:
        message = f"the name {file.name} is not that of the file, {file.stem}"
        yield name.finding(file, file.line("name"), message, f"write `name: {file.stem}`, or rename the file")


@rule(
    "AGT-003",
    "no valid version",
    ERROR,
    "the version is a semantic version",
    f"{_WHERE}, Required fields: version, such as 1.0.0.",
)
def version(file: AgentFile) -> Iterator[Finding]:
    if not file.version:
        yield version.finding(file, file.line("version"), "it has no version", 'add `version: "1.0.0"`')
    elif not _SEMVER.fullmatch(file.version):
        message = f"the version {file.version} is no semantic version"
        yield version.finding(file, file.line("version"), message, "write three numbers, such as 1.0.0")


@rule(
    "AGT-004",
    "no description",
    ERROR,
    "it is described",
    f"{_WHERE}, Required fields: the description is what a caller chooses the agent by.",
    READABLE,
)
def description(file: AgentFile) -> Iterator[Finding]:
    if not (file.description or "").strip():
        advice = "add a `description` of one or two sentences: what it does, and when to call it"
        yield description.finding(file, file.line("description"), "it has no description", advice)


@rule(
    "AGT-005",
    "mode not subagent",
    ERROR,
    "the mode is subagent",
    f"{_WHERE}, Required fields: mode is always subagent.",
)
def mode(file: AgentFile) -> Iterator[Finding]:
    if file.mode != "subagent":
        message = f"the mode is {shown(file, 'mode')}, not subagent"
        yield mode.finding(file, file.line("mode"), message, "write `mode: subagent`")


@rule(
    "AGT-006",
    "no known agent type",
    ERROR,
    "the agent type is one of five",
    f"{_WHERE}, Required fields, and Agent Types: {', '.join(AGENT_TYPES)}.",
)
def agent_type(file: AgentFile) -> Iterator[Finding]:
    if file.agent_type not in AGENT_TYPES:
        message = f"the agent_type is {shown(file, 'agent_type')}"
        yield agent_type.finding(file, file.line("agent_type"), message, f"choose one of {', '.join(AGENT_TYPES)}")


@rule(
    "AGT-007",
    "no valid temperature",
    ERROR,
    "the temperature is between 0 and 1",
    f"{_WHERE}, Required fields: temperature 0.0-1.0.",
    STANDARD,
)
def temperature(file: AgentFile) -> Iterator[Finding]:
    if _spared(file, "temperature"):
        return
    if file.temperature is None or not 0 <= file.temperature <= 1:
        message = f"the temperature is {shown(file, 'temperature')}, not a number from 0 to 1"
        yield temperature.finding(file, file.line("temperature"), message, "write `temperature: 0.2`")


@rule(
    "AGT-008",
    "no valid token limit",
    ERROR,
    "max_tokens is a positive number",
    f"{_WHERE}, Required fields: the limit of a response.",
    STANDARD,
)
def max_tokens(file: AgentFile) -> Iterator[Finding]:
    if _spared(file, "max_tokens"):
        return
    if file.max_tokens is None or file.max_tokens <= 0:
        message = f"`max_tokens` is {shown(file, 'max_tokens')}, not a positive whole number"
        yield max_tokens.finding(file, file.line("max_tokens"), message, "write `max_tokens: 4000`")


@rule(
    "AGT-009",
    "no valid timeout",
    ERROR,
    "the timeout is a positive number of seconds",
    f"{_WHERE}, Required fields: without a timeout a hung agent has no deadline.",
    STANDARD,
)
def timeout(file: AgentFile) -> Iterator[Finding]:
    if _spared(file, "timeout"):
        return
    if file.timeout is None or file.timeout <= 0:
        message = f"the timeout is {shown(file, 'timeout')}, not a positive whole number of seconds"
        advice = "write seconds: 1800 for planning, 3600 for research, 7200 for implementation, 300 for a utility"
        yield timeout.finding(file, file.line("timeout"), message, advice)


@rule(
    "AGT-019",
    "description too long",
    INFO,
    "the description has one or two sentences",
    f"{_WHERE}, Required fields: a description of one or two sentences.",
)
def description_length(file: AgentFile) -> Iterator[Finding]:
    count = sentences(file.description or "")
    if count > 2:
        message = f"the description has {count} sentences"
        advice = "keep one or two; the rest belongs below the frontmatter"
        yield description_length.finding(file, file.line("description"), message, advice)


def _spared(file: AgentFile, key: str) -> bool:
    """A primary agent need not say what only a subagent must; what it does say must be right."""
    return file.kind is Kind.PRIMARY and file.value(key) is None
