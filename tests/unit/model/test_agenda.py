"""The agenda tells whose moment has come, once, and does not keep what events have overtaken."""

from delegtop.base.clock import Millis
from delegtop.model.agenda import Agenda


def test_everyone_is_due_once_at_the_last_moment_that_was_set() -> None:
    agenda = Agenda()
    agenda.set(1, Millis(10))
    agenda.set(2, Millis(20))
    agenda.set(3, Millis(5))
    agenda.set(1, Millis(30))
    agenda.set(3, None)
    assert list(agenda.due(Millis(20))) == [2]
    assert list(agenda.due(Millis(40))) == [1]
    assert list(agenda.due(Millis(40))) == []


def test_what_is_overtaken_again_and_again_does_not_pile_up() -> None:
    agenda = Agenda()
    for at in range(100_000):
        agenda.set(at % 10, Millis(1_000_000 + at))
    assert len(agenda._moments) < 2_000
    assert sorted(agenda.due(Millis(2_000_000))) == list(range(10))
