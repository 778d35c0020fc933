"""What is the matter with one delegation: whether that is a problem, of what kind, how urgent, and whom it holds up."""

from typing import Any

import pytest
from tests import judging
from tests.telling import at, forest_at, handle_of, place

from delegtop.base.clock import DAY, MINUTE
from delegtop.diagnosis.assessment import Assessment, Urgency
from delegtop.diagnosis.verdicts import Certainty, Kind
from delegtop.model.events import Ended, Ending, Event, Fault, Heard, Noted, Outcome, Phase, Report, Started
from delegtop.model.forest import Forest
from delegtop.model.states import ENDED_BADLY, State

FOR_DAYS = 3 * DAY / MINUTE


def started(id: str, minute: float = 0, **fields: Any) -> Started:
    return Started(id, at(minute), place(), **({"agent": id} | fields))


def heard(id: str, minute: float, phase: Phase | None = None) -> Heard:
    return Heard(id, at(minute), place(), "make", "bash" if phase is Phase.TOOL else None, phase=phase)


def asks(id: str, minute: float) -> Heard:
    return Heard(id, at(minute), place(), "rm", "bash", phase=Phase.PERMISSION)


def ended(id: str, minute: float, outcome: Outcome, *errors: str) -> Ended:
    report = Report(errors=tuple(Fault(message) for message in errors))
    return Ended(id, at(minute), place(), outcome, Ending.RETURN, report)


def forest(*events: Event, look: float) -> Forest:
    return forest_at(at(look), events)


def of(grown: Forest, id: str) -> Assessment:
    return judging.assessed(grown, handle_of(grown, id))


def told(grown: Forest) -> dict[str, str]:
    """The problems: whose, and of what kind."""
    return {grown.id(each.handle): each.kind for each in judging.problems(grown)}


STUCK = (
    started("top", timeout=10 * MINUTE),
    started("mid", 1, parent="top"),
    started("leaf", 2, parent="mid"),
    heard("leaf", 3, Phase.TOOL),
)

# A path that waits, or was lost, is told once: at its end


def test_of_a_stuck_path_the_leaf_is_told_and_whom_it_holds_up() -> None:
    grown = forest(*STUCK, look=30)
    assert told(grown) == {"leaf": "hung in a tool"}
    leaf = of(grown, "leaf")
    assert (leaf.urgency, leaf.rule, leaf.verdict) == (Urgency.STUCK, "VER-005", Kind.HUNG_IN_TOOL)
    assert leaf.blocks == (grown.find("mid"), grown.find("top"))
    assert leaf.sentence(grown.shown_at).endswith(" mid and top wait for it.")


def test_those_who_wait_say_on_whom_and_are_at_work() -> None:
    grown = forest(*STUCK, look=30)
    for id in ("mid", "top"):
        waits = of(grown, id)
        assert (waits.urgency, waits.problem, waits.waits_on) == (Urgency.AT_WORK, False, grown.find("leaf"))


def test_who_waits_for_one_that_is_well_is_no_problem() -> None:
    assert told(forest(started("a"), started("b", 1, parent="a"), heard("b", 3, Phase.TOOL), look=5)) == {}


def test_one_that_is_late_waiting_for_one_that_is_well_is_late_itself() -> None:
    slept = (started("a", timeout=10 * MINUTE), started("b", 1, parent="a"), heard("b", 5))
    grown = forest(*slept, heard("a", 300), look=300.5)
    assert of(grown, "b").kind == "host slept"
    assert told(grown) == {"a": "overdue"}
    assert of(grown, "a").sentence(grown.shown_at).endswith("; b, on which it waits, is at work.")


def test_of_a_lost_path_the_leaf_is_told() -> None:
    grown = forest(started("a"), started("b", 1, parent="a"), heard("b", 3, Phase.TOOL), look=FOR_DAYS)
    assert told(grown) == {"b": "lost"}
    assert of(grown, "b").blocks == (grown.find("a"),)
    assert (of(grown, "a").kind, of(grown, "a").urgency) == ("lost", Urgency.AT_REST)


# What ended badly is told where it arose


def test_an_error_that_was_handed_up_is_told_at_the_child() -> None:
    below: list[Event] = [started("a"), started("b", 1, parent="a"), ended("b", 2, Outcome.FAILED, "no disk")]
    grown = forest(*below, ended("a", 3, Outcome.FAILED, "no disk"), look=9)
    assert told(grown) == {"b": "failed"}
    assert of(grown, "a").urgency is Urgency.AT_REST


def test_who_has_more_to_say_than_its_child_is_told_too() -> None:
    below: list[Event] = [started("a"), started("b", 1, parent="a"), ended("b", 2, Outcome.FAILED, "no disk")]
    grown = forest(*below, ended("a", 3, Outcome.FAILED, "no disk", "and no paper"), look=9)
    assert told(grown) == {"a": "failed", "b": "failed"}


def test_what_was_interrupted_with_whoever_gave_it_the_work_is_told_there() -> None:
    both: list[Event] = [started("a"), started("b", 1, parent="a")]
    both += [ended("b", 2, Outcome.INTERRUPTED), ended("a", 2, Outcome.INTERRUPTED)]
    assert told(forest(*both, look=9)) == {"a": "interrupted"}


