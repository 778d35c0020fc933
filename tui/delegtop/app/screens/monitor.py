"""The monitor: vitals, filter, tree, inspector, keys. It composes and routes; what it shows lives in the board."""

from datetime import tzinfo
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import BindingType
from textual.css.query import NoMatches
from textual.widget import MountError

from delegtop.app import keymap
from delegtop.app.pages.header_status import Standing
from delegtop.app.screens.viewing import Viewing
from delegtop.app.state.idle_work import SLICE, IdleWork
from delegtop.app.state.intake import Wake
from delegtop.app.state.outset import Outset
from delegtop.app.state.saved_views import View, Views
from delegtop.app.widgets.chips import Chips
from delegtop.base.clock import monotonic
from delegtop.base.text import line
from delegtop.model.states import ACTIVE
from delegtop.report.figures import count

if TYPE_CHECKING:
    from delegtop.app.pages.inspector.inspector_pane import Inspector
    from delegtop.app.screens.going_there import GoingThere
    from delegtop.app.state.acts_under_way import ActsUnderWay
    from delegtop.app.state.board import Board
    from delegtop.app.state.intake import Intake
    from delegtop.app.state.known_hosts import KnownHosts
    from delegtop.app.state.long_over import Bygone
    from delegtop.app.state.past_sessions import PastSessions
    from delegtop.app.state.reader_thread import Reader
    from delegtop.app.widgets.banner import Banner
    from delegtop.app.widgets.crumbs import Crumbs
    from delegtop.app.widgets.delegation_tree import DelegationTree
    from delegtop.app.widgets.earlier import Earlier
    from delegtop.app.widgets.filter_bar import FilterBar
    from delegtop.app.widgets.host_lines import HostLines
    from delegtop.app.widgets.pill import Pill
    from delegtop.app.widgets.replay_bar import ReplayBar
    from delegtop.app.widgets.sheet import Sheet
    from delegtop.feed.replay_feed import Replay
    from delegtop.model.forest import Forest
    from delegtop.model.store.ledger import Handle

_CRUMBS = 50
_BY_HOST = "host:"
_SHOWS, _SHARE = 0.1, 9
"""Seconds between two looks at what is judged, while there is more to judge; and the longer one takes, the longer it is
to the next."""


