-- The database of sample_logs/goose as text: see sample_logs/README.md.
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '',
  session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP,
  accumulated_total_tokens INTEGER, provider_name TEXT, model_config_json TEXT
);
CREATE TABLE messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL, role TEXT NOT NULL,
  content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP
);

INSERT INTO sessions (id, name, description, session_type, working_dir, created_at, updated_at, accumulated_total_tokens, provider_name, model_config_json) VALUES
  ('20260922_1', 'Clean up the star catalogue', 'Clean up the star catalogue', 'user', '/home/ada/observatory', '2026-09-22 14:00:00', '2026-09-22 14:01:35', 21400, 'openrouter', '{"model_name":"qwen3-coder","context_limit":262144}');
INSERT INTO sessions (id, name, description, session_type, working_dir, created_at, updated_at, accumulated_total_tokens, provider_name, model_config_json) VALUES
  ('20260922_2', 'Find stars that are listed twice', 'Find stars that are listed twice', 'sub_agent', '/home/ada/observatory', '2026-09-22 14:00:22', '2026-09-22 14:01:28', 9300, 'openrouter', '{"model_name":"qwen3-coder","context_limit":262144}');
INSERT INTO sessions (id, name, description, session_type, working_dir, created_at, updated_at, accumulated_total_tokens, provider_name, model_config_json) VALUES
  ('20260922_3', 'Check the brightness of variable stars', 'Check the brightness of variable stars', 'sub_agent', '/home/ada/observatory', '2026-09-22 14:01:36', '2026-09-22 14:02:11', 6100, 'openrouter', '{"model_name":"qwen3-coder","context_limit":262144}');
INSERT INTO sessions (id, name, description, session_type, working_dir, created_at, updated_at, accumulated_total_tokens, provider_name, model_config_json) VALUES
  ('20260922_4', 'Say what the new catalogue format asks for', 'Say what the new catalogue format asks for', 'user', '/home/ada/observatory', '2026-09-22 13:20:00', '2026-09-22 13:21:30', 4800, 'openrouter', '{"model_name":"qwen3-coder","context_limit":262144}');

-- The session, which has handed on two pieces of work.
INSERT INTO messages (id, message_id, session_id, role, created_timestamp, timestamp, content_json) VALUES
  (1, 'msg_001', '20260922_1', 'user', 1790085601, '2026-09-22 14:00:01', '[{"type":"text","text":"Clean up the star catalogue: no star twice, and no brightness that cannot be."}]');
INSERT INTO messages (id, message_id, session_id, role, created_timestamp, timestamp, content_json) VALUES
  (2, 'msg_002', '20260922_1', 'assistant', 1790085612, '2026-09-22 14:00:12', '[{"type":"text","text":"First the stars that are listed twice."},{"type":"toolRequest","id":"call_1","toolCall":{"status":"success","value":{"name":"delegate","arguments":{"instructions":"Find stars in catalogue/*.csv that are listed twice under different names.","extensions":["developer"]}}}}]');
INSERT INTO messages (id, message_id, session_id, role, created_timestamp, timestamp, content_json) VALUES
  (3, 'msg_003', '20260922_1', 'user', 1790085690, '2026-09-22 14:01:30', '[{"type":"toolResponse","id":"call_1","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"412 pairs are closer than one arc second; 398 of them are the same star."}],"isError":false}}}]');
INSERT INTO messages (id, message_id, session_id, role, created_timestamp, timestamp, content_json) VALUES
  (4, 'msg_004', '20260922_1', 'assistant', 1790085695, '2026-09-22 14:01:35', '[{"type":"text","text":"398 stars are there twice. Now the brightness."},{"type":"toolRequest","id":"call_2","toolCall":{"status":"success","value":{"name":"delegate","arguments":{"instructions":"Check the brightness of the variable stars against their light curves.","extensions":["developer"]}}}}]');

-- A sub-agent that has answered.
INSERT INTO messages (id, message_id, session_id, role, created_timestamp, timestamp, content_json) VALUES
  (5, 'msg_005', '20260922_2', 'user', 1790085622, '2026-09-22 14:00:22', '[{"type":"text","text":"Find stars in catalogue/*.csv that are listed twice under different names."}]');
INSERT INTO messages (id, message_id, session_id, role, created_timestamp, timestamp, content_json) VALUES
  (6, 'msg_006', '20260922_2', 'assistant', 1790085631, '2026-09-22 14:00:31', '[{"type":"toolRequest","id":"call_x1","toolCall":{"status":"success","value":{"name":"developer__shell","arguments":{"command":"python tools/pairs.py catalogue --within 1.0"}}}}]');
INSERT INTO messages (id, message_id, session_id, role, created_timestamp, timestamp, content_json) VALUES
  (7, 'msg_007', '20260922_2', 'user', 1790085674, '2026-09-22 14:01:14', '[{"type":"toolResponse","id":"call_x1","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"412 pairs"}],"isError":false}}}]');
INSERT INTO messages (id, message_id, session_id, role, created_timestamp, timestamp, content_json) VALUES
  (8, 'msg_008', '20260922_2', 'assistant', 1790085688, '2026-09-22 14:01:28', '[{"type":"text","text":"412 pairs are closer than one arc second; 398 of them are the same star."}]');

-- A sub-agent that hangs in its tool.
INSERT INTO messages (id, message_id, session_id, role, created_timestamp, timestamp, content_json) VALUES
  (9, 'msg_009', '20260922_3', 'user', 1790085696, '2026-09-22 14:01:36', '[{"type":"text","text":"Check the brightness of the variable stars against their light curves."}]');
INSERT INTO messages (id, message_id, session_id, role, created_timestamp, timestamp, content_json) VALUES
  (10, 'msg_010', '20260922_3', 'assistant', 1790085708, '2026-09-22 14:01:48', '[{"type":"toolRequest","id":"call_y1","toolCall":{"status":"success","value":{"name":"developer__shell","arguments":{"command":"ls curves | wc -l"}}}}]');
INSERT INTO messages (id, message_id, session_id, role, created_timestamp, timestamp, content_json) VALUES
  (11, 'msg_011', '20260922_3', 'user', 1790085709, '2026-09-22 14:01:49', '[{"type":"toolResponse","id":"call_y1","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"1873"}],"isError":false}}}]');
INSERT INTO messages (id, message_id, session_id, role, created_timestamp, timestamp, content_json) VALUES
  (12, 'msg_012', '20260922_3', 'assistant', 1790085731, '2026-09-22 14:02:11', '[{"type":"toolRequest","id":"call_y2","toolCall":{"status":"success","value":{"name":"developer__shell","arguments":{"command":"python tools/fit_curves.py curves --all"}}}}]');

-- A session that is idle.
INSERT INTO messages (id, message_id, session_id, role, created_timestamp, timestamp, content_json) VALUES
  (13, 'msg_013', '20260922_4', 'user', 1790083200, '2026-09-22 13:20:00', '[{"type":"text","text":"What does the new catalogue format ask for?"}]');
INSERT INTO messages (id, message_id, session_id, role, created_timestamp, timestamp, content_json) VALUES
  (14, 'msg_014', '20260922_4', 'assistant', 1790083290, '2026-09-22 13:21:30', '[{"type":"text","text":"Positions for the year 2016, a brightness in three bands, and one name a star."}]');
