"""Assessments are kept until something changes them: each way in which one delegation's change means something to
another, and to those who ask."""

from typing import Any

import msgspec
import pytest
from tests.telling import at, ended, handle_of, heard, place

from delegtop.base.clock import MINUTE, Millis
from delegtop.base.origin import Origin
from delegtop.diagnosis.alerts import Alerts
from delegtop.diagnosis.assessment import Assessment, Key, Urgency, assess
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.pressing import Pressing
from delegtop.model.events import (
    Described,
    Ended,
    Ending,
    Event,
    Fault,
    Noted,
    Outcome,
    Phase,
    Report,
    Resumed,
    Started,
    Surveyed,
)
from delegtop.model.forest import Forest
from delegtop.model.policy import Policy
from delegtop.model.states import State
from delegtop.model.store.ledger import Handle


def started(id: str, minute: float = 0, **fields: Any) -> Started:
    return Started(id, at(minute), place(), **({"product": "codex", "agent": f"the {id}"} | fields))


class Watch:
    """A forest watched as commands and the dashboard watch one."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.forest = Forest(policy)
        self.forest.advance(at(0))
        self.assessments = Assessments(self.forest)
        self.pressing = Pressing(self.assessments)

    def look(self, minute: float, *events: Event) -> set[Handle]:
        """Take in events, let time pass and judge; returns whose assessment is another."""
        change = self.forest.apply(events)
        lives = change.lives.union(change.added, self.forest.advance(at(minute)))
        self.assessments.touch(change.touched, lives)
        return self.settle(moved=bool(change.moved))

    def settle(self, *, moved: bool = False) -> set[Handle]:
        changed = self.assessments.update()
        self.pressing.update(changed, moved=moved)
        self.compare()
        return changed

    def compare(self) -> None:
        """What is kept is what a fresh look finds."""
        found = [plain(assess(Case(self.forest, handle))) for handle in range(len(self.forest))]
        told = [each for each in found if each.problem]
        assert [plain(each) for each in self.assessments.problems()] == sorted(told, key=lambda each: each.key)
        assert [plain(self.assessments.of(each.handle)) for each in found] == found

    def of(self, id: str) -> Assessment:
        return self.assessments.of(handle_of(self.forest, id))

    def key(self, id: str) -> Key:
        return self.pressing.key(handle_of(self.forest, id))


def plain(found: Assessment) -> Assessment:
    return msgspec.structs.replace(found, turns=None)


@pytest.fixture
def watch() -> Watch:
    return Watch()


class TestThoseBelow:
    def test_a_child_is_orphaned_when_a_parent_ends_that_became_known_after_it(self, watch: Watch) -> None:
        watch.look(1, started("child", parent="top"), heard("child", 1))
        watch.look(1.5, started("top"))
        watch.look(2, ended("top", 2))
        assert watch.of("child").kind == "orphaned"

    def test_one_that_is_lost_tells_who_was_lost_with_it_once_that_is_so(self, watch: Watch) -> None:
        watch.look(1, started("top"), started("leaf", parent="top"))
        watch.look(1500)
        assert watch.of("leaf").blocks == (0,)
        watch.look(1501, heard("top", 1501))
        assert watch.of("leaf").blocks == ()

    def test_a_limit_that_becomes_known_two_levels_above_limits_those_below(self, watch: Watch) -> None:
        watch.look(1, started("top"), started("middle", parent="top"), started("leaf", parent="middle"))
        watch.look(5, started("top", deadline=at(2)), heard("leaf", 5))
        assert watch.of("leaf").since == at(2)

    def test_work_that_is_told_of_late_shows_that_a_child_was_given_the_same(self, watch: Watch) -> None:
        watch.look(1, started("top", agent="a"), started("leaf", parent="top", agent="a"), heard("leaf", 1))
        watch.look(1, Described("leaf", at(0), place(), prompt="the same"))
        assert watch.of("leaf").kind == "running"
        watch.look(1, Described("top", at(0), place(), prompt="the same"))
        assert watch.of("leaf").kind == "looping"

    def test_a_failed_parent_that_is_given_work_anew_answers_for_its_child(self, watch: Watch) -> None:
        told = [started("top"), started("busy", parent="top"), started("middle", parent="top")]
        watch.look(5, *told, started("leaf", parent="middle"), heard("busy", 5))
        watch.look(7, ended("leaf", 7, Outcome.FAILED), ended("middle", 7, Outcome.PARTIAL))
        assert watch.of("leaf").urgency is Urgency.JUST_ENDED
        watch.look(8, Resumed("middle", at(8), place()))
        assert watch.of("leaf").urgency is Urgency.EARLIER

    def test_one_that_was_interrupted_is_told_again_when_its_parent_goes_on(self, watch: Watch) -> None:
        both = [ended("top", 2, Outcome.INTERRUPTED), ended("leaf", 2, Outcome.INTERRUPTED)]
        watch.look(3, started("top"), started("leaf", parent="top"), *both)
        assert watch.of("leaf").urgency is Urgency.AT_REST
        watch.look(60, Resumed("top", at(60), place()))
        assert watch.of("leaf").urgency is Urgency.EARLIER

    def test_one_lost_in_silence_is_lost_for_certain_once_its_session_is_found_gone(self, watch: Watch) -> None:
        watch.look(1, started("session", depth=0), started("agent", parent="session"))
        watch.look(1500, heard("session", 1490, Phase.IDLE))
        assert (watch.of("agent").kind, watch.of("agent").certainty) == ("lost", "likely")
        watch.look(1501, ended("session", 1501, Outcome.LOST, Ending.GONE))
        assert (watch.of("agent").kind, watch.of("agent").certainty) == ("lost", "certain")
        watch.look(1502, heard("session", 1502, Phase.IDLE))
        assert (watch.of("agent").kind, watch.of("agent").certainty) == ("lost", "likely")

    def test_an_orphan_whose_parent_is_no_longer_sure_is_none(self, watch: Watch) -> None:
        path = ("orchestrator", "implement")
        first = started("first", 2, path=path, agent=None, product=None)
        child = started("child", 3, path=(*path, "coder"), agent=None, product=None)
        watch.look(5, first, child, heard("child", 5), ended("first", 4))
        assert watch.of("child").kind == "orphaned"
        watch.look(5, started("other", 1, path=path, agent=None, product=None))
        assert watch.of("child").kind == "running"


class TestThoseAbove:
    def test_a_late_parent_is_judged_again_when_the_one_it_waits_on_comes_into_trouble(self, watch: Watch) -> None:
        told = [started("top", timeout=5 * MINUTE), started("leaf", parent="top"), started("other")]
        watch.look(2, *told, heard("top", 2), heard("leaf", 2), heard("other", 2))
        watch.look(300, heard("other", 300))
        assert (watch.of("top").kind, watch.of("leaf").kind) == ("host slept", "host slept")
        watch.look(301, heard("leaf", 301))
        assert (watch.of("top").kind, watch.of("leaf").kind) == ("waiting on a child", "overdue")

    def test_a_late_parent_waits_on_one_that_a_person_must_look_at(self, watch: Watch) -> None:
        told = [started("top", timeout=5 * MINUTE), started("leaf", parent="top"), started("other")]
        watch.look(2, *told, heard("top", 2), heard("leaf", 2), heard("other", 2))
        watch.look(300, heard("other", 300), Noted("leaf", at(299), place(), "review", "the plan"))
        assert (watch.of("top").kind, watch.of("leaf").kind) == ("waiting on a child", "needs review")

    def test_who_is_at_the_end_of_a_path_changes_also_for_one_that_asks_a_person(self, watch: Watch) -> None:
        children = [started("first", parent="top"), started("second", 1, parent="top")]
        asks = heard("top", 2, Phase.PERMISSION)
        watch.look(2, started("top"), *children, asks, *(heard(id, 2, Phase.ANSWER) for id in ("first", "second")))
        assert (watch.of("first").blocks, watch.of("second").blocks) == ((0,), ())
        watch.look(3, ended("first", 3))
        assert watch.of("second").blocks == (0,)

    def test_one_that_is_past_its_deadline_is_told_again_after_the_machine_slept(self, watch: Watch) -> None:
        watch.look(3, started("late", timeout=5 * MINUTE), started("other"), heard("late", 2), heard("other", 2))
        watch.look(300, heard("other", 300))
        assert watch.of("late").kind == "host slept"
        watch.look(301, heard("late", 301))
        assert watch.of("late").kind == "overdue"

    def test_a_child_at_rest_that_is_heard_of_once_more_was_done_later(self, watch: Watch) -> None:
        watch.look(3, started("top"), heard("top", 1, Phase.CHILD), started("leaf", depth=0, parent="top"))
        watch.look(5, heard("leaf", 5, Phase.IDLE))
        watch.look(16)
        assert watch.of("top").kind == "lost return"
        watch.look(16, heard("leaf", 15, Phase.IDLE))
        assert watch.of("top").kind != "lost return"

    def test_of_two_that_were_done_in_the_same_moment_it_is_always_the_same_that_is_named(self) -> None:
        children = [event for id in ("one", "two") for event in (started(id, parent="top"), ended(id, 5))]
        sentences = set()
        for told in (children, children[::-1]):
            watch = Watch()
            watch.look(60, started("top"), heard("top", 1, Phase.CHILD), *told)
            assert watch.of("top").kind == "lost return"
            sentences.add(watch.of("top").said)
        assert len(sentences) == 1


class TestTime:
    def test_a_silence_is_judged_anew_once_a_record_from_the_future_is_reached(self, watch: Watch) -> None:
        watch.look(60, started("quiet"), started("other", agent="b"), ended("other", 62))
        assert watch.of("quiet").kind == "silent"
        watch.look(63)
        assert watch.of("quiet").kind == "host slept"

    def test_other_sleeps_of_the_same_length_are_others(self, watch: Watch) -> None:
        talk = [heard("other", minute) for minute in (0, 10, 20, 30, 40, 50, 58, 78)]
        watch.look(79, started("quiet"), heard("quiet", 50), started("other", agent="b"), *talk)
        assert watch.of("quiet").kind == "host slept"
        watch.look(79, heard("other", 68), heard("other", -20))
        assert watch.of("quiet").kind == "silent"

    def test_a_clock_that_is_set_back_makes_what_was_past_come_again(self, watch: Watch) -> None:
        watch.look(3, started("a"), ended("a", 2, Outcome.FAILED))
        watch.look(60)
        assert watch.of("a").urgency is Urgency.EARLIER
        watch.look(4)
        assert watch.of("a").urgency is Urgency.JUST_ENDED

    def test_what_is_usual_counts_from_the_minute_in_which_it_is_learned(self, watch: Watch) -> None:
        done = [started(f"d{n}", -90, agent="worker") for n in range(7)]
        told: list[Event] = [*done, *(ended(f"d{n}", -30) for n in range(7))]
        watch.look(12, started("quiet", agent="worker"), *told, *(heard("d0", minute) for minute in range(1, 13)))
        assert watch.of("quiet").kind == "silent"
        watch.look(13, started("d8", -90, agent="worker"), ended("d8", -30), heard("d0", 13))
        watch.look(14.1, heard("d0", 14))
        assert watch.of("quiet").kind != "silent" or not watch.of("quiet").problem

    def test_what_is_learned_of_the_history_counts_within_a_minute(self, watch: Watch) -> None:
        watch.look(42, started("quiet", agent="worker"), started("o"), *(heard("o", minute) for minute in range(43)))
        assert watch.of("quiet").problem
        watch.forest.reconsider({("codex", "worker"): (Millis(60 * MINUTE), 9)})
        watch.look(43.1, heard("o", 43))
        assert not watch.of("quiet").problem


class TestAsking:
    def test_whoever_asks_first_does_not_keep_the_news_from_others(self, watch: Watch) -> None:
        watch.look(1, started("a"), heard("a", 1, Phase.MODEL))
        watch.forest.advance(at(22))
        assert watch.assessments.of(0).urgency is Urgency.STUCK
        assert watch.assessments.update() == {0}

    def test_what_has_only_beaten_once_more_is_not_judged_again(self, watch: Watch) -> None:
        watch.look(1, started("a"), heard("a", 1, Phase.TOOL, "Bash"))
        watch.assessments.touch([0], [])
        assert watch.assessments.waiting == 0

    def test_the_evidence_of_one_that_waits_is_where_the_other_was_last_heard(self, watch: Watch) -> None:
        watch.look(1, started("top"), started("leaf", parent="top"))
        beat = heard("leaf", 2)
        watch.look(2, beat)
        assert beat.origin in watch.of("top").evidence


class TestPressing:
    def test_an_earlier_trouble_that_was_older_than_it_seemed_comes_later(self, watch: Watch) -> None:
        watch.look(100, started("a"), ended("a", 10, Outcome.TIMEOUT, Ending.TIMEOUT), started("b"), ended("b", 5))
        assert watch.key("a") == (Urgency.EARLIER, 0, -at(10), "", "a", 0)
        watch.look(100, ended("a", 1, Outcome.FAILED))
        assert watch.key("a") == (Urgency.EARLIER, 0, -at(1), "", "a", 0)

    def test_what_left_the_registry_has_one_place_in_the_order(self, watch: Watch) -> None:
        registry = Origin("registry.json", 1, 0)
        watch.look(3, Surveyed(at(1), registry, ("a",)), Surveyed(at(2), registry, ()))
        assert watch.key("a") == watch.of("a").key


def test_an_errors_words_are_handed_up_or_not_as_they_become_known(watch: Watch) -> None:
    fault = Fault("no memory")
    told = [started("top"), started("leaf", parent="top")]
    report = Report(status="failed", errors=(fault,))
    watch.look(3, *told, *(Ended(id, at(2), place(), Outcome.FAILED, Ending.RETURN, report) for id in ("top", "leaf")))
    assert watch.of("top").urgency is Urgency.AT_REST
    watch.look(4, Noted("top", at(4), place(), "review", "look"))
    assert watch.of("top").urgency is Urgency.PERSON
    watch.look(5, Noted("top", at(5), place(), "review", ""))
    assert watch.of("top").urgency is Urgency.AT_REST


class TestManyChildren:
    """Counted, not timed: whom a parent of many waits on is found without asking all of them again and again."""

    @staticmethod
    def asked(monkeypatch: pytest.MonkeyPatch, watch: Watch, *events: Event) -> int:
        asked = 0
        state = Forest.state

        def counted(self: Forest, handle: Handle) -> State:
            nonlocal asked
            asked += 1
            return state(self, handle)

        with monkeypatch.context() as patched:
            patched.setattr(Forest, "state", counted)
            change = watch.forest.apply(events)
            lives = change.lives.union(change.added, watch.forest.advance(at(15)))
            watch.assessments.touch(change.touched, lives)
            watch.assessments.update()
        return asked

    def test_a_thousand_that_hang_below_one_are_each_asked_a_few_times(
        self, monkeypatch: pytest.MonkeyPatch, watch: Watch
    ) -> None:
        told: list[Event] = [started("top"), *(started(f"c{n}", parent="top") for n in range(1_000))]
        told += [heard(f"c{n}", 1, Phase.MODEL) for n in range(1_000)]
        assert self.asked(monkeypatch, watch, *told) < 30 * 1_000
        assert len(watch.assessments.now()) == 1 + 1_000, "and who started a thousand runs away"

    def test_those_that_are_done_are_not_asked_when_another_begins(
        self, monkeypatch: pytest.MonkeyPatch, watch: Watch
    ) -> None:
        told: list[Event] = [started("top"), *(started(f"c{n}", parent="top") for n in range(1_000))]
        self.asked(monkeypatch, watch, *told, *(ended(f"c{n}", 1) for n in range(1_000)), heard("top", 14))
        assert self.asked(monkeypatch, watch, started("new", 15, parent="top")) < 100


class TestAtAGlance:
    """Who is plainly at work or orphaned, or ended badly, has its place without being assessed."""

    @pytest.fixture
    def assessed(self, monkeypatch: pytest.MonkeyPatch, watch: Watch) -> list[str]:
        found: list[str] = []

        def counted(case: Case) -> Assessment:
            found.append(watch.forest.id(case.handle))
            return assess(case)

        monkeypatch.setattr("delegtop.diagnosis.assessments.assess", counted)
        monkeypatch.setattr(watch, "compare", lambda: None)
        return found

    def test_most_are_not_assessed_before_somebody_asks(self, watch: Watch, assessed: list[str]) -> None:
        told = [started("top"), started("a", parent="top"), started("b", parent="a"), started("c", parent="top")]
        watch.look(0.5, *told, ended("a", 0.4), ended("c", 0.4, Outcome.FAILED))
        kept = watch.assessments
        assert ([watch.forest.id(handle) for handle in kept.in_order()], assessed) == (["c", "b"], [])
        assert [each.kind for each in kept.problems()] == ["failed", "orphaned"]
        assert sorted(assessed) == ["b", "c"]

    def test_another_word_of_one_at_work_is_no_reason_to_look_at_it(self, watch: Watch, assessed: list[str]) -> None:
        watch.look(0.5, started("a"), started("b", parent="a"), ended("a", 0.4))
        before = watch.assessments.version
        assert watch.look(0.6, heard("b", 0.6)) == set()
        assert (watch.assessments.version, assessed) == (before, [])

    def test_one_that_was_asked_about_is_only_glanced_at_again(self, watch: Watch, assessed: list[str]) -> None:
        watch.look(0.5, started("a"), started("b", parent="a"), ended("a", 0.4))
        assert watch.of("b").kind == "orphaned"
        watch.look(0.6, heard("b", 0.6))
        assert assessed == ["b"]
        assert watch.of("b").evidence[-1] == watch.forest.delegation(handle_of(watch.forest, "b")).heard_origin

    def test_silence_is_looked_at_closely(self, watch: Watch, assessed: list[str]) -> None:
        watch.look(0.5, started("a"), started("b", parent="a"), ended("a", 0.4))
        assert "b" not in assessed
        watch.look(30)
        assert "b" in assessed
        assert watch.assessments.first() == watch.of("b")

    def test_a_tree_that_outgrows_its_limits_is_assessed(self, watch: Watch, assessed: list[str]) -> None:
        watch.look(0.5, started("top"), *(started(f"c{n}", parent="top") for n in range(20)))
        assert assessed == []
        watch.look(0.6, *(started(f"d{n}", 0.6, parent="top") for n in range(20)))
        assert assessed == ["top"]
        assert watch.of("top").kind == "running away"

    def test_neither_their_order_nor_who_begins_to_tell_asks_for_more(self, watch: Watch, assessed: list[str]) -> None:
        failed = [each for n in range(9) for each in (started(f"c{n}"), ended(f"c{n}", 0.4, Outcome.FAILED))]
        watch.look(90, *failed)
        pressing = Pressing(watch.assessments)
        assert len([*pressing.troubled]) == 9
        alerts = Alerts(watch.forest, watch.assessments)
        assert (alerts.begin(), assessed) == ([], [])
        assert alerts.look(range(9), range(9)) == []
        assert assessed == [], "what was so before is no news"

    def test_what_is_only_glanced_at_is_looked_at_closely_a_little_at_a_time(
        self, watch: Watch, assessed: list[str]
    ) -> None:
        failed = [each for n in range(50) for each in (started(f"c{n}"), ended(f"c{n}", 0.4, Outcome.FAILED))]
        watch.look(90, *failed)
        kept = watch.assessments
        assert kept.look_closer(-1, earlier=False) is False, "none of them is of this moment"
        assert kept.look_closer(-1, earlier=True)
        assert 0 < len(assessed) < 50
        assert kept.look_closer(60, earlier=True) is False
        assert len(assessed) == 50
        assert [kept.looked_at(handle) for handle in kept.in_order(earlier=True)] == kept.problems()

    def test_what_an_ended_one_says_otherwise_is_told(self, watch: Watch, assessed: list[str]) -> None:
        watch.look(0.5, started("top"), started("a", parent="top"), ended("a", 0.4, Outcome.FAILED))
        a, again = handle_of(watch.forest, "a"), Ended("a", at(0.4), place("b.jsonl"), Outcome.FAILED, Ending.RETURN)
        assert watch.look(0.6, msgspec.structs.replace(again, report=Report(summary="no disk"))) == {a}
        assert assessed == []


def test_of_two_that_are_alike_the_one_that_was_read_first_is_not_ranked_first() -> None:
    told = [event for id in ("b", "a", "c") for event in (started(id), ended(id, 5))]
    for events in (told, told[::-1], [*told[2:], *told[:2]]):
        forest = Forest()
        forest.apply(events)
        forest.advance(at(90))
        assert [forest.id(handle) for handle in Assessments(forest).ranked()] == ["a", "b", "c"]
