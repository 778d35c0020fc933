"""Who may delegate to whom among the agent files of one folder, and where that leads back to its start."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePath

from delegtop.diagnosis.finding import Severity
from delegtop.protocols.standard.agent_files.agent_file import AgentFile
from delegtop.protocols.standard.agent_files.agent_file_rule import FileNote, rule


def with_neighbours(files: Iterable[AgentFile]) -> list[AgentFile]:
    """The files, each knowing whom the others of its folder may delegate to."""
    files = list(files)
    by_folder: dict[PurePath, dict[str, tuple[str, ...]]] = {}
    for file in files:
        by_folder.setdefault(PurePath(file.path).parent, {})[file.stem] = file.delegates_to
    return [replace(file, neighbours=by_folder[PurePath(file.path).parent]) for file in files]


@rule(
    "AGT-056",
    "delegation circle",
    Severity.INFO,
    "no agent may delegate to one that may delegate back to it",
    "Structure standard, Delegation Safety: do not delegate to ancestors. Told of files in one folder that are linted "
    "together. What a file allows need not happen, so this is only mentioned; DEL-007 tells of a cycle that did.",
)
def circle(file: AgentFile) -> Iterator[FileNote]:
    for index, other in enumerate(file.delegates_to):
        way = _way(file, other)
        if len(way) > 1:  # one to itself is an error of its own
            message = f"it may delegate to {other}, and back to itself by {' > '.join((file.stem, *way))}"
            advice = f"take {way[0]} out here, or {way[-1]} out of can_delegate_to of {way[-2]}"
            yield file.line_of(f"delegation.can_delegate_to[{index}]"), message, advice


def _way(file: AgentFile, first: str) -> tuple[str, ...]:
    """The shortest way from the agent to the file's own; empty if there is none."""
    ways: list[tuple[str, ...]] = [(first,)]
    seen = {first}
    for way in ways:
        if way[-1] == file.stem:
            return way
        for other in file.neighbours.get(way[-1], ()):
            if other not in seen:
                seen.add(other)
                ways.append((*way, other))
    return ()
