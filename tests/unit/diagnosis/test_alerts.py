"""What is worth telling is told once, when it becomes so, and never of what was over before."""

import pytest
from tests.telling import at, ended, heard, place, started

from delegtop.base.clock import MINUTE, SECOND
from delegtop.diagnosis.alerts import Alert, Alerts, Cause
from delegtop.diagnosis.assessment import Assessment
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.news import Item, NewsWatch, What
from delegtop.model.events import Described, Ended, Ending, Event, Noted, Outcome, Phase, Resumed
from delegtop.model.forest import Forest
from delegtop.model.states import State
from delegtop.model.store.ledger import Handle
from delegtop.observation.observation import Changes


class Scene:
    """A forest that is looked at minute by minute; both watchers see the same."""

    def __init__(self, *events: Event, minute: float = 0) -> None:
        self.forest = Forest()
        self.forest.apply(events)
        self.forest.advance(at(minute))
        self.assessments = Assessments(self.forest)
        self.assessments.update()
        self.alerts = Alerts(self.forest, self.assessments)
        self.news = NewsWatch(self.forest, self.assessments)
        self.alerts.begin()
        self.first = self.news.begin()

    def _changes(self, minute: float, events: tuple[Event, ...]) -> Changes:
        change = self.forest.apply(events)
        lives = {*change.lives, *change.added, *self.forest.advance(at(minute))}
        self.assessments.touch(change.touched, lives)
        return Changes(change.touched | lives, lives, self.assessments.update())

    def look(self, minute: float, *events: Event) -> list[Alert]:
        touched, _, assessed = self._changes(minute, events)
        return self.alerts.look(touched, assessed)

    def read(self, minute: float, *events: Event) -> list[Item]:
        touched, lives, assessed = self._changes(minute, events)
        return self.news.look(touched, lives | assessed)


def causes(alerts: list[Alert]) -> list[tuple[str, Cause]]:
    return [(alert.id, alert.cause) for alert in alerts]


def told(items: list[Item]) -> list[tuple[What, State | str]]:
    return [(item.what, item.finding.rule if item.finding else item.state) for item in items]


