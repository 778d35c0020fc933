"""Facts that are far too long, of the wrong kind, or claimed by two files: read at once, and shown cut."""

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.samples import MOMENTS, SAMPLES, lay_out, moment, observed

from delegtop.base.clock import FrozenClock
from delegtop.feed.bounded_facts import LONGEST, TEXT
from delegtop.observation.observation import Observation
from delegtop.report import tree_json, tree_text

LONG = "x y/" * 30_000
SHORT_FACTS = re.compile(r"version|agent|model|name|cwd|branch|(?:_|\b)id$|Id$|ID$", re.IGNORECASE)


def seen(folder: Path, name: str) -> dict[str, Any]:
    """What `tree --json` says of it; every format goes on."""
    with observed(folder, clock=FrozenClock(moment(MOMENTS[name]))) as observation:
        observation.read()
        assert not failed(observation)
        list(tree_text.tree(observation.forest, observation.statuses))
        told: dict[str, Any] = json.loads("\n".join(tree_json.tree(observation.forest, observation.statuses)))
        return told


def failed(observation: Observation) -> list[str]:
    return [reason for each in observation.statuses for reason in each.reasons if "failed" in reason]


def longest(value: object) -> int:
    if isinstance(value, dict):
        return max(map(longest, [*value, *value.values()]), default=0)
    if isinstance(value, list):
        return max(map(longest, value), default=0)
    return len(value) if isinstance(value, str) else 0


def lengthened(value: Any) -> Any:
    """The same with short facts of a hundred kilobytes."""
    if isinstance(value, dict):
        return {
            key: each[:3] + LONG if isinstance(each, str) and SHORT_FACTS.search(key) else lengthened(each)
            for key, each in value.items()
        }
    return [lengthened(each) for each in value] if isinstance(value, list) else value


def lengthen(path: Path) -> None:
    """Of a log the third line and the last, of a document the whole."""
    lines = path.read_bytes().split(b"\n")
    try:
        path.write_text(json.dumps(lengthened(json.loads(b"\n".join(lines)))))
    except ValueError:
        for number in {min(2, len(lines) - 1), max(0, len(lines) - 2)}:
            try:
                lines[number] = json.dumps(lengthened(json.loads(lines[number]))).encode()
            except ValueError:
                continue
        path.write_bytes(b"\n".join(lines))


@pytest.mark.parametrize("name", sorted(MOMENTS))
def test_ids_and_names_of_a_hundred_kilobytes_are_cut_in_every_format(name: str, tmp_path: Path) -> None:
    folder = lay_out(name, tmp_path)
    for path in folder.rglob("*.json*"):
        lengthen(path)
    assert longest(seen(folder, name)) <= TEXT


def cells(path: Path) -> Iterator[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as database:
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            for row in database.execute(f'PRAGMA table_info("{table}")').fetchall():
                if SHORT_FACTS.search(row[1]):
                    yield table, row[1]


@pytest.mark.parametrize("name", ["cline", "crush", "goose", "kilo"])
def test_ids_and_names_of_megabytes_in_a_database_are_cut(name: str, tmp_path: Path) -> None:
    folder = lay_out(name, tmp_path)
    (path,) = folder.rglob("*.db")
    for table, column in [*cells(path)]:
        with closing(sqlite3.connect(path)) as database, suppress(sqlite3.IntegrityError):  # that one is a number
            database.execute(
                f'UPDATE OR IGNORE "{table}" SET "{column}" = ? WHERE rowid = (SELECT max(rowid) FROM "{table}")',  # noqa: S608 -- our own copy
                (LONG * 10,),
            )
            database.commit()
    found = seen(folder, name)
    assert longest(found) <= LONGEST


def test_two_ids_that_differ_only_at_their_end_stay_two(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    told = [
        {"event": "register", "at": "2026-02-03T09:00:00Z", "session_id": LONG + end, "delegation_path": ["a"]}
        for end in "ab"
    ]
    log.write_text("".join(f"{json.dumps(each)}\n" for each in told))
    with observed(log, clock=FrozenClock(moment("2026-02-03T09:00:10Z"))) as observation:
        observation.read()
        ids = [observation.forest.id(handle) for handle in range(len(observation.forest))]
    assert len({*ids}) == 2
    assert all(len(id) == LONGEST for id in ids)


@pytest.mark.parametrize("name", sorted(MOMENTS))
def test_the_same_ids_in_the_files_of_a_second_folder_stop_nothing(name: str, tmp_path: Path) -> None:
    folder = lay_out(name, tmp_path)
    alone = len(seen(folder, name)["delegations"])
    shutil.copytree(folder, folder / "copied", ignore=shutil.ignore_patterns("copied"))
    assert len(seen(folder, name)["delegations"]) >= alone


CONTEXT = json.loads(next((SAMPLES / "17_handed_out").rglob("*.json")).read_text("utf-8"))
ODD: tuple[Any, ...] = (None, True, -1, 10**400, 1e308, "", LONG, [], {}, [[]], [{}], [None, 1, LONG], {"a": [LONG]})


@pytest.mark.parametrize(
    "key", [*CONTEXT, *(f"delegation_context.{key}" for key in CONTEXT.get("delegation_context", {}))]
)
def test_a_delegation_context_of_wrong_types_stops_nothing(key: str, tmp_path: Path) -> None:
    for number, odd in enumerate(ODD):
        value = json.loads(json.dumps(CONTEXT))
        holder = value["delegation_context"] if "." in key else value
        holder[key.rpartition(".")[2]] = odd
        (tmp_path / f"{number}.json").write_text(json.dumps(value))
    assert longest(seen(tmp_path, "17_handed_out")) <= TEXT
