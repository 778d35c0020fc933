"""The structure standard's words and numbers for the frontmatter of agent files."""

from typing import Literal, get_args

AgentType = Literal["planning", "implementation", "research", "review", "utility"]
"""The kinds of agents. Files call them `agent_type`, which in a return is the name of the agent."""
AGENT_TYPES: tuple[AgentType, ...] = get_args(AgentType)

Strategy = Literal["lazy", "eager", "minimal"]
CONTEXT_LIMITS: dict[Strategy, int] = {"lazy": 50_000, "eager": 100_000, "minimal": 10_000}
"""Bytes of context to aim for, by loading strategy."""

TOOLS = ("read", "write", "edit", "bash", "grep", "glob")
_NUMBER = r"(?:0|[1-9][0-9]*)"
SEMVER = rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?"
"""The grammar of semver.org: no leading zeros, then a pre-release and a build, each optional."""
DESCRIPTION_SENTENCES = 2
STAGES = (1, 8)
"""The stages of a command."""
RETURN_FORMAT = "subagent-return-format.md"
"""The file that every agent loads, and that says how it returns."""
PATH_PATTERNS = {
    "plan": "specs/{number}_{slug}/plans/implementation-{version:03d}.md",
    "research": "specs/{number}_{slug}/reports/research-{version:03d}.md",
    "summary": "specs/{number}_{slug}/summaries/{type}-summary-{YYYYMMDD}.md",
}
"""Where the artifacts of a type lie, from the folder of the system on."""
