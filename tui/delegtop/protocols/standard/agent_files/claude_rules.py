"""What Claude Code reads of an agent file: name, description, tools, model, and the prompt below."""

import re
from collections.abc import Iterator

from delegtop.diagnosis.finding import Severity
from delegtop.protocols.standard.agent_files.agent_file import AgentFile, AgentFileKind
from delegtop.protocols.standard.agent_files.agent_file_rule import FileNote, rule

MODELS = ("sonnet", "opus", "haiku", "inherit")

_WHERE = "Claude Code, Subagents"
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@rule(
    "AGT-060",
    "tools not a list",
    Severity.WARNING,
    "tools is a line or a list of tools",
    f"{_WHERE}: tools is `Read, Grep` or a YAML list; without it the agent inherits every tool.",
    (AgentFileKind.CLAUDE,),
)
def tools(file: AgentFile) -> Iterator[FileNote]:
    value = file.at("tools")
    if "tools" not in file.values:
        return
    names = value.strings() or (value.string() or "").split(",")
    if not all(name.strip() for name in names):
        message = f"`tools` is {value.shown()}, not a list of tools"
        yield value.line, message, "write `tools: Read, Grep`, or leave tools out so that it inherits all"


@rule(
    "AGT-061",
    "unknown model",
    Severity.WARNING,
    "the model is one that exists",
    f"{_WHERE}: model is {', '.join(MODELS)}, or the full id of a model, which has `claude-` in it.",
    (AgentFileKind.CLAUDE,),
)
def model(file: AgentFile) -> Iterator[FileNote]:
    value = file.at("model")
    name = value.string() or ""
    if "model" in file.values and name not in MODELS and "claude-" not in name:
        advice = f"write {', '.join(MODELS[:-1])} or {MODELS[-1]}, or the full id of a model"
        yield value.line, f"the model {value.shown()} is neither an alias nor a full id", advice


@rule(
    "AGT-062",
    "wrong key for tools",
    Severity.WARNING,
    "the tools stand under `tools`",
    f"{_WHERE}: allowed-tools belongs to skills and commands. In an agent it restricts nothing.",
    (AgentFileKind.CLAUDE,),
)
def allowed_tools(file: AgentFile) -> Iterator[FileNote]:
    for key in ("allowed-tools", "allowed_tools", "allowedTools"):
        if key in file.values:
            message = f"`{key}` is not read in an agent file: the agent has every tool"
            yield file.at(key).line, message, "call the key `tools`"


@rule(
    "AGT-063",
    "malformed name",
    Severity.WARNING,
    "the name has lowercase letters and hyphens",
    f"{_WHERE}: the name is the identifier others call the agent by.",
    (AgentFileKind.CLAUDE,),
)
def identifier(file: AgentFile) -> Iterator[FileNote]:
    if file.name and not _NAME.fullmatch(file.name):
        message = f"the name {file.name} has more than lowercase letters, digits and hyphens"
        yield file.at("name").line, message, "write it like code-reviewer"


@rule(
    "AGT-064",
    "no prompt",
    Severity.ERROR,
    "there is a prompt below the frontmatter",
    f"{_WHERE}: the body is the system prompt of the agent.",
    (AgentFileKind.CLAUDE,),
)
def prompt(file: AgentFile) -> Iterator[FileNote]:
    if not file.body.strip():
        advice = "write what the agent is to do below the closing ---"
        yield file.body_line, "there is nothing below the frontmatter", advice
