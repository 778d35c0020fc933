"""Gathering an incident: of all that is known at a moment, what a person who gets the report needs to see."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from delegtop import __version__
from delegtop.base.clock import iso
from delegtop.base.secrets import mask
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.case import unseen
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.model import measures
from delegtop.model.delegation import Delegation
from delegtop.model.events import Event as Told
from delegtop.model.forest import Forest
from delegtop.model.states import PROBLEMS
from delegtop.model.store.ledger import Handle
from delegtop.model.tree.rollup import NOTHING, Dollars, Totals, total
from delegtop.report import privacy
from delegtop.report.health import Health
from delegtop.report.incident import incident_words as words
from delegtop.report.incident.incident_details import Existence, IncidentDetails, Raw
from delegtop.report.incident.incident_report import SCHEMA_VERSION, Incident, LeftOut, Node
from delegtop.report.incident.incident_timeline import IncidentJournal, timeline
from delegtop.report.projects import Projects
from delegtop.report.tree_json import found_of, source_of
from delegtop.report.walk import rows, with_ancestors

TROUBLES = 60
NODES = 400
FINDINGS = 100
_GRAVE = frozenset({Severity.ERROR, Severity.WARNING})

RECALLED = 10
"""Of so many delegations, the worst, the last signs of life are told too."""

Recall = Callable[[Delegation], Iterable[Told]]
"""What the last lines about a delegation say, read again."""


def gather(
    forest: Forest,
    statuses: Sequence[Health],
    journal: IncidentJournal,
    raw: Raw,
    *,
    only: Handle | None = None,
    recall: Recall = lambda _: (),
    existence: Existence = lambda _: unseen,
) -> Incident:
    """The incident at `forest.shown_at`; with `only`, of that delegation with all above and below it."""
    gathering = _Gathering(forest, raw, existence, only)
    for handle in gathering.worst[:RECALLED]:
        journal.remember(recall(forest.delegation(handle)))
    return gathering.incident(statuses, journal)


class _Gathering:
    def __init__(self, forest: Forest, raw: Raw, existence: Existence, only: Handle | None) -> None:
        self.forest, self.only = forest, only
        self.shown = list(_scope(forest, only))
        self.assessments = Assessments(forest)
        self.assessments.update()
        self.assessed = {handle: self.assessments.of(handle) for handle in self.shown}
        self.worst = [each.handle for each in self.assessments.problems() if each.handle in self.assessed]
        self.troubled = [*self.worst, *(handle for handle in self.shown if self._is_drawn_in(handle))]
        self._in_trouble = frozenset(self.troubled)
        projects = Projects()
        for handle in self.shown:
            projects.name(measures.folder(forest, handle))
        self.details = IncidentDetails(self.assessments, self.assessed.__getitem__, raw, existence, projects)

    def _is_drawn_in(self, handle: Handle) -> bool:
        """Whether nothing is the matter with it but that it waits for somebody in trouble, or handed that on."""
        each = self.assessed[handle]
        if each.problem:
            return False
        if each.waits_on is not None:
            return self.assessments.of(each.waits_on).problem
        return each.state in PROBLEMS

    def _is_now(self, handle: Handle) -> bool:
        return self.assessed[handle].is_now

    def incident(self, statuses: Sequence[Health], journal: IncidentJournal) -> Incident:
        forest = self.forest
        moments, missed = timeline(forest, journal, set(self.shown), with_ancestors(forest, self.troubled))
        tree = list(self._tree())
        others = list(self._other_findings())
        used = self._used()
        return Incident(
            schema_version=SCHEMA_VERSION,
            program=f"delegtop {__version__}",
            at=iso(forest.shown_at),
            only=None if self.only is None else forest.delegation(self.only).id,
            headline=mask(self._headline()),
            counts=dict(Counter(forest.state(handle) for handle in self.shown).most_common()),
            tokens=used.tokens,
            cost=None if used.cost is None else round(used.cost, 9),
            cost_estimated=used.is_estimate,
            troubles=[self.details.trouble(handle) for handle in self.troubled[:TROUBLES]],
            timeline=moments,
            tree=tree,
            findings=[found_of(privacy.masked_finding(finding)) for finding in others[:FINDINGS]],
            left_out=LeftOut(
                troubles=max(len(self.troubled) - TROUBLES, 0),
                timeline=missed,
                tree=len(self.shown) - len(tree),
                findings=max(len(others) - FINDINGS, 0),
            ),
            sources=[source_of(status) for status in statuses],
        )

    def _used(self) -> Totals:
        """What all of them used; with `only`, that one and all below it."""
        forest = self.forest
        tops = [each for each in self.shown if forest.parent(each) is None] if self.only is None else [self.only]
        found = [total(forest, each) for each in tops]
        tokens = [each.tokens for each in found if each.tokens is not None]
        paid = sum((Dollars(each.cost, each.is_estimate) for each in found), NOTHING)
        return Totals(sum(tokens) if tokens else None, paid.cost, len(self.shown), paid.is_estimate)

    def _headline(self) -> str:
        now = [each for each in self.worst if self._is_now(each)]
        waiting = sum(self.assessed[handle].waits_on is not None for handle in self.troubled[len(self.worst) :])
        begin = words.in_trouble(len(self.shown), len(now), waiting, self._earlier())
        if not now:
            return begin
        name, told = measures.label(self.forest.delegation(now[0])), self.details.message(now[0])
        where = f" in {project}" if (project := self.details.project(now[0])) else ""
        where += f" on {host}" if (host := measures.told_host(self.forest, now[0])) else ""
        return f"{begin} First of all {name}{where}: {told[:1].lower()}{told[1:]}"

    def _earlier(self) -> str:
        """The troubles that are over."""
        return words.kinds(Counter(self.assessed[each].kind for each in self.worst if not self._is_now(each)))

    def _tree(self) -> Iterator[Node]:
        """The delegations there is room for: those in trouble and all above them, then the others in their order."""
        kept = with_ancestors(self.forest, self.troubled[:NODES])
        for handle in self.shown:
            if len(kept) >= NODES:
                break
            kept |= with_ancestors(self.forest, [handle])
        wanted = kept & set(self.shown)
        for row in rows(self.forest, wanted):
            yield self.details.node(row.handle, row.level, in_trouble=row.handle in self._in_trouble)

    def _other_findings(self) -> Iterator[Finding]:
        """What is wrong with those that are not in trouble."""
        troubled = set(self.troubled[:TROUBLES])
        for handle in self.shown:
            if handle not in troubled:
                yield from (finding for finding in self.details.findings(handle) if finding.severity in _GRAVE)


def _scope(forest: Forest, only: Handle | None) -> Iterator[Handle]:
    """All delegations, or one with everything above and below it; parents before children."""
    if only is None:
        yield from forest.walk()
        return
    yield from sorted(with_ancestors(forest, [only]) - {only}, key=forest.level)
    pending = [only]
    while pending:
        handle = pending.pop()
        yield handle
        pending += reversed(forest.children(handle))
