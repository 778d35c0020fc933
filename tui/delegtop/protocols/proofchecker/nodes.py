"""Where each file's word belongs in the tree, and what the files of one folder of tasks know together.

A session is a row; every operation it ran on a task (research, plan, implement) is a row below it. A batch hands each
task to a session of its own, whose id is the batch's id and the number of the task.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import repeat
from typing import Any, NamedTuple

from delegtop.base.clock import DAY, MINUTE, Millis, parse_time
from delegtop.base.origin import Origin
from delegtop.base.text import cut
from delegtop.dialects.kit.clones import GAP, Copies, remark, tells_time
from delegtop.model import notes
from delegtop.model.events import Described, Event, Heard, Noted, Phase, Started, Surveyed, Trust
from delegtop.model.usage import Usage
from delegtop.protocols.proofchecker import PRODUCT, vocabulary
from delegtop.protocols.proofchecker.vocabulary import TaskPlace

_SLACK = 5 * MINUTE
_COPYING = 10 * MINUTE
"""A tree is cloned within this."""
_MOMENTARY = frozenset({notes.MARKER, notes.LOCK, notes.LOOP})


class Document(NamedTuple):
    """One record, and what its place says of it."""

    value: dict[str, Any]
    origin: Origin
    at: Millis | None
    """When the file was last written; of a copy, the latest time that stands in it."""
    place: TaskPlace
    copied: Millis | None = None
    """When the file of a copy was written: that is no sign of life."""
    is_dated: bool = False
    """Whether any time stands in it: looked for once, for all rows that it tells of."""

    @property
    def ended_at(self) -> Millis | None:
        """When what it tells of as over was over: nobody knows that of a copy."""
        return None if self.copied is not None else self.at

    @property
    def remark(self) -> str | None:
        """What makes it a copy."""
        return None if self.copied is None else remark(self.copied, self.at if self.is_dated else None)

    def moment(self, given: Any, slack: int = 0) -> Millis | None:
        """A time that stands in it; one that is later than the file itself is no time."""
        at = parse_time(given) if isinstance(given, str) else None
        return None if at is None or (self.at is not None and at > self.at + slack) else at

    def beside(self, link: "NodeLink | None") -> "Document":
        """The same once it is known whose it is: what tells no time is as old as what was copied with it, and as who
        was last heard of long before."""
        if link is None or self.at is None or self.copied is not None or not link.at or self.is_dated:
            return self
        together = link.copied is not None and abs(self.at - link.copied) < _COPYING
        return self._replace(at=link.at, copied=self.at) if together or self.at - link.at > GAP else self


class Dispatch(NamedTuple):
    """What one dispatch of an operation used, and when it was over."""

    tokens: int | None
    used: Usage | None
    over: Millis | None


class NodeLink(NamedTuple):
    """A session is known to have worked on a task, and at what."""

    at: Millis
    session: str
    operation: str | None
    copied: Millis | None = None
    """When the file that says so was written, if it is a copy."""


Teller = Callable[[Document, NodeLink], Iterable[Event]]
"""What a file without a session tells, once it is known whose it is."""


Wanted = Callable[[NodeLink], bool]
"""Whether a link can be the one that a file without a session belongs to."""


def anyone(_link: NodeLink) -> bool:
    return True


def runs(operation: str) -> Wanted:
    """Who runs that operation, or may."""
    return lambda link: link.operation in (operation, None)


class Aside(NamedTuple):
    """What waits until it is known whose it is."""

    document: Document
    wanted: Wanted
    teller: Teller

    def fits(self, link: NodeLink) -> bool:
        """A session that worked on the task weeks before did not write this, unless both are copies."""
        if not self.wanted(link):
            return False
        document = self.document if link.copied is None else self.document.beside(link)
        # A copy may be later than the latest time it tells of.
        before = _SLACK if document.copied is None else DAY
        return document.at is None or not link.at or -before < document.at - link.at < DAY

    def told(self, link: NodeLink) -> Iterator[Event]:
        yield from self.teller(self.document.beside(link), link)


class FolderMemory:
    """What the files of one folder of tasks said so far. Nothing that is told once depends on their order but for
    files that name no session: they wait until another file of the same task does."""

    def __init__(self) -> None:
        self._links: dict[str, dict[tuple[str, str | None], NodeLink]] = {}
        self._waiting: dict[str, dict[tuple[str, int], Aside]] = {}
        """By task, and by the place in the file: a document has one."""
        self.open_rows: dict[str, str] = {}
        """The row each marker file stands for."""
        self.ended: set[str] = set()
        self.running: dict[tuple[str, str | None], str] = {}
        """The operation that the log says a session runs on a task now."""
        self.operations: dict[str, tuple[str, int]] = {}
        """The operation an event of the log was about, and which dispatch of it it was, by the event's id."""
        self.dispatches: dict[str, int] = {}
        self.defects: dict[str, dict[str, None]] = {}
        self.issues: dict[str, dict[str, str]] = {}
        """What went wrong with each row, by the ids of the notes."""
        self.metered: dict[str, dict[str, Dispatch]] = {}
        """What each dispatch of a row used, by the ids of the measurements."""
        self.begun: set[str] = set()
        self.surveyed: set[str] = set()
        """The files that list what is open now."""
        self._copies = Copies()
        self._noted: dict[str, set[tuple[str, str]]] = {}
        self._statuses: dict[str, tuple[str, Millis | None]] = {}

    def document(self, value: dict[str, Any], origin: Origin, written: Millis | None, told: Any = None) -> Document:
        """One record with its place, and the time that can be believed; `told` is what stands in the file, if that is
        more than the record."""
        place = vocabulary.place(origin.source)
        at = self._copies.told(origin.source, value if told is None else told, written)
        believed, copied = (written, None) if at is None else (at, written)
        return Document(value, origin, believed, place, copied, tells_time(value))

    def since(self, id: str, status: str, at: Millis | None) -> Millis | None:
        """When the status was first seen: a registry that is rewritten for another task says nothing new of this."""
        known = self._statuses.get(id)
        if known is None or known[0] != status:
            known = self._statuses[id] = (status, at)
        return known[1]

    def notes(self, document: Document, id: str, told: Mapping[str, str | None]) -> Iterator[Noted]:
        """What the document says now; what the same file said before and says no longer is withdrawn."""
        told = {**told, notes.COPIED: document.remark}
        given = {(id, kind) for kind, text in told.items() if text}
        for before, kind in sorted(self._noted.get(document.origin.source, set()) - given):
            yield Noted(before, document.at, document.origin, kind, "")
        self._noted[document.origin.source] = given
        for kind, text in told.items():
            if text:
                yield Noted(id, document.at, document.origin, kind, text)

    def listed(self, document: Document, kind: str, ids: set[str]) -> Iterator[Noted]:
        """Withdraw the notes of that kind from the rows that the document no longer lists."""
        source = document.origin.source
        for id, noted in sorted(self._noted.get(source, set())):
            if noted == kind and id not in ids:
                yield Noted(id, document.at, document.origin, kind, "")
                yield Noted(id, document.at, document.origin, notes.COPIED, "")
        self._noted[source] = {(id, kind) for id in ids}

    def gone(self, origin: Origin, at: Millis) -> Iterator[Event]:
        """The file was deleted. What it said of the moment holds no longer; what an agent said of its work stays."""
        for id, kind in sorted(self._noted.pop(origin.source, set())):
            if kind in _MOMENTARY:
                yield Noted(id, at, origin, kind, "")
        if origin.source in self.surveyed:
            self.surveyed.discard(origin.source)
            yield Surveyed(at, origin, ())

    def retold(self) -> "FolderMemory":
        """A memory to tell a line once more with: it knows what the lines are about, and nothing is told already."""
        again = FolderMemory()
        again.operations, again._links = self.operations, self._links
        return again

    def link(
        self,
        task: str | None,
        session: str,
        operation: str | None,
        at: Millis | None,
        copied: Millis | None = None,
    ) -> Iterator[Event]:
        """Remember who works on the task; what waited for that is told now."""
        if task is None:
            return
        link = NodeLink(at or Millis(0), session, operation, copied)
        known = self._links.setdefault(task, {})
        before = known.get((session, operation))
        if before is None or before.at < link.at:
            known[session, operation] = link
        waiting = self._waiting.get(task, {})
        for source in [source for source, aside in waiting.items() if aside.fits(link)]:
            yield from waiting.pop(source).told(link)

    def own_session(self, session: str, task: str | None) -> str:
        """The child that a batch made for the task, if one is known: its agents often name the batch instead."""
        child = f"{session}_{task}"
        known = self._links.get(task or "", {})
        return child if any(each == child for each, _ in known) else session

    def whose(self, task: str | None, at: Millis | None, wanted: Wanted = anyone) -> NodeLink | None:
        """Who worked on the task at that moment: the last before it, else the first after it."""
        links = [link for link in self._links.get(task or "", {}).values() if wanted(link)]
        links.sort(key=lambda link: (link.at, link.operation is not None))
        before = [link for link in links if at is None or link.at <= at]
        return before[-1] if before else links[0] if links else None

    def tell(self, document: Document, task: str | None, teller: Teller, wanted: Wanted = anyone) -> Iterator[Event]:
        """Tell at once if it is known whose the document is, else when it is."""
        aside = Aside(document, wanted, teller)
        link = self.whose(task, document.at, wanted)
        if link is not None:
            yield from aside.told(link)
        elif task is not None:
            self._waiting.setdefault(task, {})[document.origin.source, document.origin.line] = aside


