-- The database of sample_logs/crush as text: see sample_logs/README.md.
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, message_count INTEGER NOT NULL DEFAULT 0,
  prompt_tokens INTEGER NOT NULL DEFAULT 0, completion_tokens INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0.0,
  updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL
);
CREATE TABLE messages (
  id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL DEFAULT '[]', model TEXT,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, finished_at INTEGER,
  is_summary_message INTEGER NOT NULL DEFAULT 0
);

-- Sessions: those of agents first, as the parent's row is written again when it has paid for them.
INSERT INTO sessions (id, parent_session_id, title, message_count, cost, created_at, updated_at) VALUES
  ('c0a7e1d2$$call_glaze', 'b81f4c2e-07d9-4a65-93be-5c2f60e1a7d4', 'New Agent Session', 6, 0.021, 1788249612, 1788249666);
INSERT INTO sessions (id, parent_session_id, title, message_count, cost, created_at, updated_at) VALUES
  ('c0a7e1d6$$call_curve', 'b81f4c2e-07d9-4a65-93be-5c2f60e1a7d4', 'New Agent Session', 4, 0.034, 1788249681, 1788249739);
INSERT INTO sessions (id, parent_session_id, title, message_count, cost, created_at, updated_at) VALUES
  ('c0a7e1d6$$call_log', 'b81f4c2e-07d9-4a65-93be-5c2f60e1a7d4', 'New Agent Session', 4, 0.009, 1788249681, 1788249726);
INSERT INTO sessions (id, parent_session_id, title, message_count, cost, created_at, updated_at) VALUES
  ('b81f4c2e-07d9-4a65-93be-5c2f60e1a7d4', NULL, 'Slow the glaze ramps down', 5, 0.118, 1788249600, 1788249739);

-- The session itself.
INSERT INTO messages (id, session_id, role, model, created_at, updated_at, finished_at, parts) VALUES
  ('c0a7e1d1', 'b81f4c2e-07d9-4a65-93be-5c2f60e1a7d4', 'user', NULL, 1788249601, 1788249601, NULL, '[{"type":"text","data":{"text":"Some glazes crack because the kiln heats too fast. Find the programs, slow them down and show me the curves."}}]');
INSERT INTO messages (id, session_id, role, model, created_at, updated_at, finished_at, parts) VALUES
  ('c0a7e1d2', 'b81f4c2e-07d9-4a65-93be-5c2f60e1a7d4', 'assistant', 'glm-5', 1788249604, 1788249611, 1788249611, '[{"type":"text","data":{"text":"First I look for the programs."}},{"type":"tool_call","data":{"id":"call_glaze","name":"agent","input":"{\"prompt\":\"Find where the kiln controller reads its glaze programs, and which of them ramp faster than 200 degrees an hour.\"}","provider_executed":false,"finished":true}},{"type":"finish","data":{"reason":"tool_use","time":1788249611}}]');
INSERT INTO messages (id, session_id, role, model, created_at, updated_at, finished_at, parts) VALUES
  ('c0a7e1d3', 'b81f4c2e-07d9-4a65-93be-5c2f60e1a7d4', 'tool', NULL, 1788249667, 1788249667, NULL, '[{"type":"tool_result","data":{"tool_call_id":"call_glaze","name":"agent","content":"Programs are read in kiln/programs.go. Three of eleven ramp too fast: celadon, tenmoku and shino.","metadata":"","is_error":false}}]');
INSERT INTO messages (id, session_id, role, model, created_at, updated_at, finished_at, parts) VALUES
  ('c0a7e1d6', 'b81f4c2e-07d9-4a65-93be-5c2f60e1a7d4', 'assistant', 'glm-5', 1788249670, 1788249680, 1788249680, '[{"type":"text","data":{"text":"Three programs. I have the curves drawn and the log read at once."}},{"type":"tool_call","data":{"id":"call_curve","name":"agent","input":"{\"prompt\":\"Draw the firing curve of every glaze program into docs/curves, one picture each.\"}","provider_executed":false,"finished":true}},{"type":"tool_call","data":{"id":"call_log","name":"agent","input":"{\"prompt\":\"Read last month''s kiln log and say how far the measured temperature was from the programmed one.\"}","provider_executed":false,"finished":true}},{"type":"finish","data":{"reason":"tool_use","time":1788249680}}]');
INSERT INTO messages (id, session_id, role, model, created_at, updated_at, finished_at, parts) VALUES
  ('c0a7e1d7', 'b81f4c2e-07d9-4a65-93be-5c2f60e1a7d4', 'tool', NULL, 1788249740, 1788249740, NULL, '[{"type":"tool_result","data":{"tool_call_id":"call_curve","name":"agent","content":"the agent failed: quota exceeded","metadata":"","is_error":true}}]');

-- The agent that came back.
INSERT INTO messages (id, session_id, role, model, created_at, updated_at, finished_at, parts) VALUES
  ('a1', 'c0a7e1d2$$call_glaze', 'user', NULL, 1788249612, 1788249612, NULL, '[{"type":"text","data":{"text":"Find where the kiln controller reads its glaze programs, and which of them ramp faster than 200 degrees an hour."}}]');
INSERT INTO messages (id, session_id, role, model, created_at, updated_at, finished_at, parts) VALUES
  ('a2', 'c0a7e1d2$$call_glaze', 'assistant', 'glm-5', 1788249616, 1788249619, 1788249619, '[{"type":"tool_call","data":{"id":"call_a1","name":"grep","input":"{\"pattern\":\"LoadProgram\",\"path\":\"kiln\"}","provider_executed":false,"finished":true}},{"type":"finish","data":{"reason":"tool_use","time":1788249619}}]');
