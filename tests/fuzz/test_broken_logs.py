"""A few thousand broken lines, rows and folders of every format: none stops a format. How long each takes is told by
`python -m tests.fuzz.run`: here others use the machine too."""

from tests.fuzz.run import fuzz

from delegtop.dialects import names


def test_whatever_is_broken_in_a_log_is_read_without_an_exception() -> None:
    reading, _, _ = fuzz(4_000, 7, slow=float("inf"))
    assert reading.tallies.keys() == {*names()}
    assert not [name for name, tally in reading.tallies.items() if not tally.reached], "never got past the first look"
    assert not [(found.what, found.format, found.detail) for found in reading.findings]
