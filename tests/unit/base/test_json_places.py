"""The line on which a field of a JSON text stands, also where the text is a template or torn."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegtop.base.json_places import fault_line, lines_of, places

TEXT = """{
  "status": "failed",
  "artifacts": [
    {"type": "plan",
     "path": "a.md"},
    {
      "type": "plan",
      "path": "b, {\\"path\\": [1]}.md"
    }
  ],
  "metadata": {
    "path": ["x",
      "y"]
  },
  "errors": []
}
{"status": 1}
"""


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ("", 1),
        ("status", 2),
        ("artifacts", 3),
        ("artifacts[0]", 4),
        ("artifacts[0].path", 5),
        ("artifacts[1]", 6),
        ("artifacts[1].path", 8),
        ("metadata.path", 12),
        ("metadata.path[1]", 13),
        ("errors", 15),
    ],
)
def test_a_field_stands_on_its_line(field: str, line: int) -> None:
    assert lines_of(TEXT, [field]) == {field: line}


@pytest.mark.parametrize(
    ("field", "line"), [("summary", 1), ("artifacts[1].summary", 6), ("artifacts[7].path", 3), ("errors[0].code", 15)]
)
def test_what_is_missing_is_told_at_what_is_around_it(field: str, line: int) -> None:
    assert lines_of(TEXT, [field]) == {field: line}


def test_lines_are_counted_from_the_beginning_of_the_text_wherever_the_object_begins() -> None:
    text = f'It says "so: [1].\n\n```json\n{TEXT}```\n'
    start = text.index("{")
    assert lines_of(text, ["status", "artifacts[1].path"], start) == {"status": 5, "artifacts[1].path": 11}


def test_a_template_is_gone_through() -> None:
    text = (
        '{\n "status": "completed|failed",\n count: {N},\n "errors": [...] // if status: failed\n}\nor\n{"summary": 1}'
    )
    assert [
        place.field for place in places(text, is_one=False) if "." not in place.field and "[" not in place.field
    ] == [
        "",
        "status",
        "count",
        "errors",
        "",
        "summary",
    ]


@given(st.text(alphabet='{}[],:"\\ab/ \n', max_size=80))
def test_torn_text_has_places_within_it(text: str) -> None:
    assert all(0 <= place.offset < len(text) for place in places(text))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=12,
)


def fields_of(value: Any, name: str = "") -> list[str]:
    found = [name]
    if isinstance(value, dict):
        for key, each in value.items():
            found += fields_of(each, f"{name}.{key}".lstrip("."))
    if isinstance(value, list):
        for number, each in enumerate(value):
            found += fields_of(each, f"{name}[{number}]")
    return found


@given(st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=3), st.sampled_from([None, 0, 2]))
def test_every_field_of_a_value_is_found_once_in_its_order(value: dict[str, Any], indent: int | None) -> None:
    assert [place.field for place in places(json.dumps(value, indent=indent))] == fields_of(value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"a": 1}', None),
        ('{"a": 1}\n', None),
        ('{\n"a" 1}', 2),
        ('{\n"a": 1', 2),
        ('{"a": "NaN",\n"b": NaN}', 2),
        ('{"a": 1}\n\nand more', 3),
        ("\n\nwords", 3),
        ('<!-- AGENT_OUTPUT_START -->\n```json\n{"a": 1}\n```\n<!-- AGENT_OUTPUT_END -->\n', None),
        ('<!-- AGENT_OUTPUT_START -->\n```json\n{"a": 1,}\n```\n', 3),
        ('<!-- AGENT_OUTPUT_START -->\n```json\nsee:\n{"a": 1}\n```\n', 3),
        ('```json\n{"a": 1}\nthat is all\n```\n', 3),
        ("<!-- AGENT_OUTPUT_START -->\n```json\n\n```\n<!-- AGENT_OUTPUT_END -->\n", 4),
    ],
)
def test_the_line_on_which_a_text_stops_to_be_json_is_found(text: str, line: int | None) -> None:
    assert fault_line(text) == line


def test_lines_of_objects_have_no_fault() -> None:
    assert fault_line('{"a": 1}\n{"a": 2}\n', is_alone=False) is None
