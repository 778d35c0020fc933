"""Which sessions are at work, by whatever way it was learned what they told."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.histories import events, here

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.feed import open_sessions
from delegtop.feed.open_sessions import OpenSessions
from delegtop.model.events import Ended, Ending, Event, Heard, Outcome, Phase, Resumed, Started
from delegtop.model.store.ledger import Ledger
from delegtop.model.store.retelling import retold

HERE, LIST = Origin("rollout.jsonl", 1, 0), Origin("state.sqlite", 1, 0)
SESSION = Started("session", Millis(1_000), HERE, depth=0, product="codex")
TURN_OVER = Heard("session", Millis(9_000), HERE, phase=Phase.IDLE)
AGENT = Started("agent", Millis(2_000), HERE, parent="session", depth=1, product="codex")
LISTED = Started("agent", Millis(2_000), LIST, parent="session", depth=1, product="codex", listed=True)
CAME_BACK = Ended("agent", Millis(3_000), HERE, Outcome.COMPLETED, Ending.RETURN)


@pytest.fixture
def sessions() -> OpenSessions:
    return OpenSessions(lambda _origin: True)


def folded(*events: Event) -> Ledger:
    ledger = Ledger()
    ledger.apply(events, set(), set(), set(), set())
    return ledger


def test_a_sign_of_life_without_a_time_says_nothing_of_who_is_idle(sessions: OpenSessions) -> None:
    sessions.take([SESSION, TURN_OVER, Heard("session", None, HERE, cost=0.01)])
    assert sessions.at_work() == []


def test_the_latest_sign_of_life_counts_and_not_the_last_that_was_read(sessions: OpenSessions) -> None:
    sessions.take([SESSION, TURN_OVER, Heard("session", Millis(5_000), HERE, phase=Phase.MODEL)])
    assert sessions.at_work() == []


@pytest.mark.parametrize("is_first", [True, False])
def test_who_is_at_work_by_a_list_is_not_if_its_own_log_tells_of_its_end(
    is_first: bool, sessions: OpenSessions
) -> None:
    log, parents_log = folded(SESSION, TURN_OVER, AGENT, CAME_BACK), folded(SESSION, TURN_OVER, AGENT)
    if is_first:
        sessions.take_whole(log)
    sessions.take([LISTED])
    sessions.take_whole(parents_log)
    if not is_first:
        sessions.take_whole(log)
    assert sessions.at_work() == []


def test_who_was_over_and_goes_on_is_at_work(sessions: OpenSessions) -> None:
    sessions.take_whole(folded(SESSION, TURN_OVER, AGENT, CAME_BACK))
    sessions.take([LISTED])
    assert sessions.at_work() == []
    sessions.take([LISTED, Resumed("agent", Millis(20_000), HERE)])
    (session,) = sessions.at_work()
    assert [id for id, _ in session.members] == ["agent"]


def test_who_has_ended_and_of_whom_nobody_else_told_is_not_remembered(sessions: OpenSessions) -> None:
    sessions.take_whole(folded(SESSION, AGENT, CAME_BACK))
    assert [(session.id, session.members) for session in sessions.at_work()] == [("session", ())]


@settings(max_examples=200)
@given(st.lists(events, max_size=12))
def test_of_a_whole_ledger_of_this_machine_so_much_is_told_as_all_of_it_would_tell(told: list[Event]) -> None:
    ledger, first, then = folded(SESSION, *here(told)), OpenSessions(lambda _: True), OpenSessions(lambda _: True)
    for sessions, tell in ((first, open_sessions._told_of), (then, retold)):
        for row in ledger:
            sessions.take([*tell(ledger, row)])
    assert first.at_work() == then.at_work()
