"""What stands between tags in a text, such as `<status>completed</status>`, at a cost that grows with the text alone.

A pattern that looks for both tags at once would search to the end for each first one that lacks the second.
"""

import re
from collections.abc import Iterator


def enclosed(text: str, opening: re.Pattern[str]) -> Iterator[tuple[re.Match[str], str]]:
    """Each first tag, whose group 1 is its name, and what stands before the second; none within another."""
    at, lacking = 0, set[str]()
    while found := opening.search(text, at):
        at = found.end()
        if (name := found[1]) in lacking:
            continue
        end = text.find(f"</{name}>", at)
        if end < 0:
            lacking.add(name)
            continue
        yield found, text[at:end]
        at = end + len(name) + 3


def tagged(text: str, opening: re.Pattern[str]) -> dict[str, str]:
    """The same by the names of the tags; of several the last counts."""
    return {found[1]: body for found, body in enclosed(text, opening)}


def inside(text: str, name: str) -> str | None:
    """What stands in the first tag of that name; None if there is none."""
    _, begun, rest = text.partition(f"<{name}>")
    body, ended, _ = rest.partition(f"</{name}>")
    return body if begun and ended else None
