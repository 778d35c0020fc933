"""Bytes made into records: one line of a log, or one whole document, with where it stood.

A line is untrusted bytes. `records()` yields every JSON object it can find on it and names what it cannot read;
nothing is dropped without an `Unreadable` that says why.
"""

from collections.abc import Iterator
from functools import cache
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any

import msgspec

from delegtop.base.clock import Millis
from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.base.origin import Origin

if TYPE_CHECKING:
    from json import JSONDecoder

EXCERPT = 200
DEPTH_LIMIT = 200

TORN = "torn"
NOT_JSON = "not JSON"
NOT_AN_OBJECT = "not an object"
TOO_DEEP = "nested too deep"
BAD_ENCODING = "bad encoding"
OUT_OF_RANGE = "number out of range"
NOT_STRICT = "not strict JSON"

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BLANK = b"\0 \t\r\n"
_SEPARATORS = "\0\x1e \t\r\n,"
_GAP = lazy_pattern(f"[{_SEPARATORS}]*")
_EMPTY = lazy_pattern(rf"(?:\{{\}}[{_SEPARATORS}]*)+")
"""Any number of empty objects say no more than one."""
_OPENING = lazy_pattern(r'\{\s*"')
"""Inside a text a quote would be escaped: an object begins here, or a text ends that has a brace at its end."""
_GLUED = lazy_pattern(r'\{(?<![:\[,]\{)\s*"')
"""The same, but not right behind what stands before a value. The brace comes first: it is found without a look at every
character."""
_INSIDE = (":", "[", ",")
_SURROGATE = lazy_pattern("[\ud800-\udfff]")
_ROW = 64
_SURROGATES = lazy_pattern(f"[\ud800-\udfff]{{{_ROW}}}")
"""So many in a row: bytes of another encoding come in their thousands."""
_HALF = lazy_pattern(r"\\u[dD][89a-fA-F]")
"""What becomes half of a character."""
_QUICK, _HUGE = 2_048, 100
"""A line of more bytes is first searched for numbers such as 1e308: so many take the strict reader milliseconds."""
_DIGITS = 300
"""More digits than a float has room for are no measurement."""
_NUMBERS_ALONE = bytes.maketrans(b"E0123456789d", b"edddddddddd ")
_LONG_NUMBERS = (b"eddd", b"e+ddd", b"d" * _DIGITS)
_HOLDS_TEXT = (str, list, dict)
# Bounds on the search for a glued object, so that a hostile line costs no more than a moment.
_SEARCHED = 500_000
_ATTEMPTS = 2_000
_INNER_ATTEMPTS = 8
_NO_BRACKETS = bytes({*range(256)} - {*b"{}[]"})
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_PEELED, _PEAKS = 4, 2_000
"""So many levels are taken off, at most, until there are so few peaks that each is counted."""
_NEAR = 32
"""So far before a brace stands what it belongs to."""
_MISS = 16
"""A failed try says in which line it failed: so many characters before it cost as much as one that is read."""


class Line(msgspec.Struct, frozen=True, gc=False):
    """The bytes of one line without its newline (or of one whole document), and where they stood."""

    origin: Origin
    data: bytes
    at: Millis | None = None
    """For a document: when the file was last written."""

    def holds(self, place: Origin) -> bool:
        """Whether a place is on this line, or in this document."""
        start = self.origin
        if place.source != start.source:
            return False
        return place.line == start.line or (start.line == 1 and start.offset <= place.offset < len(self.data))


class LineBlock:
    """Whole lines that follow each other in one file: taken together, which is cheaper, or one by one."""

    __slots__ = ("_taken", "line", "offset", "raws", "source")

    def __init__(self, source: str, line: int, offset: int, raws: list[bytes]) -> None:
        self.source = source
        self.line = line
        """The number of the first."""
        self.offset = offset
        """Where the first begins."""
        self.raws = raws
        """Each with its newline."""
        self._taken = 0

    @property
    def reached(self) -> tuple[int, int]:
        """The offset behind the last line that was taken, and its number."""
        return self.offset + sum(map(len, self.raws[: self._taken])), self.line + self._taken - 1

    def take(self) -> "LineBlock":
        """All of them are taken."""
        self._taken = len(self.raws)
        return self

    def lines(self) -> Iterator[Line]:
        """They are taken one by one."""
        offset = self.offset
        for number, raw in enumerate(self.raws):
            self._taken = max(self._taken, number + 1)
            yield Line(Origin(self.source, self.line + number, offset), raw[:-1])
            offset += len(raw)


