"""Commands that were open for longer than their program lets one run, in transcripts that are made up."""

import json
from typing import Any

from tests.hindsight.past_their_limit import commands, markdown


def call(id: str, second: int, **given: Any) -> bytes:
    part = {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "git diff", **given}}
    return _line(second, "assistant", part)


def result(id: str, second: int, said: str = "") -> bytes:
    return _line(second, "user", {"type": "tool_result", "tool_use_id": id, "content": said})


def _line(second: int, role: str, part: dict[str, Any]) -> bytes:
    stamp = f"2026-03-01T10:{second // 60:02}:{second % 60:02}Z"
    return json.dumps({"type": role, "timestamp": stamp, "message": {"role": role, "content": [part]}}).encode()


def test_what_came_back_late_without_a_word_of_it_was_begun_late() -> None:
    told = [call("a", 0), result("a", 600), call("b", 600, timeout=30_000), result("b", 640)]
    assert [each.is_late and not each.was_cut for each in commands(told)] == [True, True]


def test_what_was_cut_at_its_limit_or_stayed_below_it_was_not() -> None:
    told = [call("a", 0), result("a", 121, "Command running in background with ID: b4"), call("b", 200)]
    told += [result("b", 310), call("c", 400, timeout=600_000), result("c", 900), b"{", b"3", b'{"type": "summary"}']
    assert [(each.is_late, each.was_cut) for each in commands(told)] == [(False, True), (False, False), (False, False)]


def test_they_are_counted_by_whether_a_person_may_be_asked() -> None:
    asks, free = (
        b'{"type": "user", "permissionMode": "%s", "timestamp": "x"}' % mode for mode in (b"default", b"auto")
    )
    told = [
        call("a", 0),
        result("a", 600),
        asks,
        call("b", 600),
        result("b", 900),
        free,
        call("c", 900),
        result("c", 901),
    ]
    assert markdown(list(commands(told))).splitlines()[2:] == [
        "| nobody is asked | 1 | 0 | 0 |",
        "| a person may be asked | 1 | 0 | 1 |",
        "| not told | 1 | 0 | 1 |",
    ]
