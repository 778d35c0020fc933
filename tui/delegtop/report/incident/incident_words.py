"""What the Markdown and the HTML of an incident both say, in plain words and not yet escaped for either."""

from collections.abc import Callable, Iterator, Mapping

from delegtop.base.clock import duration, parse_time
from delegtop.base.origin import in_words
from delegtop.base.text import line
from delegtop.diagnosis.assessment import NOW, Urgency
from delegtop.report.figures import dollars
from delegtop.report.incident.incident_report import Event, Incident, Node, Trouble
from delegtop.report.tree_json import Place, Source, Wrong

UNKNOWN = "–"
_SOURCES = 50
_PROBLEMS = frozenset(urgency.value for urgency in Urgency if urgency.problem)
_NOW = frozenset(urgency.value for urgency in NOW)

TREE_HEAD = ("Delegation", "State", "Started (UTC)", "Took", "Cost", "Remark")
HUNG_HEAD = ("Delegation", "State", "Verdict", "Since (UTC)", "What is wrong")
TIMELINE_HEAD = ("Time (UTC)", "Delegation", "What happened", "Where it is written")
FINDINGS_HEAD = ("Rule", "Severity", "Delegation", "What is wrong", "What to do")
SOURCES_HEAD = ("Source", "Format", "Status", "Records", "Unreadable", "Deviations")


def clock(at: str | None) -> str:
    """`2026-03-03 10:47:00`: the moment without its milliseconds, which nobody reads."""
    return UNKNOWN if at is None else at.replace("T", " ").removesuffix("Z").partition(".")[0]


def took(seconds: float | None) -> str:
    return UNKNOWN if seconds is None else duration(int(seconds * 1_000))


def ago(at: str | None, now: str) -> str:
    """`2026-03-03 10:47:00, 12:40 before the report`."""
    then, this = parse_time(at) if at else None, parse_time(now)
    if then is None or this is None or this < then:
        return clock(at)
    return f"{clock(at)} ({duration(this - then)} before this report)"


def where(place: Place | None) -> str:
    return UNKNOWN if place is None else in_words(place.source, place.line)


def missing(place: Place) -> str:
    """Why a place has no line to show."""
    is_file = in_words(place.source, place.line) == f"{place.source}:{place.line}"
    return "The line is no longer there." if is_file else "No line says so: the kernel does."


def counts(incident: Incident) -> str:
    """`5 delegations: 2 waiting, 1 overdue`."""
    total = sum(incident.counts.values())
    words = ", ".join(f"{count} {state}" for state, count in incident.counts.items())
    return f"{total} delegation{'' if total == 1 else 's'}" + (f": {words}" if words else "")


def in_trouble(total: int, now: int, waiting: int, earlier: str) -> str:
    """`1 of 12 delegations is in trouble, and 2 wait for others; earlier: 5 lost.`"""
    among = f"{total} delegation{'' if total == 1 else 's'}"
    if not now and not earlier:
        return f"None of {among} is in trouble." if total else "There is no delegation in these sources."
    if not now:
        return f"Nothing of {among} is stuck now. Earlier: {earlier}."
    begin = f"{now} of {among} {'is' if now == 1 else 'are'} in trouble"
    begin += f", and {waiting} wait{'s' if waiting == 1 else ''} for others" if waiting else ""
    return f"{begin}; earlier: {earlier}." if earlier else f"{begin}."


def kinds(counted: Mapping[str, int]) -> str:
    """`5 lost, 7 failed`: what was the matter, the most first."""
    ranked = sorted(counted.items(), key=lambda each: -each[1])
    return ", ".join(f"{count} {kind}" for kind, count in ranked if count)


def hung_row(trouble: Trouble) -> tuple[str, ...]:
    """The cells of the table of what hung; the first is its name alone."""
    verdict = trouble.verdict
    kind = f"ended {trouble.state}" if trouble.kind == trouble.state else trouble.kind
    return (
        named(trouble),
        trouble.state,
        f"{verdict.kind} ({verdict.certainty})" if verdict else kind,
        clock(verdict.since if verdict else trouble.ended_at),
        trouble.message,
    )


def told_in_full(incident: Incident) -> list[Trouble]:
    """Those that get a section of their own: the problems of this moment, and if there is none, earlier ones; not who
    only waits for another, or hands up the failure of another."""
    told = [each for each in incident.troubles if each.urgency in _PROBLEMS]
    return [each for each in told if each.urgency in _NOW] or told


