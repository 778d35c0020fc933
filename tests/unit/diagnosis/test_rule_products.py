"""Whose delegations the rules judge: the standard's rules leave the rows of other programs alone."""

import pytest
from tests import judging
from tests.telling import forest_at

from delegtop.base.clock import HOUR, MINUTE, Millis
from delegtop.base.origin import Origin
from delegtop.diagnosis.finding import Finding
from delegtop.diagnosis.rule import Rule
from delegtop.model.events import Artifact, Ended, Ending, Erred, Event, Fault, Outcome, Report, Started
from delegtop.protocols.standard.rules import return_content_rules

NOW = Millis(1_770_109_200_000)
ROOT, CHILD = "5f0c1c9e-root", "a1b2c3d4-child"
OTHERS = ("claude-code", "codex", "opencode", "cleo", "hyper")
ODD = Report(status="weird", summary="✅ **Done** " + "x" * 900, artifacts=(Artifact("/etc/x", "blob"),), depth=9)
"""A return that breaks most rules of the standard."""
PROTOCOL = ("RET-", "DEL-00", "DEL-01")


def place(line: int) -> Origin:
    return Origin("log.jsonl", line, line * 100)


def found(events: list[Event], at: int = 0) -> list[Finding]:
    forest = forest_at(NOW + at, events)
    return list(judging.all_found(forest, lambda _path: False))


def started(id: str, product: str | None, minutes: int = 10, parent: str | None = None) -> Started:
    return Started(id, Millis(NOW - minutes * MINUTE), place(1), agent="worker", parent=parent, product=product)


def ended(id: str, report: Report, minutes: int = 5) -> Ended:
    return Ended(id, Millis(NOW - minutes * MINUTE), place(2), Outcome.FAILED, Ending.RETURN, report)


@pytest.mark.parametrize("product", OTHERS)
def test_no_rule_of_the_standard_judges_another_programs_rows(product: str) -> None:
    findings = found([started(ROOT, product), started(CHILD, product, parent="unseen"), ended(CHILD, ODD)])
    assert not [finding for finding in findings if finding.rule.startswith(PROTOCOL)]


def test_the_same_rows_break_many_rules_if_they_are_of_the_standard() -> None:
    rules = {finding.rule for finding in found([started(ROOT, None), started(CHILD, None), ended(CHILD, ODD)])}
    assert {"RET-002", "RET-011", "RET-021", "DEL-002", "DEL-003", "DEL-012"} <= rules


def test_of_the_family_only_what_a_return_says_is_judged() -> None:
    findings = found([started(CHILD, "proofchecker"), ended(CHILD, ODD)])
    rules = {finding.rule for finding in findings if finding.rule.startswith(PROTOCOL)}
    contents = {each.id for each in vars(return_content_rules).values() if isinstance(each, Rule)}
    assert {"RET-011", "RET-021"} <= rules <= contents - {"RET-023"}


@pytest.mark.parametrize("product", OTHERS)
def test_every_program_is_told_of_a_child_that_outlives_its_parent(product: str) -> None:
    gone = Ended(ROOT, Millis(NOW - MINUTE), place(3), Outcome.INTERRUPTED, Ending.GONE)
    events: list[Event] = [started(ROOT, product), started(CHILD, product, 8, parent=ROOT), gone]
    assert [finding.subject for finding in found(events) if finding.rule == "DEL-024"] == [CHILD]


@pytest.mark.parametrize("product", OTHERS)
def test_every_program_is_told_of_what_is_lost_and_not_of_a_return_it_does_not_have(product: str) -> None:
    (finding,) = [each for each in found([started(CHILD, product)], 48 * HOUR) if each.rule == "DEL-021"]
    assert "return" not in finding.advice


@pytest.mark.parametrize("product", OTHERS)
def test_every_program_is_told_of_an_error_that_needs_a_person(product: str) -> None:
    fatal = Erred(CHILD, NOW, place(2), Fault("the disk is full", recoverable=False))
    assert "DEL-027" in {finding.rule for finding in found([started(CHILD, product), fatal])}
