"""For every delegation that is not plainly running or done there is one verdict, and no healthy one is called hung."""

import pytest
from msgspec.structs import replace
from tests import judging
from tests.telling import at, ended, forest_at, handle_of, heard, place, started

from delegtop.base.clock import MINUTE, SECOND, ClockStep, Slept
from delegtop.base.origin import Origin
from delegtop.diagnosis.assessment import assess
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.sentence import say
from delegtop.diagnosis.verdicts import Certainty, Kind, Verdict
from delegtop.model.duration_curve import counted
from delegtop.model.events import Ended, Ending, Event, Heard, Noted, Outcome, Phase, ProcessSeen, Surveyed, WaitsFor
from delegtop.model.forest import Forest
from delegtop.model.notes import UNREAD
from delegtop.model.policy import Policy


def forest(*events: Event, look: float) -> Forest:
    return forest_at(at(look), events)


def judged(*events: Event, look: float, id: str = "a") -> Verdict | None:
    grown = forest(*events, look=look)
    return judging.verdict(grown, handle_of(grown, id))


def kind(*events: Event, look: float, id: str = "a") -> Kind | None:
    found = judged(*events, look=look, id=id)
    return found.kind if found else None


def told(grown: Forest) -> str:
    found = judging.verdict(grown, handle_of(grown, "a"))
    assert found is not None
    return say(found.sentence, grown.shown_at)


