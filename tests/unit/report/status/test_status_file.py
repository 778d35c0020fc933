"""The file of the status line: private, replaced whole, and harmless whatever somebody wrote into it."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delegtop.base.clock import HOUR, Millis, WallClock, iso
from delegtop.dialects import products
from delegtop.report.status import status_file, status_json
from delegtop.report.status.home_variables import MOVES
from delegtop.report.status.machine_status import FirstProblem, MachineStatus, SessionStatus, Tally
from delegtop.report.status.status_words import StatusLine


def status(at: int | None = None, **other: Any) -> MachineStatus:
    now = WallClock().now() if at is None else Millis(at)
    first = FirstProblem(
        "b",
        "worker",
        "webapp",
        "silent",
        "stuck",
        "hung in a tool",
        "hung in a tool",
        "Bash",
        True,
        now,
        1,
        "It hangs.",
    )
    tally = Tally({"running": 2, "silent": 1}, 0, 1, 3, first)
    one = SessionStatus("a1b2c3d4-0000", ("thread-9",), "codex", "codex", "/w/webapp", "webapp", tally)
    two = SessionStatus("ffffffff-0000", (), "codex", "codex", "/w/webapp-2", "webapp-2", Tally({"idle": 1}))
    return MachineStatus(now, "watch", 12, tally, (one, two), 3)._replace(**other)


def keep(text: str | bytes) -> Path:
    path = status_file.place()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    path.chmod(0o600)
    return path


def changed(**other: Any) -> str:
    return json.dumps(status_json.to_json(status()) | other)


HOME_VARIABLES = '''\
"""Variables that put logs or settings elsewhere, and where these are without them. Generated from what the programs
declare by `pytest tests/unit/report/status/test_status_file.py --update-golden`: no line here is written by hand."""

MOVES = {{
{}}}
'''

SENSELESS: dict[str, str | bytes | dict[str, Any]] = {
    "nothing": "",
    "null": "null",
    "a list": "[]",
    "an empty table": "{}",
    "no text": b"\xff\xfe\x00",
    "nested deep": "[" * 100_000,
    "an endless number": '{"schema_version": ' + "9" * 10_000 + "}",
    "another version": {"schema_version": 2},
    "a word for a time": {"at": "yesterday"},
    "a number for a time": {"at": 17},
    "fewer than none": {"problems": -1},
    "truth for a number": {"problems": True},
    "a broken number": {"problems": 1e9},
    "more than there are": {"problems": 10**12},
    "no such exit code": {"exit_code": 2},
    "a list of states": {"states": []},
    "a hundred states": {"states": {str(number): 1 for number in range(100)}},
    "half a problem": {"first": {"id": "x"}},
    "no session": {"sessions": [{}]},
    "a table of sessions": {"sessions": {}},
}


class TestKeeping:
    def test_what_is_written_is_read_again(self) -> None:
        status_file.write(status())
        assert status_file.read(HOUR) == status_json.decode(status_file.place().read_bytes())
        known = status(1_790_000_000_000)
        assert status_json.decode(status_json.encode(known).encode()) == known

    def test_only_its_owner_can_read_it(self) -> None:
        before = os.umask(0)
        try:
            status_file.write(status())
        finally:
            os.umask(before)
        assert status_file.place().stat().st_mode & 0o777 == 0o600

    def test_nothing_else_is_left_behind(self) -> None:
        status_file.write(status())
        assert [path.name for path in status_file.place().parent.iterdir()] == [status_file.place().name]

    def test_a_link_that_lies_in_its_place_is_replaced_and_not_followed(self, tmp_path: Path) -> None:
        victim = tmp_path / "victim"
        victim.write_text("mine")
        status_file.place().parent.mkdir(parents=True)
        status_file.place().symlink_to(victim)
        assert status_file.read(HOUR) is None
        status_file.write(status())
        assert victim.read_text() == "mine"
        assert not status_file.place().is_symlink()

    def test_a_folder_that_cannot_be_written_is_an_error_and_leaves_nothing(self) -> None:
        status_file.place().mkdir(parents=True)  # a folder cannot be replaced by a file
        with pytest.raises(IsADirectoryError):
            status_file.write(status())
        assert [path.name for path in status_file.place().parent.iterdir()] == [status_file.place().name]

    def test_a_folder_that_lies_in_its_place_says_nothing(self) -> None:
        status_file.place().mkdir(parents=True)
        assert status_file.read(HOUR) is None

    def test_whoever_looks_for_logs_elsewhere_has_a_file_of_his_own(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        for name in MOVES:
            monkeypatch.delenv(name, raising=False)
        usual = status_file.place()
        assert usual.name == "status.json"
        status_file.write(status())
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "work"))
        assert status_file.read(HOUR) is None
        moved = status_file.place()
        assert (moved.parent, moved.suffix) == (usual.parent, ".json")
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "play"))
        assert status_file.place() not in (usual, moved)
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(Path.home() / ".claude"))
        assert status_file.place() == usual, "that is where they are anyway"

    def test_every_variable_that_moves_logs_is_known(self, project: Path, update_golden: bool) -> None:
        moves = {home.variable: home.folder for home in products.homes() if home.variable and home.is_users}
        moves |= {"XDG_STATE_HOME": "~/.local/state", "XDG_CONFIG_HOME": "~/.config"}
        rows = "".join(f'    "{name}": "{folder}",\n' for name, folder in sorted(moves.items()))
        path = project / "tui" / "delegtop" / "report" / "status" / "home_variables.py"
        if update_golden:
            path.write_text(HOME_VARIABLES.format(rows), "utf-8")
        assert path.read_text("utf-8") == HOME_VARIABLES.format(rows)

    def test_of_several_writers_a_reader_sees_one_whole(self, monkeypatch: pytest.MonkeyPatch) -> None:
        status_file.write(status())
        names = {threading.get_ident(): 1}
        monkeypatch.setattr(os, "getpid", lambda: names.setdefault(threading.get_ident(), len(names) + 1))
        over = threading.Event()

        def write(by: str) -> None:
            while not over.is_set():
                status_file.write(status(by=by, sessions=status().sessions * 50))

        writers = [threading.Thread(target=write, args=(by,)) for by in ("one", "two")]
        for writer in writers:
            writer.start()
        try:
            found = [status_file.read(HOUR) for _ in range(200)]
        finally:
            over.set()
            for writer in writers:
                writer.join()
        assert None not in found

    def test_only_one_reads_the_logs_at_a_time(self) -> None:
        with status_file.alone() as first, status_file.alone() as second:
            assert first
            assert not second
        with status_file.alone() as again:
            assert again


class TestWhatSomebodyElseWrote:
    @pytest.mark.parametrize("name", SENSELESS)
    def test_what_makes_no_sense_is_not_there(self, name: str) -> None:
        told = SENSELESS[name]
        keep(changed(**told) if isinstance(told, dict) else told)
        assert status_file.read(HOUR) is None

    def test_foreign_words_become_harmless_lines_of_bounded_length(self) -> None:
        words = "\x1b]0;owned\x07\u202e\n" + "x" * 10_000
        first = status_json.to_json(status())["first"] | {"tool": words, "project": words, "name": words}
        keep(changed(first=first))
        known = status_file.read(HOUR)
        assert known is not None
        told = StatusLine(known.tally, known.at, known.at)
        for line in (told.short(), told.words(), *told.fields().values()):
            assert line.isprintable()
            assert len(line) < 1_000

    def test_more_sessions_than_anybody_writes_are_cut(self) -> None:
        keep(changed(sessions=status_json.to_json(status())["sessions"] * 500))
        known = status_file.read(HOUR)
        assert known is not None
        assert len(known.sessions) == status_json.SESSIONS

    def test_a_file_that_is_too_large_is_not_read(self) -> None:
        keep(changed(more="x" * 2_000_000))
        assert status_file.read(HOUR) is None

    def test_a_pipe_does_not_hold_anybody_up(self) -> None:
        status_file.place().parent.mkdir(parents=True)
        os.mkfifo(status_file.place())
        assert status_file.read(HOUR) is None

    def test_one_that_others_could_write_is_not_believed(self) -> None:
        status_file.write(status())
        status_file.place().chmod(0o666)
        assert status_file.read(HOUR) is None

    def test_what_is_too_old_or_of_the_future_is_not_there(self) -> None:
        now = WallClock().now()
        for at, is_there in ((now - HOUR - 5_000, False), (now - 60_000, True), (now + 60_000, False)):
            keep(changed(at=iso(Millis(at))))
            assert (status_file.read(HOUR) is not None) == is_there

    @settings(max_examples=40)
    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*status_json.to_json(status())]), inner),
        )
    )
    def test_no_text_stops_the_reader(self, read: Any) -> None:
        whole = status_json.to_json(status(1_790_000_000_000))
        for text in (read, whole | read if isinstance(read, dict) else read):
            try:
                told = status_json.decode(json.dumps(text).encode())
            except status_json.NoStatusError:
                continue
            assert StatusLine(told.tally, told.at, told.at).words().isprintable()


class TestSessionsAndFolders:
    def test_a_session_is_found_by_its_id_a_foreign_one_or_the_beginning(self) -> None:
        for id in ("a1b2c3d4-0000", "thread-9", "a1b2c3"):
            found = status().of_session(id)
            assert found is not None
            assert (found.tally.problems, len(found.sessions)) == (1, 1)

    def test_what_is_too_short_or_unknown_is_nobody(self) -> None:
        assert status().of_session("a1b2c") is None
        assert status().of_session("zzzzzzzz") is None
        assert status().of_session("") is None

    def test_the_beginning_of_several_is_nobody(self) -> None:
        one, two = status().sessions
        assert status(sessions=(one, two._replace(id="a1b2c3d4-1111"))).of_session("a1b2c3d4") is None

    def test_a_folder_has_what_is_below_it_and_not_its_namesakes(self) -> None:
        assert [each.id for each in status().of_folder("/w/webapp").sessions] == ["a1b2c3d4-0000"]
        assert len(status().of_folder("/w").sessions) == 2
        assert status().of_folder("/elsewhere").tally == Tally()

    def test_together_the_most_pressing_comes_first(self) -> None:
        one, two = status().sessions
        assert one.tally.first is not None
        later = one.tally.first._replace(id="z", since=Millis((one.tally.first.since or 0) + 1))
        other = two._replace(tally=Tally({"running": 1, "silent": 1}, 1, 1, 3, later))
        told = status(sessions=(one, other)).of_folder("/w").tally
        assert (told.problems, told.quiet, told.exit, told.states) == (2, 1, 3, {"running": 3, "silent": 2})
        assert told.first == later
