"""Changes of verdicts as log records of OpenTelemetry: spelled as its protocol wants it, and harmless."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from delegtop.base.clock import WallClock, iso
from delegtop.diagnosis.assessment import Urgency
from delegtop.diagnosis.verdict_changes import VerdictChange
from delegtop.diagnosis.verdicts import Certainty
from delegtop.model.states import State
from delegtop.notify.otlp_records import ERROR, INFO, WARN, export, severity

KEY = "sk-ant-api03-" + "Ab1" * 20
HOSTILE = "x\x1b]0;owned\x07\u202egnp\nnext \ud800"


def change(id: str = "a", **facts: Any) -> VerdictChange:
    at = WallClock().now()
    given: dict[str, Any] = {
        "handle": 0, "id": id, "root": "root", "name": "implementer", "title": "Profile it", "agent": "implementer",
        "product": "codex", "folder": "/home/ann/webapp", "host": "", "state": State.SILENT, "was": "",
        "verdict": "hung in a tool", "certainty": Certainty.LIKELY, "urgency": Urgency.STUCK, "rule": "VER-003",
        "sentence": "It has been inside Bash for 31:01.", "todo": "Stop the tool.", "since": at, "at": at,
        "holds_up": 2,
    }  # fmt: skip
    return VerdictChange(**given | facts)


# -- as the protocol spells it -----------------------------------------------------------------------------------------

Check = Callable[[Any], bool]


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_hex(size: int) -> Check:
    return lambda value: isinstance(value, str) and re.fullmatch(f"[0-9a-f]{{{2 * size}}}", value) is not None


def is_whole_number_as_text(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9]+", value) is not None


def is_severity(value: Any) -> bool:
    return isinstance(value, int) and 1 <= value <= 24


def some(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def message(fields: Mapping[str, Check]) -> Check:
    return lambda value: (
        isinstance(value, dict) and all(name in fields and fields[name](told) for name, told in value.items())
    )


ANY_VALUE = message(
    {"stringValue": is_text, "boolValue": lambda value: isinstance(value, bool), "intValue": is_whole_number_as_text}
)
ATTRIBUTES = some(message({"key": is_text, "value": ANY_VALUE}))
LOG_RECORD = message(
    {
        "timeUnixNano": is_whole_number_as_text,
        "observedTimeUnixNano": is_whole_number_as_text,
        "severityNumber": is_severity,
        "severityText": is_text,
        "eventName": is_text,
        "body": ANY_VALUE,
        "attributes": ATTRIBUTES,
        "traceId": is_hex(16),
        "spanId": is_hex(8),
    }
)
SCOPE_LOGS = message({"scope": message({"name": is_text, "version": is_text}), "logRecords": some(LOG_RECORD)})
RESOURCE_LOGS = message({"resource": message({"attributes": ATTRIBUTES}), "scopeLogs": some(SCOPE_LOGS)})
REQUEST = message({"resourceLogs": some(RESOURCE_LOGS)})
"""opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest as JSON, by the mapping of OTLP."""


def records(body: bytes) -> list[dict[str, Any]]:
    return [
        record
        for resource in json.loads(body)["resourceLogs"]
        for scope in resource["scopeLogs"]
        for record in scope["logRecords"]
    ]


def facts(told: dict[str, Any]) -> dict[str, Any]:
    return {each["key"]: next(iter(each["value"].values())) for each in told["attributes"]}


def test_a_request_is_spelled_as_the_protocol_wants_it() -> None:
    body = export(
        [change("a"), change("b", host="gpu1", since=None, present=True), change("c", verdict="", was="lost")]
    )
    assert REQUEST(json.loads(body))
    assert body.isascii()


def test_what_the_mapping_does_not_allow_would_be_noticed() -> None:
    """Without this the test before could not fail."""
    good = json.loads(export([change()]))
    for name, told in (
        ("timeUnixNano", 1),
        ("time_unix_nano", "1"),
        ("traceId", "zz"),
        ("severityNumber", "ERROR"),
        ("attributes", [{"key": "x", "value": {"intValue": 1}}]),
        ("attributes", [{"key": "x", "value": "plain"}]),
    ):
        bad = json.loads(json.dumps(good))
        bad["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0][name] = told
        assert not REQUEST(bad), name


def test_a_record_says_which_why_since_when_and_what_to_do() -> None:
    told = change()
    (record,) = records(export([told]))
    assert record["body"] == {"stringValue": "It has been inside Bash for 31:01."}
    assert (record["severityNumber"], record["severityText"]) == ERROR
    assert record["eventName"] == "delegtop.verdict"
    assert int(record["timeUnixNano"]) == told.at * 1_000_000
    assert facts(record) == {
        "delegtop.id": "a",
        "delegtop.session": "root",
        "delegtop.name": "implementer",
        "delegtop.title": "Profile it",
        "delegtop.agent": "implementer",
        "delegtop.product": "codex",
        "delegtop.project": "webapp",
        "delegtop.state": "silent",
        "delegtop.verdict": "hung in a tool",
        "delegtop.certainty": "likely",
        "delegtop.urgency": "1",
        "delegtop.rule": "VER-003",
        "delegtop.since": iso(told.at),
        "delegtop.holds_up": "2",
        "delegtop.todo": "Stop the tool.",
        "delegtop.present": False,
    }


def test_those_of_one_tree_belong_together_and_each_is_known_again() -> None:
    first, second, other = records(export([change("a"), change("b"), change("c", root="elsewhere")]))
    assert first["traceId"] == second["traceId"] != other["traceId"]
    assert len({each["spanId"] for each in (first, second, other)}) == 3
    assert records(export([change("a")]))[0]["spanId"] == first["spanId"]


def test_each_host_is_a_resource_of_its_own() -> None:
    told = json.loads(export([change("a"), change("b", host="gpu1"), change("c", host="gpu1")]))["resourceLogs"]
    hosts = [facts(resource["resource"])["host.name"] for resource in told]
    assert len(hosts) == 2
    assert hosts[1] == "gpu1"
    assert [len(resource["scopeLogs"][0]["logRecords"]) for resource in told] == [1, 2]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"urgency": Urgency.STUCK}, ERROR),
        ({"urgency": Urgency.PERSON}, ERROR),
        ({"urgency": Urgency.JUST_ENDED, "state": State.FAILED}, ERROR),
        ({"urgency": Urgency.SUSPICIOUS}, WARN),
        ({"urgency": Urgency.AT_WORK}, INFO),
        ({"urgency": Urgency.EARLIER}, INFO),
        ({"urgency": Urgency.AT_WORK, "verdict": "", "was": "lost"}, INFO),
    ],
)
def test_how_grave_it_is(given: dict[str, Any], expected: tuple[int, str]) -> None:
    assert severity(change(**given)) == expected


def test_what_logs_say_is_masked_cut_and_harmless() -> None:
    words = f"{HOSTILE} curl -H 'x-api-key: {KEY}' {'long ' * 300}"
    texts = ("name", "title", "agent", "product", "folder", "host", "sentence", "todo", "root")
    (record,) = records(export([change(**dict.fromkeys(texts, words))]))
    told = json.dumps(record)
    assert KEY[:24] not in told
    assert "\\u001b" not in told
    assert "\\n" not in told
    assert len(told) < 6_000
