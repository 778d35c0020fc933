"""The cases, as they stand in the tables beside: ways to hang, and to be slow and healthy."""

import tomllib
from pathlib import Path
from typing import Any

from tests.live.live_case import Case, Launch, Truth

_HERE = Path(__file__).parent
_PROGRAMS: dict[str, str] = tomllib.loads((_HERE / "programs.toml").read_text("utf-8"))["programs"]


def _cases(*names: str) -> tuple[Case, ...]:
    tables = (tomllib.loads((_HERE / f"{name}.toml").read_text("utf-8")) for name in names)
    return tuple(_case(row) for table in tables for row in table["case"])


def _case(row: dict[str, Any]) -> Case:
    words: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    words |= {"plain": Truth(row["plain"])} if "plain" in row else {}
    words |= {"truth": Truth(row["truth"]), "launch": Launch(row.get("launch", "shell"))}
    words |= {"files": {name: _PROGRAMS[name] for name in row.get("files", ())}}
    return Case(**words)


HANGS = _cases(
    "hangs_on_a_terminal", "hangs_on_a_pipe", "hangs_on_a_lock", "hangs_on_an_event", "waits_for_the_network"
)
PULSES = _cases("hangs_with_a_pulse")
HEALTHY = _cases("healthy_asleep", "healthy_at_work", "healthy_with_others")
EVERY = (*HANGS, *PULSES, *HEALTHY)
