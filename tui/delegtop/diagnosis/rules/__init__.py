"""The table of all rules on delegations and logs, by id. Every module is a chapter: its `Rule`s are in the table, and
those it has in `MADE`.

A chapter that judges only the delegations of certain programs names them in `PRODUCTS`.
"""

from dataclasses import replace
from types import ModuleType

from delegtop.diagnosis.rule import Rule
from delegtop.diagnosis.rules import (
    agents,
    copies,
    delegations,
    ends,
    family,
    family_contract,
    handover,
    hyper,
    logs,
    manifest,
    manifest_entries,
    return_contents,
    return_errors,
    returns,
    supervision,
    verdicts,
)

CHAPTERS: tuple[ModuleType, ...] = (
    returns,
    return_contents,
    return_errors,
    delegations,
    supervision,
    handover,
    agents,
    manifest,
    manifest_entries,
    hyper,
    family,
    family_contract,
    verdicts,
    ends,
    logs,
    copies,
)


def _table() -> dict[str, Rule]:
    rules = [
        replace(each, products=getattr(chapter, "PRODUCTS", None))
        for chapter in CHAPTERS
        for each in (*vars(chapter).values(), *getattr(chapter, "MADE", ()))
        if isinstance(each, Rule)
    ]
    return {rule.id: rule for rule in sorted(rules, key=lambda rule: rule.id)}


RULES: dict[str, Rule] = _table()
