"""The trees of an incident over time, as SVG drawings: a bar for each delegation, a mark for each deadline.

Colours come from the style sheet of the page by the classes of the shapes, so that a drawing follows its light, dark
and printed looks. A state is also written beside its bar: colour alone tells nothing to some readers.
"""

from collections.abc import Iterator, Sequence
from html import escape

from delegtop.base.clock import DAY, HOUR, MINUTE, SECOND, Millis, duration, iso, parse_time
from delegtop.base.text import line
from delegtop.model.states import ACTIVE, State
from delegtop.report.incident.incident_report import Incident, Node
from delegtop.report.incident.incident_words import named
from delegtop.report.layout import cut

ROWS = 60
TREES = 12
"""Drawn at most: so many rows of a tree, and so many trees."""
_NAMES, _STATES, _PLOT, _SPANS = 290, 92, 560, 78
"""The widths of the columns, in units of the drawing."""
NOW = 'class="now"'
"""What marks the line at the moment of the report, where there is one."""
_LEFT = _NAMES + _STATES
_WIDTH = _LEFT + _PLOT + _SPANS
_TOP, _ROW, _BAR = 34, 24, 12
_CHARACTER = 7.3
_TICKS = 7
_STEPS = (
    *(n * SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * HOUR for n in (1, 2, 3, 6, 12)),
    *(n * DAY for n in (1, 2, 7, 30, 90, 365)),
)


