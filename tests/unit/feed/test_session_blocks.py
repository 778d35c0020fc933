"""What many sessions told lies in blocks: each of them is there as if it were alone."""

import os
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.bench.make_history import make_history
from tests.property.histories import distinct, events, here, moment
from tests.property.test_ledger_order import picture
from tests.unit.feed.test_session_index import LONG_AGO, NOW

from delegtop.base.clock import Millis, WallClock
from delegtop.base.origin import Origin
from delegtop.base.paths import index_place
from delegtop.cli import main
from delegtop.feed import file_catalogue, index_file, session_index
from delegtop.feed.index_file import IndexFile
from delegtop.feed.kept_session import KeptSession, Moments, SessionBlock, packed_files, unpack_block
from delegtop.feed.session_gathering import SessionGathering
from delegtop.feed.session_index import Place, SessionIndex, packed_blocks
from delegtop.model.events import (
    Awaited,
    Deviation,
    Ended,
    Ending,
    Erred,
    Event,
    Heard,
    HostBeat,
    HostMet,
    Noted,
    Outcome,
    ProcessSeen,
    Resumed,
    Started,
    Surveyed,
)
from delegtop.model.forest import Forest

OF_A_TIMELINE = (Erred, Noted, Awaited, Resumed, Ended)
NEIGHBOURS = (("a", "Read"), ("b", "Other"))
NEVER_KEPT = (HostMet, HostBeat, Deviation, Surveyed, ProcessSeen)


def gathered(told: Sequence[Event]) -> SessionGathering:
    found = SessionGathering()
    found.paths |= {event.origin.source for event in told}
    found.take(told)
    return found


def of_session(number: int, told: Sequence[Event]) -> list[Event]:
    """The same of others, so that no two sessions tell of one."""
    found: list[Event] = []
    for event in told:
        names = {"id": f"{number} {event.id}"}  # type: ignore[union-attr]  # those without are left out before
        if isinstance(event, Started) and event.parent is not None:
            names["parent"] = f"{number} {event.parent}"
        found.append(replace(event, **names))
    return found


def put(told: Sequence[Sequence[Event]]) -> list[Place]:
    block, places = SessionBlock(), list[Place]()
    for number, own in enumerate(told):
        session = gathered(own).keep_in(block, str(number), (), ())
        assert session is not None
        places.append((block, session))
    return places


def forest_of(told: Sequence[Event]) -> Forest:
    forest = Forest()
    forest.apply(told)
    forest.advance(moment(22))
    return forest


kept_events = st.lists(events, max_size=14).map(
    lambda batch: [each for each in distinct(here(batch)) if not isinstance(each, NEVER_KEPT)]
)


def test_a_session_takes_no_word_of_its_neighbours_along() -> None:
    origin = Origin("a.jsonl", 1, 0)
    told: list[list[Event]] = [
        [Started(id, moment(1), origin), Heard(id, moment(2), origin, None, tool)] for id, tool in NEIGHBOURS
    ]
    (kept, _) = put(told)
    ((data, _),) = packed_blocks([kept])
    block = unpack_block(data)
    assert block is not None
    assert [block.ledger.delegation(row).tool for row in block.ledger] == ["Read"]
    assert "Other" not in str(block.ledger.signs._words.things)


@settings(max_examples=100)
@given(st.lists(kept_events, min_size=1, max_size=4), st.sets(st.integers(0, 3)), st.sets(st.integers(0, 3)))
def test_some_sessions_of_a_block_tell_what_they_told(
    sessions: list[list[Event]], gone: set[int], left_out: set[int]
) -> None:
    told = [of_session(number, own) for number, own in enumerate(sessions)]
    places = [each for number, each in enumerate(put(told)) if number not in gone]
    asked = SessionIndex(None, moments=True)
    forest, heard = Forest(), set[Event]()
    for data, names in packed_blocks(places):
        block = unpack_block(data)
        assert block is not None
        assert [session.name for session in block.sessions] == names
        wanted = [session for session in block.sessions if int(session.name) not in left_out]
        asked._waiting = {session.name: (block, session) for session in wanted}
        for recalled in asked.tell():
            forest.absorb(recalled.ledger)
            heard.update(recalled.moments)
    forest.advance(moment(22))
    there = [event for number, own in enumerate(told) if number not in gone | left_out for event in own]
    plain = forest_of(there)
    assert picture(forest) == picture(plain)
    assert list(forest.sleeps(Millis(0))) == list(plain.sleeps(Millis(0)))
    assert heard == {event for event in there if isinstance(event, OF_A_TIMELINE)}


def ended(id: str, at: int, **more: object) -> Ended:
    return replace(Ended(id, Millis(at), Origin("log", at, 0), Outcome.COMPLETED, Ending.RETURN), **more)


def test_what_a_ledger_forgets_is_kept_for_who_asks_what_happened() -> None:
    told: list[Event] = [
        ended("a", 1),
        Resumed("a", Millis(2), Origin("log", 2, 0)),
        Resumed("a", Millis(3), Origin("log", 3, 0)),
        ended("a", 4),
        Noted("a", Millis(5), Origin("log", 5, 0), "retry", "once"),
        Noted("a", Millis(6), Origin("log", 6, 0), "retry", "twice"),
        ended("b", 7),
    ]
    (place,) = put([told])
    asked = SessionIndex(None, moments=True)
    asked._waiting = {"0": place}
    (recalled,) = asked.tell()
    assert set(recalled.moments) == set(told)


