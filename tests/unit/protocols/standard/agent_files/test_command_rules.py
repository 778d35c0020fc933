"""Command files that hand work to subagents are judged by the stages of the delegation guide, others by nothing."""

import re
from pathlib import Path

import pytest

from delegtop.diagnosis.finding import Finding
from delegtop.protocols.standard.agent_files.agent_file import AgentFileKind, read
from delegtop.protocols.standard.agent_files.agent_file_rules import judge
from delegtop.protocols.standard.agent_files.command_rules import STAGES

AT = "command/release.md"
RELEASE = (Path(__file__).parents[4] / "agent_files" / AT).read_text("utf-8")


def found(text: str) -> list[Finding]:
    return judge(read(AT, text))


def without(stage: str) -> str:
    return re.sub(rf'  <stage id="\d" name="{stage}">.*?</stage>\n', "", RELEASE, flags=re.DOTALL)


def test_a_command_that_keeps_to_the_pattern_has_no_finding() -> None:
    assert read(AT, RELEASE).kind is AgentFileKind.COMMAND
    assert found(RELEASE) == []


@pytest.mark.parametrize("stage", STAGES)
def test_each_stage_of_the_pattern_is_missed(stage: str) -> None:
    told = found(without(stage))
    if (
        stage == "PrepareDelegation"
    ):  # the stage that invokes it has the session id: that is how the other document has it
        assert [(each.rule, each.message) for each in told] == [
            ("AGT-072", "Its stages say nothing about the depth, the path.")
        ]
        told = found(without(stage).replace('session_id=context["session_id"]', "id=1"))
    (finding,) = [each for each in told if each.rule == "AGT-070"]
    assert finding.message == f"It invokes a subagent and has no stage {stage}."


def test_the_three_stages_of_the_return_format_standard_are_enough() -> None:
    text = without("PrepareDelegation").replace("<action>Invoke the planner", "<action>Pass depth and path on")
    text = re.sub(r'  <stage id="4".*?</stage>\n', "", text, flags=re.DOTALL)
    assert found(text.replace("2. Receive the return object", "2. Validate the return")) == []


@pytest.mark.parametrize(
    ("left_out", "about"),
    [
        (", and stop if the target is in it", "cycles"),
        ("    <exception_handling>\n      Return failed with the message\n    </exception_handling>\n", "exceptions"),
        (
            "    <validation_failure>\n      Log what is wrong, and return failed with the original return\n"
            "    </validation_failure>\n",
            "returns that are not valid",
        ),
    ],
)
def test_what_a_stage_of_the_guide_leaves_out_is_mentioned(left_out: str, about: str) -> None:
    assert left_out in RELEASE
    (finding,) = found(RELEASE.replace(left_out, ""))
    assert (finding.rule, finding.message) == ("AGT-072", f"Its stages say nothing about {about}.")


def test_a_stage_in_the_wrong_place_is_told_there() -> None:
    swapped = RELEASE.replace('name="ReceiveResults"', 'name="X"').replace("ValidateReturn", "ReceiveResults")
    told = found(swapped.replace('name="X"', 'name="ValidateReturn"'))
    (finding,) = [each for each in told if each.rule == "AGT-070"]
    assert (finding.rule, finding.message) == ("AGT-070", "The stage ReceiveResults stands behind ValidateReturn.")


def test_a_caller_that_waits_without_end_is_told() -> None:
    text = re.sub(r"    <timeout_handling>.*?</timeout_handling>\n", "", RELEASE, flags=re.DOTALL)
    (finding,) = found(text)
    assert (finding.rule, finding.evidence[0].line) == (
        "AGT-071",
        1 + text[: text.index('"ReceiveResults"')].count("\n"),
    )


def test_a_command_without_stages_that_invokes_somebody_lacks_all_of_them() -> None:
    (finding,) = found('---\nname: x\n---\n\nRun task_tool(subagent_type="a")\n')
    assert finding.message == f"It invokes a subagent and has no stage {', '.join(STAGES)}."


@pytest.mark.parametrize("path", [".claude/commands/x.md", ".opencode/command/x.md"])
def test_a_command_that_hands_nothing_out_is_let_pass(path: str) -> None:
    assert judge(read(path, "---\ndescription: x\nallowed-tools: Bash\n---\n\nRun the tests.\n")) == []
