"""Gathering an incident: of all that is known at a moment, what a person who gets the report needs to see."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from delegtop import __version__
from delegtop.clock import Millis, iso
from delegtop.diagnosis.engine import Exists, diagnose
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.verdicts import HARMLESS, Verdict, root_blocker, verdict
from delegtop.model import measures, recovery
from delegtop.model.delegation import PROBLEMS, Delegation
from delegtop.model.events import Event as Told
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle
from delegtop.origin import Origin
from delegtop.report import privacy
from delegtop.report.health import Health
from delegtop.report.incident import (
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
from delegtop.report.incident_timeline import Journal, timeline
from delegtop.report.tree_json import Place, Wrong, found_of, source_of
from delegtop.report.walk import rows, with_ancestors
from delegtop.secrets import mask

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


def _cannot_tell(_path: str) -> bool | None:
    return None


def gather(
    forest: Forest,
    statuses: Sequence[Health],
    journal: Journal,
    raw: Raw,
    *,
    only: Handle | None = None,
    recall: Recall = lambda _: (),
    existence: Existence = lambda _: _cannot_tell,
) -> Incident:
    """The incident at `forest.now`; with `only`, of that delegation with all above and below it."""
    gathering = _Gathering(forest, raw, existence, only)
    for handle in gathering.worst[:RECALLED]:
        journal.remember(recall(forest.delegation(handle)))
    return gathering.incident(statuses, journal)


class _Gathering:
    def __init__(self, forest: Forest, raw: Raw, existence: Existence, only: Handle | None) -> None:
        self.forest, self.raw, self.existence, self.only = forest, raw, existence, only
        self.shown = list(_scope(forest, only))
        self.verdicts = {handle: verdict(forest, handle, forest.now) for handle in self.shown}
        waiting = (handle for handle in self.shown if self._waits_on(handle) is not None)
        self.blockers = {end for handle in waiting if (end := root_blocker(forest, handle)) is not None}
        self.troubled = sorted(filter(self._in_trouble, self.shown), key=self._rank)

    @property
    def worst(self) -> list[Handle]:
        """Those in trouble but for who only waits for them."""
        return [handle for handle in self.troubled if not self._is_harmless(handle)]

    def _is_harmless(self, handle: Handle) -> bool:
        judged = self.verdicts[handle]
        return judged is not None and judged.kind in HARMLESS

    def _in_trouble(self, handle: Handle) -> bool:
        judged = self.verdicts[handle]
        return self.forest.state(handle) in PROBLEMS or judged is not None or self.forest.needs_review(handle)

    def _rank(self, handle: Handle) -> tuple[bool, bool, int, tuple[bool, int, str]]:
        harmless = self._is_harmless(handle)
        return handle not in self.blockers, harmless, measures.severity(self.forest, handle), self.forest.birth(handle)

    def incident(self, statuses: Sequence[Health], journal: Journal) -> Incident:
        forest = self.forest
        moments, missed = timeline(forest, journal, set(self.shown), with_ancestors(forest, self.troubled))
        tree = list(self._tree())
        others = list(self._other_findings())
        return Incident(
            schema_version=SCHEMA_VERSION,
            program=f"delegtop {__version__}",
            at=iso(forest.now),
            only=None if self.only is None else forest.delegation(self.only).id,
            headline=mask(self._headline()),
            counts=dict(Counter(forest.state(handle) for handle in self.shown).most_common()),
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

    def _headline(self) -> str:
        count = len(self.shown)
        among = f"{count} delegation{'' if count == 1 else 's'}"
        if not self.troubled:
            return f"None of {among} is in trouble." if count else "There is no delegation in these sources."
        bad = len(self.worst)
        harmless = len(self.troubled) - bad
        waiting = f", and {harmless} wait{'s' if harmless == 1 else ''} for others" if harmless else ""
        worst = self.troubled[0]
        name = measures.label(self.forest.delegation(worst))
        begin = f"{bad} of {among} {'is' if bad == 1 else 'are'} in trouble{waiting}."
        told = self._message(worst)
        return f"{begin} First of all {name}: {told[:1].lower()}{told[1:]}"

    def _message(self, handle: Handle) -> str:
        """What is wrong with it, in a sentence."""
        judged, forest = self.verdicts[handle], self.forest
        if judged is not None:
            return judged.message
        facts, state = forest.delegation(handle), forest.state(handle)
        review = next((hint.text for hint in recovery.hints(facts) if hint.title == "needs review"), None)
        if review is not None:
            return f"A person must look before it goes on: {review}"
        remark = measures.remark(forest, handle, facts)
        return f"It ended {state}: {remark}" if remark else f"It ended {state} and does not say why."

    # -- one delegation in trouble -----------------------------------------------------------------------------------

    def _trouble(self, handle: Handle) -> Trouble:
        forest = self.forest
        facts = privacy.masked(forest.delegation(handle))
        judged, deadline = self.verdicts[handle], forest.deadline(handle)
        found, exists = self._findings(handle), self.existence(facts)
        above = list(self._above(handle))
        waits = self._waits_on(handle)
        return Trouble(
            id=facts.id,
            name=measures.label(facts),
            path=[self._ref(one) for one in reversed(above)],
            state=forest.state(handle),
            message=mask(self._message(handle)),
            verdict=_judgement(judged),
            root_blocker=handle in self.blockers,
            blocks=[self._ref(one) for one in above if self._waits_on(one) == handle],
            waits_on=None if waits is None else self._ref(waits),
            started_at=_time(facts.started_at),
            last_heard_at=_time(facts.heard_at),
            ended_at=_time(facts.ended_at),
            deadline=_time(deadline.at) if deadline else None,
            deadline_note=deadline.note if deadline else None,
            doing=facts.doing,
            tool=facts.tool,
            errors=[Wrong(e.message, e.type, e.code, e.recoverable, e.recommendation) for e in facts.errors],
            artifacts=[Product(made.path, made.type, made.summary, exists(made.path)) for made in facts.artifacts],
            own_words=[Words(hint.title, hint.text, _place(hint.origin)) for hint in recovery.hints(facts)],
            findings=[found_of(privacy.masked_finding(one)) for one in found if one.by != "agent"],
            evidence=list(self._evidence(facts, judged, found)),
        )

    def _waits_on(self, handle: Handle) -> Handle | None:
        judged = self.verdicts.get(handle)
        return None if judged is None else judged.waits_on

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
        return Ref(facts.id, measures.label(facts))

    def _findings(self, handle: Handle) -> tuple[Finding, ...]:
        return diagnose(self.forest, handle, self.forest.now, self.existence(self.forest.delegation(handle)))

    def _evidence(self, facts: Delegation, judged: Verdict | None, found: Sequence[Finding]) -> Iterator[Excerpt]:
        """The lines that say so, each once: those of the verdict first, then its life, then the findings."""
        shows: dict[Origin, list[str]] = {}
        for origin in judged.evidence if judged is not None else ():
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
        for row in rows(self.forest, wanted, "start"):
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
            parent=None if parent is None else forest.delegation(parent).id,
            link=forest.link(handle),
            level=level,
            state=forest.state(handle),
            started_at=_time(facts.started_at),
            ended_at=_time(facts.ended_at),
            last_heard_at=_time(facts.heard_at),
            deadline=_time(deadline.at) if deadline and deadline.is_firm else None,
            deadline_from=deadline.basis if deadline and deadline.is_firm else None,
            took_seconds=None if took is None else took / 1_000,
            remark=mask(measures.remark(forest, handle, facts)),
            in_trouble=self._in_trouble(handle),
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
    place, data = Place(origin.source, origin.line), raw(origin)
    if data is None:
        return Excerpt(place, list(shows), None, cut=False)
    text = mask(data[:_MASKED_AT_ONCE].decode("utf-8", "replace")).rstrip("\r\n")
    return Excerpt(place, list(shows), text[:EXCERPT], cut=len(text) > EXCERPT or len(data) > _MASKED_AT_ONCE)


def _judgement(judged: Verdict | None) -> Judgement | None:
    return None if judged is None else Judgement(judged.kind, judged.certainty, _time(judged.since))


def _time(at: Millis | None) -> str | None:
    return None if at is None else iso(at)


def _place(origin: Origin | None) -> Place | None:
    return None if origin is None else Place(origin.source, origin.line)
