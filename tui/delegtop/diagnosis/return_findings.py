"""Rules on returns: what each has to say, made into a finding about the line the return stands on."""

from collections.abc import Callable, Container, Iterable, Iterator
from typing import NamedTuple, TypeAlias

from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.rule import Rule, RuleNote
from delegtop.dialects.products import product
from delegtop.model.delegation import Delegation
from delegtop.model.events import Ending, Report

_SHOWN = 60
_LISTED = 3


class _Standard(Container[str | None]):
    """Whose returns are of the standard form; other programs have forms and rules of their own."""

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return name is None
        return (found := product(name)) is not None and found.standard_returns


STANDARD = _Standard()


class ReturnNote(NamedTuple):
    """What a rule on returns has to say; which delegation and which line it is about is known."""

    message: str
    advice: str
    severity: Severity | None = None
    fields: tuple[str, ...] = ()
    """What of the return it is about: `artifacts[1].path`."""


Judge: TypeAlias = Callable[[Case, Report], Iterator[ReturnNote]]


def on_return(id: str, name: str, severity: Severity, title: str, why: str) -> Callable[[Judge], Rule]:
    """Make a rule of a function that judges a return; without a return there is nothing to judge."""

    def made(judge: Judge) -> Rule:
        def check(case: Case) -> Iterator[RuleNote]:
            facts = case.facts
            for message, advice, graver, fields in judge(case, facts.report) if has_return(facts) else ():
                place, since = facts.ended_origin, facts.ended_at
                yield RuleNote(message, place, advice=advice, severity=graver, since=since, fields=about(facts, fields))

        return Rule(id, name, severity, title, why, check)

    return made


def about(facts: Delegation, fields: tuple[str, ...]) -> tuple[str, ...]:
    """The fields of a return by where it stands: in an entry of the registry it is a part of that."""
    return tuple(map(_within_entry, fields)) if facts.ended_by is Ending.REGISTRY else fields


def _within_entry(field: str) -> str:
    """The field of a return as an entry of the registry has it."""
    return "|".join(f"return.{name}" for name in field.split("|"))


def has_return(facts: Delegation) -> bool:
    """True if it handed something back, itself or in its entry of the registry."""
    if facts.ended_by is Ending.REGISTRY:
        return facts.report != Report()
    return facts.ended_by is Ending.RETURN


def quoted(value: str) -> str:
    """A foreign word in a sentence, cut if it is long."""
    return f'"{value[:_SHOWN]}…"' if len(value) > _SHOWN else f'"{value}"'


def listed(values: Iterable[str]) -> str:
    """The first few of the values, and how many more there are."""
    each = [quoted(value) for value in values]
    more = f" and {len(each) - _LISTED} more" if len(each) > _LISTED else ""
    return ", ".join(each[:_LISTED]) + more


def choice(words: Iterable[str]) -> str:
    """Words of which one is to be taken."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last
