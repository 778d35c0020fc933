"""All there is to tell of one delegation, gathered when somebody asks for it: reading lines again and asking every rule
takes a while, so of many only the few that matter are told so."""

from collections.abc import Callable, Collection, Iterator, Sequence

from delegtop.base.clock import Millis, iso
from delegtop.base.origin import Origin
from delegtop.base.secrets import mask, mask_beginning
from delegtop.diagnosis.assessment import Assessment
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.case import Case, Exists
from delegtop.diagnosis.engine import diagnose
from delegtop.diagnosis.finding import Finding
from delegtop.model import measures, recovery_hints
from delegtop.model.delegation import Delegation
from delegtop.model.store.ledger import Handle
from delegtop.report import privacy
from delegtop.report.incident.incident_report import Excerpt, Judgement, Node, Product, Ref, Trouble, Words
from delegtop.report.projects import Projects
from delegtop.report.tree_json import Place, Wrong, found_of

EXCERPTS = 8
"""For each delegation."""
EXCERPT = 1_000
"""Characters of a line that are shown; secrets in it are looked for much further."""
_MASKED_AT_ONCE = 64 * 1024
_ABOVE = 50

Assessed = Callable[[Handle], Assessment]
Raw = Callable[[Origin], bytes | None]
Existence = Callable[[Delegation], Exists]
"""For a delegation: whether the files it says it made are there."""


class IncidentDetails:
    """Asked about one delegation after the other."""

    def __init__(
        self, assessments: Assessments, assessed: Assessed, raw: Raw, existence: Existence, projects: Projects
    ) -> None:
        self._assessments, self._forest, self._of = assessments, assessments.forest, assessed
        self._raw, self._existence, self._projects = raw, existence, projects

    def project(self, handle: Handle) -> str | None:
        """Where it works, if there are several places."""
        name = self._projects.name(measures.folder(self._forest, handle))
        return mask(name) if name and len(self._projects) > 1 else None

    def message(self, handle: Handle) -> str:
        """What is wrong with it, in a sentence."""
        return self._of(handle).sentence(self._forest.now_of(handle))

    def findings(self, handle: Handle) -> tuple[Finding, ...]:
        exists, ends = self._existence(self._forest.delegation(handle)), self._assessments.path_ends
        return diagnose(Case(self._forest, handle, exists, ends=ends))

    def trouble(self, handle: Handle) -> Trouble:
        forest = self._forest
        facts = privacy.masked(forest.delegation(handle))
        assessed, deadline = self._of(handle), forest.deadline(handle)
        found, exists = self.findings(handle), self._existence(facts)
        above = list(self._above(handle))
        steps = self._assessments.todo(handle, found) if assessed.problem else ()
        command = next((step.command for step in steps if step.command), None)
        return Trouble(
            id=facts.id,
            name=mask(measures.label(facts)),
            title=facts.title,
            project=self.project(handle),
            host=measures.told_host(forest, handle) or None,
            path=[self._ref(one) for one in reversed(above)],
            state=forest.state(handle),
            message=mask(self.message(handle)),
            verdict=_judgement(assessed),
            urgency=assessed.urgency,
            kind=assessed.kind,
            todo=[mask(step.words) for step in steps],
            command=mask(command) if command else None,
            root_blocker=is_blocker(assessed),
            blocks=[self._ref(one) for one in assessed.blocks],
            waits_on=None if assessed.waits_on is None else self._ref(assessed.waits_on),
            started_at=_time(facts.started_at),
            last_heard_at=_time(facts.heard_at),
            ended_at=_time(measures.ended_at(facts)),
            deadline=_time(deadline.at) if deadline else None,
            deadline_note=deadline.note if deadline else None,
            doing=facts.doing,
            tool=facts.tool and mask(facts.tool),
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

    def node(self, handle: Handle, level: int, *, in_trouble: bool) -> Node:
        """The same as a row of a tree."""
        forest = self._forest
        facts = privacy.masked(forest.delegation(handle))
        deadline, parent = forest.deadline(handle), forest.parent(handle)
        took = measures.age(forest, handle, facts)
        return Node(
            id=facts.id,
            name=mask(measures.label(facts)),
            title=facts.title,
            project=self.project(handle),
            host=measures.told_host(forest, handle) or None,
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
            remark=mask(measures.remark(forest, handle, facts, self._assessments.end_of_path(handle))),
            in_trouble=in_trouble,
            root_blocker=is_blocker(self._of(handle)),
        )

    def _above(self, handle: Handle) -> Iterator[Handle]:
        """Its ancestors, the nearest first."""
        parent = self._forest.parent(handle)
        for _ in range(_ABOVE):
            if parent is None:
                return
            yield parent
            parent = self._forest.parent(parent)

    def _ref(self, handle: Handle) -> Ref:
        facts = self._forest.delegation(handle)
        return Ref(facts.id, mask(measures.label(facts)))

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
            yield excerpt(origin, shows[origin], self._raw)


def is_blocker(found: Assessment) -> bool:
    """Whether it is what the path above it is blocked by."""
    return found.problem and bool(found.blocks)


def excerpt(origin: Origin, shows: Collection[str], raw: Raw) -> Excerpt:
    """The line at that place, masked before it is cut: half a secret would not be known for one."""
    place, data = Place(origin.name, origin.line), raw(origin)
    if data is None:
        return Excerpt(place, list(shows), None, cut=False)
    text = mask_beginning(data[: 2 * _MASKED_AT_ONCE].decode("utf-8", "replace"), _MASKED_AT_ONCE).rstrip("\r\n")
    return Excerpt(place, list(shows), text[:EXCERPT], cut=len(text) > EXCERPT or len(data) > _MASKED_AT_ONCE)


def _judgement(assessed: Assessment) -> Judgement | None:
    if assessed.verdict is None:
        return None
    return Judgement(assessed.verdict, assessed.certainty, _time(assessed.since))


def _time(at: Millis | None) -> str | None:
    return None if at is None else iso(at)


def _place(origin: Origin | None) -> Place | None:
    return None if origin is None else Place(origin.name, origin.line)
