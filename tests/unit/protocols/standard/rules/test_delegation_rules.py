"""The rules of the delegation guide: for each one delegation that breaks it and one that does not."""

from collections.abc import Iterable
from typing import Any

import pytest
from tests import judging
from tests.telling import forest_at, handle_of

from delegtop.base.clock import MINUTE, SECOND, Millis
from delegtop.base.origin import Origin
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.rule_table import RULES
from delegtop.model.delegation import Link
from delegtop.model.events import (
    Artifact,
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Heard,
    Noted,
    Outcome,
    Report,
    Started,
    Surveyed,
    Trust,
)
from delegtop.model.forest import Forest
from delegtop.model.notes import UNSTATED
from delegtop.model.states import State

T = Millis(1_766_743_200_000)
LOG, REGISTRY = "run.jsonl", "registry.json"
COMMAND, EXECUTOR, CHILD = "sess_1766743200_aaaaaa", "sess_1766743201_bbbbbb", "sess_1766743202_cccccc"
PATH = ("orchestrator", "implement", "task-executor", "implementer")
FATAL = Fault(message="no memory left", type="execution", code="UNKNOWN_ERROR", recoverable=False)
SOFT = Fault(message="a test fails", type="execution", code="BUILD_ERROR", recoverable=True)


def at(minutes: float) -> Millis:
    return Millis(T + int(minutes * MINUTE))


def place(line: int, source: str = LOG) -> Origin:
    return Origin(source, line, line * 100)


def command(**more: object) -> Started:
    given = {"command": "implement", "task": "191", "path": PATH[:2], "depth": 0, "timeout": 7200 * SECOND} | more
    return Started(COMMAND, T, place(1), **given)  # type: ignore[arg-type]  # fields by name


def executor(**more: object) -> Started:
    given = {
        "agent": "task-executor",
        "command": "implement",
        "task": "191",
        "path": PATH[:3],
        "depth": 1,
        "timeout": 6000 * SECOND,
        "parent": COMMAND,
    } | more
    return Started(EXECUTOR, at(1), place(2), **given)  # type: ignore[arg-type]  # fields by name


def child(id: str = CHILD, start: float = 2, line: int = 3, **more: object) -> Started:
    given = {
        "agent": "implementer",
        "command": "implement",
        "task": "191",
        "path": PATH,
        "depth": 2,
        "timeout": 3600 * SECOND,
        "parent": EXECUTOR,
    } | more
    return Started(id, at(start), place(line), **given)  # type: ignore[arg-type]  # fields by name


def returned(
    id: str, minutes: float, outcome: Outcome = Outcome.COMPLETED, line: int = 9, errors: tuple[Fault, ...] = ()
) -> Ended:
    report = Report(status=outcome.value, summary="One thing. Another.", errors=errors, session_id=id)
    return Ended(id, at(minutes), place(line), outcome, Ending.RETURN, report)


HEALTHY: list[Event] = [
    command(),
    executor(),
    child(),
    Heard(CHILD, at(3), place(4), doing="edit"),
    returned(CHILD, 10),
    returned(EXECUTOR, 11),
    returned(COMMAND, 12),
]


def forest_of(events: Iterable[Event], minutes: float) -> Forest:
    return forest_at(at(minutes), events)


def found(rule: str, events: Iterable[Event], minutes: float = 20) -> list[Finding]:
    """What one rule finds, in all delegations."""
    forest = forest_of(events, minutes)
    return list(judging.all_found(forest, rules=[RULES[rule]]))


def only(findings: list[Finding]) -> Finding:
    (finding,) = findings
    return finding


DELEGATION_RULES = [id for id in RULES if id.startswith("DEL-")]


@pytest.mark.parametrize("rule", DELEGATION_RULES)
def test_a_run_that_went_well_breaks_no_rule(rule: str) -> None:
    assert not found(rule, HEALTHY)


@pytest.mark.parametrize("rule", DELEGATION_RULES)
def test_a_run_that_goes_well_breaks_no_rule(rule: str) -> None:
    assert not found(rule, HEALTHY[:4], minutes=4)


