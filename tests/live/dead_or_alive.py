"""Whether delegtop knows that a real agent program was ended, how soon, and whether all its views agree.

    python -m tests.live.dead_or_alive FOLDER [--only NAME …] [--signals KILL TERM HUP INT] [--resume]

FOLDER is where npm has installed the programs (`npm install --prefix FOLDER @openai/codex …`, and `node` for those that
are scripts). Each runs in a home of its own against a model on loopback that has it start an agent and never answers
that agent. Then all its processes get the signal, as those of a terminal do. Seconds count from the moment they are
gone. `tree` is asked anew each time; `watch`, `wait` (one for the session, one for the agent) and the dashboard ran
before. With `--resume` the session is then taken up again, and has to be at rest when its turn is over.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.live.agent_programs import PROGRAMS, Place, Program
from tests.live.model_stand_in import AGAIN, ROOT, ModelStandIn
from tests.terminal.conftest import Terminal

from delegtop.model.states import State

SIGNALS = ("KILL", "TERM", "HUP", "INT")
AT_WORK = ("running", "waiting", "silent")
DEAD, AT_REST = ("lost", "interrupted", "failed"), "idle"
"""What is right of who was ended (that it failed is Qwen's own word); and of a session that wrote that its turn is over
before it went."""
VIEWS = ("tree", "watch", "wait", "dashboard")
GOAL = 5.0
"""Seconds."""
_BEGINS, _LEAVES, _SEEN = 90.0, 20.0, 40.0
"""Seconds that a program may take until its agent asks, and to go; and delegtop to say so."""
_ROW = re.compile("|".join(re.escape(f"{state.glyph} {state}") for state in State))
"""How a row of the tree shows its state; the line of counts has a number between."""


class Result(NamedTuple):
    """What came of one signal."""

    program: str
    signal: str
    left: str
    """How the program went."""
    states: str
    """What `tree` said then, of the session and of its agent."""
    seconds: dict[str, float | None]
    """Until each view said so; None if it never did."""
    faults: list[str]

    def row(self) -> str:
        took = [self.seconds.get(view) for view in VIEWS]
        said = " | ".join("–" if each is None else f"{each:.1f}" for each in took)
        return f"| {self.program} | {self.signal} | {self.left} | {self.states} | {said} | {'; '.join(self.faults)} |"


class Delegtop:
    """delegtop in the home of the program."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.environ = {**os.environ, "HOME": str(place.home), "DELEGTOP_CONFIG": ""}
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "DELEGTOP_CONFIG"):
            self.environ.pop(name, None)

    def popen(self, *arguments: str, stdout: Any = subprocess.PIPE) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "delegtop", *arguments]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(
            command, cwd=self._place.project, env=self.environ, stdin=quiet, stdout=stdout, stderr=quiet,
            text=True,
        )  # fmt: skip

    def tree(self) -> dict[str, str]:
        """The state of each delegation, by its id, the session first."""
        said = self.popen("tree", "--json").communicate()[0]
        with suppress(ValueError):
            return {each["id"]: each["state"] for each in json.loads(said)["delegations"]}
        return {}


class Watch:
    """A running `watch`, and what it said last of each."""

    def __init__(self, delegtop: Delegtop, said: Path) -> None:
        self._said = said
        with said.open("w", encoding="utf-8") as file:
            self.process = delegtop.popen("watch", "--json", stdout=file)

    def look(self) -> dict[str, str]:
        told = self._said.read_text("utf-8").rpartition("\n")[0].splitlines()
        return {each["id"]: each["state"] for each in map(json.loads, told)}


