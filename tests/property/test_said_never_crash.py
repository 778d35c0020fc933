"""Whatever stands where words should be, a transcript is made of it, or nothing, and nobody is hurt."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.test_agent_logs_never_crash import RECORDS, VALUES

from delegtop.agents.claude_code.stream_json import ClaudeStream
from delegtop.agents.claude_code.transcript_dialect import ClaudeCode
from delegtop.agents.crush.crush_database import Crush
from delegtop.agents.goose.goose_database import Goose
from delegtop.agents.opencode.opencode_dialects import OpenCode, OpenCodeExport
from delegtop.agents.opencode.run_stream import OpenCodeStream
from delegtop.base.origin import Origin
from delegtop.dialects import Dialect
from delegtop.sources.records import Line, Record

FIRST: dict[type[Dialect], dict[str, Any]] = {
    ClaudeCode: {"parentUuid": None, "sessionId": "s", "type": "user", "uuid": "u", "message": {"content": "hi"}},
    ClaudeStream: {"type": "system", "subtype": "init", "session_id": "s"},
    Crush: {"table": "messages", "id": "m", "session_id": "s", "role": "user", "parts": "[]"},
    Goose: {"table": "messages", "id": 1, "session_id": "s", "role": "user", "content_json": "[]"},
    OpenCode: {"table": "message", "id": "m", "session_id": "s", "data": '{"role": "user"}'},
    OpenCodeExport: {"info": {"id": "s"}, "messages": []},
    OpenCodeStream: {"type": "text", "sessionID": "s", "timestamp": 1_770_109_200_000, "part": {}},
}
INNER = {
    Crush: ("parts", True),
    Goose: ("content_json", True),
    OpenCode: ("data", True),
    OpenCodeExport: ("messages", False),
    OpenCodeStream: ("part", False),
    ClaudeCode: ("message", False),
    ClaudeStream: ("message", False),
}
"""Where the words stand, and whether that is JSON within JSON."""


@pytest.mark.parametrize("dialect", FIRST, ids=lambda dialect: dialect.name)
@settings(max_examples=40)
@given(told=st.lists(RECORDS, min_size=1, max_size=4), inner=st.lists(VALUES, min_size=1, max_size=4))
def test_any_values_make_words_or_none(dialect: type[Dialect], told: list[dict[str, Any]], inner: list[Any]) -> None:
    key, is_text = INNER[dialect]
    first = FIRST[dialect]
    values = [first, *told, *({**first, "table": "part", key: json.dumps(each) if is_text else each} for each in inner)]
    values += [{**first, key: json.dumps([each]) if is_text else {"content": each, "role": "user"}} for each in inner]
    reader = dialect()
    records = [Record(Origin("/p/x.jsonl", number + 1, number), value) for number, value in enumerate(values)]
    list(reader.read(Line(records[0].origin, json.dumps(first).encode())))
    for piece in reader.said(records):
        assert isinstance(piece.text, str)
        assert isinstance(piece.name, str)
        assert isinstance(piece.call, str)
        assert piece.whose is None or isinstance(piece.whose, str)