INSERT INTO messages (id, session_id, role, model, created_at, updated_at, finished_at, parts) VALUES
  ('a3', 'c0a7e1d2$$call_glaze', 'tool', NULL, 1788249620, 1788249620, NULL, '[{"type":"tool_result","data":{"tool_call_id":"call_a1","name":"grep","content":"kiln/programs.go:48\nkiln/controller.go:112","metadata":"","is_error":false}}]');
INSERT INTO messages (id, session_id, role, model, created_at, updated_at, finished_at, parts) VALUES
  ('a4', 'c0a7e1d2$$call_glaze', 'assistant', 'glm-5', 1788249627, 1788249629, 1788249629, '[{"type":"tool_call","data":{"id":"call_a2","name":"view","input":"{\"file_path\":\"kiln/programs.go\"}","provider_executed":false,"finished":true}},{"type":"finish","data":{"reason":"tool_use","time":1788249629}}]');
INSERT INTO messages (id, session_id, role, model, created_at, updated_at, finished_at, parts) VALUES
  ('a5', 'c0a7e1d2$$call_glaze', 'tool', NULL, 1788249630, 1788249630, NULL, '[{"type":"tool_result","data":{"tool_call_id":"call_a2","name":"view","content":"func LoadProgram(name string) (Program, error) { … }","metadata":"","is_error":false}}]');
INSERT INTO messages (id, session_id, role, model, created_at, updated_at, finished_at, parts) VALUES
  ('a6', 'c0a7e1d2$$call_glaze', 'assistant', 'glm-5', 1788249644, 1788249666, 1788249666, '[{"type":"text","data":{"text":"Programs are read in kiln/programs.go. Three of eleven ramp too fast: celadon, tenmoku and shino."}},{"type":"finish","data":{"reason":"end_turn","time":1788249666}}]');

-- The agent that failed.
INSERT INTO messages (id, session_id, role, model, created_at, updated_at, finished_at, parts) VALUES
  ('b1', 'c0a7e1d6$$call_curve', 'user', NULL, 1788249681, 1788249681, NULL, '[{"type":"text","data":{"text":"Draw the firing curve of every glaze program into docs/curves, one picture each."}}]');
INSERT INTO messages (id, session_id, role, model, created_at, updated_at, finished_at, parts) VALUES
  ('b2', 'c0a7e1d6$$call_curve', 'assistant', 'glm-5', 1788249690, 1788249704, 1788249704, '[{"type":"tool_call","data":{"id":"call_b1","name":"write","input":"{\"file_path\":\"tools/curves.go\"}","provider_executed":false,"finished":true}},{"type":"finish","data":{"reason":"tool_use","time":1788249704}}]');
INSERT INTO messages (id, session_id, role, model, created_at, updated_at, finished_at, parts) VALUES
  ('b3', 'c0a7e1d6$$call_curve', 'tool', NULL, 1788249705, 1788249705, NULL, '[{"type":"tool_result","data":{"tool_call_id":"call_b1","name":"write","content":"File successfully written","metadata":"","is_error":false}}]');
INSERT INTO messages (id, session_id, role, model, created_at, updated_at, finished_at, parts) VALUES
  ('b4', 'c0a7e1d6$$call_curve', 'assistant', 'glm-5', 1788249720, 1788249739, 1788249739, '[{"type":"finish","data":{"reason":"error","time":1788249739,"message":"Quota exceeded","details":"the monthly limit of this key is used up"}}]');

-- The agent that hangs in its tool.
INSERT INTO messages (id, session_id, role, model, created_at, updated_at, finished_at, parts) VALUES
  ('d1', 'c0a7e1d6$$call_log', 'user', NULL, 1788249681, 1788249681, NULL, '[{"type":"text","data":{"text":"Read last month''s kiln log and say how far the measured temperature was from the programmed one."}}]');
INSERT INTO messages (id, session_id, role, model, created_at, updated_at, finished_at, parts) VALUES
  ('d2', 'c0a7e1d6$$call_log', 'assistant', 'glm-5', 1788249692, 1788249695, 1788249695, '[{"type":"tool_call","data":{"id":"call_d1","name":"ls","input":"{\"path\":\"logs/2026-08\"}","provider_executed":false,"finished":true}},{"type":"finish","data":{"reason":"tool_use","time":1788249695}}]');
INSERT INTO messages (id, session_id, role, model, created_at, updated_at, finished_at, parts) VALUES
  ('d3', 'c0a7e1d6$$call_log', 'tool', NULL, 1788249696, 1788249696, NULL, '[{"type":"tool_result","data":{"tool_call_id":"call_d1","name":"ls","content":"31 files","metadata":"","is_error":false}}]');
INSERT INTO messages (id, session_id, role, model, created_at, updated_at, finished_at, parts) VALUES
  ('d4', 'c0a7e1d6$$call_log', 'assistant', 'glm-5', 1788249710, 1788249726, 1788249726, '[{"type":"text","data":{"text":"Now the numbers."}},{"type":"tool_call","data":{"id":"call_d2","name":"bash","input":"{\"command\":\"go run ./tools/drift logs/2026-08/*.log\",\"description\":\"Compare measured and programmed\"}","provider_executed":false,"finished":true}},{"type":"finish","data":{"reason":"tool_use","time":1788249726}}]');
