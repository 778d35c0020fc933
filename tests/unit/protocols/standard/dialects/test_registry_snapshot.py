"""The registry snapshot: what its entries tell, where they stand, and what is made of entries that do not fit."""

import json
from typing import Any

import pytest

from delegtop.base.clock import DAY, MINUTE, Millis, parse_time
from delegtop.base.origin import Origin
from delegtop.dialects import Sample, Unit
from delegtop.model import notes
from delegtop.model.events import (
    Artifact,
    Deviation,
    Ended,
    Ending,
    Event,
    Noted,
    Outcome,
    Report,
    Started,
    Surveyed,
    Trust,
)
from delegtop.protocols.standard.contract.registry_model import RegistryEntry as Entry
from delegtop.protocols.standard.dialects.registry_snapshot import _KNOWN, Registry
from delegtop.sources.records import Line, Record, Unreadable

FIRST, SECOND = "sess_20260203_a1b2c3", "sess_1770109200_d4e5f6"
ORIGIN = Origin("logs/registry.json", 1, 0)
WRITTEN = Millis(1_770_112_800_000)


def entry(**fields: Any) -> dict[str, Any]:
    return {
        "command": "implement",
        "subagent": "task-executor",
        "task_number": 191,
        "start_time": "2026-02-03T09:00:00Z",
        "timeout": 3600,
        "deadline": "2026-02-03T10:00:00Z",
        "status": "running",
        "delegation_depth": 1,
        "delegation_path": ["orchestrator", "implement", "task-executor"],
    } | fields


def read(value: object, indent: int | None = None) -> list[Event | Unreadable]:
    data = value if isinstance(value, bytes) else json.dumps(value, indent=indent).encode()
    return list(Registry().read(Line(ORIGIN, data, WRITTEN)))


def of(kind: type, found: list[Event | Unreadable]) -> list[Any]:
    return [each for each in found if isinstance(each, kind)]


def noted(found: list[Event | Unreadable]) -> list[tuple[str, str]]:
    return [(each.kind, each.detail) for each in of(Deviation, found)]


class TestEntries:
    def test_a_snapshot_is_a_document(self) -> None:
        assert Registry.unit is Unit.DOCUMENT

    def test_a_running_entry_tells_of_a_start_and_the_survey_lists_it(self) -> None:
        started, survey = read({FIRST: entry()})
        assert started == Started(
            FIRST,
            parse_time("2026-02-03T09:00:00Z"),
            Origin(ORIGIN.source, 1, 1),
            agent="task-executor",
            command="implement",
            task="191",
            path=("orchestrator", "implement", "task-executor"),
            depth=1,
            timeout=3_600_000,
            deadline=parse_time("2026-02-03T10:00:00Z"),
            trust=Trust.SCRIPT,
            listed=True,
        )
        assert survey == Surveyed(WRITTEN, ORIGIN, (FIRST,))

    def test_an_empty_registry_is_a_survey_of_nothing(self) -> None:
        assert read({}) == [Surveyed(WRITTEN, ORIGIN, ())]

    @pytest.mark.parametrize("status", ["completed", "failed", "partial", "blocked", "timeout"])
    def test_a_status_other_than_running_is_an_end_at_a_time_unknown(self, status: str) -> None:
        (ended,) = of(Ended, read({FIRST: entry(status=status)}))
        assert (ended.outcome, ended.by, ended.at) == (Outcome(status), Ending.REGISTRY, None)

    def test_a_return_in_the_entry_is_reported(self) -> None:
        result = {
            "status": "completed",
            "summary": "Done.",
            "artifacts": [{"path": "a.md"}],
            "metadata": {"session_id": FIRST},
        }
        (ended,) = of(Ended, read({FIRST: entry(status="completed", **{"return": result})}))
        assert ended.report == Report("completed", "Done.", (Artifact("a.md"),), session_id=FIRST)

    def test_a_return_in_a_running_entry_ends_it(self) -> None:
        result = {"status": "partial", "summary": "Half.", "artifacts": [], "metadata": {}}
        (ended,) = of(Ended, read({FIRST: entry(**{"return": result})}))
        assert ended.outcome == Outcome.PARTIAL

    def test_a_return_of_another_session_is_noted(self) -> None:
        result = {"status": "completed", "summary": "", "artifacts": [], "metadata": {"session_id": SECOND}}
        assert noted(read({FIRST: entry(**{"return": result})})) == [
            ("another session id", f"{FIRST}: the return is of {SECOND}")
        ]

    def test_every_entry_knows_its_own_line_and_offset(self) -> None:
        value = {FIRST: entry(subagent=SECOND), SECOND: entry()}  # the second id also stands as a value before
        data = json.dumps(value, indent=2).encode()
        first, second = of(Started, read(data))
        assert data[first.origin.offset :].startswith(b'"' + FIRST.encode())
        assert data[second.origin.offset :].startswith(b'"' + SECOND.encode() + b'": {')
        assert data.splitlines()[second.origin.line - 1].strip() == f'"{SECOND}": {{'.encode()

    def test_a_key_in_escapes_is_placed_with_the_document(self) -> None:
        data = json.dumps({"sess_é": entry()}).encode()
        assert rb"\u00e9" in data
        (started,) = of(Started, read(data))
        assert (started.id, started.origin) == ("sess_é", ORIGIN)

    def test_a_record_without_its_bytes_is_translated_all_the_same(self) -> None:
        started, survey = Registry().translate(Record(ORIGIN, {FIRST: entry()}, None))
        assert started.origin == ORIGIN
        assert survey == Surveyed(Millis(0), ORIGIN, (FIRST,))


