"""Bars in time: what a line of the chart shows for each kind of delegation."""

from collections.abc import Iterable
from datetime import UTC
from typing import cast

import pytest
from msgspec import Struct
from tests.telling import forest_at, place

from delegtop.base.clock import HOUR, MINUTE, Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Ended, Ending, Event, Heard, Outcome, Started, Surveyed, Trust
from delegtop.model.forest import Forest
from delegtop.model.history.critical_path import Piece, critical_path
from delegtop.model.history.extent import MOST, extent, tree_extent
from delegtop.model.history.time_window import TimeWindow
from delegtop.model.states import State
from delegtop.report.bars import ASCII, UNICODE, Chart, Ink, bar
from delegtop.report.layout import CellSpan

START = Millis(1_772_532_000_000)
"""10:00 UTC."""
GLYPHS = {state: state.glyph for state in State}
ASCII_GLYPHS = {state: state.ascii for state in State}


def at(minutes: float) -> Millis:
    return Millis(START + round(minutes * MINUTE))


def started(id: str, minutes: float | None, **facts: object) -> Started:
    return Started(id, None if minutes is None else at(minutes), place(), agent=id, **facts)  # type: ignore[arg-type]  # facts by name


def heard(id: str, minutes: float) -> Heard:
    return Heard(id, at(minutes), place(), "work")


def ended(id: str, minutes: float | None, outcome: Outcome = Outcome.COMPLETED) -> Ended:
    return Ended(id, None if minutes is None else at(minutes), place(), outcome, Ending.RETURN)


def forest_of(events: Iterable[Struct], now: float = 40) -> Forest:
    return forest_at(at(now), cast("Iterable[Event]", events))


def runs(
    events: Iterable[Struct], *, now: float = 40, ink: Ink = UNICODE, critical: bool = False, first: float = 0
) -> tuple[CellSpan, ...]:
    """The line of the first delegation on sixty cells, a minute each."""
    forest = forest_of(events, now)
    chart = Chart(forest, TimeWindow(at(first), at(first + 60)), 60, ink=ink._replace(grid=" "), zone=UTC)
    pieces = critical_path(forest, 0).by_delegation().get(0, ()) if critical else ()
    return chart.row(0, forest.delegation(0), pieces)


def drawn(events: Iterable[Struct], **how: object) -> str:
    return "".join(run.text for run in runs(events, **how)).rstrip()  # type: ignore[arg-type]  # as above


def test_what_is_done_is_a_line_from_its_start_to_its_end() -> None:
    assert drawn([started("a", 5), ended("a", 15)]) == "     ━━━━━━━━━━" + " " * 25 + "│"


def test_a_line_begins_and_ends_with_half_a_cell() -> None:
    assert drawn([started("a", 5.5), ended("a", 8.5)], now=99) == "     ╺━━╸"


def test_what_took_no_time_is_still_seen() -> None:
    assert drawn([started("a", 5), ended("a", 5)], now=99) == "     ╸"


def test_a_line_has_the_look_of_its_state() -> None:
    assert [run.part for run in runs([started("a", 5), ended("a", 15, Outcome.FAILED)], now=99)] == [
        "text",
        "failed",
        "text",
    ]


def test_what_is_open_runs_to_now_and_is_broken_from_its_last_sign_on() -> None:
    assert drawn([started("a", 5), heard("a", 10)], now=15) == "     ━━━━━╌╌╌╌╌╌"


def test_who_waits_is_known_to_go_on_as_long_as_the_one_it_waits_for() -> None:
    events = [started("a", 5), started("b", 6, parent="a"), heard("b", 14)]
    assert drawn(events, now=15) == "     ━━━━━━━━━╌╌"


def test_an_end_that_is_not_known_is_marked() -> None:
    assert drawn([started("a", 5), heard("a", 10), ended("a", None)], now=99) == "     ━━━━━?"


def test_a_start_that_is_not_known_is_marked() -> None:
    assert drawn([started("a", None), heard("a", 10), ended("a", 10)], now=99) == "         ?╸"


def test_one_that_left_the_registry_ends_with_a_question_mark() -> None:
    events = [
        started("a", 5, listed=True),
        Surveyed(at(9), Origin("registry.json", 1, 0), ("a",)),
        Surveyed(at(12), Origin("registry.json", 1, 0), ()),
    ]
    assert drawn(events, now=99) == "     ━━━━?"


def test_one_without_any_time_has_an_empty_line() -> None:
    assert drawn([started("a", None)], now=99) == ""


def test_an_end_before_the_start_is_drawn_at_the_start() -> None:
    assert drawn([started("a", 5), ended("a", 2)], now=99) == "     ╸"


def test_a_deadline_is_a_mark_whether_it_is_to_come_or_was_missed() -> None:
    assert drawn([started("a", 5, timeout=30 * MINUTE), heard("a", 10)], now=15) == "     ━━━━━╌╌╌╌╌╌" + " " * 19 + "◆"
    assert drawn([started("a", 5, timeout=5 * MINUTE), heard("a", 20)], now=20) == "     ━━━━━◆━━━━━━━━━│"


def test_a_deadline_of_what_is_done_is_told_from_one_that_presses() -> None:
    over = runs([started("a", 5, timeout=30 * MINUTE), ended("a", 10)], now=99)
    pressing = runs([started("a", 5, timeout=30 * MINUTE), heard("a", 10)], now=15)
    assert CellSpan("◆", "past") in over
    assert CellSpan("◆", "firm") in pressing


def test_what_is_usual_has_another_mark_than_what_is_promised() -> None:
    others = [
        event
        for number in range(10)
        for event in (
            Started(f"o{number}", at(0), place(), agent="explorer", product="codex"),
            ended(f"o{number}", 20),
        )
    ]
    mine = Started("a", at(10), place(), agent="explorer", product="codex")
    line = runs([mine, heard("a", 11), *others], now=15)
    assert CellSpan("◇", "usual") in line


