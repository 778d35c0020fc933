"""The one gate between foreign text and any output.

Log text is written by models and strangers. Whatever of it reaches a terminal, a widget or a report passes `safe()`
first: no byte of it can move the cursor, set the clipboard, press a key, reorder a line or hide.
"""

import re

from delegtop.base.lazy_pattern import lazy_pattern

MARK_CUT = "…"
MARK_BREAK = "␊"
_NARROWEST = 20
"""Lines that are cut at a column are not shorter."""
_LIMIT = 64 * 1024

# Everything a terminal could act on, or that hides or reorders text: C0 (but newline), DEL, C1, surrogates, line and
# paragraph separators, letters and marks without a shape (fillers, joiners, selectors that vary no emoji), and
# all format characters, some as whole blocks so that a newer Unicode adds no hole.
_EMOJI = (
    "\xa9\xae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935"
    "\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_HOSTILE = lazy_pattern(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    f"|(?<![{_EMOJI}])[\ufe0e\ufe0f](?!\u20e3)"
)
_SHAPELESS = ("Cn", "Co")
"""Nobody knows what a character looks like that is private or not assigned: a font may leave it out."""


def is_utf8(text: str) -> bool:
    """Whether it can be written down as it is: the name of a file may be any bytes, and half a character is none."""
    return text == as_utf8(text)


def as_utf8(text: str) -> str:
    """The same with a question mark in place of what cannot be written down."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def safe(text: str, limit: int = _LIMIT) -> str:
    """`text` with every dangerous character made visible; newlines stay, the rest is cut at `limit` characters."""
    if len(text) > limit:
        text = text[:limit] + MARK_CUT
    if text.isascii() and text.isprintable():
        return text
    shown = _HOSTILE.sub(_visible, text)
    return shown if shown.isprintable() else _without_shapeless(shown)


def line(text: str, limit: int = _LIMIT) -> str:
    """`safe()` text on one line: for table cells, titles and messages."""
    text = safe(text, limit)
    return text.replace("\n", MARK_BREAK) if "\n" in text else text


def cut(text: str, limit: int) -> str:
    """As much of a text as is kept, marked where it was longer: by the mark half a secret is known for one."""
    return text if len(text) <= limit else text[: limit - 1] + MARK_CUT


def folded(text: str) -> str:
    """Several lines as one: breaks become blanks, but stay marked where lines are cut at a column, in the middle of
    a word or a secret.
    """
    if "\n" in text:
        lines = text.split("\n")
        lengths = (0, *map(len, lines), 0)
        text = "".join(
            each + (MARK_BREAK if _is_full(*lengths[number : number + 3]) else " ") for number, each in enumerate(lines)
        )
    return " ".join(text.split())


def first_line(text: str) -> str:
    """The first line that says something, marked if it is cut at a column."""
    for each in (lines := iter(text.splitlines())):
        if each.strip():
            is_cut = _is_full(0, len(each), len(next(lines, "")))
            return each.strip() + MARK_CUT if is_cut else each.strip()
    return ""


def _is_full(before: int, length: int, after: int) -> bool:
    """Whether a line of that length, between those, is cut at a column."""
    return bool(after) and length >= _NARROWEST and length in (before, after)


def whole_words(text: str, limit: int) -> str:
    """What of a long line has room, without a word that is cut: half a secret is not known for one."""
    if len(text) <= limit:
        return text
    kept, blank, _ = text[:limit].rpartition(" ")
    return f"{kept} …" if blank else "…"


_BREAKS = lazy_pattern(r"\s+")
_MARKDOWN = lazy_pattern(r"(?:^|(?<=\s))#{1,6} +|\*\*|(?<!\w)__|__(?!\w)|`")


def brief(text: str, limit: int = _LIMIT) -> str:
    """What somebody wrote in several lines, as one: breaks become blanks."""
    text = text[: 2 * limit]
    return line(_BREAKS.sub(" ", text).strip() if "\n" in text or "\t" in text else text, limit)


def prose(text: str, limit: int = _LIMIT) -> str:
    """The same without the marks of Markdown; not for commands, in which they mean something else."""
    return brief(_MARKDOWN.sub("", text[: 2 * limit]), limit)


def _without_shapeless(text: str) -> str:
    return text.translate({ord(char): f"<U+{ord(char):04X}>" for char in _shapeless(text)})


def _shapeless(text: str) -> list[str]:
    """The characters of it that nobody knows the look of."""
    odd = [char for char in set(text) if char > "\u036f" and not char.isprintable()]
    if not odd:
        return odd
    from unicodedata import category  # few texts have such

    return [char for char in odd if category(char) in _SHAPELESS]


def as_json(data: bytes) -> bytes:
    """JSON in which every dangerous character is spelled as a number: it reads the same, and may be printed."""
    if data.isascii() and b"\x7f" not in data:
        return data
    shown = _HOSTILE.sub(_numbered, data.decode("utf-8", "surrogatepass"))
    if not shown.isprintable():
        shown = shown.translate({ord(char): _in_numbers(ord(char)) for char in _shapeless(shown)})
    return shown.encode("utf-8", "surrogatepass")


def _numbered(match: re.Match[str]) -> str:
    if match.group() in ("\t", "\r"):  # between values, where none needs to be spelled
        return match.group()
    return _in_numbers(ord(match.group()))


def _in_numbers(code: int) -> str:
    if code > 0xFFFF:
        return f"\\u{0xD7C0 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return " " if code == 0x09 else chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0xD800 <= code <= 0xDFFF:
        return "�"
    return f"<U+{code:04X}>"
