"""What the rules find about the rows in view, judged between the frames and never within one.

A frame takes what is known and leaves a wish for what is not, or is old. Asking all rules about one delegation takes
about as long as painting its row, so the wishes are worked off in slices; what scrolls by unseen is never asked about.
"""

from typing import NamedTuple

from delegtop.base.clock import MINUTE, monotonic
from delegtop.diagnosis.assessments import Assessments
from delegtop.model.states import State
from delegtop.model.store.ledger import Handle
from delegtop.report.table.cells import NOTHING, RemarkCell

_HELD = 4_096
_WISHES = 256
_AGAIN = 3.0
"""Seconds between two looks at one delegation, however busy it is, unless its state changes."""

Stamp = tuple[State, int, int, int]


class _Found(NamedTuple):
    stamp: Stamp
    at: float
    remark: RemarkCell


class Remarks:
    """What is known of the rows that someone asked for."""

    def __init__(self, assessments: Assessments) -> None:
        self._assessments, self._forest = assessments, assessments.forest
        self._found: dict[Handle, _Found] = {}
        self._wishes: dict[Handle, None] = {}

    def forget(self) -> None:
        """The forest is another one: ask afresh."""
        self._found.clear()
        self._wishes.clear()

    @property
    def wanted(self) -> bool:
        """Is there something to ask?"""
        return bool(self._wishes)

    def __call__(self, handle: Handle) -> RemarkCell:
        """What is known by now; nothing until the rules have been asked."""
        found = self._found.get(handle)
        if found is None or self._is_old(found, handle):
            self._wishes[handle] = None
        return found.remark if found else NOTHING

    def _is_old(self, found: _Found, handle: Handle) -> bool:
        stamp = self._stamp(handle)
        return stamp != found.stamp and (stamp[0] is not found.stamp[0] or monotonic() - found.at > _AGAIN)

    def settle(self, seconds: float) -> bool:
        """Ask for about that long about what was wished for last; True if a remark is another now."""
        from delegtop.report.remark import remark_of  # the rules take time to load, and the first picture needs none

        until, changed = monotonic() + seconds, False
        if len(self._found) > _HELD:
            self._found.clear()
        while self._wishes and monotonic() < until:
            handle, _ = self._wishes.popitem()
            before = self._found.get(handle)
            remark = remark_of(self._assessments, handle)
            self._found[handle] = _Found(self._stamp(handle), monotonic(), remark)
            changed |= remark != (before.remark if before else NOTHING)
        if len(self._wishes) > _WISHES:
            self._wishes.clear()  # whoever still looks asks again
        return changed

    def _stamp(self, handle: Handle) -> Stamp:
        """What it rests on: the state, the facts, those of the parent, and the time in minutes."""
        forest, parent = self._forest, self._forest.parent(handle)
        above = -1 if parent is None else forest.version(parent)
        return forest.state(handle), forest.version(handle), above, forest.now_of(handle) // MINUTE
