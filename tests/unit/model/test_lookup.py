"""Which delegation somebody means by an id."""

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Started
from delegtop.model.forest import Forest
from delegtop.model.lookup import meant, told_apart


def test_what_two_hosts_tell_of_under_one_id_is_named_so_that_either_can_be_meant() -> None:
    forest = Forest()
    forest.apply(Started("sess_a", Millis(0), Origin("run.jsonl", 1, 0, host)) for host in ("", "gpu1"))
    both = meant(forest, "sess_a")
    assert len(both) == 2
    assert told_apart(forest, both) == [":sess_a", "gpu1:sess_a"]
    assert [meant(forest, name) for name in told_apart(forest, both)] == [[handle] for handle in both]


def test_one_of_many_is_named_by_its_id_alone() -> None:
    forest = Forest()
    forest.apply(Started(id, Millis(0), Origin("run.jsonl", 1, 0, host)) for id, host in (("ab", ""), ("ac", "gpu1")))
    assert told_apart(forest, meant(forest, "a")) == ["ab", "ac"]
