"""Trees without rows: found by every id in them, told once, and hardly any memory for each."""

import os
import tempfile
import tracemalloc
from typing import Any

import pytest
from msgspec import structs
from tests.telling import ended, heard, started

from delegtop.model.events import Event
from delegtop.model.states import State
from delegtop.model.store import finished_trees
from delegtop.model.store.finished_trees import FinishedRow, FinishedTrees, packed_events

SOME = 4_000


def row(id: str, *events: Event, awaits: str | None = None) -> FinishedRow:
    told = events or (started(id), heard(id, 1, doing=f"at {id}"), ended(id, 2))
    return FinishedRow(id, State.COMPLETED, ("codex", "worker"), 7, awaits, packed_events(told))


def names(*ids: str) -> list[tuple[str, str]]:
    return [("", id) for id in ids]


def full(count: int) -> FinishedTrees:
    trees = FinishedTrees()
    for number in range(count):
        trees.put([row(f"s{number}")])
    return trees


@pytest.fixture(params=["on disk", "no file", "no room"])
def where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks lie in a file, or in memory where none can be had."""

    def refused(*_: Any, **__: Any) -> Any:
        raise OSError(28, "No space left on device")

    if request.param == "no file":
        monkeypatch.setattr(tempfile, "TemporaryFile", refused)
    if request.param == "no room":
        monkeypatch.setattr(os, "pwrite", lambda *_: 3)


@pytest.mark.usefixtures("where")
def test_a_tree_is_found_by_every_id_in_it_and_told_once() -> None:
    trees = full(2_000)
    family = [row("root"), row("child"), row("grandchild")]
    trees.put(family)
    for number in range(2_000, 4_000):
        trees.put([row(f"s{number}")])
    assert len(trees) == 4_003
    assert ("", "child") in trees
    found = trees.take(names("child", "s1999", "nobody"))
    assert sorted(each.id for each in found) == ["child", "grandchild", "root", "s1999"]
    assert [*found[0].events()] == [*family[[each.id for each in family].index(found[0].id)].events()]
    assert len(trees) == 3_999
    assert trees.take(names("root", "grandchild", "s1999")) == []


@pytest.mark.usefixtures("where")
def test_the_newest_come_first_and_none_twice() -> None:
    trees = full(3_000)
    trees.take(names("s2999", "s2000"))
    assert [each.id for each in trees.take_newest(2)] == ["s2998", "s2997"]
    rest = [each.id for each in trees.take_newest(10_000)]
    assert len(rest) == len({*rest}) == 2_996
    assert len(trees) == 0


def test_one_that_comes_and_goes_again_is_told_as_it_was_last() -> None:
    trees = FinishedTrees()
    trees.put([row("a", started("a"))])
    trees.take(names("a"))
    trees.put([row("a", started("a"), ended("a", 9))])
    [again] = trees.take(names("a"))
    assert len([*again.events()]) == 2


def test_all_that_wait_for_a_parent_are_found_when_it_comes() -> None:
    trees = full(500)
    trees.put([row("one", awaits="boss"), row("below")])
    trees.put([row("two", awaits="boss")])
    assert {each.id for each in trees.take(names("boss"))} == {"one", "below", "two"}
    assert ("", "one") not in trees


def test_one_id_on_two_hosts_is_two_delegations() -> None:
    trees = full(3)
    trees.put([structs.replace(row("s1"), host="dev")])
    assert (len(trees), trees.counts("dev"), trees.counts("")) == (4, {State.COMPLETED: 1}, {State.COMPLETED: 3})
    assert [each.host for each in trees.take([("dev", "s1")])] == ["dev"]
    assert (("dev", "s1") in trees, ("", "s1") in trees, len(trees)) == (False, True, 3)


def test_ids_that_share_their_digest_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finished_trees, "hash", lambda _: 7, raising=False)
    trees = full(50)
    assert [each.id for each in trees.take(names("s7"))] == ["s7"]
    assert trees.take(names("s7", "nobody")) == []
    assert len(trees) == 49


def test_what_cannot_be_packed_is_refused_whole() -> None:
    trees = FinishedTrees()
    with pytest.raises(ValueError, match="surrogates"):
        packed_events([started("half \ud800")])
    with pytest.raises(ValueError, match="surrogates"):
        trees.put([row("whole"), row("half \ud800", started("whole"))])
    assert len(trees) == 0
    assert ("", "whole") not in trees


def test_a_million_of_them_take_a_few_megabytes() -> None:
    trees = full(SOME)
    tracemalloc.start()
    try:
        for number in range(SOME, 2 * SOME):
            trees.put([row(f"s{number}")])
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken / SOME < 50, "bytes each"