@pytest.mark.parametrize("rule", DELEGATION_RULES)
def test_every_rule_names_the_section_it_comes_from(rule: str) -> None:
    assert RULES[rule].why.startswith(("Delegation guide, ", "The structure standard's "))
    assert RULES[rule].title[0].islower()


# How it was handed out


def test_a_delegation_without_a_session_id_is_an_error() -> None:
    finding = only(found("DEL-001", [Heard("no-session-id@run.jsonl:13", T, place(13))]))
    assert finding.severity is Severity.ERROR
    assert finding.evidence == (place(13),)


def test_a_delegation_without_a_timeout_is_told_the_default_of_its_kind() -> None:
    finding = only(found("DEL-002", [child(timeout=None)]))
    assert "7200 s, the default for implementation" in finding.advice
    assert "3600 s" in only(found("DEL-002", [child(timeout=None, agent="reviewer")])).advice


def test_a_deadline_serves_as_a_timeout() -> None:
    assert not found("DEL-002", [child(timeout=None, deadline=at(30))])


def test_who_was_never_seen_to_start_is_not_blamed_for_its_context() -> None:
    events: list[Event] = [Heard(CHILD, T, place(1))]
    assert not found("DEL-002", events)
    assert not found("DEL-003", events)


def test_a_context_without_depth_or_path_is_told() -> None:
    assert "depth and path" in only(found("DEL-003", [child(depth=None, path=None)])).message
    assert "delegation path" in only(found("DEL-003", [child(path=None)])).message


DEEP = (*PATH, "git-workflow-manager", "commit-writer")


@pytest.mark.parametrize(
    ("depth", "path", "too_deep", "at_the_limit"),
    [
        (2, DEEP[:4], 0, 0),
        (3, DEEP[:5], 0, 1),
        (4, DEEP, 1, 0),
        (1, DEEP, 1, 0),
        (4, None, 1, 0),
        (3, None, 0, 1),
        (None, DEEP[:5], 0, 1),
    ],
)
def test_depth_3_is_the_last_by_claim_and_by_path(
    depth: int | None, path: tuple[str, ...] | None, too_deep: int, at_the_limit: int
) -> None:
    events: list[Event] = [child(depth=depth, path=path, agent=path[-1] if path else "helper", parent=None)]
    assert len(found("DEL-004", events)) == too_deep
    assert len(found("DEL-005", events)) == at_the_limit


@pytest.mark.parametrize("rule", ["DEL-004", "DEL-005"])
def test_the_contradiction_of_the_guide_is_named_where_the_limit_is_explained(rule: str) -> None:
    assert ">= 3 is an error" in RULES[rule].why


def test_without_depth_and_path_the_place_in_the_tree_counts() -> None:
    chain = [
        Started(f"s{level}", at(level), place(level + 1), agent=f"a{level}", parent=f"s{level - 1}" if level else None)
        for level in range(5)
    ]
    assert only(found("DEL-004", chain)).subject == "s4"
    assert only(found("DEL-005", chain)).subject == "s3"


def test_a_depth_over_the_limit_is_found_in_a_return_too_where_nobody_saw_it_handed_out() -> None:
    deep = Report(status="completed", depth=4, path=("orchestrator", "implement", "a", "b", "c", "d"), session_id=CHILD)
    finding = only(found("DEL-004", [Ended(CHILD, at(5), place(6), Outcome.COMPLETED, Ending.RETURN, deep)]))
    assert "depth 4 as its return says" in finding.message
    assert finding.evidence == (place(6),)
    claimed = Report(status="completed", depth=9, session_id=CHILD)
    assert found("DEL-004", [Ended(CHILD, at(5), place(6), Outcome.COMPLETED, Ending.RETURN, claimed)])


@pytest.mark.parametrize(
    ("path", "agent"),
    [
        (("orchestrator", "implement", "implementer", "implementer"), "implementer"),
        (("orchestrator", "implement", "reviewer", "implementer", "reviewer"), "reviewer"),
        (("orchestrator", "implement", "reviewer", "implementer"), "reviewer"),
    ],
)
@pytest.mark.parametrize("before", [(), (child(),), (child(path=None),)], ids=["alone", "handed out", "without a path"])
def test_a_cycle_is_found_in_the_path_of_a_return(path: tuple[str, ...], agent: str, before: tuple[Event, ...]) -> None:
    report = Report(status="completed", depth=2, path=path, agent=agent, session_id=CHILD)
    events = [*before, Ended(CHILD, at(5), place(6), Outcome.COMPLETED, Ending.RETURN, report)]
    finding = only(found("DEL-007", events))
    assert f"The path in its return comes back to {agent}" in finding.message
    assert finding.evidence == (place(6),)


