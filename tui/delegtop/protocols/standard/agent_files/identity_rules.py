"""What the frontmatter says about the agent itself: name, version, description, mode, type and limits."""

from collections.abc import Iterator

from delegtop.diagnosis.finding import Severity
from delegtop.protocols.standard.agent_files.agent_file import AgentFile, AgentFileKind
from delegtop.protocols.standard.agent_files.agent_file_rule import FileNote, frontmatter_rule, rule
from delegtop.protocols.standard.contract.agent_file_contract import AGENT_TYPES

ERROR, WARNING = Severity.ERROR, Severity.WARNING

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


name = frontmatter_rule(
    "AGT-002",
    "no fitting name",
    ERROR,
    "the name is there and is that of the file",
    f"{_WHERE}, Required fields: callers find the file by the name they delegate to. Claude Code asks for a name only.",
    {"name": "write `name: {file.stem}`"},
    READABLE,
)

version = frontmatter_rule(
    "AGT-003",
    "no valid version",
    ERROR,
    "the version is a semantic version",
    f"{_WHERE}, Required fields: version, such as 1.0.0.",
    {"version": 'write three numbers, such as `version: "1.0.0"`'},
)

description = frontmatter_rule(
    "AGT-004",
    "no description",
    ERROR,
    "it is described",
    f"{_WHERE}, Required fields: the description is what a caller chooses the agent by.",
    {"description": "add a `description` of one or two sentences: what it does, and when to call it"},
    READABLE,
)

mode = frontmatter_rule(
    "AGT-005",
    "mode not subagent",
    ERROR,
    "the mode is subagent",
    f"{_WHERE}, Required fields: mode is always subagent.",
    {"mode": "write `mode: subagent`"},
)

agent_type = frontmatter_rule(
    "AGT-006",
    "no known agent type",
    ERROR,
    "the agent type is one of five",
    f"{_WHERE}, Required fields, and Agent Types: {', '.join(AGENT_TYPES)}.",
    {"agent_type": f"choose one of {', '.join(AGENT_TYPES)}"},
)

temperature = frontmatter_rule(
    "AGT-007",
    "no valid temperature",
    ERROR,
    "the temperature is between 0 and 1",
    f"{_WHERE}, Required fields: temperature 0.0-1.0.",
    {"temperature": "write `temperature: 0.2`, or another number from 0 to 1"},
    STANDARD,
)

max_tokens = frontmatter_rule(
    "AGT-008",
    "no valid token limit",
    ERROR,
    "max_tokens is a positive number",
    f"{_WHERE}, Required fields: the limit of a response.",
    {"max_tokens": "write `max_tokens: 4000`, or another positive whole number"},
    STANDARD,
)

timeout = frontmatter_rule(
    "AGT-009",
    "no valid timeout",
    ERROR,
    "the timeout is a positive number of seconds",
    f"{_WHERE}, Required fields: without a timeout a hung agent has no deadline.",
    {"timeout": "write seconds: 1800 for planning, 3600 for research, 7200 for implementation, 300 for a utility"},
    STANDARD,
)

description_length = frontmatter_rule(
    "AGT-019",
    "description too long",
    WARNING,
    "the description has one or two sentences",
    f"{_WHERE}, Required fields: a description of one or two sentences.",
    {"description": "keep one or two; the rest belongs below the frontmatter"},
)
