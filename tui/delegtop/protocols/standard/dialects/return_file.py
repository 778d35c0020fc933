"""A return in a file of its own: the object itself, or an agent's output that holds one.

No file is taken for one unless somebody says so: other programs write objects with a status and a summary too. `check`
looks into a named file that is of no other format.
"""

from codecs import BOM_UTF8
from collections.abc import Iterable
from pathlib import PurePath
from typing import ClassVar

from delegtop.base.origin import Origin
from delegtop.dialects import About, Basis, Dialect, Sample, Unit
from delegtop.dialects.kit.salvage import Notes, wrong_type
from delegtop.model.events import Ended, Ending, Event, Outcome
from delegtop.protocols.standard.contract.return_search import is_return, placed_returns
from delegtop.protocols.standard.dialects.return_reading import OUTCOMES, repair_return, report
from delegtop.sources.records import NOT_JSON, Line, Unreadable, decoded, excerpt


class ReturnFile(Dialect):
    """Reads one return."""

    name: ClassVar[str] = "return"
    title: ClassVar[str] = "return of a subagent"
    surest: ClassVar[int] = 0
    about: ClassVar[About] = About(
        "agents of the delegation protocol",
        "one answer in a text file",
        "how the agent says it ended, its artifacts and errors, what to do next",
        Basis.OWN,
    )
    unit: ClassVar[Unit] = Unit.TEXT
    is_answer: ClassVar[bool] = True

    @classmethod
    def sniff(cls, sample: Sample) -> int:  # noqa: ARG003 - whatever it is
        return 0

    def read(self, line: Line) -> Iterable[Event | Unreadable]:
        if found := return_events(line.data, line.origin.source):
            return found
        text = line.data.decode("utf-8-sig", "replace").strip()
        value = decoded(text.encode("utf-8", "replace"))
        if value is None and text.startswith("{"):  # an object that is broken, not words
            return [*_events({}, Notes(line.origin)), Unreadable(line.origin, NOT_JSON, excerpt(line.data))]
        return _events(text if value is None else value, Notes(line.origin))


def return_events(data: bytes, path: str) -> list[Event]:
    """The end that the last return in the text tells of, and how it departs from the standard."""
    text = data.removeprefix(BOM_UTF8).decode("utf-8", "replace")
    found, place = next((each for each in placed_returns(text) if isinstance(each[0], dict)), (None, 0))
    whole = decoded(text.strip().encode("utf-8", "replace"))
    if found is None and isinstance(whole, list):
        found = next((each for each in reversed(whole) if isinstance(each, dict) and is_return(each)), None)
    if found is None:
        return []
    line = 1 + text.count("\n", 0, place)
    offset = len(text[:place].encode("utf-8", "replace")) + (len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0)
    notes = Notes(Origin(path, line, offset))
    if isinstance(whole, list):
        wrong_type("object", whole, notes, "return")
    return _events(found, notes)


def _events(given: object, notes: Notes) -> list[Event]:
    told, origin = report(repair_return(given, notes, "return")), notes.origin
    id = told.session_id or f"no-session-id@{PurePath(origin.source).name}:{origin.line}"
    ended = Ended(id, None, origin, OUTCOMES.get(told.status, Outcome.UNKNOWN), Ending.RETURN, told)
    return [ended, *notes.deviations()]
