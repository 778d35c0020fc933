"""A rule about agent definition files: one thing that can be wrong with one, and the function that looks for it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from delegtop.contract.agent_file import AgentFile, Kind
from delegtop.contract.reading import Reading
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.origin import Origin

Check: TypeAlias = Callable[[AgentFile, Reading], Iterator[Finding]]


@dataclass(frozen=True)
class AgentRule:
    """What is checked, how much it matters, why it is asked for, and of which kinds of files."""

    id: str
    name: str
    """What is wrong, in at most 20 characters: `artifact missing`."""
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
        place = Origin(file.path, min(line, last), 0)
        return Finding(self.id, self.severity, file.path, sentence(message), (place,), sentence(advice))


def rule(
    id: str, name: str, severity: Severity, title: str, why: str, kinds: tuple[Kind, ...] = (Kind.SUBAGENT,)
) -> Callable[[Callable[[AgentFile], Iterator[Finding]]], AgentRule]:
    """Make a rule of the function: its name then is the rule, which it uses to make its findings."""

    def made(check: Callable[[AgentFile], Iterator[Finding]]) -> AgentRule:
        return AgentRule(id, name, severity, title, why, lambda file, _reading: check(file), kinds)

    return made


def rule_by_reading(
    id: str, name: str, severity: Severity, title: str, why: str, kinds: tuple[Kind, ...] = (Kind.SUBAGENT,)
) -> Callable[[Check], AgentRule]:
    """The same for a function that asks how contradictions between the documents are read."""

    def made(check: Check) -> AgentRule:
        return AgentRule(id, name, severity, title, why, check, kinds)

    return made


def sentence(words: str) -> str:
    """The words with a capital, unless they begin with a key or a tag, and a full stop."""
    first = words.split(maxsplit=1)[0] if words else ""
    if first.rstrip(",:").isalpha():
        words = words[0].upper() + words[1:]
    return words if words.endswith((".", "!", "?", "…")) else f"{words}."


def shown(file: AgentFile, *keys: str) -> str:
    """What is written at this place of the frontmatter, as a message quotes it."""
    value = file.value(*keys)
    return value.shown() if value else "missing"
