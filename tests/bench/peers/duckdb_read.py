"""Let duckdb read a session log with one thread: the few columns a tree needs, counted."""

import sys

import duckdb  # type: ignore[import-not-found]  # lives in an environment of its own

_QUERY = """
SELECT event, count(*), max("at"), count(DISTINCT session_id), count(parent_session_id)
FROM read_json(?, format='newline_delimited', columns={
    'event': 'VARCHAR', 'at': 'TIMESTAMP', 'session_id': 'VARCHAR', 'parent_session_id': 'VARCHAR'
}) GROUP BY event
"""

duckdb.connect(config={"threads": "1"}).execute(_QUERY, [sys.argv[1]]).fetchall()
