"""What two texts have in common at their beginning is all that stands before the first difference."""

from hypothesis import given
from hypothesis import strategies as st

from delegtop.base.common_beginning import in_common

FEW = st.text("ab", max_size=9)


@given(FEW, FEW)
def test_of_texts_and_of_bytes(one: str, other: str) -> None:
    differ = (at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right)
    first = next(differ, min(len(one), len(other)))
    assert in_common(one, other) == in_common(one.encode(), other.encode()) == first
