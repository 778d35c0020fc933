"""Random fault schedules through the whole feed, restarts between them (feed_schedules has what they are made of)."""

import pytest
from tests.property.feed_schedules import report

PARTS = 4
SHARE = 5
"""Of the schedules for the tail alone, every so many is also done through the feed."""


@pytest.mark.parametrize("part", range(PARTS))
def test_a_recording_holds_every_record_on_disk_once_whatever_happens_to_the_files(
    part: int, request: pytest.FixtureRequest
) -> None:
    schedules, seed = request.config.getoption("--schedules") // SHARE, request.config.getoption("--seed")
    failed = [told for each in range(part, schedules, PARTS) if (told := report(seed + each)) is not None]
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("seed", [894, 936, 973])
def test_a_schedule_that_failed_once_does_so_no_more(seed: int) -> None:
    assert report(seed) is None