def test_times_a_model_wrote_are_grey() -> None:
    line = runs([started("a", 5, trust=Trust.MODEL), ended("a", 15)], now=99)
    assert [run.part for run in line] == ["text", "muted", "text"]


def test_a_bar_out_of_view_is_pointed_at() -> None:
    events = [started("a", 5), ended("a", 15)]
    assert drawn(events, now=0, first=100) == "‹"
    assert drawn(events, now=0, first=-100) == " " * 59 + "›"


def test_what_is_on_the_critical_path_is_thick() -> None:
    events = [started("a", 5), ended("a", 25), started("b", 10, parent="a"), ended("b", 20)]
    assert drawn(events, now=99, critical=True) == "     █████━━━━━━━━━━█████"


def test_a_thick_bar_is_as_fine_as_an_eighth_of_a_cell() -> None:
    events = [started("a", 5.25), ended("a", 10 + 3 / 8)]
    line = runs(events, now=99, critical=True)
    assert line[1:3] == (CellSpan("▎", "~completed"), CellSpan("████▍", "completed"))


def test_without_colours_to_turn_round_half_a_cell_must_do() -> None:
    events = [started("a", 5.5), ended("a", 10)]
    assert drawn(events, now=99, critical=True, ink=UNICODE._replace(reverses=False)) == "     ▐████"


def test_what_is_inferred_of_a_thick_bar_is_shaded() -> None:
    assert drawn([started("a", 5), heard("a", 10)], now=15, critical=True) == "     █████░░░░░░"


def test_without_colour_every_state_has_its_own_sign_at_the_end() -> None:
    ink = UNICODE._replace(caps=GLYPHS, reverses=False)
    assert drawn([started("a", 5), ended("a", 10)], now=99, ink=ink) == "     ━━━━━✔"
    assert drawn([started("a", 5), ended("a", 10, Outcome.FAILED)], now=99, ink=ink) == "     ━━━━━✖"
    assert drawn([started("a", 5), heard("a", 10)], now=15, ink=ink) == "     ━━━━━╌╌╌╌╌◌"


def test_plain_ascii_draws_the_critical_path_with_the_sign_of_the_state() -> None:
    ink = ASCII._replace(caps=ASCII_GLYPHS, thick="")
    events = [started("a", 5), ended("a", 25), started("b", 10, parent="a"), ended("b", 20)]
    line = drawn(events, now=99, critical=True, ink=ink)
    assert line == "     +++++----------++++++"
    assert line.isascii()


@pytest.mark.parametrize("ink", [UNICODE, ASCII, UNICODE._replace(caps=GLYPHS, reverses=False)])
@pytest.mark.parametrize("width", [0, 1, 2, 7, 80])
def test_a_line_is_exactly_as_wide_as_asked(ink: Ink, width: int) -> None:
    events = [started("a", 5, timeout=HOUR), heard("a", 10), started("b", None, parent="a"), ended("b", 9)]
    forest = forest_of(events)
    chart = Chart(forest, TimeWindow(at(3), at(11.7)), width, ink=ink, zone=UTC)
    for handle in (0, 1):
        pieces = (Piece(handle, at(3.3), at(7.7)), Piece(handle, at(7.7), at(7.7001)))
        assert len("".join(run.text for run in chart.row(handle, forest.delegation(handle), pieces))) == width
    assert len("".join(run.text for run in chart.axis())) == width


def test_the_axis_writes_round_moments_and_now_comes_before_them() -> None:
    chart = Chart(forest_of([started("a", 0)], now=30), TimeWindow(at(0), at(60)), 60, zone=UTC)
    axis = "".join(run.text for run in chart.axis())
    assert axis == "10:00     10:10     10:20     ▼         10:40     10:50     "
    assert CellSpan("▼", "now") in chart.axis()


def test_the_axis_of_another_day_says_which() -> None:
    forest = forest_of([started("a", 0), ended("a", 30)], now=26 * 60)
    yesterday = Chart(forest, TimeWindow(at(0), at(60)), 60, zone=UTC)
    assert "".join(run.text for run in yesterday.axis()).startswith("Mar 3 ")
    today = Chart(forest, TimeWindow(at(25 * 60), at(25.5 * 60)), 60, zone=UTC)
    assert "Mar" not in "".join(run.text for run in today.axis())


def test_a_bar_knows_what_is_told_of_it_and_what_is_not() -> None:
    forest = forest_of([started("a", 5), heard("a", 10)], 15)
    assert bar(forest, 0, forest.delegation(0)) == (at(5), at(10), at(15), True, True)


def test_the_extent_of_one_has_its_deadline_in_it_if_that_is_not_far_away() -> None:
    near, far = [started("a", 0, timeout=30 * MINUTE)], [started("a", 0, timeout=90 * MINUTE)]
    assert extent(forest_of(near, 20), 0) == (at(0), at(30))
    assert extent(forest_of(far, 20), 0) == (at(0), at(20))
    assert extent(forest_of([started("a", None)], 20), 0) == (at(20), at(20))
    assert extent(forest_of([started("a", None), ended("a", None)], 20), 0) is None


def test_the_extent_of_a_tree_is_that_of_all_in_it_however_many_they_are() -> None:
    family = [started("a", 10), ended("a", 20), started("b", 5, parent="a"), ended("b", 35)]
    assert tree_extent(forest_of(family), 0) == (at(5), at(35))
    crowd = [started("a", 0), ended("a", 9), *(started(f"n{n}", 1, parent="a") for n in range(2 * MOST))]
    assert tree_extent(forest_of(crowd), 0) is not None
