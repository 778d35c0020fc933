"""What there is of work on disk: the files that a return names so far, and those that match a pattern and are new."""

import glob
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from delegtop.base.clock import SECOND, Millis, WallClock, monotonic
from delegtop.protocols.standard.contract.return_contract import ARTIFACT_TYPES

_MOST = 100


class ArtifactSearch:
    """Looks in the root of the project (the folder of this process, if none is given) for files since the start."""

    def __init__(self, patterns: Sequence[str], since: Millis, root: Path | None = None) -> None:
        self._patterns = patterns
        self._since = since
        self._began = monotonic()
        self._root = root or Path()

    def found(self, named: object = None) -> list[dict[str, Any]]:
        """Those of the artifacts named that are there, then those that match and are new."""
        there = [each for each in named if self._is_there(each)] if isinstance(named, list) else []
        paths = {each["path"] for each in there}
        return there + [each for each in self.matching() if each["path"] not in paths]

    def matching(self) -> Iterator[dict[str, Any]]:
        paths = (
            path
            for pattern in self._patterns
            for path in sorted(glob.glob(pattern, root_dir=self._root, recursive=True))  # noqa: PTH207  # keeps a relative path relative
        )
        for path in islice(filter(self._is_new, dict.fromkeys(paths)), _MOST):
            yield {"type": _type_of(path), "path": path}

    def _is_new(self, path: str) -> bool:
        try:
            file = self._root / path
            return file.is_file() and file.stat().st_mtime * SECOND >= self._start() - SECOND
        except OSError:
            return False

    def _start(self) -> float:
        """When it began, by the clock of that time or as it is now: it may have been set back meanwhile."""
        return min(self._since, WallClock().now() - (monotonic() - self._began) * SECOND)

    def _is_there(self, artifact: object) -> bool:
        path = artifact.get("path") if isinstance(artifact, dict) else None
        try:
            return isinstance(path, str) and (self._root / path).exists()
        except (OSError, ValueError):
            return False


def _type_of(path: str) -> str:
    """The type a path speaks of; work that names no type is the implementation."""
    return next((kind for kind in ARTIFACT_TYPES if kind in path.lower()), "implementation")