def test_the_kind_of_agent_in_a_return_is_no_step_of_its_path() -> None:
    report = Report(status="completed", depth=2, path=PATH, agent="implementation", session_id=CHILD)
    events: list[Event] = [child(), Ended(CHILD, at(5), place(6), Outcome.COMPLETED, Ending.RETURN, report)]
    assert not found("DEL-004", events)
    assert not found("DEL-007", events)


def test_an_agent_that_hands_work_to_itself_is_a_cycle_though_its_path_leaves_it_out() -> None:
    finding = only(found("DEL-007", [child(path=PATH, agent="implementer", caller="implementer")]))
    assert 'handed to "implementer" by "implementer" itself' in finding.message


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"depth": 1, "path": (*PATH[:2], "implementer")}, ["depth 1", "does not go on"]),
        ({"depth": 3}, ["depth 3"]),
        ({"path": ("orchestrator", "plan", "task-executor", "implementer")}, ["does not go on"]),
        ({}, []),
        ({"path": PATH[:3]}, []),
    ],
)
def test_depth_and_path_go_on_from_those_of_the_declared_parent(told: dict[str, Any], words: list[str]) -> None:
    findings = found("DEL-013", [executor(), child(**told)])
    assert len(findings) == len(words)
    assert all(word in finding.message for word, finding in zip(words, findings, strict=True))


@pytest.mark.parametrize(("minutes", "told"), [(62, ""), (80, "18:00 later"), (30, "32:00 earlier")])
def test_a_deadline_that_is_not_the_start_and_the_timeout_is_told(minutes: float, told: str) -> None:
    findings = found("DEL-014", [child(deadline=at(minutes))])
    assert (told in only(findings).message) if told else not findings


def test_a_depth_that_its_path_denies_is_told() -> None:
    assert "depth 1, but its path has 4 names" in only(found("DEL-006", [child(depth=1)])).message


def test_a_path_may_leave_out_the_agent_itself() -> None:
    assert not found("DEL-006", [child(path=PATH[:3])])
    assert not found("DEL-006", [child(path=PATH[:3], agent=None)])


CIRCLE = (*PATH, "task-executor")


def test_an_agent_twice_in_a_path_is_a_cycle() -> None:
    finding = only(found("DEL-007", [child(path=CIRCLE, agent="task-executor", depth=3)]))
    assert finding.severity is Severity.ERROR
    assert "comes back to task-executor" in finding.message


def test_a_cycle_that_was_refused_is_only_a_warning() -> None:
    refusal = Fault(message="already in the path", code="CYCLE_DETECTED", recoverable=False)
    events: list[Event] = [
        child(path=CIRCLE, agent="task-executor", depth=3),
        returned(CHILD, 3, Outcome.FAILED, errors=(refusal,)),
    ]
    finding = only(found("DEL-007", events))
    assert finding.severity is Severity.WARNING
    assert finding.message.endswith("it was refused.")


def test_declared_parents_that_form_a_circle_are_told_once() -> None:
    events: list[Event] = [Started(f"s{n}", at(n), place(n), agent=f"a{n}", parent=f"s{n % 3 + 1}") for n in (1, 2, 3)]
    finding = only(found("DEL-008", events))
    assert "s1 › s2 › s3 › s1" in finding.message
    assert finding.evidence == (place(1), place(2), place(3))


def test_a_delegation_that_names_itself_as_its_parent_is_a_circle() -> None:
    assert "s1 › s1" in only(found("DEL-008", [Started("s1", T, place(1), agent="a", parent="s1")])).message


def test_a_parent_that_was_never_seen_is_no_circle() -> None:
    events: list[Event] = [child(parent="sess_1766743200_zzzzzz")]
    assert not found("DEL-008", events)
    assert "sess_1766743200_zzzzzz is in none of the sources" in only(found("DEL-011", events)).message


