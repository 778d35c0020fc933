"""One delegation as a row of the page's tree, and one that needs somebody as a card above it."""

import html
from typing import NamedTuple

from delegtop.base.clock import Millis, duration, iso
from delegtop.base.secrets import mask
from delegtop.base.text import brief, prose
from delegtop.diagnosis.assessment import PRESSING, Assessment
from delegtop.diagnosis.assessments import Assessments
from delegtop.model import measures
from delegtop.model.delegation import Delegation
from delegtop.model.states import ACTIVE, ENDED_BADLY, UNENDED, State
from delegtop.model.store.ledger import Handle
from delegtop.report.incident.incident_pieces import escaped, indent, typed
from delegtop.report.incident.incident_words import clock
from delegtop.report.live_page.page_times import PageTimes, sentence, since
from delegtop.report.projects import Projects

_STEPS = 3
"""Things to do that a card names; its details have all of them."""
_LOOKED_AT, _NAME, _WORDS = 800, 80, 160
_QUIET = frozenset({State.SILENT, State.OVERDUE, State.LOST})
"""States of those of which is told how long nothing was heard of them."""


class RowPlace(NamedTuple):
    """Where it works, as far as that tells one from another."""

    project: str
    host: str


class PageRows:
    """Makes the blocks of single delegations."""

    def __init__(self, assessments: Assessments) -> None:
        self._assessments, self._forest = assessments, assessments.forest
        self.projects = Projects()
        self.tells_hosts = False
        """Whether there are several hosts."""

    def place(self, handle: Handle) -> RowPlace:
        forest = self._forest
        return RowPlace(self.projects.name(measures.folder(forest, handle)), measures.named_host(forest, handle))

    def row(self, handle: Handle, level: int, found: Assessment | None) -> str:
        """`found` is what is the matter with it, if anything is or it is open."""
        forest, facts, state = self._forest, self._forest.delegation(handle), self._forest.state(handle)
        problem = found is not None and found.problem
        kind = "now" if found is not None and found.is_now else "open" if state in ACTIVE else "over"
        word = f"{found.short}{'' if found.is_sure else '?'}" if found is not None and problem else state.value
        told = measures.remark(forest, handle, facts, self._assessments.end_of_path(handle))
        title, remark = _clean(measures.title(facts)), _clean(told)
        standing = "" if self.as_of(handle) is None else " as-of"
        parts = (
            f'<span class="word">{state.glyph} {html.escape(word)}</span>',
            f"<b>{_name(facts)}</b>",
            _holds(found) if problem else "",
            _span("where", self._where(handle)),
            _span("title", title),
            _span("doing", "" if remark == title else remark),
            _span("age", self._age(handle, facts, state)),
        )
        return (
            f'<li id="r{handle}" class="row {kind}{standing} s-{state.colour} {indent(level)}">'
            f'<span class="unseen">level {level + 1}</span>{_opening(handle, " ".join(filter(None, parts)))}</li>'
        )

    def card(self, found: Assessment) -> str:
        """One of the problems of this moment: which, how sure, since when, why, and what to do."""
        forest, handle = self._forest, found.handle
        facts, now, live = forest.delegation(handle), forest.now_of(handle), self.as_of(handle) is None
        ahead = forest.word_of(handle).offset
        about = " · ".join(filter(None, (self._where(handle), _clean(measures.title(facts)))))
        return "".join(
            (
                f'<li id="s{handle}" class="card {_gravity(found)}{"" if live else " as-of"} s-{found.state.colour}">',
                f"<h3>{_name(facts)} {_holds(found)}</h3>",
                f'<p class="which">{about}</p>' if about else "",
                f'<p class="verdict">{_verdict(found, now, goes_on=live, offset=ahead)}</p>',
                f'<p class="why">{sentence(found.said, now, goes_on=live, offset=ahead)}</p>',
                self._todo(handle, _STEPS if found.urgency in PRESSING else 1),
                _opening(handle, "All that is known of it"),
                "</li>",
            )
        )

    def _todo(self, handle: Handle, most: int) -> str:
        """The first things to do, and what to type for them, below the one it belongs to."""
        steps = self._assessments.todo(handle)
        shown = list(steps[:most])
        if not any(step.command for step in shown):
            shown += [step for step in steps[most:] if step.command][:1]
        told = (f"<li>{escaped(mask(step.words))}{typed(step.command and mask(step.command))}</li>" for step in shown)
        return f'<h4>What to do</h4><ol class="plain">{"".join(told)}</ol>' if shown else ""

    def _where(self, handle: Handle) -> str:
        """The project and the host, where there are several of them; of one that is not heard of, as of when."""
        project, host = self.place(handle)
        told = [project if len(self.projects) > 1 else "", f"on {host or 'this machine'}" if self.tells_hosts else ""]
        known = " ".join(_clean(each) for each in told if each)
        as_of = self.as_of(handle)
        return known if as_of is None else f"{known}, as of {as_of_words(as_of)}".removeprefix(", ")

    def _age(self, handle: Handle, facts: Delegation, state: State) -> str:
        """How long it has run, or took, and if it is quiet for how long."""
        now, live = self._forest.now_of(handle), self.as_of(handle) is None
        ahead = self._forest.word_of(handle).offset
        if facts.started_at is None:
            return ""
        if state not in UNENDED:
            ended = measures.ended_at(facts)
            return "" if ended is None else f"took {duration(ended - facts.started_at)}"
        told = since(facts.started_at, now, goes_on=live, offset=ahead)
        silent = measures.silent_since(self._forest, handle, facts)
        if state in _QUIET and silent is not None:
            told += f", quiet for {since(silent, now, goes_on=live, offset=ahead)}"
        return told

    def times(self, handle: Handle) -> PageTimes:
        """How times of it are told."""
        goes_on, offset = self.as_of(handle) is None, self._forest.word_of(handle).offset
        return PageTimes(self._forest.now_of(handle), goes_on=goes_on, offset=offset)

    def as_of(self, handle: Handle) -> Millis | None:
        """When its host was last heard of, by the clock of the page; None if time goes on there."""
        word = self._forest.word_of(handle)
        if word.beaten_at is None or not word.is_stale(self._forest.shown_at):
            return None
        return Millis(word.beaten_at + word.offset)