class TestHealthy:
    def test_one_that_was_just_heard_of_has_no_verdict(self) -> None:
        assert judged(started(), heard("a", 5, Phase.TOOL, "Bash"), look=6) is None

    @pytest.mark.parametrize("outcome", list(Outcome))
    def test_one_that_ended_has_none(self, outcome: Outcome) -> None:
        if outcome is not Outcome.LOST:
            assert judged(started(), ended("a", 5, outcome), look=6) is None

    def test_an_idle_session_has_none(self) -> None:
        assert judged(started(), heard("a", 1, Phase.IDLE), look=600) is None

    def test_a_long_quiet_tool_is_healthy(self) -> None:
        assert judged(started(), heard("a", 1, Phase.TOOL, "Bash", "lake build"), look=26) is None

    def test_a_very_long_one_is_silent_and_still_not_called_hung(self) -> None:
        found = judged(started(), heard("a", 1, Phase.TOOL, "Bash", "lake build"), look=90)
        assert found is not None
        assert (found.kind, found.certainty) == (Kind.SILENT, Certainty.POSSIBLE)
        assert "inside Bash: lake build" in say(found.sentence, at(90))

    def test_how_unusual_that_is_is_said_by_what_is_known_or_by_what_was_learned_here(self) -> None:
        call = Heard("a", at(1), place(), "lake build", "Bash", phase=Phase.TOOL, since=at(1), mode="bypassPermissions")
        events = started(product="claude-code"), call
        known = forest_at(at(90), events)
        assert "; of 4,356 known Bash calls none took as long." in told(known)
        own = {("claude-code", "Bash"): counted([MINUTE] * 6_470 + [100 * MINUTE] * 10)}
        assert "; of 6,480 Bash calls here 99.84 % were shorter." in told(
            forest_at(at(90), events, Policy(durations=own))
        )

    def test_what_takes_an_hour_here_may_be_quiet_for_an_hour(self) -> None:
        events = started(product="claude-code"), heard("a", 1, Phase.TOOL, "Bash", "lake build")
        own = {("claude-code", "Bash: lake"): counted([60 * MINUTE] * 200)}
        for minute, expected in ((60, None), (130, Kind.SILENT)):
            grown = forest_at(at(minute), events, Policy(durations=own))
            found = judging.verdict(grown, handle_of(grown, "a"))
            assert (found.kind if found else None) is expected

    def test_a_command_that_is_open_for_longer_than_its_program_lets_it_run_was_not_begun(self) -> None:
        events = started(product="claude-code"), heard("a", 1, Phase.TOOL, "Bash", "git diff")
        assert kind(*events, look=29) is None
        assert told(forest_at(at(41), events)) == (
            "It may wait for a person to allow Bash: git diff: open for 40:00, "
            "and its program gives a command 10:00 at most."
        )

    @pytest.mark.parametrize(
        ("mode", "expected"),
        [
            ("bypassPermissions", (Kind.SILENT, Certainty.LIKELY)),
            ("default", (Kind.AWAITING_PERMISSION, Certainty.POSSIBLE)),
        ],
    )
    def test_what_was_never_seen_here_is_likely_no_good_where_nobody_is_asked(
        self, mode: str, expected: tuple[Kind, Certainty]
    ) -> None:
        call = Heard("a", at(1), place(), "make", "Bash", phase=Phase.TOOL, since=at(1), mode=mode)
        own = {("claude-code", "Bash"): counted([MINUTE] * 50_000)}
        grown = forest_at(at(45), [started(product="claude-code"), call], Policy(durations=own))
        found = judging.verdict(grown, handle_of(grown, "a"))
        assert found is not None
        assert (found.kind, found.certainty) == expected

    def test_one_without_a_log_of_its_own_is_given_half_an_hour_and_says_so(self) -> None:
        assert kind(started(product="claude-code"), look=29) is None
        words = told(forest_at(at(60), [started(product="claude-code")]))
        assert words.startswith(
            "Nothing was heard of it for 1:00:00; no log of its own was found that could tell more; of "
        )

    def test_no_verdict_rests_on_a_log_that_cannot_be_read(self) -> None:
        folder = "/logs/0b9b1c2e/subagents"
        closed = Noted("a", at(60), place("kernel:processes"), UNREAD, folder)
        begun = started(product="claude-code")
        grown = forest_at(at(20), [begun, closed])
        assert assess(Case(grown, handle_of(grown, "a"))).sentence(at(20)) == (
            f"Nothing was heard of it for 20:00; what could tell more cannot be read: {folder}."
        )
        own = f"{folder}/agent-a.jsonl"
        for sign in (heard("a", 1, Phase.MODEL), heard("a", 1, Phase.TOOL, "Bash", "make")):
            grown = forest_at(at(90), [begun, replace(sign, origin=place(own)), closed])
            verdict = judging.verdict(grown, handle_of(grown, "a"))
            assert verdict is not None
            assert (verdict.kind, verdict.certainty) == (Kind.SILENT, Certainty.POSSIBLE)
            assert f"what could tell more cannot be read: {folder}" in told(grown)
        assert f"cannot be read: {folder}" in told(forest_at(at(90), [begun, closed]))
        withdrawn = Noted("a", at(61), place("kernel:processes"), UNREAD, "")
        assert "cannot be read" not in told(forest_at(at(90), [begun, closed, withdrawn]))

    def test_a_quick_tool_that_nobody_is_asked_to_allow_is_given_ten_minutes(self) -> None:
        call = heard("a", 1, Phase.TOOL, "TodoWrite", "x")
        assert kind(started(product="claude-code"), call, look=9) is None
        assert kind(started(product="claude-code"), call, look=12) is Kind.SILENT

    def test_a_kind_that_usually_takes_an_hour_may_be_quiet_for_half_of_it(self) -> None:
        done = [e for n in range(10) for e in (started(f"d{n}"), ended(f"d{n}", 60))]
        assert kind(started("a", 61), heard("a", 62), *done, look=92) is None
        assert kind(started("a", 61), heard("a", 62), *done, look=130) is Kind.SILENT


