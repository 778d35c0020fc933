"""Random fault schedules through the whole feed (feed_world has what they are made of)."""

from pathlib import Path

import pytest
from tests.property.feed_schedules import report, warm_up

PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_a_recording_holds_every_record_on_disk_once_whatever_happens_to_the_files(
    part: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    schedules, seed = request.config.getoption("--schedules"), request.config.getoption("--seed")
    warm_up(tmp_path)
    failed = [told for each in range(part, schedules, PARTS) if (told := report(tmp_path, seed + each)) is not None]
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("seed", [20_007_005, 20_008_043, 20_014_503, 20_015_092])
def test_a_schedule_that_failed_once_does_so_no_more(seed: int, tmp_path: Path) -> None:
    assert report(tmp_path, seed) is None
