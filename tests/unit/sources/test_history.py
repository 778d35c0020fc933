"""Lines read once more: the right ones, from the right file, and nothing when they are not there any more."""

import json
from pathlib import Path
from typing import ClassVar

import pytest

from delegtop.base.origin import Origin
from delegtop.sources import history
from delegtop.sources.history import entry_at, head, line_at, lines_about, tells

LINES = [b'{"id": "a", "n": 1}', b'{"id": "b", "n": 2}', b'{"id": "a", "n": 3}', b'{"id": "a", "n": 4}']


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log"
    path.write_bytes(b"".join(line + b"\n" for line in LINES))
    return path


def place(log: Path, line: int) -> Origin:
    return Origin(str(log), line, sum(len(before) + 1 for before in LINES[: line - 1]))


class TestLinesAbout:
    def test_only_lines_with_the_needle_are_given_with_their_place(self, log: Path) -> None:
        found = list(lines_about(b'"a"', str(log), place(log, 1), place(log, 4)))
        assert [line.data for line in found] == [LINES[0], LINES[2], LINES[3]]
        assert [line.origin for line in found] == [place(log, 1), place(log, 3), place(log, 4)]

    def test_the_first_and_the_last_place_are_the_limits(self, log: Path) -> None:
        found = list(lines_about(b'"a"', str(log), place(log, 2), place(log, 3)))
        assert [line.data for line in found] == [LINES[2]]

    def test_without_limits_it_is_the_whole_file(self, log: Path) -> None:
        found = list(lines_about(b'"a"', str(log), None, None))
        assert [line.origin.line for line in found] == [1, 3, 4]

    def test_a_carriage_return_is_not_a_part_of_the_line(self, log: Path) -> None:
        log.write_bytes(b'{"id": "a"}\r\n')
        [found] = lines_about(b'"a"', str(log), None, None)
        assert found.data == b'{"id": "a"}'

    def test_of_a_long_stretch_only_the_end_is_searched_and_lines_have_no_number(
        self, log: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(history, "SPAN", 15)
        found = list(lines_about(b'"a"', str(log), place(log, 1), place(log, 4)))
        assert [line.data for line in found] == [LINES[3]]
        assert [(line.origin.line, line.origin.offset) for line in found] == [(0, place(log, 4).offset)]

    def test_a_line_without_end_is_read_in_bounded_pieces(self, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(history, "LINE_LIMIT", 8)
        found = list(lines_about(b'"a"', str(log), place(log, 1), place(log, 4)))
        assert all(len(line.data) <= 8 for line in found)

    def test_a_file_that_is_gone_has_no_lines(self, log: Path) -> None:
        log.unlink()
        assert list(lines_about(b'"a"', str(log), place(log, 1), place(log, 4))) == []


class TestTells:
    def test_the_line_at_a_place_is_looked_at_and_no_other(self, log: Path) -> None:
        assert tells(str(log), place(log, 2).offset, b'"b"')
        assert not tells(str(log), place(log, 3).offset, b'"b"')
        assert not tells(str(log), 10_000, b'"b"')

    def test_a_file_that_is_gone_tells_nothing(self, log: Path) -> None:
        log.unlink()
        assert not tells(str(log), 0, b'"a"')


class TestLineAt:
    def test_the_line_at_a_place_is_given_without_its_end(self, log: Path) -> None:
        assert line_at(str(log), place(log, 2).offset) == LINES[1]

    def test_behind_the_end_there_is_none(self, log: Path) -> None:
        assert line_at(str(log), 10_000) is None

    def test_a_file_that_is_gone_has_none(self, log: Path) -> None:
        log.unlink()
        assert line_at(str(log), 0) is None


class TestEntries:
    BOOK: ClassVar = {"one": {"a": [1, "}"]}, "two": {"b": "ä"}}

    @pytest.mark.parametrize("indent", [None, 2])
    @pytest.mark.parametrize("key", ["one", "two"])
    def test_an_entry_is_given_from_its_key_to_its_end(self, key: str, indent: int | None, tmp_path: Path) -> None:
        book = tmp_path / "book.json"
        text = json.dumps(self.BOOK, indent=indent, ensure_ascii=False).encode()
        book.write_bytes(text)
        found = entry_at(Origin(str(book), 1, text.index(b'"' + key.encode())))
        assert found is not None
        assert json.loads(b"{" + found + b"}") == {key: self.BOOK[key]}

    @pytest.mark.parametrize(
        "text",
        [b"", b"{", b'"one"', b'"one": ', b'"one": {"a"', b"7: 8", b"[" * 100_000, b'"one": ' + b"[" * 100_000],
        ids=["empty", "opened", "key", "no value", "cut", "number", "deep", "deep value"],
    )
    def test_what_is_no_entry_is_nothing(self, text: bytes, tmp_path: Path) -> None:
        book = tmp_path / "book.json"
        book.write_bytes(text)
        assert entry_at(Origin(str(book), 1, 0)) is None

    def test_a_file_that_is_gone_has_no_entries(self, tmp_path: Path) -> None:
        assert entry_at(Origin(str(tmp_path / "gone"), 1, 0)) is None


class TestHead:
    def test_the_first_bytes_and_whether_they_are_all(self, log: Path) -> None:
        whole = log.read_bytes()
        assert head(str(log), 5) == (whole[:5], False)
        assert head(str(log), len(whole)) == (whole, True)
        assert head(str(log), 1_000_000) == (whole, True)

    def test_a_file_that_is_gone_is_an_error_to_be_told(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            head(str(tmp_path / "gone"), 5)