class TestVerdicts:
    def test_whoever_is_gone_asks_no_longer(self) -> None:
        gone = Ended("a", at(6), place(), Outcome.LOST, Ending.GONE)
        assert kind(started(), heard("a", 5, Phase.PERMISSION, "Bash"), gone, look=7) is Kind.LOST

    def test_a_permission_is_awaited_from_the_first_moment(self) -> None:
        found = judged(started(), heard("a", 5, Phase.PERMISSION, "Bash", "rm -r build"), look=5.1)
        assert found is not None
        assert (found.kind, found.certainty) == (Kind.AWAITING_PERMISSION, Certainty.CERTAIN)
        assert "rm -r build" in say(found.sentence, at(5.1))

    def test_an_answer_is_awaited(self) -> None:
        assert kind(started(), heard("a", 5, Phase.ANSWER), look=6) is Kind.AWAITING_ANSWER

    def test_the_model_is_waited_for_once_it_takes_long(self) -> None:
        assert kind(started(), heard("a", 5, Phase.MODEL), look=9) is None
        assert kind(started(), heard("a", 5, Phase.MODEL), look=12) is Kind.NO_MODEL_ANSWER

    def test_one_answer_of_a_quarter_of_an_hour_in_the_history_does_not_silence_that_none_comes(self) -> None:
        events = started(product="claude-code"), heard("a", 1, Phase.MODEL)
        answers = [2 * SECOND] * 1_590 + [11 * SECOND] * 24 + [MINUTE] * 5
        for longest in ([], [15 * MINUTE], [15 * MINUTE, 20 * MINUTE]):
            own = {("claude-code", "model"): counted(answers + longest)}
            grown = forest_at(at(17.5), events, Policy(durations=own))
            found = judging.verdict(grown, handle_of(grown, "a"))
            assert found is not None
            assert (found.kind, found.certainty) == (Kind.NO_MODEL_ANSWER, Certainty.LIKELY)

    def test_who_is_past_a_limit_in_a_tool_and_silent_hangs_in_it(self) -> None:
        told: list[Event] = [started(timeout=10 * MINUTE), heard("a", 5, Phase.TOOL, "Bash", "lake build")]
        found = judged(*told, look=16)
        assert found is not None
        assert found.kind is Kind.HUNG_IN_TOOL
        assert "lake build" in say(found.sentence, at(16))

    @pytest.mark.parametrize(("mode", "hangs"), [("bypassPermissions", True), ("default", False), (None, False)])
    def test_a_call_long_past_the_time_it_was_given_hangs_unless_it_may_wait_for_a_permission(
        self, mode: str | None, hangs: bool
    ) -> None:
        call = Heard("a", at(1), place(), "make", "Bash", phase=Phase.TOOL, since=at(1), due=at(3), mode=mode)
        found = judged(started(product="claude-code"), call, look=14)
        assert found is not None
        assert (found.kind is Kind.HUNG_IN_TOOL) is hangs
        if hangs:
            assert "for 13:00, 11:00 past the time it was given; of " in say(found.sentence, at(14))

    def test_who_is_past_a_limit_and_whose_tool_is_seen_at_work_is_only_overdue(self) -> None:
        told: list[Event] = [started(timeout=10 * MINUTE), heard("a", 5, Phase.TOOL, "Bash", "lake build")]
        works = ProcessSeen("a", at(29), place("kernel:7"), 7, WaitsFor.NOTHING, share=0.98)
        assert kind(*told, look=30) is Kind.HUNG_IN_TOOL
        assert kind(*told, works, look=30) is Kind.OVERDUE
        assert kind(*told, works, look=40) is Kind.HUNG_IN_TOOL, "what was seen long ago may be otherwise by now"

    def test_who_is_past_a_limit_and_still_talks_is_only_overdue(self) -> None:
        told: list[Event] = [started(timeout=10 * MINUTE), heard("a", 11.5, Phase.TOOL, "Bash", "lake build")]
        assert kind(*told, look=12) is Kind.OVERDUE

    def test_a_parent_waits_on_the_leaf_of_its_path(self) -> None:
        told: list[Event] = [
            started(),
            started("b", 1, parent="a"),
            started("c", 2, parent="b"),
            heard("c", 3, Phase.TOOL, "Bash"),
        ]
        found = judged(*told, look=4)
        assert found is not None
        assert found.kind is Kind.WAITING_ON_CHILD
        assert found.waits_on == 2

    def test_one_whose_parent_ended_is_orphaned(self) -> None:
        told: list[Event] = [started(), started("b", 1, parent="a"), heard("b", 9), ended("a", 5)]
        assert kind(*told, look=10, id="b") is Kind.ORPHANED

    def test_a_parent_that_never_took_the_return_lost_it(self) -> None:
        told: list[Event] = [started(), started("b", 1, parent="a"), heard("a", 1, Phase.CHILD), ended("b", 5)]
        assert kind(*told, look=10) is None
        found = judged(*told, look=20)
        assert found is not None
        assert (found.kind, found.certainty) == (Kind.LOST_RETURN, Certainty.LIKELY)

    def test_a_log_that_says_so_loops(self) -> None:
        note = Noted("a", at(3), place(), "loop", "cycle 5 of 5")
        assert kind(started(), heard("a", 4), note, look=5) is Kind.LOOPING

    def test_work_handed_down_to_the_same_agent_loops(self) -> None:
        told: list[Event] = [
            started(task="191"),
            started("b", 1, parent="a", agent="other"),
            started("c", 2, parent="b", task="191"),
        ]
        assert kind(*told, look=3, id="c") is Kind.LOOPING
        told[2] = started("c", 2, parent="b", task="192")
        assert kind(*told, look=3, id="c") is None

    def test_who_goes_round_is_told_so_even_while_it_waits_on_one_that_does_too(self) -> None:
        nested: list[Event] = [
            started("top", 0, task="5"),
            started("middle", 1, parent="top", task="5"),
            started("leaf", 2, parent="middle", task="5"),
            heard("leaf", 3),
        ]
        kinds = {id: kind(*nested, look=4, id=id) for id in ("top", "middle", "leaf")}
        assert kinds == {"top": Kind.WAITING_ON_CHILD, "middle": Kind.LOOPING, "leaf": Kind.LOOPING}

    def test_work_on_disk_without_a_report_is_told(self) -> None:
        note = Noted("a", at(3), place(), "salvage", "plans/plan.md")
        assert kind(started(), heard("a", 4), note, look=5) is None
        assert kind(started(), heard("a", 4), note, look=12) is Kind.WORKED_NEVER_REPORTED

    def test_one_that_left_the_registry_and_goes_on_is_a_disagreement(self) -> None:
        registry = Origin("registry.json", 1, 0)
        surveys = [Surveyed(at(1), registry, ("a",)), Surveyed(at(2), registry, ())]
        assert kind(started(product=None), *surveys, heard("a", 3), look=4) is Kind.DISAGREEMENT

    def test_one_not_heard_of_for_a_day_is_lost_and_that_is_inferred(self) -> None:
        found = judged(started(), heard("a", 1), look=25 * 60)
        assert found is not None
        assert (found.kind, found.certainty) == (Kind.LOST, Certainty.LIKELY)

    def test_one_whose_process_is_gone_is_lost_for_certain(self) -> None:
        gone = Ended("a", at(3), place(), Outcome.LOST, Ending.GONE)
        found = judged(started(), heard("a", 1), gone, look=5)
        assert found is not None
        assert (found.kind, found.certainty) == (Kind.LOST, Certainty.CERTAIN)


