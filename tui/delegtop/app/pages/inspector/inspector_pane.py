"""The inspector: everything known of the delegation under the cursor, in six tabs."""

from collections.abc import Mapping
from datetime import tzinfo
from functools import lru_cache, partial
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from delegtop.app.pages.inspector import activity, errors, findings, overview, raw, returned
from delegtop.app.pages.inspector.activity import History
from delegtop.app.pages.inspector.page_words import MUTED, PageSubject, one_line, path_of
from delegtop.app.state.idle_work import IdleWork
from delegtop.app.state.row_remarks import Remarks
from delegtop.app.state.subtree_totals import SubtreeTotals
from delegtop.app.widgets.chips import Chip, Chips
from delegtop.app.widgets.kept_lines import KeptLines
from delegtop.app.widgets.sheet import Block, Sheet
from delegtop.base.clock import SECOND
from delegtop.diagnosis.assessment import Assessment
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.finding import Severity
from delegtop.feed.live_feed import Readable
from delegtop.model.delegation import Delegation
from delegtop.model.forest import Forest
from delegtop.model.measures import label, title, told_host
from delegtop.model.store.ledger import Handle
from delegtop.report import privacy
from delegtop.report.table.cells import NOTHING, RemarkCell, SeenProblems
from delegtop.report.table.drawing import drawing
from delegtop.sources import artifact_files
from delegtop.sources.artifact_files import Presence, this_folder

TABS = ("overview", "return", "errors", "activity", "raw", "findings")
_FROM_DISK = ("return", "activity", "raw", "findings")
_ARTIFACTS = ("return", "findings")
"""Tabs that need to know which artifacts are there."""
_SETTLE = 0.08
"""Seconds the cursor must rest before the disk is asked: holding a key down must not queue a hundred reads."""
_AGAIN = 1.0
"""A busy delegation is read again at most this often."""


