"""Session ids: two forms, a child's suffix, and everything that only looks like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegtop.base.clock import parse_time
from delegtop.protocols.standard.contract.session_ids import Form, is_well_formed, parse


def test_an_id_may_name_a_day() -> None:
    parsed = parse("sess_20260203_abc123")
    assert parsed is not None
    assert (parsed.form, parsed.at, parsed.random) == (Form.DAY, parse_time("2026-02-03T00:00:00Z"), "abc123")
    assert (parsed.child, parsed.parent) == (None, None)


def test_an_id_may_name_a_second() -> None:
    parsed = parse("sess_1770109200_abc123")
    assert parsed is not None
    assert (parsed.form, parsed.at, parsed.random) == (Form.EPOCH, parse_time("2026-02-03T09:00:00Z"), "abc123")


@pytest.mark.parametrize("own", ["sess_20260203_abc123", "sess_1770109200_abc123"])
def test_a_child_adds_to_the_id_of_its_parent(own: str) -> None:
    parsed = parse(f"{own}_195")
    assert parsed is not None
    assert (parsed.child, parsed.parent) == ("195", own)


@pytest.mark.parametrize(
    "text",
    [
        "sess_20260203_abc123",
        "sess_1770109200_abc123",
        "sess_1770109200_abc123_7",
        "sess_1770109200_i951",
        "sess_20240229_x",
    ],
)
def test_both_forms_are_well_formed(text: str) -> None:
    assert is_well_formed(text)
    assert parse(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sess_",
        "sess_20261332_abc123",
        "sess_20250229_abc123",
        "sess_177010920_abc123",
        "sess_17701092000_abc123",
        "sess_1770109200_",
        "sess_1770109200_abc_1_2",
        "sess_1770109200_abc-123",
        "sess_1770109200_abc123\n",
        " sess_1770109200_abc123",
        "sess_١٧٧٠١٠٩٢٠٠_abc123",
        "ses_1770109200_abc123",
        "sess_$(date +%s)_abc123",
        "SESS_1770109200_abc123",
    ],
)
def test_what_only_looks_like_an_id_is_malformed(text: str) -> None:
    assert not is_well_formed(text)
    assert parse(text) is None


HEADS = st.sampled_from(["sess_", "sess_", "sess_", "SESS_"])
STAMPS = st.from_regex(r"\A(202[45][01][0-9][0-3][0-9]|[0-9]{8}|[0-9]{10}|[0-9]{13})\Z") | st.text(
    "0123456789٣", max_size=14
)
TAILS = st.from_regex(r"\A(_[0-9A-Za-z]{1,6}){1,2}\Z") | st.text("_0aZé-\n", max_size=6)


@given(HEADS, STAMPS, TAILS)
def test_the_quick_answer_is_that_of_taking_the_id_apart(head: str, stamp: str, tail: str) -> None:
    text = head + stamp + tail
    assert is_well_formed(text) == (parse(text) is not None)
