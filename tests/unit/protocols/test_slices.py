"""A protocol is one folder: its formats and rules are in it, and its own words lead to its page."""

import re
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from delegtop import protocols
from delegtop.diagnosis.rules import JUDGED
from delegtop.dialects import GROUP

PROJECT = Path(__file__).parents[3]
SLICES = sorted(path.parent.name for path in Path(protocols.__file__ or "").parent.glob("*/__init__.py"))


def test_there_are_the_protocols_that_are_spoken_of() -> None:
    assert SLICES == ["cleo", "hyper", "proofchecker", "standard"]


@pytest.mark.parametrize("name", SLICES)
def test_a_protocol_says_what_it_holds_and_which_page_tells_of_it(name: str) -> None:
    words = " ".join((import_module(f"delegtop.protocols.{name}").__doc__ or "").split())
    found = re.search(r": .+ and .+\. Its page is (docs/[a-z-]+\.md)\.$", words)
    assert found is not None, words
    page = PROJECT / found[1]
    assert page.is_file()
    assert (name if name != "standard" else "delegation guide") in page.read_text().lower()


@pytest.mark.parametrize("name", SLICES)
def test_a_protocol_has_formats_and_rules_of_its_own(name: str) -> None:
    folder = f"delegtop.protocols.{name}."
    assert [point.name for point in entry_points(group=GROUP) if point.value.startswith(folder)]
    assert [chapter for chapter in JUDGED if chapter.startswith(folder)]
