"""The contract of a registry entry: which fields hold what they should, and how the others depart."""

from typing import Any

from delegtop.model.deviation_kinds import Departure, DeviationKind
from delegtop.protocols.standard.dialects.registry_entry import fit

ENTRY: dict[str, Any] = {
    "command": "research",
    "subagent": "researcher",
    "task_number": "T-9",
    "start_time": "2026-02-03T09:00:00Z",
    "timeout": 1800.5,
    "deadline": "2026-02-03T09:30:00.500Z",
    "status": "running",
    "delegation_depth": 1,
    "delegation_path": ["orchestrator", "research", "researcher"],
}


def test_an_entry_that_fits_is_taken_whole() -> None:
    assert fit(ENTRY) == (ENTRY, [])


def test_a_field_may_be_left_out_if_the_contract_does_not_need_it() -> None:
    assert fit({name: given for name, given in ENTRY.items() if name != "task_number"})[1] == []
    assert fit(ENTRY | {"task_number": None, "return": None})[1] == []


def test_what_is_null_or_empty_is_missing() -> None:
    for field in ("command", "subagent", "start_time", "timeout", "status", "delegation_path"):
        assert fit(ENTRY | {field: None})[1] == [Departure(DeviationKind.MISSING_FIELD, field)]
    assert fit(ENTRY | {"subagent": "", "status": ""})[1] == [
        Departure(DeviationKind.MISSING_FIELD, "subagent"),
        Departure(DeviationKind.MISSING_FIELD, "status"),
    ]


def test_each_departure_names_its_field_once_and_takes_only_that_field() -> None:
    fields, departures = fit(ENTRY | {"task_number": [1], "delegation_path": ["a", 2, 3], "status": "queued"})
    assert fields == {
        name: given for name, given in ENTRY.items() if name not in ("task_number", "delegation_path", "status")
    }
    assert [(each.kind, each.detail.split(":")[0]) for each in departures] == [
        (DeviationKind.WRONG_TYPE, "task_number"),
        (DeviationKind.UNKNOWN_STATUS, "status"),
        (DeviationKind.WRONG_TYPE, "delegation_path"),
    ]


def test_numbers_are_neither_texts_nor_booleans() -> None:
    assert [each.kind for each in fit(ENTRY | {"timeout": "60", "delegation_depth": True})[1]] == [
        DeviationKind.WRONG_TYPE
    ] * 2


def test_a_timeout_that_is_no_span_of_time_is_a_wrong_value() -> None:
    for timeout in (-1, float("nan"), float("inf"), 1e300):
        ((kind, _),) = fit(ENTRY | {"timeout": timeout})[1]
        assert kind == DeviationKind.WRONG_VALUE


def test_unknown_keys_and_missing_fields_are_told_apart() -> None:
    fields, departures = fit({name: given for name, given in ENTRY.items() if name != "status"} | {"mood": "fair"})
    assert "mood" not in fields
    assert departures == [
        Departure(DeviationKind.MISSING_FIELD, "status"),
        Departure(DeviationKind.UNKNOWN_KEY, "mood"),
    ]
