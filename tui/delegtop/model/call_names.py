"""By what name it is known how long something takes: a tool, the program that a shell was called with, a model, a kind
of agent. Each name is followed by a narrower one, of which less is known and which says more."""

from collections.abc import Iterator
from functools import lru_cache

from delegtop.base.lazy_pattern import lazy_pattern

SHELLS = frozenset({"bash", "shell", "exec_command", "local_shell", "run_shell_command", "run_terminal_cmd", "execute"})
"""The tools that run a command, in small letters."""
TOOL, MODEL, AGENT = "tool", "model", "agent"
"""The widest names: any tool, any model, any agent."""
_BEFORE = lazy_pattern(r"(?:cd\s+[^\s&;][^&;\n]*+(?:&&|;)\s*)+")
_WORDS = 6
_PROGRAM = lazy_pattern(r"[a-z][a-z0-9_.+-]{0,15}")


@lru_cache(maxsize=256)  # there are few tools, and thousands of calls
def is_shell(tool: str | None) -> bool:
    return tool is not None and tool.lower() in SHELLS


def names_of_call(tool: str, doing: str | None) -> Iterator[str]:
    """`tool`, `Bash`, `Bash: git`."""
    yield TOOL
    yield tool
    if program := program_called(tool, doing):
        yield f"{tool}: {program}"


def program_called(tool: str, doing: str | None) -> str:
    """What a shell was called with; nothing of any other tool."""
    return program_of(doing) if doing and is_shell(tool) else ""


def names_of_answer(model: str | None) -> Iterator[str]:
    """`model`, `model opus-4`."""
    yield MODEL
    if model:
        yield f"{MODEL} {model}"


def names_of_agent(agent: str | None) -> Iterator[str]:
    """`agent`, `agent explorer`."""
    yield AGENT
    if agent:
        yield f"{AGENT} {agent}"


def program_of(command: str) -> str:
    """The first word of a command, behind `cd …` and assignments; nothing if it does not look like a program's name."""
    command = command.lstrip()
    if moved := _BEFORE.match(command):
        command = command[moved.end() :]
    words = (word for word in command.split(maxsplit=_WORDS)[:_WORDS] if "=" not in word.partition("/")[0])
    name = next(words, "").rpartition("/")[2]
    return name if _PROGRAM.fullmatch(name) else ""
