"""Triage: the problems in the order of looking, as a list or one at a time, with what to do about each.

It only ever looks, notes and copies, and shows how something could be stopped. What the operator notes is kept in the
state folder.
"""

from datetime import tzinfo
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from delegtop.app import clipboard, keymap
from delegtop.app.pages.inspector.findings import found
from delegtop.app.pages.inspector.page_words import MUTED, PageSubject, one_line
from delegtop.app.pages.triage import problem_words
from delegtop.app.pages.triage.disk_evidence import FILES, look_up
from delegtop.app.pages.triage.problem_words import Known
from delegtop.app.screens import chosen_lines
from delegtop.app.screens.ask import Ask
from delegtop.app.screens.copy import CopyMenu, copy
from delegtop.app.screens.going_there import GoingThere, line_of
from delegtop.app.screens.leaving import Leaving
from delegtop.app.screens.note_taking import Noting
from delegtop.app.state.acts_under_way import ActsUnderWay
from delegtop.app.state.board import Board
from delegtop.app.state.idle_work import SLICE, IdleWork
from delegtop.app.state.past_sessions import PastSessions
from delegtop.app.state.problem_marks import Problem
from delegtop.app.state.reader_thread import Reader
from delegtop.app.widgets import earlier
from delegtop.app.widgets.chips import Chips
from delegtop.app.widgets.earlier import Earlier
from delegtop.app.widgets.key_bar import KeyBar
from delegtop.app.widgets.problem_list import ProblemList
from delegtop.app.widgets.replay_bar import Expected, ReplayBar
from delegtop.app.widgets.sheet import Block, Sheet
from delegtop.diagnosis.assessment import Assessment, Urgency
from delegtop.feed.replay_feed import Replay
from delegtop.model.forest import Forest
from delegtop.model.query import QueryError, parse
from delegtop.model.store.ledger import Handle
from delegtop.report.table.namesakes import Namesakes
from delegtop.settings import Settings

_TO_BEGIN_WITH = 0.05
"""Seconds for looking closely at what is to be listed, before the rest is left to the time between frames."""
_SETTLE = 0.08
"""Seconds the cursor must rest before the disk is asked."""
_COMPARED = 200
"""So many problems are compared, whether they are called alike: nobody looks at more of them at once."""
_LOOK = 0.1
"""Seconds between two looks at whether something is assessed otherwise."""


