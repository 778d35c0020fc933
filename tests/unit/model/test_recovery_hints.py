"""What the data says about going on is found wherever it stands, and what a person must look at comes first."""

import pytest

from delegtop.base.origin import Origin
from delegtop.model import notes
from delegtop.model.delegation import Delegation, Note
from delegtop.model.events import Fault, Report
from delegtop.model.recovery_hints import NEXT_STEPS, RECOMMENDATION, TITLES, hints

PLACE = Origin("x", 1, 0)


def noted(*kinds: str) -> tuple[Note, ...]:
    return tuple(Note(kind, f"words on {kind}", PLACE) for kind in kinds)


def test_review_comes_first_and_nothing_is_left_out() -> None:
    kinds = sorted(set(TITLES) - {RECOMMENDATION, NEXT_STEPS})
    facts = Delegation(
        "a",
        notes=noted(*kinds),
        report=Report(errors=(Fault(recommendation="fix it"),), next_steps="go on"),
        faults=(Fault(recommendation="look twice"),),
    )
    found = hints(facts)
    assert found[0].kind == notes.REVIEW
    assert {hint.text for hint in found} == {f"words on {kind}" for kind in kinds} | {"fix it", "go on", "look twice"}


def test_what_is_said_twice_is_told_once_under_what_matters_more() -> None:
    facts = Delegation("a", report=Report(errors=(Fault(recommendation="retry"),), next_steps="retry"))
    assert [(hint.kind, hint.text) for hint in hints(facts)] == [(RECOMMENDATION, "retry")]


@pytest.mark.parametrize("kind", [notes.PROGRESS, notes.DAY, "another"])
def test_a_note_about_something_else_is_no_hint(kind: str) -> None:
    assert hints(Delegation("a", notes=noted(kind))) == ()
