"""Small databases of every agent program that keeps one, and what such a program writes into them.

A row is written with the time that its program gives it, in the words of its table; a change moves that time on.
"""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from delegtop.base.clock import Millis, iso

Write = Callable[[sqlite3.Connection, str, str | None, Millis], object]
"""Of a session its id, whose child it is, and when; of something in it the id, its session, and when."""


class DatabaseFormat(NamedTuple):
    """How one program keeps its sessions."""

    file: str
    schema: str
    session: Write
    message: Write | None = None
    """Writes what a session said, anew or once more; None where there are only sessions."""
    own: str = "session"
    """The table of its sessions, and the column by which they are told."""
    id: str = "id"
    has_roots: bool = True
    """Whether those are read from it that nobody started."""


def _opencode_session(database: sqlite3.Connection, id: str, parent: str | None, at: Millis) -> None:
    database.execute("REPLACE INTO session VALUES (?, ?, '/work', ?, ?, ?)", (id, parent, f"does {id}", at, at))


def _opencode_message(database: sqlite3.Connection, id: str, session: str | None, at: Millis) -> None:
    said = json.dumps({"role": "assistant", "time": {"created": at}, "modelID": "m"})
    database.execute("REPLACE INTO message VALUES (?, ?, ?, ?, ?)", (id, session, at, at, said))
    part = json.dumps({"type": "text", "text": f"said {at}"})
    database.execute(
        "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET time_updated = ?, data = ?",
        (f"{id}.1", id, session, at, at, part, at, part),
    )


_OPENCODE = """
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, time_created INTEGER,
  time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER,
  data TEXT);
"""


def _crush_session(database: sqlite3.Connection, id: str, parent: str | None, at: Millis) -> None:
    values = (id, parent, f"does {id}", at // 1000, at // 1000, at // 1000)
    database.execute(
        "INSERT INTO sessions VALUES (?, ?, ?, 0.0, ?, ?) ON CONFLICT (id) DO UPDATE SET updated_at = ?", values
    )


def _crush_message(database: sqlite3.Connection, id: str, session: str | None, at: Millis) -> None:
    parts = json.dumps([{"type": "text", "data": {"text": f"said {at}"}}])
    values = (id, session, parts, at // 1000, at // 1000)
    database.execute("REPLACE INTO messages VALUES (?, ?, 'assistant', ?, 'm', ?, ?, 0)", values)


_CRUSH = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, cost REAL, created_at INTEGER,
  updated_at INTEGER);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, model TEXT, created_at INTEGER,
  updated_at INTEGER, is_summary_message INTEGER);
"""


def _goose_session(database: sqlite3.Connection, id: str, parent: str | None, at: Millis) -> None:
    written = iso(at)[:19].replace("T", " ")
    kind = "user" if parent is None else "sub_agent"
    database.execute(
        "REPLACE INTO sessions VALUES (?, ?, ?, '/work', ?, ?, ?)", (id, id, kind, parent, written, written)
    )


def _goose_message(database: sqlite3.Connection, id: str, session: str | None, at: Millis) -> None:
    said = json.dumps([{"type": "text", "text": f"{id} said {at}"}])
    database.execute(
        "INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (?, 'assistant', ?, ?)",
        (session, said, at // 1000),
    )


_GOOSE = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, session_type TEXT, working_dir TEXT, parent_session_id TEXT,
  created_at TIMESTAMP, updated_at TIMESTAMP);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content_json TEXT,
  created_timestamp INTEGER);
"""


def _cline_session(database: sqlite3.Connection, id: str, parent: str | None, at: Millis) -> None:
    values = (id, iso(at), parent, f"agent_{id}", f"does {id}", iso(at), iso(at))
    database.execute(
        "INSERT INTO sessions VALUES (?, 0, ?, 'running', ?, NULL, ?, ?, ?) "
        "ON CONFLICT (session_id) DO UPDATE SET updated_at = ?",
        values,
    )


_CLINE = """
CREATE TABLE sessions (session_id TEXT PRIMARY KEY, pid INTEGER, started_at TEXT, status TEXT, parent_session_id TEXT,
  parent_agent_id TEXT, agent_id TEXT, prompt TEXT, updated_at TEXT);
CREATE TABLE subagent_spawn_queue (id INTEGER PRIMARY KEY);
"""


def _codex_thread(database: sqlite3.Connection, id: str, parent: str | None, at: Millis) -> None:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1}}}
    source = "exec" if parent is None else json.dumps(spawned, separators=(",", ":"))
    database.execute(
        "INSERT INTO threads VALUES (?, ?, ?, ?, ?, 0) ON CONFLICT (id) DO UPDATE SET updated_at_ms = ?",
        (id, source, f"does {id}", at, at, at),
    )
    if parent is not None:
        database.execute("REPLACE INTO thread_spawn_edges VALUES (?, ?, 'open')", (parent, id))


_CODEX = """
CREATE TABLE threads (id TEXT PRIMARY KEY, source TEXT, title TEXT, created_at_ms INTEGER, updated_at_ms INTEGER,
  archived INTEGER);
CREATE TABLE thread_spawn_edges (parent_thread_id TEXT, child_thread_id TEXT PRIMARY KEY, status TEXT);
"""

FORMATS = {
    "opencode": DatabaseFormat("opencode.db", _OPENCODE, _opencode_session, _opencode_message),
    "kilo": DatabaseFormat(
        "kilo.db", f"{_OPENCODE} CREATE TABLE kilo_board (id);", _opencode_session, _opencode_message
    ),
    "crush": DatabaseFormat("crush.db", _CRUSH, _crush_session, _crush_message, "sessions"),
    "goose": DatabaseFormat("sessions.db", _GOOSE, _goose_session, _goose_message, "sessions"),
    "cline": DatabaseFormat("sessions.db", _CLINE, _cline_session, None, "sessions", "session_id"),
    "codex": DatabaseFormat("state_5.sqlite", _CODEX, _codex_thread, None, "threads", has_roots=False),
}


def made(path: Path, format: DatabaseFormat) -> sqlite3.Connection:
    """A database of that program, empty, as it keeps it open."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA synchronous = OFF")  # what the machine loses when it falls over is no matter here
    database.execute("PRAGMA journal_mode = WAL")
    if not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        database.executescript(format.schema)
    return database
