"""The rules on the ProofChecker family: each finds its fault, and keeps quiet otherwise."""

import pytest
from tests import judging
from tests.telling import forest_at, handle_of

from delegtop.base.clock import HOUR, MINUTE, Millis
from delegtop.base.origin import Origin
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.model import notes
from delegtop.model.events import (
    Artifact,
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Heard,
    Noted,
    Outcome,
    Report,
    Resumed,
    Started,
    Trust,
)
from delegtop.protocols.proofchecker import vocabulary as words

NOW = Millis(1_789_380_000_000)
SESSION = "sess_1789370000_abc123"
ROW = f"{SESSION}/42/implement"
PLACE = Origin("/work/specs/042_x/.return-meta.json", 1, 0)


def started(ago: int = 2 * HOUR, id: str = ROW, command: str = "implement", parent: str | None = SESSION) -> Started:
    return Started(id, Millis(NOW - ago), PLACE, command=command, task="42", parent=parent, product="proofchecker")


def heard(ago: int, doing: str | None = None, id: str = ROW) -> Heard:
    return Heard(id, Millis(NOW - ago), PLACE, doing=doing)


def noted(kind: str, text: str, ago: int = HOUR, id: str = ROW, source: str = PLACE.source) -> Noted:
    return Noted(id, Millis(NOW - ago), Origin(source, 1, 0), kind, text)


def ended(outcome: Outcome, ago: int = HOUR, report: Report = Report(), id: str = ROW) -> Ended:  # noqa: B008 - frozen
    return Ended(id, Millis(NOW - ago), PLACE, outcome, Ending.RETURN, report)


def found(*events: Event, exists: bool | None = None, id: str = ROW) -> list[Finding]:
    forest = forest_at(NOW, events)
    handle = handle_of(forest, id)
    told = judging.found(forest, handle, lambda _path: exists)
    return [finding for finding in told if finding.rule.startswith("FAM-")]


def rules(*events: Event, exists: bool | None = None, id: str = ROW) -> set[str]:
    return {finding.rule for finding in found(*events, exists=exists, id=id)}


def test_only_rows_of_the_family_are_judged() -> None:
    other = Started(ROW, Millis(NOW - 30 * HOUR), PLACE, command="implement", task="42", product="codex")
    assert rules(other, noted(notes.REVIEW, "Choose.")) == set()


def test_a_review_comes_first_whatever_else_is_wrong_and_is_the_agents_word() -> None:
    told = found(started(40 * HOUR), noted(notes.REVIEW, "Choose one of two."))
    assert told[0].rule == "FAM-001"
    assert (told[0].by, told[0].advice, told[0].severity) == ("agent", "Choose one of two.", Severity.ERROR)


def test_a_review_of_a_dispatch_before_the_last_is_over() -> None:
    assert "FAM-001" not in rules(started(), noted(notes.REVIEW, "Choose."), Resumed(ROW, Millis(NOW - MINUTE), PLACE))


# -- the five conditions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["plan", "research", "implement"])
def test_silence_counts_from_what_its_kind_usually_takes(command: str) -> None:
    usual = words.USUAL[command]
    assert "FAM-010" in rules(started(usual + MINUTE, command=command))
    assert rules(started(usual - MINUTE, command=command)) == set()


def test_silence_for_longer_than_a_marker_lives_is_an_error_with_the_command_to_repeat() -> None:
    (finding,) = found(started(2 * HOUR), heard(2 * HOUR - MINUTE, "initializing"))
    assert (finding.rule, finding.severity, finding.command) == ("FAM-010", Severity.ERROR, "/implement 42")
    assert "initializing" in finding.message


@pytest.mark.parametrize(
    ("sign", "rule"),
    [
        (noted(notes.SALVAGE, "phase 1 done"), "FAM-011"),
        (noted(notes.SALVAGE, "src/made.py"), "FAM-011"),
        (noted(notes.DEFECT, "META_MISSING_AFTER_NARRATION: told and not written"), "FAM-011"),
        (noted(notes.PARKED, "waits for the build"), "FAM-012"),
        (noted(notes.LOOP, "dispatched 4 times"), "FAM-013"),
        (noted(notes.LOOP, "stop refused 3 of 3 times"), "FAM-013"),
        (noted(notes.MARKER, "open"), "FAM-010"),
    ],
)
def test_each_sign_tells_one_condition(sign: Noted, rule: str) -> None:
    conditions = {"FAM-010", "FAM-011", "FAM-012", "FAM-013", "FAM-014"}
    assert rules(started(), sign) & conditions == {rule}


def test_work_that_is_not_on_disk_is_no_work() -> None:
    assert "FAM-011" not in rules(started(), noted(notes.SALVAGE, "src/made.py"), exists=False)


def test_a_session_that_only_hands_on_is_in_none_of_the_conditions() -> None:
    assert rules(started(id=SESSION, parent=None), id=SESSION) == set()


def test_what_is_done_in_the_end_does_not_go_round() -> None:
    assert rules(started(), noted(notes.LOOP, "dispatched 4 times"), ended(Outcome.COMPLETED)) == set()


def test_a_report_with_a_marker_that_stays_was_not_taken() -> None:
    (finding,) = found(started(), noted(notes.MARKER, "open"), ended(Outcome.COMPLETED))
    assert (finding.rule, finding.command) == ("FAM-014", "/implement 42")
    assert rules(started(), noted(notes.MARKER, "open"), ended(Outcome.COMPLETED, ago=MINUTE)) == set()


