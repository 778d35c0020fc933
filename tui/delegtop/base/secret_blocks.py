"""Secrets that no single pattern tells: keys over many lines, all values of a cluster's secret, what a sentence names
only after it."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

_pattern = cache(re.compile)
_MASKED = "[masked]"
_BLANK = r"(?: |%20|\+)"
_PRIVATE = rf"PRIVATE{_BLANK}KEY"
_PRIVATE_KEY = (
    rf"(-----BEGIN{_BLANK}(?:[A-Z0-9]{{1,12}}{_BLANK}){{0,3}}{_PRIVATE}(?:{_BLANK}BLOCK)?-----)(?s:.*?)"
    rf"(?=-----END{_BLANK}(?:[A-Z0-9]{{1,12}}{_BLANK}){{0,3}}{_PRIVATE}|\Z)"
    r"|(Private-Lines: [0-9]+\s)(?s:.*?)(?=Private-MAC|\Z)"
)
_END = rf"-----END{_BLANK}(?:[A-Z0-9]{{1,12}}{_BLANK}){{0,3}}{_PRIVATE}"
_KEY_TEXT = re.compile(r"[A-Za-z0-9+/=\s\\]")
_LONGEST_KEY = 16_000
_IN_CLUSTER = r"kind(?:\\{0,7}[\"'])?\s{0,3}:\s{0,3}(?:\\{0,7}[\"'])?secret\b"
_DATA = r"\b(?:string)?data(?:\\{0,7}[\"'])?[ \t]{0,3}:\s{0,40}\{?"
_ENTRY = (
    r"[\s,]{0,60}(?:\\{0,7}[\"'])?(?!(?:kind|metadata|type|apiversion|immutable)\b)[\w.-]{1,100}(?:\\{0,7}[\"'])?"
    r"[ \t]{0,3}:[ \t]{0,3}(?:[|>][-+]?\s{1,40})?(\\{0,7}[\"'])?(?!\[masked\])([^\s\"'\\,}]{4,})(?:\\{0,7}[\"'])?"
)
_NAMED_AFTER = (
    r" (?:is|as|was) (?:the|my|your|our|its|a) (?:[a-z-]{1,20} ){0,2}"
    r"(?:password|passphrase|passcode|api key|secret key|access key|access token|token|secret)\b"
)
_LEADING = (" is ", " as ", " was ")
_ODD = r"(?=.{0,60}[0-9])(?=.{0,60}[A-Za-z])(?![$<{(\[])(?![0-9a-f]{40}$|[0-9a-f]{64}$)[^\s/\"'`.,()\[\]{}<>]{8,100}"


class Block(NamedTuple):
    """Where such a secret stands, and where it begins with what of it is shown."""

    start: int
    end: int
    kind: str
    whole: int


def names() -> tuple[str, ...]:
    """What is found here, for the page on privacy; private keys are told by their form."""
    return "values of a Kubernetes secret", "password named after it"


def blocks(text: str, lowered: str) -> Iterator[Block]:
    """All of them in a text; `lowered` is the same in small letters."""
    if "PRIVATE" in text or "Private-Lines" in text:
        yield from _private_keys(text)
    if "secret" in lowered and "data" in lowered and _pattern(_IN_CLUSTER).search(lowered):
        yield from _cluster_values(lowered)
    if any(map(lowered.__contains__, _LEADING)):
        yield from _named_after(text, lowered)


def _private_keys(text: str) -> Iterator[Block]:
    done = 0
    for match in _pattern(_PRIVATE_KEY).finditer(text):
        start = match.end(match.lastindex or 0)
        if start < match.end() and not text.startswith(_MASKED, start):
            yield Block(start, match.end(), "private key", match.start())
        done = match.end()
    if done:
        return
    end = _pattern(_END).search(text)  # only its end is there, as `tail` shows it
    if end is not None:
        start = end.start()
        while start > max(0, end.start() - _LONGEST_KEY) and _KEY_TEXT.match(text, start - 1):
            start -= 1
        key = text[start : end.start()]
        start += len(key) - len(key.lstrip())
        if len(key.strip()) >= 16:
            yield Block(start, end.start() - (len(key) - len(key.rstrip())), "private key", start)


def _cluster_values(lowered: str) -> Iterator[Block]:
    for data in _pattern(_DATA).finditer(lowered):
        at = data.end()
        while entry := _pattern(_ENTRY).match(lowered, at):
            yield Block(entry.start(2), entry.end(2), "password", entry.start(2))
            at = entry.end()


def _named_after(text: str, lowered: str) -> Iterator[Block]:
    for match in _pattern(_NAMED_AFTER).finditer(lowered):
        end = len(text[: match.start()].rstrip("\"'`.,;:"))
        start = max(text.rfind(sign, max(0, end - 120), end) for sign in " \n\t\"'`(") + 1
        if _pattern(_ODD).fullmatch(text, start, end):
            yield Block(start, end, "password", start)
