"""What two hosts tell under one path stays two things."""

from collections.abc import Sequence
from itertools import permutations

import pytest

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Described, Event, Heard, Noted, Started, Surveyed
from delegtop.model.forest import Forest
from delegtop.model.history.chronicle import in_order
from delegtop.model.states import State

REGISTRY = "/home/me/.delegations.json"


def place(host: str, line: int = 1) -> Origin:
    return Origin(REGISTRY, line, 0, host)


def folded(events: Sequence[Event]) -> Forest:
    forest = Forest()
    for event in events:
        forest.apply([event])
    forest.advance(Millis(3_000))
    return forest


@pytest.mark.parametrize(
    "events",
    permutations(
        (
            Started("a", Millis(1_000), place("dev"), listed=True),
            Surveyed(Millis(1_000), place("dev"), ("a",)),
            Started("b", Millis(2_000), place("gpu"), listed=True),
            Surveyed(Millis(2_000), place("gpu"), ("b",)),
        )
    ),
)
def test_a_registry_of_another_host_lets_nobody_go(events: Sequence[Event]) -> None:
    forest = folded(events)
    for id in ("a", "b"):
        handle = forest.find(id)
        assert handle is not None
        assert not forest.delegation(handle).left_registry
        assert forest.state(handle) is not State.UNKNOWN


def test_a_place_comes_back_from_the_ledger_and_from_a_checkpoint_with_its_host() -> None:
    forest = folded([Started("a", Millis(1), place("dev")), Heard("a", Millis(2), place("gpu", 2))])
    for each in (forest, forest.freeze().thaw()):
        assert (each.delegation(0).started_origin, each.delegation(1).heard_origin) == (place("dev"), place("gpu", 2))


@pytest.mark.parametrize("turned", [False, True])
def test_a_note_of_one_host_does_not_replace_that_of_another(turned: bool) -> None:
    notes = [Noted("a", Millis(at), place(host), "review", host) for at, host in ((1, "dev"), (2, "gpu"))]
    forest = folded(notes[::-1] if turned else notes)
    assert {forest.host_of(each): [note.text for note in forest.delegation(each).notes] for each in forest.walk()} == {
        "dev": ["dev"],
        "gpu": ["gpu"],
    }


def test_what_has_no_time_stands_beside_its_neighbours_of_the_same_host() -> None:
    untimed = Described("a", None, place("dev", 2), title="untimed")
    events, times = in_order(
        [
            untimed,
            Heard("a", Millis(1_000), place("dev", 1)),
            Heard("b", Millis(9_000), place("gpu", 2)),
            Heard("b", Millis(10), place("gpu", 1)),
        ]
    )
    assert times[events.index(untimed)] == 1_000


def test_a_registry_seen_once_on_each_of_two_hosts_stands_where_its_own_last_start_does() -> None:
    surveys = [Surveyed(Millis(9_000), place(host), (host,)) for host in ("dev", "gpu")]
    starts = [Started("dev", Millis(1_000), place("dev")), Started("gpu", Millis(2_000), place("gpu"))]
    events, times = in_order([*surveys, *starts])
    assert [times[events.index(survey)] for survey in surveys] == [1_000, 2_000]
