"""What triage says of problems: every one has its line and its page."""

from pathlib import Path

import pytest

from delegtop.app.pages.inspector.findings import found as findings
from delegtop.app.pages.inspector.page_words import PageSubject
from delegtop.app.pages.triage import problem_words
from delegtop.app.widgets.sheet import wrap
from delegtop.base.clock import DAY, MINUTE, FrozenClock, Millis, parse_time
from delegtop.diagnosis.assessments import Assessments
from delegtop.feed.live_feed import Feed
from delegtop.model.forest import Forest

SAMPLES = Path(__file__).parents[5] / "sample_logs"
T0 = Millis(1_700_000_000_000)


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.iterdir() if path.is_dir()))
def test_every_problem_of_a_sample_has_its_line_and_its_page(sample: str) -> None:
    grown = Forest()
    feed = Feed([str(SAMPLES / sample)], clock=FrozenClock(parse_time("2026-12-01T00:00:00Z") or T0))
    for batch in feed.read_all():
        grown.apply(batch.events)
    feed.close()
    ended_at = max((grown.delegation(handle).heard_at or T0 for handle in range(len(grown))), default=T0)
    for look in (ended_at + 5 * MINUTE, ended_at + 45 * MINUTE, ended_at + 2 * DAY):
        grown.advance(Millis(look))
        assessments = Assessments(grown)
        assessments.update()
        for told in assessments.problems():
            subject = PageSubject(assessments, told.handle)
            page = problem_words.page(told, subject, None, problem_words.Known(findings(subject, {})))
            text = "\n".join(line.plain for block in page for line in wrap(block, 100))
            assert told.sentence(grown.shown_at)
            assert told.kind in text
            row = problem_words.row(told, subject, None, 80, settled=False, place="billing")
            assert told.short in row.plain
            assert row.cell_length <= 80
