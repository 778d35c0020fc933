"""The rules about agent definition files, and how a file is judged by those of its kind."""

from collections.abc import Iterable, Iterator

from delegtop.contract.agent_file import AgentFile
from delegtop.contract.reading import Reading
from delegtop.diagnosis.agent_rules import abilities, claude, identity, sections, steps
from delegtop.diagnosis.agent_rules.rule import AgentRule
from delegtop.diagnosis.finding import Finding


def _rules() -> Iterator[AgentRule]:
    for module in (identity, abilities, sections, steps, claude):
        yield from (each for each in vars(module).values() if isinstance(each, AgentRule))


AGENT_RULES: dict[str, AgentRule] = {rule.id: rule for rule in sorted(_rules(), key=lambda rule: rule.id)}
"""Every rule about agent files, by id."""


def judge(
    file: AgentFile, rules: Iterable[AgentRule] = AGENT_RULES.values(), reading: Reading | None = None
) -> list[Finding]:
    """What the rules for this kind of file find in it, from the top of the file down."""
    by = reading or Reading()
    found = [finding for rule in rules if file.kind in rule.kinds for finding in rule.check(file, by)]
    return sorted(found, key=lambda finding: (finding.evidence[0].line, finding.rule))
