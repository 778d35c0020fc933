"""What is sent to a collector, read by the messages that the OpenTelemetry project itself defines."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from tests.loopback_server import reply, serving
from tests.unit.notify.test_otlp_records import HOSTILE, change
from tests.unit.notify.test_otlp_sender import write

from delegtop.cli import main
from delegtop.notify.otlp_records import export

WHY_NOT = "the messages of OTLP are not here (pip install opentelemetry-proto)"
json_format = pytest.importorskip("google.protobuf.json_format", reason=WHY_NOT)
messages = pytest.importorskip("opentelemetry.proto.collector.logs.v1.logs_service_pb2", reason=WHY_NOT)


def understood(body: bytes) -> Any:
    """The request, read strictly. Protobuf writes bytes in base64; of ids alone OTLP wants them in hexadecimal."""
    told = json.loads(body)
    for resource in told["resourceLogs"]:
        for scope in resource["scopeLogs"]:
            for record in scope["logRecords"]:
                for name, size in (("traceId", 16), ("spanId", 8)):
                    id = bytes.fromhex(record[name])
                    assert len(id) == size
                    record[name] = base64.b64encode(id).decode()
    return json_format.Parse(json.dumps(told), messages.ExportLogsServiceRequest(), ignore_unknown_fields=False)


def test_a_request_means_what_was_told() -> None:
    one, other = change("a"), change("b", host="gpu1", since=None, present=True, sentence=HOSTILE)
    here, there = understood(export([one, other])).resource_logs
    (record,) = here.scope_logs[0].log_records
    assert (record.time_unix_nano, record.severity_number, record.severity_text) == (one.at * 1_000_000, 17, "ERROR")
    assert (record.event_name, record.body.string_value) == ("delegtop.verdict", one.sentence)
    told = {each.key: each.value for each in record.attributes}
    assert told["delegtop.verdict"].string_value == "hung in a tool"
    assert told["delegtop.holds_up"].int_value == 2
    assert told["delegtop.present"].WhichOneof("value") == "bool_value"
    assert {each.key: each.value.string_value for each in there.resource.attributes}["host.name"] == "gpu1"
    assert len(record.trace_id) == 16
    assert messages.ExportLogsServiceRequest.FromString(understood(export([one])).SerializeToString())


def test_a_name_that_the_protocol_does_not_have_would_be_noticed() -> None:
    bad = json.loads(export([change()]))
    bad["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]["severity"] = 17
    with pytest.raises(json_format.ParseError, match="severity"):
        understood(json.dumps(bad).encode())


def test_what_watch_sends_is_understood(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "run.jsonl"
    for number in range(3):
        write(log, "register", f"sess_1790000000_aaaaa{number}", subagent="implementer", timeout=1)
    with serving(reply("200 OK", b"{}")) as server:
        main(["watch", str(log), "--otlp", server.url, "--exit-when", "problem"])
    asked = list(server.asked)
    assert {each.line.split()[1] for each in asked} == {"/v1/logs"}
    assert {each.headers["content-type"] for each in asked} == {"application/json"}
    sent = [record for each in asked for found in understood(each.body).resource_logs for record in _records(found)]
    assert len(sent) == 3
    assert "otlp" not in capsys.readouterr().err


def _records(found: Any) -> list[Any]:
    return [record for scope in found.scope_logs for record in scope.log_records]
