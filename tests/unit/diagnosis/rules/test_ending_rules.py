"""How delegations ended badly is found, whatever their program, and told once."""

import pytest
from tests import judging
from tests.telling import forest_at

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.model.events import Ended, Ending, Event, Fault, Outcome, Report, Started

BAD = (Outcome.FAILED, Outcome.BLOCKED, Outcome.PARTIAL, Outcome.INTERRUPTED)
PRODUCTS = (None, "claude-code", "codex", "proofchecker", "cleo", "hyper")


def started(id: str, product: str | None, parent: str | None = None) -> Started:
    return Started(id, Millis(0), Origin("log", 1, 0), agent="explorer", parent=parent, product=product)


def ended(id: str, outcome: Outcome, report: Report = Report()) -> Ended:  # noqa: B008 # frozen
    return Ended(id, Millis(9), Origin("log", 2, 50), outcome, Ending.RETURN, report)


def all_found(*events: Event) -> list[Finding]:
    forest = forest_at(10, events)
    return [each for each in judging.all_found(forest) if each.rule.startswith("END-")]


def found(outcome: Outcome, product: str | None, report: Report = Report()) -> list[Finding]:  # noqa: B008 # frozen
    return all_found(started("a", product), ended("a", outcome, report))


def test_a_failed_agent_is_found_with_its_error_and_its_line() -> None:
    told = found(Outcome.FAILED, "codex", Report(summary="half", errors=(Fault("API Error: 529\nOverloaded"),)))
    assert [(each.rule, each.message, each.evidence) for each in told] == [
        ("END-001", "It ended failed: API Error: 529 Overloaded", (Origin("log", 2, 50),))
    ]


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("outcome", BAD)
def test_whatever_ended_badly_is_found_and_only_what_failed_is_an_error(outcome: Outcome, product: str | None) -> None:
    (told,) = found(outcome, product)
    assert told.rule == "END-001"
    assert told.severity is (Severity.ERROR if outcome is Outcome.FAILED else Severity.WARNING)


@pytest.mark.parametrize("outcome", [Outcome.COMPLETED, Outcome.UNKNOWN, Outcome.LOST])
def test_other_ends_are_not_its_business(outcome: Outcome) -> None:
    assert found(outcome, "codex") == []


def test_what_timed_out_without_a_word_is_told_by_another_rule() -> None:
    assert found(Outcome.TIMEOUT, None) == []
    assert len(found(Outcome.TIMEOUT, None, Report(errors=(Fault("the build hung"),)))) == 1


def test_what_only_repeats_how_a_child_ended_is_told_there() -> None:
    report = Report(errors=(Fault("no space left"),))
    told = all_found(
        started("a", None),
        started("b", None, parent="a"),
        ended("b", Outcome.FAILED, report),
        ended("a", Outcome.FAILED, report),
    )
    assert [each.subject for each in told] == ["b"]


def test_a_long_error_is_told_in_short() -> None:
    (told,) = found(Outcome.FAILED, "codex", Report(summary="x" * 5_000))
    assert len(told.message) < 250
