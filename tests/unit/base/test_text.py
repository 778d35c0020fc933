"""No character of foreign text can act on a terminal, reorder a line or hide."""

import unicodedata

import pytest

from delegtop.base.text import line, safe

HOSTILE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def test_no_code_point_passes_that_a_terminal_could_act_on_or_hide() -> None:
    def passed(text: str) -> set[str]:
        return {part for part in set(safe(text)) - {"\n"} if unicodedata.category(part) in HOSTILE}

    every = [chr(code) for code in range(0x110000)]
    hostile = [character for character in every if unicodedata.category(character) in HOSTILE]
    assert len(hostile) > 2_000
    assert [hex(ord(each)) for each in hostile if passed(each)] == []
    for first in range(0, len(every), 256):
        assert passed("".join(every[first : first + 256])) == set(), hex(first)


def test_ordinary_text_of_any_script_is_left_alone() -> None:
    for text in ("lake build ✔", "Grüße, Ελλάδα, 日本語, עברית", "arr[i]=[1,2] [/x]"):
        assert safe(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;RVZJTA==\x07", "␛]52;c;RVZJTA==␇"),
        ("\x9b31m", "<U+009B>31m"),
        ("abc\u202efdp.exe", "abc<U+202E>fdp.exe"),
        ("\x7f", "␡"),
        ("\ud800", "�"),
        ("a\tb", "a b"),
        ("\ufeff{", "<U+FEFF>{"),
    ],
)
def test_a_dangerous_character_becomes_visible(text: str, shown: str) -> None:
    assert safe(text) == shown


def test_a_newline_stays_in_a_block_and_is_shown_in_a_line() -> None:
    assert safe("a\nb") == "a\nb"
    assert line("a\nb") == "a␊b"


def test_a_megabyte_is_cut_with_a_mark() -> None:
    assert safe("x" * 1_000_000, limit=10) == "xxxxxxxxxx…"
