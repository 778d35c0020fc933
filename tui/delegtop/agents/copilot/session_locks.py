"""GitHub Copilot CLI: the lock that says which process has a session open, `session-state/<id>/inuse.<pid>.lock`.

It is there while the process is: a normal exit takes it away, SIGKILL leaves it behind. So a lock alone proves nothing,
and whether its process lives is asked of the system by whoever can. Its name says all.
"""

import re
from collections.abc import Iterable, Iterator
from typing import ClassVar

from delegtop.agents.copilot import PRODUCT
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import About, Basis, Dialect, Sample, Unit
from delegtop.dialects.signature import Signature
from delegtop.model.events import LOCALHOST, Ended, Ending, Event, Outcome, Resumed, Started
from delegtop.sources.records import Line

_LOCK = re.compile(r"(?:^|[/\\])([^/\\]+)[/\\]inuse\.([1-9]\d{0,9})\.lock$")
_LONGEST = 200
"""Bytes of a lock, which holds at most the number of the process."""


class CopilotLocks(Dialect):
    """Reads one lock."""

    name: ClassVar[str] = "copilot-locks"
    title: ClassVar[str] = "GitHub Copilot CLI, running processes"
    product = PRODUCT
    surest: ClassVar[int] = 90
    signatures: ClassVar[tuple[Signature, ...]] = (Signature((), "inuse."),)
    about: ClassVar[About] = About(
        "GitHub Copilot CLI 1.0",
        "`~/.copilot/session-state/*/inuse.<pid>.lock`",
        "which sessions are open, and their processes",
        Basis.DOCUMENTED,
    )
    unit: ClassVar[Unit] = Unit.TEXT
    files: ClassVar[tuple[str, ...]] = ("inuse.*.lock",)

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        return 90 if _LOCK.search(sample.path) and sample.whole and len(sample.head) < _LONGEST else 0

    def read(self, line: Line) -> Iterator[Event]:
        found = _LOCK.search(line.origin.source)
        if found is None:
            return
        id, at = found[1], line.at
        yield Started(
            id,
            at,
            line.origin,
            agent=PRODUCT.name,
            depth=0,
            pid=int(found[2]),
            host=LOCALHOST,
            refs=(("session_id", id),),
            listed=True,
            product=PRODUCT.name,
        )
        if at is not None:  # an end that an earlier process of the same session told is no end of this one
            yield Resumed(id, at, line.origin)

    def vanished(self, origin: Origin, at: Millis) -> Iterable[Event]:
        """The process took its lock away, so it ended by itself or was asked to; how, the log says."""
        if found := _LOCK.search(origin.source):
            yield Ended(found[1], at, origin, Outcome.UNKNOWN, Ending.GONE)
