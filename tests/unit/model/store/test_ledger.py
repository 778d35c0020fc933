"""What the ledger keeps in few bytes is still what was told."""

from itertools import permutations

import pytest

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Described, Event, Heard, Noted, Started
from delegtop.model.forest import Forest


def place(line: int, source: str = "log") -> Origin:
    return Origin(source, line, line * 100)


def folded(*events: Event) -> Forest:
    forest = Forest()
    for event in events:
        forest.apply([event])
    return forest


@pytest.mark.parametrize("at", [None, 0, 1_000])
@pytest.mark.parametrize("timeout", [None, 500])
@pytest.mark.parametrize("deadline", [None, 500, 1_500, 9_999])
def test_a_declared_deadline_is_kept_whether_or_not_start_and_timeout_tell_the_same(
    at: Millis | None, timeout: int | None, deadline: Millis | None
) -> None:
    facts = folded(Started("a", at, place(1), timeout=timeout, deadline=deadline)).delegation(0)
    assert (facts.started_at, facts.timeout, facts.deadline) == (at, timeout, deadline)


def test_a_deadline_that_another_start_overrules_is_forgotten() -> None:
    odd = Started("a", Millis(5_000), place(1, "later"), timeout=100, deadline=Millis(9_999))
    plain = Started("a", Millis(1_000), place(1), timeout=500, deadline=Millis(1_500))
    for order in permutations((odd, plain)):
        assert folded(*order).delegation(0).deadline == 1_500


def test_a_line_number_no_log_has_stops_nothing() -> None:
    facts = folded(Started("a", None, Origin("log", 1 << 40, 7))).delegation(0)
    assert facts.started_origin == Origin("log", 0xFFFF_FFFF, 7)


@pytest.mark.parametrize(("line", "kept"), [(1 << 40, 0xFFFF_FFFF), (-3, 0)])
@pytest.mark.parametrize("offset", [7, 1 << 40])
@pytest.mark.parametrize("host", ["", "gpu1"])
def test_nor_does_one_of_a_sign_of_life_among_others(line: int, kept: int, offset: int, host: str) -> None:
    places = [Origin("log", 1, 10, host), Origin("log", line, offset, host), Origin("other", 3, 30, host)]
    signs = [Heard(id, Millis(at), place) for at, (id, place) in enumerate(zip("abc", places, strict=True))]
    forest = Forest()
    forest.apply(signs)
    heard = [forest.delegation(handle).heard_origin for handle in range(3)]
    assert heard == [places[0], Origin("log", kept, offset, host), places[2]]


def test_of_each_word_the_earliest_stays_and_what_is_told_again_changes_nothing() -> None:
    first = Described("a", Millis(1), place(1), title="one", cwd="/srv")
    later = Described("a", Millis(2), place(2), title="two", model="opus")
    timeless = Described("a", None, place(3), version="1.0", title="none")
    for order in permutations((first, later, timeless)):
        forest = folded(*order)
        facts = forest.delegation(0)
        assert (facts.title, facts.cwd, facts.model, facts.version) == ("one", "/srv", "opus", "1.0")
        assert not forest.apply([first, later, timeless]).touched


def test_a_later_note_of_a_kind_and_source_replaces_the_earlier_and_no_other() -> None:
    earlier = Noted("a", Millis(1), place(1), "review", "look")
    later = Noted("a", Millis(2), place(2), "review", "look again")
    elsewhere = Noted("a", Millis(1), place(1, "other"), "review", "mine")
    for order in permutations((earlier, later, elsewhere)):
        forest = folded(*order)
        assert [note.text for note in forest.delegation(0).notes] == ["look again", "mine"]
        assert not forest.apply([earlier, later, elsewhere]).touched


def test_one_start_told_twice_is_one_claim_at_its_first_place() -> None:
    told = [Started("a", Millis(1), place(line), agent="planner") for line in (1, 2)]
    named = Started("a", Millis(1), place(3), agent="planner", host="here")
    for order in permutations((*told, named)):
        forest = folded(*order)
        assert forest.delegation(0).origins == (place(1), place(3))
        assert not forest.apply([*told, named]).touched
