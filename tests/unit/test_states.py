"""The state of a delegation is what its records and the moment of looking amount to."""

from typing import Any

import pytest

from delegtop.clock import HOUR, MINUTE, SECOND, Millis
from delegtop.model.delegation import Basis, State
from delegtop.model.events import Ended, Ending, Erred, Event, Fault, Heard, Outcome, Report, Started, Surveyed, Trust
from delegtop.model.forest import Forest
from delegtop.model.policy import Policy, kind_of
from delegtop.origin import Origin

LINES = iter(range(1, 100_000))
T0 = Millis(1_700_000_000_000)


def at(seconds: float) -> Millis:
    return Millis(int(T0 + seconds * SECOND))


def place(source: str = "run.jsonl") -> Origin:
    return Origin(source, next(LINES), 0)


def started(id: str = "sess_a", seconds: float = 0, **fields: Any) -> Started:
    return Started(id, at(seconds), place(), **fields)


def heard(id: str, seconds: float, doing: str | None = None) -> Heard:
    return Heard(id, at(seconds), place(), doing)


def returned(id: str, seconds: float, outcome: Outcome = Outcome.COMPLETED, by: Ending = Ending.RETURN) -> Ended:
    return Ended(id, at(seconds), place(), outcome, by, Report(status=outcome.value))


def forest(*events: Event, look: float, policy: Policy | None = None) -> Forest:
    grown = Forest(policy)
    grown.apply(events)
    grown.advance(at(look))
    return grown


def state(*events: Event, look: float, id: str = "sess_a") -> State:
    grown = forest(*events, look=look)
    handle = grown.find(id)
    assert handle is not None
    return grown.state(handle)


def test_it_runs_while_it_is_heard_and_within_its_deadline() -> None:
    assert state(started(timeout=600_000), heard("sess_a", 100), look=200) is State.RUNNING


def test_what_came_after_the_last_look_has_no_known_state_yet() -> None:
    grown = forest(started(timeout=HOUR), look=1)
    grown.apply([started("sess_b", 1, parent="sess_a")])
    assert grown.state(1) is State.UNKNOWN
    assert grown.blocker(0) is None
    grown.advance(at(2))
    assert grown.blocker(0) == 1


def test_it_is_overdue_one_millisecond_after_its_deadline_and_not_before() -> None:
    start = started(deadline=at(60))
    assert state(start, look=60) is State.RUNNING
    assert state(start, look=60.001) is State.OVERDUE


def test_it_is_silent_when_nothing_is_written_for_the_limit() -> None:
    start = started(timeout=HOUR)
    assert state(start, heard("sess_a", 30), look=30 + 180) is State.RUNNING
    assert state(start, heard("sess_a", 30), look=30 + 181) is State.SILENT


def test_a_registry_entry_is_never_silent_because_nobody_rewrites_it() -> None:
    entry = started(timeout=HOUR, listed=True)
    survey = Surveyed(at(1), place("registry.json"), ("sess_a",))
    assert state(entry, survey, look=3000) is State.RUNNING


def test_it_waits_while_a_child_is_active_and_no_longer() -> None:
    family = (started(timeout=HOUR), started("sess_b", 1, parent="sess_a", timeout=HOUR))
    assert state(*family, look=10) is State.WAITING
    assert state(*family, returned("sess_b", 5), look=10) is State.RUNNING


def test_waiting_reaches_up_through_every_ancestor() -> None:
    family = (started(timeout=HOUR), started("sess_b", 1, parent="sess_a"), started("sess_c", 2, parent="sess_b"))
    grown = forest(*family, look=10)
    assert [grown.state(h) for h in grown.walk()] == [State.WAITING, State.WAITING, State.RUNNING]
    blocker = grown.blocker(0)
    assert blocker is not None
    assert grown.delegation(blocker).id == "sess_c"


def test_it_is_lost_after_a_day_of_silence_past_its_deadline() -> None:
    start = started(timeout=HOUR)
    assert state(start, look=23 * 3600) is State.OVERDUE
    assert state(start, look=24 * 3600 + 1) is State.LOST


def test_a_long_deadline_is_not_called_lost_before_it_passes() -> None:
    assert state(started(timeout=48 * HOUR), look=30 * 3600) is State.SILENT


@pytest.mark.parametrize("outcome", list(Outcome))
def test_a_return_gives_its_outcome(outcome: Outcome) -> None:
    assert state(started(), returned("sess_a", 5, outcome), look=10) == outcome.value


