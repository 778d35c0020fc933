"""What changed is told once, to whoever asks since when."""

from tests.telling import at, ended, forest_at, heard, started

from delegtop.diagnosis.assessments import Assessments
from delegtop.mcp_server import change_journal
from delegtop.mcp_server.change_journal import ChangeJournal, status_of
from delegtop.model.events import Event, Outcome, Phase
from delegtop.model.states import State


def look(journal: ChangeJournal, *events: Event, minute: float = 1) -> list[tuple[str, str, str]]:
    """What a look at all of that adds."""
    found = Assessments(forest_at(at(minute), events))
    found.update()
    place = journal.number(journal.cursor) or 0
    journal.look(found, range(len(found.forest)))
    return [(entry.id, entry.what, entry.status) for entry in journal.since(place)]


def test_what_is_there_at_the_first_look_is_no_change() -> None:
    journal = ChangeJournal()
    assert look(journal, started("a"), heard("a", 0.5, Phase.ANSWER)) == []
    assert look(journal, started("a"), heard("a", 0.5, Phase.ANSWER)) == []


def test_a_start_a_problem_its_end_and_the_end_are_told_once_each() -> None:
    journal = ChangeJournal()
    assert look(journal) == []
    begun: list[Event] = [started("a")]
    assert look(journal, *begun) == [("a", "started", "working")]
    asks: list[Event] = [*begun, heard("a", 0.5, Phase.PERMISSION, "Bash")]
    assert look(journal, *asks) == [("a", "problem", "needs_person")]
    assert look(journal, *asks) == []
    goes_on: list[Event] = [*asks, heard("a", 0.8, Phase.TOOL, "Bash")]
    assert look(journal, *goes_on) == [("a", "problem_over", "working")]
    assert look(journal, *goes_on, ended("a", 0.9)) == [("a", "ended", "completed")]


def test_a_failure_is_an_end_and_a_problem() -> None:
    journal = ChangeJournal()
    look(journal, started("a"))
    told = look(journal, started("a"), ended("a", 0.9, Outcome.FAILED))
    assert told == [("a", "ended", "ended_badly"), ("a", "problem", "ended_badly")]


def test_what_happened_while_nobody_looked_is_found_at_the_next_look() -> None:
    journal = ChangeJournal()
    look(journal, started("a"), started("b"))
    told = look(journal, started("a"), ended("a", 5), started("b"), started("c", 6), ended("c", 7), minute=9)
    assert ("a", "ended", "completed") in told
    assert not [entry for entry in told if entry[0] == "c"], "what came and went meanwhile was never open to us"


def test_a_cursor_of_another_server_or_of_the_future_is_not_ours() -> None:
    journal, other = ChangeJournal(), ChangeJournal()
    other._name = "ffff"
    assert journal.number(other.cursor) is None
    for cursor in (None, "", "7", "x-y", f"{journal._name}-99", f"{journal._name}--1", f"{journal._name}-²"):
        assert journal.number(cursor) is None
    assert journal.number(journal.cursor) == 0


def test_what_is_not_kept_any_more_is_counted() -> None:
    journal = ChangeJournal()
    look(journal)
    look(journal, *(started(f"s{number}") for number in range(change_journal._KEPT + 7)))
    assert len(journal.since(0)) == change_journal._KEPT
    assert journal.gone(0) == 7
    assert journal.gone(journal.number(journal.cursor) or 0) == 0


def test_every_state_has_a_status_of_its_own_kind() -> None:
    assert change_journal._BY_STATE[State.IDLE] == "idle_between_prompts"
    found = Assessments(forest_at(at(1), [started("a"), heard("a", 0.5, Phase.ANSWER)]))
    assert status_of(found.of(0)) == "needs_person"
    assert status_of(Assessments(forest_at(at(1), [started("a"), ended("a", 0.5)])).of(0)) == "completed"
