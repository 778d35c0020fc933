"""How long silence is nothing to speak of, by what is normal for the call, the model or the kind of agent."""

from typing import TYPE_CHECKING

import msgspec

from delegtop.base.clock import MINUTE, Millis, duration
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.verdicts.judge_kit import in_tool
from delegtop.diagnosis.verdicts.permission_mode import asks_nobody
from delegtop.model import notes
from delegtop.model.delegation import Delegation
from delegtop.model.events import Phase

if TYPE_CHECKING:
    from delegtop.model.normal_durations import Normal


class Patience(msgspec.Struct, frozen=True):
    """Milliseconds of silence."""

    worth_a_word: int
    """Longer than that is rare."""
    unheard_of: int | None
    """Longer than that hardly ever comes to a good end; None where nobody can say."""
    in_vain: int
    """For whoever is past a limit, too: longer than that is no mere lateness."""


def patience_of(case: Case) -> Patience:
    """How long one may be silent. Found out once a case."""
    if "patience" not in case.known:
        case.known["patience"] = _patience(case)
    patience: Patience = case.known["patience"]
    return patience


def _patience(case: Case) -> Patience:
    policy, facts = case.policy, case.facts
    least = policy.silent_after if facts.phase is Phase.MODEL else policy.suspect_after
    if facts.quiet_since is None or not case.is_past(facts.quiet_since + least):
        return Patience(least, policy.suspect_after, policy.suspect_after)  # nobody need know yet what is normal
    if facts.product is not None:
        case.look_again(case.now + MINUTE)  # what is usual may become known or change whenever another one is done
    usual = case.forest.usual(case.handle)
    most = usual[0] if usual and facts.phase is not Phase.MODEL else 0
    if not _is_comparable(case):
        return Patience(max(least, most), None, policy.suspect_after)
    known = _normal(case)
    if facts.phase is Phase.MODEL:
        least = policy.silent_after if known.is_known else 2 * policy.silent_after
    elif not _tells_enough(case, known):
        least = policy.tool_suspect_after
    in_vain = max(policy.suspect_after, known.rare_after)
    unheard_of = max(least, policy.suspect_after, known.unheard_of_after) if _is_measure(case, known) else None
    return Patience(max(least, known.rare_after, most), unheard_of, in_vain)


def _tells_enough(case: Case, known: "Normal") -> bool:
    """Whether the silence says so much that there is no need to wait for the longest that may be. A shell may run
    anything, and may wait for a permission that no record tells of: only what was run on this machine without asking
    says how long that takes. A tool, or an agent without a log of its own, of whose kind little is known, may take its
    time."""
    from delegtop.model import call_names

    if in_tool(case) and call_names.is_shell(case.facts.tool):
        return known.here and asks_nobody(case)
    return known.name not in ("", call_names.AGENT)


def _is_measure(case: Case, known: "Normal") -> bool:
    """Whether what was never seen here is likely no good: of a tool, only where nobody may have been asked, and on
    this machine's own word; of an agent never, since no two tasks are alike."""
    if case.facts.phase is Phase.MODEL:
        return True
    return in_tool(case) and known.here and asks_nobody(case)


def has_no_log(facts: Delegation) -> bool:
    """An agent of a program of which only its start was told: nothing can be heard of it before it is done."""
    if any(note.kind == notes.NO_LOG for note in facts.notes):
        return True
    return facts.product is not None and facts.phase is None and not facts.tool and facts.heard_at == facts.started_at


def unread(facts: Delegation) -> str:
    """The file or folder that would tell of it and cannot be read; empty if there is none."""
    closed = next((note.text for note in facts.notes if note.kind == notes.UNREAD), "")
    heard = facts.heard_origin.source if facts.heard_origin is not None else ""
    return closed if has_no_log(facts) or heard.startswith(closed) else ""


def _is_comparable(case: Case) -> bool:
    """Whether the silence is the whole of something of which it is known how long it takes."""
    return case.facts.phase is Phase.MODEL or in_tool(case) or has_no_log(case.facts)


def _normal(case: Case) -> "Normal":
    from delegtop.model import call_names, normal_durations  # most are never silent for so long

    facts = case.facts
    if facts.phase is Phase.MODEL:
        names = call_names.names_of_answer(facts.model)
    elif in_tool(case):
        names = call_names.names_of_call(facts.tool or "", facts.doing)
    else:
        names = call_names.names_of_agent(facts.agent)
    return normal_durations.normal(facts.product, names, case.policy.durations)


def inside_since(facts: Delegation) -> Millis | None:
    """Since when it is inside its tool; others that were called with it may have come back since."""
    return facts.phase_since or facts.heard_at


def compared(case: Case, since: Millis) -> str:
    """`; of 6,480 Bash calls here 99.9 % were shorter`; nothing where too little is known."""
    from delegtop.model.duration_curve import next_step  # as above

    if not _is_comparable(case):
        usual = case.forest.usual(case.handle)
        return f"; {case.facts.agent} is usually done within {duration(usual[0])}" if usual else ""
    known = _normal(case)
    if not known.name:
        return ""
    if has_no_log(case.facts):  # the whole of it is compared, whatever was said when it was sent off
        since = case.facts.started_at or since
    what, where = _what(known), " here" if known.here else ""
    share = known.shorter(case.now - since)
    case.look_again(since + next_step(case.now - since))
    if share >= 1:
        return f"; of {known.count:,} {what}{where} none took as long"
    return f"; of {known.count:,} {what}{where} {_percent(share)} % were shorter"


def _what(known: "Normal") -> str:
    """Of what it is known: `known Bash calls`."""
    wide, _, narrow = known.name.partition(" ")
    said = {"model": "answers", "agent": f"{narrow} agents".lstrip()}.get(wide)
    return f"{'' if known.here else 'known '}{said or f'{known.name} calls'}"


def _percent(share: float) -> str:
    """Rounded down: so many were shorter, or more."""
    percent = int(share * 10_000) / 100
    return f"{percent:g}"