class Record(msgspec.Struct, frozen=True):
    """One decoded JSON object."""

    origin: Origin
    value: dict[str, Any]
    at: Millis | None = None


class Unreadable(msgspec.Struct, frozen=True, gc=False):
    """Bytes that could not be read as a record. Kept and shown, never dropped in silence."""

    origin: Origin
    reason: str
    """A short stable phrase such as "not JSON", by which unreadable lines are counted."""
    excerpt: str = ""


def failed(origin: Origin, error: Exception) -> Unreadable:
    """What is said of a line over which the reader of its format fails."""
    return Unreadable(origin, f"the format failed: {type(error).__name__}", str(error))


_decode = msgspec.json.Decoder().decode


def records(line: Line) -> Iterator[Record | Unreadable]:
    """Every JSON object on the line, and a note on everything else that is on it."""
    data = line.data
    try:
        value = _decode(data) if len(data) < _QUICK else _decoded(data)
    except (ValueError, RecursionError):  # msgspec's errors and UnicodeDecodeError are ValueErrors
        yield from _salvage(line)
        return
    if type(value) is not dict:
        yield Unreadable(line.origin, NOT_AN_OBJECT, excerpt(data))
    elif _is_too_deep(data):
        yield Unreadable(line.origin, TOO_DEEP, excerpt(data))
    else:
        yield Record(line.origin, value, line.at)


def decoded(data: bytes | str) -> Any:
    """One whole JSON value, forgiven what a record is forgiven, such as half an emoji; None if it is none."""
    try:
        value = _decode(data) if len(data) < _QUICK else _decoded(data.encode() if isinstance(data, str) else data)
    except (ValueError, RecursionError):
        text = data if isinstance(data, str) else data.decode("utf-8", "surrogateescape")
    else:
        return None if _is_too_deep(data) else value
    lenient = _Lenient(text.encode("utf-8", "surrogatepass"))
    text = lenient.whole(text.strip(" \t\r\n\ufeff"))
    try:
        value, end = lenient.object_at(text, 0)
    except (ValueError, RecursionError):
        return None
    return value if end == len(text) else None


def _decoded(data: bytes) -> Any:
    """The same of a long one; ValueError also if the strict reader takes long for it, and the other does not."""
    if data.count(b"e+3") + data.count(b"e3") > _HUGE:
        raise ValueError("many numbers of three hundred digits")
    return _decode(data)


def fault(data: bytes) -> str:
    """Why `data` is not one whole JSON object; empty if it is."""
    found = list(records(Line(Origin("", 1, 0), data)))
    notes = [item.reason for item in found if isinstance(item, Unreadable)]
    readable = len(found) - len(notes)
    if readable == 1 and not {TORN, NOT_JSON} & {*notes}:
        return ""
    return notes[0] if notes else NOT_JSON if readable else "empty"


def excerpt(data: bytes) -> str:
    """The beginning of unreadable bytes, as text."""
    return data[: EXCERPT * 4].decode("utf-8", "replace")[:EXCERPT]


