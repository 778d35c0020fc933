"""Who looks only once is told of a hang as well: a fresh `delegtop tree` takes a few quick looks."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.live.stage import Stage
from tests.live.tables import EVERY
from tests.patience import until

pytestmark = pytest.mark.skipif(not Path("/proc/self/wchan").exists(), reason="there is no /proc to look at")

HUNG = {"fifo_without_a_writer": "FIFO queue", "stopped_by_a_signal": "stopped"}
HEALTHY = ("sleep_450", "python_computes_now_and_then", "poll_loop", "threads_work")


def _tree(home: Path) -> tuple[int, dict[str, dict[str, Any]]]:
    command = [sys.executable, "-m", "delegtop", "tree", "--json", "--exit-code"]
    told = subprocess.run(command, env=os.environ | {"HOME": str(home)}, cwd=home, capture_output=True, check=False)
    return told.returncode, {each["id"]: each["assessment"] for each in json.loads(told.stdout)["delegations"]}


def test_a_fresh_tree_names_what_hangs_and_nothing_else(tmp_path: Path) -> None:
    cases = [case for case in EVERY if case.name in (*HUNG, *HEALTHY)]
    with Stage(tmp_path, cases) as stage:
        problems: dict[str, str] = {}

        def is_named() -> bool:
            """Calls are looked at when they have been quiet for a while."""
            code, told = _tree(stage.home)
            problems.clear()
            problems.update({name: told[id]["sentence"] for name, id in stage.ids.items() if told[id]["problem"]})
            assert problems.keys() <= HUNG.keys(), f"nothing else hangs: {problems}"
            assert (code == 3) == bool(problems)
            return len(problems) == len(HUNG)

        until(is_named, "that all are named")
        assert all(HUNG[name] in sentence for name, sentence in problems.items()), problems
