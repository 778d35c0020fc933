"""The first line at any width: what matters stays, what does not goes first, and it never overflows."""

import pytest

from delegtop.app.widgets.chips import Chip
from delegtop.app.widgets.vitals import ActivityGraph, Mode, layout
from delegtop.model.states import State
from delegtop.report.figures import sparkline

LIVE = Mode("●", "*", "live", "bold")
BUSY = ActivityGraph(
    LIVE, 4, 1, "12:04:31", {state: 1_000 + number for number, state in enumerate(State)}, [1, 2, 5, 7, 3, 1] * 10
)
CALM = ActivityGraph(LIVE, 1, 0, "12:04:31", {State.RUNNING: 7, State.OVERDUE: 1, State.FAILED: 0}, [0] * 60)


def text(chips: list[Chip]) -> str:
    return "".join(chip.text.plain for chip in chips)


@pytest.mark.parametrize("width", [*range(10, 320, 7)])
def test_the_line_never_is_wider_than_the_screen(width: int) -> None:
    shown = text(layout(BUSY, width)).rstrip()
    assert len(shown) <= width or shown == "● live", shown


@pytest.mark.parametrize("width", [60, 80, 120, 160])
def test_the_worst_state_is_shown_at_every_usual_width(width: int) -> None:
    assert "overdue" in text(layout(BUSY, width))


def test_states_without_delegations_are_not_shown() -> None:
    assert "failed" not in text(layout(CALM, 160))


def test_every_count_has_a_glyph_and_a_word() -> None:
    assert "▶  7 running  !  1 overdue" in text(layout(CALM, 160))


def test_a_source_that_ails_has_a_mark() -> None:
    assert "4 sources ⚠ 1 faulty" in text(layout(CALM._replace(sources=4, unhealthy=1), 160))
    assert "1 source  " in text(layout(CALM, 160))


def test_that_a_source_cannot_be_read_goes_before_all_else_that_may_be_wrong() -> None:
    assert "4 sources ⚠ 1 cannot be read" in text(layout(CALM._replace(sources=4, unhealthy=3, unread=1), 160))


def test_with_room_the_graph_ends_at_the_right_edge() -> None:
    shown = text(layout(CALM, 160))
    assert len(shown) == 160
    assert "events/s" in shown


def test_plain_characters_are_used_on_demand() -> None:
    assert text(layout(BUSY, 200, plain=True)).isascii()


def test_the_graph_tells_nothing_from_little() -> None:
    assert sparkline([0, 1, 1_000]) == "▁▂█"
    assert sparkline([0, 0]) == "▁▁"
    assert sparkline([]) == ""
