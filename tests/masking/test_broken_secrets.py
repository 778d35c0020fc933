"""A secret stays hidden that a log breaks at a column, or of which only the head is kept."""

import json
from pathlib import Path

import pytest

from delegtop.base.secrets import mask
from delegtop.base.text import cut, first_line, folded
from delegtop.cli import main
from delegtop.dialects.kit.coerce import clip, title
from delegtop.model.events import PROMPT

KEY = "sk-proj-Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4f"
WORDS = "the build fails in step two because nobody wrote a test for the parser "


def wrapped(text: str, width: int) -> str:
    return "\n".join(text[start : start + width] for start in range(0, len(text), width))


def seen(text: str) -> bool:
    return any(KEY[start : start + 8] in text for start in range(8, len(KEY) - 7))


@pytest.mark.parametrize("width", range(60, 100, 7))
def test_a_key_broken_at_a_column_is_hidden_where_its_lines_become_one(
    width: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = wrapped(f"{WORDS}{KEY} {WORDS * 3}", width)
    events = (
        {"event": "register", "at": "2026-03-03T10:00:00Z", "session_id": "sess_1_a", "command": "implement"},
        {
            "event": "return",
            "at": "2026-03-03T10:00:10Z",
            "session_id": "sess_1_a",
            "return": {"status": "failed", "summary": told, "errors": [{"message": told}]},
        },
    )
    log = tmp_path / "run.jsonl"
    log.write_text("\n".join(map(json.dumps, events)), "utf-8")
    for options in (("tree",), ("tree", "--json"), ("check",), ("report",)):
        main([options[0], str(log), *options[1:], "--at", "2026-03-03T11:00:00Z"])
        printed = capsys.readouterr().out
        assert "the build fails" in printed
        assert not seen(printed)


@pytest.mark.parametrize("kept", range(9, len(KEY) + 1, 5))
def test_of_a_prompt_that_is_cut_no_half_of_a_key_is_seen(kept: int) -> None:
    text = "x" * (PROMPT - kept - 1) + " " + KEY
    assert not seen(mask(clip(text + " and more") or ""))


def test_what_is_cut_is_no_longer_than_asked_and_says_so() -> None:
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abcde…"


@pytest.mark.parametrize("width", range(72, 79))
def test_a_title_shows_no_head_of_a_key_that_goes_on_in_the_next_line(width: int) -> None:
    text = wrapped(f"{WORDS[:56]}{KEY} {WORDS * 3}", width)
    assert not seen(mask(title(text) or ""))
    assert not seen(mask(first_line(text)))


def test_lines_of_a_text_become_one_with_blanks_and_those_cut_at_a_column_stay_marked() -> None:
    assert folded("It failed.\n\n  See the\tlog. ") == "It failed. See the log."
    assert folded("0123456789 0123456789\n0123456789 01234abcde\nrest") == (
        "0123456789 0123456789␊0123456789 01234abcde␊rest"
    )
    assert folded("two lines, of which one is\nlonger than the one after it") == (
        "two lines, of which one is longer than the one after it"
    )
