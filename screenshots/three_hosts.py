"""Three hosts for pictures: folders here, with what the demo writes, and an ssh that leads there; one can be lost."""

import os
import sys
from pathlib import Path

from delegtop.base.clock import SECOND, FrozenClock, Millis, WallClock
from delegtop.demo.simulate import Simulation

NAMES = ("dev", "gpu1", "gpu2")
LOSES = "gpu2"
_SSH = """#!/bin/sh
for word; do [ "$before" = -- ] && host=$word; before=$word; done
export HOME="$HOSTS/$host" XDG_STATE_HOME="$HOSTS/$host" XDG_CONFIG_HOME="$HOSTS/$host"; cd "$HOME"
[ -e lost ] && { echo "ssh: connect to host $host port 22: Connection timed out" >&2; exit 255; }
( while kill -0 $$ 2>/dev/null && [ ! -e lost ]; do sleep 0.2; done; kill -9 $$ ) </dev/null >/dev/null 2>&1 &
exec sh -c "exec $word"
"""
"""Stands for ssh: it ends once its host is lost, and finds it no more."""


def make_hosts(folder: Path) -> dict[str, str]:
    """Homes as of now; gives what whoever looks at them has in the environment."""
    folder.mkdir()
    for seed, name in enumerate(NAMES, 1):
        logs = folder / name / "delegtop" / "logs"
        logs.mkdir(parents=True)
        Simulation(seed, 1.0, logs, FrozenClock(Millis(WallClock().now() - 40 * SECOND))).write_all(40)
        program = folder / name / ".local" / "bin" / "delegtop"
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m delegtop "$@"\n')
        program.chmod(0o755)
    ssh = folder / "bin" / "ssh"
    ssh.parent.mkdir()
    ssh.write_text(_SSH)
    ssh.chmod(0o755)
    return {"HOSTS": str(folder.resolve()), "PATH": f"{ssh.parent.resolve()}{os.pathsep}{os.environ['PATH']}"}


def lose(folder: Path) -> None:
    """The third cannot be reached any more."""
    (folder / LOSES / "lost").touch()
