"""The alarm: while the dashboard is open it rings, notifies and shows a toast for what is worth telling.

Only the present counts: what is looked at in the past, held still or still being loaded is no news.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from delegtop.app.state.board import Board
from delegtop.base import text
from delegtop.notify import NotifyError
from delegtop.notify.notification import in_words
from delegtop.notify.notifier import Notifier, notifier
from delegtop.settings import Settings

if TYPE_CHECKING:
    from delegtop.diagnosis.alerts import Alert, Alerts
    from delegtop.feed.host_states import HostStatus
    from delegtop.observation.host_news import HostNews

TOASTS = 3
"""Shown at once; more would cover the screen."""

Toast = Callable[[str, str], None]


class Alarm:
    """Looks at the board every second. `toast` shows a message under a title, as plain text."""

    def __init__(
        self,
        board: Board,
        settings: Settings,
        ring: Callable[[], None],
        toast: Toast,
        hosts: "Callable[[], Sequence[HostStatus]]" = tuple,
    ) -> None:
        self._board, self._toast, self._hosts = board, toast, hosts
        self._host_news: HostNews | None = None
        self._masked = settings.mask_secrets
        self._alerts: Alerts | None = None
        board.news = set(), set()
        try:
            self._notifier = notifier(
                settings.notify,
                settings.notify_command,
                settings.notifications,
                ring=ring,
                say=self._complain,
                masked=self._masked,
            )
        except NotifyError as problem:
            self._notifier = Notifier(())
            self._complain(str(problem))

    def second(self) -> None:
        board = self._board
        if board.loading or board.paused or board.moment is not None:
            return
        (changed, assessed), board.news = board.news or (set(), set()), (set(), set())
        if self._alerts is None:
            from delegtop.diagnosis.alerts import Alerts  # few want it, and the first picture needs none

            self._alerts = Alerts(board.forest, board.assessments)
            self._alerts.begin()
            board.renumbered.subscribe(self._alerts.renumber)
            return
        self._tell([*self._alerts.look(changed, assessed), *self._of_hosts()])

    def _of_hosts(self) -> "Sequence[Alert]":
        if self._host_news is None:
            from delegtop.observation.host_news import HostNews  # as above

            self._host_news = HostNews()
        return self._host_news.look(self._hosts(), self._board.clock.now())[1]

    def _tell(self, alerts: "Sequence[Alert]") -> None:
        self._notifier.tell(alerts)
        for alert in alerts[:TOASTS]:
            words = in_words(alert, masked=self._masked)
            self._toast(words.body, words.headline)
        if len(alerts) > TOASTS:
            self._toast(f"and {len(alerts) - TOASTS} more", "")

    def _complain(self, message: str) -> None:
        self._toast(text.line(message), "")

    def close(self) -> None:
        self._notifier.close()
