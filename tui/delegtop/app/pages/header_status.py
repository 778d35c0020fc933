"""How everything stands: what the first line says, and what stands in place of the rows if there is none."""

from collections.abc import Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING

from textual.content import Content

from delegtop.app import keymap
from delegtop.app.state.intake import SECONDS
from delegtop.app.state.outset import Outset
from delegtop.app.widgets import notice
from delegtop.app.widgets.vitals import ActivityGraph, Mode
from delegtop.base.clock import stepped, wall

if TYPE_CHECKING:
    from delegtop.app.state.board import Board
    from delegtop.app.state.intake import Intake
    from delegtop.app.state.known_hosts import KnownHosts
    from delegtop.app.state.long_over import Bygone
    from delegtop.app.state.reader_thread import Reader
    from delegtop.feed.followed_file import SourceStatus

_FROZEN = Mode("◆", "#", "frozen", "bold $secondary")
_LIVE = Mode("●", "*", "live", "bold $success")


def at_the_outset(outset: Outset, zone: tzinfo | None) -> tuple[ActivityGraph, Content]:
    """The first line and what stands in place of the rows before anything is opened: as `Standing` says it then."""
    mode = _loading() if outset.is_watching else _FROZEN if outset.is_frozen else _LIVE
    rates = () if outset.is_frozen else (0,) * SECONDS
    pulse = ActivityGraph(
        mode, 0, 0, wall(outset.clock.now(), zone), {}, rates, unmasked=not outset.settings.mask_secrets
    )
    news = notice.loading(0, 0, plain=outset.settings.ascii) if outset.is_watching else notice.nothing_to_watch()
    return pulse, news


def _loading(read: int = 0, known: int = 0) -> Mode:
    return Mode("◌", "~", f"loading {min(read / known, 1.0):.0%}" if known else "loading", "bold $accent")


class Standing:
    """Reads it off the board, the reader and what has not been taken in yet."""

    def __init__(
        self,
        board: "Board",
        reader: "Reader",
        intake: "Intake",
        outset: Outset,
        *,
        zone: tzinfo | None,
        bygone: "Bygone",
        hosts: "KnownHosts",
    ) -> None:
        self._board, self._reader, self._intake, self._keys = board, reader, intake, outset.settings.keymap
        self._watching, self._frozen = outset.is_watching, outset.is_frozen
        self._zone, self._ascii = zone, outset.settings.ascii
        self._bygone, self._hosts = bygone, hosts
        self._counted: Sequence[SourceStatus] = ()
        self._counts = 0, 0, 0
        """How many of those sources are read, with how many something is wrong, and how many cannot be read."""

    def pulse(self) -> ActivityGraph:
        """What the first line says."""
        from delegtop.report.health import ails, unread  # it is loaded with the board

        board, statuses = self._board, self._reader.statuses
        if statuses is not self._counted:
            read, unhealthy, closed = 0, 0, 0
            for status in statuses:
                read += status.status != "left out"
                unhealthy += ails(status)
                closed += unread(status)
            self._counted, self._counts = statuses, (read, unhealthy, closed)
        read, unhealthy, closed = self._counts
        # Nothing happens a second while time stands still.
        rates = () if self._frozen or board.moment is not None else self._intake.rates
        return ActivityGraph(
            self._mode(),
            read,
            unhealthy,
            wall(board.forest.shown_at, self._zone),
            board.forest.counts,
            rates,
            unmasked=not board.table.masked,
            stepped=stepped(board.forest.clock_steps),
            hosts=self._hosts.all(),
            unread=closed,
        )

    def _mode(self) -> Mode:
        if self._reader.failure:
            return Mode("✖", "x", "reading stopped", "bold $error")
        if self._board.paused:
            held = f" · {self._intake.held:,} held" if self._intake.held else ""
            return Mode("‖", "=", f"paused{held}", "bold $warning")
        if self._reader.loading and self._watching:
            return _loading(*self._reader.progress)
        if self._board.moment is not None:
            return Mode("◀", "<", "replay", "bold $secondary")
        if self._frozen:
            return _FROZEN
        if words := self._bygone.words:
            return Mode("○", "o", words, "bold $warning")
        return _LIVE

    def news(self) -> Content | None:
        """What stands in place of the rows if there is none."""
        board = self._board
        if len(board.outline):
            return None
        known = len(board.forest) + board.finished.hidden
        if known and board.only_open and not board.query:
            return notice.nothing_open(known, keymap.key_of("only-open", self._keys))
        if known:
            return notice.nothing_matches(board.query.text, known)
        if not self._watching:
            return notice.nothing_to_watch()
        if self._reader.loading and not self._reader.failure:
            return notice.loading(*self._reader.progress, plain=self._ascii)
        return notice.nothing_told(self._reader.statuses, self._board.clock.now())