@pytest.mark.parametrize("state", sorted(ENDED_BADLY))
def test_what_ended_badly_is_urgent_for_a_while_and_then_earlier(state: State) -> None:
    outcome = Outcome(state.value)
    just, later = (forest(started("a"), ended("a", 1, outcome, "no disk"), look=look) for look in (9, 40))
    assert (of(just, "a").urgency, of(just, "a").kind) == (Urgency.JUST_ENDED, state.value)
    assert of(just, "a").sentence(just.shown_at) == f"It ended {state} 8:00 ago: no disk."
    assert (of(later, "a").urgency, of(later, "a").problem) == (Urgency.EARLIER, True)


def test_what_somebody_above_has_answered_is_over() -> None:
    both: list[Event] = [started("a"), started("b", 1, parent="a"), ended("b", 2, Outcome.FAILED)]
    assert of(forest(*both, look=3), "b").urgency is Urgency.JUST_ENDED
    assert of(forest(*both, heard("a", 2.5), look=3), "b").urgency is Urgency.EARLIER


# What presses


@pytest.mark.parametrize("outcome", [Outcome.COMPLETED, Outcome.UNKNOWN])
def test_what_is_done_or_only_unknown_is_no_problem(outcome: Outcome) -> None:
    assert told(forest(started("a"), ended("a", 1, outcome), look=9)) == {}


def test_one_that_waits_for_a_person_presses_however_short() -> None:
    permission = of(forest(started("a"), asks("a", 1), look=1.1), "a")
    assert (permission.urgency, permission.kind) == (Urgency.PERSON, "awaiting a permission")
    assert permission.certainty is Certainty.CERTAIN


def test_a_question_left_open_for_days_presses_no_more_than_what_is_lost() -> None:
    question = Heard("asks", at(1), place(), "which?", phase=Phase.ANSWER)
    grown = forest(started("asks"), question, started("lost"), heard("lost", 1), look=FOR_DAYS)
    asked = of(grown, "asks")
    assert (asked.kind, asked.urgency) == ("awaiting an answer", Urgency.EARLIER)
    assert asked.urgency is of(grown, "lost").urgency


@pytest.mark.parametrize(("look", "urgency"), [(9, Urgency.PERSON), (FOR_DAYS, Urgency.EARLIER)])
def test_what_a_person_must_look_at_is_a_problem_in_whatever_state(look: float, urgency: Urgency) -> None:
    review = Noted("a", at(2), place(), "review", "Choose one of two")
    grown = forest(started("a"), review, ended("a", 3, Outcome.COMPLETED), look=look)
    assert (of(grown, "a").state, of(grown, "a").urgency) == (State.COMPLETED, urgency)
    assert (of(grown, "a").kind, of(grown, "a").rule) == ("needs review", "FAM-001")
    assert of(grown, "a").sentence(grown.shown_at) == "A person must look before it goes on: Choose one of two."


def test_silence_is_only_possible_and_presses_less_unless_it_holds_up_somebody() -> None:
    alone = forest(started("a"), heard("a", 1), look=13)
    assert (of(alone, "a").kind, of(alone, "a").certainty) == ("silent", Certainty.POSSIBLE)
    assert of(alone, "a").urgency is Urgency.SUSPICIOUS
    awaited = forest(started("p"), started("a", parent="p"), heard("a", 1), look=13)
    assert (of(awaited, "a").kind, of(awaited, "a").urgency) == ("silent", Urgency.STUCK)
    assert not of(awaited, "a").is_sure


def test_what_is_lost_while_somebody_waits_for_it_is_stuck() -> None:
    gone = Ended("b", at(2), place(), Outcome.LOST, Ending.GONE)
    grown = forest(started("a"), started("b", 1, parent="a"), gone, heard("a", 2), look=3)
    assert (of(grown, "b").state, of(grown, "b").urgency) == (State.LOST, Urgency.STUCK)
    alone = forest(started("b", 1), gone, look=3)
    assert (of(alone, "b").state, of(alone, "b").urgency) == (State.LOST, Urgency.JUST_ENDED)


# What needs nobody


@pytest.mark.parametrize(("look", "urgency", "code"), [(12, Urgency.JUST_ENDED, 3), (90, Urgency.EARLIER, 1)])
def test_what_is_lost_is_something_to_do_now_or_was_long_ago(look: float, urgency: Urgency, code: int) -> None:
    gone = Ended("a", at(10), place(), Outcome.LOST, Ending.GONE)
    found = of(forest(started("a"), heard("a", 9), gone, look=look), "a")
    assert (found.state, found.urgency, found.exit) == (State.LOST, urgency, code)


def test_a_machine_that_slept_makes_nothing_a_problem() -> None:
    both = [heard(id, minute) for minute in range(1, 6) for id in ("a", "b")]
    grown = forest(started("a"), started("b"), *both, heard("b", 300), look=300.5)
    slept = of(grown, "a")
    assert (slept.kind, slept.urgency, slept.problem) == ("host slept", Urgency.AT_WORK, False)


def test_every_harmless_verdict_is_no_problem_and_every_other_is_one() -> None:
    """The table says which is which; this holds those that are meant."""
    well = {Kind.WAITING_ON_CHILD, Kind.HOST_SLEPT, Kind.WORKS_QUIETLY, Kind.SLEEPS}
    assert {kind for kind in Kind if kind.row.harmless} == well


def test_one_that_is_well_says_what_it_does() -> None:
    grown = forest(started("a"), heard("a", 1), look=1.5)
    well = of(grown, "a")
    assert (well.problem, well.urgency, well.verdict) == (False, Urgency.AT_WORK, None)
    assert well.sentence(grown.shown_at) == "It is at work: make."
