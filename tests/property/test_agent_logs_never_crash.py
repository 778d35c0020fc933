"""Whatever the logs of other agents hold where their known keys should be, reading them hurts nobody."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delegtop.agents.cline.cline_database import Cline
from delegtop.agents.cline.cline_messages import ClineMessages
from delegtop.agents.codex.rollouts import Codex
from delegtop.agents.codex.state_database import CodexState
from delegtop.agents.copilot.event_log import Copilot
from delegtop.agents.cursor.cursor_transcripts import Cursor
from delegtop.agents.droid.droid_store import Droid
from delegtop.agents.gemini.chats import Gemini
from delegtop.agents.grok.grok_sessions import Grok
from delegtop.agents.kimi.wire_log import Kimi
from delegtop.agents.qwen.qwen_transcripts import Qwen
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import Dialect, Sample
from delegtop.model.forest import Forest
from delegtop.sources.records import Line, Record, Unreadable

ID = "019c2200-0000-7000-8000-000000000000"
TIME = "2026-02-03T09:00:00Z"
FIRST: dict[type[Dialect], dict[str, Any]] = {
    Cline: {"table": "sessions", "session_id": "s", "status": "running", "started_at": TIME, "pid": 7},
    ClineMessages: {"sessionId": "s", "origin": {"sessionId": "s"}, "messages": []},
    Codex: {"timestamp": TIME, "type": "session_meta", "payload": {"id": ID, "source": "cli"}},
    CodexState: {"table": "thread_spawn_edges", "parent_thread_id": "a", "child_thread_id": "b"},
    Copilot: {"type": "session.start", "id": "e", "timestamp": TIME, "data": {"sessionId": "s"}},
    Cursor: {"role": "user", "message": {"content": [{"type": "text", "text": "hi"}]}},
    Droid: {"type": "session_start", "id": "s", "title": "t", "cwd": "/w"},
    Gemini: {"sessionId": "s", "projectHash": "h", "startTime": TIME, "kind": "main"},
    Grok: {"ts": TIME, "type": "turn_started", "session_id": "s", "turn_number": 0},
    Kimi: {"type": "metadata", "protocol_version": "1.4", "created_at": 1_770_109_200_000},
    Qwen: {"uuid": "u", "sessionId": "s", "timestamp": TIME, "type": "user", "message": {"parts": [{"text": "hi"}]}},
}
_KEYS = """
type payload timestamp ordinal id data agentId toolCallId toolName arguments result content toolRequests message
role parts functionCall functionResponse name args input output call_id call status timed_out targets timeout_ms
agent_id agent_thread_id agent_path kind item error turn_id info total_token_usage total_tokens source subagent
thread_spawn depth messages toolCalls tokens total agents parentAgentId launch_spec event time usage user_input
session_id sessionId tool_use_id is_error callingSessionId callingToolUseId table meta createdAt lastUpdatedAt
agentType parentSessionId resumeCount text ts phase tool_name method params update sessionUpdate child_session_id
subagent_id parent_session_id subagentId info reason taskId detached origin metadata ts status pid parent_agent_id
metadata_json updated_at thinking thought thoughts summary blocks rawInput rawOutput parts content_json created_at
tool_call_id is_error functionResponse response toolResult toolCall prompt attachment subtype isMeta state callID
"""
_WORDS = """
session_meta event_msg response_item turn_context task_started task_complete turn_aborted token_count function_call
function_call_output wait_agent spawn_agent close_agent item_completed SubAgentActivity started completed failed
session.shutdown subagent.started subagent.completed tool.execution_start tool.execution_complete assistant.message
user assistant gemini tool_result tool_use tool_call message completion turn_ended turn.prompt tool.call tool.result
session/update tool_call_update subagent_spawned subagent_finished turn_completed retry_state phase_changed
permission_requested waiting_for_model subagent.spawned subagent.cancelled turn.ended cancelled task.terminated
context.append_loop_event usage.record SubagentEvent threads thread_spawn_edges running paused Task Agent
text thinking reasoning redacted_thinking image result part sessions toolRequest toolResponse system attachment
user_message_chunk agent_message_chunk content.part think
"""
KEYS, WORDS = _KEYS.split(), _WORDS.split()
TEXTS = st.sampled_from(
    [*WORDS, ID, TIME, "", '{"status": {"x": {"completed": 1}}}', "agent_id: a\nstatus: completed\n"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)
RECORDS = st.dictionaries(st.sampled_from(KEYS), VALUES, min_size=1, max_size=6)


@pytest.mark.parametrize("dialect", FIRST, ids=lambda dialect: dialect.name)
@settings(max_examples=25)
@given(told=st.lists(RECORDS, min_size=1, max_size=5))
def test_records_made_of_known_keys_and_any_values_are_answered(
    dialect: type[Dialect], told: list[dict[str, Any]]
) -> None:
    data = [json.dumps(value).encode() for value in (FIRST[dialect], *told)]
    sample = Sample("x.jsonl", b"\n".join(data), True)
    assert 0 <= dialect.sniff(sample) <= 100
    dialect.unit_of(sample)
    reader, forest = dialect(), Forest()
    for number, line in enumerate(data):
        place = Line(Origin("x.jsonl", number + 1, number * 100), line, Millis(1_770_109_200_000))
        found = list(reader.read(place))
        forest.apply([each for each in found if not isinstance(each, Unreadable)])
        list(reader.retell(place))
    values = [Record(Origin("x.jsonl", number + 1, number * 100), json.loads(line)) for number, line in enumerate(data)]
    assert all(isinstance(piece.text, str) and isinstance(piece.name, str) for piece in reader.said(values))
    forest.advance(Millis(1_770_109_900_000))
    assert all(forest.delegation(handle).product for handle in forest.walk() if forest.delegation(handle).started_at)
