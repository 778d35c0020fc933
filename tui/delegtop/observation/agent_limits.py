"""The agent definition files of the projects that the sources belong to: they say who may take how long."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from delegtop.model.policy import AgentLimits

FOLDERS = (".opencode/agent", ".opencode/agents", ".claude/agents")
AT_HOME = (".config/opencode/agent", ".claude/agents")
LARGEST = 1024 * 1024
MANY = 500
"""So many files are read at most: a folder with more is none of agents."""


def limits_near(sources: Sequence[str]) -> "dict[str, AgentLimits]":
    """What the agent files around the sources say, by the agent's name; of many only that they are there. The nearest
    file of a name counts; one that cannot be read says nothing (`delegtop lint` tells why)."""
    found = _recorded(sources)
    for number, path in enumerate(path for folder in _folders(sources) for path in sorted(folder.rglob("*.md"))):
        if number >= MANY:
            break
        for name, limits in _read(path):
            found.setdefault(name, limits)
    return found


def _recorded(sources: Sequence[str]) -> "dict[str, AgentLimits]":
    """What such files said where a recording was made."""
    recordings = [source for source in sources if source.endswith(".zip") or ".delegtop" in source]
    if not recordings:
        return {}

    from delegtop.feed.recordings import recorded_limits

    found: dict[str, AgentLimits] = {}
    for source in reversed(recordings):
        found |= recorded_limits(source)
    return found


def _folders(sources: Sequence[str]) -> Iterator[Path]:
    """The folders of agents beside and above the sources and this folder, the nearest first, then the user's own."""
    places: dict[Path, None] = {}
    for here in map(_absolute, (*sources, ".")):
        places |= dict.fromkeys((here, *here.parents))
    candidates = [place / name for place in places for name in FOLDERS]
    candidates += [Path.home() / name for name in AT_HOME]
    yield from (folder for folder in dict.fromkeys(candidates) if _is_folder(folder))


def _absolute(path: str | Path) -> Path:
    try:
        return Path(path).absolute()
    except OSError:  # this folder is gone
        return Path(path)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # ValueError: a zero byte in the name
        return False


def _read(path: Path) -> "Iterator[tuple[str, AgentLimits]]":
    from delegtop.model.policy import AgentLimits
    from delegtop.protocols.standard.agent_files.agent_file import read

    try:
        if path.stat().st_size > LARGEST:
            return
        agent = read(str(path), path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    if agent.fault is not None:
        return
    limits = AgentLimits(
        source=str(path),
        timeout=_milliseconds(agent.at("timeout").integer()),
        child_timeout=_milliseconds(agent.at("delegation", "timeout_default").integer()),
        child_timeout_max=_milliseconds(agent.at("delegation", "timeout_max").integer()),
        max_depth=agent.at("delegation", "max_depth").integer(),
        may_delegate_to=agent.at("delegation", "can_delegate_to").strings(),
        project=_project(path),
    )
    for name in {agent.stem, agent.name or agent.stem}:
        yield name, limits


def _project(path: Path) -> str | None:
    """The folder of the project that an agent's file belongs to; None for the user's own agents."""
    for folder in _absolute(path).parents:
        if any(folder == Path.home() / name for name in AT_HOME):
            return None
        for name in FOLDERS:
            if folder.as_posix().endswith(f"/{name}"):
                return str(folder.parent.parent)
    return None


def _milliseconds(seconds: int | None) -> int | None:
    return seconds * 1000 if seconds is not None and seconds > 0 else None
