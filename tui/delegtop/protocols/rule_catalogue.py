"""Every rule there is, whatever it judges, in chapters: what `delegtop rules` and the reference page show."""

from delegtop.diagnosis.rule import RuleText
from delegtop.diagnosis.rule_table import RULES
from delegtop.protocols.standard.agent_files.agent_file_rules import AGENT_RULES

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

CATALOGUE: dict[str, RuleText] = {**RULES, **AGENT_RULES}


def chapter(prefix: str) -> list[RuleText]:
    """The rules of one chapter, by id."""
    return [CATALOGUE[id] for id in sorted(CATALOGUE) if id.startswith(f"{prefix}-")]