def test_a_sign_of_life_after_the_report_is_told() -> None:
    (finding,) = found(started(), ended(Outcome.COMPLETED), heard(10 * MINUTE))
    assert finding.rule == "FAM-014"
    assert "50:00 later" in finding.message


# -- locks, lists, recovery --------------------------------------------------------------------------------------------


def test_a_lock_of_a_session_that_is_not_heard_of_is_stale() -> None:
    lock = noted(notes.LOCK, "holds the lock of task 42", 3 * HOUR, SESSION)
    session = started(3 * HOUR, SESSION, "orchestrate", None)
    assert "FAM-015" in rules(session, lock, id=SESSION)
    assert "FAM-015" not in rules(session, lock, heard(MINUTE, id=SESSION), id=SESSION)


def test_the_words_about_going_on_are_handed_on_with_the_command_in_them() -> None:
    (finding,) = found(started(), ended(Outcome.PARTIAL), noted(notes.NEXT, "Then run /plan 43."))
    assert (finding.rule, finding.by, finding.command) == ("FAM-016", "agent", "/plan 43")


def test_the_recommendation_of_an_error_is_handed_on_too() -> None:
    report = Report("partial", errors=(Fault("it broke", recommendation="mend it"),))
    (finding,) = found(started(), ended(Outcome.PARTIAL, report=report))
    assert (finding.rule, finding.advice, finding.command) == ("FAM-016", "mend it", "/implement 42")


def test_a_task_that_only_the_list_knows_is_told_once() -> None:
    id = "task 42/research"
    row = Started(
        id, Millis(NOW - 90 * HOUR), PLACE, command="research", task="42", trust=Trust.MODEL, product="proofchecker"
    )
    told = found(row, heard(90 * HOUR, id=id), noted(notes.LISTED, "researching", id=id), id=id)
    assert [(finding.rule, finding.command) for finding in told] == [("FAM-017", "/research 42")]


# -- the contract ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("breach", "rule"),
    [
        ("status: report_written", "FAM-020"),
        ("stop: done", "FAM-020"),
        ("completion: there is no completion_data.completion_summary", "FAM-028"),
        ("artifacts: 1 of 2 are bare paths", "FAM-021"),
        ("session: there is no session id", "FAM-022"),
        ("shell: created is $(date", "FAM-023"),
        ("phases: 1 of 3 are completed", "FAM-025"),
    ],
)
def test_every_breach_has_a_rule_of_its_own(breach: str, rule: str) -> None:
    (finding,) = found(started(), ended(Outcome.COMPLETED), noted(notes.BREACH, breach))
    assert finding.rule == rule
    assert breach.partition(": ")[2] in finding.message
    assert finding.evidence == (PLACE,)


def test_several_breaches_of_one_file_are_several_findings() -> None:
    both = noted(notes.BREACH, "status: done\nsession: there is no session id")
    assert rules(started(), ended(Outcome.COMPLETED), both) == {"FAM-020", "FAM-022"}


def test_a_return_older_than_the_dispatch_is_of_another() -> None:
    events = (
        started(5 * HOUR),
        noted(notes.REPORTED, "planned", 4 * HOUR),
        Resumed(ROW, Millis(NOW - 2 * HOUR), PLACE),
    )
    assert "FAM-024" in rules(*events)
    assert "FAM-024" not in rules(*events, noted(notes.REPORTED, "planned", HOUR))


def test_missing_files_of_a_success_are_told() -> None:
    report = Report("implemented", artifacts=(Artifact("src/a.py"),))
    assert "FAM-026" in rules(started(), ended(Outcome.COMPLETED, report=report), exists=False)
    assert "FAM-026" not in rules(started(), ended(Outcome.COMPLETED, report=report), exists=None)
    assert "FAM-026" not in rules(started(), ended(Outcome.PARTIAL, report=report), exists=False)


def test_what_did_not_succeed_and_says_nothing_is_told() -> None:
    assert rules(started(), ended(Outcome.BLOCKED)) == {"FAM-027"}
    assert "FAM-027" not in rules(started(), ended(Outcome.BLOCKED), noted(notes.BLOCKER, "no key"))


def test_every_class_of_defect_is_explained() -> None:
    assert len(words.DEFECTS) == 14
    text = "\n".join(f"{name}: detail" for name in (*words.DEFECTS, "NEW_CLASS"))
    told = [finding for finding in found(started(MINUTE), noted(notes.DEFECT, text)) if finding.rule == "FAM-030"]
    assert len(told) == 15
    assert all(finding.advice for finding in told)


def test_a_recorded_error_is_told_with_the_way_to_mend_it() -> None:
    fault = Fault("locked", "git_commit_failure", recommendation="unlock")
    recorded = Erred(ROW, Millis(NOW - HOUR), Origin("/work/specs/errors.json", 1, 0), fault)
    (finding,) = [each for each in found(started(HOUR), ended(Outcome.COMPLETED), recorded) if each.rule == "FAM-031"]
    assert (finding.by, finding.advice) == ("agent", "unlock")
    elsewhere = Erred(ROW, Millis(NOW - HOUR), Origin("/work/specs/.orchestrator-multi-state.json", 1, 0), fault)
    assert "FAM-031" not in rules(started(HOUR), ended(Outcome.COMPLETED), elsewhere)
