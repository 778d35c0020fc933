"""One line: in glyphs, in words, in a form of one's own, and harmless wherever it is shown."""

import re
from typing import Any

import pytest

from delegtop.base.clock import MINUTE, Millis
from delegtop.diagnosis.assessment import NOW, Urgency
from delegtop.model.states import ACTIVE, State
from delegtop.report.status import status_form, status_words
from delegtop.report.status.machine_status import URGENCIES, FirstProblem, Tally, UnreadPlace
from delegtop.report.status.status_form import FormError, fill, parse
from delegtop.report.status.status_places import PLACES, shown_in
from delegtop.report.status.status_words import ASCII, FIELDS, UNICODE, StatusLine
from delegtop.report.table import drawing

T0 = Millis(1_790_000_000_000)
HOSTILE = "#[fg=red]#(touch x)%F{red}$(touch x)`touch x`\\u<b>&amp;{running}%{"


def problem(**other: Any) -> FirstProblem:
    usual = FirstProblem(
        id="a",
        name="implementer",
        project="webapp",
        state="silent",
        urgency="stuck",
        kind="hung in a tool",
        short="hung in a tool",
        tool="bash",
        sure=True,
        since=Millis(T0 - 291_000),
        holds_up=2,
        sentence="It hangs.",
    )
    return usual._replace(**other)


def tally(first: FirstProblem | None = None, **states: int) -> Tally:
    return Tally(states, 0, int(first is not None), 3 if first else 0, first)


def line(tally: Tally | None, **how: Any) -> StatusLine:
    return StatusLine(tally, T0, T0, **how)


class TestGlyphs:
    def test_what_blocks_is_told_with_tool_time_and_project(self) -> None:
        assert line(tally(problem(), running=8)).short() == "▶8 !1 ◀bash 4:51 webapp"

    def test_ascii_has_a_form_for_each(self) -> None:
        told = Tally({"running": 8, "silent": 3}, 2, 1, 3, problem(tool="bäsh", sure=False))
        assert line(told, glyphs=ASCII).short() == ">8 _2 !1 <b?sh? 4:51 webapp"

    def test_where_it_is_no_tool_the_matter_itself_is_told(self) -> None:
        first = problem(tool="", short="no model answer")
        assert line(tally(first)).short() == "▶0 !1 ◀no model answer 4:51 webapp"

    def test_what_has_ended_blocks_nobody(self) -> None:
        first = problem(urgency="just ended", state="failed", short="failed", tool="", project="")
        assert line(tally(first, running=1)).short() == "▶1 !1 failed 4:51"

    def test_what_is_quiet_and_no_problem_is_counted_apart(self) -> None:
        assert line(Tally({"running": 1, "silent": 2}, 2)).short() == "▶1 ◌2"

    def test_what_is_old_says_so_and_its_times_are_those_of_then(self) -> None:
        later = StatusLine(tally(problem(), running=8), T0, Millis(T0 + 3 * MINUTE), is_old=True)
        assert later.short() == "▶8 !1 ◀bash 4:51 webapp (3m ago)"
        assert later._replace(is_old=False).short() == "▶8 !1 ◀bash 7:51 webapp"

    def test_what_nobody_knows_is_not_nothing(self) -> None:
        assert line(None).short() == "–"
        assert line(None, glyphs=ASCII).short() == "-"
        assert line(Tally()).short() == "▶0"

    def test_they_are_those_of_the_dashboard(self) -> None:
        for glyphs, drawn in ((UNICODE, drawing.UNICODE), (ASCII, drawing.ASCII)):
            assert glyphs.running == drawn.state(State.RUNNING)
            assert glyphs.quiet == drawn.state(State.SILENT)
            assert glyphs.blocker == drawn.blocker
            assert glyphs.unknown == drawn.none


class TestWords:
    def test_a_sentence_for_people(self) -> None:
        told = line(tally(problem(), running=8, waiting=3)).words()
        assert told == "8 running, 3 waiting; 1 problem: implementer in webapp: hung in a tool, bash, for 4:51"

    def test_nothing_is_said_to_be_at_work_if_nothing_is(self) -> None:
        assert line(Tally({"idle": 4})).words() == "nothing is at work"

    def test_that_a_person_is_needed_and_that_it_is_only_possible(self) -> None:
        first = problem(urgency="person", kind="awaiting a permission", tool="", sure=False, project="")
        told = line(Tally({"running": 1}, 0, 3, 3, first)).words()
        assert told == (
            "1 running; 3 problems, first: implementer: possibly awaiting a permission, for 4:51, a person is needed"
        )

    def test_the_states_at_work_and_the_urgencies_are_those_of_the_program(self) -> None:
        assert set(status_words._ACTIVE) == {state.value for state in ACTIVE}
        assert [int(urgency) for urgency in sorted(NOW)] == list(range(1, len(URGENCIES) + 1))
        assert [Urgency[name.upper().replace(" ", "_")] for name in URGENCIES] == sorted(NOW)


