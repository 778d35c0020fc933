"""What finished sessions told is kept between two runs: nobody can tell but by the time it takes."""

import json
import os
import shutil
import sqlite3
import zlib
from collections.abc import Iterable
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.bench.make_history import make_history
from tests.bench.make_logs import make_log
from tests.homes import Transcript
from tests.watching import line, register

from delegtop import learned_durations
from delegtop.base import private_database
from delegtop.base.clock import Millis, WallClock, parse_time
from delegtop.base.paths import index_place
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.feed import file_catalogue, kept_session, log_index, packed_files, session_gathering, session_index
from delegtop.feed.followed_file import FollowedFile
from delegtop.feed.index_file import IndexFile
from delegtop.feed.kept_log import unpack_log
from delegtop.feed.kept_session import KeptSession, Moments, SessionBlock, unpack_block
from delegtop.feed.kept_session import packed_files as packed
from delegtop.feed.live_feed import Feed
from delegtop.feed.session_index import SessionIndex
from delegtop.model import call_durations
from delegtop.model.event_runs import EventRun
from delegtop.model.events import Event
from delegtop.model.forest import Forest
from delegtop.model.store import archive, packed_ledger
from delegtop.model.store.archive import press
from delegtop.protocols.standard.dialects.session_log import SessionLog
from delegtop.sources.records import Line, LineBlock

SAMPLES = Path(__file__).parents[3] / "sample_logs"
NOW = parse_time("2027-01-01T00:00:00Z") or Millis(0)
LONG_AGO = 1_000_000_000


@pytest.fixture(autouse=True)
def _worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_catalogue, "WORTH", 0)
    monkeypatch.setattr(log_index, "LEAST", 0)
    monkeypatch.setattr(WallClock, "now", lambda _clock: NOW)


def aged(source: Path, folder: Path) -> Path:
    """A copy of it that has been quiet for long."""
    shutil.copytree(source, folder)
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (LONG_AGO, LONG_AGO))
    return folder


def told(capsys: pytest.CaptureFixture[str], folder: Path, *more: str) -> tuple[str, ...]:
    for command in (["tree", "--json"], ["stats", "--json"], ["report"], ["check", "--json"]):
        main([*command, str(folder), *(more if command[0] != "check" else ())])
    return tuple(capsys.readouterr())


def kept() -> int:
    if not index_place().exists():
        return 0
    found = IndexFile(index_place(), "").summary()
    return 0 if found is None else found.sessions


def learned(monkeypatch: pytest.MonkeyPatch, folder: Path, *more: str) -> bytes:
    """The file that says what is usual, however few calls tell it."""
    monkeypatch.setattr(call_durations, "FEW", 1)
    settings = folder.parent / "settings.toml"
    settings.write_text(f"sources = [{json.dumps(str(folder))}]\n")
    assert main(["learn", "--since", "all", "--quiet", "--config", str(settings), *more]) == Exit.OK
    return learned_durations.place().read_bytes()


