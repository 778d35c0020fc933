"""What the operator has asked to be stopped: planned, done in a thread, and watched until it is known what came of it.

Most never stop anything: what that needs is imported when somebody does.
"""

from collections.abc import Callable
from datetime import tzinfo
from threading import Thread
from typing import TYPE_CHECKING

from delegtop.act.acting import Acting
from delegtop.app.state.board import Board
from delegtop.app.state.reader_thread import Reader
from delegtop.base.clock import FrozenClock
from delegtop.model.store.ledger import Handle

if TYPE_CHECKING:
    from delegtop.act.act_outcome import ActWatch
    from delegtop.act.aftermath import Aftermath
    from delegtop.act.stop_plan import RungPlan, StopPlan

_HELD = "the picture is held still, and may be old; let it go on first"
_UNKNOWN = "it is not known any more"


class ActsUnderWay:
    """The acts of one dashboard."""

    def __init__(
        self, board: Board, reader: Reader, acting: Acting, is_recording: Callable[[], bool], zone: tzinfo | None
    ) -> None:
        self.acting = acting
        self._board, self._reader, self._zone = board, reader, zone
        self._is_recording = is_recording
        self._watched: list[ActWatch] = []
        self.in_view: ActWatch | None = None
        """The one whose plan is looked at."""

    def refusal(self, handle: Handle) -> str:
        """Why nothing can be done about that delegation, by what is shown; nothing if it can."""
        from delegtop.act import present_view

        board = self._board
        if self._is_recording():
            return present_view.RECORDED
        if board.moment is not None or isinstance(board.clock, FrozenClock):
            return present_view.PAST
        if board.paused:
            return _HELD
        via = board.forest.word_of(handle).via
        return present_view.refusal(board.forest.delegation(handle), self._reader.feed.statuses(), via)

    def plan(self, id: str) -> "StopPlan | None":
        """The plan for the delegation of that id, as everything is now; None if it is not there."""
        from delegtop.act.plan_sight import PlanSight
        from delegtop.act.planning import stop_plan

        handle = self._board.forest.find(id)
        if handle is None:
            return None
        return stop_plan(self._board.assessments, handle, PlanSight(), self.acting, self.refusal(handle))

    def begin(self, plan: "StopPlan", rung: "RungPlan", typed: str = "") -> "ActWatch":
        """Do it, from now on and without waiting for it."""
        from delegtop.act.act_outcome import ActWatch

        handle = self._board.forest.find(plan.id)
        why = _UNKNOWN if handle is None else self.refusal(handle)
        planned = plan._replace(refused=plan.refused or why)
        watch = ActWatch(planned, rung, self._board.forest, self._zone)
        self._watched.append(watch)
        Thread(target=self._do, args=(watch, typed), name="delegtop-act", daemon=True).start()
        return watch

    def _do(self, watch: "ActWatch", typed: str) -> None:
        from delegtop.act.performing import take

        watch.taken = take(watch.plan, watch.rung, self.acting, by="dashboard", typed=typed, tell=watch.sent.append)

    def look(self) -> "list[ActWatch]":
        """Those of which it has just become known what came of them."""
        if not self._watched or self._board.moment is not None:
            return []
        from delegtop.act.act_outcome import Upshot

        board = self._board
        settled = [
            watch for watch in self._watched if watch.look(board.forest, board.clock.now()) is not Upshot.WAITING
        ]
        self._watched = [watch for watch in self._watched if watch not in settled]
        return settled

    def is_shown(self, watch: "ActWatch") -> bool:
        return watch is self.in_view

    def aftermath(self, id: str) -> "Aftermath | None":
        from delegtop.act.aftermath import aftermath

        handle = self._board.forest.find(id)
        return None if handle is None else aftermath(self._board.assessments, handle)
