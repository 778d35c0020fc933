"""The figures of one moment in the text format of Prometheus.

Labels come from logs, so each is made safe and their number is bounded: agents beyond the most frequent are `other`.
Ids, paths and titles are never labels.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from delegtop import __version__
from delegtop.base import text
from delegtop.base.clock import SECOND
from delegtop.diagnosis.assessment import Urgency
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.verdicts import Kind
from delegtop.model.delegation import Basis, Deadline, Delegation
from delegtop.model.forest import Forest
from delegtop.model.states import ACTIVE, OPEN, State
from delegtop.model.store.ledger import Handle
from delegtop.model.tree.rollup import covered
from delegtop.report import privacy
from delegtop.report.health import Health
from delegtop.report.host_table import HostRow, called, news_age

AGENTS = 30
"""Kinds of agents with a label of their own."""
OTHER, UNKNOWN = "other", "unknown"
_LABEL = 60

Labels = tuple[tuple[str, str], ...]


class MetricFamily(NamedTuple):
    """One metric: all are gauges, since what is known may also become less."""

    name: str
    help: str
    values: Mapping[Labels, float]


class _Kind(NamedTuple):
    """What delegations are counted by."""

    agent: str
    product: str

    @property
    def labels(self) -> Labels:
        return ("agent", self.agent), ("product", self.product)


def lines(
    forest: Forest,
    sources: Sequence[Health],
    *,
    agents: int = AGENTS,
    masked: bool = True,
    hosts: Sequence[HostRow] = (),
) -> Iterator[str]:
    """The exposition: HELP and TYPE of each metric, then its samples. `hosts` are those that were asked."""
    counted = _Count(forest, agents, masked).families()
    for family in (*counted, *_health(sources), *_hosts(forest, hosts), *_self(forest)):
        yield f"# HELP delegtop_{family.name} {family.help}"
        yield f"# TYPE delegtop_{family.name} gauge"
        for labels, value in family.values.items():
            yield f"delegtop_{family.name}{_braces(labels)} {_number(value)}"


class _Count:
    """One pass over all delegations."""

    def __init__(self, forest: Forest, agents: int, masked: bool) -> None:
        self._forest, self._assessments = forest, Assessments(forest)
        self._assessments.update()
        self._hide = privacy.hiding(masked)
        self._names: dict[str, str] = {}
        self.by_state: Counter[Labels] = Counter({_state(state): 0 for state in State})
        self.by_kind: Counter[Labels] = Counter()
        self.verdicts: Counter[Labels] = Counter({(("verdict", kind.value),): 0 for kind in Kind})
        self.problems: Counter[Labels] = Counter({_urgency(each): 0 for each in Urgency if each.problem})
        self.missed: Counter[Labels] = Counter({(("basis", b.value),): 0 for b in Basis if b is not Basis.USUAL})
        self.ages: dict[Labels, float] = {}
        self.silences: dict[Labels, float] = {}
        self.tokens: Counter[Labels] = Counter()
        self.cost: dict[Labels, float] = {}
        self.estimated: dict[Labels, float] = {}
        self._covered = covered(forest)
        self.reviews = 0
        facts = [forest.delegation(handle) for handle in range(len(forest))]
        kinds = Counter(self._kind(each) for each in facts)
        own = {kind for kind, _ in sorted(kinds.items(), key=lambda item: (-item[1], item[0]))[:agents]}
        for handle, each in enumerate(facts):
            kind = self._kind(each)
            self._take(handle, each, kind if kind in own else _Kind(OTHER, OTHER))

    def _kind(self, facts: Delegation) -> _Kind:
        command = f"/{facts.command.lstrip('/')}" if facts.command else UNKNOWN
        return _Kind(self._safe(facts.agent or command), self._safe(facts.product or "delegation-protocol"))

    def _safe(self, name: str) -> str:
        if name not in self._names:
            self._names[name] = text.line(self._hide(name[: 2 * _LABEL]), _LABEL)
        return self._names[name]

    def _take(self, handle: Handle, facts: Delegation, kind: _Kind) -> None:
        forest, state, now = self._forest, self._forest.state(handle), self._forest.now_of(handle)
        self.by_state[_state(state)] += 1
        self.by_kind[(*kind.labels, *_state(state))] += 1
        if facts.tokens is not None:
            self.tokens[kind.labels] += facts.tokens
        if facts.cost is not None:
            self._pay(handle, facts.cost, kind, is_estimate=facts.cost_estimated)
        self.reviews += forest.needs_review(handle)
        if _missed(facts, state, deadline := forest.deadline(handle), now) and deadline:
            self.missed[(("basis", deadline.basis.value),)] += 1
        found = self._assessments.of(handle)
        if found.verdict is not None:
            self.verdicts[(("verdict", found.verdict.value),)] += 1
        if found.problem:
            self.problems[_urgency(found.urgency)] += 1
        if state in ACTIVE:
            _oldest(self.ages, kind.labels, facts.started_at, now)
            _oldest(self.silences, kind.labels, facts.heard_at, now)

    def _pay(self, handle: Handle, cost: float, kind: _Kind, *, is_estimate: bool) -> None:
        """Told and estimated dollars apart, so that they may be added: none of them is in the other."""
        if not is_estimate or handle not in self._covered:
            sums = self.estimated if is_estimate else self.cost
            sums[kind.labels] = sums.get(kind.labels, 0.0) + cost

    def families(self) -> Iterator[MetricFamily]:
        yield MetricFamily("delegations", "Delegations by state.", self.by_state)
        yield MetricFamily("agent_delegations", "Delegations by agent, product and state.", self.by_kind)
        yield MetricFamily("verdicts", "Open delegations that are not plainly running, by verdict.", self.verdicts)
        yield MetricFamily("problems", "Delegations that somebody should look at, by urgency.", self.problems)
        yield MetricFamily(
            "needs_review", "Delegations that a person must look at before they go on.", {(): self.reviews}
        )
        yield MetricFamily(
            "deadlines_missed", "Delegations that passed their deadline, by where it came from.", self.missed
        )
        yield MetricFamily(
            "oldest_open_age_seconds", "The time since the start of the oldest open delegation.", self.ages
        )
        yield MetricFamily("oldest_silence_seconds", "The longest time since an open one was heard of.", self.silences)
        yield MetricFamily("tokens", "Tokens used, as far as the logs tell.", self.tokens)
        yield MetricFamily("cost_dollars", "US dollars spent, as far as the logs tell.", self.cost)
        yield MetricFamily(
            "estimated_cost_dollars",
            "US dollars by list prices, where no log tells them, nor that of the session above.",
            self.estimated,
        )


def _urgency(urgency: Urgency) -> Labels:
    return ("urgency", str(int(urgency))), ("means", urgency.words)


def _state(state: State) -> Labels:
    return (("state", state.value),)


def _missed(facts: Delegation, state: State, deadline: Deadline | None, now: int) -> bool:
    """It ended after a firm deadline, or is open past it; what timed out missed it by its own account."""
    if deadline is None or not deadline.is_firm:
        return False
    if state is State.TIMEOUT:
        return True
    until = now if state in OPEN else facts.ended_at
    return until is not None and until > deadline.at


def _oldest(ages: dict[Labels, float], labels: Labels, since: int | None, now: int) -> None:
    if since is not None:
        ages[labels] = max(ages.get(labels, 0.0), (now - since) / SECOND)


def _health(sources: Sequence[Health]) -> Iterator[MetricFamily]:
    statuses = Counter((*_format(source), ("status", source.status)) for source in sources)
    yield MetricFamily("sources", "Sources by format and status.", statuses)
    yield MetricFamily("records", "Records read.", _sum(sources, lambda source: source.records))
    yield MetricFamily(
        "unreadable_records", "Records that could not be read.", _sum(sources, lambda source: source.unreadable)
    )
    yield MetricFamily(
        "deviations", "Things in records that do not fit their format.", _sum(sources, lambda s: s.deviations)
    )


def _format(source: Health) -> Labels:
    return (("format", source.dialect or "none"),)


def _sum(sources: Iterable[Health], figure: Callable[[Health], int]) -> Counter[Labels]:
    sums: Counter[Labels] = Counter()
    for source in sources:
        sums[_format(source)] += figure(source)
    return sums


def _hosts(forest: Forest, hosts: Sequence[HostRow]) -> Iterator[MetricFamily]:
    """Named by whoever asks for them, so their number is bounded."""
    if not hosts:
        return
    others = [host for host in hosts if host.name]
    yield MetricFamily(
        "host_live",
        "Whether another machine tells what happens there; what is known of one that does not is how it was.",
        {(("host", called(host)),): float(str(host.state) == "live") for host in others},
    )
    yield MetricFamily(
        "host_news_age_seconds",
        "How old the news of another machine is.",
        {(("host", called(host)),): news_age(forest, host) / SECOND for host in others if host.news_at is not None},
    )


def _self(forest: Forest) -> Iterator[MetricFamily]:
    yield MetricFamily(
        "observed_timestamp_seconds", "The moment these figures are for.", {(): forest.shown_at / SECOND}
    )
    yield MetricFamily("build_info", "The version of delegtop.", {(("version", __version__),): 1})


def _braces(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{escaped(value)}"' for name, value in labels) + "}"


def escaped(value: str) -> str:
    """A label's value as the format wants it, with nothing in it that a terminal would act on."""
    return text.line(value).replace("\\", "\\\\").replace('"', '\\"')


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(round(float(value), 6))