class TestSleep:
    def test_silence_of_everybody_at_once_is_charged_to_nobody(self) -> None:
        told: list[Event] = [started(), started("b"), heard("a", 5), heard("b", 5), heard("b", 300)]
        found = judged(*told, look=303)
        assert found is not None
        assert found.kind is Kind.HOST_SLEPT
        assert any(slept in say(found.sentence, at(303)) for slept in ("4:53:00", "4:54:00", "4:55:00"))

    def test_it_is_its_own_if_the_kernel_says_that_the_machine_was_awake(self) -> None:
        found = self.by_kernel(Slept(0, at(-60)))
        assert found.startswith("silent: Nothing was heard of it for 4:58:00")
        assert found.endswith(
            "Quiet is not hung. Every log was silent for 4:54:00 meanwhile; the machine was awake, as its kernel says."
        )

    def test_the_machine_slept_no_longer_than_its_kernel_says(self) -> None:
        assert self.by_kernel(Slept(4 * 60 * MINUTE, at(-60))).startswith("silent: Nothing was heard of it")
        assert self.by_kernel(Slept(295 * MINUTE, at(-60))) == self.by_kernel(None)
        found = self.by_kernel(Slept(293 * MINUTE, at(-60)))
        assert found == (
            "host slept: Every log was silent for 4:54:00; the machine slept for 4:53:00 at most, as its kernel says, "
            "and this is not charged to it."
        )

    def test_what_was_before_the_machine_was_started_its_kernel_cannot_know(self) -> None:
        assert self.by_kernel(Slept(0, at(200))) == self.by_kernel(None)
        assert self.by_kernel(None).startswith("host slept: ")

    def test_nor_can_anybody_tell_what_was_before_that_once_the_clock_was_set(self) -> None:
        grown = self.told(Slept(0, at(-60)))
        grown.step(ClockStep(at(302), 30 * MINUTE))
        grown.advance(at(303))
        assert grown.silence(0, at(5)).asleep

    def test_that_the_machine_slept_meanwhile_counts_from_the_moment_at_which_its_kernel_says_so(self) -> None:
        grown = self.told(Slept(0, at(-60)))
        watch = Assessments(grown)
        watch.update()
        assert watch.of(0).kind == "silent"
        grown.heed_kernel(Slept(295 * MINUTE, at(-60)))
        assert 0 in watch.update()
        assert watch.of(0).kind == "host slept"

    def told(self, slept: Slept | None) -> Forest:
        grown = Forest()
        grown.apply([started(), started("b"), heard("a", 5), heard("b", 5), heard("b", 300)])
        grown.heed_kernel(slept)
        grown.advance(at(303))
        return grown

    def by_kernel(self, slept: Slept | None) -> str:
        grown = self.told(slept)
        found = judging.verdict(grown, 0)
        assert found is not None
        return f"{found.kind.value}: {say(found.sentence, at(303))}"

    def test_silence_while_others_wrote_is_its_own(self) -> None:
        others = [heard("b", minute) for minute in range(5, 300, 5)]
        assert kind(started(), started("b"), heard("a", 5), *others, look=303) is Kind.SILENT

    def test_one_that_stays_silent_after_the_sleep_is_silent(self) -> None:
        others = [heard("b", minute) for minute in range(300, 330, 5)]
        assert kind(started(), started("b"), heard("a", 5), *others, look=330) is Kind.SILENT


