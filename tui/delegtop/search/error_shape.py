"""What an error, or a call that stands still, has in common with others: its words without what differs each time.

Out go paths (their last name stays), addresses, ids, hashes, numbers, times and what stands in quotes but for short
names; letters become small ones and blanks single. What is left is compared as it is: two that differ in one word are
two.
"""

import re
from hashlib import blake2b

LONGEST = 400
"""Characters of the words that are compared: what is told first tells the kind."""
_QUOTED = 40
"""Characters of a quotation that may be a name."""
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>)]+")
_PATH = re.compile(r"(?<![^\s/:,;'\"<>()=])(?:[^\s/:,;'\"<>()=]*+/)++(?P<last>[^\s/:,;'\"<>()]*)")
_ID = re.compile(
    r"\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|0x[0-9a-f]+|[0-9a-f]{7,})\b"
    r"|(?<![a-z0-9_-])(?P<flag>-*)(?=[a-z0-9_-]*\d)[a-z]+[_-][a-z0-9_-]{6,}\b"
)
"""The second kind, as a path, begins where none of its letters stands before it: a long row is looked at once."""
_NUMBER = re.compile(r"\d+(?:[.:,]\d+)*")
_LONG_QUOTE = re.compile(rf"(['\"`])[^'\"`]{{{_QUOTED},}}\1")
_BLANKS = re.compile(r"\s+")


def shape(text: str) -> str:
    """The words that such ones have in common; empty if nothing is left of it."""
    told = text[: 4 * LONGEST].lower()
    told = _ADDRESS.sub("<address>", told)
    told = _PATH.sub(r"\g<last>", told)
    told = _LONG_QUOTE.sub("<…>", told)
    told = _ID.sub(r"\g<flag><id>", told)
    told = _NUMBER.sub("#", told)
    told = _BLANKS.sub(" ", told).strip(" .!…")
    return told[:LONGEST] if any(each.isalpha() for each in told) else ""


def key_of(*parts: str) -> int:
    """One number for all that is alike, as the database keeps it."""
    return int.from_bytes(
        blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True
    )
