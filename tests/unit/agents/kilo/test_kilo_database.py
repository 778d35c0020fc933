"""Kilo's database: OpenCode's tables, and told from OpenCode's."""

import pytest

from delegtop.agents.kilo.kilo_database import Kilo
from delegtop.agents.opencode.opencode_dialects import TABLES, OpenCode
from delegtop.dialects import Sample, load, names, recognise

HEAD = b"SQLite format 3\0" + b"\0" * 100
SHARED = frozenset(TABLES)


@pytest.mark.parametrize(
    ("path", "columns", "format"),
    [
        ("/x/any.db", SHARED | {"kilo_board"}, Kilo),
        ("/h/.local/share/kilo/kilo.db", SHARED, Kilo),
        ("/h/.local/share/kilo/kilo-beta.db", frozenset(), Kilo),
        ("/x/any.db", SHARED, OpenCode),
        ("/x/kilo.db", frozenset({"grammes"}), None),
    ],
)
def test_a_database_is_kilos_by_a_table_of_its_own_or_by_its_name(
    path: str, columns: frozenset[str], format: type | None
) -> None:
    assert recognise(Sample(path, HEAD, False, columns), map(load, names())) is format
