"""What other programs write is read without trust."""

from typing import Any

import pytest

from delegtop.base.clock import Millis
from delegtop.dialects import Sample
from delegtop.dialects.kit.coerce import (
    clip,
    command_line,
    document,
    dollars,
    gist,
    moment,
    number,
    objects,
    parsed,
    prose,
    title,
)
from delegtop.model.events import PROMPT


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-02-03T09:00:00Z", 1_770_109_200_000),
        (1_770_109_200_000, 1_770_109_200_000),
        (1_770_109_200, 1_770_109_200_000),
        (1_770_109_200.5, 1_770_109_200_500),
        ("soon", None),
        (0, None),
        (-5, None),
        (True, None),
        (1e300, None),
        (float("nan"), None),
        (None, None),
        ([], None),
    ],
)
def test_a_moment_is_an_iso_time_or_a_number_of_seconds_or_milliseconds(value: Any, expected: int | None) -> None:
    assert moment(value) == (None if expected is None else Millis(expected))


@pytest.mark.parametrize(("value", "expected"), [(7, 7), (0, 0), (-1, None), (True, None), (2**70, None), ("7", None)])
def test_a_number_is_whole_and_credible(value: Any, expected: int | None) -> None:
    assert number(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, 0.0), (0.25, 0.25), (3, 3.0), (-1, None), (True, None), ("3", None), (10**400, None), (float("inf"), None)],
)
def test_dollars_are_a_credible_sum(value: Any, expected: float | None) -> None:
    assert dollars(value) == expected


def test_a_title_is_the_first_line_that_says_something() -> None:
    assert title("\n\n  Fix \t the build \nplease") == "Fix the build"
    assert title("x" * 200) == "x" * 79 + "…"
    assert title(" \n") is None


def test_a_prompt_is_cut_and_says_so() -> None:
    assert clip("x" * PROMPT) == "x" * PROMPT
    assert clip("x" * 10_000) == "x" * (PROMPT - 1) + "…"
    assert clip("") is None


def test_prose_is_a_text_or_the_texts_of_its_parts() -> None:
    assert prose("hi") == "hi"
    assert prose([{"text": "a"}, "b", {"image": 1}, 3, {"text": None}]) == "a\nb"
    assert prose({"text": "a"}) is None


def test_arguments_may_be_a_text_that_holds_json() -> None:
    assert parsed('{"a": 1}') == {"a": 1}
    assert parsed({"a": 1}) == {"a": 1}
    assert parsed("{") is None


def test_a_call_is_told_by_its_most_telling_argument() -> None:
    assert gist({"path": "a.py", "command": ["bash", "-lc", "make all"]}) == "make all"
    assert gist({"path": "a.py", "command": 3}) == "a.py"
    assert gist({"other": "x"}) is None
    assert command_line(["git", "log", 3]) == "git log"


def test_a_sample_of_lines_gives_its_objects_and_a_document_does_not() -> None:
    lines = b'\xef\xbb\xbf{"a": 1}\n[1]\nnot json\n{"b": 2}{"c": 3}\n{"cut": '
    assert list(objects(Sample("x", lines, False))) == [{"a": 1}, {"b": 2}, {"c": 3}]
    pretty = b'{\n "a": {"b": 1},\n "c": [\n  {"d": 2},\n  {"e": 3}\n ]\n}'
    assert list(objects(Sample("x", pretty, True))) == []
    assert document(Sample("x", pretty, True)) == {"a": {"b": 1}, "c": [{"d": 2}, {"e": 3}]}
    assert document(Sample("x", pretty, False)) == {}
    assert document(Sample("x", b"[1]", True)) == {}


def test_a_log_is_no_document_and_a_document_may_stand_in_one_line() -> None:
    for log in (b'{"a": 1}\n{"b": 2}\n', b'{"a": 1}\r\n\n{"b": 2', b'\xef\xbb\xbf{"a": "}"}\n\0', b'{"a": 1e999}\nno'):
        assert document(Sample("x", log, True)) == {}
    for whole in (b'{"a": 1}', b'{"a": 1}\n', b'\xef\xbb\xbf {"a": 1}\r\n\n \xef\xbb\xbf', b'\n{"a"\n: 1}\n'):
        assert document(Sample("x", whole, True)) == {"a": 1}
    assert document(Sample("x", b'{"a": {}\n, "b": {}}\n', True)) == {"a": {}, "b": {}}
    assert document(Sample("x", b'{"a": "{}\n{}"}\n', True)) == {"a": "{}\n{}"}, "a line break that is not escaped"
