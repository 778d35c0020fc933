"""CLEO's manifest: every entry is one ended delegation, however it is written, and nothing is made of a day."""

import json
from typing import Any

import pytest
from tests.patience import growth
from tests.telling import handle_of

from delegtop.base.clock import parse_time
from delegtop.base.origin import Origin
from delegtop.dialects import Sample
from delegtop.model.events import Described, Deviation, Ended, Ending, Event, Noted, Outcome, Started
from delegtop.model.forest import Forest
from delegtop.protocols import protocol_drift
from delegtop.protocols.cleo.manifest import CleoManifest
from delegtop.protocols.cleo.manifest_entry import ManifestEntry, looks_like_entry
from delegtop.protocols.cleo.violations import violation_line, violations
from delegtop.sources.records import Line, Unreadable

SOURCE = "claudedocs/agent-outputs/MANIFEST.jsonl"
ENTRY: dict[str, Any] = {
    "id": "cache-layers-2026-02-03",
    "file": "2026-02-03_cache-layers.md",
    "title": "Cache layers",
    "date": "2026-02-03",
    "status": "complete",
    "topics": ["cache"],
    "key_findings": ["Two caches overlap.", "The outer one is never hit.", "Its size is not bounded."],
    "actionable": True,
    "needs_followup": ["T210"],
    "linked_tasks": ["T200", "T201"],
}


def told(*lines: str, dialect: CleoManifest | None = None) -> list[Event | Unreadable]:
    reader = dialect or CleoManifest()
    found: list[Event | Unreadable] = []
    offset = 0
    for number, text in enumerate("\n".join(lines).split("\n"), start=1):
        found += reader.read(Line(Origin(SOURCE, number, offset), text.encode()))
        offset += len(text.encode()) + 1
    return found


def entry(**fields: Any) -> str:
    return json.dumps({**ENTRY, **fields})


def returns(events: list[Event | Unreadable]) -> list[Ended]:
    return [event for event in events if isinstance(event, Ended) and event.by is Ending.RETURN]


def note(events: list[Event | Unreadable], kind: str) -> list[str]:
    return [event.text for event in events if isinstance(event, Noted) and event.kind == kind]


def drifts(events: list[Event | Unreadable]) -> dict[str, list[str]]:
    return protocol_drift.read("\n".join(note(events, protocol_drift.NOTE)))


def test_an_entry_is_the_end_of_one_delegation_without_a_moment() -> None:
    (ended,) = returns(told(entry()))
    assert (ended.id, ended.at, ended.outcome) == ("cache-layers-2026-02-03", None, Outcome.COMPLETED)
    assert ended.report.status == "complete"
    assert [artifact.path for artifact in ended.report.artifacts] == ["2026-02-03_cache-layers.md"]


def test_the_day_is_noted_and_no_time_is_made_of_it() -> None:
    events = told(entry())
    assert note(events, "day") == ["2026-02-03"]
    forest = Forest()
    forest.apply([event for event in events if not isinstance(event, Unreadable)])
    handle = handle_of(forest, "cache-layers-2026-02-03")
    facts = forest.delegation(handle)
    assert (facts.started_at, facts.ended_at, facts.heard_at) == (None, None, None)


def test_a_conforming_entry_has_no_drift() -> None:
    assert drifts(told(entry())) == {}


@pytest.mark.parametrize("name", ["timestamp", "ts", "createdAt", "created_at", "completedAt"])
def test_a_real_moment_is_taken_under_each_of_its_names(name: str) -> None:
    (ended,) = returns(told(entry(**{name: "2026-02-03T10:20:30Z"})))
    assert ended.at == parse_time("2026-02-03T10:20:30Z")


def test_midnight_sharp_is_a_day_and_no_moment() -> None:
    events = told(entry(date="2026-02-03T00:00:00Z"))
    assert [ended.at for ended in returns(events)] == [None]
    assert note(events, "day") == ["2026-02-03"]


