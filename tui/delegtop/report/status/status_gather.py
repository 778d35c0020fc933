"""How a forest stands: its trees that are not all over, counted, and what to look at first in each."""

from collections import Counter
from collections.abc import Callable, Sequence

from delegtop.base import text
from delegtop.base.clock import Millis
from delegtop.diagnosis.assessment import Assessment
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.verdicts import Kind
from delegtop.model.delegation import Delegation
from delegtop.model.events import Phase
from delegtop.model.forest import Forest
from delegtop.model.measures import called, folder, told_host
from delegtop.model.states import ENDED_BADLY, UNENDED, State
from delegtop.model.store.ledger import Handle
from delegtop.report.health import Health
from delegtop.report.health import unread as is_unread
from delegtop.report.privacy import Hide, hiding
from delegtop.report.projects import Projects
from delegtop.report.status.machine_status import (
    URGENCIES,
    FirstProblem,
    MachineStatus,
    SessionStatus,
    Tally,
    UnreadPlace,
    total,
)
from delegtop.report.status.status_json import IDS, PLACES, SESSIONS

Counted = Callable[[str], bool]
"""Whether what the source of that name tells of is counted."""

_COUNTED = UNENDED | ENDED_BADLY
_IN_A_TOOL = frozenset(
    {Kind.HUNG_IN_TOOL, Kind.TOOL_ENDED, Kind.WAITING_FOR_NETWORK, Kind.OVERDUE, Kind.SILENT},
)
"""Verdicts of those that may stand still in a tool."""
_NAME, _WORD, _SENTENCE = 60, 30, 400


def everything(_source: str) -> bool:
    return True


def gather(
    assessments: Assessments,
    by: str,
    *,
    cost: int = 0,
    counted: Counted = everything,
    masked: bool = True,
    statuses: Sequence[Health] = (),
) -> MachineStatus:
    """All that is judged by now, at the moment the forest shows, and what of the sources cannot be read."""
    forest, told = assessments.forest, _Teller(assessments, masked=masked)
    trees = {root: tally for root, tally in _tallies(assessments, told).items() if _is_counted(forest, root, counted)}
    ordered = sorted(trees, key=lambda root: _place(forest, trees[root], root))
    listed = [root for root in ordered if _is_told(trees[root])]
    sessions = tuple(told.session(root, trees[root]) for root in listed[:SESSIONS])
    tally = total(trees[root] for root in ordered)
    unread = tuple(told.place(source) for source in statuses if is_unread(source) and counted(source.path))
    return MachineStatus(forest.shown_at, by, cost, tally, sessions, len(listed) - len(sessions), unread[:PLACES])


def _tallies(assessments: Assessments, told: "_Teller") -> dict[Handle, Tally]:
    """Every tree of which something is not done, by its root."""
    forest = assessments.forest
    states: dict[Handle, Counter[State]] = {}
    silent: Counter[Handle] = Counter()
    roots: dict[Handle, Handle] = {}
    for handle, state in forest.in_states(_COUNTED):
        root = _root(forest, handle, roots)
        states.setdefault(root, Counter())[state] += 1
        silent[root] += state is State.SILENT
    problems: dict[Handle, list[Assessment]] = {}
    for each in assessments.now():
        root = _root(forest, each.handle, roots)
        problems.setdefault(root, []).append(each)
        silent[root] -= each.state is State.SILENT
    return {
        root: Tally(
            states={state.value: states[root][state] for state in State if root in states and states[root][state]},
            quiet=silent[root],
            problems=len(found := problems.get(root, [])),
            exit=max([each.exit for each in found] + [state.exit for state in states.get(root, ())], default=0),
            first=told.trouble(found[0]) if found else None,
        )
        for root in sorted({**states, **problems}, key=forest.birth)  # who is named first has the shorter name
    }


def _root(forest: Forest, handle: Handle, known: dict[Handle, Handle]) -> Handle:
    path, at = [], handle
    while at not in known and (above := forest.parent(at)) is not None:
        path.append(at)
        at = above
    root = known.setdefault(at, at)
    known.update(dict.fromkeys(path, root))
    return root


def _is_counted(forest: Forest, root: Handle, counted: Counted) -> bool:
    if counted is everything:
        return True
    origins = forest.delegation(root).origins
    return not origins or any(counted(origin.name) for origin in origins)


def _is_told(tally: Tally) -> bool:
    """Whether there is more in the tree than what ended badly some time ago."""
    return tally.problems > 0 or any(state in tally.states for state in UNENDED)


def _place(forest: Forest, tally: Tally, root: Handle) -> tuple[int, int, bool, int, str]:
    """Those that press come first, then those that began last, in whatever order they were read."""
    is_unknown, began, id = forest.birth(root)
    return (*(tally.first.key if tally.first is not None else (len(URGENCIES), 0)), is_unknown, -began, id)


class _Teller:
    """Says who and what in words that can do no harm."""

    def __init__(self, assessments: Assessments, *, masked: bool) -> None:
        self._assessments, self._forest = assessments, assessments.forest
        self._projects = Projects()
        self._hide: Hide = hiding(masked)

    def session(self, root: Handle, tally: Tally) -> SessionStatus:
        facts = self._forest.delegation(root)
        return SessionStatus(
            id=self._line(facts.id),
            also=tuple(dict.fromkeys(self._line(ref) for _, ref in facts.refs if ref != facts.id))[:IDS],
            product=self._line(facts.product or "", _WORD),
            name=self._line(called(facts)),
            folder=text.line(folder(self._forest, root) or ""),
            project=self._project(root),
            tally=tally,
            host=self._line(told_host(self._forest, root)),
        )

    def place(self, source: Health) -> UnreadPlace:
        return UnreadPlace(self._line(source.path, _SENTENCE), self._line(source.detail))

    def trouble(self, found: Assessment) -> FirstProblem:
        facts = self._forest.delegation(found.handle)
        return FirstProblem(
            id=self._line(facts.id),
            name=self._line(called(facts)),
            project=self._project(found.handle),
            state=found.state.value,
            urgency=URGENCIES[found.urgency - 1],
            kind=found.kind,
            short=found.short,
            tool=self._line(_tool(found, facts), _WORD),
            sure=found.is_sure,
            since=found.since,
            holds_up=len(found.blocks),
            sentence=self._line(found.sentence(self._now(found)), _SENTENCE),
            host=self._line(told_host(self._forest, found.handle)),
        )

    def _now(self, found: Assessment) -> Millis:
        return self._forest.now_of(found.handle)

    def _project(self, handle: Handle) -> str:
        return self._line(self._projects.name(folder(self._forest, handle)))

    def _line(self, foreign: str, limit: int = _NAME) -> str:
        return text.brief(self._hide(foreign[: 2 * _SENTENCE]), limit)


def _tool(found: Assessment, facts: Delegation) -> str:
    """The tool it stands still in."""
    is_inside = found.verdict in _IN_A_TOOL and facts.phase in (Phase.TOOL, None)
    return facts.tool or "" if is_inside else ""