class TestAlerts:
    def test_one_that_becomes_overdue_is_told_once(self) -> None:
        scene = Scene(started(timeout=10 * MINUTE), heard("a", 9))
        assert scene.look(9) == []
        (alert,) = scene.look(11, heard("a", 10.9))
        assert (alert.cause, alert.state, alert.since) == (Cause.OVERDUE, State.OVERDUE, at(10))
        assert [scene.look(minute, heard("a", minute)) for minute in (11.5, 12, 13)] == [[], [], []]

    def test_one_that_hangs_is_told_by_time_alone(self) -> None:
        scene = Scene(started(timeout=10 * MINUTE), heard("a", 9.9, Phase.TOOL, "Bash"))
        assert causes(scene.look(10.1)) == [("a", Cause.OVERDUE)]
        assert causes(scene.look(25)) == [("a", Cause.HUNG)]
        assert scene.look(40) == []

    @pytest.mark.parametrize(
        ("outcome", "cause"),
        [
            (Outcome.FAILED, Cause.FAILED),
            (Outcome.TIMEOUT, Cause.FAILED),
            (Outcome.PARTIAL, Cause.FAILED),
            (Outcome.INTERRUPTED, Cause.FAILED),
            (Outcome.BLOCKED, Cause.PERSON),
        ],
    )
    def test_a_bad_end_is_told_and_then_that_the_tree_is_done(self, outcome: Outcome, cause: Cause) -> None:
        scene = Scene(started())
        alerts = scene.look(5, ended("a", 5, outcome))
        assert causes(alerts) == [("a", cause), ("a", Cause.DONE)]
        assert alerts[0].message == f"It ended {outcome} 0:00 ago: so it went."
        assert scene.look(6, heard("a", 4)) == []

    def test_a_permission_is_told_at_once_and_the_next_one_again(self) -> None:
        scene = Scene(started())
        assert causes(scene.look(1, heard("a", 1, Phase.PERMISSION, "Bash"))) == [("a", Cause.PERSON)]
        assert scene.look(2) == []
        assert causes(scene.look(3, heard("a", 3, Phase.TOOL, "Bash"))) == [("a", Cause.RESOLVED)]
        assert causes(scene.look(5, heard("a", 5, Phase.PERMISSION, "Bash"))) == [("a", Cause.PERSON)]

    def test_what_a_person_must_review_is_told_with_the_reason(self) -> None:
        scene = Scene(started())
        (alert,) = scene.look(1, Noted("a", at(1), place(), "review", "the lemma is false"))
        assert (alert.cause, alert.message) == (
            Cause.PERSON,
            "A person must look before it goes on: the lemma is false.",
        )

    def test_one_whose_process_is_gone_is_told_as_lost(self) -> None:
        scene = Scene(started())
        gone = Ended("a", at(3), place(), Outcome.LOST, Ending.GONE)
        assert causes(scene.look(3, gone)) == [("a", Cause.LOST)]

    def test_of_a_stuck_path_only_the_end_is_told(self) -> None:
        scene = Scene(started(timeout=10 * MINUTE), started("b", 1, parent="a"), started("c", 2, parent="b"))
        alerts = scene.look(30)
        assert [alert.id for alert in alerts] == ["c"]

    def test_silence_alone_is_not_told(self) -> None:
        scene = Scene(started(), heard("a", 1))
        assert [scene.look(minute) for minute in (5, 30, 90)] == [[], [], []]

    def test_a_tree_is_done_when_the_last_of_it_is_and_only_then(self) -> None:
        scene = Scene(started(), started("b", 1, parent="a"), started("c", 1, parent="a"))
        assert scene.look(2, ended("b", 2)) == []
        assert Cause.DONE not in [alert.cause for alert in scene.look(3, ended("a", 3))]
        (alert,) = scene.look(4, ended("c", 4))
        assert (alert.id, alert.cause, alert.message) == ("a", Cause.DONE, "3 delegations: 3 completed")

    def test_one_that_is_at_work_when_its_parent_ends_is_not_told_as_hung(self) -> None:
        scene = Scene(started(), started("b", 1, parent="a"))
        assert scene.look(3, heard("b", 3), ended("a", 3)) == []

    def test_a_session_is_done_each_time_that_it_comes_to_rest(self) -> None:
        scene = Scene(started())
        assert causes(scene.look(2, heard("a", 2, Phase.IDLE))) == [("a", Cause.DONE)]
        assert scene.look(3, heard("a", 3, Phase.MODEL)) == []
        assert causes(scene.look(4, heard("a", 4, Phase.IDLE))) == [("a", Cause.DONE)]

    def test_one_that_came_and_went_between_two_looks_is_done_once(self) -> None:
        scene = Scene(started("other"))
        assert causes(scene.look(2, started("a", 1), ended("a", 1.5))) == [("a", Cause.DONE)]
        assert scene.look(3, heard("a", 1.2)) == []

    def test_what_was_so_at_the_beginning_is_not_told(self) -> None:
        scene = Scene(
            started(timeout=10 * MINUTE), started("b"), ended("b", 5, Outcome.FAILED), heard("a", 11), minute=12
        )
        assert scene.look(13, heard("b", 4), heard("a", 13)) == []

    def test_a_log_that_is_found_late_tells_of_long_ago_and_nobody_is_told(self) -> None:
        scene = Scene(started("other", 99), minute=100)
        assert scene.look(101, started("a", 0), ended("a", 5, Outcome.FAILED)) == []

    def test_one_known_as_open_is_told_even_if_its_end_was_written_late(self) -> None:
        scene = Scene(started(), minute=100)
        assert causes(scene.look(101, ended("a", 5, Outcome.FAILED))) == [("a", Cause.FAILED), ("a", Cause.DONE)]

    def test_one_that_is_taken_up_again_and_fails_again_is_told_again(self) -> None:
        scene = Scene(started())
        scene.look(2, ended("a", 2, Outcome.FAILED))
        again = scene.look(5, Resumed("a", at(3), place()), ended("a", 5, Outcome.FAILED))
        assert ("a", Cause.FAILED) in causes(again)


