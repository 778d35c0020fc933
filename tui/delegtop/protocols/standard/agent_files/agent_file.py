"""An agent definition file: frontmatter and sections, each with its line. Reading judges nothing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING

from delegtop.protocols import frontmatter
from delegtop.protocols.frontmatter import AgentFileError, Value
from delegtop.protocols.standard.agent_files import sections
from delegtop.protocols.standard.agent_files.sections import Section, Sections
from delegtop.protocols.standard.contract.protocol_options import ProtocolOptions

if TYPE_CHECKING:
    from delegtop.protocols.contract_model import Breach

_STANDARD_KEYS = frozenset(
    {"agent_type", "context_loading", "delegation", "lifecycle", "max_tokens", "mode", "permissions", "timeout"}
)
_ABSENT = Value(None, 1, "missing")
_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_FOLDERS = frozenset({"agent", "agents", "command", "commands"})
"""Where files lie of which one tells the kind by that."""


class AgentFileKind(StrEnum):
    """What kind of file it was recognised as; the values are for people."""

    SUBAGENT = "subagent"
    PRIMARY = "primary agent"
    CLAUDE = "Claude Code agent"
    COMMAND = "command"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class AgentFile:
    """One agent definition file."""

    path: str
    kind: AgentFileKind
    lines: int
    fault: AgentFileError | None = None
    """Why the frontmatter could not be read; then everything below is empty."""
    values: Mapping[str, Value] = field(default_factory=dict)
    body: str = ""
    body_line: int = 1
    sections: Sections = field(default_factory=Sections)
    reading: ProtocolOptions = field(default_factory=ProtocolOptions)
    """How contradictions between the documents are read by whoever judges it."""
    neighbours: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Whom the agents of its folder may delegate to, by the name of the file; empty if it is judged alone."""

    @property
    def stem(self) -> str:
        """The name of the file, which names the agent."""
        return PurePath(self.path).stem

    @property
    def name(self) -> str | None:
        return self.at("name").string()

    @property
    def delegates_to(self) -> tuple[str, ...]:
        """The agents that it says it delegates to."""
        return self.at("delegation", "can_delegate_to").strings() or ()

    def at(self, *keys: str) -> Value:
        """What stands at this place of the frontmatter: `at("delegation", "max_depth")`. What is missing is told at the
        nearest key around it that is there."""
        found, values = _ABSENT, self.values
        for key in keys:
            if key not in values:
                return replace(_ABSENT, line=found.line)
            found = values[key]
            values = found.mapping()
        return found

    def line_of(self, field: str) -> int:
        """The line of a field of the frontmatter, such as `delegation.can_delegate_to[0]`, or of what is around it."""
        found = replace(_ABSENT, data=dict(self.values))
        for index, key in _PART.findall(field):
            inner = found.mapping().get(key) if key else None
            if index and isinstance(found.data, tuple) and int(index) < len(found.data):
                inner = found.data[int(index)]
            if inner is None and not index:
                break
            found = inner or found  # what stands alone may be counted as the first of a list
        return found.line

    @cached_property
    def breaches(self) -> "tuple[Breach, ...]":
        """What its frontmatter breaks of the standard's model."""
        from delegtop.protocols.contract_model import breaches
        from delegtop.protocols.standard.contract.agent_file_model import AgentFrontmatter, FileContext

        given = {key: value.plain() for key, value in self.values.items() if value.data is not None}
        # What others call a Claude Code agent by is its name alone.
        name = None if self.kind is AgentFileKind.CLAUDE else self.stem
        return breaches(AgentFrontmatter, given, FileContext(name, self.reading))

    def section(self, name: str) -> Section | None:
        return self.sections.find(name)


def read(path: str, text: str) -> AgentFile:
    """The file; with a `fault` if its frontmatter cannot be read."""
    try:
        return parse(path, text)
    except AgentFileError as error:
        if _kind(path, {}) is AgentFileKind.COMMAND:  # nobody asks one for frontmatter
            return AgentFile(path, AgentFileKind.COMMAND, _lines(text), body=text, sections=sections.read(text, 1))
        return AgentFile(path, AgentFileKind.UNREADABLE, _lines(text), fault=error)


def parse(path: str, text: str) -> AgentFile:
    """The file; AgentFileError if its frontmatter cannot be read."""
    head, body, body_line = frontmatter.split(text)
    values = frontmatter.read(head)
    return AgentFile(
        path=path,
        kind=_kind(path, values),
        lines=_lines(text),
        values=values,
        body=body,
        body_line=body_line,
        sections=sections.read(body, body_line),
    )


def _lines(text: str) -> int:
    """As an editor counts them: only a line feed ends one."""
    return text.count("\n") + (text != "" and not text.endswith("\n"))


def _kind(path: str, values: Mapping[str, Value]) -> AgentFileKind:
    folder = next((part for part in reversed(PurePath(path).parts[:-1]) if part in _FOLDERS), "")
    if folder.startswith("command"):
        return AgentFileKind.COMMAND
    mode = values.get("mode")
    if mode and mode.string() == "primary":
        return AgentFileKind.PRIMARY
    if ".opencode" in PurePath(path).parts or _STANDARD_KEYS & values.keys():
        return AgentFileKind.SUBAGENT
    return AgentFileKind.CLAUDE