@pytest.mark.parametrize(
    ("agent", "seconds", "told"),
    [
        ("implementer", 7200 * 4, False),
        ("implementer", 7200 * 4 + 1, True),
        ("implementer", 720, False),
        ("implementer", 719, True),
        ("researcher", 7200 * 4, True),
        ("commit-message-writer", 1, False),
    ],
)
def test_a_timeout_far_from_the_default_of_its_kind_is_told(agent: str, seconds: int, told: bool) -> None:
    assert bool(found("DEL-009", [child(agent=agent, timeout=seconds * SECOND)])) is told


def test_the_timeout_of_a_command_is_judged_by_the_command() -> None:
    assert found("DEL-009", [command(timeout=60 * SECOND)])


def test_a_log_and_a_registry_that_disagree_are_told_field_by_field() -> None:
    listed = Started(CHILD, at(2), place(7, REGISTRY), "implementer", timeout=1800 * SECOND, depth=1, listed=True)
    findings = found("DEL-010", [child(), listed])
    assert [finding.message for finding in findings] == [
        "Its sources disagree on timeout: 3600 s, 1800 s.",
        "Its sources disagree on depth: 2, 1.",
    ]
    assert findings[0].evidence == (place(3), place(7, REGISTRY))


def test_two_delegations_under_one_session_id_are_told() -> None:
    again = Started(CHILD, at(4), place(5), agent="researcher", command="research", timeout=3600 * SECOND)
    told = [finding.message for finding in found("DEL-010", [command(), executor(), child(), again])]
    assert "Its sources disagree on agent: implementer, researcher." in told


def test_a_log_and_a_registry_that_agree_are_not_told() -> None:
    listed = Started(CHILD, at(2), place(7, REGISTRY), "implementer", timeout=3600 * SECOND, depth=2, listed=True)
    assert not found("DEL-010", [child(), listed])


def test_a_return_after_a_timeout_in_one_log_is_no_contradiction() -> None:
    gave_up = Ended(CHILD, at(62), place(8), Outcome.TIMEOUT, Ending.TIMEOUT)
    assert not found("DEL-010", [child(), gave_up, returned(CHILD, 70)])


# How it was watched over


def test_a_delegation_past_its_deadline_comes_with_the_command_to_resume_it() -> None:
    finding = only(found("DEL-020", HEALTHY[:4], minutes=63))
    assert finding.subject == CHILD
    assert finding.message == "It is 1:00 past its deadline (timeout 3600 s); last heard of 1:00:00 ago."
    assert finding.command == "/implement 191"
    assert finding.since == at(62)
    assert finding.evidence == (place(3), place(4))


def test_a_path_that_is_overdue_is_told_once_where_it_is_stuck() -> None:
    forest = forest_of(HEALTHY[:4], minutes=110)
    executor = handle_of(forest, EXECUTOR)
    assert forest.state(executor) is State.OVERDUE
    assert only(found("DEL-020", HEALTHY[:4], minutes=110)).subject == CHILD
    verdict = judging.verdict(forest, executor)
    assert verdict is not None
    assert judging.message(forest, verdict) == "It waits on implementer, 9:00 past its deadline."


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, "/implement 191"),
        ({"command": "/implement"}, "/implement 191"),
        ({"command": "format-disk"}, None),
        ({"task": "191; rm -rf ~"}, None),
        ({"task": None}, None),
    ],
)
def test_only_a_command_of_the_protocol_with_a_plain_task_is_offered(
    more: dict[str, object], expected: str | None
) -> None:
    given: dict[str, Any] = {"parent": None} | more
    assert only(found("DEL-020", [child(**given)], minutes=63)).command == expected


def test_the_command_of_an_ancestor_serves_who_names_none() -> None:
    events: list[Event] = [command(), executor(), child(command=None, task=None)]
    assert only(found("DEL-020", events, minutes=63)).command == "/implement 191"


def test_a_delegation_never_heard_of_again_is_lost() -> None:
    findings = found("DEL-021", HEALTHY[:4], minutes=60 * 30)
    assert {finding.subject for finding in findings} == {COMMAND, EXECUTOR, CHILD}
    assert all(finding.command == "/implement 191" and "inferred" in finding.message for finding in findings)
    assert not found("DEL-020", HEALTHY[:4], minutes=60 * 30)


