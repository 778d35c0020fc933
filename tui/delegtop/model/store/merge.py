"""Claims: what is said of one delegation in more than one place, what is taken from it, and where it disagrees."""

from collections.abc import Collection, Iterable
from operator import attrgetter
from typing import Any, TypeVar

from msgspec.structs import replace

from delegtop.base.clock import SECOND, Millis, iso
from delegtop.base.origin import Origin
from delegtop.model.delegation import FACTS, Claim
from delegtop.model.events import Ended, Ending, Outcome, Report, Started, Trust
from delegtop.model.session_manner import OF_PROCESS

NO_REPORT = Report()

_SAME_MOMENT = 2 * SECOND
"""Two sources that note one moment within this span do not disagree."""

_UNSAID = (None, (), "")

_OWN_WAY = ("timeout", "deadline", "parent", "pid")
"""Of the facts that a start tells, those that are compared in a way of their own."""
_CONTESTED = tuple(
    name for name in Started.__struct_fields__ if name in FACTS and FACTS[name].contested and name not in _OWN_WAY
)

_compared = attrgetter(*_OWN_WAY, "at", *_CONTESTED)
_FACTS = Started.__struct_fields__
_told = attrgetter(*_FACTS)

C = TypeVar("C", bound=Started | Ended)


def contest(claims: tuple[C, ...], event: C) -> tuple[C, ...]:
    """The claims with one more, or the same if it says nothing new: one fact told twice is one claim, at its first
    place."""
    for index, known in enumerate(claims):
        if replace(event, origin=known.origin) == known:
            return claims if known.origin <= event.origin else (*claims[:index], event, *claims[index + 1 :])
    return (*claims, event)


def _start_order(event: Started) -> tuple[object, ...]:
    """The log's word before the registry's, the better clock first, then the earlier record."""
    return (event.listed, event.trust, event.at is None, event.at or 0, event.origin)


def _end_order(event: Ended) -> tuple[object, ...]:
    """The stronger word, then the later; at one moment a word of trouble outweighs one that all went well."""
    return (event.by, event.at is not None, event.at or 0, event.outcome is not Outcome.COMPLETED, event.origin)


def merge_starts(events: Iterable[Started]) -> Started:
    """The first word in order, with what it leaves open filled in by the next."""
    first, *rest = sorted(events, key=_start_order)
    if not rest:
        return first
    gaps: dict[str, Any] = {}
    for field, told in zip(_FACTS, zip(*map(_told, (first, *rest)), strict=True), strict=True):
        if told[0] in _UNSAID and told.count(told[0]) < len(told):
            gaps[field] = next((said for said in told if said not in _UNSAID), told[0])
    named = [e for e in (first, *rest) if e.parent is not None]
    sure = [e for e in named if not e.guessed]
    gaps["parent"] = (sure or named)[0].parent if named else None
    gaps["guessed"] = bool(named) and not sure
    if processes := [e for e in (first, *rest) if _is_process(e)]:
        gaps["pid"] = processes[-1].pid if first.pid is None or _is_process(first) else first.pid
    gaps["refs"] = _refs((first, *rest), gaps.get("pid", first.pid))
    if first.at is None:  # a time is trusted as far as the one who told it
        gaps["trust"] = next((e.trust for e in rest if e.at is not None), first.trust)
    return replace(first, **gaps)


def merge_refs(starts: Collection[Started], pid: int | None) -> tuple[tuple[str, str], ...]:
    """The foreign ids of one of which starts tell that differ, and which has that process."""
    told = {ref for start in starts for ref in start.refs}
    if any(name in OF_PROCESS for name, _ in told):
        return _refs(sorted(starts, key=_start_order), pid)
    return tuple(sorted(told)) if len(told) > 1 else tuple(told)


