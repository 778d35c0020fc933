"""The figures by agent as tables and a plot, for a terminal or a pipe."""

from collections.abc import Iterable, Iterator, Sequence

from delegtop.base.text import line
from delegtop.report import plot, weekly_trends
from delegtop.report.agent_stats import ENOUGH, Agent, Model, Stats
from delegtop.report.figures import count, dollars, span, table
from delegtop.report.layout import cut

UNKNOWN = "–"
_NAME = 36
_RULES = 4
_MODELS = "What was used of each model, and what that costs by list prices (docs/cost.md)"
_STRIPS = 30
"""Agents that are drawn: those with the most delegations."""


def lines(stats: Stats, width: int, *, ascii_only: bool = False, cuts: bool = True) -> Iterator[str]:
    """The report. What is too wide is cut, unless nobody needs it to be."""
    if not stats.agents:
        yield f"No delegations at {_at(stats)}."
        return
    yield f"{count(stats.delegations, 'delegation')} of {count(len(stats.agents), 'agent')} at {_at(stats)}."
    unknown = "-" if ascii_only else UNKNOWN
    for title, told in (
        ("How long they take, and how they end", _outcomes(stats.agents)),
        (_MODELS, _models(stats.models)),
        ("Timeouts", _timeouts(stats.agents)),
        ("Breaches of contract", _breaches(stats.agents)),
    ):
        if rows := list(told):
            body = [[cell or unknown for cell in row] for row in rows]
            left = (0,) if title is _MODELS else (0, len(rows[0]) - 1)
            yield from ("", title, *table(body, width if cuts else None, left))
    if trends := list(weekly_trends.lines(stats.weeks, width if cuts else None, ascii_only=ascii_only)):
        yield from ("", "By week", *trends)
    signs = plot.ASCII if ascii_only else plot.UNICODE
    if drawn := list(plot.plot(list(_strips(stats.agents)), width, signs)):
        yield from ("", "Durations", *drawn)


def _at(stats: Stats) -> str:
    return stats.at.partition(".")[0] + "Z"


def label(agent: Agent) -> str:
    product = f" ({line(agent.product, 40)})" if agent.product else ""
    return cut(line(agent.agent, 200), _NAME) + product


def _outcomes(agents: Sequence[Agent]) -> Iterator[Sequence[str]]:
    yield "AGENT", "N", "RETURNED", "MEDIAN", "P95", "MAX", "TOKENS", "COST", "OUTCOMES"
    for agent in agents:
        took = agent.durations
        spans = (str(took.count), span(took.median), span(took.p95), span(took.most)) if took else ("", "", "", "")
        tokens = "" if agent.tokens is None else f"{agent.tokens:,}"
        cost = dollars(agent.cost, is_estimate=agent.cost_estimated)
        outcomes = ", ".join(f"{count} {state}" for state, count in agent.states.items())
        yield label(agent), str(agent.count), *spans, tokens, cost, outcomes


def _models(models: Sequence[Model]) -> Iterator[Sequence[str]]:
    if models:
        yield "MODEL", "N", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITTEN", "COST"
    for each in models:
        counts = (f"{tokens:,}" for tokens in (each.input, each.output, each.cache_read, each.cache_write))
        yield cut(line(each.model, 200), _NAME), str(each.count), *counts, dollars(each.cost, is_estimate=True)


def _timeouts(agents: Iterable[Agent]) -> Iterator[Sequence[str]]:
    told = [agent for agent in agents if agent.timeouts]
    if told:
        yield "AGENT", "GIVEN", "P95", "RAN OUT", "SUGGESTED", "FIT"
    for agent in told:
        given, took = agent.timeouts, agent.durations
        if given is None:
            continue
        suggested = "" if given.suggested is None else f"{'>= ' if given.at_least else ''}{span(given.suggested)}"
        remark = given.fit or f"too few to say, {ENOUGH} are needed"
        yield label(agent), span(given.given), span(took.p95) if took else "", f"{given.ran_out}", suggested, remark


def _breaches(agents: Iterable[Agent]) -> Iterator[Sequence[str]]:
    told = [agent for agent in agents if agent.breached]
    if told:
        yield "AGENT", "N", "WITH A BREACH", "RULES"
    for agent in sorted(told, key=lambda agent: -agent.breached / agent.count):
        rules = [f"{rule} x{count}" for rule, count in agent.breaches.items()]
        more = f" and {len(rules) - _RULES} more" if len(rules) > _RULES else ""
        share = f"{agent.breached} ({100 * agent.breached // agent.count}%)"
        yield label(agent), str(agent.count), share, ", ".join(rules[:_RULES]) + more


def _strips(agents: Iterable[Agent]) -> Iterator[plot.Strip]:
    for agent in [agent for agent in agents if agent.durations][:_STRIPS]:
        if agent.durations is not None:
            yield plot.Strip(label(agent), agent.durations, agent.timeouts.given if agent.timeouts else None)
