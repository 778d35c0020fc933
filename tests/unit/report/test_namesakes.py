"""Rows that are called alike are told apart by what they work at, in however little room."""

import pytest

from delegtop.report import layout
from delegtop.report.layout import cells
from delegtop.report.table.namesakes import LEAST_WORK, Namesakes, cut_apart, fitted

WORKS = ["Deploy to staging", "Write release notes", "Check the payment gateway", "Check the payment forms"]


def looked(*rows: tuple[str, str]) -> Namesakes:
    namesakes = Namesakes()
    namesakes.look(rows)
    return namesakes


def test_who_has_a_name_alone_has_no_namesake() -> None:
    namesakes = looked(("writer", "Mend it"), ("reader", "Mend it"))
    assert namesakes.differs_at("writer", "Mend it") is None


def test_of_namesakes_it_is_known_from_where_on_their_work_differs_from_all_others() -> None:
    namesakes = looked(*(("agent", work) for work in WORKS))
    assert [namesakes.differs_at("agent", work) for work in WORKS] == [0, 0, 18, 18]


def test_who_had_a_namesake_is_told_like_one_when_that_is_out_of_sight() -> None:
    namesakes = looked(("agent", "Mend it"), ("agent", "Mend that"))
    namesakes.look([("agent", "Mend it")])
    assert namesakes.differs_at("agent", "Mend it") == 0


def test_where_a_name_says_enough_it_comes_first_and_whole() -> None:
    assert fitted("implementer", "Mend the parser", None, 20, layout, "…") == ("implementer", "")
    assert fitted("implementer", "Mend the parser", None, 23, layout, "…") == ("implementer", "Mend the …")
    assert fitted("implementer", "Mend the parser", None, 9, layout, "…") == ("implemen…", "")


def test_a_name_that_others_have_gives_way_to_the_work() -> None:
    assert fitted("general-purpose", "Mend it", 0, 40, layout, "…") == ("general-purpose", "Mend it")
    assert fitted("general-purpose", "Mend it", 0, 20, layout, "…") == ("general-pu…", "Mend it")
    assert fitted("general-purpose", "Mend the parser", 0, 20, layout, "…") == ("gener…", "Mend the pa…")
    assert fitted("general-purpose", "Mend the parser", 0, 14, layout, "…") == ("", "Mend the pars…")


@pytest.mark.parametrize("width", range(LEAST_WORK, 40))
def test_the_work_of_namesakes_differs_wherever_it_is_cut(width: int) -> None:
    namesakes = looked(*(("agent", work) for work in WORKS))
    shown = [cut_apart(work, namesakes.differs_at("agent", work) or 0, width, layout, "…") for work in WORKS]
    assert len(set(shown)) == len(WORKS)
    assert all(cells(each) <= width for each in shown)


def test_the_place_stands_before_the_work_where_there_is_room_for_both() -> None:
    assert fitted("agent", "Mend the parser", 0, 22, layout, "…", "webapp · ") == ("agent", "webapp · Mend …")
    assert fitted("agent", "Mend the parser", 0, 16, layout, "…", "webapp · ") == ("agent", "Mend the…")


def test_who_works_at_the_same_under_the_same_name_is_a_twin() -> None:
    namesakes = looked(("agent", "Mend it"), ("agent", "Mend it"), ("agent", "Mend that"), ("writer", "Mend it"))
    assert namesakes.has_twin("agent", "Mend it")
    assert namesakes.differs_at("agent", "Mend it") == len("Mend ")
    assert not namesakes.has_twin("agent", "Mend that")
    assert not namesakes.has_twin("writer", "Mend it")


def test_what_is_cut_says_so_where_something_is_missing() -> None:
    assert cut_apart("Check the payment gateway", 18, 16, layout, "…") == "Check th…gateway"
    assert cut_apart("Check the payment gateway", 18, 24, layout, "…") == "Check the payment gatew…"
    assert cut_apart("日本語の名前をつける", 0, 9, layout, "…") == "日本語の…"
