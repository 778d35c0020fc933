"""A thousand random plans over real processes: nothing but what is planned is ever signalled."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.patience import until
from tests.telling import handle_of

from delegtop.act import ladder
from delegtop.act.acting import Acting
from delegtop.act.performing import take
from delegtop.act.plan_sight import PlanSight
from delegtop.act.planned_steps import PlannedSignal
from delegtop.act.planning import stop_plan
from delegtop.act.process_identity import ProcessIdentity, identity
from delegtop.act.stop_plan import Rung
from delegtop.base.clock import Millis, WallClock
from delegtop.base.origin import Origin, kernel
from delegtop.base.product import Product
from delegtop.diagnosis.assessments import Assessments
from delegtop.feed.kernel_watch import told_command
from delegtop.kernel.process_table import ProcessTable
from delegtop.model.delegation import Delegation
from delegtop.model.events import LOCALHOST, Heard, Phase, ProcessSeen, Started, WaitsFor
from delegtop.model.forest import Forest
from delegtop.model.session_manner import KERNEL, MANNER, PROC_START, SEEN, Manner

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="there is no /proc to look at")
PLANS = 1_000
_SESSION = """
import subprocess, sys
sys.path[:0] = sys.argv[1].split(":")
from pathlib import Path
from tests.unit.act.standing_processes import Counter
import os, signal
folder, names = Path(sys.argv[2]), sys.argv[3:]
log = os.open(folder / f"{names[0]}.signals", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGCONT):
    signal.signal(number, lambda number, frame: os.write(log, f"{number}\\n".encode()))
tools = [Counter(folder, name, group=None) for name in names[1:]]
for tool in tools:
    tool.ready()
(folder / f"{names[0]}.pids").write_text(" ".join(str(tool.pid) for tool in tools))
os.write(log, b"ready\\n")
while True:
    signal.pause()
"""


class _AnyProgram(PlanSight):
    """The cast plays every program, and goes by no name of any."""

    def runs(self, process: ProcessIdentity, program: Product) -> bool:  # noqa: ARG002 -- the same for all
        return True

    def is_written_by_others(self, facts: Delegation) -> bool:  # noqa: ARG002 -- it has no log
        return False


def _stands(log: Path) -> bool:
    return log.exists() and log.read_text().startswith("ready")


class Cast:
    """Three sessions, each with three tools below it; all of one session are in one process group."""

    def __init__(self, folder: Path) -> None:
        self.logs: dict[int, Path] = {}
        self.tools: dict[int, list[int]] = {}
        self._begun: list[subprocess.Popen[bytes]] = []
        paths = ":".join(sys.path)
        for session in ("a", "b", "c"):
            names = [session, *(f"{session}{tool}" for tool in range(3))]
            command = [sys.executable, "-c", _SESSION, paths, str(folder), *names]
            self._begun.append(subprocess.Popen(command, process_group=0, stdin=subprocess.DEVNULL))
        for session, process in zip("abc", self._begun, strict=True):
            log = folder / f"{session}.signals"
            until(partial(_stands, log), "that a session stands")
            self.logs[process.pid] = log
            pids = [int(pid) for pid in (folder / f"{session}.pids").read_text().split()]
            self.tools[process.pid] = pids
            self.logs.update({pid: folder / f"{session}{number}.signals" for number, pid in enumerate(pids)})

    def heard(self) -> dict[int, list[int]]:
        return {pid: [int(each) for each in log.read_text().splitlines()[1:]] for pid, log in self.logs.items()}

    def end(self) -> None:
        for process in self._begun:
            for pid in (*self.tools.get(process.pid, ()), process.pid):
                os.kill(pid, signal.SIGKILL)
            process.wait()


@pytest.fixture(scope="module")
def cast(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cast]:
    made = Cast(tmp_path_factory.mktemp("cast"))
    yield made
    made.end()


def _as_told(pid: int) -> str:
    """Its command line as the kernel watch tells it."""
    return told_command(ProcessTable().words(pid))


def world(chance: random.Random, cast: Cast) -> Forest:
    """A session and an agent below it, as logs and kernel may tell of them, rightly or not."""
    now = WallClock().now()
    session = chance.choice(list(cast.tools))
    any_tool = [pid for pids in cast.tools.values() for pid in pids]
    tool = chance.choice([*cast.tools[session], *any_tool, session, os.getpid(), os.getppid(), 1, 4_000_000])
    found = identity(session)
    assert found is not None
    ticks = found.started if chance.random() < 0.8 else str(int(found.started) + chance.choice((-1, 1, 500)))
    manner = chance.choice([each.value for each in Manner])
    refs = ((PROC_START, ticks), (SEEN, KERNEL), (MANNER, manner), ("job_id", "j1"))
    host = LOCALHOST if chance.random() < 0.9 else "build-7"
    product = chance.choice(["claude-code", "codex", None])
    log = Origin("/logs/run.jsonl", 1, 0)
    command = _as_told(tool) if chance.random() < 0.8 else "make all"
    call_pid = chance.choice([None, None, None, chance.choice(any_tool)])
    waits = chance.choice(list(WaitsFor))
    forest = Forest()
    forest.apply(
        [
            Started("s", now, log, agent="claude", pid=session, host=host, refs=refs, product=product),
            Started("a", now, log, agent="worker", parent="s", product=product),
            Heard("a", now, log, doing="make all", tool="Bash", phase=Phase.TOOL),
            ProcessSeen("a", Millis(now + 1), kernel(tool), tool, waits, command=command, call_pid=call_pid),
        ]
    )
    forest.advance(Millis(now + 2))
    return forest


def _counts(heard: dict[int, list[int]]) -> dict[int, int]:
    return {pid: len(numbers) for pid, numbers in heard.items()}


def test_nothing_but_what_is_planned_is_ever_signalled(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder, "PATIENCE", 0.001)
    chance, expected, taken = random.Random(20261117), cast.heard(), dict.fromkeys(Rung, 0)
    for _ in range(PLANS):
        forest = world(chance, cast)
        assessments = Assessments(forest)
        allowed = chance.sample(list(cast.logs), 6) if chance.random() < 0.2 else None
        acting = Acting(True, None if allowed is None else allowed.__contains__)
        plan = stop_plan(assessments, handle_of(forest, chance.choice("sa")), _AnyProgram(), acting)
        rungs = [each for each in plan.rungs if each.is_possible and each.rung is not Rung.KILL]
        if not rungs:
            continue
        rung = chance.choice(rungs)
        steps = [step for step in rung.steps if isinstance(step, PlannedSignal)]
        assert {step.target.pid for step in steps} <= cast.logs.keys(), "nobody outside is ever planned"
        if chance.random() < 0.3:  # what was planned is another process by now
            spoilt: Any = chance.choice([{"started": "1"}, {"user": 4}, {"command": ("x",)}])
            rung = rung._replace(steps=tuple(each._replace(target=each.target._replace(**spoilt)) for each in steps))
            assert take(plan, rung, acting, by="test").refused
            continue
        done = take(plan, rung, acting, by="test")
        assert not done.refused
        taken[rung.rung] += 1
        for step in steps:
            expected[step.target.pid].append(step.number)
            assert allowed is None or step.target.pid in allowed
        # One that comes twice before it is taken is heard once.
        until(lambda: _counts(cast.heard()) == _counts(expected), "that it is heard")
    until(lambda: cast.heard() == expected, "that all is heard")
    assert cast.heard() == expected
    assert min(taken[rung] for rung in (Rung.TOOL, Rung.SESSION, Rung.PROCESS)) > 20, taken