@pytest.mark.parametrize(
    ("word", "outcome"),
    [
        ("complete", Outcome.COMPLETED),
        ("completed", Outcome.COMPLETED),
        ("done", Outcome.COMPLETED),
        ("final", Outcome.COMPLETED),
        ("partial", Outcome.PARTIAL),
        ("blocked", Outcome.BLOCKED),
        ("archived", Outcome.UNKNOWN),
        ("deferred", Outcome.UNKNOWN),
        (None, Outcome.UNKNOWN),
    ],
)
def test_a_status_is_mapped_and_its_word_is_kept(word: str | None, outcome: Outcome) -> None:
    (ended,) = returns(told(entry(status=word)))
    assert (ended.outcome, ended.report.status) == (outcome, word)


def test_the_epic_holds_its_entries_together() -> None:
    events = told(entry())
    parents = {event.id: event.parent for event in events if isinstance(event, Started)}
    assert parents == {"T200": None, "cache-layers-2026-02-03": "T200"}


def test_a_wave_stands_between_the_epic_and_the_entry() -> None:
    events = told(entry(wave=2))
    parents = {event.id: event.parent for event in events if isinstance(event, Started)}
    assert parents == {"T200": None, "T200/wave-2": "T200", "cache-layers-2026-02-03": "T200/wave-2"}


def test_a_parent_that_is_named_goes_before_the_epic() -> None:
    events = told(entry(parent="lead-1"))
    parents = {event.id: event.parent for event in events if isinstance(event, Started)}
    assert parents["cache-layers-2026-02-03"] == "lead-1"
    assert parents["lead-1"] == "T200"


def test_of_an_epic_nobody_says_that_it_is_done() -> None:
    epic = [event for event in told(entry()) if isinstance(event, Ended) and event.id == "T200"]
    assert [event.outcome for event in epic] == [Outcome.UNKNOWN]


def test_an_entry_that_is_its_own_epic_has_no_parent() -> None:
    events = told(entry(id="T200", linked_tasks=["T200", "T201"]))
    assert [event.parent for event in events if isinstance(event, Started) and event.id == "T200"] == [None]


@pytest.mark.parametrize("name", ["task", "taskId", "task_id", "linkedTask"])
def test_the_task_is_found_under_each_of_its_names(name: str) -> None:
    value = {"id": "some-note", name: "T77", "status": "complete", "title": "A note"}
    assert ManifestEntry.of(value).task == "T77"


@pytest.mark.parametrize("name", ["output", "output_file", "outputFile", "artifact"])
def test_the_file_is_found_under_each_of_its_names(name: str) -> None:
    found = ManifestEntry.of({"id": "a", name: "out/a.md", "status": "complete"})
    assert found.file == "out/a.md"
    assert protocol_drift.Drift("other name", f"{name} for file") in found.drift


@pytest.mark.parametrize("name", ["agent_type", "agentType", "type", "role"])
def test_the_kind_of_agent_is_found_under_each_of_its_names(name: str) -> None:
    assert ManifestEntry.of({"id": "a", name: "research"}).agent == "research"


def test_an_entry_without_an_id_goes_by_its_file_else_by_its_task_and_title() -> None:
    assert ManifestEntry.of({"taskId": "T5", "artifact": "out/T5-notes.md"}).id == "T5-notes"
    assert ManifestEntry.of({"taskId": "T5", "title": "What we saw!"}).id == "T5-what-we-saw"
    (ended,) = returns(told('{"status":"complete","summary":"x"}'))
    assert ended.id.startswith("entry-")


def test_findings_that_are_a_text_or_an_object_are_taken_and_named() -> None:
    assert ManifestEntry.of({"key_findings": "only one"}).key_findings == ("only one",)
    found = ManifestEntry.of({"key_findings": {"speed": "slow", "size": "large"}})
    assert found.key_findings == ("speed: slow", "size: large")
    assert protocol_drift.Drift("wrong type", "key_findings is an object, not a list") in found.drift


