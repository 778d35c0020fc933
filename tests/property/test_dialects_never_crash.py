"""Whatever the bytes are, a dialect answers: with events, deviations, or something unreadable that says why."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import Dialect, Sample
from delegtop.model.events import Artifact, Deviation, Ended, Fault, Started
from delegtop.protocols.standard.dialects.registry_snapshot import Registry
from delegtop.protocols.standard.dialects.return_reading import Metadata, ReturnObject
from delegtop.protocols.standard.dialects.session_log import SessionLog
from delegtop.protocols.standard.dialects.session_log_lines import (
    Cancel,
    Error,
    Heartbeat,
    Register,
    ReturnLine,
    Timeout,
)
from delegtop.sources.records import Line, Unreadable

DIALECTS = pytest.mark.parametrize("dialect", [SessionLog, Registry])

TEXTS = st.text(max_size=12) | st.sampled_from(
    ["2026-02-03T09:00:00Z", "2026-02-03T09:00:00", "9999-12-31T23:59:59+00:01", "sess_20260203_abc123", "completed"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
FIELDS = [
    field.encode_name
    for kind in (Register, Heartbeat, ReturnLine, Timeout, Error, Cancel, ReturnObject, Metadata, Artifact, Fault)
    for field in msgspec.structs.fields(kind)
] + ["start_time", "status", "unknown"]
NESTED = st.dictionaries(
    st.sampled_from(FIELDS), VALUES | st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=3), max_size=5
)
EVENTS = st.sampled_from(["register", "heartbeat", "return", "timeout", "error", "cancel", "other"])


def read(dialect: type[Dialect], data: bytes) -> list[Any]:
    return list(dialect().read(Line(Origin("some/file", 3, 99), data, Millis(5))))


@DIALECTS
@given(
    data=st.binary(max_size=200) | st.text(alphabet='{}[]":,\\ \n\0eE.-0123456789antrufls', max_size=80).map(str.encode)
)
def test_bytes_of_any_kind_are_answered(dialect: type[Dialect], data: bytes) -> None:
    found = read(dialect, data)
    assert found or not data.strip(b"\0\x1e \t\r\n,\xef\xbb\xbf\xff\xfe")
    for whole in (True, False):
        assert 0 <= dialect.sniff(Sample("some/file", data, whole)) <= 100


@given(event=EVENTS, fields=NESTED, inner=NESTED)
def test_a_session_log_record_of_any_fields_is_answered(
    event: str, fields: dict[str, Any], inner: dict[str, Any]
) -> None:
    for value in (fields, fields | {"return": inner, "error": inner, "task_context": inner, "artifacts": [inner]}):
        found = read(SessionLog, json.dumps({"event": event} | value).encode())
        assert found
        if event == "other":
            assert all(isinstance(each, Deviation | Unreadable) for each in found)
        else:
            assert sum(not isinstance(each, Deviation | Unreadable) for each in found) == 1
        for each in found:
            if isinstance(each, Ended):
                assert each.report.duration is None or each.report.duration >= 0


@given(entries=st.dictionaries(TEXTS, NESTED | VALUES, max_size=4), inner=NESTED)
def test_a_registry_of_any_entries_is_answered(entries: dict[str, Any], inner: dict[str, Any]) -> None:
    value = entries | {"sess_20260203_abc123": inner | {"return": inner}}
    found = read(Registry, json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    assert found
    for each in found:
        if isinstance(each, Started):
            assert each.timeout is None or each.timeout >= 0
