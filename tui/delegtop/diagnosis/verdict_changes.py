"""Changes of verdicts: what is the matter with a delegation is another thing than it was, or nothing any more.

For programs that keep every change, not for people: also what is only possible, what is harmless, and what was so when
watching began. `alerts` has what a person is told.
"""

from collections.abc import Iterable, Iterator

import msgspec

from delegtop.base.clock import Millis
from delegtop.diagnosis.assessment import Assessment, Urgency
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.verdicts import Certainty
from delegtop.model import measures
from delegtop.model.states import State
from delegtop.model.store.ledger import Handle

_Told = tuple[str, Certainty, Urgency]


class VerdictChange(msgspec.Struct, frozen=True):
    """One change. The texts are foreign: whoever shows them makes them safe."""

    handle: Handle
    id: str
    root: str
    """The id of the delegation at the top of its tree."""
    name: str
    title: str
    agent: str
    product: str
    folder: str
    host: str
    """The machine it runs on; nothing for this one."""
    state: State
    verdict: str
    """What is the matter in the words shown to people; nothing if it is over."""
    was: str
    """The same before; nothing if there was none."""
    certainty: Certainty
    urgency: Urgency
    rule: str
    sentence: str
    todo: str
    """What to do first."""
    since: Millis | None
    at: Millis
    """When it was noticed."""
    holds_up: int
    present: bool = False
    """Whether it was so when watching began."""


class VerdictChanges:
    """Those of one forest."""

    def __init__(self, assessments: Assessments) -> None:
        self._assessments, self._forest = assessments, assessments.forest
        self._told: dict[Handle, _Told] = {}

    def begin(self) -> list[VerdictChange]:
        """What is the matter when watching begins; what was so earlier is no news."""
        for found in filter(None, map(self._assessments.known, range(len(self._forest)))):
            if _is_verdict(found):
                self._told[found.handle] = _told(found)
        return [self._change(each, "", present=True) for each in self._assessments.now()]

    def look(self, assessed: Iterable[Handle]) -> list[VerdictChange]:
        """What changed of these, which are assessed otherwise."""
        return [change for handle in sorted(assessed) for change in self._of(handle)]

    def _of(self, handle: Handle) -> Iterator[VerdictChange]:
        found, before = self._assessments.of(handle), self._told.pop(handle, None)
        after = _told(found) if _is_verdict(found) else None
        if after is not None:
            self._told[handle] = after
        if after != before:
            yield self._change(found, before[0] if before else "")

    def _change(self, found: Assessment, was: str, *, present: bool = False) -> VerdictChange:
        forest, handle = self._forest, found.handle
        facts, now = forest.delegation(handle), forest.now_of(handle)
        steps = self._assessments.todo(handle) if found.problem else ()
        return VerdictChange(
            handle=handle,
            id=facts.id,
            root=forest.id(self._root(handle)),
            name=measures.called(facts),
            title=measures.title(facts),
            agent=facts.agent or "",
            product=facts.product or "",
            folder=measures.folder(forest, handle) or "",
            host=measures.named_host(forest, handle),
            state=found.state,
            verdict=found.kind if _is_verdict(found) else "",
            was=was,
            certainty=found.certainty,
            urgency=found.urgency,
            rule=found.rule,
            sentence=found.sentence(now),
            todo=steps[0].words if steps else "",
            since=found.since,
            at=now,
            holds_up=len(found.blocks),
            present=present,
        )

    def _root(self, handle: Handle) -> Handle:
        while (above := self._forest.parent(handle)) is not None:
            handle = above
        return handle


def _is_verdict(found: Assessment) -> bool:
    """Whether anything is the matter that has a name: not what is plainly at work, at rest or done."""
    return found.verdict is not None or found.problem


def _told(found: Assessment) -> _Told:
    return found.kind, found.certainty, found.urgency
