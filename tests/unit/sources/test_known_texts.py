"""Texts that are known are found again among very many, in a time that does not grow with them."""

import pytest
from tests.patience import cost

from delegtop.sources.text_identity.known_texts import KnownTexts
from delegtop.sources.text_identity.text_trace import UNENDED, TextTrace, key_of


def known(count: int, *, ended: bool) -> KnownTexts:
    texts = KnownTexts(limit=1_000_000)
    for number in range(count):
        head = b'{"session": "%06d"}' % number + (b"\n" if ended else b"")
        trace = TextTrace(key_of(head) if ended else UNENDED, 0)
        trace.head, trace.offset, trace.line = head, len(head), int(ended)
        texts.add(trace)
    return texts


@pytest.mark.parametrize("ended", [False, True])
def test_a_line_without_its_end_is_looked_up_among_many_for_what_it_costs_among_few(*, ended: bool) -> None:
    def look_up(texts: KnownTexts) -> None:
        for number in range(100):
            list(texts.like(1, b'{"session": "other%d"}' % number))

    few, many = known(2_000, ended=ended), known(40_000, ended=ended)
    assert cost(lambda: look_up(many)) < 4 * cost(lambda: look_up(few))


def test_of_a_line_without_its_end_the_text_is_found_in_which_it_went_on() -> None:
    texts = known(2_000, ended=True)
    [found] = texts.like(1, b'{"session": "001999"}')
    assert found.head == b'{"session": "001999"}\n'
