"""Every rule there is, whatever it judges, in chapters: what `delegtop rules` and the reference page show."""

from delegtop.diagnosis.agent_rules import AGENT_RULES
from delegtop.diagnosis.agent_rules.rule import AgentRule
from delegtop.diagnosis.rule import Rule
from delegtop.diagnosis.rules import RULES

CHAPTERS = {
    "RET": "Returns",
    "DEL": "Delegations",
    "VER": "Verdicts",
    "END": "Ends of agents",
    "OUT": "CLEO subagents",
    "HYP": "hyper sub-agents",
    "FAM": "The ProofChecker family",
    "AGT": "Agent files",
    "LOG": "Logs",
}
"""The chapters by how the ids of their rules begin."""

CATALOGUE: dict[str, Rule | AgentRule] = {**RULES, **AGENT_RULES}


def chapter(prefix: str) -> list[Rule | AgentRule]:
    """The rules of one chapter, by id."""
    return [CATALOGUE[id] for id in sorted(CATALOGUE) if id.startswith(f"{prefix}-")]
