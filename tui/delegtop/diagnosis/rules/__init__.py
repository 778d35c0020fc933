"""The table of all rules on delegations and logs, by id. Every module is a chapter: its `Rule`s are in the table."""

from types import ModuleType

from delegtop.diagnosis.rule import Rule
from delegtop.diagnosis.rules import delegations, logs, return_contents, return_errors, returns, supervision

CHAPTERS: tuple[ModuleType, ...] = (returns, return_contents, return_errors, delegations, supervision, logs)


def _table() -> dict[str, Rule]:
    rules = [each for chapter in CHAPTERS for each in vars(chapter).values() if isinstance(each, Rule)]
    return {rule.id: rule for rule in sorted(rules, key=lambda rule: rule.id)}


RULES: dict[str, Rule] = _table()
