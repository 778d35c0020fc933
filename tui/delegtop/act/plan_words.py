"""A plan and what came of it, as lines of text and as JSON."""

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from delegtop.act.act_outcome import ActWatch
from delegtop.act.acting import READ_ONLY, Acting
from delegtop.act.aftermath import Aftermath
from delegtop.act.stop_plan import Rung, RungPlan, StopPlan
from delegtop.base.clock import iso
from delegtop.base.secrets import mask
from delegtop.base.text import line

_NAMED = 5
_SENTENCE = 600
_EVIDENCE = 4


def lines(plan: StopPlan, acting: Acting) -> Iterator[str]:
    """What is the matter with whom, and every rung, with what it does or why it cannot."""
    yield shown(f"{plan.name}  {plan.id}  {matter(plan)}")
    yield f"  {shown(plan.sentence)}"
    if plan.evidence:
        yield f"  evidence: {evidence(plan)}"
    if plan.session:
        yield f"  its session: {shown(plan.session)}"
    yield ""
    if plan.refused:
        yield f"Nothing can be done: {shown(plan.refused)}."
        return
    for number, rung in enumerate(plan.rungs, 1):
        yield from _rung(number, rung)
    yield ""
    yield _what_now(plan, acting)


def _rung(number: int, rung: RungPlan) -> Iterator[str]:
    if not rung.is_possible:
        yield f"  – {rung.rung:<8} {shown(rung.why_not)}"
        return
    yield f"  {number} {rung.rung:<8} {shown(rung.does)}"
    yield f"    {'':<8} {shown(steps(rung))}"
    if rung.loses:
        yield f"    {'':<8} {shown(losses(rung))}"
    if rung.typed:
        yield f"    {'':<8} only with --kill {shlex.quote(shown(rung.typed))}"


def _what_now(plan: StopPlan, acting: Acting) -> str:
    mildest = plan.mildest
    if mildest is None:
        return "Nothing can be done from here."
    if acting.why_not == READ_ONLY:
        return f"Nothing was done: {READ_ONLY}."
    if not acting.enabled:
        return f"Nothing was done. {acting.why_not}. This would take the mildest rung: {shown(command(plan, mildest))}"
    return f"The mildest that is possible: {mildest.rung}."


def command(plan: StopPlan, rung: RungPlan) -> str:
    """What to type to have it done."""
    words = ["delegtop", "stop", plan.id, "--act"]
    if rung.rung is Rung.KILL:
        words += ["--kill", rung.typed]
    else:  # the mildest may be another by the time it is typed
        words += ["--rung", rung.rung.value]
    return shlex.join(words)


def matter(plan: StopPlan) -> str:
    """`hung in a tool (certain)`."""
    return f"{plan.kind} ({plan.certainty})" if plan.kind != plan.state else plan.state


def steps(rung: RungPlan) -> str:
    """Each signal and each request, in their order."""
    return "; ".join(step.words for step in rung.steps)


def losses(rung: RungPlan) -> str:
    """Who goes down with it."""
    count, named = len(rung.loses), ", ".join(rung.loses[:_NAMED])
    more = f" and {count - _NAMED} more" if count > _NAMED else ""
    return f"{count} at work {'is' if count == 1 else 'are'} lost with it: {named}{more}"


def evidence(plan: StopPlan) -> str:
    """Where it stands: names of files without their folders, which the page of its findings has."""
    return shown(", ".join(str(each).rpartition("/")[2] for each in plan.evidence[:_EVIDENCE]))


def shown(words: str) -> str:
    """On one line, harmless, and without secrets."""
    return line(mask(words), _SENTENCE)


def after(left: Aftermath) -> Iterator[str]:
    """What is worth saving, and what resumes it."""
    for each in left.salvage:
        yield f"  worth saving: {shown(each)}"
    if left.command:
        yield f"  to take it up again: {shown(left.command)}"


def as_json(
    plan: StopPlan, acting: Acting, watches: Sequence[ActWatch] = (), left: Aftermath | None = None
) -> dict[str, Any]:
    """The same for programs (docs/acting.md)."""
    told: dict[str, Any] = {
        "id": plan.id,
        "name": plan.name,
        "program": plan.program or None,
        "session": shown(plan.session) or None,
        "state": plan.state,
        "kind": plan.kind,
        "certainty": plan.certainty,
        "sentence": shown(plan.sentence),
        "evidence": [str(origin) for origin in plan.evidence],
        "enabled": acting.enabled,
        "why_not": None if acting.enabled else acting.why_not,
        "refused": shown(plan.refused) or None,
        "rungs": [_rung_json(each) for each in plan.rungs],
        "act": None,
    }
    if watches:
        told["act"] = _act_json(watches[-1])
    if left is not None:
        told["salvage"] = [shown(each) for each in left.salvage]
        told["resume"] = left.command
    return told


def _rung_json(rung: RungPlan) -> dict[str, Any]:
    return {
        "rung": rung.rung.value,
        "possible": rung.is_possible,
        "why_not": shown(rung.why_not) or None,
        "does": shown(rung.does) or None,
        "steps": [shown(step.words) for step in rung.steps],
        "loses": [shown(each) for each in rung.loses],
        "typed": rung.typed or None,
    }


def _act_json(watch: ActWatch) -> dict[str, Any]:
    return {
        "rung": watch.rung.rung.value,
        "outcome": watch.standing.value,
        "words": shown(watch.words),
        "sent": [{"at": iso(step.at), "words": shown(step.words)} for step in watch.sent],
    }