def _salvage(line: Line) -> Iterator[Record | Unreadable]:
    """The objects and the fragments on a line that is not simply one JSON value."""
    data = line.data
    if not data.strip(_BLANK):
        return
    if b"{" not in data and b"\0" not in data:
        yield Unreadable(line.origin, NOT_JSON, excerpt(data))
        return
    if data[0] == 0 and not _is_utf16(data):  # a hole before it
        rest = data.lstrip(b"\0")
        at = line.origin.offset + len(data) - len(rest)
        yield from records(Line(Origin(line.origin.source, line.origin.line, at), rest, line.at))
        return
    from json import JSONDecodeError  # few lines need more than the strict reader

    lenient = _Lenient(data)
    start = line.origin.offset
    if data.startswith(_BOM):
        data, start = data[len(_BOM) :], start + len(_BOM)
    elif _is_utf16(data):
        data = data.removeprefix(_UTF16[0]).removeprefix(_UTF16[1]).replace(b"\0", b"")
        lenient.notes.add(BAD_ENCODING)
    raw = data.decode("utf-8", "surrogateescape")
    text = lenient.whole(raw)
    end = len(text.rstrip(_SEPARATORS))
    at = _skip(text, 0)
    counted = 0
    while at < end:
        start += len(raw[counted:at].encode("utf-8", "surrogateescape"))
        counted = at
        origin = Origin(line.origin.source, line.origin.line, start)
        reason = NOT_JSON
        try:
            if empty := _EMPTY.match(text, at):
                yield Record(origin, {}, line.at)
                at = empty.end()
                continue
            if text[at] == "{":
                value, after = lenient.object_at(text, at)
                yield Record(origin, value, line.at)
                at = _skip(text, after)
                continue
        except RecursionError:
            yield Unreadable(origin, TOO_DEEP, _shown(text[at:]))
            break
        except JSONDecodeError as error:
            if error.pos >= end or error.msg.startswith("Unterminated"):
                reason = TORN
        following = _next_object(text, at + 1, end)
        if following is None:
            yield Unreadable(origin, reason, _shown(text[at:]))
            break
        yield Unreadable(origin, TORN, _shown(text[at:following]))
        at = following
    for note in sorted(lenient.notes):
        yield Unreadable(line.origin, note, excerpt(data))


def _next_object(text: str, start: int, end: int) -> int | None:
    """Where a whole object begins that was glued to the fragment before it.

    An object in the place of a value (after a colon, bracket or comma) is more likely a part of the torn record, so it
    counts only if nothing better follows and it reaches the end of the line.
    """
    budget = _SEARCHED
    for brace in islice(_GLUED.finditer(text, start), _ATTEMPTS):
        at = brace.start()
        if _is_inside(text, start, at):
            continue
        whole, reached = _extent(text, at)
        if whole and (reached >= end or text[reached] == "{"):
            return at
        budget -= reached - at + 1 + at // _MISS
        if budget < 0:
            break
    if text[end - 1] != "}":
        return None
    braces = (brace.start() for brace in islice(_OPENING.finditer(text, start), _ATTEMPTS))
    for at in islice((at for at in braces if _is_inside(text, start, at)), _INNER_ATTEMPTS):
        if _is_object(text[at:end]):
            return at
        budget -= (end - at) // _MISS
        if budget < 0:
            break
    return None


def _is_inside(text: str, start: int, at: int) -> bool:
    """Whether a brace stands in the place of a value."""
    return text[max(at - _NEAR, start - 1) : at].rstrip().endswith(_INSIDE)


