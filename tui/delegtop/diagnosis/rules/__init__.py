"""The rules on delegations and logs, in chapters. Every module is one: its `Rule`s, and those it has in `MADE`. One
whose rules hardly ever find anything says in `may_find` whether they are worth asking about a case.

The package of a chapter says in `CHAPTERS` whose delegations it judges, by `Delegation.product`, so that those of a
protocol that nobody here follows are never imported; None is everybody's. The packages of protocols are listed by name:
they rest on this one. All rules together are in `delegtop.diagnosis.rule_table`.
"""

from collections.abc import Callable, Container, Iterable
from functools import cache
from importlib import import_module
from types import ModuleType

from delegtop.diagnosis.case import Case
from delegtop.diagnosis.rule import Rule

CHAPTERS: dict[str, Container[str | None] | None] = dict.fromkeys(
    ("verdict_rules", "ending_rules", "log_rules", "copied_log_rules", "future_log_rules")
)
_PACKAGES = (
    "delegtop.protocols.standard.rules",
    "delegtop.protocols.cleo",
    "delegtop.protocols.hyper",
    "delegtop.protocols.proofchecker",
    __name__,
)
JUDGED: dict[str, Container[str | None] | None] = {
    f"{package}.{chapter}": judged
    for package in _PACKAGES
    for chapter, judged in import_module(package).CHAPTERS.items()
}
"""Whose delegations each module judges."""


@cache
def rules_on(product: str | None) -> dict[str, Rule]:
    """The rules that judge the delegations of a product, by id."""
    return by_id(_judging(product))


@cache
def chapters_on(product: str | None) -> tuple[tuple[Callable[[Case], bool], tuple[Rule, ...]], ...]:
    """The same by chapter, each with whether any of its rules may find something about a case."""
    chapters = ((getattr(chapter, "may_find", _always), by_id([chapter])) for chapter in _judging(product))
    return tuple((may_find, tuple(rules.values())) for may_find, rules in chapters)


def _judging(product: str | None) -> list[ModuleType]:
    return [import_module(name) for name, judged in JUDGED.items() if judged is None or product in judged]


def _always(_case: Case) -> bool:
    return True


def by_id(chapters: Iterable[ModuleType]) -> dict[str, Rule]:
    rules = [
        each
        for chapter in chapters
        for each in (*vars(chapter).values(), *getattr(chapter, "MADE", ()))
        if isinstance(each, Rule)
    ]
    return {rule.id: rule for rule in sorted(rules, key=lambda rule: rule.id)}
