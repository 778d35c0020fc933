"""The state of a delegation is what its records and the moment of looking amount to."""

from typing import Any

import pytest
from tests.telling import T0, forest_at, handle_of, place

from delegtop.base.clock import HOUR, MINUTE, SECOND, Millis
from delegtop.base.origin import Origin
from delegtop.model.delegation import Basis, Deadline
from delegtop.model.events import (
    Awaited,
    Described,
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Heard,
    HostMet,
    Noted,
    Outcome,
    Phase,
    Report,
    Resumed,
    Started,
    Surveyed,
    Trust,
)
from delegtop.model.forest import Forest
from delegtop.model.policy import AgentLimits, OperatorTimeout, Policy
from delegtop.model.states import State
from delegtop.protocols.standard.contract.delegation_limits import kind_of


def at(seconds: float) -> Millis:
    return Millis(int(T0 + seconds * SECOND))


def started(id: str = "sess_a", seconds: float = 0, **fields: Any) -> Started:
    return Started(id, at(seconds), place(), **fields)


def heard(id: str, seconds: float, doing: str | None = None) -> Heard:
    return Heard(id, at(seconds), place(), doing)


def returned(id: str, seconds: float, outcome: Outcome = Outcome.COMPLETED, by: Ending = Ending.RETURN) -> Ended:
    return Ended(id, at(seconds), place(), outcome, by, Report(status=outcome.value))


def forest(*events: Event, look: float, policy: Policy | None = None) -> Forest:
    return forest_at(at(look), events, policy)


def state(*events: Event, look: float, id: str = "sess_a") -> State:
    grown = forest(*events, look=look)
    return grown.state(handle_of(grown, id))


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


def test_an_empty_registry_that_was_read_first_counts_although_another_host_is_told_of_then() -> None:
    left = Surveyed(at(9), Origin("r.json", 1, 0), ())
    listed = Surveyed(at(1), Origin("r.json", 1, 0), ("sess_a",))
    grown = forest(left, look=10)
    grown.apply([HostMet(at(9), Origin("host:", 0, 0, "dev"))])
    grown.apply([listed])
    grown.advance(at(10))
    assert grown.hosts.keys() == {"", "dev"}
    assert grown.state(0) is State.UNKNOWN


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


class TestSessionsOfOtherPrograms:
    """Rows of programs that know no deadlines and no returns."""

    def test_a_session_between_two_prompts_is_idle_however_long(self) -> None:
        idle = Heard("sess_a", at(5), place(), phase=Phase.IDLE)
        assert state(started(product="codex"), idle, look=10) is State.IDLE
        assert state(started(product="codex"), idle, look=90 * 24 * 3600) is State.IDLE

    def test_an_idle_session_with_a_running_child_waits(self) -> None:
        idle = Heard("sess_a", at(5), place(), phase=Phase.IDLE)
        child = started("sess_b", 6, parent="sess_a")
        assert state(started(product="codex"), idle, child, look=10) is State.WAITING

    def test_work_given_again_undoes_the_end_before_it(self) -> None:
        resumed = Resumed("sess_a", at(30), place())
        assert state(started(), returned("sess_a", 20), resumed, look=40) is State.RUNNING
        assert state(started(), resumed, returned("sess_a", 20), look=40) is State.RUNNING
        assert state(started(), resumed, returned("sess_a", 20), returned("sess_a", 35), look=40) is State.COMPLETED

    def test_the_first_word_for_what_it_is_stays(self) -> None:
        later, earlier = (Described("sess_a", at(n), place(), title=f"said at {n}") for n in (9, 3))
        assert forest(started(), later, earlier, look=10).delegation(0).title == "said at 3"

    def test_a_later_note_replaces_the_earlier_and_an_empty_one_withdraws_it(self) -> None:
        told = [Noted("sess_a", at(n), Origin("meta.json", 1, 0), "review", text) for n, text in ((1, "look"), (2, ""))]
        assert [note.text for note in forest(started(), told[0], look=10).delegation(0).notes] == ["look"]
        assert forest(started(), *told, look=10).delegation(0).notes == ()
        assert forest(started(), *reversed(told), look=10).delegation(0).notes == ()


class TestWhoseDeadline:
    """The countdown runs against the first of: declared, timeout, operator, agent file, wait, usual, default."""

    def deadline(self, *events: Event, policy: Policy | None = None) -> Deadline | None:
        return forest(*events, look=1, policy=policy).deadline(0)

    def test_what_the_operator_set_comes_before_the_agents_file(self) -> None:
        agents = {"lean-research": AgentLimits("a.md", timeout=600 * SECOND)}
        policy = Policy(timeouts=(OperatorTimeout("lean-*", 60 * SECOND),), agents=agents)
        told = self.deadline(started(agent="lean-research"), policy=policy)
        assert told == Deadline(at(60), Basis.OPERATOR, "set for lean-*, 60 s")

    def test_an_operators_pattern_may_name_the_kind_or_the_folder(self) -> None:
        by_kind = Policy(timeouts=(OperatorTimeout("research", 60 * SECOND),))
        by_folder = Policy(timeouts=(OperatorTimeout("/home/ann/*", 60 * SECOND),))
        told: list[Event] = [started(agent="web-research", product="codex")]
        told.append(Described("sess_a", at(0), place(), cwd="/home/ann/x"))
        for policy in (by_kind, by_folder):
            found = self.deadline(*told, policy=policy)
            assert found is not None
            assert found.basis is Basis.OPERATOR

    def test_an_agents_file_gives_its_timeout_and_that_of_those_it_delegates_to(self) -> None:
        policy = Policy(agents={"lead": AgentLimits("lead.md", timeout=600 * SECOND, child_timeout=120 * SECOND)})
        told = [started(agent="lead", product="codex"), started("sess_b", 5, agent="hand", parent="sess_a")]
        grown = forest(*told, look=10, policy=policy)
        assert grown.deadline(0) == Deadline(at(600), Basis.AGENT_FILE, "lead.md, 600 s")
        assert grown.deadline(1) == Deadline(at(125), Basis.AGENT_FILE, "lead.md, 120 s")

    def test_a_wait_is_a_deadline_and_the_latest_one_counts(self) -> None:
        waits = [Awaited("sess_a", at(n), place(), at(n + 30), f"wait {n}") for n in (10, 2)]
        assert self.deadline(started(product="codex"), *waits) == Deadline(at(40), Basis.WAIT, "wait 10")
        over = Awaited("sess_a", at(0), place(), at(1), "wait 0")
        assert forest(started(product="codex"), over, look=2).deadline(0) is None

    def test_what_is_usual_is_counted_down_but_makes_nothing_overdue(self) -> None:
        done = [e for n in range(20) for e in (started(f"s{n}", 0, **CODEX), returned(f"s{n}", 10 + n))]
        grown = forest(started("sess_a", 100, **CODEX), *done, look=1000)
        assert grown.deadline(0) == Deadline(at(129), Basis.USUAL, "usual for explorer: 95 % of 20")
        assert grown.state(0) is State.SILENT

    def test_too_few_say_nothing_of_what_is_usual(self) -> None:
        done = [e for n in range(7) for e in (started(f"s{n}", 0, **CODEX), returned(f"s{n}", 10))]
        assert self.deadline(started("sess_a", 100, **CODEX), *done) is None

    def test_other_programs_get_no_default_of_the_protocol(self) -> None:
        assert self.deadline(started(agent="research")) is not None
        assert self.deadline(started(agent="research", product="claude-code")) is None


CODEX: dict[str, Any] = {"agent": "explorer", "product": "codex"}
