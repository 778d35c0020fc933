"""What can be told of a format without importing it: its row in the table, and the signatures a file of it must bear.

Signatures spare a file the formats that cannot read it, and delegtop their imports. They decide nothing: which format a
file has, `sniff` alone says. So they may be too wide and never too narrow: of a file that bears none of a format's
signatures, `sniff` says 0.
"""

from collections.abc import Iterable, Set

import msgspec

from delegtop.base.lazy_pattern import lazy_pattern

SQLITE = b"SQLiteformat3"
"""How every database begins."""
_BLANK = b"\0\xef\xbb\xbf \t\r\n\v\f"
"""What is taken out of the beginning of a file; byte order marks are made of three of them."""
_EDGE = b"\n"
_QUOTE = b'"'
_FEW = 6
"""Words that are looked for as they are: each takes a tenth as long as to take the quotes apart."""
_SPELLED = lazy_pattern(rb"\\u00[4-7]")
"""How JSON may spell the letters of a word in numbers."""


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
        self._head = _EDGE + head.translate(None, _BLANK) + _EDGE
        self._is_spelled = _SPELLED.search(self._head) is not None  # a fifth of looking for each of the four
        self._is_there: dict[bytes, bool] = {}
        self._quoted: set[bytes] | None = None
        """All that stands between two quotes, once it is worth knowing."""

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
            found = self._is_there[word] = self._may_hold(word) and word in self._head
        return found

    def _may_hold(self, word: bytes) -> bool:
        """False if it is certain that it is not there: what stands between two quotes in the word stands between none
        in the file. To know all that does is worth it only for who asks for many words."""
        if len(self._is_there) < _FEW:
            return True
        if self._quoted is None:
            self._quoted = {*self._head.split(_QUOTE)}
        return self._quoted.issuperset(word.split(_QUOTE)[1:-1])


class Format(msgspec.Struct, frozen=True):
    """A format of delegtop's own, in the table."""

    name: str
    place: str
    """`module:Class`"""
    surest: int
    files: tuple[str, ...]
    signatures: tuple[Signature, ...]
    """None if any file may be of it."""
