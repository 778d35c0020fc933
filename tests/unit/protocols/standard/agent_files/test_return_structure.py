"""The structure of a return that an agent file shows is judged by its own fields, however it is written down."""

from pathlib import Path

import pytest

from delegtop.protocols.standard.agent_files.agent_file import read
from delegtop.protocols.standard.agent_files.agent_file_rules import judge
from delegtop.protocols.standard.agent_files.output_rules import RETURN_FIELDS
from delegtop.protocols.standard.contract.protocol_options import ProtocolOptions, SessionIdPlace

PLANNER = (Path(__file__).parents[4] / "agent_files/agent/subagents/release-planner.md").read_text("utf-8")
PLANNER_AT = ".opencode/agent/release-planner.md"


def edited(text: str, *edits: str) -> str:
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        assert old in text, old
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("field", RETURN_FIELDS)
def test_each_required_field_of_the_return_is_missed(field: str) -> None:
    head, found, tail = PLANNER.partition("<structure>")
    shape, rest = tail.split("</structure>")
    text = head + found + shape.replace(f'      "{field}":', '      "other":') + "</structure>" + rest
    told = [finding.message for finding in judge(read(PLANNER_AT, text))]
    assert told == [f"The return structure does not name {field}."]


@pytest.mark.parametrize("shape", ["\n```json\n{shape}\n```\n", "{shape}\n\nor, if it fails:\n\n{shape}", "{yaml}"])
def test_a_return_structure_may_be_fenced_shown_twice_or_yaml(shape: str) -> None:
    head, found, tail = PLANNER.partition("<structure>")
    given, rest = tail.split("</structure>")
    yaml = "status: failed\nsummary: s\nartifacts: []\nmetadata:\nsession_id: x\n"
    text = head + found + shape.format(shape=given, yaml=yaml) + "</structure>" + rest
    assert [finding.rule for finding in judge(read(PLANNER_AT, text))] == []


def test_the_session_may_be_shown_among_the_metadata_unless_it_is_asked_for_beside_them() -> None:
    inside = edited(
        PLANNER, '"session_id": "sess', '"session": "sess', '{"task_number"', '{"session_id": "x", "task_number"'
    )
    assert judge(read(PLANNER_AT, inside)) == []
    [finding] = judge(read(PLANNER_AT, inside), reading=ProtocolOptions(session_id_place=SessionIdPlace.BESIDE))
    assert finding.message == "The return structure does not name session_id."


def test_a_structure_need_not_name_the_session_beside_the_metadata_if_that_is_not_its_place() -> None:
    file = read(PLANNER_AT, edited(PLANNER, '"session_id": "sess', '"session": "sess'))
    assert judge(file, reading=ProtocolOptions(session_id_place=SessionIdPlace.METADATA)) == []
