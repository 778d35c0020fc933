"""A rule on what a log tells of the future: the clock that wrote it and the one that reads it differ."""

from collections.abc import Iterator

from delegtop.base.clock import duration, iso
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.rule import RuleNote, rule


def may_find(case: Case) -> bool:
    """Hardly any log is ahead."""
    return case.forest.ahead(case.handle) > 0


@rule(
    "LOG-005",
    "ahead of the clock",
    Severity.INFO,
    "no record is later than now",
    "A record that is more than a minute later than the clock of the machine that reads it was written by a clock that "
    "differs. Until that moment nobody can say how long it has been at work or quiet, so it is not called silent.",
)
def from_the_future(case: Case) -> Iterator[RuleNote]:
    ahead, facts = case.forest.ahead(case.handle), case.facts
    heard = facts.heard_at or facts.started_at
    if not ahead or heard is None:
        return
    origin = facts.heard_origin or facts.ended_origin or facts.started_origin
    yield RuleNote(
        f"Its last record is of {iso(heard)}, {duration(ahead)} ahead of the clock that it is judged by.",
        *(() if origin is None else (origin,)),
        advice="Set the clock of the machine that writes it, or of the one that reads it.",
        since=heard,
    )