def row(session: str, task: str | None, operation: str) -> str:
    """The id of an operation. A child session has one task, which its id names already."""
    if task is None or vocabulary.parent(session) is not None:
        return f"{session}/{operation}"
    return f"{session}/{task}/{operation}"


def session_started(
    session: str,
    origin: Origin,
    near: Millis | None,
    *,
    task: str | None = None,
    at: Millis | None = None,
    command: str | None = None,
    pid: int | None = None,
    host: str | None = None,
    refs: tuple[tuple[str, str], ...] = (),
    listed: bool = False,
    trust: Trust = Trust.SCRIPT,
) -> Iterator[Started]:
    """The session's row and its parent's. Without a better time its start is the second in its id."""
    above = vocabulary.parent(session)
    if above is not None:
        yield from session_started(above, origin, near)
    epoch = vocabulary.begun(session, near) if at is None else None
    yield Started(
        session,
        at if at is not None else epoch,
        origin,
        task=task,
        command=command,
        parent=above,
        pid=pid,
        host=host,
        refs=refs,
        trust=Trust.EPOCH if epoch is not None else trust,
        listed=listed,
        product=PRODUCT.name,
    )


def session_heard(session: str, at: Millis | None, origin: Origin, doing: str | None = None) -> Iterator[Heard]:
    """A sign of life. A session only hands on, so it is idle unless what it handed on is in work; and whoever speaks
    for a child speaks for the batch as well."""
    yield Heard(session, at, origin, doing=doing, phase=Phase.IDLE)
    if (above := vocabulary.parent(session)) is not None:
        yield Heard(above, at, origin, phase=Phase.IDLE)