@pytest.mark.parametrize(
    "why", ["there is too much of it", "its format cannot be kept", "a file of each is written to"]
)
@pytest.mark.parametrize("name", ["claude-code", "codex", "opencode", "hyper", "gemini"])
def test_what_was_held_back_and_is_not_kept_after_all_is_told_the_same(
    name: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = aged(SAMPLES / name, tmp_path / "logs")
    if why == "a file of each is written to":
        for each in {path.parent: path for path in sorted(folder.rglob("*")) if path.is_file()}.values():
            os.utime(each)
    plain = told(capsys, folder, "--no-index")
    if why == "there is too much of it":
        monkeypatch.setattr(session_gathering, "_MOST", 2)
    elif why == "its format cannot be kept":
        monkeypatch.setattr(session_index, "_can_keep", lambda _file: False)
    assert told(capsys, folder) == plain


def test_of_a_block_that_was_packed_what_is_let_go_of_later_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever stays packs a block once it is full: something in it may be in doubt later, or be told anew."""
    monkeypatch.setattr(session_index, "MOST", 8)  # two sessions of four
    make_history(tmp_path / "logs", 7, 60_000, LONG_AGO * 1_000)
    plain = told(capsys, tmp_path / "logs", "--no-index")
    index = SessionIndex(IndexFile(index_place(), session_index.context()), logs=False)
    feed = Feed([str(tmp_path / "logs")], clock=WallClock(), index=lambda: index)
    while feed.is_behind or not index._packed:
        for _ in feed.poll():
            pass
    packed = [name for _, names in index._packed for name in names]
    assert (len(packed), len(index._new)) == (6, 1)
    unit = next(unit for unit, name in index._names.items() if name == packed[3])
    index._let_go(unit)
    index.close()
    feed.close()
    assert kept() == 6
    assert told(capsys, tmp_path / "logs") == plain
    assert kept() == 7


def test_what_is_learned_of_a_session_that_is_known_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_history(tmp_path / "logs", 3, 60_000, LONG_AGO * 1_000)
    plain = learned(monkeypatch, tmp_path / "logs")
    assert kept() == 3
    monkeypatch.setattr(FollowedFile, "read", lambda _file, line: pytest.fail(f"{line.origin} was read"))
    monkeypatch.setattr(FollowedFile, "read_block", lambda _file, block: pytest.fail(f"{block.source} was read"))
    assert learned(monkeypatch, tmp_path / "logs") == plain
    assert b'"Read"' in plain


def test_what_is_kept_is_for_its_owner_alone_and_can_be_deleted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(capsys, aged(SAMPLES / "claude-code", tmp_path / "logs"))
    assert kept()
    assert index_place().stat().st_mode & 0o777 == 0o600
    assert index_place().parent.stat().st_mode & 0o777 == 0o700
    main(["index", "show"])
    assert "sessions and logs" in capsys.readouterr().out
    main(["index", "clear"])
    assert capsys.readouterr().out == "deleted\n"
    assert not index_place().exists()


@pytest.mark.parametrize("how", ["flag", "project", "environment"])
def test_whoever_turns_it_off_keeps_nothing(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = aged(SAMPLES / "claude-code", tmp_path / "logs")
    monkeypatch.chdir(tmp_path)
    if how == "project":
        (tmp_path / "delegtop.toml").write_text("index = false\n")
        monkeypatch.setenv("DELEGTOP_INDEX", "true")
    elif how == "environment":
        monkeypatch.setenv("DELEGTOP_INDEX", "false")
    told(capsys, folder, *(["--no-index"] if how == "flag" else []))
    assert not index_place().exists()


def test_a_session_with_a_secret_in_it_is_not_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = aged(SAMPLES / "claude-code", tmp_path / "logs")
    told(capsys, folder)
    before = kept()
    private_database.remove(index_place())
    session = next(path for path in sorted((folder / "projects").rglob("*.jsonl")) if "subagents" not in path.parts)
    lines = session.read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if json.loads(line).get("type") == "user")
    record = json.loads(lines[at])
    record["message"] = {"role": "user", "content": "use ghp_" + "a1B2c3D4e5F6" * 3 + " for it"}
    session.write_text("\n".join([*lines[:at], json.dumps(record), *lines[at + 1 :]]) + "\n")
    os.utime(session, (LONG_AGO, LONG_AGO))
    plain = told(capsys, folder, "--no-index")
    assert told(capsys, folder) == told(capsys, folder) == plain
    assert kept() < before
    assert b"ghp_a1B2" not in index_place().read_bytes()


@pytest.mark.parametrize("presses", ["zstd", "zlib"])
def test_of_what_is_pressed_no_more_is_unpacked_than_sessions_tell(
    presses: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if presses == "zlib":
        for module in (archive, kept_session, packed_ledger):
            monkeypatch.setattr(module, "press", lambda: zlib)
    block = SessionBlock()
    block.put(KeptSession("n" * 5_000, packed([]), (), (), [], 0, 0), Moments(), [])
    data = block.pack()
    assert data is not None
    found = unpack_block(data)
    assert found is not None
    assert (found.sessions, found.moments(), found.calls()) == (block.sessions, [Moments()], [[]])
    monkeypatch.setattr(kept_session, "LARGEST", 5_000)
    assert unpack_block(data) is None
    assert block.pack() is None


@pytest.mark.parametrize("state", ["text", "foreign", "link", "folder", "cut", "version"])
def test_a_file_that_is_no_index_changes_nothing(
    state: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = aged(SAMPLES / "claude-code", tmp_path / "logs")
    plain = told(capsys, folder)
    place = index_place()
    if state == "text":
        place.write_text("not a database\n" * 1000)
    elif state == "cut":
        os.truncate(place, place.stat().st_size // 2)
    elif state == "version":
        database = sqlite3.connect(place)
        database.execute("UPDATE sessions SET context = 'of another version', data = x'00'")
        database.commit()
        database.close()
    else:
        place.unlink()
        if state == "folder":
            place.mkdir()
        elif state == "link":
            (tmp_path / "elsewhere").write_text("precious")
            place.symlink_to(tmp_path / "elsewhere")
        else:
            database = sqlite3.connect(place)
            database.execute("CREATE TABLE precious (word)")
            database.commit()
            database.close()
    for _ in range(3):
        assert told(capsys, folder) == plain
    if state == "link":
        assert (tmp_path / "elsewhere").read_text() == "precious"
    elif state == "foreign":
        database = sqlite3.connect(place)
        assert database.execute("SELECT count(*) FROM precious").fetchone() == (0,)
        database.close()


def test_while_somebody_else_writes_the_logs_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(private_database, "PATIENCE", 0.0)
    folder = aged(SAMPLES / "claude-code", tmp_path / "logs")
    plain = told(capsys, folder)
    other = sqlite3.connect(index_place(), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert told(capsys, folder) == plain
    other.execute("ROLLBACK")
    other.close()


@pytest.mark.parametrize("joined", [1, 2, 3, 4, 5])
def test_two_records_in_one_line_are_read_the_same(
    joined: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As where somebody wrote on behind a last line without an end."""
    log = Transcript("0b9b1c2e-1111-4222-8333-444455556666", "/srv/garden")
    log.asked(LONG_AGO * 1_000, "Count the pots")
    for number in range(3):
        log.called(LONG_AGO * 1_000 + 2_000 + number, f"toolu_{number}", "Bash", command="ls shed")
        log.came_back(LONG_AGO * 1_000 + 3_000 + number, f"toolu_{number}", "seven pots")
    path = tmp_path / "projects" / "-srv-garden" / f"{log.session}.jsonl"
    log.keep(path)
    lines = path.read_text().splitlines(keepends=True)
    lines[joined] = lines[joined].rstrip()
    path.write_text("".join(lines))
    long_ago(path)
    plain = told(capsys, tmp_path / "projects", "--no-index")
    assert f'"records": {len(lines) - 1}' in plain[0]
    assert "Count the pots" in plain[0]
    assert told(capsys, tmp_path / "projects") == told(capsys, tmp_path / "projects") == plain


def test_of_a_format_that_tells_no_time_a_file_that_was_touched_tells_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = aged(SAMPLES / "cursor", tmp_path / "logs")
    plain = told(capsys, folder)
    assert kept()
    for path in folder.rglob("*.jsonl"):
        os.utime(path, (LONG_AGO + 60, LONG_AGO + 60))
    assert told(capsys, folder, "--no-index") != plain
    assert told(capsys, folder) == told(capsys, folder, "--no-index")


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("name", ["claude-code", "gemini", "qwen"])
def test_a_copy_of_a_session_is_known_for_one_though_others_read_each_alone(
    name: str, order: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = max((path.read_bytes() for path in (SAMPLES / name).rglob("*.jsonl")), key=len)
    folder = tmp_path / "logs"
    folder.mkdir()
    paths = [folder / f"051a9082-1f40-4078-b182-40b22e81b3a{number}.jsonl" for number in range(2)]
    for path, lines in zip(paths, (-3, None), strict=True):
        path.write_bytes(b"".join(text.splitlines(keepends=True)[:lines]))
        os.utime(path, (LONG_AGO, LONG_AGO))
    plain = told(capsys, folder, "--no-index")
    for path in paths[::order]:
        told(capsys, path)
    assert kept() == 2
    assert told(capsys, folder) == plain
    assert told(capsys, folder) == plain


@pytest.mark.parametrize("portion", [1, 2])
@pytest.mark.parametrize("place", ["a-home/sessions/1.json", "sessions/1.json"])
def test_a_quiet_session_whose_process_is_declared_is_listed_the_same_however_and_in_what_portions_it_is_read(
    place: str, portion: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Declared before it is read it is not put away, later it is; and others may know it who heard of no process."""
    folder = aged(SAMPLES / "claude-code", tmp_path / "logs")
    session = max(folder.rglob("*.jsonl")).stem
    declared = {"pid": 4711, "sessionId": session, "cwd": "/", "startedAt": 1, "procStart": "8812"}
    path = folder / place
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({**declared, "kind": "interactive"}))
    os.utime(path, (LONG_AGO, LONG_AGO))
    plain = told(capsys, folder, "--no-index")
    monkeypatch.setattr(file_catalogue, "FEW", portion)
    assert told(capsys, folder, "--no-index") == plain
    told(capsys, folder / "projects")
    assert kept() == 2
    assert told(capsys, folder) == plain
    assert told(capsys, folder) == plain


def test_who_looks_once_at_what_is_known_packs_nothing_for_the_next_look_and_loads_no_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_history(tmp_path / "logs", 3, 60_000, LONG_AGO * 1_000)
    plain = told(capsys, tmp_path / "logs", "--no-index")
    assert told(capsys, tmp_path / "logs") == plain
    monkeypatch.setattr(packed_files, "packed", lambda _files: pytest.fail("nobody looks again"))
    monkeypatch.setattr(kept_session, "packed", packed_files.packed)
    monkeypatch.setattr(kept_session, "load", lambda name: pytest.fail(f"nobody asks for {name}"))
    assert told(capsys, tmp_path / "logs")[0] == plain[0]


def lines_read_again(folder: Path) -> list[bytes | None]:
    """By who looks once: each that something is known of, and one that is not there."""
    index = SessionIndex(IndexFile(index_place(), session_index.context()), logs=False)
    feed, forest = Feed([str(folder)], clock=WallClock(), index=lambda: index), Forest()
    for batch in feed.read_all():
        forest.apply(batch.events)
        if batch.ledger is not None:
            forest.absorb(batch.ledger)
    places = sorted({origin for handle in range(len(forest)) for origin in forest.delegation(handle).origins})
    found = [feed.raw(place) for place in (*places, replace(places[0], line=7_000, offset=1 << 40))]
    feed.close()
    return found


def test_a_line_of_what_is_known_is_read_again_by_who_looked_once(tmp_path: Path) -> None:
    make_history(tmp_path / "logs", 2, 60_000, LONG_AGO * 1_000)
    lines = lines_read_again(tmp_path / "logs")
    assert kept() == 2
    assert all(lines[:-1])
    assert lines_read_again(tmp_path / "logs") == lines


def test_sources_are_listed_in_the_same_order_when_one_was_touched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is known all the same, and listed among those that may go on."""
    folder = aged(SAMPLES / "codex", tmp_path / "logs")
    told(capsys, folder)
    for path in sorted(folder.rglob("*.jsonl"))[1:3]:
        os.utime(path, (NOW / 1000,) * 2)
        plain = told(capsys, folder, "--no-index")
        assert told(capsys, folder) == plain


def test_a_small_log_that_belongs_to_no_session_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(log_index, "LEAST", 1_000_000)
    told(capsys, aged(SAMPLES / "01_happy_implement", tmp_path / "logs"))
    assert kept() == 0


@pytest.mark.parametrize(
    "name", [b"caf\xe9.jsonl", b"two\nlines \xff .jsonl", b"0b9b1c2e-1111-4222-8333-44445555\xff.jsonl"]
)
def test_a_file_whose_name_is_no_text_is_read_each_time_and_hides_no_other(
    name: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for number, each in enumerate((b"session.jsonl", name)):
        path = Path(os.fsdecode(os.fsencode(folder) + b"/" + each))
        make_log(path, 20, NOW - 3_600_000 - number)
        long_ago(path)
    plain = told(capsys, folder, "--no-index")
    for _ in range(2):
        assert told(capsys, folder) == plain
        assert kept() == 1


def test_a_log_is_read_on_from_where_an_earlier_run_had_got_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "session.jsonl"
    make_log(log, 300, NOW - 3_600_000)
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-100]))
    long_ago(log)
    told(capsys, log)
    assert kept() == 1
    read: list[int] = []
    original = SessionLog.read_block

    def counted(self: SessionLog, block: LineBlock, longest: int) -> Iterable[EventRun | Event | Line]:
        read.append(block.line)
        return original(self, block, longest)

    monkeypatch.setattr(SessionLog, "read_block", counted)
    with log.open("ab") as file:
        file.write(b"".join(lines[-100:]))
    long_ago(log)
    main(["tree", "--json", str(log)])
    assert min(read) == len(lines) - 99
    warm = capsys.readouterr().out
    main(["tree", "--json", str(log), "--no-index"])
    assert capsys.readouterr().out == warm


def test_what_was_said_in_a_log_of_the_protocol_is_not_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "session.jsonl"
    make_log(log, 50, NOW - 3_600_000)
    long_ago(log)
    summary = next(each for each in map(json.loads, log.read_text().splitlines()) if each["event"] == "return")
    words = summary["return"]["summary"]
    plain = told(capsys, log)
    assert words in plain[0]
    assert told(capsys, log) == plain
    database = sqlite3.connect(index_place())
    (data,) = database.execute("SELECT data FROM sessions").fetchone()
    database.close()
    found = unpack_log(data)
    assert found is not None
    assert words.encode() not in press().decompress(found.ledger)


@pytest.mark.parametrize("name", ["subagent", "parent_session_id", "session_id"])
def test_a_log_with_a_secret_in_what_is_kept_of_it_is_not_kept(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "session.jsonl"
    record = json.loads(line("register", "aaa111", "10:00:00", subagent="a"))
    log.write_text(json.dumps(record | {name: "ghp_" + "a1B2c3D4e5F6" * 3}) + "\n")
    long_ago(log)
    plain = told(capsys, log, "--no-index")
    assert told(capsys, log) == told(capsys, log) == plain
    assert kept() == 0


def test_of_a_log_that_is_kept_no_byte_is_that_was_said_in_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, secret = tmp_path / "session.jsonl", "ghp_" + "a1B2c3D4e5F6" * 3
    told_of = {"status": "completed", "summary": f"the key is {secret}", "artifacts": []}
    text = register("aaa111", prompt=f"use {secret}") + line("return", "aaa111", "10:03:00", **{"return": told_of})
    log.write_text(text)
    long_ago(log)
    plain = told(capsys, log, "--no-index")
    assert told(capsys, log) == told(capsys, log) == plain
    assert kept() == 1
    assert b"a1B2" not in index_place().read_bytes()
    assert b'"event"' not in index_place().read_bytes()


@pytest.mark.parametrize("name", ["01_happy_implement", "claude-code"])
def test_what_lies_in_a_folder_with_a_secret_in_its_name_is_not_kept(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = aged(SAMPLES / name, tmp_path / ("ghp_" + "a1B2c3D4e5F6" * 3))
    plain = told(capsys, folder, "--no-index")
    assert told(capsys, folder) == told(capsys, folder) == plain
    assert kept() == 0


def test_a_log_of_the_protocol_that_belongs_to_a_session_is_kept_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "0b9b1c2e-1111-4222-8333-444455556666.jsonl"
    make_log(log, 20, NOW - 3_600_000)
    long_ago(log)
    plain = told(capsys, tmp_path, "--no-index")
    assert told(capsys, tmp_path) == told(capsys, tmp_path) == plain
    assert kept() == 1


def long_ago(path: Path) -> None:
    os.utime(path, (LONG_AGO, LONG_AGO))


def test_the_oldest_goes_first_when_there_is_no_room(tmp_path: Path) -> None:
    day = 86_400_000
    index = IndexFile(tmp_path / "index.db", "now", largest=250)
    index.write({"a": b"a" * 100}, (), (), Millis(day))
    index.write({"b": b"b" * 100}, (), (), Millis(2 * day))
    assert dict(index.find(["a"], Millis(3 * day))) == {"a": b"a" * 100}
    index.write({"c": b"c" * 100}, (), (), Millis(4 * day))
    assert dict(index.find(["a", "b", "c"], Millis(4 * day))).keys() == {"a", "c"}


def test_a_file_that_had_too_much_in_it_is_small_again(tmp_path: Path) -> None:
    index = IndexFile(tmp_path / "index.db", "now", largest=200_000)
    index.write({f"{number}": os.urandom(50_000) for number in range(40)}, (), (), Millis(0))
    assert (tmp_path / "index.db").stat().st_size < 300_000
    assert len([*index.find(map(str, range(40)), Millis(0))]) == 4


def test_a_full_disk_keeps_nothing(tmp_path: Path) -> None:
    index = IndexFile(tmp_path / "index.db", "now")
    index.write({"a": b"a"}, (), (), Millis(0))
    database = sqlite3.connect(tmp_path / "index.db")
    pages = database.execute("PRAGMA page_count").fetchone()[0]
    database.close()
    original = sqlite3.connect

    def small(*arguments: object, **how: object) -> sqlite3.Connection:
        made: sqlite3.Connection = original(*arguments, **how)  # type: ignore[call-overload]  # passed on as it came
        made.execute(f"PRAGMA max_page_count = {pages}")
        return made

    patches = pytest.MonkeyPatch()
    patches.setattr(private_database, "connect", small)
    index.write({"b": os.urandom(1_000_000)}, (), (), Millis(0))
    patches.undo()
    assert dict(index.find(["a", "b"], Millis(0))) == {"a": b"a"}