class TestResolved:
    """That what was told is over is told once, with how long it was so."""

    def test_a_question_that_was_answered(self) -> None:
        scene = Scene(started())
        (asked,) = scene.look(1, heard("a", 1, Phase.PERMISSION, "Bash"))
        (over,) = scene.look(5.5, heard("a", 5.5, Phase.TOOL, "Bash"))
        assert (over.cause, over.was, over.since, over.state) == (Cause.RESOLVED, Cause.PERSON, at(1), State.RUNNING)
        assert over.message == f"It was answered after 4:30 ({asked.kind})."
        assert scene.look(6, heard("a", 6, Phase.TOOL, "Bash")) == []

    def test_one_that_hung_and_goes_on(self) -> None:
        scene = Scene(started(), heard("a", 1, Phase.MODEL))
        assert causes(scene.look(22)) == [("a", Cause.HUNG)]
        (over,) = scene.look(23, heard("a", 23, Phase.TOOL, "Bash"))
        assert (over.id, over.cause, over.was) == ("a", Cause.RESOLVED, Cause.HUNG)
        assert over.message == "It goes on after 22:00 (no model answer)."

    def test_one_that_was_late_and_came_after_all(self) -> None:
        scene = Scene(started(timeout=10 * MINUTE), heard("a", 9))
        scene.look(11, heard("a", 10.9))
        alerts = scene.look(12, ended("a", 12))
        assert causes(alerts) == [("a", Cause.RESOLVED), ("a", Cause.DONE)]
        assert alerts[0].message == "It completed after 2:00 (overdue)."

    def test_a_bad_end_is_told_as_such_and_not_as_a_good_one(self) -> None:
        scene = Scene(started(timeout=10 * MINUTE), heard("a", 9))
        scene.look(11, heard("a", 10.9))
        alerts = scene.look(12, ended("a", 12, Outcome.FAILED))
        assert causes(alerts) == [("a", Cause.FAILED), ("a", Cause.DONE)]

    def test_what_gets_worse_is_not_over_and_counts_from_the_first(self) -> None:
        scene = Scene(started(timeout=10 * MINUTE), heard("a", 9.9, Phase.TOOL, "Bash"))
        assert causes(scene.look(10.1)) == [("a", Cause.OVERDUE)]
        assert causes(scene.look(25)) == [("a", Cause.HUNG)]
        over, _ = scene.look(30, ended("a", 30))
        assert (over.cause, over.was) == (Cause.RESOLVED, Cause.HUNG)
        assert over.message.startswith("It completed after 20:06 ")

    def test_a_failure_is_not_over_because_it_was_long_ago(self) -> None:
        scene = Scene(started())
        scene.look(2, ended("a", 2, Outcome.FAILED))
        assert [scene.look(minute) for minute in (30, 60, 600, 3000)] == [[], [], [], []]

    def test_a_failure_that_is_taken_up_again_is(self) -> None:
        scene = Scene(started())
        scene.look(2, ended("a", 2, Outcome.FAILED))
        (over,) = scene.look(5, Resumed("a", at(5), place()), heard("a", 5, Phase.MODEL))
        assert (over.cause, over.was) == (Cause.RESOLVED, Cause.FAILED)
        assert over.message == "It was taken up again after 3:00 (failed)."

    def test_two_questions_between_two_looks_are_two_problems(self) -> None:
        scene = Scene(started())
        scene.look(1, heard("a", 1, Phase.PERMISSION, "Bash"))
        alerts = scene.look(3, heard("a", 2, Phase.TOOL, "Bash"), heard("a", 3, Phase.PERMISSION, "Bash"))
        assert causes(alerts) == [("a", Cause.RESOLVED), ("a", Cause.PERSON)]

    def test_of_what_was_so_at_the_beginning_nobody_is_told_that_it_is_over(self) -> None:
        scene = Scene(started(), heard("a", 1, Phase.PERMISSION, "Bash"), minute=2)
        assert scene.look(3, heard("a", 3, Phase.TOOL, "Bash")) == []

    def test_unless_it_was_to_be_told(self) -> None:
        scene = Scene(started(), heard("a", 1, Phase.PERMISSION, "Bash"), minute=2)
        assert causes(scene.alerts.begin(telling=True)) == [("a", Cause.PERSON)]
        assert causes(scene.look(3, heard("a", 3, Phase.TOOL, "Bash"))) == [("a", Cause.RESOLVED)]


