"""What a CLEO subagent answered its orchestrator, as a file of text: one sentence, and nothing else.

Only a file that is named is looked at: any text may mention the manifest, but only an answer says how the work ended.
"""

from collections.abc import Iterable
from pathlib import PurePath
from typing import ClassVar

from delegtop.dialects import About, Basis, Dialect, Sample, Unit
from delegtop.model import notes as kinds
from delegtop.model.events import PROMPT, Ended, Ending, Event, Noted, Report, Started
from delegtop.protocols.cleo import PRODUCT
from delegtop.protocols.cleo.entry_rows import outcome_of
from delegtop.protocols.cleo.manifest_contract import LATER_LINES, RESPONSE
from delegtop.sources.records import Line, Unreadable

_NONE = frozenset({"none", "-", "–", "n/a"})


class CleoResponse(Dialect):
    """Reads one answer."""

    name: ClassVar[str] = "cleo-response"
    title: ClassVar[str] = "CLEO subagent response"
    product = PRODUCT
    surest: ClassVar[int] = 60
    about: ClassVar[About] = About(
        "CLEO",
        "one answer in a text file",
        "how the agent says it ended",
        Basis.DOCUMENTED,
    )
    unit: ClassVar[Unit] = Unit.TEXT

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        if b"\0" in sample.head or sample.head.lstrip().startswith((b"{", b"[")):
            return 0
        return 60 if RESPONSE.search(sample.head.decode("utf-8", "replace")) else 0

    def read(self, line: Line) -> Iterable[Event | Unreadable]:
        text = line.data.decode("utf-8-sig", "replace").strip()
        found = RESPONSE.search(text)
        id = f"response@{PurePath(line.origin.source).name}"
        status = found[1].lower() if found else None  # only what is said to be an answer is read without its message
        told = {name: rest for name, rest in LATER_LINES.findall(text) if rest and rest.lower() not in _NONE}
        report = Report(status=status, summary=text[:PROMPT])
        yield Started(id, None, line.origin, product=PRODUCT.name)
        yield Ended(id, None, line.origin, outcome_of(status), Ending.RETURN, report)
        yield Noted(id, None, line.origin, kinds.RESPONSE, text[:PROMPT])
        if "blocker" in told:
            yield Noted(id, None, line.origin, kinds.BLOCKER, told["blocker"][:PROMPT])
