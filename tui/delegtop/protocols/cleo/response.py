"""What a CLEO subagent answered its orchestrator, as a file of text: one sentence, later four lines, and nothing else.

Only a file that is named is looked at: any text may mention the manifest, but only an answer says how the work ended.
"""

from collections.abc import Iterable
from pathlib import PurePath
from typing import ClassVar

from delegtop.dialects import About, Basis, Dialect, Sample, Unit
from delegtop.model import notes as kinds
from delegtop.model.events import PROMPT, Ended, Ending, Event, Fault, Noted, Report, Started
from delegtop.protocols.cleo import PRODUCT, response_contract
from delegtop.protocols.cleo.entry_rows import outcome_of
from delegtop.protocols.cleo.response_contract import RESPONSE, Response
from delegtop.sources.records import Line, Unreadable


class CleoResponse(Dialect):
    """Reads one answer."""

    name: ClassVar[str] = "cleo-response"
    title: ClassVar[str] = "CLEO subagent response"
    product = PRODUCT
    surest: ClassVar[int] = 60
    about: ClassVar[About] = About(
        "CLEO",
        "one answer in a text file",
        "how the agent says it ended, its commits and gates, what blocks it",
        Basis.DOCUMENTED,
    )
    unit: ClassVar[Unit] = Unit.TEXT
    is_answer: ClassVar[bool] = True

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        head = sample.head.lstrip()
        is_json = head.startswith(b"{") or (head.startswith(b"[") and not head[1:2].isalpha())  # `[Type] complete.`
        if b"\0" in head or is_json:
            return 0
        return 60 if RESPONSE.search(head.decode("utf-8", "replace")) else 0

    def read(self, line: Line) -> Iterable[Event | Unreadable]:
        text = line.data.decode("utf-8-sig", "replace").rstrip()
        answer = response_contract.read(text)
        id = f"response@{PurePath(line.origin.source).name}"
        yield Started(
            id,
            None,
            line.origin,
            agent=answer.type.lower() if answer.type else None,
            parent=answer.entry if answer.names_entry else None,
            refs=tuple(("commit", commit) for commit in answer.commits),
            product=PRODUCT.name,
        )
        yield Ended(id, None, line.origin, outcome_of(answer.status), Ending.RETURN, _report(answer, text))
        yield Noted(id, None, line.origin, kinds.RESPONSE, text[:PROMPT] or _EMPTY)
        if answer.blocker:
            yield Noted(id, None, line.origin, kinds.BLOCKER, answer.blocker[:PROMPT])


_EMPTY = "\n"
"""An answer that says nothing, as a note: an empty text would withdraw it."""


def _report(answer: Response, text: str) -> Report:
    """What blocks it comes first: that is what somebody has to act on."""
    blocked = (Fault(answer.blocker),) if answer.blocker and answer.status != "complete" else ()
    lines = [f"{name}: {told}" for name, told in answer.told if name != "blocker"]
    return Report(status=answer.status, summary=("; ".join(lines) or text.strip())[:PROMPT], errors=blocked)
