"""A few thousand broken lines, rows and folders of every format: none stops a format. How long each takes is told by
`python -m tests.fuzz.run`: here others use the machine too."""

import pytest
from tests.fuzz.breaking import Breaker
from tests.fuzz.run import fuzz

from delegtop.dialects import names


def test_whatever_is_broken_in_a_log_is_read_without_an_exception() -> None:
    reading, _, _ = fuzz(2_500, 7, slow=float("inf"))
    assert reading.tallies.keys() == {*names()}
    assert not [name for name, tally in reading.tallies.items() if not tally.reached], "never got past the first look"
    assert not [(found.what, found.format, found.detail) for found in reading.findings]


def test_a_format_whose_lines_are_broken_beyond_the_first_look_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Breaker, "line", lambda *_: b"{}")
    reading, _, _ = fuzz(50, 7, ["kimi"], slow=float("inf"))
    assert reading.lines >= 100
    assert reading.tallies["kimi"].broken
    assert not reading.tallies["kimi"].reached
