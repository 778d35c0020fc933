"""An agent definition file as typed data: frontmatter and sections, each with its line. Reading judges nothing.

What is missing or of the wrong kind is None here; `value()` still has what was written, for whoever judges it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePath

from delegtop.contract import frontmatter, sections
from delegtop.contract.frontmatter import AgentFileError, Value
from delegtop.contract.sections import Section, Sections

_STANDARD_KEYS = frozenset(
    {"agent_type", "context_loading", "delegation", "lifecycle", "max_tokens", "mode", "permissions", "timeout"}
)
_ABSENT = Value(None, 1)


class Kind(StrEnum):
    """What kind of file it was recognised as; the values are for people."""

    SUBAGENT = "subagent"
    PRIMARY = "primary agent"
    CLAUDE = "Claude Code agent"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Permissions:
    """Patterns by tool."""

    allow: Mapping[str, tuple[str, ...]] | None = None
    deny: Mapping[str, tuple[str, ...]] | None = None


@dataclass(frozen=True)
class ContextLoading:
    strategy: str | None = None
    index: str | None = None
    required: tuple[str, ...] | None = None
    max_context_size: int | None = None


@dataclass(frozen=True)
class Delegation:
    """To whom and how deep the agent may delegate; timeouts in seconds."""

    max_depth: int | None = None
    can_delegate_to: tuple[str, ...] | None = None
    timeout_default: int | None = None
    timeout_max: int | None = None


@dataclass(frozen=True)
class Lifecycle:
    stage: int | None = None
    command: str | None = None
    return_format: str | None = None


@dataclass(frozen=True)
class AgentFile:
    """One agent definition file."""

    path: str
    kind: Kind
    lines: int
    fault: AgentFileError | None = None
    """Why the frontmatter could not be read; then everything below is empty."""
    values: Mapping[str, Value] = field(default_factory=dict)
    body: str = ""
    body_line: int = 1
    sections: Sections = field(default_factory=Sections)

    name: str | None = None
    version: str | None = None
    description: str | None = None
    mode: str | None = None
    agent_type: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    timeout: int | None = None
    tools: Mapping[str, bool] | None = None
    """Tools that are switched on or off, by name; None if they are not told that way."""
    permissions: Permissions | None = None
    context_loading: ContextLoading | None = None
    delegation: Delegation | None = None
    lifecycle: Lifecycle | None = None

    @property
    def stem(self) -> str:
        """The name of the file, which names the agent."""
        return PurePath(self.path).stem

    @property
    def delegates(self) -> bool:
        """True if it says that it delegates."""
        return bool(self.delegation and self.delegation.can_delegate_to)

    def value(self, *keys: str) -> Value | None:
        """What stands at this place of the frontmatter: `value("delegation", "max_depth")`."""
        values: Mapping[str, Value] = self.values
        found = None
        for key in keys:
            found = values.get(key)
            if found is None:
                return None
            values = found.mapping()
        return found

    def line(self, *keys: str) -> int:
        """The line of this key, or of the nearest one around it that is there."""
        for end in range(len(keys), 0, -1):
            if found := self.value(*keys[:end]):
                return found.line
        return 1

    def section(self, name: str) -> Section | None:
        return self.sections.find(name)


def read(path: str, text: str) -> AgentFile:
    """The file; with a `fault` if its frontmatter cannot be read."""
    try:
        return parse(path, text)
    except AgentFileError as error:
        return AgentFile(path, Kind.UNREADABLE, _lines(text), fault=error)


def parse(path: str, text: str) -> AgentFile:
    """The file; AgentFileError if its frontmatter cannot be read."""
    head, body, body_line = frontmatter.split(text)
    values = frontmatter.read(head)

    def at(key: str) -> Value:
        return values.get(key, _ABSENT)

    return AgentFile(
        path=path,
        kind=_kind(path, values),
        lines=_lines(text),
        values=values,
        body=body,
        body_line=body_line,
        sections=sections.read(body, body_line),
        name=at("name").string(),
        version=at("version").string(),
        description=at("description").string(),
        mode=at("mode").string(),
        agent_type=at("agent_type").string(),
        temperature=at("temperature").number(),
        max_tokens=at("max_tokens").integer(),
        timeout=at("timeout").integer(),
        tools=_switches(at("tools")),
        permissions=_permissions(values.get("permissions")),
        context_loading=_context_loading(values.get("context_loading")),
        delegation=_delegation(values.get("delegation")),
        lifecycle=_lifecycle(values.get("lifecycle")),
    )


def _lines(text: str) -> int:
    """As an editor counts them: only a line feed ends one."""
    return text.count("\n") + (text != "" and not text.endswith("\n"))


def _kind(path: str, values: Mapping[str, Value]) -> Kind:
    mode = values.get("mode")
    if mode and mode.string() == "primary":
        return Kind.PRIMARY
    if ".opencode" in PurePath(path).parts or _STANDARD_KEYS & values.keys():
        return Kind.SUBAGENT
    return Kind.CLAUDE


def _switches(value: Value) -> Mapping[str, bool] | None:
    if not isinstance(value.data, dict):
        return None
    return {name: each.data for name, each in value.data.items() if isinstance(each.data, bool)}


def _permissions(value: Value | None) -> Permissions | None:
    if value is None or not isinstance(value.data, dict):
        return None
    return Permissions(_patterns(value.data.get("allow")), _patterns(value.data.get("deny")))


def _patterns(value: Value | None) -> Mapping[str, tuple[str, ...]] | None:
    """A list of `tool: [patterns]`, or one mapping of them."""
    if value is None or value.data is None:
        return None
    items = value.data if isinstance(value.data, tuple) else (value,)
    found: dict[str, tuple[str, ...]] = {}
    for item in items:
        for tool, patterns in item.mapping().items():
            one = patterns.string()
            found[tool] = found.get(tool, ()) + (patterns.strings() or ((one,) if one else ()))
    return found


def _context_loading(value: Value | None) -> ContextLoading | None:
    if value is None or not isinstance(value.data, dict):
        return None
    at = value.data
    return ContextLoading(
        strategy=at.get("strategy", _ABSENT).string(),
        index=at.get("index", _ABSENT).string(),
        required=at.get("required", _ABSENT).strings(),
        max_context_size=at.get("max_context_size", _ABSENT).integer(),
    )


def _delegation(value: Value | None) -> Delegation | None:
    if value is None or not isinstance(value.data, dict):
        return None
    at = value.data
    return Delegation(
        max_depth=at.get("max_depth", _ABSENT).integer(),
        can_delegate_to=at.get("can_delegate_to", _ABSENT).strings(),
        timeout_default=at.get("timeout_default", _ABSENT).integer(),
        timeout_max=at.get("timeout_max", _ABSENT).integer(),
    )


def _lifecycle(value: Value | None) -> Lifecycle | None:
    if value is None or not isinstance(value.data, dict):
        return None
    at = value.data
    return Lifecycle(
        stage=at.get("stage", _ABSENT).integer(),
        command=at.get("command", _ABSENT).string(),
        return_format=at.get("return_format", _ABSENT).string(),
    )
