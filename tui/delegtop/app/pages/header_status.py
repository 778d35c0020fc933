"""How everything stands: what the first line says, and what stands in place of the rows if there is none."""

from datetime import tzinfo

from textual.content import Content

from delegtop.app import keymap
from delegtop.app.state.board import Board
from delegtop.app.state.intake import Intake
from delegtop.app.state.known_hosts import KnownHosts
from delegtop.app.state.long_over import Bygone
from delegtop.app.state.reader_thread import Reader
from delegtop.app.widgets import notice
from delegtop.app.widgets.vitals import ActivityGraph, Mode
from delegtop.base.clock import stepped, wall
from delegtop.report.health import ails
from delegtop.settings import Settings


class Standing:
    """Reads it off the board, the reader and what has not been taken in yet."""

    def __init__(
        self,
        board: Board,
        reader: Reader,
        intake: Intake,
        *,
        watching: bool,
        frozen: bool,
        zone: tzinfo | None,
        settings: Settings,
        bygone: Bygone | None = None,
        hosts: KnownHosts | None = None,
    ) -> None:
        self._board, self._reader, self._intake, self._keys = board, reader, intake, settings.keymap
        self._watching, self._frozen, self._zone, self._ascii = watching, frozen, zone, settings.ascii
        self._bygone, self._hosts = bygone, hosts

    def pulse(self) -> ActivityGraph:
        """What the first line says."""
        board, statuses = self._board, self._reader.statuses
        unhealthy = sum(map(ails, statuses))
        # Nothing happens a second while time stands still.
        rates = () if self._frozen or board.moment is not None else self._intake.rates
        return ActivityGraph(
            self._mode(),
            sum(status.status != "left out" for status in statuses),
            unhealthy,
            wall(board.forest.shown_at, self._zone),
            board.forest.counts,
            rates,
            unmasked=not board.table.masked,
            stepped=stepped(board.forest.clock_steps),
            hosts=() if self._hosts is None else self._hosts.all(),
        )

    def _mode(self) -> Mode:
        if self._reader.failure:
            return Mode("✖", "x", "reading stopped", "bold $error")
        if self._board.paused:
            held = f" · {self._intake.held:,} held" if self._intake.held else ""
            return Mode("‖", "=", f"paused{held}", "bold $warning")
        if self._reader.loading and self._watching:
            read, known = self._reader.progress
            return Mode("◌", "~", f"loading {min(read / known, 1.0):.0%}" if known else "loading", "bold $accent")
        if self._board.moment is not None:
            return Mode("◀", "<", "replay", "bold $secondary")
        if self._frozen:
            return Mode("◆", "#", "frozen", "bold $secondary")
        if self._bygone is not None and (words := self._bygone.words):
            return Mode("○", "o", words, "bold $warning")
        return Mode("●", "*", "live", "bold $success")

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
