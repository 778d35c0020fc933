"""Gathering an incident: of all that is known at a moment, what a person who gets the report needs to see."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from delegtop import __version__
from delegtop.base.clock import Millis, iso
from delegtop.base.origin import Origin
from delegtop.base.secrets import mask
from delegtop.diagnosis.assessment import Assessment
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.case import Case, Exists, unseen
from delegtop.diagnosis.engine import diagnose
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.model import measures, recovery_hints
from delegtop.model.delegation import Delegation
from delegtop.model.events import Event as Told
from delegtop.model.forest import Forest
from delegtop.model.states import PROBLEMS
from delegtop.model.store.ledger import Handle
from delegtop.model.tree.rollup import NOTHING, Dollars, Totals, total
from delegtop.report import privacy
from delegtop.report.health import Health
from delegtop.report.incident.incident_report import (
    SCHEMA_VERSION,
    Excerpt,
    Incident,
    Judgement,
    LeftOut,
    Node,
    Product,
    Ref,
    Trouble,
    Words,
)
from delegtop.report.incident.incident_timeline import IncidentJournal, timeline
from delegtop.report.projects import Projects
from delegtop.report.tree_json import Place, Wrong, found_of, source_of
from delegtop.report.walk import rows, with_ancestors

TROUBLES = 60
NODES = 400
FINDINGS = 100
EXCERPTS = 8
"""For each delegation in trouble."""
EXCERPT = 1_000
"""Characters of a line that are shown; secrets in it are looked for much further."""
_MASKED_AT_ONCE = 64 * 1024
_ABOVE = 50
_GRAVE = frozenset({Severity.ERROR, Severity.WARNING})

RECALLED = 10
"""Of so many delegations, the worst, the last signs of life are told too."""

Raw = Callable[[Origin], bytes | None]
Recall = Callable[[Delegation], Iterable[Told]]
"""What the last lines about a delegation say, read again."""
Existence = Callable[[Delegation], Exists]
"""For a delegation: whether the files it says it made are there."""


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
        self.forest, self.raw, self.existence, self.only = forest, raw, existence, only
        self.shown = list(_scope(forest, only))
        self.assessments = Assessments(forest)
        self.assessed = {handle: self.assessments.of(handle) for handle in self.shown}
        problems = (each for each in self.assessed.values() if each.problem)
        self.worst = [each.handle for each in sorted(problems, key=lambda each: each.key)]
        self.blockers = {handle for handle in self.worst if self.assessed[handle].blocks}
        self.troubled = [*self.worst, *(handle for handle in self.shown if self._is_drawn_in(handle))]
        self._in_trouble = frozenset(self.troubled)
        self.projects = Projects()
        for handle in self.shown:
            self.projects.name(measures.folder(forest, handle))

    def _is_drawn_in(self, handle: Handle) -> bool:
        """Whether nothing is the matter with it but that it waits for somebody in trouble, or handed that on."""
        each = self.assessed[handle]
        if each.problem:
            return False
        if each.waits_on is not None:
            return self.assessments.of(each.waits_on).problem
        return each.state in PROBLEMS

    def _project(self, handle: Handle) -> str | None:
        name = self.projects.name(measures.folder(self.forest, handle))
        return mask(name) if name and len(self.projects) > 1 else None

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
            troubles=[self._trouble(handle) for handle in self.troubled[:TROUBLES]],
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
        count = len(self.shown)
        among = f"{count} delegation{'' if count == 1 else 's'}"
        if not self.worst:
            return f"None of {among} is in trouble." if count else "There is no delegation in these sources."
        now, earlier = [each for each in self.worst if self._is_now(each)], self._earlier()
        if not now:
            return f"Nothing of {among} is stuck now. Earlier: {earlier}."
        waiting = sum(self.assessed[handle].waits_on is not None for handle in self.troubled[len(self.worst) :])
        begin = f"{len(now)} of {among} {'is' if len(now) == 1 else 'are'} in trouble"
        begin += f", and {waiting} wait{'s' if waiting == 1 else ''} for others" if waiting else ""
        begin += f"; earlier: {earlier}" if earlier else ""
        name, told = measures.label(self.forest.delegation(now[0])), self._message(now[0])
        where = f" in {project}" if (project := self._project(now[0])) else ""
        return f"{begin}. First of all {name}{where}: {told[:1].lower()}{told[1:]}"

    def _earlier(self) -> str:
        """`5 lost, 7 failed`: the troubles that are over."""
        kinds = Counter(self.assessed[handle].kind for handle in self.worst if not self._is_now(handle))
        return ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())

    def _message(self, handle: Handle) -> str:
        """What is wrong with it, in a sentence."""
        return self.assessed[handle].sentence(self.forest.now_of(handle))

    # -- one delegation in trouble -----------------------------------------------------------------------------------

    def _trouble(self, handle: Handle) -> Trouble:
        forest = self.forest
        facts = privacy.masked(forest.delegation(handle))
        assessed, deadline = self.assessed[handle], forest.deadline(handle)
        found, exists = self._findings(handle), self.existence(facts)
        above = list(self._above(handle))
        steps = self.assessments.todo(handle, found) if assessed.problem else ()
        command = next((step.command for step in steps if step.command), None)
        return Trouble(
            id=facts.id,
            name=measures.label(facts),
            title=facts.title,
            project=self._project(handle),
            path=[self._ref(one) for one in reversed(above)],
            state=forest.state(handle),
            message=mask(self._message(handle)),
            verdict=_judgement(assessed),
            urgency=assessed.urgency,
            kind=assessed.kind,
            todo=[mask(step.words) for step in steps],
            command=mask(command) if command else None,
            root_blocker=handle in self.blockers,
            blocks=[self._ref(one) for one in assessed.blocks],
            waits_on=None if assessed.waits_on is None else self._ref(assessed.waits_on),
            started_at=_time(facts.started_at),
            last_heard_at=_time(facts.heard_at),
            ended_at=_time(measures.ended_at(facts)),
            deadline=_time(deadline.at) if deadline else None,
            deadline_note=deadline.note if deadline else None,
            doing=facts.doing,
            tool=facts.tool,
            errors=[Wrong(e.message, e.type, e.code, e.recoverable, e.recommendation, e.made_by) for e in facts.errors],
            artifacts=[Product(made.path, made.type, made.summary, exists(made.path)) for made in facts.artifacts],
            own_words=[
                Words(hint.title, hint.text, _place(hint.origin))
                for hint in recovery_hints.hints(facts)
                if hint.by_agent
            ],
            findings=[found_of(privacy.masked_finding(one)) for one in found if one.by != "agent"],
            evidence=list(self._evidence(facts, assessed, found)),
        )

    def _above(self, handle: Handle) -> Iterator[Handle]:
        """Its ancestors, the nearest first."""
        parent = self.forest.parent(handle)
        for _ in range(_ABOVE):
            if parent is None:
                return
            yield parent
            parent = self.forest.parent(parent)

    def _ref(self, handle: Handle) -> Ref:
        facts = self.forest.delegation(handle)
        return Ref(facts.id, mask(measures.label(facts)))

    def _findings(self, handle: Handle) -> tuple[Finding, ...]:
        return diagnose(Case(self.forest, handle, self.existence(self.forest.delegation(handle))))

    def _evidence(self, facts: Delegation, assessed: Assessment, found: Sequence[Finding]) -> Iterator[Excerpt]:
        """The lines that say so, each once: those of the verdict first, then its life, then the findings."""
        shows: dict[Origin, list[str]] = {}
        for origin in assessed.evidence if assessed.verdict is not None else ():
            shows.setdefault(origin, []).append("verdict")
        life = (("start", facts.started_origin), ("last sign of life", facts.heard_origin), ("end", facts.ended_origin))
        for word, place in life:
            if place is not None:
                shows.setdefault(place, []).append(word)
        for finding in found:
            for origin in finding.evidence:
                if finding.rule not in shows.setdefault(origin, []):
                    shows[origin].append(finding.rule)
        for origin in list(shows)[:EXCERPTS]:
            yield excerpt(origin, shows[origin], self.raw)

    # -- all of them -------------------------------------------------------------------------------------------------

    def _tree(self) -> Iterator[Node]:
        """The delegations there is room for: those in trouble and all above them, then the others in their order."""
        kept = with_ancestors(self.forest, self.troubled[:NODES])
        for handle in self.shown:
            if len(kept) >= NODES:
                break
            kept |= with_ancestors(self.forest, [handle])
        wanted = kept & set(self.shown)
        for row in rows(self.forest, wanted):
            yield self._node(row.handle, row.level)

    def _node(self, handle: Handle, level: int) -> Node:
        forest = self.forest
        facts = privacy.masked(forest.delegation(handle))
        deadline, parent = forest.deadline(handle), forest.parent(handle)
        took = measures.age(forest, handle, facts)
        return Node(
            id=facts.id,
            name=measures.label(facts),
            title=facts.title,
            project=self._project(handle),
            parent=None if parent is None else forest.delegation(parent).id,
            link=forest.link(handle),
            level=level,
            state=forest.state(handle),
            started_at=_time(facts.started_at),
            ended_at=_time(measures.ended_at(facts)),
            last_heard_at=_time(facts.heard_at),
            deadline=_time(deadline.at) if deadline and deadline.is_firm else None,
            deadline_from=deadline.basis if deadline and deadline.is_firm else None,
            took_seconds=None if took is None else took / 1_000,
            cost=facts.cost,
            cost_estimated=facts.cost_estimated,
            remark=mask(measures.remark(forest, handle, facts)),
            in_trouble=handle in self._in_trouble,
            root_blocker=handle in self.blockers,
        )

    def _other_findings(self) -> Iterator[Finding]:
        """What is wrong with those that are not in trouble."""
        troubled = set(self.troubled[:TROUBLES])
        for handle in self.shown:
            if handle not in troubled:
                yield from (finding for finding in self._findings(handle) if finding.severity in _GRAVE)


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


def excerpt(origin: Origin, shows: Collection[str], raw: Raw) -> Excerpt:
    """The line at that place, masked before it is cut: half a secret would not be known for one."""
    place, data = Place(origin.name, origin.line), raw(origin)
    if data is None:
        return Excerpt(place, list(shows), None, cut=False)
    text = mask(data[:_MASKED_AT_ONCE].decode("utf-8", "replace")).rstrip("\r\n")
    return Excerpt(place, list(shows), text[:EXCERPT], cut=len(text) > EXCERPT or len(data) > _MASKED_AT_ONCE)


def _judgement(assessed: Assessment) -> Judgement | None:
    if assessed.verdict is None:
        return None
    return Judgement(assessed.verdict, assessed.certainty, _time(assessed.since))


def _time(at: Millis | None) -> str | None:
    return None if at is None else iso(at)


def _place(origin: Origin | None) -> Place | None:
    return None if origin is None else Place(origin.name, origin.line)
