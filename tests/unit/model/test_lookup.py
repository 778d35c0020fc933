"""Which delegation somebody means by an id."""

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Started
from delegtop.model.forest import Forest
from delegtop.model.lookup import meant


def test_what_two_hosts_tell_of_under_one_id_is_named_so_that_either_can_be_meant() -> None:
    forest = Forest()
    forest.apply(Started("sess_a", Millis(0), Origin("run.jsonl", 1, 0, host)) for host in ("", "gpu1"))
    both = meant(forest, "sess_a")
    assert len(both) == 2
    assert [forest.full_id(handle) for handle in both] == [":sess_a", "gpu1:sess_a"]
    assert [meant(forest, forest.full_id(handle)) for handle in both] == [[handle] for handle in both]