def test_a_process_that_is_gone_is_lost() -> None:
    gone = Ended(CHILD, at(5), place(3), Outcome.LOST, Ending.GONE)
    assert "its process is gone" in only(found("DEL-021", [child(), gone])).message


LISTED = Started(CHILD, at(2), place(7, REGISTRY), "implementer", timeout=3600 * SECOND, listed=True)


ENTRY = {"agent": "implementer", "command": "implement", "timeout": 3600 * SECOND, "deadline": at(62), "listed": True}


def survey(minutes: float, *ids: str) -> Surveyed:
    return Surveyed(at(minutes), place(1, REGISTRY), ids)


def test_an_entry_that_stays_in_the_registry_past_its_deadline_says_that_nobody_monitors() -> None:
    finding = only(found("DEL-022", [LISTED, survey(5, CHILD)], minutes=72))
    assert finding.message == "The registry still lists it as running 10:00 after its deadline."
    assert finding.evidence == (place(7, REGISTRY),)
    assert not found("DEL-022", [LISTED, survey(5, CHILD)], minutes=60)


@pytest.mark.parametrize(
    ("lacks", "words"),
    [("agent", "no usable subagent"), ("command", "no usable command"), ("deadline", "no usable deadline")],
)
def test_an_entry_of_the_registry_without_what_it_is_watched_by_is_told(lacks: str, words: str) -> None:
    whole = Started(CHILD, at(2), place(7, REGISTRY), **ENTRY)  # type: ignore[arg-type]  # fields by name
    assert not found("DEL-015", [whole, survey(5, CHILD)])
    partly = Started(CHILD, at(2), place(7, REGISTRY), **ENTRY | {lacks: None})  # type: ignore[arg-type]  # as above
    finding = only(found("DEL-015", [partly, survey(5, CHILD)]))
    assert words in finding.message
    assert finding.evidence == (place(7, REGISTRY),)
    assert not found("DEL-015", [child(), partly, survey(5, CHILD)]), "a log tells the rest"


def test_an_entry_of_the_registry_without_a_status_is_told_with_what_else_it_lacks() -> None:
    unstated = Noted(CHILD, None, place(7, REGISTRY), UNSTATED, "the entry has no status")
    partly = Started(CHILD, at(2), place(7, REGISTRY), **ENTRY | {"command": None})  # type: ignore[arg-type]  # as above
    finding = only(found("DEL-015", [partly, unstated, survey(5, CHILD)]))
    assert finding.message == "Its entry in the registry has no usable command or status."
    assert finding.fields == ("command", "status")


def test_without_a_registry_nobody_can_be_blamed_for_not_monitoring() -> None:
    assert not found("DEL-022", [child()], minutes=72)


def test_a_return_after_the_deadline_is_late() -> None:
    finding = only(found("DEL-023", [child(), returned(CHILD, 70)], minutes=80))
    assert finding.message == "It returned 8:00 after its deadline."
    assert finding.evidence == (place(3), place(9))


def test_a_return_is_not_late_within_a_moment_or_by_a_time_a_model_wrote() -> None:
    assert not found("DEL-023", [child(), returned(CHILD, 62 + 1 / 60)], minutes=80)
    assert not found("DEL-023", [child(trust=Trust.MODEL), returned(CHILD, 70)], minutes=80)
    assert not found("DEL-023", [child(timeout=None), returned(CHILD, 200)], minutes=220)


def test_a_child_that_outlives_its_parent_is_an_orphan() -> None:
    events: list[Event] = [executor(), child(), returned(EXECUTOR, 4)]
    finding = only(found("DEL-024", events, minutes=30))
    assert finding.subject == CHILD
    assert finding.message == "Its parent task-executor ended completed 26:00 ago, and it is still open."
    assert finding.since == at(4)


def test_a_child_that_was_just_heard_of_when_its_parent_ended_may_come_to_its_end_by_itself() -> None:
    finding = only(found("DEL-024", [executor(), child(), returned(EXECUTOR, 4)], minutes=6))
    assert finding.message.endswith("it is still open. (possible)")


