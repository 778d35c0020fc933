"""What the agents' own definition files say counts in the tree: their timeouts, their depth, whom they may ask."""

from pathlib import Path

import pytest
from tests import judging

from delegtop.base.clock import SECOND, Millis
from delegtop.base.origin import Origin
from delegtop.model.delegation import Basis
from delegtop.model.events import Described, Started
from delegtop.model.forest import Forest
from delegtop.model.policy import AgentLimits, Policy
from delegtop.observation.agent_limits import limits_near

PLANNER = """---
name: the-planner
timeout: 600
delegation:
  max_depth: 2
  can_delegate_to: [web-researcher]
  timeout_default: 120
  timeout_max: 300
---
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with an agent's file, and a log some folders further down."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    agents = tmp_path / "project" / ".opencode" / "agent" / "subagents"
    agents.mkdir(parents=True)
    (agents / "planner.md").write_text(PLANNER)
    (tmp_path / "project" / "logs" / "today").mkdir(parents=True)
    return tmp_path / "project"


def test_a_file_above_the_source_counts_under_the_name_of_the_file_and_the_name_in_it(project: Path) -> None:
    found = limits_near([str(project / "logs" / "today" / "session.jsonl")])
    path = str(project / ".opencode" / "agent" / "subagents" / "planner.md")
    limits = AgentLimits(path, 600 * SECOND, 120 * SECOND, 300 * SECOND, 2, ("web-researcher",), str(project))
    assert found == {"planner": limits, "the-planner": limits}


def test_of_two_files_of_one_name_the_nearer_counts(project: Path) -> None:
    nearer = project / "logs" / ".claude" / "agents"
    nearer.mkdir(parents=True)
    (nearer / "planner.md").write_text("---\nname: planner\ntimeout: 60\n---\n")
    assert limits_near([str(project / "logs")])["planner"].timeout == 60 * SECOND


def test_the_users_own_agents_count_last(project: Path) -> None:
    own = Path.home() / ".claude" / "agents"
    own.mkdir(parents=True)
    for name in ("planner", "helper"):
        (own / f"{name}.md").write_text(f"---\nname: {name}\ntimeout: 5\n---\n")
    found = limits_near([str(project)])
    assert (found["planner"].timeout, found["helper"].timeout) == (600 * SECOND, 5 * SECOND)
    assert (found["planner"].project, found["helper"].project) == (str(project), None)


@pytest.mark.parametrize(
    ("folder", "counts"),
    [("/srv/shop", True), ("/srv/shop/api", True), (None, True), ("/srv/shopping", False), ("/srv/other", False)],
)
def test_the_file_of_a_project_says_nothing_of_agents_elsewhere(folder: str | None, counts: bool) -> None:
    policy = Policy(agents={"planner": AgentLimits("planner.md", 600 * SECOND, project="/srv/shop")})
    assert (policy.limits_of("planner", folder) is not None) is counts
    forest = Forest(policy)
    here = Origin("session.jsonl", 1, 0)
    forest.apply([Started("a", Millis(0), here, agent="planner"), Described("a", Millis(0), here, cwd=folder)])
    forest.advance(Millis(0))
    deadline = forest.deadline(0)
    by_file = deadline is not None and deadline.basis is Basis.AGENT_FILE
    assert by_file is counts


@pytest.mark.parametrize("text", ["no frontmatter", "---\n: [\n---\n", "---\na: &a [*a]\n---\n", "\xff\xfe\x00"])
def test_a_file_that_cannot_be_read_says_nothing(project: Path, text: str) -> None:
    (project / ".opencode" / "agent" / "broken.md").write_bytes(text.encode("latin-1"))
    assert set(limits_near([str(project)])) == {"planner", "the-planner"}


def found_in(child: Started) -> list[str]:
    limits = AgentLimits("planner.md", None, None, 300 * SECOND, 2, ("web-*",))
    forest = Forest(Policy(agents={"planner": limits}))
    parent = Started("sess_a", Millis(0), Origin("log", 1, 0), agent="planner", depth=1)
    forest.apply([parent, child])
    forest.advance(Millis(1000))
    found = judging.found(forest, 1)
    return [finding.rule for finding in found if finding.rule.startswith("DEL-04")]


def child(agent: str = "web-researcher", depth: int = 2, timeout: int = 300 * SECOND) -> Started:
    return Started("sess_b", Millis(1), Origin("log", 2, 9), agent=agent, depth=depth, timeout=timeout, parent="sess_a")


def test_a_delegation_the_file_allows_is_not_found_fault_with() -> None:
    assert found_in(child()) == []


@pytest.mark.parametrize(
    ("told", "rule"),
    [
        (child(agent="implementer"), "DEL-040"),
        (child(depth=3), "DEL-041"),
        (child(timeout=301 * SECOND), "DEL-042"),
    ],
)
def test_what_the_file_of_the_giver_forbids_is_found(told: Started, rule: str) -> None:
    assert found_in(told) == [rule]
