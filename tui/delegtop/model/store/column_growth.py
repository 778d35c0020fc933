"""How a large column grows: in place, if the allocator is asked to."""

from functools import cache

_MMAP_THRESHOLD = -3
"""A name of glibc's, see mallopt(3)."""
_LARGE = 512 * 1024


@cache
def let_columns_grow() -> None:
    """Keep every large column in a mapping of its own, which grows without leaving a hole of its former size behind.

    glibc does so only until the first of them is given back; the holes would be a tenth of all memory.
    """
    try:
        import ctypes

        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE)
    except (ImportError, OSError, TypeError, AttributeError):
        return  # another system, another allocator
