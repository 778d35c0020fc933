"""Each rule about agent files finds what it is for, and nothing in a file that keeps the standard."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from delegtop.diagnosis.finding import Finding
from delegtop.protocols.contracts import schema
from delegtop.protocols.standard.agent_files.agent_file import AgentFileKind, read
from delegtop.protocols.standard.agent_files.agent_file_rules import AGENT_RULES, judge
from delegtop.protocols.standard.agent_files.cycle_rules import with_neighbours
from delegtop.protocols.standard.agent_files.section_rules import SECTIONS, SUB_CONTEXTS
from delegtop.protocols.standard.agent_files.sections import Section
from delegtop.protocols.standard.contract.agent_file_contract import CONTEXT_LIMITS, Strategy
from delegtop.protocols.standard.contract.protocol_options import ProtocolOptions

SAMPLES = Path(__file__).parents[4] / "agent_files"
PLANNER = (SAMPLES / "agent" / "subagents" / "release-planner.md").read_text("utf-8")
WRITER = (SAMPLES / "agents" / "changelog-writer.md").read_text("utf-8")
PRIMARY = PLANNER.replace("mode: subagent", "mode: primary")

PLANNER_AT, WRITER_AT = ".opencode/agent/release-planner.md", ".claude/agents/changelog-writer.md"


def planner(*edits: str) -> list[Finding]:
    """What is found in the planner once each `old` is the `new` that follows it."""
    return judge(read(PLANNER_AT, edited(PLANNER, *edits)))


def writer(*edits: str) -> list[Finding]:
    return judge(read(WRITER_AT, edited(WRITER, *edits)))


def edited(text: str, *edits: str) -> str:
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        assert old in text, old
        text = text.replace(old, new)
    return text


def without(name: str) -> tuple[str, str]:
    """The edit that takes the section of this name out."""
    section = next(each for each in read(PLANNER_AT, PLANNER).sections.outermost if each.name == name)
    return f"<{name}>{section.text}</{name}>", "\n" * section.text.count("\n")


def on_one_line(name: str) -> tuple[str, str]:
    whole, _ = without(name)
    return whole, whole.replace("\n", " ")


def step(name: str) -> Section:
    flow = read(PLANNER_AT, PLANNER).section("process_flow")
    assert flow is not None
    found = flow.child(name)
    assert found is not None
    return found


def renamed(old: str, new: str) -> tuple[str, str, str, str]:
    return f"<{old}>", f"<{new}>", f"</{old}>", f"</{new}>"


def messages(found: list[Finding], rule: str) -> list[str]:
    assert {finding.rule for finding in found} == {rule}
    return [finding.message for finding in found]


def sparse() -> tuple[str, str]:
    """The edit that leaves one line of each process."""
    flow, _ = without("process_flow")
    parts = re.split(r"(<process>.*?</process>)", flow, flags=re.DOTALL)
    one = "<process>The status-keeper sets the status, the commit-keeper commits.</process>"
    lines = [one + "\n" * part.count("\n") for part in parts[1::2]]
    return flow, "".join(words + line for words, line in zip(parts[::2], [*lines, ""], strict=True))


def task_without_delegation() -> tuple[str, ...]:
    return (
        "Hand the status to the status\n  keeper and the commit to the commit keeper, then return",
        "Set the status, commit\n  and return",
    )


def no_list() -> tuple[str, str]:
    return "can_delegate_to:", "can_delegate_to: 5\n  others:"


def renamed_in_return(old: str, new: str) -> tuple[str, str]:
    whole, _ = without("return_format")
    return whole, whole.replace(f"<{old}>", f"<{new}>").replace(f"</{old}>", f"</{new}>")


def summary_artifact() -> tuple[str, ...]:
    return (
        'type="plan">\n    <path>',
        'type="summary">\n    <path>',
        "plans/implementation-{version:03d}",
        "summaries/plan-summary-{YYYYMMDD}",
    )


def no_steps() -> tuple[str, ...]:
    """The edit that leaves words of the process, and a file of the artifacts that need not be verified then."""
    flow, lines = without("process_flow")
    return flow, f"<process_flow>Do it.{lines}</process_flow>"


EMPTY_STEP = "<action>a</action><process>b</process><output>c</output>" + "\n" * 8

BREAKS: list[tuple[str, Callable[..., list[Finding]], tuple[str, ...], str]] = [
    ("AGT-001", planner, ("---\nname", "name"), "No frontmatter: the first line is not ---"),
    ("AGT-002", planner, ('name: "release-planner"\n', ""), "`name` is missing"),
    ("AGT-002", planner, ('name: "release-planner"', "name: planner"), "is planner, but the file is named"),
    ("AGT-002", writer, ("name: changelog-writer\n", ""), "`name` is missing"),
    ("AGT-003", planner, ('version: "1.2.0"\n', ""), "`version` is missing"),
    ("AGT-003", planner, ('"1.2.0"', "1.10"), "`version` is a number, not text"),
    ("AGT-003", planner, ('"1.2.0"', "01.2.0"), 'is "01.2.0", which is not of the form'),
    ("AGT-004", writer, ("description: ", "about: "), "`description` is missing"),
    ("AGT-005", planner, ("mode: subagent\n", ""), "`mode` is missing"),
    ("AGT-005", planner, ("mode: subagent", "mode: all"), '`mode` is "all", not subagent'),
    ("AGT-006", planner, ("agent_type: planning", "agent_type: maintenance"), 'is "maintenance", not planning'),
    ("AGT-006", planner, ("agent_type: planning\n", ""), "`agent_type` is missing"),
    ("AGT-007", planner, ("temperature: 0.2", "temperature: 1.5"), "`temperature` is 1.5, not at most 1"),
    ("AGT-007", planner, ("temperature: 0.2", "temperature: .nan"), "`temperature` is text, not a number"),
    ("AGT-008", planner, ("max_tokens: 4000", "max_tokens: 0"), "`max_tokens` is 0, not above 0"),
    ("AGT-008", planner, ("max_tokens: 4000", "max_tokens: yes"), "`max_tokens` is true or false, not a whole number"),
    ("AGT-009", planner, ("timeout: 1800", "timeout: -5"), "`timeout` is -5, not above 0"),
    ("AGT-009", planner, ("timeout: 1800", "timeout: 30 min"), "`timeout` is text, not a whole number"),
    ("AGT-010", planner, ("grep: true", "grep: maybe"), "`tools.grep` is text, not true or false"),
    ("AGT-011", planner, ("  allow:", "  allows:"), "`permissions.allow` is missing"),
    ("AGT-012", planner, ("  write: true", "  write: false"), "The tool write is allowed, but not switched on"),
    ("AGT-012", planner, ('    - bash: ["rm -rf", "sudo", "git push --force"]\n', ""), "no command is denied"),
    ("AGT-013", planner, ("strategy: lazy", "strategy: greedy"), 'is "greedy", not lazy, eager or minimal'),
    ("AGT-013", planner, ("  index:", "  list:"), "`context_loading.index` is missing"),
    ("AGT-013", planner, ("  required:", "  wanted:"), "`context_loading.required` is missing"),
    ("AGT-013", planner, ("context_loading:", "context:"), "`context_loading` is missing"),
    ("AGT-014", planner, ("40000", "60000"), "is 60000, more than the 50000 bytes"),
    ("AGT-014", planner, ("40000", "large"), "max_context_size` is text"),
    ("AGT-015", planner, ("max_depth: 3", "max_depth: 4"), "`delegation.max_depth` is 4, not at most 3"),
    ("AGT-015", planner, ("  max_depth: 3\n", ""), "`delegation.max_depth` is missing"),
    ("AGT-015", planner, ("max_depth: 3", "max_depth: 0"), "names status-keeper, but max_depth is 0"),
    ("AGT-016", planner, (*no_list(), *without("delegation_patterns")), "is a number, not a list"),
    ("AGT-017", planner, ("default: 120", "default: 400"), "is 300, less than timeout_default, 400"),
    ("AGT-017", planner, ("  timeout_max: 300\n", ""), "`delegation.timeout_max` is missing"),
    ("AGT-018", planner, ("lifecycle:", "life:"), "`lifecycle` is missing"),
    ("AGT-018", planner, ("stage: 4", "stage: 9"), "`lifecycle.stage` is 9, not at most 8"),
    ("AGT-018", planner, ('  command: "/release"\n', ""), "`lifecycle.command` is missing"),
    ("AGT-018", planner, ('"/release"', "release"), 'is "release", which is not of the form'),
    ("AGT-018", planner, ("  return_format:", "  returns:"), "`lifecycle.return_format` is missing"),
    (
        "AGT-018",
        planner,
        ('format: "subagent-return-format.md"', 'format: "other.md"'),
        '`lifecycle.return_format` is "other.md", which is not of the form',
    ),
    ("AGT-019", planner, ("to the utilities.", "on. It waits. It returns."), "has 4 sentences, more than 2"),
    ("AGT-020", planner, without("context"), "There is no <context> section"),
    ("AGT-020", planner, renamed("task_scope", "scope"), "<context> has no <task_scope>"),
    ("AGT-021", planner, ("<task_scope>", "<task_scope>One. Two."), "<task_scope> has 4 sentences"),
    ("AGT-022", planner, without("role"), "There is no <role> section"),
    ("AGT-022", planner, ("<role>", "<role>One. Two. "), "<role> has 4 sentences, not 1 to 2"),
    ("AGT-023", planner, without("task"), "There is no <task> section"),
    ("AGT-023", planner, (without("task")[0], "<task>Delegate it.</task>" + "\n" * 9), "has 1 sentence, not 3 to 5"),
    ("AGT-024", planner, without("inputs_required"), "There is no <inputs_required> section"),
    ("AGT-024", planner, (' name="since"', ""), "A <parameter> has no name"),
    ("AGT-024", planner, ("parameter", "input"), "<inputs_required> lists no <parameter>"),
    ("AGT-025", planner, without("inputs_forbidden"), "There is no <inputs_forbidden> section"),
    ("AGT-025", planner, ("forbidden>", "never>", "inputs_never", "inputs_forbidden"), "lists no <forbidden>"),
    ("AGT-026", planner, without("process_flow"), "There is no <process_flow> section"),
    ("AGT-026", planner, renamed("process_flow", "workflow_execution"), "It has <workflow_execution>"),
    ("AGT-026", planner, no_steps(), "<process_flow> has no steps"),
    ("AGT-027", planner, without("delegation_patterns"), "There is no <delegation_patterns> section"),
    ("AGT-027", planner, ('    - "commit-keeper"\n', ""), "`can_delegate_to` does not list commit-keeper"),
    ("AGT-027", planner, ('- "commit-keeper"', '- "commit-keeper"\n    - "tester"'), "It may delegate to tester"),
    ("AGT-027", planner, renamed("when", "if"), "<delegate_to> status-keeper has no <when>"),
    ("AGT-028", planner, without("artifact_creation"), "There is no <artifact_creation> section"),
    ("AGT-028", planner, ('<artifact type="plan">', "<artifact>"), "An <artifact> has no type"),
    ("AGT-028", planner, renamed("path", "place"), "<artifact> plan has no <path>"),
    ("AGT-028", planner, ('<artifact type="plan">', "", "</artifact>", ""), "describes no <artifact>"),
    ("AGT-029", planner, without("return_format"), "There is no <return_format> section"),
    ("AGT-029", planner, renamed("structure", "shape"), "<return_format> has no <structure>"),
    ("AGT-029", planner, ('"session_id": "sess', '"session": "sess'), "The return structure does not name session_id"),
    ("AGT-029", planner, ("completed|partial", "done|partial"), "The return structure has the status done"),
    ("AGT-030", planner, without("quality_standards"), "There is no <quality_standards> section"),
    ("AGT-031", planner, without("error_handling"), "There is no <error_handling> section"),
    ("AGT-031", planner, renamed("recovery", "rescue"), "<error_type> timeout has no <recovery>"),
    ("AGT-032", planner, ('name="timeout"', 'name="late"'), "<error_handling> does not cover timeout"),
    ("AGT-032", planner, ('"delegation_failure"', '"other"'), "<error_handling> does not cover delegation_failure"),
    ("AGT-034", planner, ("# Release planner", ""), "The body does not start with a heading"),
    ("AGT-035", planner, ("standards/subagent-return-format.md", "standards/tone.md"), "has no subagent-return"),
    ("AGT-036", planner, task_without_delegation(), "<task> does not mention that it delegates"),
    ("AGT-037", planner, ('name="session_id"', 'name="session"'), "has no session_id, which the return must match"),
    ("AGT-038", planner, ('type="plan"', 'type="poem"'), "There is no artifact type poem"),
    ("AGT-039", planner, ("}/plans/", "}/drafts/"), "is not of the pattern specs/{number}_{slug}/plans/"),
    ("AGT-039", planner, ("<path>.opencode", "<path>/tmp/.opencode"), "is not of the pattern"),
    ("AGT-039", planner, ("implementation-{version:03d}", "plan"), "is not of the pattern"),
    ("AGT-040", planner, renamed("step_0_preflight", "step_0"), "The first step is <step_0>, not a preflight"),
    ("AGT-041", planner, renamed("step_2", "step_7"), "<step_7> stands where step 2 is expected"),
    ("AGT-041", planner, renamed("step_2", "stage_2"), "<stage_2> is called a stage"),
    ("AGT-041", planner, renamed("step_2", "step_2_group"), "<step_2_group> is a step of the main workflow"),
    ("AGT-041", planner, renamed("step_2", "grouping"), "<grouping> is a step by another name"),
    ("AGT-041", planner, renamed("step_5_return", "step_N+1_return"), "<step_N+1_return> has no number"),
    ("AGT-042", planner, renamed("step_4_postflight", "step_4"), "No step is the postflight"),
    ("AGT-043", planner, renamed("step_5_return", "step_5"), "The last step is <step_5>, not the return"),
    ("AGT-044", planner, ("<checkpoint>The plan is on disk</checkpoint>", ""), "<step_3> has no <checkpoint>"),
    ("AGT-044", planner, ("<output>Status set, commit created</output>", ""), "has no <checkpoint>"),
    ("AGT-045", planner, (step("step_4_postflight").text, EMPTY_STEP), "says nothing about the status or the commit"),
    ("AGT-046", planner, sparse(), "No step has more than 1 lines of process"),
    ("AGT-047", planner, ("status keeper", "manager", "commit keeper", "manager"), "names none of status-keeper"),
    ("AGT-048", planner, (step("step_0_preflight").text, EMPTY_STEP), "about validating the inputs or the status"),
    ("AGT-049", planner, (step("step_5_return").text, EMPTY_STEP), "about the format of the return or"),
    ("AGT-050", planner, ("# Release planner", "# Release planner" + "\n" * 300), "lines: over 400"),
    ("AGT-051", planner, (*on_one_line("error_handling"), *on_one_line("inputs_required")), "not for the checklist"),
    ("AGT-052", planner, ("mode: subagent", "mode: primary"), "The mode is primary: only the frontmatter is judged"),
    ("AGT-053", planner, renamed_in_return("validation", "rules"), "<return_format> has no <validation>"),
    ("AGT-054", planner, summary_artifact(), "<artifact> summary has no <token_limit>"),
    ("AGT-057", planner, ("# Release planner", "# {Subagent Name}"), "{Subagent Name} is left from the template"),
    ("AGT-055", planner, ("Verify that the plan", "It", "Verify both", "Done", "plan is on disk", "end"), "No step"),
    ("AGT-060", writer, ("tools: Read, Grep, Edit", "tools: {Read: true}"), "`tools` is a mapping, not a list"),
    ("AGT-060", writer, ("tools: Read, Grep, Edit", "tools: Read,,Edit"), "`tools` is Read,,Edit, not a list of tools"),
    ("AGT-061", writer, ("haiku", "sonnet-4.5"), "The model sonnet-4.5 is neither an alias nor a full id"),
    ("AGT-062", writer, ("tools:", "allowed-tools:"), "`allowed-tools` is not read in an agent file"),
    ("AGT-063", writer, ("name: changelog-writer", "name: Changelog Writer"), "The name Changelog Writer has more"),
    ("AGT-064", writer, (WRITER.partition("haiku\n---\n")[2], ""), "There is nothing below the frontmatter"),
]  # fmt: skip


def test_a_subagent_that_keeps_the_standard_has_no_findings() -> None:
    assert read(PLANNER_AT, PLANNER).kind is AgentFileKind.SUBAGENT
    assert planner() == []


def test_a_plain_claude_code_agent_has_no_findings() -> None:
    assert read(WRITER_AT, WRITER).kind is AgentFileKind.CLAUDE
    assert writer() == []


@pytest.mark.parametrize(
    ("rule", "file", "edits", "message"), BREAKS, ids=[f"{number} {case[0]}" for number, case in enumerate(BREAKS)]
)
def test_a_broken_rule_is_the_only_finding(
    rule: str, file: Callable[..., list[Finding]], edits: tuple[str, ...], message: str
) -> None:
    assert message in messages(file(*edits), rule)[0]


def test_every_rule_is_broken_in_this_file() -> None:
    on_subagents = {id for id, rule in AGENT_RULES.items() if rule.kinds != (AgentFileKind.COMMAND,)}
    assert {"AGT-033", "AGT-056", *(case[0] for case in BREAKS)} == on_subagents


def test_a_finding_points_at_the_line_that_says_it() -> None:
    [finding] = planner("max_depth: 3", "max_depth: 4")
    assert PLANNER.split("\n")[finding.evidence[0].line - 1] == "  max_depth: 3"
    assert str(finding.evidence[0]).startswith(f"{PLANNER_AT}:")
    assert finding.subject == PLANNER_AT
    assert finding.advice == "Write `max_depth: 3` or less."


def test_findings_come_from_the_top_of_the_file_down() -> None:
    lines = [finding.evidence[0].line for finding in planner(*without("role"), "mode: subagent", "mode: x")]
    assert lines == sorted(lines)
    assert len(lines) == 2


def test_an_agent_does_not_delegate_to_itself() -> None:
    found = planner('- "status-keeper"', '- "release-planner"', 'name="status-keeper"', 'name="release-planner"')
    assert messages(found, "AGT-016") == ["`delegation.can_delegate_to[0]` is its own name: a cycle."]


def circles(**delegates: str) -> dict[str, list[str]]:
    """What AGT-056 says of agents of one folder, by file; each may delegate to those that are named."""
    files = [
        read(f".opencode/agent/{name}.md", f"---\nname: {name}\ndelegation:\n  can_delegate_to: [{others}]\n---\n")
        for name, others in delegates.items()
    ]
    rules = [AGENT_RULES["AGT-056"]]
    return {file.stem: [each.message for each in judge(file, rules)] for file in with_neighbours(files)}


def test_agents_that_may_delegate_to_each_other_are_told_in_each_of_their_files() -> None:
    found = circles(a="b", b="c", c="a, d", d="")
    assert found["a"] == ["It may delegate to b, and back to itself by a > b > c > a."]
    assert found["c"] == ["It may delegate to a, and back to itself by c > a > b > c."]
    assert found["d"] == []


def test_an_agent_that_leads_into_a_circle_is_not_in_it_and_a_shared_helper_makes_none() -> None:
    assert circles(start="a", a="b", b="a")["start"] == []
    assert circles(a="b, helper", b="helper", helper="elsewhere") == {"a": [], "b": [], "helper": []}
    assert circles(a="a") == {"a": []}, "its own name is told by AGT-016"


def test_files_of_other_folders_make_no_circle() -> None:
    text = "---\nname: {}\ndelegation:\n  can_delegate_to: [{}]\n---\n"
    files = [read("one/agent/a.md", text.format("a", "b")), read("two/agent/b.md", text.format("b", "a"))]
    assert [judge(file, [AGENT_RULES["AGT-056"]]) for file in with_neighbours(files)] == [[], []]


def test_can_delegate_to_is_a_list() -> None:
    found = planner('to:\n    - "status-keeper"\n    - "commit-keeper"', "to: status-keeper")
    assert "`delegation.can_delegate_to` is text, not a list." in [finding.message for finding in found]


def test_an_agent_that_delegates_to_nobody_needs_no_patterns() -> None:
    nobody = 'to:\n    - "status-keeper"\n    - "commit-keeper"', "to: []"
    assert planner(*nobody, *without("delegation_patterns")) == []


def test_a_section_that_is_never_closed_is_told_where_it_opens() -> None:
    found = [finding for finding in planner("</role>", "") if finding.rule == "AGT-033"]
    assert [finding.message for finding in found] == ["<role> is never closed."]
    assert PLANNER.split("\n")[found[0].evidence[0].line - 1] == "<role>"


def test_the_name_that_was_skipped_in_practice_is_named() -> None:
    found = planner(*renamed("step_0_preflight", "stage_1_preflight"))
    assert ("AGT-040", "Preflight is <stage_1_preflight>.") in [(each.rule, each.message) for each in found]


def test_steps_that_start_at_one_are_told_once() -> None:
    found = planner(*(edit for n in (3, 2, 1) for edit in renamed(f"step_{n}", f"step_{n + 1}")))
    assert messages(found, "AGT-041") == ["<step_2> stands where step 1 is expected."]


def test_a_step_between_postflight_and_return_is_told() -> None:
    found = planner(*renamed("step_4_postflight", "step_9"), *renamed("step_3", "step_4_postflight"))
    assert ("AGT-043", "<step_9> stands between the postflight and the return.") in [(f.rule, f.message) for f in found]


@pytest.mark.parametrize("name", [name for name in SECTIONS if name != "process_flow"])
def test_each_section_is_missed(name: str) -> None:
    assert [finding.message for finding in planner(*without(name))] == [f"There is no <{name}> section."]


@pytest.mark.parametrize("part", SUB_CONTEXTS)
def test_each_part_of_the_context_is_missed(part: str) -> None:
    assert f"<context> has no <{part}>." in [finding.message for finding in planner(f"<{part}>", "", f"</{part}>", "")]


def test_what_the_model_of_the_frontmatter_tells_has_a_rule_that_asks_it() -> None:
    told = re.findall(r'"(AGT-[0-9]{3})"', json.dumps(schema("agent-file")))
    by_hand = {"AGT-012", "AGT-001"}
    asked = {f"AGT-{number:03}" for number in (*range(1, 20), 35)} - by_hand
    assert set(told) <= asked
    assert asked == {id for id, rule in AGENT_RULES.items() if "frontmatter_rule" in rule.check.__qualname__}


def test_everything_wrong_with_one_part_of_the_frontmatter_is_told_at_once() -> None:
    found = planner(
        'command: "/release"', "other: 1", "stage: 4", "stage: 9", 'subagent-return-format.md"\n---', 'x.md"\n---'
    )
    assert [finding.message.split()[0] for finding in found] == [
        "`lifecycle.command`",
        "`lifecycle.stage`",
        "`lifecycle.return_format`",
    ]


def test_a_finding_in_a_list_points_at_its_item() -> None:
    [finding] = [each for each in planner('- "commit-keeper"', "- 5") if each.rule == "AGT-016"]
    assert PLANNER.split("\n")[finding.evidence[0].line - 1] == '    - "commit-keeper"'


@pytest.mark.parametrize("strategy", CONTEXT_LIMITS)
def test_each_strategy_has_its_limit(strategy: Strategy) -> None:
    limit = CONTEXT_LIMITS[strategy]
    fits = ("strategy: lazy", f"strategy: {strategy}", "40000", str(limit))
    assert planner(*fits) == []
    assert messages(planner(*fits[:3], str(limit + 1)), "AGT-014")


@pytest.mark.parametrize(
    ("lines", "rules"),
    [(149, {"AGT-050"}), (150, {"AGT-051"}), (199, {"AGT-051"}), (200, set()), (400, set()), (401, {"AGT-050"})],
)
def test_the_size_is_judged_at_its_limits(lines: int, rules: set[str]) -> None:
    text = edited(PLANNER, *(edit for name in SECTIONS if name != "process_flow" for edit in on_one_line(name)))
    text += "\n" * (lines - text.count("\n"))
    file = read(PLANNER_AT, text)
    assert file.lines == lines
    assert {finding.rule for finding in judge(file)} == rules


def test_both_minima_of_the_standard_are_named() -> None:
    whole = PLANNER.partition("<process_flow>")[0]
    [small] = [finding for finding in judge(read(PLANNER_AT, whole)) if finding.rule == "AGT-050"]
    assert "150 is the least of the size guidelines, 200 that of the checklist" in small.message


def test_the_least_size_is_a_setting() -> None:
    file = read(PLANNER_AT, edited(PLANNER, *on_one_line("error_handling"), *on_one_line("inputs_required")))
    [finding] = judge(file, reading=ProtocolOptions(agent_file_lines=200))
    assert finding.rule == "AGT-050"
    assert finding.message.endswith("(protocol.agent_file_lines = 200).")


def test_how_deep_a_file_may_let_it_delegate_is_a_setting() -> None:
    deeper = read(PLANNER_AT, edited(PLANNER, "max_depth: 3", "max_depth: 4"))
    assert judge(deeper, reading=ProtocolOptions(max_depth=4)) == []
    [finding] = judge(read(PLANNER_AT, PLANNER), reading=ProtocolOptions(max_depth=2))
    assert finding.message == "`delegation.max_depth` is 3, not at most 2 (protocol.max_depth = 2)."


def test_every_message_and_advice_is_a_sentence() -> None:
    for _, file, edits, _ in BREAKS:
        for finding in file(*edits):
            for words in (finding.message, finding.advice):
                assert not words[0].islower(), words
                assert words.endswith("."), words


def test_a_section_in_the_wrong_place_is_told_where_it_stands() -> None:
    found = planner("</return_format>", "", "</error_handling>", "</error_handling>\n</return_format>")
    told = {finding.message: finding for finding in found}
    line = told["<error_handling> stands inside <return_format>, not by itself."].evidence[0].line
    assert PLANNER.split("\n")[line - 1] == "<error_handling>"


def test_the_older_name_of_the_return_format_is_recognised() -> None:
    found = planner(*renamed("return_format", "output_specification"))
    assert messages(found, "AGT-029") == ["There is no <return_format> section, but <output_specification>."]


def test_no_finding_points_behind_the_last_line() -> None:
    file = read(".opencode/agent/a.md", "---\nname: a\n---")
    assert {finding.evidence[0].line for finding in judge(file)} == {1, 3}


def test_a_utility_belongs_to_no_command() -> None:
    assert planner("agent_type: planning", "agent_type: utility", '  command: "/release"\n', "") == []


def test_a_primary_agent_need_not_say_what_a_subagent_must() -> None:
    spare = "---\nname: orchestrator\ndescription: It routes.\nmode: primary\n---\nRoute.\n"
    assert [finding.rule for finding in judge(read(".opencode/agent/orchestrator.md", spare))] == ["AGT-052"]
    wrong = spare.replace("mode", "temperature: 3\nmode")
    assert "AGT-007" in [finding.rule for finding in judge(read(".opencode/agent/orchestrator.md", wrong))]


def test_a_claude_code_agent_may_be_named_unlike_its_file() -> None:
    assert writer("name: changelog-writer", "name: scribe") == []


@pytest.mark.parametrize("tools", ["tools: [Read, Grep]", "tools: Read", "color: blue"])
@pytest.mark.parametrize("model", ["inherit", "claude-opus-4-1", "us.anthropic.claude-haiku-4-5"])
def test_a_claude_code_agent_may_write_tools_and_model_in_any_way_that_is_read(tools: str, model: str) -> None:
    assert writer("tools: Read, Grep, Edit", tools, "haiku", model) == []


def test_everything_that_is_missing_is_told_at_once() -> None:
    found = {finding.rule for finding in judge(read(".opencode/agent/a.md", "---\nname: a\n---\n"))}
    required = {f"AGT-{number:03}" for number in (3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 18)}
    missing = {f"AGT-{number:03}" for number in (20, 22, 23, 24, 25, 26, 28, 29, 30, 31, 34, 50)}
    assert found == required | missing


def test_permissions_may_be_one_mapping_instead_of_a_list() -> None:
    text = "---\nname: a\ntools: {bash: true}\npermissions:\n  allow: {bash: git}\n  deny: {bash: [sudo]}\n---\n"
    found = {finding.rule for finding in judge(read(".opencode/agent/a.md", text))}
    assert "AGT-010" not in found
    assert not found & {"AGT-011", "AGT-012"}
