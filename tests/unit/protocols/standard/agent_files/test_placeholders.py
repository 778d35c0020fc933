"""Placeholders of the standard's templates that nobody filled in are told, and braces that are meant so are not."""

from pathlib import Path

import pytest

from delegtop.protocols.standard.agent_files.agent_file import read
from delegtop.protocols.standard.agent_files.agent_file_rules import AGENT_RULES, judge

AT = "agent/subagents/release-planner.md"
PLANNER = (Path(__file__).parents[4] / "agent_files" / AT).read_text("utf-8")


def lines_of(old: str, new: str) -> tuple[list[int], int]:
    """The lines that AGT-057 points at once `old` is `new`, and the line that it begins on."""
    assert PLANNER.count(old) == 1, old
    text = PLANNER.replace(old, new)
    found = judge(read(AT, text), [AGENT_RULES["AGT-057"]])
    return [finding.evidence[0].line for finding in found], 1 + text.count("\n", 0, text.index(new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"project/history.md"', '"{optional_context_1}"'),
        ('"Plans a release from the merged changes. It writes', '"Plans {what} from the merged changes. It writes'),
        ('["rm -rf", "sudo", "git push --force"]', '["{dangerous_commands}"]'),
        ('name="since"', 'name="{param_name}"'),
        ("<checkpoint>The plan is on disk</checkpoint>", "<checkpoint>{Completion criteria}</checkpoint>"),
        ("1. Build the return object", "1. {Detailed step 1}"),
        ("  <step_2>", "  {... more steps ...}\n  <step_2>"),
        (".opencode/specs/{task_number}_{slug}/plans/implementation-{version:03d}.md", "{artifact_path_pattern}"),
    ],
)
def test_a_placeholder_of_the_template_is_told_at_its_line(old: str, new: str) -> None:
    found, line = lines_of(old, new)
    assert found == [line]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"**/*.md"', '"**/*.{md,txt}"'),
        ('"git log"', "\"awk '{print $1}'\""),
        ("Run /release with the same number again", "Run /{command} {task_number} again"),
        ("1. Build the return object", '1. Send {"session_id": "…"}'),
        ("1. Build the return object", "```\n{anything}\n```"),
        ("1. Build the return object", "`{slug}`"),
        ('"What is planned, in at most 100 tokens"', '"{brief_summary} (<100 tokens)"'),
        ("1. Look at the paths each change touched", "- {number} becomes the number of the task"),
    ],
)
def test_braces_that_are_meant_so_are_let_pass(old: str, new: str) -> None:
    assert lines_of(old, new)[0] == []
