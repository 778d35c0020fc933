"""While agents write their logs, each change is on the screen within a second, though nothing was there at first."""

import logging
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.patience import PATIENCE

if TYPE_CHECKING:
    from tests.terminal.conftest import Terminal

ACTOR = Path(__file__).parent / "actor.py"
LOOKS = 25
"""So often it is looked in vain from the end of the writing to the screen, at most: a second on a quiet machine."""


class Agent:
    """A process that writes the log of an agent, step by step."""

    def __init__(self, kind: str, home: Path) -> None:
        command = [sys.executable, str(ACTOR), kind, str(home)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def do(self, step: str) -> None:
        """Returns when all of it was written."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{step}\n")
        assert self._process.stdout.readline() == "done\n"

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(PATIENCE)
        assert self._process.stdout
        self._process.stdout.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A machine on which no agent has ever run."""
    home = tmp_path / "home"
    (home / "work").mkdir(parents=True)
    return home


@pytest.fixture(params=["claude", "codex", "opencode"])
def agent(request: pytest.FixtureRequest, home: Path) -> Iterator[Agent]:
    made = Agent(request.param, home)
    yield made
    made.close()


def settings(home: Path) -> str:
    """The environment, as words before a command."""
    places = {
        "HOME": home,
        "CLAUDE_CONFIG_DIR": home / "claude",
        "CODEX_HOME": home / "codex",
        "XDG_DATA_HOME": home / "data",
        "XDG_STATE_HOME": home / "state",
        "XDG_CONFIG_HOME": home / "config",
    }
    return "env " + " ".join(f"{name}={shlex.quote(str(value))}" for name, value in places.items())


WORDS = {
    "session": ("waits for the model",),
    "spawn": ("waiting", "subagent|tree-counter|wheel-painter|cart-mender"),
    "tool": ("ls apple|mix blue|hammer oak",),
    "end": ("completed|done",),
    "elsewhere": ("Prune the vines|Oil the gate|Clean the pond",),
}
"""What stands on the screen after each step; one of several where the agents differ."""


def seen_after(terminal: "Terminal", agent: Agent, step: str) -> int:
    """How often it is looked in vain until all that the step brings is on the screen."""
    agent.do(step)

    def is_there() -> bool:
        shown = terminal.screen()
        return all(any(word in shown for word in words.split("|")) for words in WORDS[step])

    return terminal.wait_until(is_there, f"{step}: {WORDS[step]}", LOOKS)


def test_each_change_of_an_agent_that_comes_later_is_on_the_screen_within_a_second(
    terminal: "Terminal", home: Path, agent: Agent
) -> None:
    terminal.shell(f"cd {shlex.quote(str(home / 'work'))}")
    terminal.wait_for_the_end()
    terminal.delegtop(environ=settings(home))
    terminal.wait_for("Nothing to watch yet")
    taken = {step: seen_after(terminal, agent, step) for step in WORDS}
    logging.getLogger(__name__).info("looks in vain: %s", taken)
    assert "⚠" not in terminal.rows()[0], "a place where nothing is yet is no source that fails"
    terminal.keys("q")
    assert terminal.wait_for_the_end() == 0