def test_a_late_return_outweighs_the_timeout_before_it() -> None:
    timeout = returned("sess_a", 60, Outcome.TIMEOUT, Ending.TIMEOUT)
    grown = forest(started(), timeout, returned("sess_a", 90), look=100)
    assert grown.state(0) is State.COMPLETED
    assert {claim.value for claim in grown.delegation(0).claims if claim.field == "outcome"} == {"timeout", "completed"}


def test_a_non_recoverable_error_without_a_return_is_a_failure() -> None:
    error = Erred("sess_a", at(5), place(), Fault("no tool", recoverable=False))
    grown = forest(started(), error, look=10)
    assert grown.state(0) is State.FAILED
    assert grown.reason(0) == "non-recoverable error, no return seen"


def test_a_recoverable_error_does_not_end_it() -> None:
    assert (
        state(started(), Erred("sess_a", at(5), place(), Fault("hiccup", recoverable=True)), look=10) is State.RUNNING
    )


def test_an_entry_that_left_the_registry_is_unknown_until_a_return_is_seen() -> None:
    entry = started(timeout=HOUR, listed=True)
    surveys = (Surveyed(at(1), Origin("r.json", 1, 0), ("sess_a",)), Surveyed(at(9), Origin("r.json", 1, 0), ()))
    grown = forest(entry, *surveys, look=10)
    assert grown.state(0) is State.UNKNOWN
    assert grown.reason(0) == "left the registry, outcome unknown"
    assert state(entry, *surveys, returned("sess_a", 8), look=10) is State.COMPLETED


def test_a_log_that_still_hears_it_outweighs_its_leaving_the_registry() -> None:
    surveys = (Surveyed(at(1), Origin("r.json", 1, 0), ("sess_a",)), Surveyed(at(9), Origin("r.json", 1, 0), ()))
    assert state(started(timeout=HOUR), *surveys, heard("sess_a", 20), look=30) is State.RUNNING


def test_going_back_in_time_gives_the_state_of_that_moment() -> None:
    grown = forest(started(deadline=at(60)), look=100)
    assert grown.state(0) is State.OVERDUE
    grown.advance(at(10))
    assert grown.state(0) is State.RUNNING


# Deadlines


def test_a_declared_deadline_comes_before_a_timeout() -> None:
    deadline = forest(started(deadline=at(60), timeout=10_000), look=1).deadline(0)
    assert deadline is not None
    assert (deadline.at, deadline.basis) == (at(60), Basis.DEADLINE)


@pytest.mark.parametrize(
    ("agent", "command", "seconds"),
    [
        ("researcher", None, 3600),
        ("planner", "plan", 1800),
        ("lean-implementation-agent", None, 7200),
        ("status-sync-manager", "implement", 300),
        (None, "research", 3600),
    ],
)
def test_without_either_the_kind_of_work_gives_the_default(
    agent: str | None, command: str | None, seconds: int
) -> None:
    deadline = forest(started(agent=agent, command=command), look=1).deadline(0)
    assert deadline is not None
    assert (deadline.at, deadline.basis) == (at(seconds), Basis.DEFAULT)


def test_work_of_no_known_kind_has_no_deadline() -> None:
    assert forest(started(agent="reviewer"), look=1).deadline(0) is None
    assert kind_of(None, None) is None


def test_the_parents_remaining_time_caps_the_childs() -> None:
    grown = forest(started(deadline=at(60)), started("sess_b", 1, parent="sess_a", deadline=at(90)), look=10)
    deadline = grown.deadline(1)
    assert deadline is not None
    assert (deadline.at, deadline.basis) == (at(60), Basis.PARENT)


def test_a_parent_that_ended_caps_nothing() -> None:
    grown = forest(
        started(deadline=at(60)), started("sess_b", 1, parent="sess_a", deadline=at(90)), returned("sess_a", 5), look=10
    )
    deadline = grown.deadline(1)
    assert deadline is not None
    assert deadline.at == at(90)


def test_a_time_that_a_model_wrote_is_never_counted_down_from() -> None:
    assert forest(started(timeout=MINUTE, trust=Trust.MODEL), look=999).deadline(0) is None


def test_limits_are_settings() -> None:
    policy = Policy(silent_after=10 * SECOND, research_timeout=5 * SECOND)
    grown = forest(started(agent="researcher"), look=6, policy=policy)
    assert grown.state(0) is State.OVERDUE