def _refs(starts: Iterable[Started], pid: int | None) -> tuple[tuple[str, str], ...]:
    """All foreign ids; what is true of a process only of the one with that number, and of several that had it the last.
    How a program was started its own files know better than the kernel."""
    told: set[tuple[str, str]] = set()
    own: dict[str, str] = {}
    for start in sorted(starts, key=lambda start: not start.origin.is_kernel):
        for name, value in start.refs:
            if name not in OF_PROCESS:
                told.add((name, value))
            elif start.pid in (pid, None):
                own[name] = value
    return tuple(sorted({*told, *own.items()}))


def _in_end_order(events: Iterable[Ended]) -> list[Ended]:
    """The word that counts first. That a process is gone is told with the moment of finding it so: of what one place
    tells of it the first finding counts."""
    ends = sorted(events, key=_end_order)
    found: set[tuple[Origin, Outcome]] = set()
    for end in [end for end in ends if end.by is Ending.GONE and end.at is not None]:
        finding = end.origin, end.outcome
        if finding in found:
            ends.remove(end)
        found.add(finding)
    return ends[::-1]


def merge_ends(events: Iterable[Ended]) -> Ended:
    """The strongest word, the latest of equals; the report comes from the strongest that has one."""
    first, *rest = _in_end_order(events)
    if first.report == NO_REPORT:
        report = next((e.report for e in rest if e.report != NO_REPORT), NO_REPORT)
        return replace(first, report=report)
    return first


def disagreements(starts: Collection[Started], ends: Collection[Ended]) -> tuple[Claim, ...]:
    """Every field on which two of the claims differ, with each claim's value and place."""
    if len(ends) < 2 and _agree(starts):
        return ()
    starts, ends = sorted(starts, key=_start_order), _in_end_order(ends)
    found: list[Claim] = []
    for field, told in (
        ("started_at", _best_clock(starts)),
        ("deadline", [(e.deadline, e.origin) for e in starts]),
        ("ended_at", [(e.at, e.origin) for e in ends]),
    ):
        moments = [(at, origin) for at, origin in told if at is not None]
        if moments and max(moments)[0] - min(moments)[0] > _SAME_MOMENT:
            found += [Claim(field, iso(at), origin) for at, origin in moments]
    found += _disagreement("timeout", [(e.timeout and f"{e.timeout // SECOND} s", e.origin) for e in starts])
    for field in _CONTESTED:
        if len({getattr(e, field) for e in starts}.difference(_UNSAID)) > 1:
            found += _disagreement(field, [(getattr(e, field), e.origin) for e in starts])
    found += _disagreement("pid", [(e.pid, e.origin) for e in starts if not _is_process(e)])
    found += _disagreement("parent", [(e.parent, e.origin) for e in starts if not e.guessed])
    # Who does not know how it ended contradicts nobody who does.
    known = [e for e in ends if e.outcome is not Outcome.UNKNOWN or e.by > Ending.GONE]
    found += _disagreement("outcome", [(str(e.outcome), e.origin) for e in known])
    return tuple(found)


def _agree(starts: Collection[Started]) -> bool:
    """Whether nothing that is compared was told in two ways, whoever told it: nearly all that is told twice."""
    for told in zip(*map(_compared, starts), strict=True):
        if told.count(told[0]) < len(told) and len({*told}.difference(_UNSAID)) > 1:
            return False
    return True


def _is_process(event: Started) -> bool:
    """A list of processes tells when one of them started. What runs in it may be older, and have had others before."""
    return event.listed and event.pid is not None


def _best_clock(starts: list[Started]) -> list[tuple[Millis | None, Origin]]:
    """The starts by the best of the clocks: that a worse one differs is no contradiction, nor that a process does."""
    best = min((event.trust for event in starts if event.at is not None), default=Trust.SCRIPT)
    return [(event.at, event.origin) for event in starts if event.trust == best and not _is_process(event)]


def _disagreement(field: str, told: list[tuple[object, Origin]]) -> list[Claim]:
    said = [(value, origin) for value, origin in told if value not in _UNSAID]
    if len({value for value, _ in said}) < 2:
        return []
    return [Claim(field, " › ".join(v) if isinstance(v, tuple) else str(v), origin) for v, origin in said]