def described(id: str, document: Document, title: str | None = None, cwd: str | None = None) -> Iterator[Described]:
    """The work in a few words: by default the name of the task's folder."""
    title = title or (document.place.slug or "").replace("_", " ") or None
    if title or cwd:
        yield Described(id, None, document.origin, title=title, cwd=cwd)


def text(value: Any, limit: int = 4_000) -> str | None:
    """A text of it, also of a number or of a list of texts; None if there is none."""
    told = _told(value, [limit, limit])
    return cut(told.strip(), limit) or None if told else None


def _told(value: Any, room: list[int]) -> str | None:
    """The same as long as there is room, for so many values and so many characters."""
    room[0] -= 1
    kind = type(value)
    if kind is str:
        told = value.strip()
        room[1] -= len(told)
        return told or None
    if kind is list or kind is dict:
        parts: list[str] = []
        for key, each in value.items() if kind is dict else zip(repeat(""), value, strict=False):
            if room[0] <= 0 or room[1] <= 0:
                break
            if part := _told(each, room):
                parts.append(f"{key}: {part}" if kind is dict else part)
        return "\n".join(parts) or None
    return str(value) if kind is int or kind is float else None


def number(value: Any) -> str | None:
    """A task number as text, without leading zeros."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    word = str(value).strip().lstrip("#")
    return (word.lstrip("0") or "0") if word.isdecimal() else word or None