def facts(trouble: Trouble, ago: Callable[[str | None], str]) -> Iterator[tuple[str, str]]:
    """What is known of one in trouble, as names and values; `ago` tells moments."""
    yield "Id", trouble.id
    if trouble.host:
        yield "Host", trouble.host
    if trouble.path:
        yield "Path", " › ".join([*(above.name for above in trouble.path), trouble.name])
    verdict = trouble.verdict
    if verdict is not None:
        since = f", since {ago(verdict.since)}" if verdict.since else ""
        yield "Verdict", f"{verdict.kind} ({verdict.certainty}){since}"
    if trouble.blocks:
        yield "Blocks", " › ".join(above.name for above in reversed(trouble.blocks))
    if trouble.waits_on is not None:
        yield "Waits on", f"{trouble.waits_on.name} ({trouble.waits_on.id})"
    yield "Started", ago(trouble.started_at)
    if trouble.ended_at is not None:
        yield "Ended", ago(trouble.ended_at)
    elif trouble.last_heard_at is not None:
        yield "Last heard of", ago(trouble.last_heard_at)
    if trouble.deadline is not None:
        yield "Deadline", f"{ago(trouble.deadline)}, {trouble.deadline_note}"
    if trouble.doing or trouble.tool:
        yield "Last words", _last_words(trouble.tool, trouble.doing)
    for made in trouble.artifacts:
        there = {True: "it is there", False: "it is not there", None: None}[made.exists]
        yield "Says it made", " – ".join(filter(None, (made.path, made.type, made.summary, there)))


def _last_words(tool: str | None, doing: str | None) -> str:
    named = tool and doing and not doing.startswith(tool)
    return f"{tool}: {doing}" if named else doing or tool or ""


def error(wrong: Wrong) -> str:
    """`BUILD_ERROR (execution, recoverable): lake build failed`."""
    kind = {True: "recoverable", False: "not recoverable", None: None}[wrong.recoverable]
    inner = ", ".join(filter(None, (wrong.type, kind)))
    head = " ".join(filter(None, (wrong.code, f"({inner})" if inner else None)))
    return ": ".join(filter(None, (head, wrong.message))) or "an error without a word"


def timeline_row(event: Event) -> tuple[str, ...]:
    name = event.subject.name if event.subject else "all"
    place = "concluded by delegtop" if event.derived else where(event.place)
    return clock(event.at), name, event.text, place


def tree_row(node: Node) -> tuple[str, ...]:
    """The cells of the tree but for the first, its name, which each form indents its own way."""
    return node.state, clock(node.started_at), took(node.took_seconds), _cost(node), node.remark


def _cost(node: Node) -> str:
    return dollars(node.cost, is_estimate=node.cost_estimated)


def used(incident: Incident) -> str:
    """`1,200 new tokens, ~$3.20 (by list prices, as far as nobody told)`; nothing if nobody tells."""
    tokens = "" if incident.tokens is None else f"{incident.tokens:,} new tokens"
    cost = dollars(incident.cost, is_estimate=incident.cost_estimated)
    how = " (~ by list prices where no log tells dollars)" if incident.cost_estimated else ""
    return ", ".join(filter(None, (tokens, cost))) + how


def named(one: Node | Trouble) -> str:
    """Its name, where it works if there are several places, and its work in a few words."""
    name = f"{one.name} in {one.project}" if one.project else one.name
    name += f" on {one.host}" if one.host else ""
    return f"{name}: {one.title}" if one.title else name


def finding_rows(incident: Incident) -> Iterator[tuple[str, ...]]:
    """What is not told of those in trouble in a section of their own."""
    told = {trouble.id for trouble in told_in_full(incident)}
    names = {node.id: node.name for node in incident.tree}
    untold = (finding for trouble in incident.troubles if trouble.id not in told for finding in trouble.findings)
    for each in (*untold, *incident.findings):
        yield each.rule, each.severity, names.get(each.subject, each.subject), each.message, each.advice


def source_rows(incident: Incident) -> list[tuple[str, ...]]:
    """The sources there is room for: those that could not be read well first, then those in use; by their names, for
    in which order they were read is of no meaning, and is another if some of them need not be."""
    return [_source_row(source) for source in sorted(incident.sources, key=_health_and_name)[:_SOURCES]]


def _health_and_name(source: Source) -> tuple[bool, bool, str]:
    failed = source.status in ("missing", "unreadable") or bool(source.unreadable)
    return not failed, source.dialect is None, source.path


def _source_row(source: Source) -> tuple[str, ...]:
    status = f"{source.status}: {source.detail}" if source.detail else source.status
    counts = (str(count) for count in (source.records, source.unreadable, source.deviations))
    return source.path, source.dialect or UNKNOWN, status, *counts


def left_out(count: int, of: str) -> str:
    return f"{count} more {of} for which there is no room here." if count else ""


def is_plain(command: str) -> bool:
    """Whether it can be copied as it is shown: nothing in it hides, and nothing of it was masked."""
    return line(command) == command and "\n" not in command and "[masked]" not in command
