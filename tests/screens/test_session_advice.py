"""The dashboard advises what to do where a session runs, and to open it again the moment its process is gone."""

from datetime import UTC
from pathlib import Path

import pytest
from tests import stand_ins
from tests.piloting import until
from tests.screens.looking import page, running, settled
from tests.stand_ins import CLAUDE_ID

from delegtop.app.main import DelegtopApp
from delegtop.base.clock import WallClock
from delegtop.feed import process_watch
from delegtop.kernel import process_table
from delegtop.observation.observation import opened
from delegtop.observation.source_discovery import Places
from delegtop.settings import Settings

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(process_table.moment(0) is None, reason="this system does not show its processes"),
]


async def test_the_page_of_a_session_turns_when_its_process_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_watch, "EVERY", 0.0)
    home, project = tmp_path / "home", tmp_path / "project"
    with stand_ins.running("claude", folder=project, terminal=True) as process:
        stand_ins.claude_asking(home, project, process.pid, entrypoint="cli")
        places = Places([str(home / ".claude" / name) for name in ("projects", "sessions")])
        app = DelegtopApp(opened(places, Settings(), WallClock()), zone=UTC)
        async with running(app, size=(160, 45)) as (app, pilot):
            assert "do this Answer it: allow it or deny it. Its terminal: pts/" in page(app)
            assert "claude --resume" not in page(app)
            process.die()
            await until(pilot, lambda: "lost" in page(app))
            await settled(pilot)
            assert f"claude --resume {CLAUDE_ID}" in page(app)
