"""The one gate between foreign text and any output.

Log text is written by models and strangers. Whatever of it reaches a terminal, a widget or a report passes `safe()`
first: no byte of it can move the cursor, set the clipboard, press a key, reorder a line or hide.
"""

import re

from delegtop.base.lazy_pattern import lazy_pattern

MARK_CUT = "…"
_LIMIT = 64 * 1024

# Everything a terminal could act on, or that hides or reorders text: C0 (but newline), DEL, C1, surrogates, line and
# paragraph separators, and all format characters, some as whole blocks so that a newer Unicode adds no hole.
# Private-use and unassigned characters only look odd, so they stay.
_HOSTILE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u180e"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def safe(text: str, limit: int = _LIMIT) -> str:
    """`text` with every dangerous character made visible; newlines stay, the rest is cut at `limit` characters."""
    if len(text) > limit:
        text = text[:limit] + MARK_CUT
    if text.isascii() and text.isprintable():
        return text
    return _HOSTILE.sub(_visible, text)


def line(text: str, limit: int = _LIMIT) -> str:
    """`safe()` text on one line: for table cells, titles and messages."""
    text = safe(text, limit)
    return text.replace("\n", "␊") if "\n" in text else text


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


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return " " if code == 0x09 else chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0xD800 <= code <= 0xDFFF:
        return "�"
    return f"<U+{code:04X}>"
