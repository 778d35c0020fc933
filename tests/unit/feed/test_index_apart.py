"""The index as another process reads and writes it: the same is found, and nothing if anything is wrong with it."""

import subprocess
import sys
from pathlib import Path

import pytest

from delegtop.base.clock import Millis
from delegtop.feed import process_messages
from delegtop.feed.index_apart import IndexApart
from delegtop.feed.index_file import IndexFile

NOW = Millis(1_795_000_000_000)
CONTEXT = "as ever"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "delegtop" / "index.db"


def test_what_one_writes_both_find(place: Path) -> None:
    apart, file = IndexApart(place, CONTEXT), IndexFile(place, CONTEXT)
    assert [*apart.find(["a log"], NOW)] == []
    assert not place.exists(), "who only asks makes no file"
    apart.write({"a log": b"told"}, [(b"a block", ["one", "two"]), (b"another", ["three"])], [], NOW)
    assert place.stat().st_mode & 0o777 == 0o600
    for each in (apart, file):
        assert [*each.find(["a log", "no log"], NOW)] == [("a log", b"told")]
        assert sorted(each.find_blocks(["one", "two", "three", "four"], NOW)) == [b"a block", b"another"]
    apart.write({}, [], ["three"], NOW)
    assert [*file.find_blocks(["three"], NOW)] == []
    assert [*IndexApart(place, "another version").find(["a log"], NOW)] == []


@pytest.mark.parametrize("kind", [IndexFile, IndexApart])
def test_a_name_that_is_no_text_is_known_to_nobody_and_hides_no_other(
    kind: type[IndexFile] | type[IndexApart], place: Path
) -> None:
    IndexFile(place, CONTEXT).write({"a log": b"told"}, [(b"a block", ["one"]), (b"another", ["two"])], [], NOW)
    file = kind(place, CONTEXT)
    assert [*file.find(["/logs/\udcff", "a log"], NOW)] == [("a log", b"told")]
    assert [*file.find_blocks(["/logs/\udcff", "one"], NOW)] == [b"a block"]
    file.write({"more": b"told"}, [], ["/logs/\udcff", "two"], NOW)
    assert [*file.find(["more"], NOW)] == [("more", b"told")]
    assert [*file.find_blocks(["one", "two"], NOW)] == [b"a block"]


@pytest.mark.parametrize(
    "instead",
    [
        "raise SystemExit(1)",
        "import os; os.kill(os.getpid(), 9)",
        "import sys; sys.stdin.buffer.read(9); sys.stdout.buffer.write(b'xx')",
        r"import sys; sys.stdout.buffer.write(b'\xff' * 100)",
        r"import sys; sys.stdout.buffer.write(b'\x03' + b'\0' * 7 + b'abc')",
    ],
)
def test_from_one_that_fails_nothing_is_known_and_nothing_is_written(
    instead: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    IndexFile(place, CONTEXT).write({"a log": b"told"}, [(b"a block", ["one"])], [], NOW)
    before = place.read_bytes()
    monkeypatch.setattr(process_messages, "_COMMAND", (sys.executable, "-c", instead))
    apart = IndexApart(place, CONTEXT)
    assert [*apart.find(["a log"], NOW)] == []
    assert [*apart.find_blocks(["one"], NOW)] == []
    apart.write({"another": b"x" * 1_000_000}, [], ["one"], NOW)
    assert place.read_bytes() == before


def test_where_nobody_may_look_nothing_is_known_and_nothing_is_written(tmp_path: Path) -> None:
    apart = IndexApart(tmp_path / ("x" * 300) / "index.db", CONTEXT)
    assert [*apart.find(["a log"], NOW)] == []
    assert [*apart.find_blocks(["one"], NOW)] == []
    apart.write({"a log": b"told"}, [], [], NOW)
    assert [*tmp_path.iterdir()] == []


def test_there_is_none_that_can_be_begun(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    IndexFile(place, CONTEXT).write({"a log": b"told"}, [], [], NOW)
    monkeypatch.setattr(process_messages, "_COMMAND", ("/nonexistent",))
    assert [*IndexApart(place, CONTEXT).find(["a log"], NOW)] == []


def test_who_is_asked_only_in_part_writes_nothing(place: Path) -> None:
    command = [sys.executable, "-P", "-m", "delegtop.feed.index_process"]
    for data in (b"", b"\x09", b"\x09" + b"\0" * 7 + b"half", b"\x04" + b"\0" * 7 + b"\xc1\xc1\xc1\xc1"):
        done = subprocess.run(command, input=data, capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not place.exists()


def test_who_has_the_index_read_apart_has_no_need_of_sqlite() -> None:
    code = "import sys; from delegtop.feed import session_index, index_apart; print('_sqlite3' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
