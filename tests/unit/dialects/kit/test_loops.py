"""The same call again and again is noted once it is a loop, and withdrawn when something else is done."""

import pytest

from delegtop.agents.opencode.story import Story
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects.kit.loops import ENOUGH, PATIENT, Repeats, words_of
from delegtop.model.events import Event, Noted

PLACE = Origin("log", 1, 0)


def call(
    repeats: Repeats, given: str = "make", times: int = 1, *, tool: str = "Bash", waits: bool = False
) -> list[str]:
    """The notes that so many calls make."""
    told: list[Noted] = []
    for _ in range(times):
        told += repeats.called("a", Millis(0), PLACE, tool, given, given, waits=waits)
    return [note.text for note in told]


def test_four_same_calls_are_nothing_and_the_fifth_is_a_loop() -> None:
    repeats = Repeats()
    assert call(repeats, times=ENOUGH - 1) == []
    assert call(repeats) == ["the same call 5 times in a row, Bash: make"]
    assert call(repeats) == ["the same call 6 times in a row, Bash: make"]


def test_another_call_withdraws_the_note_once() -> None:
    repeats = Repeats()
    call(repeats, times=ENOUGH)
    assert call(repeats, "ls") == [""]
    assert call(repeats, "pwd") == []


def test_another_tool_with_the_same_input_is_another_call() -> None:
    repeats = Repeats()
    call(repeats, times=ENOUGH - 1)
    assert call(repeats, tool="Shell") == []


def test_what_is_over_withdraws_the_note_and_counts_anew() -> None:
    repeats = Repeats()
    call(repeats, times=ENOUGH)
    assert [note.text for note in repeats.over("a", Millis(0), PLACE)] == [""]
    assert call(repeats, times=ENOUGH - 1) == []


@pytest.mark.parametrize(("given", "waits"), [("poll", True), ("sleep 30; tail log", False)])
def test_a_call_that_waits_may_be_made_many_times(given: str, waits: bool) -> None:
    repeats = Repeats()
    assert call(repeats, given, PATIENT - 1, waits=waits) == []
    assert len(call(repeats, given, waits=waits)) == 1


def test_a_call_told_again_is_not_counted_again() -> None:
    repeats = Repeats()
    assert repeats.is_new("prt_01")
    assert not repeats.is_new("prt_01")
    assert repeats.is_new("prt_02")
    assert not repeats.is_new("prt_01")


def test_input_of_any_depth_can_be_compared() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert words_of(deep) == ""
    assert words_of({"a": 1}) == words_of({"a": 1}) != words_of({"a": 2})


def test_opencode_counts_a_call_once_however_often_it_is_told() -> None:
    story = Story()
    told: list[Event] = [*story.session(PLACE, {"id": "s", "time": {"created": 1_775_034_000_001}})]
    told += story.message(
        PLACE, {"id": "m", "sessionID": "s", "role": "assistant", "time": {"created": 1_775_034_000_002}}
    )
    for number in range(ENOUGH):
        for status in ("pending", "running", "completed"):
            given = {} if status == "pending" else {"command": "make"}
            state = {"status": status, "input": given, "time": {"start": 1_775_034_000_003 + number}}
            part = {"id": f"prt_{number}", "messageID": "m", "type": "tool", "tool": "bash", "state": state}
            told += story.part(PLACE, part)
    notes = [event.text for event in told if isinstance(event, Noted)]
    assert notes == ["the same call 5 times in a row, bash: make"]
