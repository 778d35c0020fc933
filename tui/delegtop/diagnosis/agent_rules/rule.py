"""A rule about agent definition files: one thing that can be wrong with one, and the function that looks for it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from delegtop.contract.agent_file import AgentFile, Kind
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.origin import Origin

Check: TypeAlias = Callable[[AgentFile], Iterator[Finding]]


@dataclass(frozen=True)
class AgentRule:
    """What is checked, how much it matters, why it is asked for, and of which kinds of files."""

    id: str
    severity: Severity
    title: str
    """What must hold, in a few words."""
    why: str
    """The explanation, with the document and section that ask for it."""
    check: Check
    kinds: tuple[Kind, ...]

    def finding(self, file: AgentFile, line: int, message: str, advice: str) -> Finding:
        """A finding of this rule at a line of the file."""
        last = max(file.lines, 1)  # what is missing after the last line is told at the last line
        return Finding(self.id, self.severity, file.path, message, (Origin(file.path, min(line, last), 0),), advice)


def rule(
    id: str, severity: Severity, title: str, why: str, kinds: tuple[Kind, ...] = (Kind.SUBAGENT,)
) -> Callable[[Check], AgentRule]:
    """Make a rule of the function: its name then is the rule, which it uses to make its findings."""

    def made(check: Check) -> AgentRule:
        return AgentRule(id, severity, title, why, check, kinds)

    return made


def shown(file: AgentFile, *keys: str) -> str:
    """What is written at this place of the frontmatter, as a message quotes it."""
    value = file.value(*keys)
    return value.shown() if value else "missing"
