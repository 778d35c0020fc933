"""Whose questions these are: by the processes above the server, and honestly unknown where nothing tells."""

import json
import os
from pathlib import Path

from tests.homes import Transcript, _id, _place
from tests.telling import forest_at, started

from delegtop.base.clock import Millis, WallClock
from delegtop.mcp_server.client_session import client_session
from delegtop.model.forest import Forest
from delegtop.observation.observation import opened
from delegtop.observation.source_discovery import Places
from delegtop.settings import Settings
from delegtop.sources.processes import start_ticks

FOLDER = "/home/ann/webapp"


def session(home: Path, number: int, pid: int | None, folder: str = FOLDER) -> str:
    """One at work, whose process is that."""
    now = WallClock().now()
    main = Transcript(_id("a", number), folder)
    main.asked(now - 20_000, "Go on")
    main.spawned(now - 10_000, f"toolu_{number}", "general-purpose", "Look at it")
    main.keep(_place(home, folder) / f"{main.session}.jsonl")
    if pid is not None:
        entry = {"pid": pid, "sessionId": main.session, "cwd": folder, "version": "2.1.325", "kind": "interactive"}
        entry |= {"startedAt": now - 21_000, "status": "busy", "updatedAt": now - 9_000}
        entry |= {"procStart": str(start_ticks(pid))}
        place = home / ".claude" / "sessions" / f"{pid}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(entry), "utf-8")
    return main.session


def seen(home: Path) -> Forest:
    with opened(Places([str(home / ".claude" / "projects"), str(home / ".claude" / "sessions")]), Settings()) as found:
        found.catch_up()
        return found.forest


def test_the_nearest_process_above_is_the_session(tmp_path: Path) -> None:
    asking = session(tmp_path, 1, os.getppid())
    session(tmp_path, 2, None)
    forest = seen(tmp_path)
    found = client_session(forest, environ={})
    assert found.session is not None
    assert forest.id(found.session) == asking


def test_what_the_program_told_counts_where_no_process_does(tmp_path: Path) -> None:
    session(tmp_path, 1, None)
    told = session(tmp_path, 2, None)
    forest = seen(tmp_path)
    found = client_session(forest, environ={"CLAUDE_CODE_SESSION_ID": told})
    assert found.session is not None
    assert forest.id(found.session) == told
    assert client_session(forest, environ={"CLAUDE_CODE_SESSION_ID": "another"}).session is None


def test_where_nothing_tells_it_is_said_and_nobody_is_guessed(tmp_path: Path) -> None:
    session(tmp_path, 1, None)
    found = client_session(seen(tmp_path), environ={})
    assert found.session is None
    assert "none of the programs above" in found.why


def test_a_process_that_got_the_number_of_another_is_not_it() -> None:
    forest = forest_at(Millis(WallClock().now()), [started("a", pid=os.getppid(), host="localhost")])
    assert client_session(forest, environ={}).session is None
