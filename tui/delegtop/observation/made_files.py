"""The files that delegations say they made: where those of a log may be, and whether they are there."""

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from delegtop.sources.artifact_files import this_folder

if TYPE_CHECKING:
    from delegtop.base.origin import Origin
    from delegtop.base.product import Product
    from delegtop.model.delegation import Delegation
    from delegtop.model.forest import Forest

Exists = Callable[[str], bool | None]


def source(facts: "Delegation") -> str:
    """The source that tells of its start, else of it at all."""
    origin = facts.started_origin or next(iter(facts.origins), None)
    return origin.name if origin else "–"


def folder(facts: "Delegation") -> Path:
    """The folder of that source; on another host one that is no place here."""
    return _folder(source(facts), bool(facts.told_by))


@lru_cache(maxsize=16_384)  # asked several times of every delegation
def _folder(source: str, is_told: bool) -> Path:
    if is_told:
        return Path("//", source).parent
    folder, name = os.path.split(source)
    return Path(source).parent if name in ("", ".") else _path(folder)


_path = lru_cache(maxsize=16_384)(Path)
"""One object for each folder: many sources lie in one."""


def roots(folder: Path, root: Path | None) -> list[Path]:
    """Where the artifacts of a log in that folder may be."""
    return [*this_folder(), folder] if root is None else [root]


class Unfound(NamedTuple):
    """The files that the delegations of a source name, and the lines that do so."""

    paths: tuple[str, ...]
    told: "tuple[Origin, ...]"


def unfound(forest: "Forest", exists: dict[Path, Exists]) -> dict[str, Unfound]:
    """Each source whose delegations name files of which none can be judged from here. What an agent program notes of
    files that it touched promises nothing, and what lies in no project is told by its rule."""
    from delegtop.dialects.products import product
    from delegtop.protocols.standard.contract.artifact_paths import climbs, is_absolute, is_usable

    named: dict[str, dict[str, bool | None]] = {}
    told: dict[str, dict[Origin, None]] = {}
    for handle in forest.walk():
        facts = forest.delegation(handle)
        program, judged = product(facts.product), exists[folder(facts)]
        if program is not None and program.executables:
            continue
        paths = [each.path for each in facts.artifacts]
        paths = [path for path in paths if is_usable(path) and not is_absolute(path) and not climbs(path)]
        named.setdefault(source(facts), {}).update((path, judged(path)) for path in paths)
        if paths and facts.ended_origin is not None:
            told.setdefault(source(facts), {})[facts.ended_origin] = None
    return {
        place: Unfound(tuple(paths), tuple(told.get(place, ())))
        for place, paths in named.items()
        if paths and all(there is None for there in paths.values())
    }


def existence(forest: "Forest", root: Path | None = None) -> dict[Path, Exists]:
    """For the logs of each folder: do their artifacts exist, in `root`, else here or beside the log?"""
    from delegtop.dialects.products import product
    from delegtop.protocols.standard.contract.artifact_paths import ROOT_FOLDERS
    from delegtop.sources import artifact_files

    claimed: dict[Path, set[str]] = {}
    unseen: dict[Path, Exists] = {}
    beside: set[Path] = set()
    spaces: dict[Path, set[Path | None]] = {}
    foreign: set[Path] = set()
    for handle in forest.walk():
        facts = forest.delegation(handle)
        if facts.told_by:
            unseen[folder(facts)] = lambda _path: None
            continue
        place, program = folder(facts), product(facts.product)
        claimed.setdefault(place, set()).update(artifact.path for artifact in facts.artifacts)
        if program is not None and program.outputs_beside:
            beside.add(place)
        if facts.product is not None:
            foreign.add(place)
        spaces.setdefault(place, set()).add(_workspace(program))
    # A workspace that all logs of a folder name is as good as one that was said on the command line.
    known = {place: root or (next(iter(given)) if len(given) == 1 else None) for place, given in spaces.items()}
    return unseen | {
        place: artifact_files.existence(
            paths,
            roots(place, known[place]),
            sure=known[place] is not None,
            beside=place in beside and artifact_files.is_in_place(place),
            # Only the guide's paths are from the root of the project.
            log=None if place in foreign else artifact_files.LogPlace(place, ROOT_FOLDERS),
        )
        for place, paths in claimed.items()
    }


def _workspace(program: "Product | None") -> Path | None:
    """The folder that the environment names for what a program made, if it is there."""
    named = os.environ.get(program.workspace_variable or "") if program is not None else None
    return Path(named) if named and Path(named).is_dir() else None