def test_the_child_of_a_lost_parent_is_not_called_an_orphan() -> None:
    late = child(start=60 * 29, timeout=60 * 60 * SECOND)
    forest = forest_of([executor(), late], minutes=60 * 29 + 1)
    parent = handle_of(forest, EXECUTOR)
    assert forest.state(parent) in (State.OVERDUE, State.LOST)
    assert not found("DEL-024", [executor(), late], minutes=60 * 29 + 1)


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.BLOCKED])
def test_a_parent_that_hides_the_failure_of_its_child_is_an_error(outcome: Outcome) -> None:
    finding = only(found("DEL-025", [executor(), child(), returned(CHILD, 5, outcome, 6), returned(EXECUTOR, 7)]))
    assert finding.subject == EXECUTOR
    assert finding.message.endswith(f"implementer ({outcome}).")
    assert finding.evidence == (place(9), place(6))


def test_a_parent_that_hands_the_error_up_hides_nothing() -> None:
    failed: list[Event] = [executor(), child(), returned(CHILD, 5, Outcome.FAILED, errors=(SOFT,))]
    assert not found("DEL-025", [*failed, returned(EXECUTOR, 7, Outcome.FAILED, errors=(SOFT,))])
    assert not found("DEL-025", [*failed, returned(EXECUTOR, 7, errors=(SOFT,))])


def test_nobody_is_accused_over_a_child_that_may_be_anothers() -> None:
    twin = Started("sess_1766743201_twin00", at(1), place(5), agent="task-executor", path=PATH[:3], task="191")
    events: list[Event] = [
        executor(parent=None),
        twin,
        child(parent=None),
        returned(CHILD, 5, Outcome.FAILED),
        returned(EXECUTOR, 7),
        returned(twin.id, 7),
    ]
    forest = forest_of(events, minutes=20)
    handle = handle_of(forest, CHILD)
    assert forest.link(handle) is Link.AMBIGUOUS
    assert not found("DEL-025", events)


def test_a_child_that_ran_out_of_time_is_hidden_as_well() -> None:
    timed_out = Ended(CHILD, at(5), place(6), Outcome.TIMEOUT, Ending.TIMEOUT)
    finding = only(found("DEL-025", [executor(), child(), timed_out, returned(EXECUTOR, 7)]))
    assert finding.severity is Severity.ERROR


def test_errors_that_say_nothing_of_the_childs_are_told() -> None:
    other = Fault(message="the tests could not be run", type="execution", code="TOOL_UNAVAILABLE", recoverable=True)
    failed: list[Event] = [executor(), child(), returned(CHILD, 5, Outcome.FAILED, 6, (SOFT,))]
    finding = only(found("DEL-025", [*failed, returned(EXECUTOR, 7, Outcome.FAILED, errors=(other,))]))
    assert finding.severity is Severity.WARNING
    quoting = Fault(message=f"implementer: {SOFT.message}", type="execution", code="UNKNOWN_ERROR", recoverable=True)
    assert not found("DEL-025", [*failed, returned(EXECUTOR, 7, Outcome.FAILED, errors=(quoting,))])


def test_a_child_that_was_tried_again_with_success_is_not_hidden() -> None:
    again = "sess_1766743500_dddddd"
    events: list[Event] = [
        executor(),
        child(),
        returned(CHILD, 5, Outcome.FAILED),
        child(again, start=6, line=5),
        returned(again, 8),
        returned(EXECUTOR, 9),
    ]
    assert not found("DEL-025", events)


def test_a_parent_that_is_silent_after_its_child_returned_may_have_missed_the_return() -> None:
    events: list[Event] = [executor(), child(), returned(CHILD, 5)]
    finding = only(found("VER-004", events, minutes=16))
    assert finding.subject == EXECUTOR
    assert "implementer ended 11:00 ago" in finding.message


def test_a_parent_that_was_heard_of_since_or_has_just_got_the_return_missed_nothing() -> None:
    events: list[Event] = [executor(), child(), returned(CHILD, 5)]
    assert not found("VER-004", events, minutes=7)
    assert not found("VER-004", [*events, Heard(EXECUTOR, at(6), place(12))], minutes=15)