def test_of_a_stuck_path_only_the_leaf_is_stuck_and_the_others_wait_on_it() -> None:
    told: list[Event] = [started(timeout=10 * MINUTE), started("b", 1, parent="a"), started("c", 2, parent="b")]
    grown = forest(*told, heard("c", 3, Phase.TOOL, "Bash", "lake build"), look=30)
    verdicts = [judging.verdict(grown, handle) for handle in range(3)]
    assert [(found.kind, found.waits_on) for found in verdicts if found] == [
        (Kind.WAITING_ON_CHILD, 2),
        (Kind.WAITING_ON_CHILD, 2),
        (Kind.HUNG_IN_TOOL, None),
    ]


def found(grown: Forest) -> Finding:
    (finding,) = [each for each in judging.found(grown, 0) if each.rule.startswith("VER")]
    return finding


def test_a_verdict_is_a_finding_with_its_evidence() -> None:
    asks = found(forest(started(), heard("a", 5, Phase.PERMISSION, "Bash", "rm"), look=5.1))
    assert (asks.rule, asks.since, asks.severity) == ("VER-001", at(5), Severity.ERROR)
    assert asks.message == "It has waited 0:06 for a person to allow Bash: rm."
    assert asks.evidence


def test_one_that_is_not_certain_says_so_and_one_that_is_only_possible_weighs_a_step_less() -> None:
    events = started(), heard("a", 5, Phase.MODEL)
    possible, likely = found(forest(*events, look=12)), found(forest(*events, look=27))
    assert possible.message.endswith(" (possible)")
    assert likely.message.endswith(" (likely)")
    assert (possible.severity, likely.severity) == (Severity.INFO, Severity.WARNING)
