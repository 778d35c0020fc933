"""What is normal is a curve for each tool, model and kind of agent: this machine's, and others' until it has one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.telling import at, ended, forest_at, heard, started

from delegtop.base.clock import HOUR, MINUTE, SECOND
from delegtop.base.origin import Origin
from delegtop.model.call_durations import FEW, CallCounts, CallDurations
from delegtop.model.call_names import names_of_agent, names_of_answer, names_of_call, program_of
from delegtop.model.duration_curve import DurationCurve, as_long, counted, end_of, step_of
from delegtop.model.events import Described, Ended, Event, Heard, Phase
from delegtop.model.normal_durations import ENOUGH, normal
from delegtop.model.policy import Counts

spans = st.lists(st.integers(0, 48 * HOUR), min_size=1, max_size=200)


class TestNames:
    @pytest.mark.parametrize(
        ("command", "program"),
        [
            ("git log -5", "git"),
            ("cd /srv/app && git status", "git"),
            ("cd a; cd b && npm test", "npm"),
            ("CI=1 TERM=dumb pytest -q", "pytest"),
            ("/usr/bin/python3 -m http.server", "python3"),
            ("(sleep 1)", ""),
            ("$TOOL run", ""),
            ("", ""),
        ],
    )
    def test_a_shell_call_is_known_by_its_program(self, command: str, program: str) -> None:
        assert program_of(command) == program

    def test_each_name_is_followed_by_a_narrower_one(self) -> None:
        assert list(names_of_call("Bash", "make all")) == ["tool", "Bash", "Bash: make"]
        assert list(names_of_call("Read", "make")) == ["tool", "Read"]
        assert list(names_of_answer("opus")) == ["model", "model opus"]
        assert list(names_of_agent(None)) == ["agent"]


class TestCurve:
    @given(spans, st.integers(0, 48 * HOUR))
    def test_none_that_took_longer_is_called_shorter(self, took: list[int], span: int) -> None:
        assert as_long(counted(took), span) >= sum(each > span for each in took)

    @given(spans, st.sampled_from([0.5, 0.1, 0.01]))
    def test_no_larger_share_took_longer_than_is_said_but_for_a_few(self, took: list[int], share: float) -> None:
        after = DurationCurve().refined(counted(took)).exceeded_by(share)
        assert sum(each > after for each in took) <= max(share * len(took), 4)

    @pytest.mark.parametrize("few", [1, 2, 3])
    def test_a_few_that_took_very_long_do_not_make_that_normal(self, few: int) -> None:
        answers = [2 * SECOND] * 1_590 + [11 * SECOND] * 25 + [MINUTE] * 5
        plain, odd = (DurationCurve().refined(counted(answers + [20 * MINUTE] * each)) for each in (0, few))
        for share, most in ((1 / 1_000, 3 * MINUTE), (1 / 5_000, 5 * MINUTE), (1 / 20_000, 10 * MINUTE)):
            assert plain.exceeded_by(share) <= odd.exceeded_by(share) < most

    @given(spans)
    def test_what_is_rarer_takes_longer(self, took: list[int]) -> None:
        curve = DurationCurve().refined(counted(took))
        found = [curve.exceeded_by(share) for share in (0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-5)]
        assert found == sorted(found)

    @pytest.mark.parametrize("took", [0, 999, 1_000, 1_189, 1_190, 90_000, 10**8])
    def test_a_step_holds_what_is_less_than_its_end(self, took: int) -> None:
        assert took < end_of(step_of(took)) + 1
        assert step_of(took) == 0 or took >= end_of(step_of(took) - 1)

    def test_what_is_known_of_few_changes_little_and_what_is_known_of_many_nearly_all(self) -> None:
        wide = DurationCurve().refined(counted([SECOND] * 1_000))
        few, many = (wide.refined(counted([HOUR] * count)).exceeded_by(0.5) for count in (5, 5_000))
        assert few < 2 * SECOND
        assert many > HOUR


class TestNormal:
    def test_what_is_known_of_others_counts_until_there_is_a_history(self) -> None:
        known = normal("claude-code", names_of_call("Bash", "git log"), {})
        assert (known.name, known.here) == ("Bash: git", False)
        assert known.count > ENOUGH

    def test_this_machines_own_calls_say_what_is_normal_here(self) -> None:
        own = {("claude-code", "Bash: lake"): counted([40 * MINUTE] * 400 + [50 * MINUTE] * 4)}
        known = normal("claude-code", names_of_call("Bash", "lake build"), own)
        assert (known.name, known.here, known.count) == ("Bash: lake", True, 404)
        assert known.rare_after > 45 * MINUTE
        assert normal("claude-code", names_of_call("Bash", "ls"), own).rare_after < 15 * MINUTE

    def test_a_few_that_waited_for_a_person_all_night_do_not_make_that_normal(self) -> None:
        own = {("claude-code", "Bash: git"): counted([SECOND] * 1_000 + [9 * HOUR] * 20)}
        assert normal("claude-code", names_of_call("Bash", "git push"), own).rare_after < 30 * MINUTE

    def test_programs_have_models_of_their_own_patience(self) -> None:
        claude, codex = (normal(product, names_of_answer(None), {}).rare_after for product in ("claude-code", "codex"))
        assert 3 * MINUTE < claude < 5 * MINUTE < codex

    def test_an_answer_is_rare_once_one_in_five_thousand_takes_longer_or_in_as_many_as_are_known(self) -> None:
        own = {("brand-new", "model"): counted([SECOND] * 49_900 + [4 * MINUTE] * 40 + [8 * MINUTE])}
        assert normal("brand-new", names_of_answer(None), own).rare_after > 4 * MINUTE
        few = {("brand-new", "model"): counted([SECOND] * 995 + [4 * MINUTE] * 5)}
        assert normal("brand-new", names_of_answer(None), few).rare_after < 8 * MINUTE

    def test_of_what_nothing_is_known_no_share_is_named(self) -> None:
        known = normal("brand-new", names_of_call("mcp__x__y", None), {})
        assert (known.name, known.count, known.shorter(HOUR)) == ("", 0, 0.0)


def learned(*events: Event) -> dict[tuple[str, str], Counts]:
    calls, usual = CallCounts(), CallDurations()
    for _ in range(FEW):
        calls.heed(events)
    usual.calls(forest_at(at(0), events), calls.all())
    return usual.all()


class TestLearning:
    def test_a_call_lasts_from_its_begin_until_the_model_goes_on(self) -> None:
        call = heard("a", 1, Phase.TOOL, "Bash", "make"), heard("a", 2, Phase.TOOL, "Bash", "make")
        found = learned(started(), heard("a", 0.5, Phase.MODEL), *call, heard("a", 4, Phase.MODEL), ended("a", 5))
        half, three = counted([MINUTE // 2] * FEW), counted([3 * MINUTE] * FEW)
        assert found == {
            ("codex", "model"): half,
            ("codex", "tool"): three,
            ("codex", "Bash"): three,
            ("codex", "Bash: make"): three,
        }

    def test_a_call_that_was_broken_off_or_overtaken_by_another_is_not_counted(self) -> None:
        first, other = heard("a", 1, Phase.TOOL, "Read", "x"), heard("a", 1.1, Phase.TOOL, "Bash", "make")
        assert learned(started(), first, other, heard("a", 60, Phase.IDLE), ended("a", 61)) == {}

    def test_answers_are_known_by_their_model(self) -> None:
        model = Described("a", at(0), started().origin, model="opus")
        found = learned(started(), model, heard("a", 1, Phase.MODEL), heard("a", 2, Phase.IDLE), ended("a", 3))
        assert set(found) == {("codex", "model"), ("codex", "model opus")}

    def test_two_logs_of_one_tell_the_same_in_whatever_order_they_are_read(self) -> None:
        call = heard("a", 2, Phase.TOOL, "Read", "x"), heard("a", 5, Phase.MODEL)
        idle = replace(heard("a", 3, Phase.IDLE), origin=Origin("other.jsonl", 1, 0))
        over = replace(ended("a", 4), origin=Origin("other.jsonl", 2, 9))
        assert isinstance(idle, Heard)
        assert isinstance(over, Ended)
        found = learned(started(), *call, idle, over)
        assert found == learned(idle, over, started(), *call) == learned(started(), call[0], idle, over, call[1])
        assert set(found) == {("codex", "tool"), ("codex", "Read")}

    def test_a_machine_that_slept_has_not_waited_for_the_model(self) -> None:
        assert learned(started(), heard("a", 1, Phase.MODEL), heard("a", 600, Phase.IDLE), ended("a", 601)) == {}

    def test_what_happened_fewer_times_is_not_kept(self) -> None:
        calls = CallDurations()
        calls.agents("codex", "worker", [MINUTE] * (FEW - 1))
        assert calls.all() == {}
        calls.agents("codex", "worker", [MINUTE])
        assert set(calls.all()) == {("codex", "agent"), ("codex", "agent worker")}
