"""The table of all rules on delegations and logs, by id, whatever protocol they are of.

A chapter whose rules tell of something that stands in a log as a deviation, too, says so in `DEVIATIONS`; and in `LEFT`
which rule tells one of a record that was never finished, so that no delegation can be asked about it.
"""

from collections.abc import Mapping
from importlib import import_module

from delegtop.diagnosis.rule import Rule
from delegtop.diagnosis.rules import JUDGED, by_id

CHAPTERS = tuple(map(import_module, JUDGED))


def _deviations() -> dict[str, frozenset[str]]:
    rules_by_kind: dict[str, frozenset[str]] = {}
    for chapter in CHAPTERS:
        for kind, rules in getattr(chapter, "DEVIATIONS", {}).items():
            rules_by_kind[kind] = rules_by_kind.get(kind, frozenset()) | rules
    return rules_by_kind


RULES: dict[str, Rule] = by_id(CHAPTERS)
LEFT_DEVIATIONS: Mapping[str, Rule] = {
    kind: RULES[id] for chapter in CHAPTERS for kind, id in getattr(chapter, "LEFT", {}).items()
}
"""The rules that tell a deviation that no delegation is left with."""
TOLD_DEVIATIONS: Mapping[str, frozenset[str]] = _deviations()
"""The kinds of deviation that rules on delegations tell too, and which rules do."""
