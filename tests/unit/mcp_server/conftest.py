"""A log that the test writes on, and what is told of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.written_log import WrittenLog

from delegtop.mcp_server.followed_scope import FollowedScope
from delegtop.observation.observation import opened
from delegtop.observation.source_discovery import Places
from delegtop.settings import Settings

ROOT, CHILD, OTHER = "sess_1790000000_root01", "sess_1790000000_child1", "sess_1790000000_other1"
SECRET = "sk-ant-api03-" + "a1" * 30


@pytest.fixture
def log(tmp_path: Path) -> WrittenLog:
    return WrittenLog(tmp_path / "session.jsonl")


@pytest.fixture
def followed(log: WrittenLog) -> Iterator[FollowedScope]:
    found = FollowedScope(lambda: opened(Places([str(log.path)]), Settings()))
    yield found
    found.close()
