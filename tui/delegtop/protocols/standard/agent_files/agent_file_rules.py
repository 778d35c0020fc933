"""The rules about agent definition files, and how a file is judged by those of its kind."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from delegtop.diagnosis.finding import Finding
from delegtop.protocols.standard.agent_files import (
    ability_rules,
    claude_rules,
    command_rules,
    cycle_rules,
    identity_rules,
    output_rules,
    placeholder_rules,
    section_rules,
    step_rules,
)
from delegtop.protocols.standard.agent_files.agent_file import AgentFile
from delegtop.protocols.standard.agent_files.agent_file_rule import AgentRule
from delegtop.protocols.standard.contract.protocol_options import ProtocolOptions


def _rules() -> Iterator[AgentRule]:
    on_subagents = (section_rules, output_rules, placeholder_rules, step_rules, cycle_rules)
    for module in (identity_rules, ability_rules, *on_subagents, claude_rules, command_rules):
        yield from (each for each in vars(module).values() if isinstance(each, AgentRule))


AGENT_RULES: dict[str, AgentRule] = {rule.id: rule for rule in sorted(_rules(), key=lambda rule: rule.id)}
"""Every rule about agent files, by id."""


def judge(
    file: AgentFile, rules: Iterable[AgentRule] = AGENT_RULES.values(), reading: ProtocolOptions | None = None
) -> list[Finding]:
    """What the rules for this kind of file find in it, from the top of the file down."""
    file = replace(file, reading=reading or ProtocolOptions())
    found = [finding for rule in rules if file.kind in rule.kinds for finding in rule.findings(file)]
    return sorted(found, key=lambda finding: (finding.evidence[0].line, finding.rule))
