"""`delegtop find`: words in everything this machine's agents ever did."""

import errno
import json
import os
import random
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.fleet.host_stand_ins import FakeSsh
from tests.past_sessions import SECRET, days_ago, few, place_of, session, write
from tests.recorded_hosts import listen_to
from tests.samples import lay_out

from delegtop.base.clock import Millis, WallClock
from delegtop.base.paths import index_place
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.feed import file_catalogue
from delegtop.report import found_sessions
from delegtop.report.found_sessions import FoundSession, FoundSessions, Match
from delegtop.search import finding_words, reading_on, search_file
from delegtop.search.search_file import SearchFile, Stored, place
from delegtop.search.search_query import understood
from delegtop.search.session_words import KeptWords, SessionWords
from delegtop.sources import inode

ALL = {session(1), session(2), session(3)}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder without logs: each search would look through all samples of the project. It is quick there, and keeps
    what was written a moment ago all the same."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(inode, "_SETTLED", 0)


def found(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """The sessions in which they were found, the first first."""
    capsys.readouterr()
    code = main(["find", *words, "--json"])
    told = msgspec.json.decode(capsys.readouterr().out, type=FoundSessions)
    assert code == (Exit.OK if told.found else Exit.FINDINGS)
    return [each.session for each in told.found]


WHERE = [
    ("tomatoes", [1]),
    ("TOMATOES greenhouse", [1]),
    ("tomatoes roses", []),
    ("greenhous", []),
    ("greenhous*", [1]),
    ("tomato", [1]),
    ('"the greenhouse"', [1]),
    ('"greenhouse the"', []),
    ("prompt:greenhouse", [1]),
    ("title:nothing", []),
    ("file:tomato_plan.py", [1]),
    ("file:plan", [1]),
    ("/srv/garden/beds/tomato_plan.py", [1]),
    ("error:overloaded", [2]),
    ('"API Error: 529"', [2]),
    ("agent:review*", [2]),
    ("agent=reviewer state:failed", [2]),
    ("state:failed,lost", [2]),
    ("the !roses", [1]),
    ("greenhouse|roses", [2, 1]),
    ("project:*garden prune", [2]),
    ("product:codex", []),
    (f"id:{session(2)[:8]}", [2]),
]


def test_words_are_found_where_somebody_would_look_for_them(capsys: pytest.CaptureFixture[str]) -> None:
    few()
    for words, numbers in WHERE:
        assert found(capsys, words) == [session(number) for number in numbers], words


@pytest.mark.parametrize(
    ("words", "numbers"), [("file:tomato_plan.py", [1]), ("error:overloaded", [2]), ("roses", [2])]
)
def test_they_are_found_where_so_much_was_read_that_sessions_are_kept_as_well(
    words: str, numbers: list[int], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_catalogue, "WORTH", 0)
    few()
    assert found(capsys, words) == [session(number) for number in numbers]
    assert index_place().exists()


def test_it_is_told_when_it_was_how_it_ended_and_what_opens_it(capsys: pytest.CaptureFixture[str]) -> None:
    few()
    assert main(["find", "greenhouse"]) == Exit.OK
    told = capsys.readouterr().out.splitlines()
    assert "  idle  claude  /srv/garden" in told[0]
    assert told[1] == "    Water the tomatoes in the greenhouse"
    assert told[2] == f"    $ delegtop replay '{str(place_of(1)).removesuffix('.jsonl')}*'"
    assert told[3] == f"    $ cd /srv/garden && claude --resume {session(1)}"
    assert told[-1] == "1 delegation of 4"


def test_nothing_found_is_said_and_is_an_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    few()
    assert main(["find", "turnips"]) == Exit.FINDINGS
    said = capsys.readouterr()
    assert not said.out
    assert "nothing of 4 delegations" in said.err


def test_it_is_said_by_what_nothing_could_be_found(capsys: pytest.CaptureFixture[str]) -> None:
    few()
    assert main(["find", "roses", "--since", "2d", "--here"]) == Exit.FINDINGS
    assert "nothing of 1 delegation with --since 2d --here; words are" in capsys.readouterr().err


def test_what_stands_in_two_places_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    """What a tool answered in place of a result is its error, too."""
    few()
    assert main(["find", "overloaded"]) == Exit.OK
    assert capsys.readouterr().out.count("529 Overloaded") == 1


def test_what_was_read_once_is_not_read_again_until_it_changes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    whole = reading_on.read_on

    def counted(*given: object) -> reading_on.ReadOn:
        done = whole(*given)  # type: ignore[arg-type]  # passed on as it is
        read.append(done.read)
        return done

    monkeypatch.setattr(finding_words, "read_on", counted)
    few()
    assert found(capsys, "the") == [session(2), session(1)]
    assert found(capsys, "the") == [session(2), session(1)]
    write(1, "Water the cucumbers", days=30)
    assert found(capsys, "cucumbers") == [session(1)]
    assert found(capsys, "tomatoes") == []
    assert read == [3, 0, 1, 0]


def test_sessions_that_are_run_alike_have_nothing_to_do_with_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    """In a terminal, on this machine: that is true of all there ever were."""
    few()
    processes = place_of(1).parents[2] / "sessions"
    processes.mkdir()
    for number in (1, 2):
        at = days_ago(9)
        told = {"pid": 4_000_000 + number, "sessionId": session(number), "startedAt": at, "updatedAt": at + 1_000}
        told |= {"cwd": "/srv/garden", "kind": "interactive", "entrypoint": "cli", "status": "idle", "procStart": "8"}
        path = processes / f"{told['pid']}.json"
        path.write_text(json.dumps(told))
        os.utime(path, (at / 1000, at / 1000))
    assert found(capsys, "the") == [session(2), session(1)]
    companies = [each.company for each in SearchFile().known().values()]
    assert sorted(map(companies.count, {*companies})) == [1, 2, 2]


def test_what_was_found_is_found_when_its_log_is_gone(capsys: pytest.CaptureFixture[str]) -> None:
    few()
    assert found(capsys, "roses")
    place_of(2).unlink()
    assert main(["find", "roses"]) == Exit.OK
    told = capsys.readouterr().out
    assert "its log is gone" in told
    assert "delegtop replay" not in told
    assert "--resume" not in told, "its program has no other place to take it up from"


def test_where_nobody_may_look_there_is_no_log(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few()
    assert found(capsys, "roses")
    folder, stat = place_of(2).parent, os.stat
    place_of(2).unlink()

    def refused(path: str | Path, **how: bool) -> os.stat_result:
        if str(path) == str(folder / place_of(2).name):
            raise PermissionError
        return stat(path, **how)

    monkeypatch.setattr(os, "stat", refused)
    assert main(["find", "roses"]) == Exit.OK
    assert "its log is gone" in capsys.readouterr().out


def test_a_session_that_goes_on_is_found_and_not_kept(capsys: pytest.CaptureFixture[str]) -> None:
    write(5, "Dig the pond", days=0.001)
    assert found(capsys, "pond") == [session(5)]
    assert SearchFile().known() == {}


def test_what_goes_on_again_is_counted_once(capsys: pytest.CaptureFixture[str]) -> None:
    few()
    assert main(["find", "turnips"]) == Exit.FINDINGS
    write(2, "Prune the roses", days=0.001)
    assert main(["find", "turnips"]) == Exit.FINDINGS
    plain = main(["find", "turnips", "--no-index"])
    assert plain == Exit.FINDINGS
    assert [line[:24] for line in capsys.readouterr().err.splitlines()] == [
        "delegtop: nothing of 4 d",
        "delegtop: nothing of 3 d",
        "delegtop: nothing of 3 d",
    ]


def test_a_secret_is_not_found_by_its_value_and_lies_nowhere(capsys: pytest.CaptureFixture[str]) -> None:
    few()
    for words in (SECRET, f"{SECRET[:12]}*", SECRET[4:], f'"{SECRET}"', f"prompt:{SECRET}"):
        assert found(capsys, words) == []
    assert found(capsys, "seeds") == [session(3)]
    assert main(["find", "seeds"]) == Exit.OK
    assert "[masked]" in capsys.readouterr().out
    assert SECRET[4:].encode() not in place().read_bytes()


def test_what_is_looked_up_by_a_secret_is_found_and_not_kept(capsys: pytest.CaptureFixture[str]) -> None:
    few()
    place_of(1).rename(place_of(1).with_name(f"{SECRET}.jsonl"))
    log = place_of(2)
    log.write_text(log.read_text().replace("toolu_f2", SECRET))
    long_ago = days_ago(9) / 1000
    os.utime(log, (long_ago, long_ago))
    for _ in range(2):
        assert main(["find", "tomatoes"]) == Exit.OK
        assert found(capsys, "roses") == [session(2)]
    assert SECRET[4:].encode() not in place().read_bytes()
    assert len(SearchFile().known()) == 1


@pytest.mark.parametrize("how", ["flag", "setting"])
def test_whoever_keeps_nothing_finds_the_same(
    how: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few()
    if how == "setting":
        monkeypatch.setenv("DELEGTOP_INDEX", "false")
    more = ["--no-index"] if how == "flag" else []
    assert found(capsys, "the", *more) == [session(2), session(1)]
    assert not place().parent.exists()


def test_what_was_written_before_it_says_to_have_happened_is_as_old_as_its_file_whether_it_is_kept_or_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A clock may be wrong, or a time have no zone. Files that were not written since then are not even opened."""
    write(1, "Water the tomatoes", days=0.1)
    os.utime(write(2, "Prune the roses", days=0.1), (days_ago(3) / 1000, days_ago(3) / 1000))
    plain = found(capsys, "the", "--since", "6h", "--no-index")
    assert set(found(capsys, "the")) == {session(1), session(2)}, "both are kept"
    assert found(capsys, "the", "--since", "6h") == plain == [session(1)]
    assert main(["find", "the", "--since", "6h"]) == Exit.OK
    assert "1 delegation of 1\n" in capsys.readouterr().out


@pytest.mark.parametrize("sample", ["17_handed_out", "cleo"])
def test_of_what_nothing_says_when_it_was_no_time_is_told_and_it_stands_last(
    sample: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of what goes on, which is kept nowhere, and of what is over."""
    few()
    folder, config = lay_out(sample, tmp_path), tmp_path / "config.toml"
    config.write_text(f"sources = [{json.dumps(str(folder))}]\n")
    for path in (path for path in folder.rglob("*") if path.is_file()):
        os.utime(path, (days_ago(50) / 1000, days_ago(50) / 1000))
    for more in (["--no-index"], [], []):
        capsys.readouterr()
        asked = ["find", "r*|t*|w*", "--limit", "100", "--config", str(config), *more]
        assert main([*asked, "--json"]) == Exit.OK
        told = msgspec.json.decode(capsys.readouterr().out, type=FoundSessions)
        timed = [each.started_at is not None for each in told.found]
        assert timed == sorted(timed, reverse=True)
        assert [each.last_heard_at is not None for each in told.found] == timed
        assert main(asked) == Exit.OK
        assert "1970" not in (words := capsys.readouterr().out)
        assert words.count("\n–  ") == timed.count(False) > 0


def test_what_is_here_and_on_another_host_is_told_of_as_it_is_here_whether_it_is_kept_or_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few()
    ssh, config = FakeSsh(tmp_path / "ssh"), tmp_path / "config.toml"
    monkeypatch.setenv("PATH", ssh.path)
    listen_to(ssh, "there", Path.home() / ".claude" / "projects", at=WallClock().now())
    config.write_text('[[hosts]]\nssh = "there"\n')
    place_of(2).unlink()
    for more in (["--no-index"], [], []):
        capsys.readouterr()
        assert main(["find", "the", "--json", "--hosts", "--config", str(config), *more]) == Exit.OK
        told = msgspec.json.decode(capsys.readouterr().out, type=FoundSessions)
        assert [(each.session, each.host) for each in told.found] == [(session(2), "there"), (session(1), None)]


ODD = (
    *('"', '"""', "'", "*", "**", "!", "!!", ":", "title:", 'title:"', "agent:", "agent:[", "agent:[a-z]*", "a|"),
    *("NEAR(the roses, 2)", "the AND roses", "the OR", "NOT the", "^the", "{title prompt} : the", "-title : the"),
    *('the" OR "roses', "words MATCH 'the'", "'; DROP TABLE found; --", "\x00the\x00", "\x1b[2J", "the\n\rroses"),
    "|".join(f"w{number}" for number in range(200)),
    *("\ud800", "🌹", "ﬁ", "a" * 999, " ".join(["the"] * 40), "(" * 500, "e*", "!the", "!title:the state:idle"),
)  # fmt: skip


def test_no_words_are_a_command_to_the_database(capsys: pytest.CaptureFixture[str]) -> None:
    """Nor in what says which of them are the best."""
    few()
    found(capsys, "garden")
    before = SearchFile().summary()
    for words in ODD:
        assert main(["find", words, "--best"]) in (Exit.OK, Exit.FINDINGS, Exit.USAGE), words
        said = capsys.readouterr()
        assert "\x1b" not in said.out + said.err, words
        assert SearchFile().summary() == before, words


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("x" * 1_000_000, "too long"),
        ("x " * 50, "too many words"),
        ("... --", "no word in it"),
        ("depth>1", "depth is a key of the filter"),
        ("model:opus", "here there are"),
        ("state:faild", "no state is named faild: there are running"),
        ("roses !state:l*x", "no state is named l*x"),
    ],
)
def test_what_cannot_be_looked_for_is_refused_in_words(
    words: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["find", words]) == Exit.USAGE
    assert why in capsys.readouterr().err


@pytest.mark.parametrize("state", ["text", "foreign", "link", "cut", "version", "schema", "locked"])
def test_a_file_that_is_not_what_it_should_be_changes_nothing(
    state: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few()
    assert found(capsys, "the") == [session(2), session(1)]
    data, lock = place().read_bytes(), None
    if state == "text":
        place().write_text("no database")
    elif state == "foreign":
        place().unlink()
        with sqlite3.connect(place()) as other:
            other.execute("CREATE TABLE found (a)")
    elif state == "link":
        (tmp_path / "other").write_bytes(data)
        place().unlink()
        place().symlink_to(tmp_path / "other")
    elif state == "cut":
        place().write_bytes(data[: len(data) // 2])
    elif state == "version":
        monkeypatch.setattr(search_file, "LAYOUT", 99)
    elif state == "schema":
        with sqlite3.connect(place()) as other:
            other.execute("DROP TABLE texts")
    else:
        monkeypatch.setattr("delegtop.base.private_database.PATIENCE", 0.01)
        lock = sqlite3.connect(place(), isolation_level=None)
        lock.execute("BEGIN EXCLUSIVE")
    assert found(capsys, "the") == [session(2), session(1)]
    if lock is not None:
        lock.close()
    assert found(capsys, "the") == [session(2), session(1)]


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """All that is said of what was found."""
    capsys.readouterr()
    main(["find", *words])
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM texts",
        "UPDATE texts SET data = 'no words'",
        "UPDATE found SET at = 'yesterday'",
        "UPDATE found SET agent = NULL",
        "UPDATE found SET folder = x'ff'",
        "UPDATE found SET at = at + 300000000",
        "UPDATE found SET state = 'lost'",
        "UPDATE texts SET data = (SELECT data FROM texts ORDER BY number LIMIT 1)",
        "DELETE FROM found WHERE number = 2",
        "UPDATE words_data SET block = zeroblob(length(block)) WHERE id > 10",
        "UPDATE words_data SET block = replace(block, 'os', 'as') WHERE id > 10",
        "DELETE FROM words_idx",
    ],
)
def test_rows_that_make_no_sense_are_read_again(damage: str, capsys: pytest.CaptureFixture[str]) -> None:
    few()
    assert found(capsys, "the") == [session(2), session(1)]
    plain = shown(capsys, "the")
    with sqlite3.connect(place()) as database:
        database.execute(damage)
    database.close()
    assert shown(capsys, "the") == plain
    write(2, "Prune the roses", days=9, error="API Error: 529 Overloaded (request 4712)")
    assert found(capsys, "the") == [session(2), session(1)]
    assert found(capsys, "the") == [session(2), session(1)]


def test_what_is_deleted_meanwhile_is_read(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    few()
    assert found(capsys, "the") == [session(2), session(1)]
    whole = reading_on.read_on

    def deleted(*given: object) -> reading_on.ReadOn:
        done = whole(*given)  # type: ignore[arg-type]  # passed on as it is
        place().unlink(missing_ok=True)
        return done

    monkeypatch.setattr(finding_words, "read_on", deleted)
    assert found(capsys, "the") == [session(2), session(1)]


def test_a_secret_in_the_name_of_a_folder_is_masked_too(capsys: pytest.CaptureFixture[str]) -> None:
    write_in(f"/srv/{SECRET}")
    for form in ([], ["--json"], ["--no-index"]):
        assert main(["find", "lawn", *form]) == Exit.OK
        told = capsys.readouterr().out
        assert "/srv/ghp_[masked]" in told
        assert SECRET not in told
    assert main(["find", f"project:{SECRET}"]) == Exit.FINDINGS
    assert SECRET.encode() not in place().read_bytes()


def write_in(folder: str) -> None:
    """A session that worked in that folder."""
    log = write(4, "Mow the lawn")
    written = log.stat().st_mtime
    log.write_text(log.read_text("utf-8").replace("/srv/garden", folder), "utf-8")
    os.utime(log, (written, written))


@pytest.mark.parametrize("words", ["project:Übung", "project:übung", "project:*ÜBUNG"])
def test_folders_are_found_whatever_the_language(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_in("/srv/ÜBUNG")
    assert found(capsys, words) == [session(4)]


def test_what_began_at_the_same_moment_stands_in_the_same_order_however_it_is_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    at = days_ago(3)
    monkeypatch.setattr("tests.past_sessions.days_ago", lambda _days: at)
    for number in (7, 5, 6):
        write(number, "Mow the lawn")
    kept = found(capsys, "lawn")
    write(5, "Mow the lawn", file="/srv/garden/mower.py")
    assert found(capsys, "lawn") == kept
    assert found(capsys, "lawn", "--no-index") == kept
    assert found(capsys, "lawn", "--limit", "1") == kept[:1]


@pytest.mark.parametrize("source", ["nowhere", "*.nothing", "x" * 300])
def test_a_source_that_is_not_there_is_said(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    few()
    assert main(["find", "the", "--in", source]) == Exit.UNREADABLE
    said = capsys.readouterr()
    assert not said.out
    assert source in said.err
    assert "nothing of" not in said.err


def test_a_quotation_mark_in_the_name_of_an_agent_is_no_end_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    few()
    assert found(capsys, "was", "--agent", 'reviewer" was') == []
    assert found(capsys, "overloaded", "--agent", '"reviewer"') == [session(2)]


def test_what_cannot_be_written_down_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """A timer would read everything each time, and nobody would know."""
    few()
    place().parent.mkdir(parents=True)
    place().mkdir()
    assert main(["index", "update", "--quiet"]) == Exit.USAGE
    assert "3 sessions and logs could not be written down" in capsys.readouterr().err
    place().rmdir()
    assert main(["index", "update", "--quiet"]) == Exit.OK
    assert not capsys.readouterr().err


@pytest.mark.parametrize("is_old", [True, False], ids=["at rest", "written a moment ago"])
@pytest.mark.parametrize("state", ["no folder", "a closed folder", "read-only", "full"])
def test_where_nothing_can_be_written_the_reason_is_said(
    state: str, is_old: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few()
    for number in () if is_old else (1, 2, 3):
        os.utime(place_of(number))
    reason = "attempt to write a readonly database"
    if state == "no folder":
        (tmp_path / "file").touch()
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
        reason = "Not a directory"
    elif state == "a closed folder":
        os_open = os.open

        def refused(path: str | Path, *more: Any, **others: Any) -> int:
            if str(path).endswith("find.db"):
                raise PermissionError(errno.EACCES, "Permission denied")
            return os_open(path, *more, **others)

        monkeypatch.setattr("delegtop.base.private_database.os.open", refused)
        reason = "Permission denied"
    elif state == "read-only":
        assert SearchFile().write(())

        def limited(path: Path, timeout: float, isolation_level: None) -> sqlite3.Connection:
            database = sqlite3.connect(path, timeout=timeout, isolation_level=isolation_level)
            database.execute("PRAGMA query_only = ON")
            return database

        monkeypatch.setattr("delegtop.base.private_database.connect", limited)
    else:
        reason = "database or disk is full"

        def full(_database: sqlite3.Connection) -> None:
            raise sqlite3.OperationalError(reason)

        monkeypatch.setattr(search_file, "written", full)
    assert main(["index", "update"]) == Exit.USAGE
    said = capsys.readouterr()
    assert reason in said.err
    assert "3 sessions and logs could not be written down" in said.err
    assert not said.out


def test_why_what_was_read_is_not_kept_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    few()
    os.utime(place_of(1))
    assert main(["index", "update"]) == Exit.OK
    assert capsys.readouterr().out == (
        "3 sessions and logs were read, and 2 of them are kept; "
        "the others go on, were written to within the hour, or may not be kept\n"
    )


@pytest.mark.parametrize("other", ["index.db", "find.db"])
def test_one_file_that_cannot_be_deleted_keeps_no_other(other: str, capsys: pytest.CaptureFixture[str]) -> None:
    few()
    found(capsys, "the")
    index = place().with_name("index.db")
    index.write_bytes(b"")
    blocked = place().with_name(other)
    blocked.unlink()
    blocked.mkdir()
    assert main(["index", "clear"]) == Exit.USAGE
    assert str(blocked) in capsys.readouterr().err
    assert [each.name for each in place().parent.iterdir()] == [other]


def test_a_python_whose_sqlite_cannot_look_for_words_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(*_: object, **__: object) -> object:
        class Without(sqlite3.Connection):
            def execute(self, sql: str, *more: object) -> sqlite3.Cursor:
                if "fts5" in sql:
                    raise sqlite3.OperationalError("no such module: fts5")
                return super().execute(sql, *more)  # type: ignore[arg-type]  # passed on as it is

        return Without(":memory:")

    monkeypatch.setattr(search_file, "connect", connect)
    assert main(["find", "roses"]) == Exit.USAGE
    assert "built without FTS5" in capsys.readouterr().err


def test_newest_first_unless_the_best_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    write(1, "Prune the beds", days=50, file="/srv/garden/roses.py")
    write(2, "Something about many other things, and at the very end of it a word about roses", days=5)
    assert found(capsys, "roses") == [session(2), session(1)]
    assert found(capsys, "roses", "--best") == [session(1), session(2)]
    assert found(capsys, "roses", "--since", "10d") == [session(2)]
    assert found(capsys, "roses", "--limit", "1") == [session(2)]
    assert found(capsys, "roses", "--agent", "nobody") == []


def test_one_folder_can_be_searched_and_nothing_of_it_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few()
    path = write(4, "Mow the lawn")
    elsewhere = tmp_path / path.name
    path.rename(elsewhere)
    assert found(capsys, "lawn") == []
    assert found(capsys, "lawn", "--in", str(tmp_path)) == [session(4)]
    assert found(capsys, "lawn") == []


def test_only_what_belongs_to_this_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few()
    monkeypatch.chdir(tmp_path)
    assert found(capsys, "the", "--here") == []


def test_it_is_for_its_owner_alone_and_goes_with_the_index(capsys: pytest.CaptureFixture[str]) -> None:
    few()
    found(capsys, "the")
    assert place().stat().st_mode & 0o777 == 0o600
    assert main(["index", "show"]) == Exit.OK
    assert "4 delegations of 3 sessions and logs to be found" in capsys.readouterr().out
    assert main(["index", "clear"]) == Exit.OK
    assert not place().exists()


def test_of_too_much_the_oldest_goes_until_there_is_room() -> None:
    dice, most = random.Random(1), 600_000
    file = SearchFile(largest=most)
    for batch in (200, 200, 200, 600, 50):
        new, first = list[Stored](), max(file.known(), default=0) + 1
        for number in map(Millis, range(first, first + batch)):
            prompt = " ".join(f"{dice.randrange(1 << 40):x}" for _ in range(60))
            words = KeptWords(title=f"number{number}", prompt=prompt)
            told = SessionWords(f"id{number}", number, number, None, "idle", "claude", "", "/srv", "", words)
            new.append(Stored(number, 1, [told]))
        assert file.write(new)
        assert place().stat().st_size < 1.3 * most
    left = sorted(file.known())
    assert left == [*range(left[0], 1_251)], "the newest are there"
    assert 100 < len(left) < 600
    assert file.find(understood("number1")) == []
    assert [hit.id for hit in file.find(understood("number1250")) or ()] == ["id1250"]


def test_the_json_keeps_to_its_contract(capsys: pytest.CaptureFixture[str]) -> None:
    few()
    main(["find", "overloaded", "--json"])
    told = capsys.readouterr().out
    assert told.isascii()
    assert json.loads(told)["found"][0]["matches"][0]["field"] == "error"


def test_the_schema_on_file_is_that_of_the_program(project: Path, update_golden: bool) -> None:
    page = project / "docs" / "schema" / "find.schema.json"
    if update_golden:
        page.write_text(found_sessions.schema(), "utf-8")
    assert page.read_text("utf-8") == found_sessions.schema()


def test_the_page_tells_of_every_field_of_the_json(project: Path) -> None:
    page = (project / "docs" / "find.md").read_text("utf-8")
    kinds = (FoundSessions, FoundSession, Match)
    assert not [field.name for kind in kinds for field in msgspec.structs.fields(kind) if f"`{field.name}`" not in page]


def test_hostile_words_in_a_log_are_shown_as_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    write(6, "Weed \x1b]52;c;aGk=\x07 the \u202epath [red]now[/red]", file="/srv/\x1b[31m/weed.py")
    assert main(["find", "weed"]) == Exit.OK
    told = capsys.readouterr().out
    assert "\x1b" not in told
    assert "\u202e" not in told


def test_what_lies_in_a_folder_whose_name_is_no_text_is_found_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few()
    folder = place_of(2).parent
    folder.rename(folder.with_name("caf\udce9"))
    write(4, "Mow the lawn")
    for _ in range(2):
        for words, number in (("roses", 2), ("lawn", 4)):
            assert main(["find", words, "--json"]) == Exit.OK
            (told,) = json.loads(capsys.readouterr().out)["found"]
            assert told["session"] == session(number)
            assert told["source"] in (str(place_of(4)), f"{folder.parent}/caf\udce9/{session(2)}.jsonl")
    assert len(SearchFile().known()) == 4
    (tmp_path / "caf\udce9").mkdir()
    monkeypatch.chdir(tmp_path / "caf\udce9")
    assert found(capsys, "the", "--here") == []


@pytest.mark.parametrize("name", ["half \ud83d", "\udcff", "nothing\0"])
def test_an_id_that_is_no_text_can_be_found(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "session.jsonl"
    began = {"event": "register", "at": "2026-03-03T10:00:00Z", "delegation_depth": 1, "delegation_path": ["o", "p"]}
    began |= {"session_id": name, "subagent": f"roses {name}", "host": name}
    log.write_text(json.dumps(began) + "\n")
    capsys.readouterr()
    assert main(["find", "roses", "--in", str(log)]) == Exit.OK
    assert "roses" in capsys.readouterr().out


def test_it_needs_no_place_to_write(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    few()
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    assert found(capsys, "the") == [session(2), session(1)]
    assert os.path.isdir("/proc")  # noqa: PTH112 -- the folder that cannot be written to is still what it was
