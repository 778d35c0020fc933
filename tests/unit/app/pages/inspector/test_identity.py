"""Who it is, as the inspector shows it: every fact that the table gives a label has its row."""

import pytest
from tests.telling import forest_at

from delegtop.app.pages.inspector import identity
from delegtop.app.pages.inspector.page_words import PageSubject
from delegtop.app.widgets.sheet import LabelledFact
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.diagnosis.assessments import Assessments
from delegtop.model.delegation import FACTS
from delegtop.model.events import Described, Event, Heard, Started

PLACE = Origin("log", 1, 0)


def rows(*events: Event) -> dict[str, str]:
    forest = forest_at(5, events)
    blocks = identity.blocks(PageSubject(Assessments(forest), 0), None)
    return {str(block.label): block.value.plain for block in blocks if isinstance(block, LabelledFact)}


def test_every_labelled_fact_has_a_row_and_those_of_one_label_share_it() -> None:
    words = {fact.told_as: f"the {fact.name}" for fact in FACTS.values()}
    described = {name: words[name] for name in Described.__struct_fields__ if name in words and name != "id"}
    shown = rows(
        Started("a", Millis(1), PLACE, product=words["product"]),
        Described("a", Millis(1), PLACE, **{name: word for name, word in described.items() if name != "at"}),
        Heard("a", Millis(2), PLACE, mode=words["mode"]),
    )
    for fact in FACTS.values():
        if fact.label:
            assert f"the {fact.name}" in shown[fact.label]
    assert list(shown)[2:7] == ["title", "model", "program", "folder", "branch"]
    assert shown["program"] == "the product · the version"


@pytest.mark.parametrize("fact", [fact for fact in FACTS.values() if fact.label], ids=lambda fact: fact.name)
def test_what_nobody_told_has_no_row(fact: object) -> None:
    assert getattr(fact, "label") not in rows(Started("a", Millis(1), PLACE))  # noqa: B009 - parametrize hides the type