def _is_object(text: str) -> bool:
    """Whether it is one whole object with something in it, and nothing else."""
    try:
        return bool(_decode(text.encode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return False


def _extent(text: str, start: int) -> tuple[bool, int]:
    """Whether a whole object with something in it starts there, and how far the reading of it came."""
    from json import JSONDecodeError  # as in `_salvage`

    try:
        value, end = _plain_decoder().raw_decode(text, start)
    except JSONDecodeError as error:
        return False, error.pos
    except RecursionError:
        return False, len(text)
    return bool(value), _skip(text, end)


@cache
def _plain_decoder() -> "JSONDecoder":
    from json import JSONDecoder  # as in `_salvage`

    return JSONDecoder(strict=False, parse_int=str, parse_float=str)


@cache
def _strict_decoder() -> "JSONDecoder":
    from json import JSONDecoder  # as in `_salvage`

    return JSONDecoder()


def _is_utf16(data: bytes) -> bool:
    """True for the mark of UTF-16, or for NULs that stand singly between other bytes, as in its later lines."""
    core = data.strip(b"\0")
    return data.startswith(_UTF16) or (b"\0" in core and b"\0\0" not in core)


def _skip(text: str, at: int) -> int:
    """The first place from `at` on that holds more than separators."""
    gap = _GAP.match(text, at)
    return gap.end() if gap else at


def _shown(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text[:EXCERPT])


def _is_too_deep(data: bytes | str) -> bool:
    """Whether JSON that was read nests deeper than is walked through, by its brackets alone: values in their thousands
    take longer to look at."""
    opened, closed = (b"{", b"[") if isinstance(data, bytes) else ("{", "[")
    if data.count(opened) + data.count(closed) <= DEPTH_LIMIT:  # type: ignore[arg-type] # both are of the same kind
        return False
    written = data if isinstance(data, bytes) else data.encode("utf-8", "replace")
    if b"\\" in written:
        written = written.replace(b"\\\\", b"").replace(b'\\"', b"")
    outside = b"".join(written.split(b'"')[::2])
    brackets = outside.translate(_ONE_KIND, _NO_BRACKETS)
    depth = 0
    while depth < _PEELED and brackets.count(b"[]") > _PEAKS:  # what is wide and flat is gone at once
        brackets = brackets.replace(b"[]", b"")
        depth += 1
    for peak in brackets.split(b"]["):
        opening = peak.count(b"[")
        if depth + opening > DEPTH_LIMIT:
            return True
        depth += 2 * opening - len(peak)
    return False


def _is_strict(text: str, start: int) -> bool:
    try:
        _strict_decoder().raw_decode(text, start)
    except ValueError:
        return False
    return True


class _Lenient:
    """A forgiving JSON reader for the rare line that the strict one refuses; it remembers what it forgave."""

    def __init__(self, data: bytes) -> None:
        from json import JSONDecoder  # as in `_salvage`

        self.notes: set[str] = set()
        # Numbers are looked at one by one only if any could be out of range: most lines have none, some have thousands.
        odd: dict[str, Any] = {}
        numbers = data.translate(_NUMBERS_ALONE)
        if any(number in numbers for number in _LONG_NUMBERS):
            odd = {"parse_float": self._float, "parse_int": self._int}
        self._json = JSONDecoder(parse_constant=self._out_of_range, strict=False, **odd)

    def whole(self, text: str) -> str:
        """The text without halves of characters, which no output could encode; as long as before."""
        if text.isascii() or not _SURROGATE.search(text):
            return text
        self.notes.add(BAD_ENCODING)
        return _SURROGATE.sub("\ufffd", _SURROGATES.sub("\ufffd" * _ROW, text))

    def object_at(self, text: str, start: int) -> tuple[dict[str, Any], int]:
        """The object that starts there and where it ends; JSONDecodeError or RecursionError if there is none."""
        known = len(self.notes)
        value, end = self._json.raw_decode(text, start)
        if _is_too_deep(text[start:end]):
            raise RecursionError
        if _HALF.search(text, start, end):
            value = self._tidied(value)
        if len(self.notes) == known and not _is_strict(text, start):
            self.notes.add(NOT_STRICT)
        return value, end

    def _float(self, text: str) -> float | None:
        value = float(text)
        if isfinite(value):
            return value
        return self._out_of_range(text)

    def _int(self, text: str) -> float | None:
        if len(text) <= _DIGITS:
            return int(text)
        return self._out_of_range(text)

    def _out_of_range(self, _: str) -> float | None:
        self.notes.add(OUT_OF_RANGE)
        return None

    def _tidied(self, value: Any) -> Any:
        """The value without lone surrogates, which no output could encode."""
        kind = type(value)
        if kind is dict:
            return {self._tidied(key): self._tidied(item) for key, item in value.items()}
        if kind is list:
            return [self._tidied(item) if item and type(item) in _HOLDS_TEXT else item for item in value]
        if kind is str and not value.isascii() and _SURROGATE.search(value):
            self.notes.add(BAD_ENCODING)
            return _SURROGATE.sub("\ufffd", value)
        return value
