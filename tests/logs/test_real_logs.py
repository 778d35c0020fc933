"""Logs of real programs, if there are any here (DELEGTOP_REAL_LOGS names their folder): nothing in them may crash it.

Most are of formats delegtop does not know: each such file must be named, and none may be guessed at.
"""

import json
import os
from contextlib import suppress
from pathlib import Path

import pytest
from tests.logs.told_and_estimated import both
from tests.patience import cost

from delegtop.cli import main
from delegtop.cli.exit_codes import Exit

FOLDER = os.environ.get("DELEGTOP_REAL_LOGS", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="DELEGTOP_REAL_LOGS is not set")
TIMES = 60
"""So many times what it costs to decode every line of them may be spent on reading them. It was six."""
STATUSES = {"live", "loading", "stale", "rotated", "gone", "missing", "unreadable", "unrecognised", "skipped", "empty"}


def test_a_folder_of_real_logs_is_read_in_a_moment_and_every_file_is_accounted_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    codes: list[int] = []
    spent = cost(lambda: codes.append(main(["tree", FOLDER, "--json"])), rounds=1)
    assert codes[0] in (Exit.OK, Exit.UNREADABLE)
    assert spent < TIMES * cost(decode)
    told = json.loads(capsys.readouterr().out)
    sources = {source["path"]: source for source in told["sources"]}
    logs = {str(path) for path in Path(FOLDER).rglob("*.jsonl") if path.is_file()}
    assert logs
    assert logs <= sources.keys()
    assert {source["status"] for source in sources.values()} <= STATUSES
    assert all(source["detail"] for source in sources.values() if source["status"] == "unrecognised")
    assert all(source["dialect"] for source in sources.values() if source["records"])


def decode() -> None:
    for path in Path(FOLDER).rglob("*"):
        for line in path.read_bytes().splitlines() if path.is_file() else ():
            with suppress(ValueError):
                json.loads(line)


def test_every_real_log_can_be_printed_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tree", FOLDER, "--sources"]) in (Exit.OK, Exit.UNREADABLE)
    shown = capsys.readouterr().out
    assert "\nSources\n" in shown
    assert all(character.isprintable() or character == "\n" for character in shown)


def test_what_claude_code_tells_in_dollars_its_tokens_cost_by_list_prices() -> None:
    """docs/cost.md has the table, and why some differ."""
    found = [each for each in both(FOLDER) if "stream_json" not in each.source]
    if not found:
        pytest.skip("none of these logs tells dollars and kinds of tokens")
    same = [each for each in found if abs(each.estimated / each.told - 1) < 0.001]
    assert len(same) >= 0.8 * len(found)