class TestEntriesThatDoNotFit:
    @pytest.mark.parametrize("value", [None, 7, "running", []])
    def test_an_entry_that_is_no_object_is_noted_and_still_listed(self, value: object) -> None:
        found = read({FIRST: value})
        assert [kind for kind, _ in noted(found)] == ["wrong type"]
        assert noted(found)[0][1].startswith(FIRST)
        assert of(Surveyed, found)[0].ids == (FIRST,)
        assert of(Started, found) == []

    def test_fields_that_do_not_fit_are_left_out_one_by_one(self) -> None:
        found = read({FIRST: entry(timeout="an hour", delegation_path="a/b", delegation_depth=-1, mood="fair")})
        (started,) = of(Started, found)
        assert (started.timeout, started.path, started.depth) == (None, None, None)
        assert (started.agent, started.task) == ("task-executor", "191")
        assert [(kind, detail.split(":")[1].strip()) for kind, detail in noted(found)] == [
            ("wrong type", "timeout"),
            ("wrong value", "delegation_depth"),
            ("wrong type", "delegation_path"),
            ("unknown key", "mood"),
        ]

    def test_missing_fields_are_noted(self) -> None:
        found = read({FIRST: {}})
        assert [detail for kind, detail in noted(found) if kind == "missing field"] == [
            f"{FIRST}: {name}"
            for name in (
                *("command", "subagent", "start_time", "timeout", "deadline"),
                *("status", "delegation_depth", "delegation_path"),
            )
        ]
        assert of(Started, found)[0].at is None

    def test_that_an_entry_has_no_status_is_noted_until_it_has_one(self) -> None:
        registry = Registry()

        def told(status: str | None) -> list[tuple[str, str]]:
            data = json.dumps({FIRST: entry(status=status)}).encode()
            return [(each.kind, each.text) for each in of(Noted, list(registry.read(Line(ORIGIN, data, WRITTEN))))]

        assert told("running") == []
        assert told(None) == [(notes.UNSTATED, "the entry has no status")]
        assert told("") == [(notes.UNSTATED, "the entry has no status")]
        assert told("running") == [(notes.UNSTATED, "")]
        assert told("running") == []

    def test_of_two_entries_under_one_id_each_is_told_at_its_own_line(self) -> None:
        first, last = entry(subagent="planner", **{"return": {"metadata": {"session_id": FIRST}}}), entry()
        data = f'{{\n"{FIRST}": {json.dumps(first)},\n"{FIRST}": {json.dumps(last)}\n}}'.encode()
        told = [(each.agent, each.origin.line) for each in of(Started, read(data))]
        assert told == [("planner", 2), ("task-executor", 3)]

    def test_an_unknown_status_is_noted_and_ends_nothing(self) -> None:
        found = read({FIRST: entry(status="queued")})
        assert noted(found) == [("unknown status", f"{FIRST}: status: 'queued'")]
        assert of(Ended, found) == []

    def test_times_that_are_garbled_or_naive_are_noted(self) -> None:
        found = read({FIRST: entry(start_time="2026-02-03 09:00:00", deadline="later")})
        (started,) = of(Started, found)
        assert (started.at, started.deadline) == (parse_time("2026-02-03T09:00:00Z"), None)
        assert [kind for kind, _ in noted(found)] == ["time without zone", "garbled time"]

    def test_odd_keys_are_noted_and_the_entry_is_read(self) -> None:
        found = read({"": entry(), "task-9": entry()})
        assert [each.id for each in of(Started, found)] == ["no-session-id@registry.json:1", "task-9"]
        assert [kind for kind, _ in noted(found)] == ["missing session_id", "malformed session id"]

    def test_a_return_that_is_no_object_is_noted(self) -> None:
        assert noted(read({FIRST: entry(**{"return": "ok"})}))[0][0] == "wrong type"

    def test_half_a_snapshot_tells_nothing_but_that(self) -> None:
        data = json.dumps({FIRST: entry(), SECOND: entry()}, indent=2).encode()
        for cut in range(1, len(data) - 1):
            found = read(data[:cut])
            assert found
            assert all(isinstance(each, Unreadable) for each in found), cut

    def test_a_shorter_snapshot_written_over_a_longer_one_tells_nothing(self) -> None:
        longer, shorter = json.dumps({FIRST: entry(), SECOND: entry()}), json.dumps({FIRST: entry()})
        assert all(isinstance(each, Unreadable) for each in read((shorter + longer[len(shorter) :]).encode()))

    def test_two_snapshots_in_one_file_tell_nothing(self) -> None:
        (only,) = read(json.dumps({FIRST: entry()}).encode() + json.dumps({SECOND: entry()}).encode())
        assert isinstance(only, Unreadable)
        assert only.reason == "several objects"


