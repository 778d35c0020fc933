"""How agents without a return ended is found, and told once."""

import pytest

from delegtop.clock import Millis
from delegtop.diagnosis.engine import diagnose
from delegtop.diagnosis.finding import Finding
from delegtop.model.events import Ended, Ending, Fault, Outcome, Report, Started
from delegtop.model.forest import Forest
from delegtop.origin import Origin


def found(outcome: Outcome, product: str | None, report: Report = Report()) -> list[Finding]:  # noqa: B008 # frozen
    forest = Forest()
    forest.apply(
        [
            Started("a", Millis(0), Origin("log", 1, 0), agent="explorer", product=product),
            Ended("a", Millis(9), Origin("log", 2, 50), outcome, Ending.RETURN, report),
        ]
    )
    forest.advance(Millis(10))
    return [each for each in diagnose(forest, 0, Millis(10), lambda _: None) if each.rule.startswith("END-")]


def test_a_failed_agent_is_found_with_its_error_and_its_line() -> None:
    told = found(Outcome.FAILED, "codex", Report(summary="half", errors=(Fault("API Error: 529\nOverloaded"),)))
    assert [(each.rule, each.message, each.evidence) for each in told] == [
        ("END-001", "It failed: API Error: 529 Overloaded", (Origin("log", 2, 50),))
    ]


def test_an_interrupted_agent_is_found() -> None:
    assert [each.rule for each in found(Outcome.INTERRUPTED, "claude-code")] == ["END-002"]


@pytest.mark.parametrize("outcome", [Outcome.COMPLETED, Outcome.UNKNOWN, Outcome.LOST])
def test_other_ends_are_not_its_business(outcome: Outcome) -> None:
    assert found(outcome, "codex") == []


@pytest.mark.parametrize("product", [None, "proofchecker", "cleo", "hyper"])
def test_who_gives_a_return_is_judged_by_it(product: str | None) -> None:
    assert found(Outcome.FAILED, product) == []


def test_a_long_error_is_told_in_short() -> None:
    (told,) = found(Outcome.FAILED, "codex", Report(summary="x" * 5_000))
    assert len(told.message) < 250
