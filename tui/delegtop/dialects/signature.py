"""What can be told of a format without importing it: its row in the table, and the signatures a file of it must bear.

Signatures spare a file the formats that cannot read it, and delegtop their imports. They decide nothing: which format a
file has, `sniff` alone says. So they may be too wide and never too narrow: of a file that bears none of a format's
signatures, `sniff` says 0.
"""

from collections.abc import Iterable, Set
from functools import cache

import msgspec

from delegtop.base.lazy_pattern import lazy_pattern

SQLITE = b"SQLiteformat3"
"""How every database begins."""
_BLANK = b"\0\xef\xbb\xbf \t\r\n\v\f"
"""What is taken out of the beginning of a file; byte order marks are made of three of them."""
_EDGE = b"\n"
_SPELLED = lazy_pattern(rb"\\u00[4-7]")
"""How JSON may spell the letters of a word in numbers."""
_NAMES = lazy_pattern(rb'"?\w+"?')
_QUOTE = b'"'
_NEAR = 64
"""Bytes at the beginning in which a word is looked for with which a file begins."""


@cache
def _in_one_piece(word: bytes) -> bytes:
    """What of a word no blank breaks up: the longest name in it, if it is of JSON, however its signs are spaced."""
    return max(_NAMES.findall(word), key=len, default=b"") if _QUOTE in word else b""


class Signature(msgspec.Struct, frozen=True):
    """One way in which a file can belong to a format: all of this must be so."""

    words: tuple[bytes, ...] = ()
    """They are in the beginning of the file, from which blanks, NULs and byte order marks were taken out; a line break
    stands for its first and its last end. Where `sniff` looks at decoded JSON, a word may have only letters,
    underscores and the signs of JSON itself: any other may be spelled in numbers."""
    path: str = ""
    """This is in its path."""
    columns: tuple[str, ...] = ()
    """These are in it, if it is a database: tables, or columns as `table.column`."""


class Head:
    """The beginning of a file, as signatures are looked for in it."""

    def __init__(self, path: str, head: bytes, columns: Set[str] = frozenset()) -> None:
        self._path = path
        self._columns = columns
        self._raw = head
        self._bare: bytes | None = None
        """The same without blanks: taken out of most heads for no word."""
        self._is_plain = b"\0" not in head
        """Whether no character has blanks within itself, as in UTF-16."""
        spelled = head if self._is_plain else self._head
        self._is_spelled = _SPELLED.search(spelled) is not None  # a fifth of looking for each of the four
        self._start = _EDGE + head[:_NEAR].translate(None, _BLANK)
        self._is_there: dict[bytes, bool] = {}

    @property
    def _head(self) -> bytes:
        if self._bare is None:
            self._bare = _EDGE + self._raw.translate(None, _BLANK) + _EDGE
        return self._bare

    def bears(self, signatures: Iterable[Signature]) -> bool:
        """Whether one of the signatures fits."""
        return any(map(self._fits, signatures))

    def _fits(self, signature: Signature) -> bool:
        if signature.path not in self._path or not self._columns >= {*signature.columns}:
            return False
        return self._is_spelled or all(map(self._holds, signature.words))

    def _holds(self, word: bytes) -> bool:
        """Several signatures have a word in common, and to look for one that is not there takes longest."""
        found = self._is_there.get(word)
        if found is None:
            is_inside = _EDGE not in word
            found = self._may_hold(word) and ((is_inside and word in self._raw) or word in self._head)
            self._is_there[word] = found
        return found

    def _may_hold(self, word: bytes) -> bool:
        """Whether a look at the raw bytes leaves it open that a word is there."""
        if word.startswith(_EDGE) and len(self._start) > len(word):
            return self._start.startswith(word)
        return not self._is_plain or _in_one_piece(word) in self._raw


class Format(msgspec.Struct, frozen=True):
    """A format of delegtop's own, in the table."""

    name: str
    place: str
    """`module:Class`"""
    surest: int
    files: tuple[str, ...]
    signatures: tuple[Signature, ...]
    """None if any file may be of it."""
