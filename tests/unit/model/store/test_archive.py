"""The archive gives back every word as it was put, however many blocks were pressed since, at every moment."""

from hashlib import sha512

import pytest

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Artifact, Ended, Ending, Fault, Heard, Outcome, Report, Resumed, Started
from delegtop.model.forest import Forest
from delegtop.model.store.archive import NO_WORDS, Archive, ArchivedWords, words
from delegtop.model.store.column_store import RowsMoved
from delegtop.model.store.frozen import Freezer, thaw_into
from delegtop.model.store.merge import NO_REPORT

MANY = 2_000


def told(number: int) -> ArchivedWords:
    artifacts = (Artifact(f"reports/{number}.md", "report", "what it found"),)
    report = Report("failed", f"step {number} of the work", artifacts, (Fault("no build", code=f"E{number}"),))
    return words(f"id-{number}", report, f"doing {number}")


def filled(rows: int = MANY) -> Archive:
    archive = Archive()
    archive.grow(rows)
    for row in range(rows):
        archive[row] = told(row)
    while archive.press_one():
        pass
    return archive


def test_every_word_comes_back_whichever_block_it_lies_in() -> None:
    archive = filled()
    assert len(archive._full) > 3
    assert [archive[row] for row in reversed(range(MANY))] == [told(row) for row in reversed(range(MANY))]


def test_words_pressed_together_take_a_fraction_of_their_bytes() -> None:
    archive = filled()
    loose = sum(map(len, (word for number in range(len(archive._full)) for word in archive._block(number))))
    assert sum(map(len, archive._full)) < loose / 3


def test_what_the_first_blocks_say_is_not_kept_again_in_the_others() -> None:
    archive, some = Archive(), [sha512(b"%d" % number).hexdigest() for number in range(500)]
    archive.grow(MANY)
    for row in range(MANY):
        archive[row] = words(f"id-{row}", NO_REPORT, some[row % len(some)])
    while archive.press_one():
        pass
    assert [archive[row].said for row in range(MANY)] == [some[row % len(some)] for row in range(MANY)]
    sizes = [*map(len, archive._full)]
    assert max(sizes[4:]) < min(sizes[:4]) / 2


def test_blocks_of_another_archive_keep_those_that_they_were_pressed_with() -> None:
    both, other = filled(), filled(20_000)
    both.append_rows(other, RowsMoved(range(20_000), MANY))
    twice = Archive()
    twice.append_rows(filled(), RowsMoved(range(MANY), 0))
    twice.append_rows(both, RowsMoved(range(MANY + 20_000), MANY))
    assert both.is_whole()
    assert twice.is_whole()
    assert {*twice._base} == {-2, -1, 0, 8, 16}, (
        "one waits, and others are pressed alone, or with the first blocks of each of the three"
    )
    put = [*range(MANY), *range(MANY), *range(20_000)]
    assert all(twice[row] == told(number) for row, number in enumerate(put))


@pytest.mark.parametrize("base", [5, 2, 10_000, -3])
def test_an_archive_whose_blocks_name_what_cannot_open_them_is_not_whole(base: int) -> None:
    archive = filled(20_000)
    assert archive.is_whole()
    archive._base[6] = base
    assert not archive.is_whole()


def test_words_that_wait_to_be_pressed_are_read_as_those_that_are() -> None:
    archive = Archive()
    archive.grow(MANY)
    for row in range(MANY):
        archive[row] = told(row)
    assert archive.is_loose
    for _ in range(2):
        assert archive.press_one()
        assert [archive[row] for row in range(MANY)] == [told(row) for row in range(MANY)]
    while archive.press_one():
        pass
    assert not archive.is_loose
    assert [archive[row] for row in range(MANY)] == [told(row) for row in range(MANY)]


def test_no_more_than_some_blocks_wait_to_be_pressed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("delegtop.model.store.archive._LOOSE", 2)
    archive = Archive()
    archive.grow(MANY)
    for row in range(MANY):
        archive[row] = told(row)
    assert len(archive._full) > 3
    assert archive._base.count(-2) == 2
    assert [archive[row] for row in range(MANY)] == [told(row) for row in range(MANY)]


