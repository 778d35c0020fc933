"""Whatever stands in a database of the cache folder, it is one or it is damaged."""

from pathlib import Path
from sqlite3 import DatabaseError

import pytest

from delegtop.base.private_database import opened


def test_names_that_are_no_text_are_damage(tmp_path: Path) -> None:
    path, mark, tables = tmp_path / "cache.db", 7, "CREATE TABLE things (name TEXT)"
    with opened(path, mark, tables, make=True) as database:
        assert database is not None
    path.write_bytes(path.read_bytes().replace(b"TABLE things", b"TABLE \xe2hings"))
    with pytest.raises(DatabaseError), opened(path, mark, tables) as database:
        assert database is not None
        database.execute("SELECT name FROM things").fetchall()