class Unsteady(Assessments):
    """Assessments that change without a word in any log, as those of a process do that stirs now and then."""

    calm = False

    def known(self, handle: Handle) -> Assessment | None:
        return None if self.calm else super().known(handle)


class TestFlapping:
    def scene(self) -> tuple[Scene, Unsteady]:
        scene = Scene(started(), heard("a", 1, Phase.MODEL))
        unsteady = scene.assessments = Unsteady(scene.forest)
        unsteady.update()
        scene.alerts = Alerts(scene.forest, unsteady)
        scene.alerts.begin()
        assert causes(scene.look(22)) == [("a", Cause.HUNG)]
        return scene, unsteady

    def look(self, scene: Scene, seconds: float) -> list[tuple[str, Cause]]:
        scene.forest.advance(at(22 + seconds / 60))
        return causes(scene.alerts.look((), (0,)))

    def test_what_seems_over_for_a_moment_is_not_told_and_neither_that_it_is_so_again(self) -> None:
        scene, unsteady = self.scene()
        for second in range(0, 600, 10):
            unsteady.calm = second % 20 == 0
            assert self.look(scene, second) == []

    def test_what_seems_over_for_a_while_is(self) -> None:
        scene, unsteady = self.scene()
        unsteady.calm = True
        assert [self.look(scene, second) for second in (1, 10, 30)] == [[], [], []]
        assert self.look(scene, 31) == [("a", Cause.RESOLVED)]
        assert self.look(scene, 32) == []

    def test_and_if_it_is_so_again_then_that_is_told_again(self) -> None:
        scene, unsteady = self.scene()
        unsteady.calm = True
        assert [self.look(scene, second) for second in (1, 40)] == [[], [("a", Cause.RESOLVED)]]
        unsteady.calm = False
        assert self.look(scene, 41) == [("a", Cause.HUNG)]


def test_an_alert_says_what_to_do_where_and_in_which_session() -> None:
    scene = Scene(started(), Described("a", at(0), place(), cwd="/home/ada/webapp"), started("b", 0.5, parent="a"))
    (alert,) = scene.look(1, heard("b", 1, Phase.PERMISSION, "Bash"))
    assert (alert.root, alert.folder, alert.kind) == ("a", "/home/ada/webapp", "awaiting a permission")
    assert alert.todo