class Triage(Leaving, Screen[str | None]):
    """Gives back the id of the delegation to go to in the tree, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [*keymap.bindings(keymap.TRIAGE)]
    AUTO_FOCUS = "ProblemList"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (130, "-wide")]  # noqa: RUF012 -- Textual declares it so
    DEFAULT_CSS = """
    Triage { background: $background; }
    Triage > #triage-title { height: 1; padding: 0 1; background: $panel; }
    Triage > #triage-body { height: 1fr; layout: vertical; }
    Triage #triage-list { height: auto; max-height: 35%; }
    Triage Sheet { height: 1fr; background: $surface; border-top: solid $guide; }
    Triage Sheet:focus { border-top: solid $accent; }
    Triage.-wide > #triage-body { layout: horizontal; }
    Triage.-wide #triage-list { width: 46%; height: 1fr; max-height: 100%; }
    Triage.-wide ProblemList { height: 1fr; }
    Triage.-wide Sheet { width: 1fr; border-top: none; border-left: solid $guide; }
    Triage.-wide Sheet:focus { border-top: none; border-left: solid $accent; }
    Triage.-alone #triage-list { display: none; }
    Triage.-alone.-wide Sheet, Triage.-alone Sheet { border: none; padding: 0 2; }
    """

    def __init__(
        self,
        board: Board,
        reader: Reader,
        settings: Settings,
        *,
        zone: tzinfo | None = None,
        start: Handle | None = None,
        replay: Replay,
        acts: ActsUnderWay | None = None,
        past: PastSessions | None = None,
    ) -> None:
        super().__init__()
        self._acts = acts
        self._sessions = past or PastSessions()
        self._board, self._reader, self._settings, self._zone = board, reader, settings, zone
        self._wanted = None if start is None else board.forest.id(start)
        """The delegation to select once it is known, unless the operator moves before."""
        self._began_earlier = start is not None and board.assessments.of(start).urgency is Urgency.EARLIER
        """Whether it was opened on an earlier trouble: then those are listed, too."""
        self.problems, self.sheet = ProblemList(self._row), Sheet()
        self._namesakes, self._asked = Namesakes(), problem_words.Widths()
        self._past = ReplayBar(replay, zone=zone, ascii=settings.ascii)
        self._title, self._keys = Static(Content(), id="triage-title"), KeyBar()
        self._earlier = Earlier()
        self._ready = False
        self.marks = board.seen_to.marks
        self.marks.read()
        self._going = GoingThere(self, board, reader)
        self._noting = Noting(self, board, self.marks, zone, self.refresh_problems)
        self.shows_settled = False
        self._settled = 0
        """How many were seen to or put off."""
        self.query_text = ""
        """Only the problems of delegations that match are listed."""
        self._known: dict[Handle, Known] = {}
        self._shown: object = None
        self._fetching = IdleWork(self, self._fetch, _SETTLE)
        self._looking = IdleWork(self, self._look_closer)
        self._listed: object = None
        self._to_come = 0
        """How many problems nobody has looked at closely yet."""
        self._rows: int | None = None

    def compose(self) -> ComposeResult:
        yield self._title
        with Container(id="triage-body"):
            with Container(id="triage-list"):
                yield self.problems
                yield self._earlier
            yield self.sheet
        yield self._past
        yield self._keys

    def on_mount(self) -> None:
        self._ready = True
        self._sessions.want()
        self._board.forest_replaced.subscribe(self._forest_replaced)
        self.set_interval(1.0, self._second)
        self.set_interval(_LOOK, self._look)
        self.refresh_problems()

    def on_unmount(self) -> None:
        self._ready = False
        self._board.forest_replaced.unsubscribe(self._forest_replaced)

    @property
    def _is_up(self) -> bool:
        """Timers still fire while it goes, when nobody tells it of another moment and the widgets go one by one."""
        return self._ready and self.is_here

    # Another moment

    def _forest_replaced(self, before: Forest, _now: Forest) -> None:
        """Delegations have other handles at the moment that is shown now; the problem under the cursor stays wanted."""
        if not self._is_up:
            return
        current = self.problems.current
        if current is not None and self.problems.moved:
            self._wanted = before.full_id(current.handle)
        self.problems.forget()
        self._known.clear()
        self._shown = None
        self.call_next(self.refresh_problems)

    def _look(self) -> None:
        """What is assessed otherwise shows at once, not with the next second."""
        if self._made_from() != self._listed:
            self.refresh_problems()

    @property
    def _is_past(self) -> bool:
        return self._board.moment is not None

    @on(Expected)
    def _expected(self, event: Expected) -> None:
        self._wanted, self.problems.moved = event.id, False

    # Drawing

    def _second(self) -> None:
        self.marks.read()
        if self._sessions.is_new_to(self):
            self._known.clear()
        self.refresh_problems()

    @property
    def _shows_earlier(self) -> bool:
        """Earlier troubles have rows where they are asked for, and where there are no others."""
        return self._wants_earlier or not self._board.assessments.count()

    @property
    def _wants_earlier(self) -> bool:
        return self._board.showing.earlier_shown or self._began_earlier

    def _made_from(self) -> object:
        """What the list is made from: it is the same as long as this is."""
        board = self._board
        second = board.forest.shown_at // 1_000 if len(self.marks) else 0  # what was put off may wake
        shows = self.shows_settled, self._shows_earlier, self.query_text
        return board.forest.epoch, board.assessments.version, self.marks.version, shows, second

    def refresh_problems(self) -> None:
        """Bring the screen up to what is known; the list is made anew only if something in it changed."""
        if not self._is_up:
            return
        made_from = self._made_from()
        if made_from != self._listed:
            self._listed = made_from
            self._list()
        else:
            self.problems.refresh()  # the times in it go on
        self._size_list()
        self._go_to_wanted()
        self._draw_title()
        self.refresh_page()
        self._draw_keys()

    def _list(self) -> None:
        board, now = self._board, self._board.forest.shown_at
        query = parse(self.query_text)
        if board.assessments.look_closer(_TO_BEGIN_WITH, earlier=self._shows_earlier):
            self._looking.ask()
        problems = board.assessments.in_order(earlier=self._shows_earlier)
        known = [each for each in map(board.assessments.looked_at, problems) if each is not None]
        self._to_come = len(problems) - len(known)
        listed = [each for each in known if query.matches(board.forest, each.handle)]
        shown = [each for each in listed if not self.marks.is_settled(self._problem(each), now)]
        self._settled = len(listed) - len(shown)
        self.problems.show(listed if self.shows_settled else shown)
        compared = self.problems.problems[:_COMPARED]
        names = [problem_words.who(each, self._subject(each.handle)) for each in compared]
        self._namesakes.look(names)
        self._asked = problem_words.widths(compared, names, [self._place(each.handle) for each in compared])
        hidden = {} if self._shows_earlier else board.finished.earlier()
        self._earlier.tell(hidden, keymap.key_of("earlier-troubles", self._settings.keymap))

    def _look_closer(self) -> None:
        """Of many that nobody has asked for yet, the rest comes when it is known."""
        if not self._is_up:
            return
        if self._board.assessments.look_closer(SLICE, earlier=self._shows_earlier):
            self._looking.ask()
            return
        self._listed = None
        self.refresh_problems()

    @property
    def _is_behind(self) -> bool:
        """Whether there may be more problems than are listed."""
        return bool(self._to_come or self._board.assessments.waiting)

    def _problem(self, each: Assessment) -> Problem:
        return Problem.of(self._board.forest, each)

    def _size_list(self) -> None:
        """Above the page the list takes no more room than it needs."""
        rows = None if self.has_class("-wide") else max(min(len(self.problems.problems), self.size.height // 3), 1)
        if rows != self._rows:
            self.problems.styles.height = self._rows = rows

    def on_resize(self) -> None:
        self.call_after_refresh(self._size_list)

    def _go_to_wanted(self) -> None:
        """To the problem the operator was at, once it is known; in the past it may come with another moment."""
        if self._wanted is None or self._is_behind or self.problems.moved:
            return
        wanted = self._board.forest.find(self._wanted)
        row = next((row for row, each in enumerate(self.problems.problems) if each.handle == wanted), None)
        if row is not None:
            self.problems.select(row)
        if row is not None or not self._is_past:
            self._wanted = None

    def _draw_title(self) -> None:
        place = f"{self.problems.place:,} of " if self.problems.place else ""
        told = problem_words.summary(
            len(self.problems.problems), self._settled, self._board.assessments.waiting + self._to_come
        )
        if not len(self._board.forest):
            told = "nothing is read"
        trouble = f"   {self.marks.trouble}" if self.marks.trouble else ""
        title = Content.assemble(
            ("delegtop · triage", "bold $primary"),
            "   ",
            place + told,
            one_line(f"   /{self.query_text}", "$accent") if self.query_text else "",
            one_line(trouble, "$warning") if trouble else "",
        )
        self._title.update(title, layout=False)

    def _draw_keys(self) -> None:
        current = self.problems.current
        mark = self.marks.of(self._problem(current)) if current else None
        reading = self.sheet.has_focus and self.sheet.target is not None
        labels = {
            "triage-go": "open or copy" if reading else "to the tree",
            "triage-acknowledge": "not seen to" if mark and mark.acknowledged else "acknowledge",
            "triage-snooze": "wake" if mark and mark.until is not None else "snooze",
            "triage-settled": "hide seen" if self.shows_settled else "show seen",
            "triage-earlier": "hide earlier" if self._wants_earlier else "earlier",
            "triage-view": "list" if self.has_class("-alone") else "one at a time",
        }
        offered: tuple[keymap.KeyCommand, ...] = keymap.TRIAGE
        if self._past.display:
            offered, labels = self._past.beside(keymap.TRIAGE_OF_THE_PAST), labels | self._past.words
        self._keys.offer([command for command in offered if command.bar], self._settings.keymap, labels)

    def _subject(self, handle: Handle) -> PageSubject:
        board = self._board
        return PageSubject(board.assessments, handle, self._zone, self._settings.ascii, board.table.masked)

    def _row(self, each: Assessment, width: int) -> Content:
        problem = self._problem(each)
        settled = self.marks.is_settled(problem, self._board.forest.shown_at)
        subject = self._subject(each.handle)
        return problem_words.row(
            each,
            subject,
            self.marks.of(problem),
            width,
            settled=settled,
            place=self._place(each.handle),
            differs_at=self._namesakes.differs_at(*problem_words.who(each, subject)),
            asked=self._asked,
        )

    def _place(self, handle: Handle) -> str:
        """Its machine and its project, where there are several."""
        table = self._board.table
        project = table.project(handle) if len(table.projects) > 1 else ""
        return " · ".join(filter(None, (table.host(handle), project)))

    def refresh_page(self, *, top: bool = False) -> None:
        """Bring the page up to date; nothing is made again while nothing changed."""
        current, forest = self.problems.current, self._board.forest
        if current is None:
            self._shown = None
            self.sheet.show(self._nothing())
            return
        known, mark = self._known.get(current.handle), self.marks.of(self._problem(current))
        made_from = current, forest.shown_at, id(known), mark, self._board.table.masked
        if made_from == self._shown and not top:
            return
        self._shown = made_from
        self.sheet.show(problem_words.page(current, self._subject(current.handle), mark, known or Known()), top=top)
        if known is None:
            self._fetching.ask()

    def _nothing(self) -> list[Block]:
        """Why the list is empty. That nothing is the matter is said only where something was looked at."""
        board = self._board
        if not len(board.forest):
            told = "Nothing is read yet: no delegation is known, so nobody can say that all is well."
            return [Content.styled(told, MUTED)]
        if self._reader.loading or self._is_behind:
            return [Content.styled("Looking for problems …", MUTED)]
        if self.query_text:
            return [Content.styled("No problem of a delegation that matches; / changes that.", MUTED)]
        if self._settled:
            return [Content.styled(f"Nothing else: {self._settled:,} seen to or put off.", "$success")]
        return [Content.styled("No problem: all is running or done.", "$success")]

    # What only the disk and the rules know

    def _fetch(self) -> None:
        current = self.problems.current
        if current is None or not self._is_up:
            return
        facts = self._board.forest.delegation(current.handle)
        work = partial(look_up, self._reader, facts, current.evidence, self._sessions, self._board.forest.shown_at)
        name = f"triage {current.handle}"
        self.run_worker(
            work, name=name, description=name, group="disk", exclusive=True, thread=True, exit_on_error=False
        )

    @on(Worker.StateChanged)
    def _looked_up(self, event: Worker.StateChanged) -> None:
        event.stop()
        current = self.problems.current
        if current is None or event.worker.name != f"triage {current.handle}":
            return
        if event.state is WorkerState.SUCCESS and event.worker.result is not None:
            presence, lines, before = event.worker.result
            subject = self._subject(current.handle)
            if len(self._known) > FILES:
                self._known.clear()
            self._known[current.handle] = Known(found(subject, presence), presence, lines, before)
            self.refresh_page()

    # What happens

    def on_descendant_focus(self) -> None:
        self._draw_keys()

    @on(ProblemList.Highlighted)
    def _highlighted(self) -> None:
        current = self.problems.current
        if current is not None:
            self._known.pop(current.handle, None)
        self.refresh_page(top=True)
        self._draw_title()
        self._draw_keys()

    @on(ProblemList.Chosen)
    def _chosen(self) -> None:
        self.action_go()

    @on(Sheet.Chosen)
    def _chosen_line(self, event: Sheet.Chosen) -> None:
        chosen_lines.follow(self, event, self._reader.feed, masked=self._board.table.masked)

    @on(Chips.Chosen, "Earlier")
    def _chosen_earlier(self, event: Chips.Chosen) -> None:
        event.stop()
        if event.name == earlier.SHOW:
            self.action_earlier()

    @on(Chips.Chosen, "KeyBar")
    async def _chosen_key(self, event: Chips.Chosen) -> None:
        command = next(command for command in keymap.TRIAGE_OF_THE_PAST if command.id == event.name)
        await (self if command in keymap.TRIAGE else self.app).run_action(command.action)

    # Actions

    def action_leave(self) -> None:
        if self.sheet.has_focus and not self.has_class("-alone"):
            self.problems.focus()
        else:
            self.dismiss(None)

    def action_go(self) -> None:
        current = self.problems.current
        if current is not None:
            self.dismiss(self._board.forest.id(current.handle))

    def action_problem(self, step: int) -> None:
        """The next or previous problem; it wraps round."""
        count = len(self.problems.problems)
        if count:
            self.problems.select((self.problems.place - 1 + step) % count)

    def action_view(self) -> None:
        self.toggle_class("-alone")
        (self.sheet if self.has_class("-alone") else self.problems).focus()
        self._draw_keys()

    def action_read(self) -> None:
        (self.problems if self.sheet.has_focus and not self.has_class("-alone") else self.sheet).focus()

    def action_settled(self) -> None:
        self.shows_settled = not self.shows_settled
        self.refresh_problems()

    def action_earlier(self) -> None:
        """Earlier troubles, too, or in a line; in the tree likewise."""
        wanted, self._began_earlier = not self._wants_earlier, False
        self._board.show_earlier(wanted)
        self.refresh_problems()

    def action_filter(self) -> None:
        """List only the problems of delegations that match."""

        def wrong(text: str) -> str:
            try:
                parse(text)
            except QueryError as error:
                return str(error)
            return ""

        ask = Ask("Show only", "as in the tree: agent:impl* project:*/app  ·  enter keeps", self.query_text, wrong)
        self.app.push_screen(ask, self._filtered)

    def _filtered(self, text: str | None) -> None:
        if text is not None:
            self.query_text = text.strip()
            self.refresh_problems()

    def action_copy(self) -> None:
        """What to type; the menu if there is nothing."""
        current = self.problems.current
        if current is None:
            return
        subject, assessments = self._subject(current.handle), self._board.assessments
        command = next((step.command for step in assessments.todo(current.handle) if step.command), None)
        if command is None:
            self.app.push_screen(CopyMenu(assessments, current.handle, masked=subject.masked))
            return
        text = subject.hide(command)
        copy(self, "command", text, clipboard.refusal(text))

    def action_go_there(self) -> None:
        if (current := self.problems.current) is not None:
            self._going.go(current.handle)

    def action_transcript(self) -> None:
        if (current := self.problems.current) is not None:
            from delegtop.app.screens.transcript import TranscriptScreen  # only who reads one waits for it

            screen = TranscriptScreen(current.handle, self._board, self._reader, self._settings, self._zone)
            self.app.push_screen(screen)

    def action_edit(self) -> None:
        if (current := self.problems.current) is not None:
            self._going.edit(line_of(self._board, current.handle))

    def action_stop(self) -> None:
        """How to stop what this problem is of."""
        from delegtop.app.screens.stop_dialog import open_plan  # few stop anything

        current = self.problems.current
        open_plan(self, self._acts, None if current is None else self._board.forest.id(current.handle))

    def action_acknowledge(self) -> None:
        if (current := self.problems.current) is not None:
            self._noting.acknowledge(self._problem(current))

    def action_acknowledge_all(self) -> None:
        """All that are listed are seen to."""
        self._noting.acknowledge_all([self._problem(each) for each in self.problems.problems])

    def action_snooze(self) -> None:
        if (current := self.problems.current) is not None:
            self._noting.snooze(self._problem(current))

    def action_note(self) -> None:
        if (current := self.problems.current) is not None:
            self._noting.note(self._problem(current))


def open_on(board: Board, handle: Handle | None) -> Handle | None:
    """The problem to begin with: that of the delegation under the cursor, if it has one."""
    if handle is None:
        return None
    found = board.assessments.of(handle)
    return handle if found.problem else found.waits_on
