"""The commands that measure by hindsight: on a few facts that are made up, so that they can be relied on for many."""

from typing import Any

from tests.hindsight.make_known_durations import table
from tests.hindsight.reliability import called, judged, markdown

from delegtop.diagnosis.verdicts import Kind
from delegtop.model.known_durations import KNOWN


def fact(what: str, seconds: float, end: str = "own", **more: Any) -> dict[str, Any]:
    usual = {"repo": "r", "session": "s", "product": "claude-code", "kind": "tool", "program": "", "who": "session"}
    return {**usual, "mode": None, "parallel": 0, "label": "healthy", **more, "what": what, "s": seconds, "end": end}


def model(seconds: float, repo: str = "r") -> dict[str, Any]:
    return fact("model", seconds, kind="model", repo=repo)


def test_nothing_is_said_of_what_is_over_before_that() -> None:
    assert called(model(100)) is None
    assert called(fact("Bash", 1_000, program="make")) is None


def test_what_is_said_is_known_with_the_moment_of_the_first_word_and_its_surest() -> None:
    found = called(model(3_000))
    assert found is not None
    assert (found.kind, found.certainty, found.after) == (Kind.NO_MODEL_ANSWER, "likely", 301)
    asked = called(fact("ExitPlanMode", 40, "rejected"))
    assert asked is not None
    assert (asked.kind, asked.certainty, asked.after, asked.is_right) == (Kind.AWAITING_ANSWER, "certain", 30, True)


def test_nothing_is_judged_by_itself_and_what_is_built_in_comes_back() -> None:
    before = dict(KNOWN)
    slow = [model(400, repo="slow") for _ in range(2_000)]
    quick = [model(1, repo="quick") for _ in range(2_000)]
    found = judged([*slow, *quick])
    assert len(found) == len(slow), "those of the other repository took a second"
    assert judged([*slow, *[{**each, "repo": "slow too"} for each in slow]]) == []
    assert before == KNOWN


def test_the_table_tells_right_from_wrong_and_how_often_in_a_hundred_hours() -> None:
    facts = [fact("Edit", 300, label="needs a person", mode="default"), model(900), *(model(3_600) for _ in range(9))]
    told = markdown(facts, [each for each in map(called, facts[:2]) if each is not None])
    assert "| awaiting a permission | likely | 1 | 1 | 0 | 100 | 0.0 |" in told
    assert "| **all but questions** | any | 2 | 1 | 1 | 50 | 10.7 |" in told
    assert "Prompts for a permission open for longer than 90 s: 1 of 1 were named by then." in told


def test_what_waited_for_a_person_and_what_is_a_projects_own_is_not_built_in() -> None:
    facts = [fact("Bash", 1, program="secret-tool") for _ in range(50)]
    facts += [fact("Bash", 2_000, program="git"), fact("Edit", 90, label="needs a person"), fact("Edit", 1, "rejected")]
    found = table(facts)
    assert set(found) == {("", "tool"), ("claude-code", "Bash")}
    assert sum(found["claude-code", "Bash"]) == 50


def test_a_command_that_was_open_for_longer_than_its_program_lets_it_run_waited_for_a_person() -> None:
    facts = [fact("Bash", 3_000, program="git", mode="default"), model(3_000)]
    found = [each for each in map(called, facts) if each is not None]
    assert [(each.is_right, each.is_proved) for each in found] == [(False, True), (False, False)]
    assert "| the same, with commands that were not begun | any | 2 | 1 | 1 | 50 |" in markdown(facts, found)