class TestNews:
    def test_it_begins_with_what_is_open_and_leaves_out_the_past(self) -> None:
        scene = Scene(started(), heard("a", 1), started("b"), ended("b", 1), minute=2)
        assert [(item.what, item.handle) for item in scene.first] == [(What.PRESENT, 0)]

    def test_what_is_wrong_with_the_open_ones_is_told_at_the_beginning_and_not_again(self) -> None:
        scene = Scene(started(), heard("a", 1, Phase.PERMISSION, "Bash"), minute=2)
        assert told(scene.first) == [(What.PRESENT, State.RUNNING), (What.FINDING, "VER-001")]
        assert scene.read(3) == []

    def test_a_start_a_change_and_an_end_are_one_item_each(self) -> None:
        scene = Scene()
        assert told(scene.read(0, started())) == [(What.STARTED, State.RUNNING)]
        assert scene.read(1, heard("a", 1)) == []
        (silent,) = scene.read(8)
        assert (silent.what, silent.state, silent.before) == (What.STATE, State.SILENT, State.RUNNING)
        (end,) = scene.read(9, ended("a", 9))
        assert (end.what, end.state, end.message) == (What.ENDED, State.COMPLETED, "It completed 0:00 ago: so it went.")
        assert scene.read(10, ended("a", 9)) == []

    def test_one_that_ended_between_two_looks_is_only_an_end(self) -> None:
        scene = Scene()
        items = scene.read(5, started(), ended("a", 4))
        assert [item.what for item in items if item.what is not What.FINDING] == [What.ENDED]

    def test_overdue_is_told_by_the_state_with_its_sentence_and_not_twice(self) -> None:
        scene = Scene(started(timeout=10 * MINUTE), heard("a", 9))
        (item,) = scene.read(11, heard("a", 10.5))
        assert (item.what, item.state) == (What.STATE, State.OVERDUE)
        assert "past its deadline" in item.message
        assert scene.read(12, heard("a", 12)) == []

    def test_a_finding_whose_sentence_counts_the_minutes_is_one_finding(self) -> None:
        scene = Scene(started(), heard("a", 1, Phase.MODEL))
        assert told(scene.read(22)) == [(What.STATE, State.SILENT), (What.FINDING, "VER-007")]
        assert [told(scene.read(minute)) for minute in (23, 24, 30)] == [[], [], []]

    def test_what_is_only_possible_is_no_news_before_it_is_likely(self) -> None:
        scene = Scene(started(), heard("a", 1, Phase.MODEL))
        (silent,) = scene.read(9)
        assert (silent.what, silent.state) == (What.STATE, State.SILENT)
        assert silent.message.startswith("It has waited 8:00 for the model's answer; of ")
        assert scene.read(11.1) == []
        assert told(scene.read(22)) == [(What.FINDING, "VER-007")]

    def test_the_same_trouble_since_another_moment_is_told_again(self) -> None:
        scene = Scene(started(), heard("a", 1, Phase.MODEL))
        assert (What.FINDING, "VER-007") in told(scene.read(22))
        scene.read(23, heard("a", 23, Phase.MODEL))
        assert (What.FINDING, "VER-007") in told(scene.read(44))

    def test_the_past_is_not_judged_when_something_old_is_read_again(self) -> None:
        scene = Scene(started(), ended("a", 1, Outcome.FAILED), minute=100)
        assert scene.read(101, heard("a", 0.5)) == []

    def test_a_presumed_loss_is_a_state_and_a_gone_process_an_end(self) -> None:
        scene = Scene(started(), started("b"), heard("a", 1))
        items = scene.read(5, Ended("b", at(4), place(), Outcome.LOST, Ending.GONE))
        assert (What.ENDED, State.LOST) in told(items)
        assert (What.STATE, State.LOST) in told(scene.read(26 * 60))


def test_however_busy_a_delegation_is_what_it_needs_is_told_at_once() -> None:
    scene = Scene(started())
    scene.look(1, heard("a", 1, Phase.TOOL, "Bash"))
    soon = 1 + 0.5 * SECOND / MINUTE
    assert causes(scene.look(soon, heard("a", soon, Phase.PERMISSION, "Bash"))) == [("a", Cause.PERSON)]
    assert scene.look(1 + 3 * SECOND / MINUTE) == []
    assert causes(scene.look(1 + 3.2 * SECOND / MINUTE, ended("a", 1.05, Outcome.FAILED))) == [
        ("a", Cause.FAILED),
        ("a", Cause.DONE),
    ]
