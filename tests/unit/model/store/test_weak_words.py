"""Words that claim little: a guessed parent, and an end that nobody saw. Whoever knows better outweighs them."""

from itertools import permutations

import pytest
from tests.telling import handle_of

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.delegation import Link
from delegtop.model.events import Ended, Ending, Event, Outcome, Resumed, Started
from delegtop.model.forest import Forest
from delegtop.model.states import State

NOW = Millis(1_790_000_000_000)


def place(line: int) -> Origin:
    return Origin("log", line, line)


ROOT = Started("root", NOW, place(1))
CALLER = Started("caller", NOW, place(2), parent="root")
GUESS = Started("child", NOW, place(3), parent="root", guessed=True)
NAMED = Started("child", NOW, place(4), parent="caller")
UNSEEN = Ended("child", None, place(5), Outcome.UNKNOWN, Ending.UNSEEN)


def forest_of(*events: Event) -> Forest:
    forest = Forest()
    for event in events:
        forest.apply([event])
    forest.advance(NOW)
    return forest


def child(forest: Forest) -> int:
    return handle_of(forest, "child")


@pytest.mark.parametrize("events", permutations([ROOT, CALLER, GUESS]))
def test_a_guessed_parent_is_drawn_as_inferred(events: tuple[Event, ...]) -> None:
    forest = forest_of(*events)
    assert forest.parent(child(forest)) == forest.find("root")
    assert forest.link(child(forest)) is Link.INFERRED


@pytest.mark.parametrize("events", permutations([ROOT, CALLER, GUESS, NAMED]))
def test_a_named_parent_outweighs_a_guessed_one_and_they_do_not_disagree(events: tuple[Event, ...]) -> None:
    forest = forest_of(*events)
    assert forest.parent(child(forest)) == forest.find("caller")
    assert forest.link(child(forest)) is Link.EXPLICIT
    assert forest.delegation(child(forest)).claims == ()


def test_a_guessed_parent_that_was_never_seen_is_no_inferred_link() -> None:
    forest = forest_of(GUESS)
    assert forest.link(child(forest)) is Link.EXPLICIT
    assert forest.parent(child(forest)) is None


def test_what_nobody_can_know_of_is_unknown_for_ever_and_says_why() -> None:
    forest = forest_of(GUESS, UNSEEN)
    for later in (0, 10**6, 10**10):
        forest.advance(Millis(NOW + later))
        assert forest.state(child(forest)) is State.UNKNOWN
    assert "nothing tells whether it is still at work" in forest.reason(child(forest))


@pytest.mark.parametrize("by", [each for each in Ending if each is not Ending.UNSEEN])
@pytest.mark.parametrize("turned", [False, True])
def test_any_end_that_was_told_outweighs_one_that_nobody_saw_and_they_do_not_disagree(by: Ending, turned: bool) -> None:
    told = Ended("child", NOW, place(6), Outcome.COMPLETED, by)
    forest = forest_of(GUESS, *((told, UNSEEN) if turned else (UNSEEN, told)))
    assert forest.state(child(forest)) is State.COMPLETED
    assert forest.delegation(child(forest)).claims == ()


FOUND = [Ended("child", Millis(NOW + late), place(6), Outcome.LOST, Ending.GONE) for late in (0, 5_000, 10_000)]


@pytest.mark.parametrize("events", permutations(FOUND))
def test_a_process_found_gone_again_was_gone_when_it_was_first_found_so(events: tuple[Event, ...]) -> None:
    facts = forest_of(NAMED, *events).delegation(0)
    assert facts.ended_at == NOW
    assert facts.claims == ()


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("line", "outcome"), [(7, Outcome.LOST), (6, Outcome.UNKNOWN)])
def test_of_two_processes_or_two_ways_to_go_the_later_counts(line: int, outcome: Outcome, turned: bool) -> None:
    other = Ended("child", Millis(NOW + 9_000), place(line), outcome, Ending.GONE)
    ends = (other, FOUND[0]) if turned else (FOUND[0], other)
    facts = forest_of(NAMED, *ends).delegation(0)
    assert (facts.ended_at, facts.outcome) == (NOW + 9_000, outcome)


@pytest.mark.parametrize("events", permutations([*FOUND[:2], Resumed("child", Millis(NOW + 2_000), place(7))]))
def test_a_process_that_went_before_the_work_was_given_again_is_not_the_one_that_is_gone(
    events: tuple[Event, ...],
) -> None:
    assert forest_of(NAMED, *events).delegation(0).ended_at == NOW + 5_000
