"""Of several words for one end, which counts."""

from itertools import permutations

import pytest

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Ended, Ending, Outcome
from delegtop.model.forest import Forest

TROUBLE = [outcome for outcome in Outcome if outcome is not Outcome.COMPLETED]


def ended(outcome: Outcome, line: int, at: int | None = 1_000, by: Ending = Ending.RETURN) -> Ended:
    return Ended("a", None if at is None else Millis(at), Origin("log", line, line * 100), outcome, by)


def counts(*ends: Ended) -> Outcome | None:
    """The outcome of all of them, which is the same in whatever order they come."""
    found = set()
    for order in permutations(ends):
        forest = Forest()
        forest.apply(order)
        found.add(forest.delegation(0).outcome)
    (outcome,) = found
    return outcome


@pytest.mark.parametrize("trouble", TROUBLE)
@pytest.mark.parametrize("at", [1_000, None])
def test_at_one_moment_trouble_outweighs_success_wherever_it_stands(trouble: Outcome, at: int | None) -> None:
    assert counts(ended(trouble, 1, at), ended(Outcome.COMPLETED, 2, at)) is trouble
    assert counts(ended(trouble, 2, at), ended(Outcome.COMPLETED, 1, at)) is trouble


def test_of_two_troubles_at_one_moment_the_later_record_counts() -> None:
    assert counts(ended(Outcome.PARTIAL, 1), ended(Outcome.FAILED, 2)) is Outcome.FAILED
    assert counts(ended(Outcome.PARTIAL, 2), ended(Outcome.FAILED, 1)) is Outcome.PARTIAL


def test_a_later_success_outweighs_trouble_and_a_stronger_word_outweighs_both() -> None:
    later, stronger = ended(Outcome.COMPLETED, 2, 2_000), ended(Outcome.PARTIAL, 3, 500)
    assert counts(ended(Outcome.FAILED, 1), later) is Outcome.COMPLETED
    weak = ended(Outcome.TIMEOUT, 4, 9_000, Ending.TIMEOUT)
    assert counts(weak, stronger) is Outcome.PARTIAL
