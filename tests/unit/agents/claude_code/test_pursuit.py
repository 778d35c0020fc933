"""What a Claude Code agent waits for, since when, how often it asked, and in which permission mode."""

from typing import Any

import pytest
from tests.unit.agents.claude_code.test_transcript_dialect import (
    SESSION,
    TRUNK,
    answer,
    at,
    child_path,
    forest,
    ids,
    launched,
    one,
    over,
    record,
    result,
    said,
    spawn,
    use,
)

from delegtop.model.delegation import Delegation
from delegtop.model.events import Phase
from delegtop.model.notes import NO_LOG

Records = list[dict[str, Any]]
HANGS = [said(0, "go"), answer(1, use("t", "Bash", command="a")), result(3, "t")]


def asks(*seconds: float) -> Records:
    return [record("api-request", second, querySource="sdk") for second in seconds]


def progress(second: float, *blocks: dict[str, Any], call: str = "c") -> dict[str, Any]:
    """What an agent does, told in the file of its parent."""
    is_result = all(block["type"] == "tool_result" for block in blocks)
    message = {"id": None if is_result else "msg-inner", "content": list(blocks)}
    inner = {"type": "user" if is_result else "assistant", "timestamp": record("x", second)["timestamp"]}
    data = {"type": "agent_progress", "message": {**inner, "message": message}}
    return record("progress", second, parentToolUseID=call, data=data)


def returned(id: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": "fine"}


@pytest.mark.parametrize(
    ("records", "since", "asked"),
    [
        (HANGS, 3, None),
        ([*HANGS, *asks(4)], 3, 1),
        ([*HANGS, *asks(4, 304, 604)], 3, 3),
        ([*HANGS, *asks(4, 304), answer(310, {"type": "thinking", "thinking": "hm"}, stop=None)], 310, None),
        ([*HANGS, record("system", 9, subtype="api_error", retryAttempt=3, maxRetries=10)], 3, 4),
        ([said(0, "go"), over(5, "done"), *asks(9)], 9, 1),
    ],
)
def test_the_wait_for_the_model_begins_with_the_first_request_that_has_no_answer(
    records: Records, since: float, asked: int | None
) -> None:
    session = one(forest((TRUNK, records)), SESSION)
    assert (session.phase, session.phase_since, session.asked) == (Phase.MODEL, at(since), asked)


def test_asking_again_is_no_sign_that_anything_came_of_it() -> None:
    session = one(forest((TRUNK, [*HANGS, *asks(4, 304)])), SESSION)
    assert (session.heard_at, session.quiet_since) == (at(304), at(3))


def test_of_parallel_calls_the_first_without_a_result_is_what_it_is_in() -> None:
    calls = answer(1, use("a", "WebFetch", url="u"), use("b", "Read", file_path="/b"), use("c", "Edit", file_path="/c"))
    session = one(forest((TRUNK, [calls, result(2, "b")])), SESSION)
    assert (session.phase, session.tool, session.phase_since) == (Phase.TOOL, "WebFetch", at(1))
    session = one(forest((TRUNK, [calls, result(2, "b"), result(90, "a")])), SESSION)
    assert (session.tool, session.phase_since) == ("Edit", at(90)), "it was not begun before"
    assert one(forest((TRUNK, [calls, *(result(2, id) for id in "abc")])), SESSION).phase is Phase.MODEL


def test_parallel_calls_of_an_agent_told_in_its_parents_file_end_one_by_one() -> None:
    calls = [progress(2, use("r", "Read", file_path="/r")), progress(2, use("w", "WebFetch", url="u"))]
    told = [answer(1, spawn("c")), *calls, progress(4, returned("r"))]
    agent = one(forest((TRUNK, told)), "c")
    assert (agent.phase, agent.tool, agent.phase_since) == (Phase.TOOL, "WebFetch", at(4))
    agent = one(forest((TRUNK, [*told, progress(9, returned("w"))])), "c")
    assert (agent.phase, agent.phase_since) == (Phase.MODEL, at(9))


def test_a_call_whose_result_could_not_be_read_is_over_with_the_next_answer() -> None:
    session = one(forest((TRUNK, [answer(1, use("t", "browser_take_screenshot")), over(9, "There it is.")])), SESSION)
    assert (session.phase, session.tool) == (Phase.IDLE, None)


def test_a_call_has_the_time_that_it_was_given() -> None:
    session = one(forest((TRUNK, [answer(1, use("t", "Bash", command="a", timeout=600_000))])), SESSION)
    assert session.call_deadline == at(601)
    assert session.deadline is None


@pytest.mark.parametrize("first", ["said", "record"])
def test_the_permission_mode_is_the_last_that_was_told(first: str) -> None:
    early = {
        "said": said(0, "go", permissionMode="default"),
        "record": {"type": "permission-mode", "permissionMode": "default", "sessionId": SESSION},
    }[first]
    told = [early, said(1, "on", permissionMode="acceptEdits"), answer(2, use("t", "Edit", file_path="/a"))]
    assert one(forest((TRUNK, told)), SESSION).permission_mode == "acceptEdits"
    switched = {"type": "permission-mode", "permissionMode": "plan", "sessionId": SESSION}
    assert one(forest((TRUNK, [*told, switched, result(3, "t")])), SESSION).permission_mode == "plan"


def test_an_agents_own_file_tells_no_mode() -> None:
    child = [said(2, "look", "x"), answer(3, use("t", "Read"), agent="x")]
    told = [
        said(0, "go", permissionMode="default"),
        answer(1, spawn("c")),
        result(5, "c", toolUseResult={"agentId": "x"}),
    ]
    assert one(forest((TRUNK, told), (child_path("x"), child)), "c").permission_mode is None


def test_a_call_whose_result_could_not_be_read_is_over_when_the_model_is_asked() -> None:
    session = one(forest((TRUNK, [answer(1, use("t", "browser_take_screenshot")), *asks(5)])), SESSION)
    assert (session.phase, session.phase_since) == (Phase.MODEL, at(1))


# -- where nothing can be heard ----------------------------------------------------------------------------------------


def noted(agent: Delegation) -> list[str]:
    return [note.kind for note in agent.notes]


def test_an_agent_sent_to_the_background_whose_own_file_is_not_there_says_so() -> None:
    working = [answer(1, spawn("c")), progress(2, use("r", "Read", file_path="/r")), launched(3, "c", "x")]
    agent = one(forest((TRUNK, working)), "c")
    assert (agent.phase, agent.tool, noted(agent)) == (None, None, [NO_LOG])
    own = (child_path("x"), [said(2, "look", "x"), answer(9, use("t", "Bash", command="a"), agent="x")])
    for files in ([(TRUNK, working), own], [own, (TRUNK, working)]):
        agent = one(forest(*files), "c")
        assert (agent.phase, agent.tool, noted(agent)) == (Phase.TOOL, "Bash", [])


def test_a_session_begins_with_its_first_record_that_is_not_the_programs_own() -> None:
    caveat = said(0, "Caveat: The messages below were generated by the user", isMeta=True)
    assert ids(forest((TRUNK, [caveat]))) == set()
    session = one(forest((TRUNK, [caveat, said(500, "go")])), SESSION)
    assert (session.started_at, session.phase_since) == (at(500), at(500))
