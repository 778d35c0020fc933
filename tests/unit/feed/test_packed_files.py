"""What is kept of the files of a session takes few bytes, and is told as it was put in."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.feed.packed_files import Kept, PackedFiles, packed
from delegtop.feed.source_statuses import SourceStatuses
from delegtop.protocols.standard.dialects.session_log import SessionLog
from delegtop.sources.inode import look_of
from delegtop.sources.records import Unreadable

SESSION = "0b9b1c2e-1111-4222-8333-444455556666"


def file(path: Path, number: int = 7) -> Kept:
    """One that was read to its end and looks as it did."""
    found = path.stat()
    at, look = Millis(found.st_mtime_ns // 1_000_000), hash(look_of(found))
    numbers = {"size": found.st_size, "read": found.st_size, "changed_at": at, "look": look, "key": number << 40}
    return Kept(str(path), SessionLog.name, number, 0, "live", format=SessionLog, **numbers)  # type: ignore[arg-type] # numbers all


@pytest.fixture
def files(tmp_path: Path) -> list[Kept]:
    folder = tmp_path / SESSION / "subagents"
    folder.mkdir(parents=True)
    paths = [tmp_path / f"{SESSION}.jsonl", *(folder / f"agent-{number:016x}.jsonl" for number in range(40))]
    paths.append(Path(os.fsdecode(os.fsencode(folder) + b"/agent-\xff\n.jsonl")))
    for path in paths:
        path.write_bytes(b"text")
    return [file(path, number) for number, path in enumerate(paths)]


def test_files_come_out_as_they_went_in_and_in_their_order(files: list[Kept]) -> None:
    place = Origin(files[3].path, 2, 70)
    wrong = replace(files[3], unreadable=1, reasons={"torn": 1}, examples=(Unreadable(place, "torn", "{"),))
    odd = [wrong, replace(files[4], status="gone", detail="not found"), replace(files[5], changed_at=None)]
    told = [*files[:3], *odd, *files[6:]]
    away = packed(told)
    assert [*away] == told
    assert {away} != {packed(told)}, "put away anew it is another"
    assert (len(away), away.size) == (len(told), sum(each.size for each in told))
    assert all(each.path in away and away.get(each.path) == each for each in told)
    assert "/elsewhere" not in away
    assert away.get("/elsewhere") is None


def test_a_file_like_the_others_takes_few_bytes(files: list[Kept]) -> None:
    away = packed(files[:41])
    assert not away.odd
    assert len(away.rows) + len(away.digests) < 60 * len(away)


def test_what_is_not_as_it_was_is_noticed_and_what_is_gone_changes_nothing(files: list[Kept]) -> None:
    away = packed(files)
    assert away.looked_at() == (False, away)
    assert away.looked_at()[1] is away, "another object would say that it was put away anew"
    Path(files[2].path).unlink()
    is_changed, now = away.looked_at()
    assert (is_changed, now.get(files[2].path)) == (False, replace(files[2], status="gone", detail="not found"))
    assert now.looked_at()[1] is now
    Path(files[2].path).write_bytes(b"text")
    is_changed, back = now.looked_at()
    assert (is_changed, back.get(files[2].path)) == (True, files[2])
    Path(files[9].path).write_bytes(b"more text")
    assert away.looked_at()[0]


def test_statuses_are_those_of_every_file_and_the_same_until_one_is_put_away_anew(files: list[Kept]) -> None:
    away, alone = packed(files[1:]), files[0]
    statuses = SourceStatuses([alone, away])
    assert [*statuses] == files
    assert (len(statuses), statuses[1], statuses[-1:]) == (len(files), files[1], (files[-1],))
    assert statuses == SourceStatuses([alone, away])
    assert statuses != SourceStatuses([alone, packed(files[2:])])
    assert [*statuses.plus([alone])] == [*files, alone]
    assert not SourceStatuses(())


def test_statuses_stand_in_the_order_of_their_paths_and_those_with_something_wrong_are_had_without_the_others(
    files: list[Kept],
) -> None:
    wrong = replace(files[3], unreadable=1)
    away, alone = packed([files[5], wrong, files[1]]), files[2]
    order = {each.path: number for number, each in enumerate(files)}
    inner = SourceStatuses([away, alone], order)
    assert [*inner] == [files[1], files[2], wrong, files[5]]
    assert inner.odd() == [files[2], wrong], "of one that was not put away nobody knows before it is looked at"
    outer = SourceStatuses([files[9], inner])
    assert [*outer] == [files[9], *inner]
    assert (outer.odd(), len(outer)) == ([files[9], *inner.odd()], 5)


def test_none_are_packed_to_nothing() -> None:
    assert ([*packed([])], len(packed([])), packed([]).size) == ([], 0, 0)
    assert isinstance(packed([]), PackedFiles)
