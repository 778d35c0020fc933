"""However text is cut to a width, it is cut where Textual would cut it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len, set_cell_size

from delegtop.app.cell_width import cut, fit

PIECES = ("a", " ", "é", "e\u0301", "日", "👩\u200d👩\u200d👧", "🇩🇪", "…", "·", "\u200b", "👍🏽")
texts = st.lists(st.sampled_from(PIECES), max_size=120).map("".join)


@given(texts, st.integers(1, 40))
def test_a_long_text_is_cut_as_all_of_it_would_be(text: str, width: int) -> None:
    whole = text if cell_len(text) <= width else set_cell_size(text, width - 1).rstrip() + "…"
    assert cut(text, width, "…") == whole


@pytest.mark.parametrize("text", ["plain " * 40, "日本語 " * 40, "naïve · " * 40, ""])
def test_what_fits_is_exactly_as_wide_as_asked_for(text: str) -> None:
    assert all(cell_len(fit(text, width, "…")) == width for width in range(1, 60))
