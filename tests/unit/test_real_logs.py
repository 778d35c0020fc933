"""Logs of real programs, if there are any here (DELEGTOP_REAL_LOGS names their folder): nothing in them may crash it.

Most are of formats delegtop does not know: each such file must be named, and none may be guessed at.
"""

import json
import os
import time
from pathlib import Path

import pytest

from delegtop.cli import main
from delegtop.cli.exit_codes import Exit

FOLDER = os.environ.get("DELEGTOP_REAL_LOGS", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="DELEGTOP_REAL_LOGS is not set")
SECONDS = 20.0
STATUSES = {"live", "loading", "stale", "rotated", "gone", "missing", "unreadable", "unrecognised", "skipped", "empty"}


def test_a_folder_of_real_logs_is_read_in_a_moment_and_every_file_is_accounted_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = time.monotonic()
    assert main(["tree", FOLDER, "--json"]) in (Exit.OK, Exit.UNREADABLE)
    assert time.monotonic() - before < SECONDS
    told = json.loads(capsys.readouterr().out)
    sources = {source["path"]: source for source in told["sources"]}
    logs = {str(path) for path in Path(FOLDER).rglob("*.jsonl") if path.is_file()}
    assert logs
    assert logs <= sources.keys()
    assert {source["status"] for source in sources.values()} <= STATUSES
    assert all(source["detail"] for source in sources.values() if source["status"] == "unrecognised")
    assert all(source["dialect"] for source in sources.values() if source["records"])


def test_every_real_log_can_be_printed_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tree", FOLDER]) in (Exit.OK, Exit.UNREADABLE)
    shown = capsys.readouterr().out
    assert "Sources" in shown
    assert all(character.isprintable() or character == "\n" for character in shown)