def test_what_presses_is_kept_while_blocks_wait_and_no_longer() -> None:
    archive = filled()
    assert archive._presser is None
    archive.grow(MANY)
    for row in range(MANY, 2 * MANY):
        archive[row] = told(row)
    assert archive.press_one()
    assert archive._presser is not None
    first = archive._presser
    while archive.is_loose:
        assert archive._presser is first
        archive.press_one()
    assert archive._presser is None
    assert not archive._bases
    assert [archive[row] for row in range(2 * MANY)] == [told(row) for row in range(2 * MANY)]


def test_a_moment_reads_words_that_are_pressed_later() -> None:
    archive = Archive()
    archive.grow(MANY)
    for row in range(MANY):
        archive[row] = told(row)
    before = Freezer().freeze(archive)
    while archive.press_one():
        pass
    again = Archive()
    thaw_into(again, before)
    assert [again[row] for row in range(MANY)] == [told(row) for row in range(MANY)]


def test_few_pressed_blocks_stay_open_however_many_are_read() -> None:
    archive = filled(20_000)
    assert len(archive._full) > 64
    assert all(archive[row] == told(row) for row in range(20_000))
    assert len(archive._opened) == 32


def test_a_word_put_anew_replaces_the_one_before_and_no_other() -> None:
    archive = filled()
    archive[7] = told(9_999)
    archive[8] = NO_WORDS
    assert [archive[row] for row in (6, 7, 8, 9)] == [told(6), told(9_999), NO_WORDS, told(9)]


@pytest.mark.parametrize("doing", [None, "", "lake build", "half a character: \ud83d"])
@pytest.mark.parametrize("session", [None, "", "own", "another"])
def test_what_was_said_and_told_is_what_was_kept(doing: str | None, session: str | None) -> None:
    archive = Archive()
    archive.grow(1)
    report = Report(session_id=session)
    archive[0] = words("own", report, doing)
    assert archive[0].said == doing
    assert archive[0].told_by("own") == report


def test_half_a_character_in_a_report_is_replaced() -> None:
    archive = Archive()
    archive.grow(1)
    archive[0] = words("own", Report(summary="a\ud83db", session_id="own"), "x")
    assert archive[0].told_by("own") == Report(summary="a?b", session_id="own")
    assert archive[0].said == "x"


def test_nothing_said_is_nothing_kept() -> None:
    assert words("own", NO_REPORT, None) == NO_WORDS


def test_a_moment_keeps_its_words_and_shares_the_pressed_blocks() -> None:
    archive = filled()
    before = Freezer().freeze(archive)
    archive[3] = told(5_000)
    for row in range(MANY):
        archive[row] = told(row + 1)
    after = Freezer().freeze(archive, before)
    again = Archive()
    thaw_into(again, before)
    assert [again[row] for row in range(MANY)] == [told(row) for row in range(MANY)]
    assert after.parts["_full"].pieces[0][0] is before.parts["_full"].pieces[0][0]
    for row in range(MANY):  # it goes on from there, and the other does not change
        again[row] = told(row + 2)
    assert [again[row] for row in range(MANY)] == [told(row + 2) for row in range(MANY)]
    assert [archive[row] for row in range(MANY)] == [told(row + 1) for row in range(MANY)]


# In the ledger


def place(line: int) -> Origin:
    return Origin("log", line, line * 100)


START = Started("a", Millis(0), place(1))
BEAT = Heard("a", Millis(10), place(2), doing="reading")
END = Ended("a", Millis(20), place(3), Outcome.COMPLETED, Ending.RETURN, Report(summary="done"))


def test_the_last_words_of_one_that_ended_are_still_known() -> None:
    forest = Forest()
    forest.apply([START, BEAT, END])
    facts = forest.delegation(0)
    assert (facts.doing, facts.report.summary) == ("reading", "done")


def test_a_sign_of_life_after_the_end_tells_what_it_does_even_if_that_is_nothing() -> None:
    for doing in ("more", None):
        forest = Forest()
        forest.apply([START, BEAT, END, Heard("a", Millis(30), place(4), doing=doing)])
        assert forest.delegation(0).doing == doing


def test_one_that_is_given_work_again_keeps_its_last_words_and_loses_its_report() -> None:
    forest = Forest()
    forest.apply([START, BEAT, END, Resumed("a", Millis(25), place(5))])
    facts = forest.delegation(0)
    assert (facts.doing, facts.report, facts.outcome) == ("reading", NO_REPORT, None)
