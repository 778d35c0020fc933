"""A pattern that is compiled when it is first used does what a compiled one does."""

import re

import pytest

from delegtop.base.lazy_pattern import lazy_pattern


def test_it_answers_as_a_compiled_pattern_does() -> None:
    lazy, compiled = lazy_pattern(r"(\w)(\d+)"), re.compile(r"(\w)(\d+)")
    text = "a1 b22 c"
    assert lazy.findall(text) == compiled.findall(text)
    assert lazy.sub(r"\2\1", text) == compiled.sub(r"\2\1", text)
    assert lazy.fullmatch("a1") is not None
    assert lazy.fullmatch(text) is None
    assert lazy.groups == 2


def test_it_heeds_flags_and_takes_bytes() -> None:
    assert lazy_pattern(rb"ab", re.IGNORECASE).match(b"AB")


def test_nothing_is_compiled_before_it_is_used() -> None:
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.search("")


def test_what_was_asked_once_is_kept() -> None:
    lazy = lazy_pattern("a")
    assert lazy.search is lazy.search
