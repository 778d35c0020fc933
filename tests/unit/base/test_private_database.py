"""Whatever stands in a database of the cache folder, it is one or it is damaged."""

from pathlib import Path
from sqlite3 import DatabaseError

import pytest

from delegtop.base.private_database import opened


def test_names_that_are_no_text_are_damage(tmp_path: Path) -> None:
    path, mark, tables = tmp_path / "cache.db", 7, "CREATE TABLE things (name TEXT)"
    with opened(path, mark, tables, make=True) as database:
        assert database is not None
    damaged = path.read_bytes().replace(b"tablethings", b"table\xe2hings").replace(b"CREATE TABLE", b"CREATX TABLE")
    path.write_bytes(damaged)
    with pytest.raises(DatabaseError):
        _names(path, mark, tables)


def _names(path: Path, mark: int, tables: str) -> list[str]:
    with opened(path, mark, tables) as database:
        assert database is not None
        return [name for (name,) in database.execute("SELECT name FROM sqlite_master")]
