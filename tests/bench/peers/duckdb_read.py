"""Let duckdb read a session log with one thread: the few columns a tree needs, counted."""

import sys

import duckdb  # type: ignore[import-not-found]  # lives in an environment of its own

database = duckdb.connect(config={"threads": "1"})
names = {"event": "VARCHAR", "at": "TIMESTAMP", "session_id": "VARCHAR", "parent_session_id": "VARCHAR"}
database.execute(
    'SELECT event, count(*), max("at"), count(DISTINCT session_id), count(parent_session_id) '
    f"FROM read_json(?, format='newline_delimited', columns={names}) GROUP BY event",
    [sys.argv[1]],
).fetchall()
