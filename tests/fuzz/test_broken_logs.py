"""A few thousand broken lines, rows and folders of every format: none stops a format, none takes long."""

from tests.fuzz.reading_broken import SLOW
from tests.fuzz.run import fuzz


def test_whatever_is_broken_in_a_log_is_read_without_an_exception_and_at_once() -> None:
    reading, _, _ = fuzz(4_000, 7, slow=10 * SLOW)  # the machine may be slow as well
    assert len(reading.tallies) > 25
    assert not [(found.what, found.format, found.detail) for found in reading.findings]
