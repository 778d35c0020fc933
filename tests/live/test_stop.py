"""`delegtop stop` and real tools below a stand-in session: a plan changes nothing, the mildest rung frees the path."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.live.live_case import Case, Truth
from tests.live.stage import Stage
from tests.patience import until

from delegtop import act_log
from delegtop.act.process_identity import identity

pytestmark = pytest.mark.skipif(not Path("/proc/self/wchan").exists(), reason="there is no /proc to look at")
_DEAF = "import signal, time; signal.signal(2, signal.SIG_IGN); signal.signal(15, signal.SIG_IGN); time.sleep(5000)"
CASES = [
    Case("fifo", "cat queue", Truth.HUNG, prepare="mkfifo queue", alone=True),
    Case("freed", "cat queue", Truth.HUNG, prepare="mkfifo queue", alone=True),
    Case("deaf", f"{sys.executable} -c '{_DEAF}'", Truth.HUNG, alone=True),
    Case("session", "tail -f /dev/null", Truth.HUNG, alone=True),
    Case("spared", "sleep 54321", Truth.HUNG, alone=True),
]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with Stage(tmp_path_factory.mktemp("stage"), CASES) as made:
        yield made


class Told:
    def __init__(self, code: int, told: dict[str, Any]) -> None:
        self.code, self.plan = code, told
        self.rungs = {rung["rung"]: rung for rung in told["rungs"]}
        self.act = told["act"]


def stop(stage: Stage, case: str, *more: str) -> Told:
    command = [sys.executable, "-m", "delegtop", "stop", stage.ids[case], "--json", *more]
    environ = os.environ | {"HOME": str(stage.home)}
    done = subprocess.run(command, env=environ, cwd=stage.home, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return Told(done.returncode, json.loads(done.stdout))


def tool_of(stage: Stage, case: str) -> Told:
    """The plan, once the process of the tool is known."""
    found: list[Told] = []

    def is_known() -> bool:
        found[:] = [stop(stage, case)]
        return bool(found[0].rungs["tool"]["possible"])

    until(is_known, "that the tool is seen", every=0.3)
    return found[0]


def acts() -> list[dict[str, Any]]:
    path = act_log.place()
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def test_a_plan_changes_nothing(stage: Stage) -> None:
    plan = tool_of(stage, "spared")
    assert plan.code == 0
    assert plan.act is None
    assert not plan.plan["enabled"]
    assert plan.rungs["child"]["why_not"] == "it is the session itself, and no child of one"
    assert plan.rungs["kill"]["typed"] == "claude"
    assert not acts()
    assert identity(stage.tools["spared"] or 0) is not None


def test_the_mildest_rung_ends_the_tool_alone_and_the_path_moves_on(stage: Stage) -> None:
    tool_of(stage, "fifo")
    done = stop(stage, "fifo", "--act")
    assert done.code == 0
    assert (done.act["rung"], done.act["outcome"]) == ("tool", "seen")
    assert "INT sent" in done.act["words"]
    assert "exit 130 seen" in done.act["words"]
    assert done.act["words"].endswith("the path moved on")
    assert identity(stage.sessions["fifo"]) is not None, "its session is untouched"
    act, outcome = acts()
    assert (act["event"], act["rung"], act["by"], act["id"]) == ("act", "tool", "delegtop stop", stage.ids["fifo"])
    assert (outcome["event"], outcome["act"], outcome["outcome"]) == ("outcome", act["act"], "seen")
    mode = stat.S_IMODE(act_log.place().stat().st_mode), stat.S_IMODE(act_log.place().parent.stat().st_mode)
    assert mode == (0o600, 0o700)
    assert "acted" in told_of(stage, "fifo"), "whoever looks next sees what was done"


def told_of(stage: Stage, case: str) -> list[str]:
    command = [sys.executable, "-m", "delegtop", "tree", "--json"]
    environ = os.environ | {"HOME": str(stage.home)}
    done = subprocess.run(command, env=environ, cwd=stage.home, capture_output=True, text=True, check=True)
    found = next(each for each in json.loads(done.stdout)["delegations"] if each["id"] == stage.ids[case])
    return [note["kind"] for note in found["notes"]]


def test_a_tool_that_heeds_nothing_is_still_there_and_that_is_said(stage: Stage) -> None:
    tool_of(stage, "deaf")
    done = stop(stage, "deaf", "--act", "--timeout", "2s")
    assert done.code == 3
    assert done.act["outcome"] == "not seen"
    assert "is still there" in done.act["words"]
    assert [step["words"] for step in done.act["sent"]] == ["TERM sent"], "who ignores SIGINT is not sent it"


def test_a_session_is_interrupted_and_what_resumes_it_is_told(stage: Stage) -> None:
    tool_of(stage, "session")
    done = stop(stage, "session", "--act", "--rung", "session")
    assert done.code == 0
    assert done.act["outcome"] == "seen"
    assert identity(stage.sessions["session"]) is None
    assert "claude --resume" in done.plan["resume"]


@pytest.mark.parametrize(
    "more",
    [("--act", "--readonly"), ("--rung", "session"), ("--act", "--kill", "python"), ("--act", "--rung", "child")],
)
def test_who_may_not_or_asks_for_what_cannot_be_does_nothing(stage: Stage, more: tuple[str, ...]) -> None:
    done = stop(stage, "spared", *more)
    possible = more == ("--rung", "session")
    assert done.code == (0 if possible else 1)
    assert done.act is None or done.act["outcome"] == "refused"
    assert identity(stage.sessions["spared"]) is not None
    assert not acts()


def test_the_command_that_a_plan_offers_names_its_rung(stage: Stage) -> None:
    """The tool may end by itself before it is typed, and then the mildest rung is another."""
    tool_of(stage, "spared")
    command = [sys.executable, "-m", "delegtop", "stop", stage.ids["spared"]]
    environ = os.environ | {"HOME": str(stage.home)}
    told = subprocess.run(command, env=environ, cwd=stage.home, capture_output=True, text=True, check=True).stdout
    assert told.rstrip().endswith(f"delegtop stop {stage.ids['spared']} --act --rung tool")


def test_what_goes_on_again_is_only_stopped_by_who_says_how_much_of_it(stage: Stage) -> None:
    """Whoever repeats the command that freed it does not end its session."""
    tool_of(stage, "freed")
    stop(stage, "freed", "--act")
    again = stop(stage, "freed", "--act")
    assert again.code == 1
    assert again.act is None
    assert identity(stage.sessions["freed"]) is not None


def test_what_is_recorded_is_not_stopped(stage: Stage, tmp_path: Path) -> None:
    tape = tmp_path / "run.delegtop"
    command = [sys.executable, "-m", "delegtop", "record", "--once", "-o", str(tape)]
    subprocess.run(command, env=os.environ | {"HOME": str(stage.home)}, cwd=tmp_path, check=True, capture_output=True)
    done = stop(stage, "spared", str(tape), "--act")
    assert done.code == 1
    assert "known from a recording" in done.plan["refused"]
    assert done.plan["rungs"] == []


def test_where_it_cannot_be_written_down_nothing_is_done(stage: Stage) -> None:
    act_log.place().mkdir(parents=True)
    done = stop(stage, "spared", "--act", "--rung", "session")
    assert done.code == 1
    assert "so nothing was done" in done.act["words"]
    assert identity(stage.sessions["spared"]) is not None