class Monitor(Viewing):
    """The main screen."""

    BINDINGS: ClassVar[list[BindingType]] = [*keymap.bindings(keymap.MONITOR)]
    AUTO_FOCUS = "DelegationTree"  # else the first key of a quick hand would fall into the hidden filter line

    # There once it is complete
    reader: "Reader"
    inspector: "Inspector"
    _replay: "Replay"
    _acts: "ActsUnderWay"
    _hosts: "KnownHosts"
    _standing: Standing
    _past: "ReplayBar"
    _pill: "Pill"
    _banner: "Banner"
    _crumbs: "Crumbs"
    _earlier: "Earlier"
    _host_lines: "HostLines"

    def __init__(
        self, outset: Outset, view: View, *, views: Views | None = None, acts: bool, zone: tzinfo | None
    ) -> None:
        super().__init__(outset, view, acts=acts, zone=zone, id="monitor")
        self.views = views
        self._folded_all = False
        self._structural = True
        self._ready = False
        self._unshown = self._resorted = False  # what was judged since it was looked at
        self._shows_from = float("-inf")
        self._sifting = IdleWork(self, self._sift)
        self._judging = IdleWork(self, self._judge)
        self._pressing = IdleWork(self, self._press)

    async def complete(
        self,
        board: "Board",
        reader: "Reader",
        intake: "Intake",
        *,
        replay: "Replay",
        bygone: "Bygone",
        acts: "ActsUnderWay",
        hosts: "KnownHosts",
        past: "PastSessions",
    ) -> bool:
        """Mount what the first picture does without, before anything is read or a key is answered; False if the program
        is ended meanwhile."""
        self.board, self.reader, self.past = board, reader, past
        self._replay, self._acts, self._hosts = replay, acts, hosts
        self._standing = Standing(board, reader, intake, self._outset, zone=self._zone, bygone=bygone, hosts=hosts)
        self._make()
        try:
            await self._mount()
        except (MountError, NoMatches):
            if self.app.return_code is None and self.is_attached:
                raise
            return False
        self._begin()
        return True

    def _make(self) -> None:
        from delegtop.app.pages.inspector.inspector_pane import Inspector
        from delegtop.app.widgets.banner import Banner
        from delegtop.app.widgets.crumbs import Crumbs
        from delegtop.app.widgets.earlier import Earlier
        from delegtop.app.widgets.filter_bar import FilterBar
        from delegtop.app.widgets.gantt_tree import Gantt
        from delegtop.app.widgets.host_lines import HostLines
        from delegtop.app.widgets.pill import Pill
        from delegtop.app.widgets.replay_bar import ReplayBar

        board, settings, zone = self.board, self.settings, self._zone
        self.table = Gantt(board.rows, first=self._begins_on, zone=zone, id="tree")
        self.table.display = self._standing.news() is None
        self.filter_bar, self._pill = FilterBar(), Pill(id="pill")
        self._banner, self._crumbs, self._earlier, self._host_lines = Banner(), Crumbs(), Earlier(), HostLines()
        self.inspector = Inspector(
            board.assessments,
            self.reader.feed,
            zone=zone,
            ascii=settings.ascii,
            remarks=board.remarks,
            seen=board.seen_to,
            masked=settings.mask_secrets,
            id="inspector",
        )
        self.inspector.set_class(not self.table.display, "-blank")
        self._past = ReplayBar(self._replay, zone=zone, ascii=settings.ascii)

    async def _mount(self) -> None:
        lines = (self.filter_bar, *self.prompts(), self._banner, self._host_lines, self._crumbs)
        with self.app.batch_update():
            await self.mount_all(lines, after=self._vitals)
            await self.query_one("#stage").mount_all((self.table, self._pill, self._earlier))
            await self.query_one("#body").mount(self.inspector)
            await self.mount(self._past, before=self._keys)

    def _begin(self) -> None:
        self.board.forest_replaced.subscribe(self._forest_replaced)
        self.board.finished.held = self._held
        self.watch(self.table, "pending", self._pill.count, init=False)
        self.table.follow = self.settings.follow
        if self.views is not None and self.views.trouble:
            self.notify(line(self.views.trouble, 400), severity="warning", markup=False)
        self.set_focus(self.table)  # at once: a key may have waited for it
        self._ready = True
        self.look_through(self._begins_with)
        self.draw()

    def on_resize(self) -> None:
        if self._ready:
            self._pill.place()

    def on_unmount(self) -> None:
        if self._ready:
            self._ready = False
            self.board.forest_replaced.unsubscribe(self._forest_replaced)

    @property
    def _is_up(self) -> bool:
        """While the program closes timers still fire, but the widgets are gone one by one."""
        return self._ready and self.app.is_running

    def _first(self) -> "Handle | None":
        """What to look at first."""
        first = self.board.first
        return None if first is None else first.handle

    def _begins_on(self) -> "Handle | None":
        """Where the cursor is until the operator moves it. Once all is read it stays on its problem until something
        more urgent comes: one that presses no more than this is no reason to take the page away from who reads it."""
        first, cursor = self.board.first, self.table.cursor
        here = None if cursor is None or self.reader.busy else self.board.assessments.known(cursor)
        if first is not None and here is not None and here.is_now and here.urgency <= first.urgency:
            return cursor
        return None if first is None else first.handle

    # Drawing

    def rows_moved(self) -> None:
        """Rows came or changed places since the last frame."""
        self._structural = True

    def _held(self) -> "list[Handle]":
        """What the operator looks at now."""
        return [*self.table.in_view(), *([] if self.board.focus is None else [self.board.focus])]

    def _forest_replaced(self, before: "Forest", now: "Forest") -> None:
        """Another moment is shown."""
        self.table.replace_forest(before, now)
        self.inspector.replace_forest(before, now)
        self._structural = True

    def draw(self) -> None:
        """One frame: every part compares and repaints only what differs."""
        if not self._is_up:
            return
        structural, self._structural = self._structural, False
        self.table.mark_problems(self.board.landmarks)
        self.table.show_sort(self.board.sort, self.board.reversed)
        self.table.update_rows(structural)
        if self.reader.busy:
            self.table.seen()
        self._vitals.beat(self._standing.pulse())
        self._draw_lines()
        self._draw_notice()
        if structural and self.board.sieve is None:
            self._count_rows()
        self.inspector.speak_of(self.table.cursor)
        self.inspector.refresh_page()
        self._draw_keys()
        self._judge_soon()

    def _draw_lines(self) -> None:
        """What presses, where in the tree this is, and what was earlier."""
        board = self.board
        self._banner.tell(board.table, board.seen_to.pressing(), self._key_to_first)
        self._crumbs.tell(self._steps(), plain=self.settings.ascii)
        hosts = self._hosts.all() if board.by_host else []
        self._host_lines.tell(hosts, [self._counted(each.host) for each in hosts], plain=self.settings.ascii)
        hidden = board.finished.earlier() if board.showing.hides_earlier else {}
        keys = self.settings.keymap
        earlier_key, finished_key = keymap.key_of("earlier-troubles", keys), keymap.key_of("finished", keys)
        self._earlier.tell(hidden, earlier_key, board.finished.hidden, finished_key)

    def _counted(self, host: str) -> str:
        """`12 delegations, 3 open, 1 stuck`: what there is of a host."""
        forest, handles = self.board.forest, list(self.board.forest.on_host(host))
        active = sum(forest.state(handle) in ACTIVE for handle in handles)
        wrong = sum(each.is_now and forest.host_of(each.handle) == host for each in self.board.assessments.now())
        told = [count(len(handles), "delegation"), *([f"{active:,} open"] if active else [])]
        return ", ".join([*told, *([f"{wrong:,} to look at"] if wrong else [])]) if handles else ""

    def _key_to_first(self) -> str:
        """The key that goes to what presses most: triage has it even where the rows leave it out."""
        first = self._first()
        if first is None or not self.board.is_in_sight(first):
            way = "triage"
        else:
            way = "inspect" if first == self.table.cursor else "problem"
        return keymap.key_of(way, self.settings.keymap)

    def _steps(self) -> "list[tuple[Handle, str]]":
        """The way down to the subtree in focus."""
        steps: list[tuple[Handle, str]] = []
        climber = self.board.focus
        while climber is not None and len(steps) < _CRUMBS:
            steps.append((climber, self.board.table.label(climber)))
            climber = self.board.forest.parent(climber)
        return steps[::-1]

    def _judge_soon(self) -> None:
        """Judge after the frame what is left. While a big log loads there is better to do, and all may change."""
        if self.reader.loading:
            return
        if self._unjudged:
            self._judging.ask()
        elif self.board.forest.has_loose_words:
            self._pressing.ask()

    def _press(self) -> None:
        """Last of all, and only while nothing else waits: it saves memory, and nobody sees it."""
        if self._is_up and not self._judging.waits and self.board.forest.press_words(SLICE):
            self._pressing.ask()

    def _judge(self) -> None:
        if not self._is_up:
            return
        if self.board.lags:  # what is judged may be above or below one that has no row yet
            self._judging.ask(_SHOWS)
            return
        assessed = self.board.judge(SLICE)
        self._resorted |= assessed
        self._unshown |= self.board.remarks.settle(SLICE) or assessed
        began = monotonic()
        if self._unshown and (began >= self._shows_from or not self._unjudged):
            self.table.mark_problems(self.board.landmarks)
            self.table.update_rows(self._resorted)
            self._unshown = self._resorted = False
            self._draw_lines()
            self.inspector.speak_of(self.table.cursor)
            self.inspector.refresh_page()
            ended = monotonic()
            self._shows_from = ended + max(_SHOWS, _SHARE * (ended - began))
        self._judge_soon()

    @property
    def _unjudged(self) -> bool:
        return bool(self.board.remarks.wanted or self.board.assessments.waiting)

    def _draw_notice(self) -> None:
        content = self._standing.news()
        self._notice.say(content)
        comes_back = content is None and not self.table.display
        self.table.display = content is None
        self.inspector.set_class(content is not None, "-blank")
        if comes_back and self.focused is None:  # whoever is hidden loses the keys
            self.table.focus()

    def _draw_keys(self) -> None:
        reading = self.inspector.sheet.has_focus
        is_past = self._past.display
        offered = keymap.beside_bars() if self.table.charted else keymap.COMMANDS
        if is_past:
            offered = self._past.commands
        self._offer(
            offered,
            self._past.words if is_past else {},
            sort=self.board.sort,
            follows=self.table.follow,
            only_open=self.board.only_open,
            inspects=self.inspector.display,
            charted=self.table.charted,
            paused=self.board.paused,
            focused=self.board.focus is not None,
            inspect="inspect" if not reading else "open" if self.inspector.sheet.target else "back",
        )

    # What happens

    def on_delegation_tree_highlighted(self) -> None:
        self.inspector.speak_of(self.table.cursor)  # the handle in the message may be of another moment

    def on_sheet_chosen(self, event: "Sheet.Chosen") -> None:
        from delegtop.app.screens import chosen_lines  # who chooses waits for it, and not the first picture

        chosen_lines.follow(self, event, self.reader.feed, masked=self.inspector.masked)

    def on_delegation_tree_activated(self) -> None:
        self.action_inspect()

    def on_filter_bar_typed(self, event: "FilterBar.Typed") -> None:
        from delegtop.model.query import QueryError  # the board knows queries, the first picture has none

        bar = self.filter_bar
        try:
            self.board.filter(event.text)
        except QueryError as error:
            bar.object(str(error))
            return
        bar.accept()
        self.sift()

    def sift(self) -> None:
        if not self._sifting.waits:
            self._sift()

    def _sift(self) -> None:
        """Apply the filter a slice at a time, with keys in between."""
        if not self._is_up:
            return
        if not self.board.sift(SLICE):
            share = self.board.sieve.share if self.board.sieve else 1.0
            self.filter_bar.count(f"looking … {share:.0%}")
            self._sifting.ask()
            return
        self._count_rows()
        self.rearranged()

    def _count_rows(self) -> None:
        shown = len(self.board.outline)
        self.filter_bar.count(f"{shown:,} row{'' if shown == 1 else 's'}" if self.board.query else "")

    def on_filter_bar_accepted(self) -> None:
        """Back to the rows; not with a filter that means nothing, for they are not what it asks for."""
        if self.filter_bar.is_wrong:
            return
        if not self.filter_bar.input.value.strip():
            self.filter_bar.close()
        self.set_focus(self.table)

    @on(Chips.Chosen, "Vitals")
    async def _chosen_vital(self, event: Chips.Chosen) -> None:
        if event.name.startswith("state:"):
            self.show_filter(event.name)
        else:
            await self.run_action(event.name)

    @on(Chips.Chosen, "Banner, Earlier, Crumbs")
    async def _chosen_line(self, event: Chips.Chosen) -> None:
        from delegtop.app.widgets import banner, crumbs, earlier  # the first picture has none of them

        event.stop()
        if event.name == banner.GO and (first := self.board.seen_to.pressing()[0]) is not None:
            self._show(first.handle)
        elif event.name == earlier.SHOW:
            self.action_earlier()
        elif event.name == earlier.MORE:
            self.action_finished()
        elif event.name == crumbs.TOP:
            self.action_zoom()
        elif event.name.isdigit():
            self.board.zoom(int(event.name))
            self._moved()

    @on(Chips.Chosen, "KeyBar")
    async def _chosen_key(self, event: Chips.Chosen) -> None:
        await self.perform(event.name)

    async def perform(self, id_: str) -> None:
        """Do the command of that id."""
        command = next(command for command in keymap.COMMANDS + keymap.GANTT + keymap.REPLAY if command.id == id_)
        if command in keymap.GANTT:
            self.table.charted = True
            await self.table.run_action(command.action)
            self.draw()
            return
        await (self if command in keymap.MONITOR else self.app).run_action(command.action)

    def on_delegation_tree_sort_requested(self, event: "DelegationTree.SortRequested") -> None:
        if event.sort == self.board.sort:
            self.action_reverse()
        else:
            self.sort_by(event.sort)

    def on_pill_clicked(self) -> None:
        self.table.go_to_newest()

    def on_descendant_focus(self) -> None:
        if self._is_up:
            self._draw_keys()

    def _moved(self) -> None:
        self._structural = True
        self.draw()

    def rearranged(self) -> None:
        self._moved()
        self.remember()

    def show_delegation(self, handle: "Handle") -> None:
        self._show(handle)

    # Actions

    def action_filter(self) -> None:
        self.filter_bar.open()

    def action_back(self) -> None:
        """One step back: out of the filter line, the inspector, the subtree, the filter."""
        bar = self.filter_bar
        if self.inspector.sheet.has_focus:
            self.table.focus()
        elif self.end_search():
            return
        elif bar.is_open:
            bar.input.value = ""
            bar.close()
            self.table.focus()
        elif self.board.focus is not None:
            self.action_zoom()

    def action_inspect(self) -> None:
        if self.inspector.sheet.has_focus:
            self.table.focus()
        elif self.table.cursor is not None:
            self.inspector.ask(True)
            self.set_focus(self.inspector.sheet)  # at once: the next key of a quick hand is meant for the page

    def action_inspector(self) -> None:
        wanted = not self.inspector.display
        self.inspector.ask(wanted)
        if not wanted:
            self.table.focus()
        self.call_after_refresh(self.draw)

    def action_tab(self, by: int) -> None:
        self.inspector.step(by)

    def action_show_tab(self, tab: str) -> None:
        self.inspector.ask(True)
        self.inspector.show_tab(tab)

    def action_follow(self) -> None:
        self.table.follow = not self.table.follow
        self.draw()

    def action_gantt(self) -> None:
        """Bars in time, or columns."""
        self.table.charted = not self.table.charted
        self.draw()

    def action_problem(self, step: int) -> None:
        found = self.board.problem(self.table.cursor, step)
        if found is None:
            self.notify("Still reading." if self.board.loading else self._no_problem(), markup=False)
            return
        self._go_to(found)

    def _no_problem(self) -> str:
        """Why there is none to go to."""
        if others := self.board.assessments.count(earlier=self.board.showing.earlier_shown):
            key = keymap.key_of("triage", self.settings.keymap)
            return f"No problem among these rows, but {others:,} elsewhere: {key} lists them."
        kept = ", ".join(f"{count:,} {kind}" for kind, count in self.board.finished.earlier().items())
        return f"Nothing is the matter now; earlier: {kept}." if kept else "No problem in sight."

    def action_triage(self) -> None:
        """All problems, worst first."""
        from delegtop.app.screens.triage import Triage, open_on  # judging takes time to load, and the tree needs none

        if any(isinstance(screen, Triage) for screen in self.app.screen_stack):  # asked for from the palette, over it
            return
        start = open_on(self.board, self.table.cursor)
        screen = Triage(
            self.board,
            self.reader,
            self.settings,
            zone=self._zone,
            start=start,
            replay=self._replay,
            acts=self._acts,
            past=self.past,
        )
        self.app.push_screen(screen, self._triaged)

    def _triaged(self, id: str | None) -> None:
        """Back from triage, with a delegation to go to; what was seen to there is told calmly."""
        handle = None if id is None else self.board.forest.find(id)
        if handle is not None and self._is_up:
            self._show(handle)
        else:
            self.draw()

    def _show(self, handle: "Handle") -> None:
        """Put the cursor on it: whatever hides it gives way."""
        self.board.show_row(handle)
        self.filter_bar.input.value = self.board.query.text
        if not self.board.query:
            self.filter_bar.close()
        self._go_to(handle)
        self.table.focus()

    def _go_to(self, handle: "Handle") -> None:
        self.board.outline.reveal(handle)
        self.table.update_rows(True)
        self.table.cursor = handle
        self.draw()

    async def action_pause(self) -> None:
        if self.board.moment is not None:
            await self.app.run_action("play")
            return
        self.board.paused = not self.board.paused
        self.board.advance()
        self.post_message(Wake())
        self.draw()

    def action_fold(self) -> None:
        if self.table.cursor is not None:
            self.board.outline.toggle(self.table.cursor)
            self._moved()

    def action_unfold(self) -> None:
        if self.table.cursor is not None:
            self.board.outline.expand(self.table.cursor)
            self._moved()

    def action_collapse(self) -> None:
        if self.table.cursor is not None:
            self.board.outline.collapse(self.table.cursor)
            self._moved()

    def action_fold_all(self) -> None:
        self._folded_all = not self._folded_all
        if self._folded_all:
            self.board.outline.collapse_all()
        else:
            self.board.outline.expand_all()
        self._moved()

    def action_zoom(self) -> None:
        self.board.zoom(self.table.cursor if self.board.focus is None else None)
        self._moved()

    def action_copy(self) -> None:
        if self.table.cursor is not None:
            from delegtop.app.screens.copy import CopyMenu  # as above

            self.app.push_screen(CopyMenu(self.board.assessments, self.table.cursor, masked=self.board.table.masked))

    def _going(self) -> "GoingThere":
        from delegtop.app.screens.going_there import GoingThere  # as above

        return GoingThere(self, self.board, self.reader)

    def action_go_there(self) -> None:
        self.table.stay()
        self._going().go(self.table.cursor)

    def action_transcript(self) -> None:
        if self.table.cursor is not None:
            from delegtop.app.screens.transcript import TranscriptScreen  # only who reads one waits for it

            self.table.stay()
            screen = TranscriptScreen(self.table.cursor, self.board, self.reader, self.settings, self._zone)
            self.app.push_screen(screen)

    def action_edit(self) -> None:
        if self.table.cursor is not None:
            self.table.stay()
            from delegtop.app.screens.going_there import line_of  # as above

            self._going().edit(line_of(self.board, self.table.cursor))

    def action_stop(self) -> None:
        """How to stop what the cursor is on."""
        from delegtop.app.screens.stop_dialog import open_plan  # few stop anything, and the tree needs nothing of it

        self.table.stay()
        cursor = self.table.cursor
        open_plan(self, self._acts, None if cursor is None else self.board.forest.id(cursor))

    def action_secrets(self) -> None:
        """Show what looks like a secret, or hide it again."""
        self.board.table.masked = self.inspector.masked = not self.board.table.masked
        told_by = "" if self.table.cursor is None else self.board.forest.host_of(self.table.cursor)
        if told_by and not self.board.table.masked:
            self.notify(f"What {line(told_by, 60)} tells is masked on {line(told_by, 60)}.", markup=False)
        self.draw()

    def action_hosts(self) -> None:
        """All rows by host, then those of one host alone, then all as before."""
        from delegtop.app.state.known_hosts import called  # as above

        board, one = self.board, self._one_host()
        if not board.by_host and one is None:
            if not self._hosts.all():
                self.notify("There is one host only; ssh://HOST or --hosts looks at others.", markup=False)
                return
            board.group_by_host(True)
        elif one is None and (cursor := self.table.cursor) is not None:
            self.show_host(called(board.forest.host_of(cursor)))
        else:
            board.group_by_host(False)
            if one is not None:
                self.show_filter("")
        self.rearranged()

    def _one_host(self) -> str | None:
        """The host that is shown alone."""
        text = self.filter_bar.input.value
        return text if text.startswith(_BY_HOST) else None

    def show_host(self, name: str) -> None:
        self.show_filter(f'{_BY_HOST}"{name}"')

    def on_host_lines_chosen(self, event: "HostLines.Chosen") -> None:
        self.show_host(event.host)

    def action_sources(self) -> None:
        from delegtop.app.screens.source_health import SourceHealth  # as above

        self.app.push_screen(SourceHealth(self.reader, self.board.clock, masked=self.board.table.masked))