class IncidentAxis:
    """Time along the drawing."""

    def __init__(self, begin: int, end: int) -> None:
        self.begin, self.end = begin, max(end, begin + SECOND)

    def x(self, at: int) -> float:
        share = (at - self.begin) / (self.end - self.begin)
        return _LEFT + _PLOT * min(max(share, 0.0), 1.0)

    def ticks(self) -> tuple[int, list[Millis]]:
        """The step and the moments on it, at most about seven."""
        span = self.end - self.begin
        step = next((step for step in _STEPS if span / step <= _TICKS), 1_000 * DAY)
        first = -(-self.begin // step) * step
        return step, [Millis(at) for at in range(first, self.end + 1, step)]


def drawn_trees(incident: Incident) -> list[list[Node]]:
    """The trees that are drawn, in the order of the worst in each: those in trouble, or all of them if none is."""
    trees: list[list[Node]] = []
    for node in incident.tree:
        if not node.level:
            trees.append([])
        trees[-1].append(node)
    rank = {trouble.id: number for number, trouble in enumerate(incident.troubles)}
    ranked = sorted(
        ((min((rank[node.id] for node in tree if node.id in rank), default=len(rank)), tree) for tree in trees),
        key=lambda one: one[0],
    )
    wanted = [tree[:ROWS] for first, tree in ranked if first < len(rank) or not rank]
    return [tree for tree in wanted if any(node.started_at for node in tree)][:TREES]


def drawings(incident: Incident) -> Iterator[str]:
    """One SVG for each of these trees, each with an axis of its own: a run of a day would hide one of a minute."""
    for number, tree in enumerate(drawn_trees(incident), 1):
        yield from drawing(tree, incident.at, f"g{number}")


def drawing(tree: Sequence[Node], at: str, id: str) -> Iterator[str]:
    """One tree as it is at that moment; nothing if nobody knows when anything in it began."""
    now = parse_time(at)
    axis = _axis(tree, now)
    if axis is not None and now is not None:
        yield from ('<div class="wide">', *_drawing(tree, axis, now, id), "</div>")


def _drawing(nodes: Sequence[Node], axis: IncidentAxis, now: Millis, id: str) -> Iterator[str]:
    height = _TOP + _ROW * len(nodes) + 8
    name = escape(line(nodes[0].name, 200))
    yield (
        f'<svg class="gantt" viewBox="0 0 {_WIDTH} {height}" role="img" aria-labelledby="{id}-title {id}-about">'
        f'<title id="{id}-title">{name} and all below it over time</title>'
        f'<desc id="{id}-about">One row for each delegation, with its state, a bar from its start to its end or now, '
        "a mark at its deadline, and how long it took. The table of the tree tells the same.</desc>"
    )
    yield from _grid(axis, height)
    for index, node in enumerate(nodes):
        yield from _row(node, _TOP + index * _ROW, axis, now)
    if axis.begin <= now <= axis.end:
        yield f'<line {NOW} x1="{axis.x(now):.1f}" x2="{axis.x(now):.1f}" y1="{_TOP - 6}" y2="{height - 4}"/>'
    yield "</svg>"


def _axis(nodes: Sequence[Node], now: Millis | None) -> IncidentAxis | None:
    """From the first start to now while something is at work, else to the last thing known: a report of an old log
    ends near it and not today."""
    starts = [at for node in nodes if (at := _at(node.started_at)) is not None]
    if not starts or now is None:
        return None
    known = [at for node in nodes for text in _known(node) if (at := _at(text)) is not None and at <= now]
    begin, last = min(starts), max(known, default=now)
    if any(node.state in ACTIVE for node in nodes):
        return IncidentAxis(begin, now)
    is_open = any(node.ended_at is None for node in nodes)
    return IncidentAxis(begin, min(now, last + max((last - begin) // 2, MINUTE)) if is_open else last)


def _known(node: Node) -> tuple[str | None, ...]:
    """The moments that must be on the axis; the deadline of one that has ended need not be."""
    return node.started_at, node.ended_at, node.last_heard_at, None if node.ended_at else node.deadline


def _at(text: str | None) -> Millis | None:
    return None if text is None else parse_time(text)


def _grid(axis: IncidentAxis, height: int) -> Iterator[str]:
    step, ticks = axis.ticks()
    for at in ticks:
        x = axis.x(at)
        yield f'<line class="tick" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 6}" y2="{height - 4}"/>'
        yield f'<text class="time" x="{x:.1f}" y="{_TOP - 12}" text-anchor="middle">{_tick(at, step)}</text>'


def _tick(at: Millis, step: int) -> str:
    """`10:45`, with seconds or as a day where the step asks for it."""
    day, _, time = iso(at).partition("T")
    if step >= DAY:
        return day
    return time[:8] if step < MINUTE else time[:5]


def _row(node: Node, y: int, axis: IncidentAxis, now: Millis) -> Iterator[str]:
    indent = min(node.level, 8) * 14
    room = int((_NAMES - indent - 10) / _CHARACTER)
    middle = y + _ROW / 2
    trouble = " trouble" if node.in_trouble else ""
    yield f'<g class="row s-{node.state.colour}{trouble}">'
    yield f"<title>{_about(node)}</title>"
    if node.root_blocker:
        yield f'<rect class="blocker" x="0" y="{y + 1}" width="{_WIDTH}" height="{_ROW - 2}" rx="4"/>'
    name = escape(cut(line(named(node), 200), room))
    yield f'<text class="name" x="{indent + 6}" y="{middle:.1f}">{name}</text>'
    yield f'<text class="state" x="{_NAMES}" y="{middle:.1f}">{node.state}</text>'
    yield from _bar(node, y, axis, now)
    deadline = _at(node.deadline)
    if deadline is not None and axis.begin <= deadline <= axis.end:
        x = axis.x(deadline)
        yield f'<path class="deadline" d="M{x:.1f} {y + 3}v{_ROW - 6}m-3.5 {6 - _ROW}h7"/>'
    span = "–" if node.took_seconds is None else duration(int(node.took_seconds * 1_000))
    yield f'<text class="took" x="{_WIDTH - 6}" y="{middle:.1f}" text-anchor="end">{span}</text>'
    yield "</g>"


def _bar(node: Node, y: int, axis: IncidentAxis, now: Millis) -> Iterator[str]:
    start, end = _at(node.started_at), _at(node.ended_at)
    middle = y + _ROW / 2
    if start is None:
        yield f'<text class="unknown" x="{_LEFT + 6}" y="{middle:.1f}">start unknown</text>'
        return
    heard = _at(node.last_heard_at) or start
    told = end if end is not None else min(max(heard, start), now)
    left, right = axis.x(start), axis.x(told)
    top = y + (_ROW - _BAR) / 2
    yield f'<rect class="bar" x="{left:.1f}" y="{top:.1f}" width="{max(right - left, 2):.1f}" height="{_BAR}" rx="2"/>'
    if end is None and node.took_seconds is not None:
        # Since its last word nothing is known of it, unless that it waits for another.
        kind = "waits" if node.state is State.WAITING else "quiet"
        width = max(axis.x(now) - right, 0)
        yield f'<rect class="{kind}" x="{right:.1f}" y="{top:.1f}" width="{width:.1f}" height="{_BAR}" rx="2"/>'


def _about(node: Node) -> str:
    """What a pointer that rests on the row is told."""
    parts = [node.name, node.state, node.remark]
    if node.deadline is not None:
        parts.append(f"deadline {node.deadline}")
    return escape(line(" · ".join(filter(None, parts)), 400))
