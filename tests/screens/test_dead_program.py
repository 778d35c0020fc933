"""A program that dies while the dashboard looks at its session."""

from pathlib import Path

import pytest
from tests import piloting, stand_ins

from delegtop.app.main import DelegtopApp
from delegtop.base.clock import WallClock
from delegtop.kernel import process_table
from delegtop.model.states import State
from delegtop.observation.observation import opened
from delegtop.observation.source_discovery import Places
from delegtop.settings import Settings

pytestmark = pytest.mark.anyio


@pytest.mark.skipif(process_table.moment(0) is None, reason="this system does not show its processes")
async def test_a_session_is_lost_when_its_process_goes(tmp_path: Path) -> None:
    project = tmp_path / "proj"
    project.mkdir()
    log = stand_ins.codex(tmp_path / "home", project)
    with stand_ins.running("codex", folder=project, holds=[log]) as process:
        app = DelegtopApp(opened(Places([str(log)]), Settings(), WallClock(), rewinds=True))
        async with app.run_test() as pilot:
            forest = app.board.forest
            await piloting.until(pilot, lambda: len(forest) == 1 and forest.delegation(0).pid == process.pid)
            assert forest.state(0) is State.RUNNING
            process.die()
            await piloting.until(pilot, lambda: forest.state(0) is State.LOST, "the loss")
