"""What is said of all delegations costs no more for each of them where very many wait for each other."""

from collections.abc import Callable

import pytest
from tests.telling import at, forest_at, place

from delegtop.base.clock import SECOND
from delegtop.model.events import Started
from delegtop.model.forest import Forest
from delegtop.report.agent_stats import gather
from delegtop.report.comparison import compare

LONG = 200


def chain() -> Forest:
    """Each waits for the next, and all are late."""
    above = [None, *(f"s{n}" for n in range(LONG - 1))]
    told = [Started(f"s{n}", at(n / 100), place(), timeout=SECOND, parent=parent) for n, parent in enumerate(above)]
    return forest_at(at(60), told)


@pytest.mark.parametrize("ask", [gather, lambda forest: compare(forest, chain(), ("a", "b"))], ids=["stats", "diff"])
def test_a_long_chain_is_not_looked_through_again_for_each_of_its_members(ask: Callable[[Forest], object]) -> None:
    forest, calls = chain(), 0

    def counted(handle: int) -> object:
        nonlocal calls
        calls += 1
        return plain(handle)

    plain = forest.delegation
    forest.delegation = counted  # type: ignore[assignment, method-assign]  # counts how often facts are looked at
    ask(forest)
    assert calls < 40 * LONG
