"""How much two texts, or strings of bytes, have in common at their beginning."""

from typing import TypeVar

T = TypeVar("T", str, bytes)


def in_common(one: T, other: T) -> int:
    """How many characters or bytes; found by halves, which compares pieces and not each of them."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
