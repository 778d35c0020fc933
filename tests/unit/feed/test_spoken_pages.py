"""What was said in a delegation is read again from its own files: its end first, and the rest page by page."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.samples import MOMENTS, lay_out, moment, observed

from delegtop.base.clock import FrozenClock
from delegtop.base.origin import Origin
from delegtop.dialects import names
from delegtop.dialects.kit.speaker import Speaker, arguments, output
from delegtop.feed.spoken_pages import LogChapter, SpokenPages, WholeChapter, Window
from delegtop.model.spoken import Utterance, Voice
from delegtop.observation.observation import Observation
from delegtop.sources.line_pages import BLOCK, number_of
from delegtop.sources.records import Line

NO_WORDS = "No words of it are kept here: this is what its log tells."
PROGRAMS = (
    "claude-code",
    "codex",
    "copilot",
    "crush",
    "cursor",
    "droid",
    "gemini",
    "goose",
    "grok",
    "kilo",
    "kimi",
    "qwen",
)


def read(name: str, folder: Path) -> Observation:
    seen = observed(lay_out(name, folder), clock=FrozenClock(moment(MOMENTS[name])))
    seen.read()
    return seen


@pytest.mark.parametrize("name", PROGRAMS)
def test_of_every_agent_in_a_sample_the_words_are_shown_with_what_it_was_asked_or_did(
    name: str, tmp_path: Path
) -> None:
    with read(name, tmp_path) as seen:
        for handle in range(len(seen.forest)):
            pages = seen.feed.transcript(seen.forest.delegation(handle))
            said = pages.last().said
            voices = Counter(each.voice for each in said)
            assert said, seen.forest.id(handle)
            assert pages.told != NO_WORDS, seen.forest.id(handle)
            assert voices[Voice.PROMPT] + voices[Voice.CALL] + voices[Voice.ANSWER], seen.forest.id(handle)
            assert all(each.text or each.name for each in said)


@pytest.mark.parametrize("name", [name for name in MOMENTS if name not in PROGRAMS])
def test_where_no_words_are_kept_the_events_stand_in_their_place_and_it_is_said(name: str, tmp_path: Path) -> None:
    with read(name, tmp_path) as seen:
        told = [seen.feed.transcript(seen.forest.delegation(handle)) for handle in range(len(seen.forest))]
        assert all(pages.last().is_first and pages.last().is_last for pages in told)
        assert any(pages.told for pages in told)
        assert any(pages.last().said for pages in told)


def test_a_call_and_what_came_back_of_it_bear_the_same_id(tmp_path: Path) -> None:
    for name in PROGRAMS:
        if name == "cursor":  # it does not write what came back
            continue
        with read(name, tmp_path) as seen:
            said = [
                each
                for handle in range(len(seen.forest))
                for each in seen.feed.transcript(seen.forest.delegation(handle)).last().said
            ]
        calls = {each.call for each in said if each.voice is Voice.CALL}
        back = {each.call for each in said if each.voice is Voice.RESULT}
        assert back, name
        assert back <= calls, name


def test_only_what_was_said_by_the_moment_that_is_shown_is_shown(tmp_path: Path) -> None:
    folder = lay_out("claude-code", tmp_path)
    counts = []
    for at in ("2026-11-02T10:00:30Z", "2026-11-02T10:12:00Z"):
        with observed(folder, clock=FrozenClock(moment(at))) as seen:
            seen.read()
            root = next(handle for handle in range(len(seen.forest)) if seen.forest.parent(handle) is None)
            said = seen.feed.transcript(seen.forest.delegation(root)).last().said
            assert all(each.at is None or each.at <= moment(at) for each in said)
            counts.append(len(said))
    assert 0 < counts[0] < counts[1]


# -- pages -----------------------------------------------------------------------------------------------------------


def lines(path: Path, *numbers: int, pad: int = 0) -> None:
    with path.open("ab") as file:
        for number in numbers:
            file.write(json.dumps({"n": number, "pad": "x" * pad}).encode() + b"\n")


def numbers_of(found: Sequence[Line]) -> list[Utterance]:
    return [
        Utterance(Voice.ANSWER, str(json.loads(line.data)["n"]), None, line.origin)
        for line in found
        if line.data.endswith(b"}")
    ]


def texts(window: Window) -> list[int]:
    return [int(each.text) for each in window.said]


def pages_of(path: Path) -> SpokenPages:
    return SpokenPages([LogChapter(str(path), numbers_of)])


def test_from_the_end_to_the_beginning_and_back_nothing_is_lost_and_nothing_comes_twice(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines(path, *range(2_000), pad=900)
    pages = pages_of(path)
    window = pages.last()
    back = texts(window)
    assert not window.is_first
    assert len(back) < 1_000
    while not window.is_first:
        window = pages.earlier(window)
        back = texts(window) + back
    assert back == [*range(2_000)]
    window = pages.first()
    forth = texts(window)
    while not window.is_last:
        window = pages.later(window)
        forth += texts(window)
    assert forth == back


def test_lines_longer_than_a_block_are_read_whole_from_either_side(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines(path, 1)
    lines(path, 2, pad=3 * BLOCK)
    lines(path, 3)
    lines(path, 4, pad=2 * BLOCK)
    pages = pages_of(path)
    assert texts(pages.last()) == [1, 2, 3, 4]
    assert texts(pages.first()) == [1, 2, 3, 4]


def test_a_line_that_is_being_written_comes_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines(path, 1)
    with path.open("ab") as file:
        file.write(b'{"n": 2')
    pages = pages_of(path)
    window = pages.last()
    assert texts(window) == [1]
    with path.open("ab") as file:
        file.write(b"}\n")
    window = pages.later(window)
    assert texts(window) == [2]
    assert texts(pages.later(window)) == []


def test_a_file_that_became_shorter_is_another_one(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines(path, 1, 2, 3)
    pages = pages_of(path)
    window = pages.last()
    path.write_bytes(b"")
    lines(path, 9)
    window = pages.later(window)
    assert window.renewed
    assert texts(window) == [9]


def test_a_file_that_becomes_shorter_while_it_is_read_is_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log"
    lines(path, 1, 2, 3)
    pages = pages_of(path)
    window = pages.first()
    lines(path, *range(4, 9))
    end = LogChapter._end

    def shortened(chapter: LogChapter) -> int:
        monkeypatch.undo()
        found = end(chapter)
        path.write_bytes(b"")
        lines(path, 9)
        return found

    monkeypatch.setattr(LogChapter, "_end", shortened)
    window = pages.later(window)
    assert window.renewed
    assert texts(window) == [9]


def test_what_is_read_as_a_whole_is_given_again_only_if_it_changed(tmp_path: Path) -> None:
    path = tmp_path / "document"
    path.write_text("1")
    place = Origin(str(path), 1, 0)
    whole = WholeChapter(str(path), lambda: [Utterance(Voice.ANSWER, path.read_text(), None, place)])
    pages = SpokenPages([whole])
    window = pages.last()
    assert not pages.later(window).renewed
    path.write_text("22")
    window = pages.later(window)
    assert window.renewed
    assert texts(window) == [22]


def test_a_search_goes_through_all_of_it_in_either_direction(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines(path, *range(1_500), pad=900)
    pages = pages_of(path)
    found = pages.find(lambda said: said.text == "7", pages.last(), -1, lambda: False)
    assert found is not None
    assert 7 in texts(found)
    found = pages.find(lambda said: said.text == "1490", pages.first(), 1, lambda: False)
    assert found is not None
    assert pages.find(lambda said: said.text == "none", pages.last(), -1, lambda: False) is None
    assert pages.find(lambda said: said.text == "7", pages.last(), -1, lambda: True) is None


def test_the_number_of_a_line_is_counted_when_somebody_asks(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines(path, *range(50))
    for number, said in enumerate(pages_of(path).last().said, 1):
        assert number_of(said.origin.source, said.origin.offset) == number
    assert number_of(str(tmp_path / "none"), 1) == 0


# -- how words are made of values -------------------------------------------------------------------------------------

ODD: list[Any] = [
    None,
    1,
    1.5,
    True,
    "",
    "text",
    [],
    {},
    [None],
    [{}],
    {"type": None},
    [{"type": "text"}],
    [[["x"]]],
    "\ud800",
]


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_no_value_breaks_a_speaker(value: Any) -> None:
    speaker = Speaker(None, Origin("", 1, 0))
    for each in (
        *speaker.blocks(value, Voice.ANSWER),
        *speaker.blocks([value], Voice.PROMPT),
        *speaker.blocks([{"type": "tool_use", "name": value, "input": value, "id": value}], Voice.ANSWER),
        *speaker.blocks([{"type": "tool_result", "content": value, "tool_use_id": value}], Voice.ANSWER),
        *speaker.parts([value, {"functionCall": {"name": value, "args": value}}], Voice.ANSWER),
        *speaker.parts([{"functionResponse": {"response": value}}], Voice.ANSWER),
    ):
        assert isinstance(each.text, str)
        assert isinstance(each.name, str)
        assert isinstance(each.call, str)
    assert isinstance(arguments(value), str)
    assert isinstance(output(value), str)


def test_a_command_comes_first_and_the_other_arguments_below_it() -> None:
    given = {"description": "Look round", "command": ["ls", "-l"], "limit": 3}
    assert arguments(given) == "ls -l\ndescription: Look round\nlimit: 3"


def test_every_program_whose_words_are_read_is_a_format_that_there_is() -> None:
    assert set(PROGRAMS) <= set(names())
