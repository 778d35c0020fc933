-- The database of sample_logs/kilo as text: see sample_logs/README.md.
CREATE TABLE session (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, directory TEXT NOT NULL, title TEXT NOT NULL, version TEXT NOT NULL,
  agent TEXT, model TEXT, cost REAL NOT NULL DEFAULT 0, tokens_input INTEGER NOT NULL DEFAULT 0, tokens_output INTEGER NOT NULL DEFAULT 0,
  tokens_reasoning INTEGER NOT NULL DEFAULT 0, tokens_cache_read INTEGER NOT NULL DEFAULT 0, tokens_cache_write INTEGER NOT NULL DEFAULT 0,
  time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL
);
CREATE TABLE message (
  id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL
);
CREATE TABLE part (
  id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL
);
CREATE TABLE kilo_board (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, state TEXT NOT NULL);
CREATE INDEX recall_message_role_idx ON message (id, json_extract(data, '$.role'));

-- The session itself.
INSERT INTO session (id, project_id, parent_id, directory, title, version, agent, model, cost, tokens_input, tokens_output, time_created, time_updated) VALUES
  ('ses_0loom', 'p1', NULL, '/home/ada/loom', 'Weave the twill of order 118', '7.7.9', 'code', '{"id":"glm-5","providerID":"loom"}', 0.031, 2100, 340, 1791277200000, 1791277280000);
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES
  ('msg_a1', 'ses_0loom', 1791277202000, 1791277202000, '{"role":"user","time":{"created":1791277202000}}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES
  ('prt_a1', 'msg_a1', 'ses_0loom', 1791277202000, 1791277202000, '{"type":"text","text":"Order 118 is a twill. Find the draft, thread the loom program and simulate one repeat."}');
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES
  ('msg_a2', 'ses_0loom', 1791277204000, 1791277249000, '{"role":"assistant","time":{"created":1791277204000,"completed":1791277249000},"agent":"code","modelID":"glm-5","providerID":"loom","finish":"tool-calls"}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES
  ('prt_a2', 'msg_a2', 'ses_0loom', 1791277248000, 1791277248000, '{"type":"tool","tool":"task","callID":"call_prt_a2","state":{"status":"completed","input":{"description":"Find the draft","prompt":"Find the draft of order 118 and say which shafts it needs.","subagent_type":"explore"},"metadata":{"sessionId":"ses_1draft"},"time":{"start":1791277206000,"end":1791277248000},"output":"<task id=\"ses_1draft\" state=\"completed\">\n<task_result>\nDraft T-118 in drafts/twill.wif: eight shafts, straight draw.\n</task_result>\n</task>"}}');
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES
  ('msg_a3', 'ses_0loom', 1791277250000, 1791277250000, '{"role":"assistant","time":{"created":1791277250000},"agent":"code","modelID":"glm-5","providerID":"loom"}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES
  ('prt_a3', 'msg_a3', 'ses_0loom', 1791277280000, 1791277280000, '{"type":"tool","tool":"task","callID":"call_prt_a3","state":{"status":"error","input":{"description":"Write the treadling","prompt":"Write the treadling of draft T-118 into programs/118.lift.","subagent_type":"general"},"metadata":{"sessionId":"ses_2lift"},"time":{"start":1791277254000,"end":1791277280000},"error":"the model refused: context length exceeded"}}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES
  ('prt_a4', 'msg_a3', 'ses_0loom', 1791277255000, 1791277255000, '{"type":"tool","tool":"task","callID":"call_prt_a4","state":{"status":"running","input":{"description":"Simulate a repeat","prompt":"Simulate one repeat of programs/118.lift and compare it with the draft.","subagent_type":"general"},"metadata":{"sessionId":"ses_3sim"},"time":{"start":1791277255000}}}');

-- The agent that came back.
INSERT INTO session (id, project_id, parent_id, directory, title, version, agent, model, cost, tokens_input, tokens_output, time_created, time_updated) VALUES
  ('ses_1draft', 'p1', 'ses_0loom', '/home/ada/loom', 'Find the draft (@explore subagent)', '7.7.9', 'explore', '{"id":"glm-5","providerID":"loom"}', 0.009, 900, 120, 1791277206000, 1791277248000);
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES
  ('msg_b1', 'ses_1draft', 1791277206000, 1791277206000, '{"role":"user","time":{"created":1791277206000}}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES
  ('prt_b1', 'msg_b1', 'ses_1draft', 1791277206000, 1791277206000, '{"type":"text","text":"Find the draft of order 118 and say which shafts it needs."}');
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES
  ('msg_b2', 'ses_1draft', 1791277208000, 1791277220000, '{"role":"assistant","time":{"created":1791277208000,"completed":1791277220000},"agent":"code","modelID":"glm-5","providerID":"loom","finish":"tool-calls"}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES
  ('prt_b2', 'msg_b2', 'ses_1draft', 1791277220000, 1791277220000, '{"type":"tool","tool":"grep","callID":"call_prt_b2","state":{"status":"completed","input":{"pattern":"118","path":"drafts"},"time":{"start":1791277219000,"end":1791277220000}}}');
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES
  ('msg_b3', 'ses_1draft', 1791277221000, 1791277248000, '{"role":"assistant","time":{"created":1791277221000,"completed":1791277248000},"agent":"code","modelID":"glm-5","providerID":"loom","finish":"stop"}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES
  ('prt_b3', 'msg_b3', 'ses_1draft', 1791277247000, 1791277247000, '{"type":"text","text":"Draft T-118 in drafts/twill.wif: eight shafts, straight draw."}');

-- The agent that failed.
INSERT INTO session (id, project_id, parent_id, directory, title, version, agent, model, cost, tokens_input, tokens_output, time_created, time_updated) VALUES
  ('ses_2lift', 'p1', 'ses_0loom', '/home/ada/loom', 'Write the treadling (@general subagent)', '7.7.9', 'general', '{"id":"glm-5","providerID":"loom"}', 0.02, 7400, 60, 1791277254000, 1791277280000);
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES
  ('msg_c1', 'ses_2lift', 1791277254000, 1791277254000, '{"role":"user","time":{"created":1791277254000}}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES
  ('prt_c1', 'msg_c1', 'ses_2lift', 1791277254000, 1791277254000, '{"type":"text","text":"Write the treadling of draft T-118 into programs/118.lift."}');
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES
  ('msg_c2', 'ses_2lift', 1791277256000, 1791277280000, '{"role":"assistant","time":{"created":1791277256000,"completed":1791277280000},"agent":"code","modelID":"glm-5","providerID":"loom","error":{"name":"ContextOverflowError","data":{"message":"the model refused: context length exceeded"}}}');

-- The agent that hangs in its tool.
INSERT INTO session (id, project_id, parent_id, directory, title, version, agent, model, cost, tokens_input, tokens_output, time_created, time_updated) VALUES
  ('ses_3sim', 'p1', 'ses_0loom', '/home/ada/loom', 'Simulate a repeat (@general subagent)', '7.7.9', 'general', '{"id":"glm-5","providerID":"loom"}', 0.011, 1300, 90, 1791277255000, 1791277265000);
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES
  ('msg_d1', 'ses_3sim', 1791277255000, 1791277255000, '{"role":"user","time":{"created":1791277255000}}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES
  ('prt_d1', 'msg_d1', 'ses_3sim', 1791277255000, 1791277255000, '{"type":"text","text":"Simulate one repeat of programs/118.lift and compare it with the draft."}');
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES
  ('msg_d2', 'ses_3sim', 1791277257000, 1791277257000, '{"role":"assistant","time":{"created":1791277257000},"agent":"code","modelID":"glm-5","providerID":"loom"}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES
  ('prt_d2', 'msg_d2', 'ses_3sim', 1791277265000, 1791277265000, '{"type":"tool","tool":"bash","callID":"call_prt_d2","state":{"status":"running","input":{"command":"loomsim --repeat 1 programs/118.lift","description":"Simulates one repeat"},"time":{"start":1791277265000}}}');