def test_follow_ups_are_noted_and_are_the_next_steps() -> None:
    events = told(entry(needs_followup=["T210", "Measure it again"]))
    assert note(events, "followup") == ["T210\nMeasure it again"]
    assert returns(events)[0].report.next_steps == "T210\nMeasure it again"


@pytest.mark.parametrize("status", ["partial", "blocked"])
def test_what_is_in_the_way_comes_before_what_was_found(status: str) -> None:
    (ended,) = returns(told(entry(status=status, needs_followup=["T210", "The key is missing"])))
    assert [fault.message for fault in ended.report.errors] == ["The key is missing"]
    (without,) = returns(told(entry(status=status, needs_followup=["T210"])))
    assert not without.report.errors


def test_an_object_over_several_lines_is_one_entry() -> None:
    before, after = (entry(id=f"{topic}-2026-02-03", file=f"2026-02-03_{topic}.md") for topic in ("a", "b"))
    events = told(before, json.dumps(ENTRY, indent=2), after)
    assert [ended.id for ended in returns(events)] == ["a-2026-02-03", "cache-layers-2026-02-03", "b-2026-02-03"]
    assert not [event for event in events if isinstance(event, Unreadable)]
    assert drifts(events) == {"spread over lines": [f"{len(json.dumps(ENTRY, indent=2).splitlines())} lines"]}
    assert [event.origin.line for event in events if isinstance(event, Deviation)] == [2]
    assert returns(events)[1].origin.line == 2


def test_two_objects_glued_on_one_line_are_two_entries() -> None:
    events = told(entry(id="a-2026-02-03") + entry(id="b-2026-02-03"))
    assert [ended.id for ended in returns(events)] == ["a-2026-02-03", "b-2026-02-03"]
    assert len(drifts(events)["shared line"]) == 2


def test_an_object_glued_behind_one_over_several_lines_is_not_lost() -> None:
    events = told(json.dumps(ENTRY, indent=2) + entry(id="b-2026-02-03"))
    assert [ended.id for ended in returns(events)] == ["cache-layers-2026-02-03", "b-2026-02-03"]


def test_a_bare_string_is_named_and_costs_nothing_else() -> None:
    events = told('"T242"', entry())
    (unreadable,) = [event for event in events if isinstance(event, Unreadable)]
    assert (unreadable.reason, unreadable.origin.line) == ("not an object", 1)
    assert len(returns(events)) == 1


def test_a_torn_line_does_not_swallow_the_entries_after_it() -> None:
    events = told('{"id":"torn","key_findings":["x",', entry())
    assert [event.reason for event in events if isinstance(event, Unreadable)] == ["torn"]
    assert [ended.id for ended in returns(events)] == ["cache-layers-2026-02-03"]


def test_a_line_torn_within_a_text_does_not_swallow_the_entries_after_it() -> None:
    events = told('{"id":"torn","title":"half a ti', entry())
    assert [event.reason for event in events if isinstance(event, Unreadable)] == ["torn"]
    assert len(returns(events)) == 1


def test_an_entry_the_file_ends_in_the_middle_of_is_heard_of() -> None:
    events = told(entry(), '{\n  "id": "half"')
    assert [event.kind for event in events if isinstance(event, Deviation)] == ["spread over lines"]


def test_an_object_that_never_closes_is_given_up_and_every_line_of_it_is_named() -> None:
    events = told("{", *['  "key": [1,'] * 2_100, entry())
    assert sum(isinstance(event, Unreadable) for event in events) == 2_101
    assert [ended.id for ended in returns(events)][-1:] == ["cache-layers-2026-02-03"]


def test_reading_a_shrunk_file_again_tells_the_same() -> None:
    reader = CleoManifest()
    lines = [entry(id=f"{name}-2026-02-03", title=name) for name in "abc"]
    first = told(*lines, dialect=reader)
    again = told(*lines[1:], dialect=reader)
    assert [ended.id for ended in returns(again)] == [ended.id for ended in returns(first)][1:]
    forest = Forest()
    for events in (first, again):
        forest.apply([event for event in events if not isinstance(event, Unreadable)])
    forest.advance(forest.shown_at)
    assert len(forest) == 4  # the epic and its three