class TestForms:
    def test_fields_are_filled_in(self) -> None:
        fields = line(tally(problem(), running=8, waiting=3)).fields()
        form = "{running}+{waiting} {problems} {blocker}/{in}/{tool}/{what} {for} {project} {holds_up} {level} {exit}"
        assert fill(parse(form), fields) == "8+3 1 implementer/bash/bash/hung in a tool 4:51 webapp 2 stuck 3"

    def test_a_part_is_left_out_while_there_is_none(self) -> None:
        form = parse("{running}{problems? !{problems}{tool? in {tool}}{project?@{project}}}.")
        assert fill(form, line(tally(problem(), running=8)).fields()) == "8 !1 in bash@webapp."
        assert fill(form, line(tally(problem(tool=""), running=8)).fields()) == "8 !1@webapp."
        assert fill(form, line(tally(running=8)).fields()) == "8."
        assert fill(form, line(None).fields()) == "–."

    def test_two_braces_are_one(self) -> None:
        assert fill(parse("{{{running}}}"), line(tally(running=8)).fields()) == "{8}"

    def test_every_field_has_a_value_and_a_meaning(self) -> None:
        for told in (None, Tally(), tally(problem())):
            assert line(told).fields().keys() == FIELDS.keys()

    @pytest.mark.parametrize(
        ("form", "says"),
        [
            ("{runing}", "no field {runing}"),
            ("{running.__class__}", "no field {running.__class__}"),
            ("{running!r}", "no field {running!r}"),
            ("{0}", "no field {0}"),
            ("{}", "no field {}"),
            ("{running", "the } of {running is missing"),
            ("{problems?{running}", "the } of {problems is missing"),
            ("a}b", "a } stands there without its {"),
            ("{problems?" * 100, "more than 8 deep"),
        ],
    )
    def test_what_means_nothing_is_refused_with_the_reason(self, form: str, says: str) -> None:
        with pytest.raises(FormError, match=re.escape(says)):
            parse(form)

    def test_what_a_field_holds_is_not_looked_into(self) -> None:
        fields = line(tally(problem(project="{running} {problems?x} }{"))).fields()
        assert fill(parse("{project}"), fields) == "{running} {problems?x} }{"

    def test_the_deepest_form_that_is_taken(self) -> None:
        deep = "{open?" * status_form.DEEPEST + "x" + "}" * status_form.DEEPEST
        assert fill(parse(deep), line(tally(running=1)).fields()) == "x"


class TestWhatCannotBeRead:
    CLOSED = (UnreadPlace("/home/ann/.claude", "permission denied"), UnreadPlace("/logs", "permission denied"))

    def test_it_is_told_with_what_follows_from_it(self) -> None:
        assert line(tally(running=8), unread=self.CLOSED[:1]).words() == (
            "8 running; /home/ann/.claude cannot be read (permission denied), so agents may be missing or seem silent"
        )
        assert "/home/ann/.claude and 1 more cannot be read" in line(Tally(), unread=self.CLOSED).words()

    def test_in_a_bar_it_is_counted(self) -> None:
        assert line(tally(problem(), running=8), unread=self.CLOSED).short() == "▶8 !1 ◀bash 4:51 webapp 2 unread"
        assert line(Tally(), unread=self.CLOSED).fields()["unread"] == "2"

    @pytest.mark.parametrize("place", PLACES)
    def test_a_path_means_nothing_where_it_is_shown(self, place: str) -> None:
        told = line(Tally(), unread=[UnreadPlace(HOSTILE, HOSTILE)], shown=shown_in(place, colour=False)).words()
        assert PLACES[place].escaped(HOSTILE) in told


class TestPlaces:
    def test_red_is_what_stands_still_for_sure_and_yellow_any_other_problem(self) -> None:
        shown = PLACES["tmux"]
        assert (
            line(tally(problem(), running=8), shown=shown).short()
            == "▶8 #[bg=red,fg=white]!1 ◀bash 4:51 webapp#[default]"
        )
        assert "#[bg=yellow,fg=black]" in line(tally(problem(sure=False)), shown=shown).short()
        assert "#[bg=yellow,fg=black]" in line(tally(problem(urgency="just ended")), shown=shown).words()
        assert "#[" not in line(tally(running=8), shown=shown).short()

    @pytest.mark.parametrize("place", PLACES)
    def test_without_colour_what_is_foreign_is_still_escaped(self, place: str) -> None:
        told = line(tally(problem(project=HOSTILE)), shown=shown_in(place, colour=False)).short()
        assert told == f"▶0 !1 ◀bash 4:51 {PLACES[place].escaped(HOSTILE)}"

    def test_foreign_text_means_nothing_in_tmux(self) -> None:
        told = line(tally(problem(project=HOSTILE)), shown=shown_in("tmux", colour=False)).fields()["project"]
        assert "#" not in told.replace("##", "")

    def test_foreign_text_means_nothing_in_zsh(self) -> None:
        told = line(tally(problem(project=HOSTILE)), shown=shown_in("zsh", colour=False)).fields()["project"]
        assert "%" not in told.replace("%%", "")

    def test_foreign_text_is_no_markup(self) -> None:
        told = line(tally(problem(project=HOSTILE)), shown=shown_in("waybar", colour=False)).words()
        assert "<" not in told
        assert "&amp;amp;" in told

    def test_how_it_stands_in_one_word(self) -> None:
        told = {
            "unknown": None,
            "idle": Tally({"idle": 1}),
            "working": Tally({"waiting": 1}),
            "stuck": tally(problem()),
            "person": tally(problem(urgency="person")),
            "just-ended": tally(problem(urgency="just ended")),
            "suspicious": tally(problem(sure=False)),
        }
        assert {name: line(each).level for name, each in told.items()} == {name: name for name in told}
