"""The `activity` list in the frontmatter of a file, read quickly: its file is read again whenever it changes. Only the
list itself is read, and of a very long one the newest entries."""

from typing import Any

from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.protocols import frontmatter

LONGEST = 24 * 1024
"""Characters of the list that are read, its newest entries: two hundred of them."""
_FENCE = lazy_pattern(r"(?m)^---[ \t]*$")
_LIST = lazy_pattern(r"(?m)^activity:[^\n]*(?:\n(?:[ \t-][^\n]*)?)*")
_ENTRY = lazy_pattern(r"(?m)^( *)- ")


class ActivityError(ValueError):
    """The list cannot be read."""


def entries(page: str) -> tuple[Any, bool]:
    """The list as it stands there, None if there is none; and whether older entries were left out."""
    page = page.replace("\r\n", "\n")
    begin = page.find("\n") + 1
    end = _FENCE.search(page, begin)
    if end is None:  # half of a name would be another name
        raise ActivityError("the frontmatter is never closed")
    found = _LIST.search(page, begin, end.start())
    if found is None:
        return None, False
    text = found[0]
    is_cut = len(text) > LONGEST
    if is_cut:
        text = _newest(text)
    try:
        told = frontmatter.quickly(text)
    except frontmatter.AgentFileError as error:
        raise ActivityError(str(error)) from None
    return (told.get("activity") if isinstance(told, dict) else None), is_cut


def _newest(text: str) -> str:
    """The key, and as many entries from the end as are read."""
    first = _ENTRY.search(text)
    if first is None:
        raise ActivityError("the activity list is too long")
    start = text.find(f"\n{first[1]}- ", len(text) - LONGEST)
    if start < 0:
        raise ActivityError("an entry of the activity list is too long")
    return "activity:" + text[start:]
