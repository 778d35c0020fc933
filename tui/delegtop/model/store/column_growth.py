"""What the allocator is asked for: that a large column grows in place, and that room goes back which nobody needs."""

from functools import cache

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
"""Names of glibc's, see mallopt(3)."""
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


def share_one_heap() -> None:
    """Let threads that begin from now on take their room from where all others do.

    glibc gives each a heap of its own, and what one thread has freed there no other fills: reading and drawing take
    turns anyway.
    """
    try:
        import ctypes

        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
    except (ImportError, OSError, TypeError, AttributeError):
        return  # another system, another allocator


def give_back() -> None:
    """Let the system have what lies unused between the things that stay: glibc gives back only what is at the end."""
    try:
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)
    except (ImportError, OSError, TypeError, AttributeError):
        return  # another system, another allocator
