"""Claude Code's transcripts, record by record: who is whose child, what each is doing, and how it ended."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from tests.judging import verdict
from tests.telling import handle_of

from delegtop.agents.claude_code.transcript_dialect import ClaudeCode
from delegtop.base.clock import Millis, parse_time
from delegtop.base.origin import Origin
from delegtop.dialects import Sample, Unit
from delegtop.model.delegation import Delegation
from delegtop.model.events import OF_NONE, Deviation, Ended, Ending, Event, Heard, Outcome, Phase, Started, Surveyed
from delegtop.model.forest import Forest
from delegtop.model.policy import Policy
from delegtop.model.states import State
from delegtop.model.usage import Usage
from delegtop.sources.records import Line, Unreadable

SESSION = "0a1b2c3d-0000-4000-8000-00000000000a"
FOLDER = "/home/ada/.claude/projects/-home-ada-lantern"
TRUNK = f"{FOLDER}/{SESSION}.jsonl"
LATER = parse_time("2026-11-02T10:30:00Z")


def child_path(agent: str, ending: str = "jsonl") -> str:
    return f"{FOLDER}/{SESSION}/subagents/agent-{agent}.{ending}"


def moment(second: float) -> str:
    return f"2026-11-02T10:{int(second) // 60:02d}:{second % 60:06.3f}Z"


def at(second: float) -> Millis:
    found = parse_time(moment(second))
    assert found is not None
    return found


def record(type: str, second: float, agent: str | None = None, **more: Any) -> dict[str, Any]:
    own = {"agentId": agent} if agent else {}
    envelope = {"parentUuid": None, "isSidechain": agent is not None, "uuid": f"{type}-{agent}-{second}"}
    return {"type": type, "timestamp": moment(second), "sessionId": SESSION, **envelope, **own, **more}


def said(second: float, text: str, agent: str | None = None, **more: Any) -> dict[str, Any]:
    return record("user", second, agent, message={"role": "user", "content": text}, **more)


def answer(
    second: float, *blocks: dict[str, Any], agent: str | None = None, stop: str | None = "tool_use", **more: Any
) -> dict[str, Any]:
    message = {"id": f"msg-{second}", "model": "claude-opus-5-5", "content": list(blocks), "stop_reason": stop}
    return record("assistant", second, agent, message=message, **more)


def over(second: float, text: str, agent: str | None = None) -> dict[str, Any]:
    return answer(second, {"type": "text", "text": text}, agent=agent, stop="end_turn")


def use(id: str, tool: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": tool, "input": given}


def spawn(id: str, prompt: str = "look", tool: str = "Agent", **given: Any) -> dict[str, Any]:
    return use(id, tool, **{"description": f"Do {id}", "prompt": prompt, "subagent_type": "Explore"} | given)


def result(
    second: float, id: str, content: Any = "fine", agent: str | None = None, error: bool | None = None, **more: Any
) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": id, "content": content}
    if error is not None:
        block["is_error"] = error
    return record("user", second, agent, message={"role": "user", "content": [block]}, **more)


def launched(second: float, id: str, agent: str) -> dict[str, Any]:
    return result(second, id, toolUseResult={"isAsync": True, "status": "async_launched", "agentId": agent})


def notice(task: str, status: str, text: str = "all done", tool_use: str | None = None) -> str:
    tool = f"<tool-use-id>{tool_use}</tool-use-id>\n" if tool_use else ""
    body = (
        f"<task-id>{task}</task-id>\n{tool}<status>{status}</status>\n<summary>Agent</summary>\n<result>{text}</result>"
    )
    return f"<task-notification>\n{body}\n</task-notification>"


def lines(path: str, records: Iterable[dict[str, Any]]) -> list[Line]:
    return [Line(Origin(path, n, n), json.dumps(each).encode(), Millis(5)) for n, each in enumerate(records, 1)]


def events(*files: tuple[str, list[dict[str, Any]]], dialect: ClaudeCode | None = None) -> list[Event]:
    reader = dialect or ClaudeCode()
    found = [event for path, records in files for line in lines(path, records) for event in reader.read(line)]
    assert not [event for event in found if isinstance(event, Unreadable | Deviation)]
    return [event for event in found if not isinstance(event, Unreadable)]


def forest(*files: tuple[str, list[dict[str, Any]]]) -> Forest:
    grown = Forest()
    grown.apply(events(*files))
    assert LATER is not None
    grown.advance(LATER)
    return grown


def one(grown: Forest, id: str) -> Delegation:
    return grown.delegation(handle_of(grown, id))


def state(grown: Forest, id: str) -> State:
    return grown.state(handle_of(grown, id))


def ids(grown: Forest) -> set[str]:
    return {grown.delegation(handle).id for handle in grown.walk()}


# -- the session itself ------------------------------------------------------------------------------------------------


def test_a_session_is_a_root_row_that_is_idle_when_its_turn_is_over() -> None:
    grown = forest((TRUNK, [said(0, "hello", cwd="/home/ada", version="2.1.331"), over(4, "hi")]))
    session = one(grown, SESSION)
    assert (session.agent, session.depth, session.product, session.parent) == ("claude", 0, "claude-code", None)
    assert (session.prompt, session.model, session.cwd) == ("hello", "claude-opus-5-5", "/home/ada")
    assert (session.version, session.started_at, session.heard_at) == ("2.1.331", at(0), at(4))
    assert dict(session.refs) == {"session_id": SESSION}
    assert state(grown, SESSION) is State.IDLE


def states(records: list[dict[str, Any]], *seconds: float) -> list[tuple[State, Phase | None]]:
    """How the session stands at these seconds, to each of which only what was written by then is known."""
    found: list[tuple[State, Phase | None]] = []
    for second in seconds:
        grown = Forest()
        grown.apply(events((TRUNK, [each for each in records if each["timestamp"] <= moment(second)])))
        grown.advance(at(second))
        found.append((state(grown, SESSION), one(grown, SESSION).phase))
    return found


class TestWithoutAReasonToStop:
    """Old versions write none, and a text may be followed by a call of the same answer."""

    text = answer(4, {"type": "text", "text": "Let me see."}, stop=None)

    def test_a_text_is_the_end_of_a_turn_only_once_it_was_quiet_for_a_while(self) -> None:
        found = states([said(0, "hello"), self.text], 4, 30, 97, 123, 125)
        assert found == [(State.RUNNING, None)] * 4 + [(State.IDLE, Phase.IDLE)]

    def test_in_the_middle_of_an_answer_no_turn_is_over(self) -> None:
        call = answer(33, use("t", "Bash", command="ls"), stop=None)
        found = states([said(0, "hello"), self.text, call], 5, 32, 34, 200)
        assert [each for each, _ in found] == [State.RUNNING, State.RUNNING, State.RUNNING, State.RUNNING]
        assert found[-1] == (State.RUNNING, Phase.TOOL)

    def test_that_follows_from_time_alone_and_whoever_looks_again_sees_it(self) -> None:
        grown = Forest()
        grown.apply(events((TRUNK, [said(0, "hello"), self.text])))
        grown.advance(at(5))
        assert (state(grown, SESSION), grown.next_turn()) == (State.RUNNING, at(124) + 1)
        version = grown.version(0)
        assert grown.advance(Millis(at(124) + 1)) == {0}
        assert (state(grown, SESSION), one(grown, SESSION).phase) == (State.IDLE, Phase.IDLE)
        assert grown.version(0) > version
        grown.advance(at(60))
        assert (state(grown, SESSION), one(grown, SESSION).phase) == (State.RUNNING, None)

    def test_what_says_that_the_turn_is_over_is_believed_at_once(self) -> None:
        over = record("system", 5, subtype="turn_duration")
        assert states([said(0, "hello"), self.text, over], 5) == [(State.IDLE, Phase.IDLE)]

    def test_one_whose_process_went_after_a_text_had_ended_its_turn(self) -> None:
        grown = Forest()
        grown.apply(events((TRUNK, [said(0, "hello"), self.text])))
        grown.apply([Ended(SESSION, at(6), Origin("kernel:7", 0, 0), Outcome.LOST, Ending.GONE)])
        grown.advance(at(7))
        assert state(grown, SESSION) is State.IDLE

    def test_what_has_ended_meanwhile_does_not_come_to_rest_later(self) -> None:
        grown = Forest()
        grown.apply(events((TRUNK, [said(0, "hello"), self.text])))
        grown.apply([Ended(SESSION, at(6), Origin("other", 0, 0), Outcome.COMPLETED, Ending.RETURN)])
        for second in (7, 200, 8):
            grown.advance(at(second))
            assert (state(grown, SESSION), one(grown, SESSION).phase) == (State.COMPLETED, Phase.IDLE)

    def test_it_rests_since_its_last_word(self) -> None:
        grown = Forest()
        grown.apply(events((TRUNK, [said(0, "hello"), self.text])))
        for second in (5, 200):
            grown.advance(at(second))
            assert one(grown, SESSION).phase_since == at(4)

    def test_it_is_not_lost_before_that_however_soon_one_is_called_lost(self) -> None:
        grown = Forest(Policy(lost_after=30_000))
        grown.apply(events((TRUNK, [said(0, "hello"), self.text])))
        for second, stands in ((5, State.RUNNING), (100, State.RUNNING), (130, State.IDLE)):
            grown.advance(at(second))
            assert state(grown, SESSION) is stands

    def test_no_model_is_waited_for_meanwhile_however_soon_one_is_called_silent(self) -> None:
        grown = Forest(Policy(silent_after=30_000))
        grown.apply(events((TRUNK, [said(0, "hello"), self.text])))
        for second in range(5, 300, 5):
            grown.advance(at(second))
            assert verdict(grown, 0) is None
            assert state(grown, SESSION) in (State.RUNNING, State.IDLE)

    def test_while_it_waits_for_an_agent_its_facts_are_those_of_the_moment(self) -> None:
        grown = Forest()
        grown.apply(events((TRUNK, [said(0, "hello"), self.text])))
        grown.apply([Started("below", at(1), Origin("other", 1, 0), parent=SESSION)])
        for second, phase in ((100, None), (130, Phase.IDLE), (90, None)):
            grown.advance(at(second))
            assert (state(grown, SESSION), one(grown, SESSION).phase) == (State.WAITING, phase)


@pytest.mark.parametrize(("told", "branch"), [("feature/wick", "feature/wick"), ("HEAD", None), ("", None)])
def test_a_session_is_on_the_branch_of_its_first_record_unless_there_is_none(told: str, branch: str | None) -> None:
    later = said(2, "more", cwd="/home/ada", gitBranch="another")
    grown = forest((TRUNK, [said(0, "hello", cwd="/home/ada", gitBranch=told), later]))
    assert one(grown, SESSION).branch == branch


@pytest.mark.parametrize(
    ("records", "phase", "tool", "doing"),
    [
        ([said(0, "go")], Phase.MODEL, None, None),
        ([said(0, "go"), record("api-request", 1, querySource="sdk")], Phase.MODEL, None, None),
        ([over(0, "done"), record("api-request", 1, querySource="generate_session_title")], Phase.IDLE, None, None),
        ([answer(0, use("t", "Bash", command="make\n  all"))], Phase.TOOL, "Bash", "make all"),
        ([answer(0, use("t", "Read", file_path="/a.py"))], Phase.TOOL, "Read", "/a.py"),
        ([answer(0, use("t", "Grep", pattern="x", path="src"))], Phase.TOOL, "Grep", "x in src"),
        ([answer(0, use("t", "mcp__odd", thing=3))], Phase.TOOL, "mcp__odd", None),
        ([answer(0, use("t", "Bash", command="a")), result(1, "t")], Phase.MODEL, None, None),
        (
            [answer(0, use("t", "AskUserQuestion", questions=[{"question": "A?"}]))],
            Phase.ANSWER,
            "AskUserQuestion",
            "A?",
        ),
        ([answer(0, spawn("c"))], Phase.CHILD, "Agent", "Do c"),
        ([answer(0, spawn("c"), use("t", "Bash", command="a"))], Phase.CHILD, "Agent", "Do c"),
        ([answer(0, use("t", "Bash", command="a"), spawn("c"))], Phase.TOOL, "Bash", "a"),
        ([answer(0, spawn("c"), use("t", "Bash", command="a")), result(1, "c")], Phase.TOOL, "Bash", "a"),
        ([answer(0, use("t", "Bash", command="a")), answer(5, use("u", "Read"))], Phase.TOOL, "Read", None),
        ([answer(0, use("t", "TaskOutput", task_id="x", block=True))], Phase.CHILD, "TaskOutput", "x"),
        ([answer(0, use("t", "Bash", command="a")), said(1, "[Request interrupted by user]")], Phase.IDLE, None, None),
        (
            [answer(0, use("t", "Edit")), result(1, "t", "no", error=True, toolUseResult="User rejected tool use")],
            Phase.IDLE,
            None,
            None,
        ),
        ([answer(0, {"type": "text", "text": "old style"}, stop=None)], Phase.IDLE, None, None),
        (
            [
                answer(0, {"type": "text", "text": "Let me see."}, stop=None),
                answer(9, use("t", "Bash", command="ls"), stop=None),
            ],
            Phase.TOOL,
            "Bash",
            "ls",
        ),
        ([answer(0, {"type": "thinking", "thinking": "hm"}, stop=None)], Phase.MODEL, None, None),
        ([said(0, "/model"), said(1, "<local-command-stdout>set</local-command-stdout>")], Phase.IDLE, None, None),
        (
            [said(0, "go"), record("system", 1, subtype="api_error", retryAttempt=3, maxRetries=10)],
            Phase.MODEL,
            None,
            "API error, retry 3 of 10",
        ),
    ],
)
def test_the_last_record_says_what_it_is_in_the_middle_of(
    records: list[dict[str, Any]], phase: Phase, tool: str | None, doing: str | None
) -> None:
    session = one(forest((TRUNK, records)), SESSION)
    assert (session.phase, session.tool, session.doing) == (phase, tool, doing)


def test_tokens_are_counted_once_for_each_message_and_without_what_the_cache_repeats() -> None:
    usage = {"input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 9_000, "output_tokens": 1}
    first, again, other = (over(second, "a") for second in (0, 1, 2))
    first["message"] |= {"id": "one", "usage": usage}
    again["message"] |= {"id": "one", "usage": usage | {"output_tokens": 4}}
    other["message"] |= {"id": "two", "usage": usage}
    assert one(forest((TRUNK, [first, again, other])), SESSION).tokens == 19 + 16
    assert one(forest((TRUNK, [again, first, other])), SESSION).tokens == 19 + 16, "the largest counts, not the last"


def test_kinds_of_tokens_are_charged_once_for_each_message_by_model_and_mode() -> None:
    def answered(second: float, id: str, output: int, model: str = "m", **more: Any) -> dict[str, Any]:
        told = over(second, "a")
        usage = {"input_tokens": 10, "cache_creation_input_tokens": 50, "cache_read_input_tokens": 900}
        told["message"] |= {"id": id, "model": model, "usage": usage | {"output_tokens": output} | more}
        return told

    kept: dict[str, Any] = {"cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 30}}
    told = [answered(0, "one", 1), answered(1, "one", 4), answered(2, "two", 1, **kept), answered(3, "three", 2, "n")]
    told += [answered(4, "four", 1, speed="fast"), answered(5, "five", 9, "<synthetic>")]
    told += [answered(6, "six", 1, cache_read_input_tokens=300_000)]
    assert one(forest((TRUNK, told)), SESSION).usage == (
        Usage("m", 20, 5, 1_800, 70, 30),
        Usage("m", 10, 1, 900, 50, fast=True),
        Usage("m", 10, 1, 300_000, 50, over=272_000),
        Usage("n", 10, 2, 900, 50),
    )


def test_what_a_forked_session_copied_is_not_charged_again() -> None:
    told = over(1, "a")
    told["message"] |= {"id": "one", "model": "m", "usage": {"input_tokens": 10}}
    copied = told | {"forkedFrom": {"sessionId": "other", "messageUuid": "x"}}
    assert one(forest((TRUNK, [said(0, "x"), copied])), SESSION).usage == ()
    assert one(forest((TRUNK, [said(0, "x"), told])), SESSION).usage == (Usage("m", 10),)


@pytest.mark.parametrize("trunk_first", [True, False])
def test_what_is_used_to_compact_a_session_is_charged_to_it(trunk_first: bool) -> None:
    def used(second: float, id: str, tokens: int, model: str, agent: str | None = None) -> dict[str, Any]:
        told = over(second, "hm", agent)
        told["message"] |= {"id": id, "model": model, "usage": {"input_tokens": tokens}}
        return told

    child = "acompact-1"
    sums = [said(2, "Sum it up", agent=child), used(3, "c1", 5, "m", child), used(4, "c2", 7, "n", child)]
    files = [(TRUNK, [said(0, "x"), used(1, "t1", 100, "m"), used(9, "t2", 10, "m")]), (child_path(child), sums)]
    found = one(forest(*(files if trunk_first else files[::-1])), SESSION)
    assert found.usage == (Usage("m", 115), Usage("n", 7))


def test_the_name_a_person_gave_goes_before_the_programs() -> None:
    titles = [
        {"type": "ai-title", "aiTitle": "By the program", "sessionId": SESSION},
        {"type": "custom-title", "customTitle": "By hand", "sessionId": SESSION},
    ]
    assert one(forest((TRUNK, [said(0, "x"), *titles])), SESSION).title == "By hand"
    assert one(forest((TRUNK, [said(0, "x"), titles[0]])), SESSION).title == "By the program"
    assert one(forest((TRUNK, [*titles, said(0, "x")])), SESSION).title == "By hand"


def test_a_title_alone_is_no_session() -> None:
    named = {"type": "custom-title", "customTitle": "By hand", "sessionId": SESSION}
    assert events((TRUNK, [named, named, named])) == []


@pytest.mark.parametrize("trunk_first", [True, False])
def test_what_is_used_to_compact_a_session_is_counted_as_its_own(trunk_first: bool) -> None:
    def used(second: float, tokens: int, agent: str | None = None) -> dict[str, Any]:
        told = over(second, "hm", agent)
        told["message"]["usage"] = {"input_tokens": tokens}
        return told

    files = [
        (TRUNK, [said(0, "x"), used(1, 100), used(9, 10)]),
        (child_path("acompact-1"), [said(2, "Sum it up", agent="acompact-1"), used(3, 5, agent="acompact-1")]),
    ]
    told = events(*(files if trunk_first else files[::-1]))
    heard = [(event.at, event.tokens) for event in told if isinstance(event, Heard) and event.tokens]
    assert {event.id for event in told if not isinstance(event, OF_NONE | Surveyed)} == {SESSION}
    assert heard == [(at(1), 100), *([(at(9), 110), (None, 115)] if trunk_first else [(at(9), 115)])]


def test_the_cost_of_the_session_is_told_where_it_is_known() -> None:
    cost = {"type": "cost-state", "totalCostUSD": 0.25, "sessionId": SESSION}
    assert one(forest((TRUNK, [said(0, "x"), cost])), SESSION).cost == 0.25


def test_an_error_of_the_service_does_not_end_a_session() -> None:
    error = over(1, "API Error: 529") | {"isApiErrorMessage": True, "error": "invalid_request"}
    grown = forest((TRUNK, [said(0, "x"), error]))
    assert state(grown, SESSION) is State.IDLE
    assert one(grown, SESSION).faults[0].type == "invalid_request"


# -- agents that are waited for ----------------------------------------------------------------------------------------


def test_an_agent_that_came_back_is_completed_with_its_answer() -> None:
    came = {
        "status": "completed",
        "agentId": "a1",
        "content": [{"type": "text", "text": "42"}],
        "totalDurationMs": 7000,
    }
    grown = forest((TRUNK, [answer(0, spawn("c", name="ann")), result(7, "c", toolUseResult=came)]))
    child = one(grown, "c")
    assert (child.parent, child.depth, child.agent, child.title) == (SESSION, 1, "Explore", "Do c")
    assert (child.own_name, child.prompt, child.started_at, child.ended_at) == ("ann", "look", at(0), at(7))
    assert (child.outcome, child.report.summary, child.report.duration) == (Outcome.COMPLETED, "42", 7000)
    assert dict(child.refs) == {"session_id": SESSION, "agent_id": "a1", "tool_use_id": "c"}


@pytest.mark.parametrize(
    ("back", "outcome"),
    [
        (result(1, "c", "no", error=True, toolUseResult="Error: Agent type 'x' not found"), Outcome.FAILED),
        (result(1, "c", "API Error: 500 oops", toolUseResult={"status": "completed"}), Outcome.FAILED),
        (result(1, "c", "The user doesn't want to proceed with this", error=True), Outcome.INTERRUPTED),
        (result(1, "c", "x", error=True, toolUseResult="User rejected tool use"), Outcome.INTERRUPTED),
        (result(1, "c", "x", error=True, toolDenialKind="user-rejected"), Outcome.INTERRUPTED),
        (result(1, "c", "[Request interrupted by user for tool use]", error=True), Outcome.INTERRUPTED),
        (said(1, "[Request interrupted by user]"), Outcome.INTERRUPTED),
        (result(1, "c", [{"type": "text", "text": "done"}], toolUseResult={"totalTokens": 3}), Outcome.COMPLETED),
        (result(1, "c", "Async agent launched successfully.\nagentId: a9"), None),
        (result(1, "c", "x", toolUseResult={"status": "some_new_word"}), None),
    ],
)
def test_what_came_back_says_how_it_ended(back: dict[str, Any], outcome: Outcome | None) -> None:
    assert one(forest((TRUNK, [answer(0, spawn("c")), back])), "c").outcome is outcome


def test_the_programs_frame_around_an_answer_is_left_out() -> None:
    framed = (
        "<tools-used-before-summary>Bash</tools-used-before-summary>\n[hand-back] The report follows:\n  All\n  good\n"
    )
    text = f"{framed}agentId: a1 (use SendMessage)\n<usage>tool_uses: 1</usage>"
    grown = forest((TRUNK, [answer(0, spawn("c")), result(1, "c", [{"type": "text", "text": text}])]))
    assert one(grown, "c").report.summary == "All\ngood"


def test_an_agent_killed_by_an_error_is_failed_whatever_its_parent_was_told() -> None:
    error = over(3, "Prompt is too long", "a1") | {"isApiErrorMessage": True, "error": "invalid_request"}
    trunk = (TRUNK, [answer(0, spawn("c")), launched(1, "c", "a1"), said(4, notice("a1", "completed"))])
    child = (child_path("a1"), [said(1, "look", "a1"), error])
    for order in ([trunk, child], [child, trunk]):
        failed = one(forest(*order), "c")
        assert (failed.outcome, failed.ended_at) == (Outcome.FAILED, at(4))
        assert failed.report.errors[0].message == "Prompt is too long"
        assert {claim.value for claim in failed.claims if claim.field == "outcome"} == {"failed", "completed"}


def test_an_agent_that_failed_and_was_never_spoken_of_again_is_failed() -> None:
    error = over(3, "Overloaded", "a1") | {"isApiErrorMessage": True, "error": "overloaded"}
    grown = forest((TRUNK, [answer(0, spawn("c")), launched(1, "c", "a1")]), (child_path("a1"), [error]))
    assert state(grown, "c") is State.FAILED
    assert one(grown, "c").report.errors[0].recoverable


def test_an_agent_that_was_stopped_in_its_own_transcript_is_interrupted() -> None:
    stopped = [said(1, "look", "a1"), said(2, "[Request interrupted by user]", "a1")]
    grown = forest((TRUNK, [answer(0, spawn("c")), launched(1, "c", "a1")]), (child_path("a1"), stopped))
    assert state(grown, "c") is State.INTERRUPTED


# -- whose child -------------------------------------------------------------------------------------------------------


def nested() -> list[tuple[str, list[dict[str, Any]]]]:
    inner = [said(2, "deep", "a2"), answer(3, use("t", "Bash", command="sleep 9"), agent="a2")]
    outer = [said(1, "look", "a1"), answer(2, spawn("d", "deep", subagent_type="Plan"), agent="a1")]
    return [
        (TRUNK, [answer(0, spawn("c"))]),
        (child_path("a1"), outer),
        (child_path("a2"), inner),
        (child_path("a1", "meta.json"), [{"agentType": "Explore", "toolUseId": "c"}]),
        (child_path("a2", "meta.json"), [{"agentType": "Plan", "toolUseId": "d", "parentAgentId": "a1"}]),
    ]


def test_agents_within_agents_hang_below_each_other_in_whatever_order_the_files_are_read() -> None:
    files = nested()
    for turn in range(len(files)):
        grown = forest(*files[turn:], *files[:turn])
        assert ids(grown) == {SESSION, "c", "d"}
        child, inner = one(grown, "c"), one(grown, "d")
        assert (child.parent, child.depth, inner.parent, inner.depth) == (SESSION, 1, "c", 2)
        assert (inner.tool, inner.doing, inner.phase) == ("Bash", "sleep 9", Phase.TOOL)
        assert child.phase is Phase.CHILD


@pytest.mark.parametrize(
    "link",
    [
        [launched(1, "c", "a1")],
        [result(1, "c", "Async agent launched successfully.\nagentId: a1 (internal ID)")],
        [record("progress", 1, parentToolUseID="c", data={"type": "agent_progress", "agentId": "a1", "message": {}})],
        [],
    ],
    ids=["result", "words", "progress", "prompt"],
)
def test_every_version_has_its_own_way_to_say_which_agent_it_is(link: list[dict[str, Any]]) -> None:
    trunk = (TRUNK, [answer(0, spawn("c")), *link])
    child = (child_path("a1"), [said(1, "look", "a1"), answer(2, use("t", "Read", file_path="/x"), agent="a1")])
    for order in ([trunk, child], [child, trunk]):
        found = one(forest(*order), "c")
        assert (found.tool, dict(found.refs)["agent_id"]) == ("Read", "a1")


def test_agents_with_the_same_prompt_are_not_guessed_at() -> None:
    trunk = (TRUNK, [answer(0, spawn("c"), spawn("d"))])
    child = (child_path("a1"), [said(1, "look", "a1"), answer(2, use("t", "Read", file_path="/x"), agent="a1")])
    grown = forest(trunk, child)
    assert (one(grown, "c").tool, one(grown, "d").tool) == (None, None)


def test_an_agent_whose_file_lies_beside_its_parents_is_found_by_the_session_its_records_name() -> None:
    flat = [said(1, "other words", "1a2b3c4d"), over(2, "done", "1a2b3c4d")]
    came = {"status": "completed", "agentId": "1a2b3c4d", "content": [{"type": "text", "text": "done"}]}
    grown = forest(
        (f"{FOLDER}/agent-1a2b3c4d.jsonl", flat), (TRUNK, [answer(0, spawn("c")), result(3, "c", toolUseResult=came)])
    )
    assert one(grown, "c").model == "claude-opus-5-5"
    assert ids(grown) == {SESSION, "c"}


def inline(second: float, uuid: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {
        "type": "user",
        "timestamp": moment(second),
        "sessionId": SESSION,
        "isSidechain": True,
        "uuid": uuid,
        "parentUuid": parent,
    } | more


def test_agents_within_their_parents_file_are_told_apart_by_their_chains() -> None:
    def tool(command: str) -> dict[str, Any]:
        return {"content": [use(command, "Bash", command=command)]}

    trunk = [
        answer(0, spawn("c", "one", tool="Task"), spawn("d", "two", tool="Task")),
        inline(1, "d1", None, message={"content": "two"}),
        inline(1, "c1", None, message={"content": "one"}),
        inline(2, "c2", "c1", type="assistant", message=tool("make one")),
        inline(2, "d2", "d1", type="assistant", message=tool("make two")),
        inline(2, "e2", "never seen", type="assistant", message=tool("lost")),
    ]
    grown = forest((TRUNK, trunk))
    assert (one(grown, "c").doing, one(grown, "d").doing) == ("make one", "make two")
    assert one(grown, SESSION).phase is Phase.CHILD
    assert ids(grown) == {SESSION, "c", "d"}


def test_helpers_that_nobody_started_are_not_shown() -> None:
    helpers = [
        (child_path("acompact-1"), [said(1, "Sum up", "acompact-1"), over(2, "sum", "acompact-1")]),
        (f"{FOLDER}/agent-00112233.jsonl", [said(1, "Warmup", "00112233"), over(2, "ready", "00112233")]),
    ]
    assert ids(forest((TRUNK, [said(0, "x")]), *helpers)) == {SESSION}


def test_a_child_of_a_session_whose_file_is_missing_is_not_shown() -> None:
    assert not ids(forest(*nested()[1:]))


def test_the_same_agent_id_in_two_sessions_is_two_agents() -> None:
    other = SESSION.replace("a", "b")
    trunk = (TRUNK, [answer(0, spawn("c")), launched(1, "c", "a1")])
    stranger = f"{FOLDER}/{other}/subagents/agent-a1.jsonl"
    grown = forest(trunk, (stranger, [answer(2, use("t", "Bash", command="x"), agent="a1")]))
    assert one(grown, "c").tool is None


def test_what_a_forked_session_copied_is_not_started_again() -> None:
    other = SESSION.replace("a", "b")
    copy = answer(0, spawn("c")) | {"sessionId": other, "forkedFrom": {"sessionId": SESSION}}
    grown = forest((TRUNK, [answer(0, spawn("c"))]), (f"{FOLDER}/{other}.jsonl", [copy]))
    assert one(grown, "c").parent == SESSION
    assert not one(grown, "c").claims


# -- agents in the background ------------------------------------------------------------------------------------------


def carriers(text: str) -> dict[str, dict[str, Any]]:
    return {
        "user": said(9, text, origin={"kind": "task-notification"}),
        "queue": {"type": "queue-operation", "operation": "enqueue", "timestamp": moment(9), "content": text},
        "attachment": record("attachment", 9, attachment={"type": "queued_command", "prompt": text}),
    }


@pytest.mark.parametrize("carrier", ["user", "queue", "attachment"])
@pytest.mark.parametrize(
    ("status", "outcome"),
    [("completed", Outcome.COMPLETED), ("failed", Outcome.FAILED), ("killed", Outcome.INTERRUPTED), ("odd", None)],
)
def test_the_end_of_a_background_agent_arrives_by_three_carriers(
    carrier: str, status: str, outcome: Outcome | None
) -> None:
    started = [answer(0, spawn("c")), launched(1, "c", "a1")]
    grown = forest((TRUNK, [*started, carriers(notice("a1", status))[carrier]]))
    assert one(grown, "c").outcome is outcome
    assert one(grown, "c").ended_at == (at(9) if outcome else None)


def test_a_notice_that_comes_by_all_carriers_is_told_once() -> None:
    text = notice("a1", "completed", tool_use="c")
    trunk = [answer(0, spawn("c")), launched(1, "c", "a1"), *carriers(text).values()]
    assert len([event for event in events((TRUNK, trunk)) if isinstance(event, Ended)]) == 1


def test_a_notice_about_an_agents_agent_may_arrive_in_the_session_before_that_agent_is_known() -> None:
    trunk = [answer(0, spawn("c")), launched(1, "c", "a1"), said(9, notice("a2", "completed"))]
    outer = [said(1, "look", "a1"), answer(2, spawn("d", "deep"), agent="a1")]
    outer.append(result(3, "d", "Async agent launched successfully.\nagentId: a2 (internal)", agent="a1"))
    for order in ([(TRUNK, trunk), (child_path("a1"), outer)], [(child_path("a1"), outer), (TRUNK, trunk)]):
        assert one(forest(*order), "d").outcome is Outcome.COMPLETED


def poll(second: float, status: str, id: str = "p") -> list[dict[str, Any]]:
    told = {"retrieval_status": "success", "task": {"task_id": "a1", "task_type": "local_agent", "status": status}}
    asked = answer(second, use(id, "TaskOutput", task_id="a1", block=True, timeout=60_000))
    return [asked, result(second + 1, id, toolUseResult=told)]


def test_a_poll_says_until_when_it_waits_and_how_the_agent_ended() -> None:
    started = [answer(0, spawn("c")), launched(1, "c", "a1")]
    running = one(forest((TRUNK, [*started, *poll(2, "running")])), "c")
    assert running.outcome is None
    assert running.wait is not None
    assert (running.wait.until, running.wait.by) == (at(62), "TaskOutput 60 s")
    assert one(forest((TRUNK, [*started, *poll(2, "completed")])), "c").ended_at == at(3)


def test_a_poll_after_the_notice_does_not_move_the_end() -> None:
    trunk = [answer(0, spawn("c")), launched(1, "c", "a1"), said(4, notice("a1", "completed")), *poll(50, "completed")]
    assert one(forest((TRUNK, trunk)), "c").ended_at == at(4)


def test_a_poll_told_in_words_counts_and_one_of_a_shell_command_does_not() -> None:
    def told(kind: str) -> list[dict[str, Any]]:
        words = f"<retrieval_status>success</retrieval_status>\n<task_id>a1</task_id>\n<task_type>{kind}</task_type>\n"
        asked = answer(2, use("p", "TaskOutput", task_id="a1"))
        return [
            answer(0, spawn("c")),
            launched(1, "c", "a1"),
            asked,
            result(3, "p", words + "<status>completed</status>"),
        ]

    assert one(forest((TRUNK, told("local_agent"))), "c").outcome is Outcome.COMPLETED
    assert one(forest((TRUNK, told("local_bash"))), "c").outcome is None


def test_a_message_wakes_an_agent_that_had_stopped() -> None:
    stopped = [answer(0, spawn("c", name="ann")), launched(1, "c", "a1"), said(4, notice("a1", "completed"))]
    woken = [answer(5, use("s", "SendMessage", to="ann", message="more")), result(6, "s", "it was resumed with it")]
    again = said(30, notice("a1", "completed", "second", tool_use="s"))
    assert one(forest((TRUNK, [*stopped, *woken])), "c").outcome is None
    ended = one(forest((TRUNK, [*stopped, *woken, again])), "c")
    assert (ended.ended_at, ended.report.summary, ended.resumed_at) == (at(30), "second", at(5))


def test_a_message_to_an_inbox_wakes_nobody() -> None:
    stopped = [answer(0, spawn("c", name="ann")), launched(1, "c", "a1"), said(4, notice("a1", "completed"))]
    sent = [answer(5, use("s", "SendMessage", to="ann", message="more")), result(6, "s", "Message sent to ann's inbox")]
    assert one(forest((TRUNK, [*stopped, *sent])), "c").outcome is Outcome.COMPLETED


def test_an_agent_that_is_given_work_after_its_turn_goes_on() -> None:
    trunk = [answer(0, spawn("c")), launched(1, "c", "a1"), said(4, notice("a1", "completed"))]
    child = [said(1, "look", "a1"), over(3, "done", "a1"), said(6, notice("a2", "completed"), "a1")]
    found = one(forest((TRUNK, trunk), (child_path("a1"), child)), "c")
    assert (found.outcome, found.resumed_at, found.phase) == (None, at(6), Phase.MODEL)


def test_a_sidecar_that_says_finished_ends_an_agent_of_which_nobody_told() -> None:
    trunk = (TRUNK, [answer(0, spawn("c")), launched(1, "c", "a1")])
    child = (child_path("a1"), [said(1, "look", "a1"), over(3, "done", "a1")])
    meta = (child_path("a1", "meta.json"), [{"agentType": "Explore", "toolUseId": "c", "finished": True}])
    assert one(forest(trunk, child), "c").outcome is None
    for order in ([trunk, child, meta], [meta, child, trunk]):
        assert (one(forest(*order), "c").outcome, one(forest(*order), "c").ended_at) == (Outcome.COMPLETED, at(3))


def test_a_mate_that_works_in_a_session_of_its_own_hangs_below_the_one_that_started_it() -> None:
    mate = "11111111-2222-4333-8444-555555555555"
    spawned = {"status": "teammate_spawned", "agent_id": "ann@crew", "name": "ann", "team_name": "crew"}
    trunk = [answer(0, spawn("c", name="ann", team_name="crew")), result(1, "c", toolUseResult=spawned)]
    work = answer(3, use("t", "Bash", command="make"), teamName="crew", agentName="ann") | {"sessionId": mate}
    goodbye = '<teammate-message teammate_id="ann">{"type": "shutdown_approved"}</teammate-message>'
    for order in ([0, 1], [1, 0]):
        files = [(TRUNK, trunk), (f"{FOLDER}/{mate}.jsonl", [work])]
        grown = forest(*(files[n] for n in order))
        assert ids(grown) == {SESSION, "c"}
        assert one(grown, "c").doing == "make"
    assert one(forest((TRUNK, [*trunk, said(9, goodbye)])), "c").outcome is Outcome.COMPLETED


# -- workflows ---------------------------------------------------------------------------------------------------------


def workflow() -> list[tuple[str, list[dict[str, Any]]]]:
    run = {"isAsync": True, "status": "async_launched", "runId": "wf_1", "taskId": "w1", "workflowName": "sweep"}
    place = f"{FOLDER}/{SESSION}/subagents/workflows/wf_1"
    progress = [{"type": "workflow_agent", "agentId": "w2", "label": "sort", "state": "failed", "error": "broke"}]
    return [
        (TRUNK, [answer(0, use("w", "Workflow", script="x")), result(1, "w", toolUseResult=run)]),
        (f"{place}/agent-w1a.jsonl", [said(2, "sweep it", "w1a"), over(3, "swept", "w1a")]),
        (f"{place}/agent-w1a.meta.json", [{"agentType": "workflow-subagent"}]),
        (
            f"{place}/journal.jsonl",
            [
                {"type": "launched"},
                {"type": "started", "key": "k", "agentId": "w1a", "label": "sweep"},
                {"type": "result", "key": "k", "agentId": "w1a", "result": {"swept": 3}},
            ],
        ),
        (
            f"{FOLDER}/{SESSION}/workflows/wf_1.json",
            [{"runId": "wf_1", "status": "completed", "workflowName": "sweep", "workflowProgress": progress}],
        ),
    ]


def test_a_workflow_is_a_row_and_its_agents_hang_below_it_in_any_order() -> None:
    files = workflow()
    for turn in range(len(files)):
        grown = forest(*files[turn:], *files[:turn])
        first, second = one(grown, f"{SESSION}/w1a"), one(grown, f"{SESSION}/w2")
        assert ids(grown) == {SESSION, "w", first.id, second.id}
        assert (one(grown, "w").agent, one(grown, "w").title) == ("workflow", "sweep")
        assert one(grown, "w").outcome is Outcome.COMPLETED
        assert (first.parent, first.depth, first.started_at, first.title) == ("w", 2, at(2), "sweep")
        assert (first.outcome, first.report.summary) == (Outcome.COMPLETED, '{"swept": 3}')
        assert (second.outcome, second.report.errors[0].message) == (Outcome.FAILED, "broke")


def test_a_workflow_is_over_when_its_notice_comes() -> None:
    files = workflow()[:1]
    files[0][1].append(said(9, notice("w1", "killed")))
    assert one(forest(*files), "w").outcome is Outcome.INTERRUPTED


# -- odd input ---------------------------------------------------------------------------------------------------------


def test_two_records_on_one_line_are_both_read() -> None:
    glued = json.dumps(said(0, "x")) + json.dumps(answer(1, spawn("c")))
    found = [*ClaudeCode().read(Line(Origin(TRUNK, 1, 0), glued.encode()))]
    assert {event.id for event in found if isinstance(event, Started)} == {SESSION, "c"}


def test_a_field_of_the_wrong_type_costs_that_field_alone() -> None:
    odd = answer(1, spawn("c"), {"type": "text", "text": 3}) | {"cwd": 7, "version": "2"}
    reader = ClaudeCode()
    found = [event for line in lines(TRUNK, [odd]) for event in reader.read(line)]
    assert {event.id for event in found if isinstance(event, Started)} == {SESSION, "c"}
    assert {event.detail for event in found if isinstance(event, Deviation)} == {"cwd", "text"}


def test_records_of_unknown_types_and_without_a_time_are_passed_over() -> None:
    odd: list[dict[str, Any]] = [{"type": "brand-new"}, {"type": "mode", "sessionId": SESSION}, {}, {"type": "user"}]
    assert ids(forest((TRUNK, [*odd, said(0, "x"), *odd]))) == {SESSION}


def test_a_file_that_is_named_otherwise_takes_the_session_its_records_name() -> None:
    assert ids(forest(("/tmp/saved copy.jsonl", [said(0, "x")]))) == {SESSION}
    bare = {"type": "user", "timestamp": moment(0), "uuid": "u", "message": {"content": "x"}}
    assert ids(forest(("/tmp/bare.jsonl", [bare]))) == {"bare"}


# -- recognising, and telling again ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "head", "sure"),
    [
        (TRUNK, said(0, "x"), True),
        (TRUNK, {"type": "queue-operation", "operation": "enqueue", "sessionId": SESSION, "content": "x"}, True),
        (TRUNK, {"type": "summary", "summary": "x", "leafUuid": "y"}, True),
        (TRUNK, {"type": "user", "message": {}, "session_id": "s", "uuid": "u", "parent_tool_use_id": None}, False),
        (TRUNK, {"hook_event_name": "Stop", "session_id": "s"}, False),
        (TRUNK, {"event": "register", "at": moment(0)}, False),
        (TRUNK, {"type": "session_meta", "timestamp": moment(0), "payload": {}}, False),
        (child_path("a1", "meta.json"), {"agentType": "Explore", "toolUseId": "c"}, True),
        (child_path("a1", "meta.json"), {"agentType": "x", "agentId": "a", "parentSessionId": "s"}, False),
        (child_path("a1", "meta.json"), {"name": "package"}, False),
        (f"{FOLDER}/{SESSION}/workflows/wf_1.json", {"runId": "wf_1", "workflowName": "x"}, True),
        (f"{FOLDER}/settings.json", {"permissions": {}}, False),
        (f"{FOLDER}/{SESSION}/subagents/workflows/wf_1/journal.jsonl", {"type": "launched"}, True),
        ("/tmp/journal.jsonl", {"type": "launched"}, False),
    ],
)
def test_its_files_are_told_from_others_by_their_shape(path: str, head: dict[str, Any], sure: bool) -> None:
    assert (ClaudeCode.sniff(Sample(path, json.dumps(head).encode(), True)) > 0) is sure


def test_a_first_line_longer_than_the_sample_is_recognised_too() -> None:
    head = json.dumps(said(0, "x" * 5_000)).encode()[:-2_000]
    head = b'{"parentUuid":null,"isSidechain":false,"sessionId":"s",' + head[1:]
    assert ClaudeCode.sniff(Sample(TRUNK, head, False)) > 0


def test_a_path_is_read_whatever_separates_its_names() -> None:
    folder = r"C:\Users\ada\.claude\projects\-lantern"
    paths = (rf"{folder}\{SESSION}.jsonl", rf"{folder}\{SESSION}\subagents\agent-a.meta.json")
    assert len({ClaudeCode.family(path) for path in paths}) == 1
    assert [ClaudeCode.unit_of(Sample(path, b"", True)) for path in paths] == [Unit.LINES, Unit.DOCUMENT]


@pytest.mark.parametrize("path", ["", "/", "x.jsonl", "/tmp/subagents", "subagents/workflows", "projects/x.jsonl"])
def test_a_path_that_is_none_of_a_project_is_no_trouble(path: str) -> None:
    assert ids(forest((path, [said(0, "x")]))) == {SESSION}
    assert isinstance(ClaudeCode.family(path), str)


def test_the_files_of_a_project_are_one_family() -> None:
    paths = [TRUNK, child_path("a1"), child_path("a1", "meta.json"), *(path for path, _ in workflow())]
    assert {ClaudeCode.family(path) for path in paths} == {FOLDER}
    assert ClaudeCode.family("/tmp/x/s/subagents/agent-a.jsonl") == ClaudeCode.family("/tmp/x/s.jsonl") == "/tmp/x"
    assert ClaudeCode.unit_of(Sample(child_path("a", "meta.json"), b"", True)) is Unit.DOCUMENT
    assert ClaudeCode.unit_of(Sample(TRUNK, b"", True)) is Unit.LINES


def test_a_line_is_told_again_as_what_it_was_told_for() -> None:
    reader = ClaudeCode()
    files = nested()
    events(*files, dialect=reader)
    assert reader.needle("d", files[2][0]) == b""
    assert reader.needle("d", files[1][0]) == b"d"
    again = [*reader.retell(lines(*files[2])[1])]
    assert {getattr(event, "id", None) for event in again} == {"d"}
    started = [event for event in reader.retell(lines(*files[1])[1]) if isinstance(event, Started)]
    assert [(event.id, event.parent, event.depth) for event in started] == [("d", "c", 2)]
    assert not [*reader.read(Line(Origin(TRUNK, 9, 9), b'{"type":"nothing"}'))]


def test_the_end_of_an_agent_is_told_again_too() -> None:
    reader = ClaudeCode()
    trunk = [answer(0, spawn("c")), launched(1, "c", "a1"), said(9, notice("a1", "completed"))]
    events((TRUNK, trunk), dialect=reader)
    again = [event for event in reader.retell(lines(TRUNK, trunk)[2]) if isinstance(event, Ended)]
    assert [event.id for event in again] == ["c"]


def test_of_two_records_the_later_in_the_file_counts_even_if_its_time_steps_back() -> None:
    trunk = [answer(5, use("t", "Bash", command="make")), result(4, "t")]
    session = one(forest((TRUNK, trunk)), SESSION)
    assert (session.phase, session.heard_at) == (Phase.MODEL, at(5))


def test_a_notice_is_not_taken_for_what_the_session_was_asked_to_do() -> None:
    trunk = [said(0, notice("a1", "completed")), said(1, "go on")]
    assert one(forest((TRUNK, trunk)), SESSION).prompt == "go on"


@pytest.mark.parametrize(
    "reply",
    [
        {"type": "shutdown_response", "approve": True},
        {"to": "team-lead", "message": {"type": "shutdown_response", "approve": True}},
    ],
)
def test_a_mate_that_agrees_to_leave_is_done(reply: dict[str, Any]) -> None:
    spawned = {"status": "teammate_spawned", "agent_id": "ann@crew"}
    trunk = [answer(0, spawn("c", name="ann")), result(1, "c", toolUseResult=spawned)]
    leave = answer(5, use("s", "SendMessage", **reply), teamName="crew", agentName="ann")
    for order in ([0, 1], [1, 0]):
        files = [(TRUNK, trunk), (f"{FOLDER}/11111111-2222-4333-8444-555555555555.jsonl", [leave])]
        assert one(forest(*(files[n] for n in order)), "c").outcome is Outcome.COMPLETED
