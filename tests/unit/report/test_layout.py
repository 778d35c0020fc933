"""How many columns a text takes."""

import sys
from unicodedata import combining, east_asian_width

from delegtop.report.layout import cells


def test_every_character_takes_the_room_that_its_width_says() -> None:
    for number in range(sys.maxunicode + 1):
        character = chr(number)
        wide = 0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1
        assert cells(character) == wide, hex(number)
