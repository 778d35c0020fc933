"""What the operator noted of problems: acknowledged, put off until a time, and in words.

It is kept in the state folder and never in what is watched. A mark is of one problem, a delegation and what is wrong
with it, and counts only for trouble that had begun when it was made: a new problem shows up again.
"""

from pathlib import Path
from typing import NamedTuple

import msgspec

from delegtop.app.state import state_file
from delegtop.base.clock import DAY, Millis
from delegtop.base.system_errors import reason_of
from delegtop.diagnosis.assessment import Assessment
from delegtop.model.forest import Forest

NAME = "triage.json"
KEPT = 90 * DAY
"""A mark older than this is forgotten with the next that is made."""
_MOST = 10_000

Key = tuple[str, str]


class Problem(NamedTuple):
    """What a mark is of: a delegation, and what is the matter with it."""

    id: str
    rule: str
    since: Millis | None

    @classmethod
    def of(cls, forest: Forest, found: Assessment) -> "Problem":
        return cls(forest.id(found.handle), found.rule, found.since)


class Mark(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was noted of one problem."""

    id: str
    rule: str
    at: Millis
    acknowledged: bool = False
    until: Millis | None = None
    """Put off until then."""
    note: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.acknowledged or self.until is not None or self.note)


class _File(msgspec.Struct):
    schema_version: int
    marks: list[Mark]


class Marks:
    """All marks, as they are in the file; every change is written at once."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or state_file.place(NAME)
        self.trouble = ""
        """Why marks could not be read or kept; nothing if all is well."""
        self._marks: dict[Key, Mark] = {}
        self._seen: state_file.Stamp | None = None
        self.version = 0
        """Grows with every change."""
        self.read()

    def read(self) -> None:
        """Take in what the file holds now; another delegtop may have written it."""
        try:
            stamp = state_file.stamp(self.path)
            if stamp == self._seen:
                return
            self._seen = stamp
            data = state_file.read(self.path) if stamp else b""
            kept = msgspec.json.decode(data, type=_File).marks if data else []
        except OSError as error:
            self.trouble = f"marks cannot be read: {reason_of(error)}"
            return
        except (ValueError, RecursionError) as error:
            self.trouble = f"marks cannot be read ({error}); {self._put_aside()}"
            return
        self._marks = {(mark.id, mark.rule): mark for mark in kept}
        self.version += 1

    def _put_aside(self) -> str:
        """Keep what cannot be read, so that the next mark does not overwrite it."""
        aside = state_file.put_aside(self.path)
        if aside is None:
            return "no new ones will be kept"
        self._seen = None
        return f"what was there is in {aside}"

    # What is noted

    def __len__(self) -> int:
        return len(self._marks)

    def of(self, problem: Problem) -> Mark | None:
        return self._marks.get((problem.id, problem.rule))

    def is_settled(self, problem: Problem, now: Millis) -> bool:
        """Whether the operator has seen to it, or put it off until later than now."""
        mark = self.of(problem)
        if mark is None or (problem.since is not None and problem.since > mark.at):
            return False
        return mark.acknowledged or (mark.until is not None and now < mark.until)

    def acknowledge(self, problem: Problem, now: Millis, done: bool = True) -> bool:
        return self._change(problem, now, acknowledged=done, until=None)

    def snooze(self, problem: Problem, now: Millis, until: Millis | None) -> bool:
        return self._change(problem, now, acknowledged=False, until=until)

    def write(self, problem: Problem, now: Millis, note: str) -> bool:
        return self._change(problem, now, note=note)

    def ids(self) -> set[str]:
        """The delegations that anything is noted of."""
        return {id for id, _ in self._marks}

    def _change(self, problem: Problem, now: Millis, **fields: object) -> bool:
        """True if it is kept; else `trouble` says why not, and it holds until the program ends."""
        self.read()
        key = (problem.id, problem.rule)
        mark = self._marks.get(key) or Mark(problem.id, problem.rule, now)
        mark = msgspec.structs.replace(mark, at=now, **fields)
        if mark.is_empty:
            self._marks.pop(key, None)
        else:
            self._marks[key] = mark
        self.version += 1
        return self._save(now)

    def _save(self, now: Millis) -> bool:
        kept = sorted((mark for mark in self._marks.values() if now - mark.at < KEPT), key=lambda mark: mark.at)
        data = msgspec.json.format(msgspec.json.encode(_File(1, kept[-_MOST:])), indent=1)
        try:
            state_file.write(self.path, data + b"\n")
            self._seen = state_file.stamp(self.path)
        except OSError as error:
            self.trouble = f"marks cannot be kept: {reason_of(error)}"
            return False
        self.trouble = ""
        return True