def as_of_words(moment: Millis) -> str:
    """`15:20:00 UTC`."""
    return f"{clock(iso(moment)).partition(' ')[2]} UTC"


def _clean(foreign: str) -> str:
    return html.escape(prose(mask(foreign[:_LOOKED_AT]), _WORDS))


def _name(facts: Delegation) -> str:
    return html.escape(brief(mask(measures.called(facts)[:_LOOKED_AT]), _NAME))


def _span(kind: str, told: str) -> str:
    return f'<span class="{kind}">{told}</span>' if told else ""


def _holds(found: Assessment | None) -> str:
    count = len(found.blocks) if found is not None else 0
    return f'<span class="badge">holds up {count}</span>' if count else ""


def _gravity(found: Assessment) -> str:
    return "stuck" if found.urgency in PRESSING else "less"


def _verdict(found: Assessment, now: Millis, *, goes_on: bool, offset: int) -> str:
    """What is the matter, how sure that is, and since when."""
    span = "" if found.since is None else since(found.since, now, goes_on=goes_on, offset=offset)
    if found.verdict is None and found.state in ENDED_BADLY:
        return f"<b>ended {found.state}</b>{f' {span} ago' if span else ''}"
    return f"<b>{html.escape(found.kind)}</b> ({found.certainty}){f' for {span}' if span else ''}"


def _opening(handle: Handle, summary: str) -> str:
    """What opens to all that is known of it, which is asked for then; without a script a link leads there."""
    link = f'<a href="row/{handle}">All that is known of it</a>'
    return f'<details data-row="{handle}"><summary>{summary}</summary><div class="more">{link}</div></details>'