def test_an_id_that_is_taken_makes_a_delegation_of_its_own_and_is_named() -> None:
    events = told(entry(), entry(title="Another"))
    assert [ended.id for ended in returns(events)] == ["cache-layers-2026-02-03", "cache-layers-2026-02-03~2"]
    assert drifts(events) == {"same id": ["line 1 has the id cache-layers-2026-02-03 too"]}


def test_the_very_same_line_twice_is_one_delegation() -> None:
    events = told(entry(), entry())
    assert {ended.id for ended in returns(events)} == {"cache-layers-2026-02-03"}
    assert drifts(events) == {"written twice": ["line 1 says the same"]}


def test_a_line_shown_again_keeps_its_name_and_changes_nothing() -> None:
    reader = CleoManifest()
    told(entry(), entry(title="Another"), dialect=reader)
    line = Line(Origin(SOURCE, 2, 500), entry(title="Another").encode())
    assert [ended.id for ended in returns(list(reader.retell(line)))] == ["cache-layers-2026-02-03~2"]


def test_the_title_and_the_name_describe_it() -> None:
    (described,) = [event for event in told(entry(worker="LOOM-3")) if isinstance(event, Described)]
    assert (described.title, described.name) == ("Cache layers", "LOOM-3")


@pytest.mark.parametrize(
    "text",
    [
        entry(),
        json.dumps(ENTRY, indent=2),
        '"T242"\n' + entry(),
        '{"taskId":"T5","title":"x","status":"complete","artifact":"T5.md"}',
        '{"id":"T31-index","task":"T31","status":"complete","output":"a.md","summary":"s"}',
    ],
)
def test_a_manifest_is_known_by_its_shape(text: str) -> None:
    assert CleoManifest.sniff(Sample("any.jsonl", text.encode(), True)) > 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"audio_filepath":"a.wav","duration":1.5,"text":"hello"}',
        '{"path":"data/a.csv","sha256":"00ff","size":12,"id":"1"}',
        '{"id":"doc-1","title":"A page","date":"2026-01-01","url":"https://example.org"}',
        '{"id":"i1","file":"img/1.png","status":"ok","caption":"a cat"}',
        '{"event":"register","session_id":"sess_20260101_abc123","at":"2026-01-01T00:00:00Z"}',
        '{"session_id":"s","start_timestamp":"","end_timestamp":"2026-01-23T09:20:37Z","tokens":{}}',
        '{"timestamp":"2026-02-01T06:13:19Z","source_id":"a1","compliance":{"compliance_pass_rate":1.0}}',
    ],
)
def test_a_lookalike_of_the_same_name_is_not_taken(text: str) -> None:
    assert CleoManifest.sniff(Sample("MANIFEST.jsonl", text.encode(), True)) == 0


def test_one_entry_among_strangers_makes_no_manifest() -> None:
    strangers = ['{"path":"a","sha256":"0"}'] * 5
    text = "\n".join([*strangers, entry()])
    assert CleoManifest.sniff(Sample("MANIFEST.jsonl", text.encode(), True)) == 0


def test_what_only_the_protocol_has_makes_an_entry() -> None:
    assert looks_like_entry({"key_findings": [], "actionable": True})
    assert not looks_like_entry({"status": "complete", "id": "x"})


def test_violations_survive_the_note() -> None:
    text = violation_line("RSCH-001", "error", "It changed\ncode", "")
    assert violations(text) == [("RSCH-001", "error", "It changed code", "")]


@pytest.mark.parametrize("piece", ['\\"', "a\\\\", '"a\\'])
def test_a_torn_line_takes_no_longer_than_its_length(piece: str) -> None:
    def work(size: int) -> None:
        torn = '{"id": "x", "title": "' + piece * (size // len(piece))
        told(torn)
        CleoManifest.sniff(Sample("MANIFEST.jsonl", torn.encode(), whole=False))

    assert growth(work, 1_000) < 30
