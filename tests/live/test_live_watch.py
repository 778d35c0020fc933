"""`delegtop watch` knows what `delegtop tree` knows, from its first line on: the kernel is asked before that."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.live.live_case import Case, Truth
from tests.live.stage import Stage
from tests.live.verdict_watch import fresh_tree
from tests.patience import until

pytestmark = pytest.mark.skipif(not Path("/proc/self/wchan").exists(), reason="there is no /proc to look at")
HUNG = Case("fifo", "cat queue", Truth.HUNG, prepare="mkfifo queue", alone=True)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A session whose tool has hung for a while, as a tree says that is made now."""
    with Stage(tmp_path_factory.mktemp("stage"), [HUNG]) as made:
        until(lambda: fresh_tree(made.home)[0] == 3, "that the tool is seen to hang", every=0.3)
        yield made


def watch(stage: Stage, *more: str, module: str = "delegtop", **environ: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", module, "watch", "--json", *more]
    environ = os.environ | {"HOME": str(stage.home), "PYTHONPATH": str(Path(__file__).parents[2]), **environ}
    return subprocess.run(command, env=environ, cwd=stage.home, capture_output=True, text=True, check=False)


def lines(done: "subprocess.CompletedProcess[str]") -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_what_is_present_is_what_the_tree_says(stage: Stage) -> None:
    done = watch(stage, "--exit-when", "problem")
    assert done.returncode == 3
    assert lines(done)[0]["event"] == "present"
    assert "FIFO queue" in lines(done)[0]["message"]
    assert "FIFO queue" in done.stderr.splitlines()[1]


def test_what_hung_before_is_not_told_as_new(stage: Stage, tmp_path: Path) -> None:
    tell = tmp_path / "tell.sh"
    tell.write_text(f"#!/bin/sh\necho $DELEGTOP_EVENT >> {tmp_path}/told.txt\n")
    tell.chmod(0o755)
    how = ("--notify", "command", "--notify-command", str(tell), "--timeout", "3")
    done = watch(stage, *how, module="tests.quick_looks")
    told = lines(done)
    assert [each["event"] for each in told] == ["present", "finding"], "what is so, what is wrong with it, and no more"
    assert not (tmp_path / "told.txt").exists()


def test_so_it_is_where_other_hosts_are_looked_at_too(stage: Stage, tmp_path: Path) -> None:
    ssh, config = tmp_path / "ssh", tmp_path / "hosts.toml"
    ssh.write_text("#!/bin/sh\nexit 255\n")
    ssh.chmod(0o755)
    config.write_text('[[hosts]]\nssh = "away"\n')
    how = ("--hosts", "--config", str(config), "--exit-when", "problem")
    done = watch(stage, *how, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == 3, done.stderr
    assert "FIFO queue" in next(each["message"] for each in lines(done) if each["event"] == "present")