class Inspector(KeptLines, Vertical):
    """Speaks of one delegation. Log lines and artifacts are looked up in a thread, only for the tab that shows them."""

    DEFAULT_CSS = """
    Inspector { height: 40%; min-height: 7; border-top: solid $guide; background: $surface; }
    Inspector:focus-within { border-top: solid $accent; }
    Inspector > #title { height: 1; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
    Inspector > #tabs { padding: 0 1; }
    """

    class TabChanged(Message):
        def __init__(self, tab: str) -> None:
            super().__init__()
            self.tab = tab

    def __init__(
        self,
        assessments: Assessments,
        feed: Readable,
        *,
        zone: tzinfo | None,
        ascii: bool,
        remarks: Remarks | None = None,
        seen: SeenProblems | None = None,
        masked: bool = True,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.masked = masked
        """Whether secrets in foreign text are hidden."""
        self._assessments, self._remarks, self._seen = assessments, remarks, seen
        self._sums = SubtreeTotals(assessments.forest)
        self.tab = "overview"
        self._forest, self._feed, self._zone, self._ascii = assessments.forest, feed, zone, ascii
        self.sheet = Sheet(id="sheet")
        self._title, self._tabs = Static(Content(), id="title"), Chips(id="tabs")
        self._title_said = Content()
        self._titled: tuple[Delegation | None, str, Content, bool] | None = None
        """What the title was made from."""
        self._handle: Handle | None = None
        self._history: History | None = None
        self._presence: Mapping[str, Presence] = {}
        self._found = 0
        """How many findings the page told of."""
        self._shown: object = None
        """What the page was made from: nothing is made again while this stays the same."""
        self._fetched: tuple[str, Handle, int] | None = None
        self._fetching = IdleWork(self, self._fetch)

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._tabs
        yield self.sheet

    @property
    def handle(self) -> Handle | None:
        return self._handle

    def speak_of(self, handle: Handle | None) -> None:
        """Turn to another delegation."""
        if handle != self._handle:
            self._handle, self._history, self._presence, self._fetched = handle, None, {}, None
            self.refresh_page(top=True)

    def replace_forest(self, before: Forest, now: Forest) -> None:
        """Another moment is shown: the delegation may have another handle then, or not be there yet."""
        self._sums = SubtreeTotals(self._forest)
        self._fetched = None
        if self._handle is not None:
            self._handle = now.same(before, self._handle)

    def ask(self, wanted: bool) -> None:
        """The operator wants to see it, or not; where there is no room for both it is shown only when asked for."""
        self.set_class(wanted, "-asked")
        self.set_class(not wanted, "-hidden")
        self.call_after_refresh(self.refresh_page)

    def show_tab(self, tab: str) -> None:
        if tab != self.tab:
            self.tab, self._history, self._fetched = tab, None, None
            self.post_message(self.TabChanged(tab))
            self.refresh_page(top=True)

    def step(self, by: int) -> None:
        self.show_tab(TABS[(TABS.index(self.tab) + by) % len(TABS)])

    # Making the page

    def refresh_page(self, *, top: bool = False) -> None:
        """Bring the page up to date with the forest; costs nothing if nothing changed."""
        if not self.display or not self.is_mounted:
            return
        made_from = self._made_from()
        if made_from == self._shown and not top:
            return
        self._shown = made_from
        page = self._page()
        self._show_title()
        self._show_tabs()
        self.sheet.show(page, top=top)
        self._fetch_if_needed()

    def _made_from(self) -> object:
        if self._handle is None:
            return None
        moment = (0, 0)
        if self.tab in ("overview", "findings"):
            moment = self._forest.now_of(self._handle), self._forest.silence_of(self._handle) // SECOND
        disk = id(self._history), id(self._presence)
        version, assessment = self._forest.version(self._handle), self._assessments.known(self._handle)
        seen = assessment is not None and self._is_seen(assessment)
        return self._handle, self.tab, version, moment, disk, self.masked, assessment, seen, self._remark()

    def _remark(self) -> RemarkCell:
        return NOTHING if self._remarks is None or self._handle is None else self._remarks(self._handle)

    def _is_seen(self, found: Assessment) -> bool:
        return bool(found.problem and self._seen and self._seen.holds(found))

    def _show_title(self) -> None:
        handle = self._handle
        # On a small screen no column says which host it is on.
        facts, host = (
            (None, "") if handle is None else (self._forest.delegation(handle), told_host(self._forest, handle))
        )
        marked = Content() if handle is None else self._marked(self._assessments.of(handle))
        if (facts, host, marked, self.masked) == self._titled:
            return
        self._titled = facts, host, marked, self.masked
        nothing = Content.styled("No delegation selected", MUTED)
        words = nothing if facts is None else self._title_words(facts, host, marked)
        if not words.is_same(self._title_said):
            self._title_said = words
            self._title.update(words, layout=False)  # one line, whatever it says

    def _marked(self, found: Assessment) -> Content:
        """What the mark beside its name in the tree means."""
        marks, count = drawing(ascii=self._ascii), len(found.blocks)
        if self._is_seen(found):
            return Content.styled(f"{marks.seen} seen to", MUTED)
        return (
            Content.styled(f"{marks.blocker}{count} holds up {count:,}", "bold $stuck")
            if found.problem and count
            else Content()
        )

    def _title_words(self, delegation: Delegation, host: str, marked: Content) -> Content:
        path = path_of(delegation, " > " if self._ascii else " › ")
        hide = privacy.hiding(self.masked)
        name, id = label(delegation), delegation.id
        parts = [
            one_line(hide(name), "bold", 80) + (one_line(f" on {hide(host)}", "", 80) if host else Content()),
            marked,
            one_line(hide(work), "", 120) if (work := title(delegation)) else Content(),
            one_line(id, MUTED, 120) if id != name else Content(),
            Content(path and f" {path}"),
        ]
        return Content("   ").join(part for part in parts if part)

    def _show_tabs(self) -> None:
        remark = self._remark()
        problem = self._handle is not None and self._assessments.of(self._handle).problem
        errors = len(self._forest.delegation(self._handle).errors) if self._handle is not None else 0
        # The page knows more than the remark: it has looked at the disk.
        found = self._found if self.tab == "findings" else remark.found + problem
        chips = _tabs(self.tab, errors, found, remark.severity is Severity.ERROR)
        spare = self._tabs.content_size.width - sum(chip.text.cell_length for chip in chips)
        self._tabs.show(chips if spare >= 0 else chips[:-1])  # else the last word would be cut for the sake of a space

    def _page(self) -> list[Block]:
        if self._handle is None:
            return []
        subject = PageSubject(self._assessments, self._handle, self._zone, self._ascii, self.masked)
        match self.tab:
            case "return":
                return returned.page(subject, self._presence)
            case "errors":
                return errors.page(subject)
            case "activity":
                return activity.page(subject, self._history)
            case "raw":
                return raw.page(self._history, subject.hide)
            case "findings":
                found = findings.found(subject, self._presence)
                self._found = len(found)
                return findings.page(subject, found)
        return overview.page(subject, self._sums.of(self._handle))

    @on(Chips.Chosen, "#tabs")
    def _chosen(self, event: Chips.Chosen) -> None:
        event.stop()
        self.show_tab(event.name)

    # What only the disk knows

    def _wanted(self) -> tuple[str, Handle, int] | None:
        if self._handle is None or self.tab not in _FROM_DISK:
            return None
        return self.tab, self._handle, self._forest.version(self._handle)

    def _fetch_if_needed(self) -> None:
        wanted = self._wanted()
        if wanted is None or wanted == self._fetched:
            return
        same = self._fetched is not None and self._fetched[:2] == wanted[:2]
        self._fetching.ask(_AGAIN if same else _SETTLE)

    def _fetch(self) -> None:
        wanted = self._fetched = self._wanted()
        if wanted is None:
            return
        tab, handle, _ = wanted
        delegation = self._forest.delegation(handle)
        work = partial(_presence, delegation) if tab in _ARTIFACTS else partial(self._feed.history, delegation)
        name = f"{tab} {handle}"
        # Without a description Textual makes one of the work itself, with all the text it holds.
        self.run_worker(
            work, name=name, description=name, group="disk", exclusive=True, thread=True, exit_on_error=False
        )

    @on(Worker.StateChanged)
    def _looked_up(self, event: Worker.StateChanged) -> None:
        event.stop()
        worker = event.worker
        if worker.name != f"{self.tab} {self._handle}":
            return  # the operator has moved on
        if event.state is WorkerState.ERROR:
            self.sheet.show([Content.styled("The log cannot be read again: ", "$error") + one_line(str(worker.error))])
        if event.state is not WorkerState.SUCCESS:
            return
        if self.tab in _ARTIFACTS:
            self._presence = worker.result or {}
        else:
            self._history = worker.result
        self.refresh_page()


@lru_cache(64)
def _tabs(shown: str, errors: int, found: int, is_wrong: bool) -> tuple[Chip, ...]:
    counts, marked = {"errors": errors, "findings": found}, {"errors": errors > 0, "findings": is_wrong}
    chips: list[Chip] = []
    for tab in TABS:
        words = f" {tab.capitalize()}{f' {counts[tab]}' if counts.get(tab) else ''} "
        quiet = "bold $error" if marked.get(tab) else MUTED
        chips.append(Chip(Content.styled(words, "bold $accent reverse" if tab == shown else quiet), tab))
        chips.append(Chip(Content(" ")))
    return tuple(chips)


def _presence(delegation: Delegation) -> dict[str, Presence]:
    """Where the artifacts of a delegation are looked for: beneath the working directory and beneath its log. Those of
    another host are not here."""
    if delegation.told_by:
        return {}
    origin = delegation.ended_origin or delegation.started_origin
    roots = [*this_folder(), *([Path(origin.source).parent] if origin else [])]
    return artifact_files.look([artifact.path for artifact in delegation.artifacts[: returned.SHOWN]], roots)
