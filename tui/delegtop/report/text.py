"""The tree as plain text: it reads well in a pipe, in a narrow terminal and by ear."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from delegtop import text
from delegtop.clock import countdown, duration, iso
from delegtop.model import measures, recovery
from delegtop.model.delegation import PROBLEMS, SEVERITY, Delegation, Link, State
from delegtop.model.events import Deviation
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle
from delegtop.model.notes import REVIEW
from delegtop.report.health import Health, Unread
from delegtop.report.layout import cells, cut, fit
from delegtop.report.walk import GUIDED, Row, rows, with_ancestors
from delegtop.secrets import mask

EXAMPLES = 5
ALIKE = 3
"""Files without a format that are named one by one; a folder may hold hundreds of others."""
HEALTHY = 5
"""So many files of one format are listed when nothing is wrong with them: an agent may keep hundreds."""
_UNSURE = frozenset({Link.INFERRED, Link.AMBIGUOUS})
_NAME_MOST = 48
_NAME_LEAST = 20
_DOING_LEAST = 20
_LINE_MOST = 500


class Guides(NamedTuple):
    """The signs a tree is drawn with."""

    runs: str
    branch: str
    last: str
    gap: str
    inferred: str
    ambiguous: str
    cut: str
    unknown: str
    differs: str
    deep: str


UNICODE = Guides("│  ", "├─ ", "└─ ", "   ", "╌", "?", "…", "–", "≠", "⋯")
ASCII = Guides("|  ", "|- ", "`- ", "   ", "~", "?", "...", "-", "!=", "...")
PLAIN = Guides("  ", "  ", "  ", "  ", "", "", "...", "-", "!=", "...")
"""Indentation only, for ears and for tools that choke on drawing."""


class Look(NamedTuple):
    """How to print: with what signs, how wide, in colour or not."""

    guides: Guides = UNICODE
    width: int = 120
    color: bool = False
    cuts: bool = True
    """Whether what is too wide is cut. In a pipe nothing needs to be."""
    masked: bool = True
    """Whether secrets in foreign text are hidden."""

    def line(self, foreign: str, limit: int) -> str:
        """Foreign text, safe to print and on one line."""
        return text.line(mask(foreign[: 2 * limit]) if self.masked else foreign, limit)


_COLOURS = {
    State.RUNNING: "36",
    State.WAITING: "34",
    State.SILENT: "33",
    State.OVERDUE: "1;31",
    State.COMPLETED: "32",
    State.PARTIAL: "33",
    State.FAILED: "31",
    State.BLOCKED: "33",
    State.TIMEOUT: "31",
    State.INTERRUPTED: "35",
    State.LOST: "1;35",
    State.UNKNOWN: "2",
    State.IDLE: "2",
}


def tree(
    forest: Forest,
    sources: Sequence[Health],
    *,
    matches: Collection[Handle] | None = None,
    sort: str = "start",
    look: Look = Look(),  # noqa: B008 - an immutable value
    health: bool = False,
    claims: bool = False,
) -> Iterator[str]:
    """The lines of the report. With `matches`, those and their ancestors are shown. The health of the sources and the
    claims that disagree are only counted unless they are asked for."""
    yield summary(forest, matches)
    shown = None if matches is None else with_ancestors(forest, matches)
    table = list(rows(forest, shown, sort))
    if table:
        yield ""
        yield from _Table(forest, look, table).lines(table)
    told = list(_claims(forest, [row.handle for row in table], look))
    blocks = {
        "What to do": list(_advice(forest, matches or [row.handle for row in table], look)),
        "Claims that disagree": told if claims else [],
        "Sources": list(_health(sources, look)) if health else [],
    }
    for title, lines in blocks.items():
        if lines:
            yield from ("", title, *lines)
    unsaid = [*([] if health else _ailing(sources, look)), *([] if claims else _disagreeing(told))]
    if unsaid:
        yield from ("", *unsaid)


def summary(forest: Forest, matches: Collection[Handle] | None) -> str:
    at = re.sub(r"\.\d+Z$", "Z", iso(forest.now))
    total = len(forest)
    if not total:
        return f"No delegations at {at}."
    states = Counter({state: count for state, count in forest.counts.items() if count})
    subject = _count(total, "delegation")
    if matches is not None:
        states = Counter(forest.state(handle) for handle in matches)
        subject = f"{len(matches)} of {subject} match"
    words = ", ".join(f"{states[state]} {state}" for state in State if states[state])
    return f"{subject} at {at}: {words}." if words else f"{subject} at {at}."


def coloured(words: str, state: State) -> str:
    """In the colour of the state."""
    return f"\x1b[{_COLOURS[state]}m{words}\x1b[0m"


def guide(forest: Forest, row: Row, guides: Guides) -> str:
    """The lines of the tree before a name."""
    if not row.level:
        return ""
    if row.level > GUIDED:
        return f"{guides.deep}{row.level} "
    above = "".join(guides.runs if runs_on else guides.gap for runs_on in row.open)
    own = guides.last if row.last else guides.branch
    link = forest.link(row.handle)
    if link is Link.INFERRED and guides.inferred:
        own = own[0] + guides.inferred + own[2:]
    if link is Link.AMBIGUOUS and guides.ambiguous:
        own = own[0] + guides.ambiguous + own[2:]
    return above + own


class _Table:
    """The columns of one report: what there is room for, and how wide."""

    def __init__(self, forest: Forest, look: Look, table: Sequence[Row]) -> None:
        self.forest = forest
        self.look = look
        self.guides = look.guides
        self.contradicted = False
        """Has a row claimed a depth that its path or place denies?"""
        self.estimated = False
        """Has a row a time left that is only what is usual?"""
        # State is never cut, so it has the width of the longest word there is.
        self.columns = {"state": 11, "depth": 5, "left": 9, "age": 8, "quiet": 8}
        for column in ("quiet", "depth", "age", "left"):
            if self._fixed() + _NAME_LEAST + _DOING_LEAST <= look.width:
                break
            del self.columns[column]
        widest = max(cells(self._name(row, forest.delegation(row.handle))) for row in table)
        room = look.width - self._fixed() - _DOING_LEAST
        self.name = max(min(widest, _NAME_MOST, room), min(_NAME_LEAST, widest), len("DELEGATION"))
        self.doing = max(look.width - self._fixed() - self.name, 0)

    def _fixed(self) -> int:
        return sum(self.columns.values()) + 2 * (len(self.columns) + 1)

    def lines(self, table: Sequence[Row]) -> Iterator[str]:
        head = {"state": "STATE", "depth": "DEPTH", "left": "LEFT", "age": "AGE", "quiet": "QUIET"}
        yield self._line("DELEGATION", head, "DOING")
        for row in table:
            facts = self.forest.delegation(row.handle)
            remark = self.look.line(measures.remark(self.forest, row.handle, facts), _LINE_MOST)
            depth = self._depth(row, facts)
            self.contradicted |= self.guides.differs in depth
            content = self._cells(row.handle, facts) | {"depth": depth}
            yield self._line(self._name(row, facts), content, remark, self.forest.state(row.handle))
        if legend := list(self._legend(table)):
            yield ""
            yield from legend

    def _line(self, name: str, content: dict[str, str], doing: str, state: State | None = None) -> str:
        parts = [fit(name, self.name, self.guides.cut)]
        for column, width in self.columns.items():
            cell = fit(content[column], width, self.guides.cut, right=column != "state")
            if column == "state" and state and self.look.color:
                cell = cell.replace(state.value, coloured(state.value, state))
            parts.append(cell)
        parts.append(cut(doing, self.doing if self.look.cuts else _LINE_MOST, self.guides.cut))
        return "  ".join(parts).rstrip()

    def _name(self, row: Row, facts: Delegation) -> str:
        label = text.line(measures.label(facts), 200)
        if facts.own_name and facts.own_name != label:
            label += f" {text.line(facts.own_name, 200)}"
        unsure = row.level and not self.guides.inferred and self.forest.link(row.handle) in _UNSURE
        label += f" (parent {self.forest.link(row.handle)})" if unsure else ""
        return (
            guide(self.forest, row, self.guides)
            + label
            + (f"  {self.look.line(facts.title, _NAME_MOST)}" if facts.title else "")
        )

    def _cells(self, handle: Handle, facts: Delegation) -> dict[str, str]:
        forest = self.forest
        return {
            "state": forest.state(handle).value,
            "left": self._left(handle),
            "age": self._span(measures.age(forest, handle, facts)),
            "quiet": self._span(measures.quiet(forest, handle, facts)),
        }

    def _left(self, handle: Handle) -> str:
        left, deadline = measures.left(self.forest, handle), self.forest.deadline(handle)
        if left is None or deadline is None:
            return self.guides.unknown
        self.estimated |= not deadline.is_firm
        return countdown(left) if deadline.is_firm else f"~{countdown(left)}"

    def _depth(self, row: Row, facts: Delegation) -> str:
        derived = measures.derived_depth(self.forest, row.handle, facts, row.level)
        if facts.depth is None or facts.depth == derived:
            return str(derived)
        return f"{facts.depth}{self.guides.differs}{derived}"

    def _span(self, span: int | None) -> str:
        return self.guides.unknown if span is None else duration(span)

    def _legend(self, table: Sequence[Row]) -> Iterator[str]:
        links = Counter(self.forest.link(row.handle) for row in table if row.level)
        if links[Link.INFERRED]:
            sign = f"{self.guides.last[0]}{self.guides.inferred} " if self.guides.inferred else ""
            yield f"{sign}{_count(links[Link.INFERRED], 'parent')} inferred from path and time, not told by a log"
        if links[Link.AMBIGUOUS]:
            sign = f"{self.guides.last[0]}{self.guides.ambiguous} " if self.guides.ambiguous else ""
            yield f"{sign}{_count(links[Link.AMBIGUOUS], 'parent')} ambiguous: more than one fits"
        unseen = sum(not row.level and self.forest.link(row.handle) is Link.EXPLICIT for row in table)
        if unseen:
            yield f"{_count(unseen, 'parent')} named by a log but never seen: the child stands at the top"
        if self.estimated:
            yield "~ in LEFT: by what such agents usually take; nothing is overdue by it"
        if self.contradicted:
            yield f"1{self.guides.differs}2 in DEPTH: it claims 1, its path or place says 2"


def _advice(forest: Forest, handles: Collection[Handle], look: Look) -> Iterator[str]:
    """What the agents themselves say about going on, what a person must look at first, then the worst; one advice
    handed up a path is told once, by its source."""
    told: dict[str, tuple[recovery.Hint, Handle]] = {}
    for handle in handles:
        troubled = forest.state(handle) in PROBLEMS
        for hint in recovery.hints(forest.delegation(handle)):
            if troubled or hint.kind == REVIEW:
                told[hint.text] = hint, handle
    ranked = sorted(told.values(), key=lambda item: (item[0].kind != REVIEW, SEVERITY[forest.state(item[1])]))
    for hint, handle in ranked:
        name = text.line(measures.label(forest.delegation(handle)), 200)
        title = "" if hint.kind == recovery.RECOMMENDATION else f" {hint.title}"
        yield f"  {name} ({forest.state(handle)}){title}: {look.line(hint.text, _LINE_MOST)}"


def _claims(forest: Forest, handles: Collection[Handle], look: Look) -> Iterator[str]:
    for handle in handles:
        facts = forest.delegation(handle)
        for field in dict.fromkeys(claim.field for claim in facts.claims):
            said = (f"{c.value} ({c.origin})" for c in facts.claims if c.field == field)
            yield look.line(f"  {measures.label(facts)}: {field} {', '.join(said)}", _LINE_MOST)


def _disagreeing(claims: Sequence[str]) -> Iterator[str]:
    if claims:
        verb = "is" if len(claims) == 1 else "are"
        yield f"{_count(len(claims), 'claim')} {verb} contradicted by another source: --claims tells"


def _ailing(sources: Sequence[Health], look: Look) -> Iterator[str]:
    """That not all could be read, and the first thing that could not."""
    ailing = [source for source in sources if source.unreadable or source.status == "unreadable"]
    if not ailing:
        return
    examples = (each for source in ailing for each in source.examples if not isinstance(each, Deviation))
    first = next((_short(each, look) for each in examples), "")
    yield f"{_count(len(ailing), 'source')} cannot be read whole{first}: --sources tells"


def _short(example: Unread, look: Look) -> str:
    why = look.line(": ".join(part for part in (example.reason, example.excerpt) if part), 60)
    return f" ({text.line(str(example.origin), 1_000)}: {why})"


def _health(sources: Sequence[Health], look: Look) -> Iterator[str]:
    alike: Counter[tuple[str, str]] = Counter()
    healthy: Counter[str] = Counter()
    for source in sources:
        if source.dialect is None:
            alike[source.status, source.detail] += 1
            if alike[source.status, source.detail] > ALIKE:
                continue
        elif source.status == "live" and not (source.detail or source.unreadable or source.deviations):
            healthy[source.dialect] += 1
            if healthy[source.dialect] > HEALTHY:
                continue
        yield f"  {text.line(source.path, 1_000)}: {_state_of(source)}"
        for reason, count in sorted(source.reasons.items(), key=lambda item: (-item[1], item[0])):
            yield f"    {count} {text.line(reason, 80)}"
        for example in islice(source.examples, EXAMPLES):
            yield cut(f"    {_example(example, look)}", max(look.width, 80), look.guides.cut)
        if (more := source.unreadable + source.deviations - EXAMPLES) > 0:
            yield f"    and {more} more (--json tells the kinds, the dashboard shows them)"
    for dialect, count in healthy.items():
        if count > HEALTHY:
            yield f"  {_count(count - HEALTHY, 'more file')} of {text.line(dialect, 80)}, read without trouble"
    for (status, detail), count in alike.items():
        if count > ALIKE:
            why = f", {text.line(detail, 400)}" if detail else ""
            yield f"  {_count(count - ALIKE, 'more file')} {status}{why}"


def _state_of(source: Health) -> str:
    parts = [text.line(source.dialect or "no format", 80), _count(source.records, "record")]
    if source.status != "live":
        parts.insert(1, source.status)
    if source.unreadable:
        parts.append(f"{source.unreadable} unreadable")
    if source.deviations:
        parts.append(_count(source.deviations, "deviation"))
    if source.detail:
        parts.append(text.line(source.detail, 400))
    return ", ".join(parts)


def _example(example: Unread | Deviation, look: Look) -> str:
    told = (example.kind, example.detail) if isinstance(example, Deviation) else (example.reason, example.excerpt)
    return f"{text.line(str(example.origin), 1_000)}: " + ": ".join(look.line(part, 200) for part in told if part)


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
