"""What the rules find about the rows in view, judged between the frames and never within one.

A frame takes what is known and leaves a wish for what is not, or is old. Judging one delegation takes about as long as
painting its row, so the wishes are worked off in slices; what scrolls by unseen is never judged.
"""

from typing import NamedTuple

from delegtop.clock import MINUTE, monotonic
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.model.delegation import State
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle

_HELD = 4_096
_WISHES = 256
_AGAIN = 3.0
"""Seconds between two looks at one delegation, however busy it is, unless its state changes."""

Stamp = tuple[State, int, int, int]


class Verdict(NamedTuple):
    """The worst of what was found."""

    severity: Severity | None = None
    rule: str = ""
    message: str = ""
    found: int = 0
    """How many findings there are."""
    review: bool = False
    """A person must look before it goes on: that comes before any finding."""
    blocks: int = 0
    """How many above it wait for it alone, if it is in trouble: it is the root of theirs."""
    kind: str = ""
    """What is going on in two or three words, if that is known."""


NOTHING = Verdict()


class _Judged(NamedTuple):
    stamp: Stamp
    at: float
    verdict: Verdict


class Verdicts:
    """The verdicts on a forest, as far as someone asked for them."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self._judged: dict[Handle, _Judged] = {}
        self._wishes: dict[Handle, None] = {}

    def forget(self) -> None:
        """The forest is another one: judge afresh."""
        self._judged.clear()
        self._wishes.clear()

    @property
    def wanted(self) -> bool:
        """Is there something to judge?"""
        return bool(self._wishes)

    def of(self, handle: Handle) -> Verdict:
        """What is known by now; nothing until it has been judged."""
        known = self._judged.get(handle)
        if known is None or self._is_old(known, handle):
            self._wishes[handle] = None
        return known.verdict if known else NOTHING

    def _is_old(self, known: _Judged, handle: Handle) -> bool:
        stamp = self._stamp(handle)
        return stamp != known.stamp and (stamp[0] is not known.stamp[0] or monotonic() - known.at > _AGAIN)

    def settle(self, seconds: float) -> bool:
        """Judge for about that long what was asked for last; True if a verdict is another now."""
        until, changed = monotonic() + seconds, False
        if len(self._judged) > _HELD:
            self._judged.clear()
        while self._wishes and monotonic() < until:
            handle, _ = self._wishes.popitem()
            before = self._judged.get(handle)
            verdict = self._judge(handle)
            self._judged[handle] = _Judged(self._stamp(handle), monotonic(), verdict)
            changed |= verdict != (before.verdict if before else NOTHING)
        if len(self._wishes) > _WISHES:
            self._wishes.clear()  # whoever still looks asks again
        return changed

    def _stamp(self, handle: Handle) -> Stamp:
        """What a verdict rests on: the state, the facts, those of the parent, and the time in minutes."""
        forest, parent = self._forest, self._forest.parent(handle)
        above = -1 if parent is None else forest.version(parent)
        return forest.state(handle), forest.version(handle), above, forest.now // MINUTE

    def _judge(self, handle: Handle) -> Verdict:
        from delegtop.diagnosis.engine import diagnose  # the rules take time to load, and the first picture needs none

        found = diagnose(self._forest, handle, self._forest.now, lambda _: None)
        told = summary(found, review=self._forest.needs_review(handle), blocks=self._blocks(handle))
        return told._replace(kind=self._kind(handle)) if told.found else told

    def _kind(self, handle: Handle) -> str:
        from delegtop.diagnosis.verdicts import HARMLESS, verdict  # as above

        judged = verdict(self._forest, handle, self._forest.now)
        return judged.kind.value if judged is not None and judged.kind not in HARMLESS else ""

    def _blocks(self, handle: Handle) -> int:
        from delegtop.diagnosis.problems import held_up, problem  # as above

        above = held_up(self._forest, handle)
        return len(above) if above and problem(self._forest, handle, self._forest.now) is not None else 0


def summary(found: tuple[Finding, ...], *, review: bool = False, blocks: int = 0) -> Verdict:
    """The worst of the findings, which come worst first. What is only mentioned is no problem."""
    found = tuple(finding for finding in found if finding.severity is not Severity.INFO)
    if not found:
        return Verdict(review=review, blocks=blocks)
    worst = found[0]
    return Verdict(worst.severity, worst.rule, worst.message, len(found), review, blocks)
