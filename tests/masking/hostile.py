"""Hostile text, drawn by a seed: what a terminal, a browser, a spreadsheet or a shell could act on, or an eye miss."""

import random
import shutil
import unicodedata
from collections.abc import Collection, Iterator
from pathlib import Path

from tests.masking.filled_logs import filled

_SIGNS = (
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200c\u200d\u200e\u200f\u061c\ufeff\u2028\u2029\u00ad\u180e",
    *"\u3164\u115f\u1160\uffa0\u034f\u17b4\u17b5\ufe00\ufe0f\U000e0041\U000e0100\U0001d173\ufff9\ufffb",
)
_SEQUENCES = (
    "\x1b]52;c;RVZJTA==\x07", "\x1b]0;title\x07", "\x1b[2J", "\x1b[31m", "\x9b31m", "\x90q\x9c",
    "\x1bP+q544e\x1b\\", "\x1bc",
    "\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\x1b[6n", "\x1b_G;\x1b\\", "\x1b[?1049h", "\r\x1b[K", "\x08\x08\x08",
)  # fmt: skip
_MARKUP = (
    "[@click=app.quit]press[/]", "[bold", "[/x]", "[red]x[/red]", "\\[", "[link=javascript:evil()]x[/link]",
    "[$error]", "[[x]]",
)  # fmt: skip
_PAGES = (
    "<script>evil()</script>", "<img src=x onerror=evil()>", "</style><script>evil()</script>", "<svg/onload=evil()>",
    '"><script>evil()</script>', "' onmouseover='evil()", "javascript:evil()", "]]><script>evil()</script>",
    "-->", "<!--",
    "<a href=javascript:evil()>x</a>", "&lt;script&gt;", "<iframe srcdoc='<script>evil()</script>'>",
    "{{7*7}}", "${7*7}",
)  # fmt: skip
_MARKDOWN = (
    "[y](javascript:evil())", "![x](https://evil.example/x.png)", "```\nx\n```", "| a | b |", "# head", "<details>",
    "***", "---",
    "[x]: javascript:evil()", "<https://evil.example>", "~~~", "\n\n1. x",
)  # fmt: skip
_SHEETS = ("=cmd|'/C calc'!A0", '=HYPERLINK("https://evil.example")', "+1+1", "-2+3", "@SUM(1)", "\t=1", "%0A=1")
_SHELL = (
    "; rm -rf ~",
    "$(evil)",
    "`evil`",
    "| evil",
    "&& evil",
    "> /tmp/x",
    "'; evil; '",
    '"; evil; "',
    "\\\nevil",
    "!!",
    "~",
    "*",
)
_EYES = (
    "👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇩🇪", "e" + "\u0301" * 60, "漢字" * 20, "ﷺ", "Z̴̡̛a̷l̶g̵o̸",
    "\ud800", "\udfff", "\udcff", "𝓔𝓿𝓲𝓵",
    "ﬁ", "İ", "ß",
    "A" * 3_000, " " * 500, "\n" * 40, "a\n" * 50,
)  # fmt: skip
_GROUPS = (_SIGNS, _SIGNS, _SEQUENCES, _MARKUP, _PAGES, _MARKDOWN, _SHEETS, _SHELL, _EYES)
_WORDS = ("ok", "done", "build", "token", "key=", "/tmp/x", "100%", "it's", "näh", "русский", "")
INVISIBLE = frozenset("\u3164\u115f\u1160\uffa0\u034f\u17b4\u17b5") | {chr(code) for code in range(0xFE00, 0xFE10)}
"""They take no room, or look like a blank, though they are letters or marks."""


def strings(count: int, seed: int = 1) -> Iterator[str]:
    """So many strings, all different in what they hold."""
    chance = random.Random(seed)
    for _ in range(count):
        parts = [chance.choice(chance.choice(_GROUPS)) for _ in range(chance.randrange(1, 6))]
        parts += [chance.choice(_WORDS) for _ in range(chance.randrange(3))]
        if chance.random() < 0.2:
            parts.append(chr(chance.choice((chance.randrange(0x3000), chance.randrange(0x110000)))))
        chance.shuffle(parts)
        yield chance.choice(("", " ")).join(parts)


def dangerous(text: str) -> list[str]:
    """Every character in it that a terminal acts on, or that hides or reorders text."""
    found = (
        sign for sign in set(text) if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp") and sign != "\n"
    )
    return sorted(f"U+{ord(sign):04X}" for sign in found)


def invisible(text: str) -> list[str]:
    return sorted(f"U+{ord(sign):04X}" for sign in INVISIBLE & set(text))


def hostile_logs(folder: Path, count: int, seed: int = 1, only: Collection[str] = ()) -> Path:
    """The samples, or some, with so many strings in their texts: as many in each text as are needed."""
    corpus, slots, place = list(strings(count, seed)), 0, 0

    def counting(text: str) -> str:
        nonlocal slots
        slots += 1
        return text

    shutil.rmtree(filled(folder, counting, only_prose=False, only=only))
    each = -(-count // slots)

    def hostile(text: str) -> str:
        nonlocal place
        chosen = [corpus[(place + number) % count] for number in range(each)]
        place += each
        return text + "".join(chosen)

    return filled(folder, hostile, only_prose=False, only=only)