def test_a_session_that_cannot_be_kept_takes_no_other_with_it() -> None:
    odd = Noted("odd \ud800", Millis(1), Origin("log", 1, 0), "retry", "x")
    places = put([[ended(str(number), number)] for number in range(3)] + [[odd]] + [[ended("last", 9)]])
    assert [name for _, names in packed_blocks(places) for name in names] == ["0", "1", "2", "4"]


def test_sessions_that_tell_of_the_same_lie_in_different_blocks() -> None:
    one, two = put([[ended("same", 1)]]), put([[ended("same", 2)]])
    assert len(packed_blocks([*one, *two])) == 2
    assert len(packed_blocks([*one, *put([[ended("other", 2)]])])) == 1


def test_a_block_is_let_go_with_its_last_session(tmp_path: Path) -> None:
    index = IndexFile(tmp_path / "index.db", "now")
    index.write({}, [(b"one", ["a", "b"])], (), Millis(0))
    index.write({}, [(b"two", ["a"])], (), Millis(0))
    assert sorted(index.find_blocks(["a", "b"], Millis(0))) == [b"one", b"two"]
    index.write({}, (), ["b"], Millis(0))
    assert [*index.find_blocks(["a", "b"], Millis(0))] == [b"two"]
    assert index.summary() == index_file.IndexSummary(1, 1, 3, (tmp_path / "index.db").stat().st_size)


def test_sessions_go_with_their_block_when_there_is_no_room(tmp_path: Path) -> None:
    index = IndexFile(tmp_path / "index.db", "now", largest=150)
    index.write({}, [(b"1" * 100, ["a", "b"])], (), Millis(0))
    index.write({}, [(b"2" * 100, ["c"])], (), Millis(86_400_000))
    found = index.summary()
    assert found is not None
    assert found.sessions == 1
    assert [*index.find_blocks(["a", "b", "c"], Millis(0))] == [b"2" * 100]


def test_an_index_of_an_earlier_version_gets_what_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    IndexFile(path, "then").write({"a": b"a"}, (), (), Millis(0))
    database = sqlite3.connect(path)
    database.execute("DROP TABLE members")
    database.commit()
    database.close()
    index = IndexFile(path, "now")
    assert [*index.find_blocks(["b"], Millis(0))] == []
    index.write({}, [(b"two", ["b"])], (), Millis(0))
    assert [*index.find_blocks(["b"], Millis(0))] == [b"two"]


def blocks() -> list[list[KeptSession]]:
    database = sqlite3.connect(index_place())
    rows = database.execute("SELECT data FROM sessions").fetchall()
    database.close()
    found = [unpack_block(data) for (data,) in rows]
    return [block.sessions for block in found if block is not None]


def test_what_is_new_is_written_together_with_blocks_in_which_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(file_catalogue, "WORTH", 0)
    monkeypatch.setattr(WallClock, "now", lambda _clock: NOW)
    home, later = tmp_path / "logs", tmp_path / "later"
    make_history(home, 8, 30_000, LONG_AGO * 1_000)
    sessions = sorted((home / "projects").glob("*/*.jsonl"))[:3]
    for path in sessions:
        (later / path.relative_to(home)).parent.mkdir(parents=True, exist_ok=True)
        for each in (path, path.with_suffix("")):
            if each.exists():
                each.rename(later / each.relative_to(home))

    def tree() -> str:
        main(["tree", "--json", str(home)])
        return capsys.readouterr().out

    tree()
    assert [len(each) for each in blocks()] == [5]
    for number, path in enumerate(sessions, 6):
        for each in (path, path.with_suffix("")):
            if (moved := later / each.relative_to(home)).exists():
                moved.rename(each)
        tree()
        assert [len(each) for each in blocks()] == [number]
    monkeypatch.setattr(session_index, "_THIN", 1)
    with sessions[0].open("a") as file:
        file.write("\n")
    os.utime(sessions[0], (LONG_AGO, LONG_AGO))
    warm = tree()
    assert sorted(len(each) for each in blocks()) == [1, 8], "what was told before is there, and asked for by nobody"
    main(["tree", "--json", str(home), "--no-index"])
    assert capsys.readouterr().out == warm == tree()


def test_a_block_that_is_written_down_stays_as_it_is_for_who_takes_it_in_meanwhile() -> None:
    block, session = SessionBlock(), KeptSession("one", packed_files([]), (), (), [5, 2], 0, 0)
    block.put(session, Moments([], [], [], []), [])
    ledger = block.told_by([session])
    assert block.pack() is not None
    assert [*ledger.pulse.minutes] == [5, 7]


def test_of_what_is_known_each_file_is_asked_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(file_catalogue, "WORTH", 0)
    monkeypatch.setattr(WallClock, "now", lambda _clock: NOW)
    home = tmp_path / "logs"
    make_history(home, 4, 30_000, LONG_AGO * 1_000)
    main(["tree", str(home)])
    asked: Counter[str] = Counter()
    stat = os.stat

    def counted(path: str, *given: Any, **more: Any) -> os.stat_result:
        asked[os.fspath(path)] += 1
        return stat(path, *given, **more)

    monkeypatch.setattr(os, "stat", counted)
    main(["tree", str(home)])
    files = [str(path) for path in home.rglob("*.json*")]
    assert len(files) > 20
    assert {asked[path] for path in files} == {1}
    capsys.readouterr()
