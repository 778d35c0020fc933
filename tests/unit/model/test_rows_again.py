"""Trees that are over and have no rows any more."""

import pytest

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.event_runs import EndRow, EventRun, EventRuns, SignRow, StartRow
from delegtop.model.events import Ended, Ending, Outcome, Report, Started
from delegtop.model.forest import Forest
from delegtop.model.shortening import Shortening

LOG = "/logs/session.jsonl"
OVER, OTHER = "sess_1772525000_over01", "sess_1772525000_other1"


def run(*, sign: str = "", start: tuple[str, str] = ("", ""), end: str = "") -> EventRun:
    signs: list[SignRow] = [(sign, Millis(9), 3, 80, "reads", None, None, None, None)] if sign else []
    id, parent = start
    begun = (id, Millis(9), 3, 80, "planner", None, None, None, None, 1, None, None, parent, None, None)
    starts: list[StartRow] = [begun] if id else []
    ends: list[EndRow] = [(end, Millis(9), 3, 80, Outcome.FAILED, Ending.RETURN, Report(), False)] if end else []
    return EventRun(Origin(LOG, 3, 80), [sign or id or end], signs, starts, ends)


@pytest.mark.parametrize(
    ("told", "is_back"),
    [
        (run(sign=OVER), True),
        (run(start=(OTHER, OVER)), True),
        (run(end=OVER), True),
        (run(start=(OTHER, "sess_1772525000_nobody")), False),
        (run(sign=OTHER), False),
    ],
)
def test_they_have_them_again_when_a_run_tells_of_them_or_of_a_child(told: EventRun, is_back: bool) -> None:
    forest = Forest()
    forest.apply(
        [
            Started(OVER, Millis(1), Origin(LOG, 1, 0), "executor"),
            Ended(OVER, Millis(2), Origin(LOG, 2, 40), Outcome.COMPLETED, Ending.RETURN, Report(summary="done")),
        ]
    )
    forest.advance(Millis(3))
    shortening = Shortening(forest, 0, Millis(0))
    while not shortening.work(1):
        pass
    forest.become(shortening.finish())
    assert forest.find(OVER) is None
    forest.apply(EventRuns([told]))
    found = forest.find(OVER)
    assert (found is not None) is is_back
    assert found is None or forest.delegation(found).report.summary == "done"