def measured(program: Program, folder: Path, name: str, *, resume: bool) -> Result:
    """Run the program, send it the signal, and see what is said of it."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="doa-", ignore_cleanup_errors=True)))
        stack.callback(_swept, home)
        model = ModelStandIn(program.kind)
        stack.callback(model.close)
        place = Place(home, model.address)
        process = _begun(program, folder, place, stack)
        if not model.hung.wait(_BEGINS):
            said = (home / "said").read_text("utf-8", "replace")
            return Result(program.name, name, "did not begin", "–", {}, [said[-300:].replace("\n", " ")])
        delegtop = Delegtop(place)
        faults, before = _seen_at_work(delegtop)
        if len(before) < 2:
            return Result(program.name, name, "not seen", "–", {}, faults)
        session, agent = list(before)[:2]
        views = stack.enter_context(_views(delegtop, home, session, agent))
        left = _ended(process, name)
        if left == "lives on":
            still = delegtop.tree()
            faults += [f"lives, and is {state}" for state in still.values() if state not in AT_WORK]
            return Result(program.name, name, left, "/".join(still.values()), {}, faults)
        states, seconds = _followed(delegtop, views, session, agent)
        faults += _wrong(states, seconds)
        told = views.watch.look()
        faults += [f"watch says {told.get(id)}" for id in (session, agent) if told.get(id) != states.get(id)]
        faults += [f"wait: exit {each.returncode}" for each in views.waits if each.poll() not in (None, 0, 1, 3)]
        if resume and program.resume:
            faults += _resumed(program, folder, place, delegtop, session)
        return Result(
            program.name, name, left, "/".join(states.get(id, "–") for id in (session, agent)), seconds, faults
        )


def _begun(program: Program, folder: Path, place: Place, stack: ExitStack) -> "subprocess.Popen[bytes]":
    place.project.mkdir()
    program.configure(place)
    if arguments := program.sign_in(place):
        program.begun(folder, place, *arguments).wait(_BEGINS)
    process = program.begun(folder, place, *program.run, f"{ROOT}: have an agent do it.")
    stack.callback(_kill, process)
    return process


def _seen_at_work(delegtop: Delegtop) -> tuple[list[str], dict[str, str]]:
    """What fresh looks say while all are at work: nobody is called dead."""
    faults: list[str] = []
    until, states = time.monotonic() + _SEEN, dict[str, str]()
    while time.monotonic() < until and len(states) < 2:
        states = delegtop.tree()
        faults += [f"alive, and was {state}" for state in states.values() if state not in AT_WORK]
    return faults, states


@contextmanager
def _views(delegtop: Delegtop, home: Path, session: str, agent: str) -> "Iterator[Views]":
    terminal_home = home / "terminal"
    terminal_home.mkdir()
    terminal = Terminal(terminal_home)
    with ExitStack() as stack:
        stack.callback(terminal.close)
        terminal.open(160, 45)
        watch = Watch(delegtop, home / "watched")
        stack.callback(_end, watch.process)
        waits = [delegtop.popen("wait", id, "--json") for id in (session, agent)]
        for each in waits:
            stack.callback(_end, each)
        terminal.delegtop(environ=f"cd {home / 'project'} && HOME={home}")
        views = Views(watch, waits, terminal)
        until = time.monotonic() + _SEEN
        while time.monotonic() < until and not views.stand(session, agent):
            time.sleep(0.1)
        yield views


class Views:
    """All that ran before the signal."""

    def __init__(self, watch: Watch, waits: "list[subprocess.Popen[str]]", terminal: Terminal) -> None:
        self.watch, self.waits, self.terminal = watch, waits, terminal

    def stand(self, session: str, agent: str) -> bool:
        """Whether each of them shows the two at work."""
        return len(self.screen()) > 1 and {session, agent} <= self.watch.look().keys()

    def screen(self) -> list[str]:
        """The states of the rows of the tree."""
        found = (_ROW.search(row) for row in self.terminal.rows())
        return [each[0].partition(" ")[2] for each in found if each]


def _followed(
    delegtop: Delegtop, views: Views, session: str, agent: str
) -> tuple[dict[str, str], dict[str, float | None]]:
    """The states that `tree` comes to, and the seconds until each view says that nobody is at work any more."""
    began = time.monotonic()
    seconds: dict[str, float | None] = dict.fromkeys(VIEWS)
    states: dict[str, str] = {}

    def over(found: dict[str, str]) -> bool:
        return {session, agent} <= found.keys() and not any(found[id] in AT_WORK for id in (session, agent))

    looks: dict[str, Callable[[], bool]] = {
        "watch": lambda: over(views.watch.look()),
        "wait": lambda: all(each.poll() is not None for each in views.waits),
        "dashboard": lambda: len(screen := views.screen()) > 1 and not any(state in AT_WORK for state in screen),
    }
    asked = delegtop.popen("tree", "--json")
    while time.monotonic() - began < _SEEN and None in seconds.values():
        for name, is_over in looks.items():
            if seconds[name] is None and is_over():
                seconds[name] = time.monotonic() - began
        if seconds["tree"] is None and asked.poll() is not None:
            states = _states(asked)
            if over(states):
                seconds["tree"] = time.monotonic() - began
            else:
                asked = delegtop.popen("tree", "--json")
        time.sleep(0.05)
    return delegtop.tree(), seconds


def _states(asked: "subprocess.Popen[str]") -> dict[str, str]:
    assert asked.stdout
    with suppress(ValueError):
        return {each["id"]: each["state"] for each in json.loads(asked.stdout.read())["delegations"]}
    return {}


def _wrong(states: dict[str, str], seconds: dict[str, float | None]) -> list[str]:
    faults = [f"{name} never said so" for name, took in seconds.items() if took is None]
    faults += [f"{name} took {took:.1f} s" for name, took in seconds.items() if took is not None and took > GOAL]
    faults += [f"the session is {state}" for state in list(states.values())[:1] if state not in (*DEAD, AT_REST)]
    return faults + [f"the agent is {state}" for state in list(states.values())[1:] if state not in DEAD]


def _resumed(program: Program, folder: Path, place: Place, delegtop: Delegtop, session: str) -> list[str]:
    """Takes the session up again: once that turn is over, the dead past holds nobody up."""
    again = program.begun(
        folder, place, *(word.replace("{}", session) for word in program.resume), f"{AGAIN}: {ROOT} goes on."
    )
    code = again.wait(_BEGINS)
    states = delegtop.tree()
    stuck = [f"after the resume {id[:8]} is {state}" for id, state in states.items() if state in AT_WORK]
    return stuck or [f"(resumed, exit {code}: {'/'.join(states.values())})"]


def _ended(process: "subprocess.Popen[bytes]", name: str) -> str:
    """Send the signal to all its processes, once more if it only asks whether that was meant; how it went."""
    for _ in range(2):
        os.killpg(process.pid, getattr(signal, f"SIG{name}"))
        with suppress(subprocess.TimeoutExpired):
            code = process.wait(_LEAVES / 2)
            while _is_group_there(process.pid):
                time.sleep(0.02)
            return f"exit {code}" if code >= 0 else f"signal {-code}"
    return "lives on"


def _is_group_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _swept(home: Path) -> None:
    """End what the program left running: a server in the background, in a process group of its own."""
    word = f"HOME={home}".encode()
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if word in environ.read_bytes().split(b"\0"):
                os.kill(int(environ.parent.name), signal.SIGKILL)


def _end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.communicate()


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", default=[each.name for each in PROGRAMS])
    parser.add_argument("--signals", nargs="+", choices=SIGNALS, default=SIGNALS)
    parser.add_argument("--resume", action="store_true")
    asked = parser.parse_args()
    _say("| program | signal | it went by | session/agent | tree | watch | wait | dashboard | faults |")
    _say("| --- | --- | --- | --- | ---: | ---: | ---: | ---: | --- |")
    faulty = 0
    for program in PROGRAMS:
        if program.name not in asked.only or not program.is_there(asked.folder):
            continue
        for name in asked.signals:
            result = measured(program, asked.folder, name, resume=asked.resume)
            faulty += any(not fault.startswith("(") for fault in result.faults)
            named = result._replace(program=f"{program.name} {program.version(asked.folder)}")
            _say(named.row())
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