def sniff(value: object, whole: bool = True, indent: int | None = None) -> int:
    head = value if isinstance(value, bytes) else json.dumps(value, indent=indent).encode()
    return Registry.sniff(Sample("any.name", head, whole))


class TestSniffing:
    @pytest.mark.parametrize("indent", [None, 2])
    def test_a_snapshot_is_recognised_pretty_or_compact_whole_or_cut(self, indent: int | None) -> None:
        data = json.dumps({FIRST: entry(), SECOND: entry()}, indent=indent).encode()
        assert sniff(data) == 94
        assert sniff(data[:200], whole=False) == 85
        assert sniff(data[:200]) == 85  # read while it was being written

    def test_an_entry_is_known_by_its_fields_even_under_an_odd_key(self) -> None:
        assert sniff({"task-9": entry()}) == 80
        assert sniff(json.dumps({"task-9": entry()}).encode()[:-3], whole=False) == 50

    def test_a_session_id_alone_is_a_hint(self) -> None:
        assert 0 < sniff({FIRST: None}) < sniff({FIRST: {}}) < 94

    def test_an_empty_object_is_weak(self) -> None:
        assert sniff(b"{}\n") == 10

    @pytest.mark.parametrize(
        "line",
        [
            {"event": "register", "at": "2026-02-03T09:00:00Z", "session_id": FIRST, "delegation_path": []},
            {"return": {"status": "completed", "metadata": entry()}, "event": "return", "session_id": FIRST},
            {
                "task_context": {"task_number": 1},
                "event": "register",
                "status": "running",
                "timeout": 3,
                "command": "x",
            },
        ],
    )
    @pytest.mark.parametrize("count", [1, 3])
    def test_a_session_log_is_never_taken_for_a_registry(self, line: dict[str, Any], count: int) -> None:
        assert sniff((json.dumps(line) + "\n").encode() * count) == 0

    @pytest.mark.parametrize(
        "head",
        [b"", b"[]", b"null", b"text", b'{"name":"x","version":"1"}', b'{"a":{"b":{}}}', b"{" * 50_000, b"\xff\xfe{"],
    )
    def test_what_is_not_ours_is_left_to_others(self, head: bytes) -> None:
        assert sniff(head) == 0
        assert sniff(head, whole=False) == 0


def test_every_key_of_an_entry_is_known_without_the_models() -> None:
    assert frozenset(field.alias or name for name, field in Entry.model_fields.items()) == _KNOWN


class TestCopies:
    """A clone gives a registry the time of the cloning."""

    COPIED = Millis(WRITTEN + 252 * DAY)

    def as_of(self, registry: Registry, written: Millis) -> Any:
        found = list(registry.read(Line(ORIGIN, json.dumps({FIRST: entry()}).encode(), written)))
        (survey,) = of(Surveyed, found)
        return survey.at

    def test_what_a_copy_tells_is_as_old_as_the_latest_time_in_it(self) -> None:
        registry = Registry()
        assert self.as_of(registry, self.COPIED) == parse_time("2026-02-03T10:00:00Z")
        assert self.as_of(registry, self.COPIED) == parse_time("2026-02-03T10:00:00Z")

    def test_a_registry_that_is_written_again_is_no_copy_so_that_what_left_it_is_missed(self) -> None:
        registry, again = Registry(), Millis(self.COPIED + MINUTE)
        self.as_of(registry, self.COPIED)
        assert self.as_of(registry, again) == again
