"""The formats of delegtop, so that none has to be imported to be found. Generated from their classes by
`pytest tests/unit/dialects/test_format_table.py --update-golden`: no line here is written by hand."""
# ruff: noqa: E501 - the names in a row decide how long it is

from delegtop.dialects.signature import Format, Signature

# fmt: off
FORMATS: tuple[Format, ...] = (
    Format('session-log', 'delegtop.protocols.standard.dialects.session_log:SessionLog', 95, (), (
        Signature((b'"event":',), ''),
    )),
    Format('registry', 'delegtop.protocols.standard.dialects.registry_snapshot:Registry', 94, (), (
        Signature((b'\n{}\n',), ''),
        Signature((b'{"sess_',), ''),
        Signature((b',"sess_',), ''),
        Signature((b':{"', b'"subagent":'), ''),
        Signature((b':{"', b'"task_number":'), ''),
        Signature((b':{"', b'"start_time":'), ''),
        Signature((b':{"', b'"deadline":'), ''),
        Signature((b':{"', b'"delegation_depth":'), ''),
        Signature((b':{"', b'"delegation_path":'), ''),
        Signature((b':{"', b'"return":'), ''),
    )),
    Format('delegation-context', 'delegtop.protocols.standard.dialects.delegation_context:ContextFile', 80, (), (
        Signature((b'"delegation_depth":',), ''),
        Signature((b'"delegation_path":',), ''),
        Signature((b'"task_context":', b'"timeout":'), ''),
    )),
    Format('return', 'delegtop.protocols.standard.dialects.return_file:ReturnFile', 0, (), (
    )),
    Format('claude-code', 'delegtop.agents.claude_code.transcript_dialect:ClaudeCode', 95, (), (
        Signature((b'"parentUuid"',), ''),
        Signature((b'"uuid":', b'"timestamp":', b'"message":'), ''),
        Signature((b'"sessionId":', b'"type":'), ''),
        Signature((b'"leafUuid":',), ''),
        Signature((b'"snapshot":',), ''),
        Signature((b'"agentType":',), ''),
        Signature((b'"runId":',), ''),
        Signature((b'"type":',), 'journal.jsonl'),
    )),
    Format('claude-sessions', 'delegtop.agents.claude_code.live_registry:ClaudeSessions', 95, (), (
        Signature((b'"pid":', b'"sessionId":'), ''),
    )),
    Format('claude-stream', 'delegtop.agents.claude_code.stream_json:ClaudeStream', 95, (), (
        Signature((b'"session_id":', b'"subtype":'), ''),
        Signature((b'"session_id":', b'"parent_tool_use_id":'), ''),
        Signature((b'"session_id":', b'"duration_api_ms":'), ''),
    )),
    Format('claude-hooks', 'delegtop.agents.claude_code.hooks:ClaudeHooks', 95, (), (
        Signature((b'"hook_event_name":', b'"session_id":'), ''),
    )),
    Format('opencode', 'delegtop.agents.opencode.opencode_dialects:OpenCode', 80, ('opencode*.db',), (
        Signature((b'SQLiteformat3',), 'opencode'),
        Signature((b'SQLiteformat3',), '', ('session.parent_id', 'message.data', 'part.message_id')),
    )),
    Format('opencode-export', 'delegtop.agents.opencode.opencode_dialects:OpenCodeExport', 95, (), (
        Signature((b'"info":{', b'"id":'), ''),
    )),
    Format('opencode-storage', 'delegtop.agents.opencode.opencode_dialects:OpenCodeStorage', 85, (), (
        Signature((b'"directory":', b'"title":', b'"created":'), ''),
        Signature((b'"role":', b'"time":', b'"created":'), ''),
        Signature((b'"type":', b'"id":', b'"messageID":'), ''),
        Signature((b'"type":', b'"id":'), 'part'),
    )),
    Format('opencode-stream', 'delegtop.agents.opencode.run_stream:OpenCodeStream', 90, (), (
        Signature((b'"type":', b'"timestamp":', b'"sessionID":'), ''),
    )),
    Format('kilo', 'delegtop.agents.kilo.kilo_database:Kilo', 85, ('kilo*.db',), (
        Signature((b'SQLiteformat3',), 'kilo'),
        Signature((b'SQLiteformat3',), '', ('session.parent_id', 'message.data', 'part.message_id', 'kilo_board')),
    )),
    Format('codex', 'delegtop.agents.codex.rollouts:Codex', 95, (), (
        Signature((b'"timestamp":', b'"type":', b'"payload":'), ''),
    )),
    Format('codex-state', 'delegtop.agents.codex.state_database:CodexState', 95, ('state_*.sqlite',), (
        Signature((b'SQLiteformat3',), 'state_'),
        Signature((b'SQLiteformat3',), '', ('threads', 'thread_spawn_edges.child_thread_id')),
    )),
    Format('proofchecker', 'delegtop.protocols.proofchecker.folder_dialect:ProofChecker', 95, ('.postflight-pending', '.postflight-loop-guard', '.continuation-loop-guard', '.orchestrator-loop-guard'), (
        Signature((), '.postflight-loop-guard'),
        Signature((), '.postflight-pending'),
        Signature((b'"status":',), 'return-meta'),
        Signature((b'[',), 'errors'),
        Signature((b'"errors":',), 'errors'),
        Signature((b'"errors":', b'"error_count":'), ''),
        Signature((b'"active_projects":',), ''),
        Signature((b'"blockers":',), ''),
        Signature((b'"completion_data":',), ''),
        Signature((b'"continuation_context":',), ''),
        Signature((b'"event_id":',), ''),
        Signature((b'"heartbeat_at":',), ''),
        Signature((b'"max_continuations":',), ''),
        Signature((b'"max_cycles":',), ''),
        Signature((b'"multi_task_mode":',), ''),
        Signature((b'"new_tasks":',), ''),
        Signature((b'"next_action_hint":',), ''),
        Signature((b'"partial_progress":',), ''),
        Signature((b'"phases_completed":',), ''),
        Signature((b'"phases_total":',), ''),
        Signature((b'"project_number":',), ''),
        Signature((b'"requires_user_review":',), ''),
        Signature((b'"tasks_completed":',), ''),
        Signature((b'"team_execution":',), ''),
        Signature((b'"teammate_results":',), ''),
        Signature((b'"waves":',), ''),
        Signature((b'"recorded_at":', b'"phase":'), ''),
        Signature((b'"what_happened":', b'"severity":'), ''),
        Signature((b'"operation":', b'"skill":'), ''),
        Signature((b'"operation":', b'"stop_hook_active":'), ''),
        Signature((b'"phase":', b'"objectives":'), ''),
        Signature((b'"phase":', b'"current_objective":'), ''),
        Signature((b'"status":"in_progress"',), ''),
        Signature((b'"status":"researched"',), ''),
        Signature((b'"status":"planned"',), ''),
        Signature((b'"status":"implemented"',), ''),
    )),
    Format('cleo-compliance', 'delegtop.protocols.cleo.compliance:CleoCompliance', 90, (), (
        Signature((b'"compliance":', b'"source_id":'), ''),
    )),
    Format('cleo-manifest', 'delegtop.protocols.cleo.manifest:CleoManifest', 80, (), (
        Signature((b'"key_findings":',), ''),
        Signature((b'"needs_followup":',), ''),
        Signature((b'"linked_tasks":',), ''),
        Signature((b'"actionable":',), ''),
        Signature((b'"status":', b'"task'), ''),
        Signature((b'"status":', b'"linkedTask":'), ''),
        Signature((b'"status":', b'"epic":'), ''),
        Signature((b'"status":', b'"id":'), ''),
    )),
    Format('cleo-response', 'delegtop.protocols.cleo.response:CleoResponse', 60, (), (
    )),
    Format('cleo-sessions', 'delegtop.protocols.cleo.working_sessions:CleoSessions', 85, (), (
        Signature((b'"start_timestamp"', b'"end_timestamp"'), ''),
    )),
    Format('cleo-tasks', 'delegtop.protocols.cleo.tasks_database:CleoTasks', 90, ('tasks.db', 'cleo.db'), (
        Signature((b'SQLiteformat3',), '.cleo'),
        Signature((b'SQLiteformat3',), '', ('agent_instances',)),
        Signature((b'SQLiteformat3',), '', ('pipeline_manifest',)),
        Signature((b'SQLiteformat3',), '', ('agent_error_log',)),
        Signature((b'SQLiteformat3',), '', ('tasks_agent_instances',)),
        Signature((b'SQLiteformat3',), '', ('tasks_pipeline_manifest',)),
        Signature((b'SQLiteformat3',), '', ('tasks_agent_error_log',)),
        Signature((b'SQLiteformat3',), '', ('docs_agent_instances',)),
        Signature((b'SQLiteformat3',), '', ('docs_pipeline_manifest',)),
        Signature((b'SQLiteformat3',), '', ('docs_agent_error_log',)),
    )),
    Format('hyper-activity', 'delegtop.protocols.hyper.file_activity:HyperActivity', 75, (), (
        Signature((b'---', b'activity:', b'actor:'), ''),
    )),
    Format('hyper-output', 'delegtop.protocols.hyper.final_message:HyperOutput', 85, (), (
        Signature((b'AGENT_OUTPUT_START',), ''),
        Signature((b'"artifacts"', b'"meta":'), ''),
        Signature((b'"artifacts"', b'"next_steps":'), ''),
    )),
    Format('hyper-run', 'delegtop.protocols.hyper.run_state:HyperRun', 90, ('state.md',), (
        Signature((b'run:', b'program:', b'##ExecutionTrace'), ''),
        Signature((b'run:', b'program:', b'##CallStack'), ''),
    )),
    Format('hyper-session', 'delegtop.protocols.hyper.session_sidecar:HyperSession', 85, (), (
        Signature((b'"sessionId"', b'"currentTarget":'), ''),
        Signature((b'"sessionId"', b'"recentTargets":'), ''),
    )),
    Format('copilot', 'delegtop.agents.copilot.event_log:Copilot', 95, (), (
        Signature((b'"id":', b'"type":', b'"data":'), ''),
    )),
    Format('copilot-locks', 'delegtop.agents.copilot.session_locks:CopilotLocks', 90, ('inuse.*.lock',), (
        Signature((), 'inuse.'),
    )),
    Format('gemini', 'delegtop.agents.gemini.chats:Gemini', 95, (), (
        Signature((b'"sessionId"', b'"projectHash"', b'"startTime"'), ''),
    )),
    Format('qwen', 'delegtop.agents.qwen.qwen_transcripts:Qwen', 95, (), (
        Signature((b'"agentId":', b'"agentType":', b'"status":'), ''),
        Signature((b'\n{"uuid":',), 'agent-'),
        Signature((b'\n{"uuid":',), 'chats'),
        Signature((b'"parts":', b'"uuid":'), ''),
        Signature((b'"systemPayload":', b'"uuid":'), ''),
    )),
    Format('kimi', 'delegtop.agents.kimi.wire_log:Kimi', 90, (), (
        Signature((b'"agents":', b'"parentAgentId":'), ''),
        Signature((b'"agents":', b'"homedir":'), ''),
        Signature((b'"agent_id":', b'"launch_spec":'), ''),
        Signature((b'"taskId":', b'"agentId":', b'"detached":'), ''),
        Signature((b'"metadata"', b'"protocol_version":'), ''),
    )),
    Format('cline', 'delegtop.agents.cline.cline_database:Cline', 85, ('sessions.db',), (
        Signature((b'SQLiteformat3',), 'sessions.db'),
        Signature((b'SQLiteformat3',), '', ('sessions.session_id', 'sessions.pid', 'sessions.parent_agent_id', 'subagent_spawn_queue')),
    )),
    Format('cline-messages', 'delegtop.agents.cline.cline_messages:ClineMessages', 90, (), (
        Signature((b'"sessionId":', b'"origin":', b'"messages":'), ''),
        Signature((b'"session_id":', b'"pid":', b'"workspace_root":'), ''),
    )),
    Format('grok', 'delegtop.agents.grok.grok_sessions:Grok', 95, (), (
        Signature((b'"ts":', b'"type":'), ''),
        Signature((b'"method":', b'"params":', b'"update":'), ''),
        Signature((b'"info":', b'"cwd":', b'"num_chat_messages":'), ''),
        Signature((b'"subagent_id":', b'"parent_session_id":', b'"child_session_id":'), ''),
    )),
    Format('cursor', 'delegtop.agents.cursor.cursor_transcripts:Cursor', 75, (), (
        Signature((b'"role":', b'"message":', b'"content":['), ''),
    )),
    Format('droid', 'delegtop.agents.droid.droid_store:Droid', 90, (), (
        Signature((b'"session_start"',), ''),
        Signature((b'"timestamp":', b'"role":', b'"text":'), ''),
        Signature((b'"timestamp":', b'"toolName":', b'"parameters":'), ''),
        Signature((b'"timestamp":', b'"finalText":'), ''),
    )),
    Format('crush', 'delegtop.agents.crush.crush_database:Crush', 80, ('crush.db',), (
        Signature((b'SQLiteformat3',), 'crush.db'),
        Signature((b'SQLiteformat3',), '', ('sessions.parent_session_id', 'messages.parts')),
    )),
    Format('goose', 'delegtop.agents.goose.goose_database:Goose', 80, ('sessions.db',), (
        Signature((b'SQLiteformat3',), 'sessions.db'),
        Signature((b'SQLiteformat3',), '', ('sessions.session_type', 'sessions.working_dir', 'messages.content_json')),
    )),
    Format('otlp', 'delegtop.agents.otel.otlp:Otlp', 95, (), (
        Signature((b'"resourceSpans"',), ''),
        Signature((b'"resourceLogs"',), ''),
        Signature((b'"resourceMetrics"',), ''),
        Signature((b'"trace.span"',), ''),
        Signature((b'"object"', b'"workflow_name"'), ''),
    )),
    Format('recording', 'delegtop.dialects.recording.recording_dialect:Recording', 100, ('*.delegtop', '*.delegtop.*', 'incident*.zip'), (
        Signature((b'","is":"recording","version":',), ''),
    )),
)

PRODUCTS: dict[str, str] = {
    'claude-code': 'delegtop.agents.claude_code',
    'opencode': 'delegtop.agents.opencode',
    'kilo': 'delegtop.agents.kilo',
    'codex': 'delegtop.agents.codex',
    'proofchecker': 'delegtop.protocols.proofchecker',
    'cleo': 'delegtop.protocols.cleo',
    'hyper': 'delegtop.protocols.hyper',
    'copilot': 'delegtop.agents.copilot',
    'gemini': 'delegtop.agents.gemini',
    'qwen': 'delegtop.agents.qwen',
    'kimi': 'delegtop.agents.kimi',
    'cline': 'delegtop.agents.cline',
    'grok': 'delegtop.agents.grok',
    'cursor': 'delegtop.agents.cursor',
    'droid': 'delegtop.agents.droid',
    'crush': 'delegtop.agents.crush',
    'goose': 'delegtop.agents.goose',
    'otel': 'delegtop.agents.otel',
}
"""The package that declares each product."""
# fmt: on