def test_an_error_that_is_not_recoverable_calls_for_a_person() -> None:
    finding = only(found("DEL-027", [child(), returned(CHILD, 5, Outcome.FAILED, errors=(FATAL,))]))
    assert finding.message == "Manual intervention is required: no memory left (UNKNOWN_ERROR)."
    assert not found("DEL-027", [child(), returned(CHILD, 5, Outcome.FAILED, errors=(SOFT,))])


def test_an_error_that_is_not_recoverable_counts_without_a_return_too() -> None:
    finding = only(found("DEL-027", [child(), Erred(CHILD, at(4), place(6), FATAL)]))
    assert finding.evidence == (place(6),)


def test_an_error_that_was_handed_up_is_told_where_it_arose() -> None:
    events: list[Event] = [
        executor(),
        child(),
        returned(CHILD, 5, Outcome.FAILED, errors=(FATAL,)),
        returned(EXECUTOR, 6, Outcome.FAILED, errors=(FATAL,)),
    ]
    assert only(found("DEL-027", events)).subject == CHILD


def test_a_failure_without_a_return_or_an_error_is_unexplained() -> None:
    failed = Ended(CHILD, at(5), place(7, REGISTRY), Outcome.FAILED, Ending.REGISTRY)
    assert only(found("DEL-028", [child(), failed])).command == "/implement 191"
    assert not found("DEL-028", [child(), failed, Erred(CHILD, at(4), place(6), SOFT)])
    assert not found("DEL-028", [child(), returned(CHILD, 5, Outcome.FAILED)])


def test_a_timeout_names_what_was_left_and_how_to_resume() -> None:
    left = Report(artifacts=(Artifact("specs/draft.md"),))
    gave_up = Ended(CHILD, at(62), place(8), Outcome.TIMEOUT, Ending.TIMEOUT, left)
    finding = only(found("DEL-029", [child(), gave_up], minutes=80))
    assert finding.message == "Its caller stopped waiting after 1:00:00; it left specs/draft.md."
    assert finding.command == "/implement 191"


def test_an_entry_that_left_the_registry_without_a_return_is_told() -> None:
    events: list[Event] = [LISTED, survey(5, CHILD), survey(6)]
    assert only(found("DEL-030", events)).evidence == (place(7, REGISTRY),)
    assert not found("DEL-030", [*events, returned(CHILD, 6)])
    assert not found("DEL-030", events[:2])


# All of them


def test_a_long_chain_is_not_looked_through_again_for_each_of_its_members() -> None:
    chain: list[Event] = [
        Started(f"s{n:04}", at(n / 100), place(n + 1), agent=f"a{n}", timeout=SECOND, parent=f"s{n - 1:04}")
        for n in range(200)
    ]
    forest = forest_of(chain, minutes=60)
    rules = [RULES[id] for id in DELEGATION_RULES]
    calls = 0

    def counted(handle: int) -> object:
        nonlocal calls
        calls += 1
        return plain(handle)

    plain = forest.delegation
    forest.delegation = counted  # type: ignore[assignment, method-assign]  # counts what the rules look at
    list(judging.all_found(forest, rules=rules))
    assert calls < 40 * len(forest)


@pytest.mark.parametrize("minutes", [-1_000_000, 0, 1, 70, 10_000_000])
def test_no_facts_at_any_moment_make_a_rule_fail(minutes: float) -> None:
    events: list[Event] = [
        *HEALTHY,
        Started("s1", None, place(20), parent="s1", path=(), depth=-1, timeout=0),
        Started("s2", at(5), place(21), parent=CHILD, path=("",) * 100, depth=10**18, deadline=Millis(0)),
        Ended("s2", None, place(22), Outcome.UNKNOWN, Ending.RETURN, Report(errors=(Fault(),), session_id="")),
        Ended("s3", Millis(0), place(23), Outcome.FAILED, Ending.RETURN),
        Erred("s4", None, place(24), Fault(recoverable=False)),
        survey(3, "s5"),
        survey(4),
    ]
    for rule in DELEGATION_RULES:
        assert all(finding.message and finding.subject for finding in found(rule, events, minutes))
