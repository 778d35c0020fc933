"""With a real process behind a session, `tree --json` advises what can be done about it, and to open it again only once
that process is gone."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import stand_ins
from tests.patience import until
from tests.stand_ins import CLAUDE_ID, StandIn, running

from delegtop.kernel import process_table

pytestmark = pytest.mark.skipif(process_table.moment(0) is None, reason="this system does not show its processes")
HOW = {
    "terminal": {"entrypoint": "cli"},
    "headless": {"entrypoint": "sdk-cli"},
    "background": {"kind": "bg", "jobId": "5e55a1b2"},
}


class Asking:
    """A session that asks for a permission, in a home of its own."""

    def __init__(self, home: Path, project: Path, process: StandIn) -> None:
        self.home, self.project, self.process = home, project, process

    def told(self) -> dict[str, Any]:
        """What `tree --json` says of it now."""
        logs = [str(self.home / ".claude" / name) for name in ("projects", "sessions")]
        done = subprocess.run(
            [sys.executable, "-m", "delegtop", "tree", "--json", *logs],
            env={**os.environ, "HOME": str(self.home)},
            capture_output=True,
            check=True,
        )
        (row,) = json.loads(done.stdout)["delegations"]
        found: dict[str, Any] = row["assessment"]
        return found

    def waits(self, kind: str) -> dict[str, Any]:
        until(lambda: self.told()["kind"] == kind, kind, every=0.2)
        return self.told()


@pytest.fixture
def asking(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Asking]:
    home, project = tmp_path / "home", tmp_path / "project"
    words = ("claude", "-p") if request.param == "headless" else ("claude",)
    with running(*words, folder=project, terminal=request.param == "terminal", pane="%7") as process:
        stand_ins.claude_asking(home, project, process.pid, **HOW[request.param])
        yield Asking(home, project, process)


COMMANDS = {
    "terminal": "tmux switch-client -t %7 || tmux attach -t %7",
    "headless": "kill -INT {pid}",
    "background": "claude attach 5e55a1b2",
}


@pytest.mark.parametrize(("asking", "command"), COMMANDS.items(), indirect=["asking"], ids=COMMANDS)
def test_killing_its_process_turns_the_advice_from_what_to_do_there_to_opening_it_again(
    asking: Asking, command: str
) -> None:
    told = asking.waits("awaiting a permission")
    assert told["command"] == command.format(pid=asking.process.pid)
    assert f"pid {asking.process.pid}" in told["todo"][0]
    assert not any("--resume" in step for step in told["todo"])
    asking.process.die()
    told = asking.waits("lost")
    assert told["command"] == f"cd {asking.project} && claude --resume {CLAUDE_ID}"
    assert "Its program is gone: this opens its session again." in told["todo"]
