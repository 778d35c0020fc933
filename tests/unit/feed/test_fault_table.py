"""The table of faults in docs/reliability.md, row by row, through the whole feed and in every way to follow files."""

import gzip
import json
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.followed_folder import ASKED, UNTOLD, WAYS, FollowedFolder, append, followed_folder, padded
from tests.recorded_feed import session_lines
from tests.watching import registry

from delegtop.feed.live_feed import REPORTS
from delegtop.model.events import Surveyed

NOBODY = 65534
PREAMBLE = padded("preamb", pad=2_000)


@pytest.fixture(params=WAYS)
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FollowedFolder]:
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    with followed_folder(request.param, monkeypatch) as folder:
        yield folder


def rotated(path: Path, number: int = 1) -> Path:
    return path.with_name(f"{path.name}.{number}")


def test_01_renamed_and_made_anew_while_the_old_one_grows(folder: FollowedFolder) -> None:
    append(folder.log, "aaa111")
    folder.tells("aaa111")
    old = folder.log.rename(rotated(folder.log))
    append(old, "bbb222")
    append(folder.log, "ccc333")
    folder.tells("aaa111", "bbb222", "ccc333")


def test_02_renamed_out_of_sight_and_still_growing(folder: FollowedFolder) -> None:
    append(folder.log, "aaa111")
    folder.tells("aaa111")
    away = folder.log.rename(folder.outside / "away")
    append(away, "bbb222")
    folder.tells("aaa111", "bbb222")
    append(away, "ccc333")
    folder.tells("aaa111", "bbb222", "ccc333")
    folder.becomes(folder.log, "rotated")


def test_03_copied_and_truncated(folder: FollowedFolder) -> None:
    append(folder.log, "aaa111", "bbb222")
    folder.tells("aaa111", "bbb222")
    shutil.copyfile(folder.log, rotated(folder.log))
    folder.log.write_text(session_lines("ccc333"))
    folder.tells("aaa111", "bbb222", "ccc333")


@pytest.mark.parametrize("beginning", ["", PREAMBLE], ids=["", "with an equal beginning"])
def test_04_and_05_truncated_and_longer_than_before_at_the_next_look(folder: FollowedFolder, beginning: str) -> None:
    folder.log.write_text(beginning + session_lines("aaa111", "bbb222"))
    folder.tells("aaa111", "bbb222", but="preamb")
    shutil.copyfile(folder.log, rotated(folder.log))
    more = [f"more{number:02}" for number in range(10)]
    folder.log.write_text(beginning + session_lines(*more))
    folder.tells("aaa111", "bbb222", *more, but="preamb")


def test_06_rewritten_in_its_size_and_with_its_end(folder: FollowedFolder) -> None:
    folder.log.write_text(padded("aaa111", "bbb222", pad=500))
    folder.tells("aaa111", "bbb222")
    with folder.log.open("r+") as file:
        file.write(padded("ccc333", "ddd444", pad=500))
    folder.tells("aaa111", "bbb222", "ccc333", "ddd444")


def test_07_written_to_between_copy_and_truncation_is_a_possible_gap(folder: FollowedFolder) -> None:
    append(folder.log, "aaa111")
    folder.tells("aaa111")
    shutil.copyfile(folder.log, rotated(folder.log))
    append(folder.log, "bbb222")
    folder.log.write_text("")
    folder.becomes(folder.log, "live", "possible gap: at ")
    append(folder.log, "ccc333")
    folder.tells("aaa111", "ccc333", but="bbb222")  # which may have been read in between


@pytest.mark.parametrize("hole", [1_000, 2 << 30])
def test_08_a_stale_writer_leaves_a_hole(folder: FollowedFolder, hole: int) -> None:
    append(folder.log, "aaa111")
    folder.tells("aaa111")
    with folder.log.open("r+b") as file:
        os.truncate(folder.log, 0)
        os.pwrite(file.fileno(), session_lines("bbb222").encode(), hole)
    folder.tells("aaa111", "bbb222")
    append(folder.log, "ccc333")
    folder.tells("aaa111", "bbb222", "ccc333")


def test_08_a_hole_that_was_compressed_with_the_log(folder: FollowedFolder) -> None:
    torn = session_lines("ccc333")[:30].encode()
    text = [bytes(3 << 20), session_lines("aaa111").encode(), torn, bytes(3 << 20), session_lines("bbb222").encode()]
    rotated(folder.log).with_suffix(".1.gz").write_bytes(gzip.compress(b"".join(text), 1))
    folder.tells("aaa111", "bbb222")
    assert not any(line.data.startswith(b"\0") for line in folder.recorded.lines)  # nor does a recording hold it


def test_09_a_line_that_is_finished_later(folder: FollowedFolder) -> None:
    line = session_lines("bbb222")
    folder.log.write_text(session_lines("aaa111") + line[:40])
    folder.tells("aaa111")
    with folder.log.open("a") as file:
        file.write(line[40:60])
    folder.tells("aaa111")
    with folder.log.open("a") as file:
        file.write(line[60:])
    folder.tells("aaa111", "bbb222")


def test_11_a_torn_line_glued_to_the_next_record(folder: FollowedFolder) -> None:
    folder.log.write_text(session_lines("aaa111") + session_lines("bbb222")[:40])
    folder.tells("aaa111")
    append(folder.log, "ccc333")
    folder.tells("aaa111", "ccc333")
    assert folder.reasons() == {"torn": 1}


def test_12_a_last_line_that_never_gets_its_end(folder: FollowedFolder) -> None:
    folder.log.write_text(session_lines("aaa111", "bbb222").rstrip("\n"))
    folder.tells("aaa111", "bbb222")
    append(folder.log)
    with folder.log.open("a") as file:
        file.write("\n" + session_lines("ccc333"))
    folder.tells("aaa111", "bbb222", "ccc333")


def test_13_deleted_and_made_again_in_a_loop(folder: FollowedFolder) -> None:
    names = [f"n{number:05}" for number in range(200 if folder.way == ASKED else 10)]
    for count, name in enumerate(names, 1):
        folder.log.unlink(missing_ok=True)
        append(folder.log, name)
        if folder.way == ASKED:
            folder.look()
        else:
            folder.tells(*names[:count])
    folder.tells(*names)


def test_14_replaced_by_a_longer_copy(folder: FollowedFolder) -> None:
    names = [f"n{number:05}" for number in range(40 if folder.way == ASKED else 5)]
    for count in range(1, len(names) + 1):
        new = folder.outside / "new"
        new.write_text(session_lines(*names[:count]))
        new.replace(folder.log)
        folder.tells(*names[:count])


def test_15_a_symbolic_link_that_leads_elsewhere_now(folder: FollowedFolder) -> None:
    first, second = (folder.outside.resolve() / name for name in ("first", "second"))
    append(first, "aaa111")
    folder.log.symlink_to(first)
    folder.tells("aaa111")
    append(first, "bbb222")
    append(second, "ccc333")
    folder.log.unlink()
    folder.log.symlink_to(second)
    folder.tells("aaa111", "bbb222", "ccc333")


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_16_two_names_of_one_file(folder: FollowedFolder, link: object) -> None:
    append(folder.log, "aaa111")
    link(folder.log.resolve(), folder.inside / "other.jsonl")  # type: ignore[operator]  # both take two paths
    folder.tells("aaa111")
    append(folder.log, "bbb222")
    folder.tells("aaa111", "bbb222")
    if link is os.link:
        folder.log.unlink()
        append(folder.inside / "other.jsonl", "ccc333")
        folder.tells("aaa111", "bbb222", "ccc333")


def test_16_two_names_of_which_one_is_replaced_while_both_go_on(folder: FollowedFolder) -> None:
    other = folder.inside / "other.jsonl"
    append(folder.log, "aaa111")
    other.hardlink_to(folder.log)
    folder.tells("aaa111")
    new = folder.outside / "new"
    new.write_text(session_lines("aaa111", "bbb222"))
    new.replace(folder.log)
    append(other, "ccc333")
    folder.tells("aaa111", "bbb222", "ccc333")


def test_17_two_files_that_begin_alike(folder: FollowedFolder) -> None:
    folder.log.write_text(PREAMBLE)
    folder.tells("preamb")
    other = folder.inside / "other.jsonl"
    other.write_text(PREAMBLE + session_lines("bbb222"))
    append(folder.log, "aaa111")
    folder.tells("aaa111", "bbb222", but="preamb")


def test_18_empty_and_tiny_files(folder: FollowedFolder) -> None:
    line, other = session_lines("bbb222"), folder.inside / "other.jsonl"
    folder.log.touch()
    other.write_text(line[:3])
    folder.look()
    append(folder.log, "aaa111")
    with other.open("a") as file:
        file.write(line[3:])
    folder.tells("aaa111", "bbb222")


@pytest.mark.parametrize("packed_at", ["after a look", "at once"])
def test_19_rotated_and_compressed(folder: FollowedFolder, packed_at: str) -> None:
    append(folder.log, "aaa111", "bbb222")
    folder.tells("aaa111", "bbb222")
    append(folder.log, "ccc333")
    old = folder.log.rename(rotated(folder.log))
    if packed_at == "after a look":
        folder.tells("aaa111", "bbb222", "ccc333")
    old.with_name(f"{old.name}.gz").write_bytes(gzip.compress(old.read_bytes()))
    old.unlink()
    append(folder.log, "ddd444")
    folder.tells("aaa111", "bbb222", "ccc333", "ddd444")


def test_20_a_line_too_long_to_keep(folder: FollowedFolder) -> None:
    folder.log.write_text(session_lines("aaa111") + "y" * (3 << 20) + "\n" + session_lines("bbb222"))
    folder.tells("aaa111", "bbb222")
    assert folder.reasons() == {"oversize": 1}


@pytest.mark.parametrize(
    ("data", "notes"),
    [
        (session_lines("aaa111").encode()[:-2] + b', "task": "caf\xe9"}\n', {"bad encoding": 1}),
        (b"\xef\xbb\xbf" + session_lines("aaa111").encode(), {}),
        (b"\xff\xfe" + session_lines("aaa111").encode("utf-16-le"), {"bad encoding": 1}),
        (b"\xfe\xff" + session_lines("aaa111").encode("utf-16-be"), {"bad encoding": 1}),
        (session_lines("aaa111").replace("\n", "\r\n").encode(), {}),
    ],
    ids=["invalid UTF-8", "BOM", "UTF-16", "UTF-16 big end first", "CRLF"],
)
def test_21_encodings(folder: FollowedFolder, data: bytes, notes: dict[str, int]) -> None:
    folder.log.write_bytes(data)
    folder.tells("aaa111")
    assert folder.reasons() == notes


def test_22_permission_lost_and_given_back(folder: FollowedFolder) -> None:
    other = folder.inside / "other.jsonl"
    append(other, "aaa111")
    folder.tells("aaa111")
    append(folder.log, "bbb222")
    folder.log.chmod(0)
    me = os.geteuid()
    if not me:
        os.seteuid(NOBODY)
    try:
        folder.becomes(folder.log, "unreadable", "permission denied")
    finally:
        os.seteuid(me)
    folder.log.chmod(0o644)
    folder.tells("aaa111", "bbb222")
    folder.becomes(folder.log, "live")


def test_23_a_folder_that_vanishes_and_comes_back(folder: FollowedFolder) -> None:
    append(folder.log, "aaa111")
    folder.tells("aaa111")
    folder.inside.rename("away")
    folder.becomes(folder.inside, "skipped", "not there now")
    append(Path("away/s.jsonl"), "bbb222")
    Path("away").rename(folder.inside)
    folder.tells("aaa111", "bbb222")


def test_26_that_nobody_can_tell_of_changes_is_said(folder: FollowedFolder) -> None:
    append(folder.log, "aaa111")
    folder.tells("aaa111")
    said = [each.detail for each in folder.recorded.feed.statuses() if each.path == REPORTS]
    assert [each[-28:] for each in said] == ["; files are looked at instead"[-28:]] * (folder.way == UNTOLD)


def surveys_of(folder: FollowedFolder) -> list[tuple[str, ...]]:
    """Which sessions stood in a registry, whenever that was told."""
    return [each.ids for each in folder.recorded.told if isinstance(each, Surveyed)]


def test_27_a_registry_that_is_rewritten_in_place_is_never_seen_torn(folder: FollowedFolder) -> None:
    book = folder.inside / "registry.json"
    stop, versions = threading.Event(), [[f"v{version:02}{number:03}" for number in range(30)] for version in range(9)]

    def rewrite() -> None:
        while not stop.is_set():
            for names in versions:
                text = registry(*names)
                with book.open("w") as file:
                    for start in range(0, len(text), 2_000):
                        file.write(text[start : start + 2_000])
                        file.flush()
                stop.wait(0.003)

    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        while len(surveys_of(folder)) < 10:
            folder.look()
    finally:
        stop.set()
        writer.join()
    whole = {tuple(f"sess_20260501_{name}" for name in names) for names in versions}
    assert {*surveys_of(folder)} <= whole


def test_28_and_29_an_entry_that_leaves_and_a_registry_that_is_broken(folder: FollowedFolder) -> None:
    book = folder.inside / "registry.json"
    book.write_text(registry("aaa111", "bbb222"))
    folder.becomes(book, "live")
    book.write_text(registry("bbb222"))
    while len(surveys_of(folder)) < 2:
        folder.look()
    for broken, why in (("", "empty"), (registry("aaa111")[:-9], "torn")):
        book.write_text(broken)
        folder.becomes(book, "stale", f"{why} since ")
        assert "; showing the one of " in folder.becomes(book, "stale").detail
    book.write_text(json.dumps({}))
    folder.becomes(book, "live")
    assert [[each[-6:] for each in survey] for survey in surveys_of(folder)] == [["aaa111", "bbb222"], ["bbb222"], []]


def test_34_a_pipe_and_a_folder_under_the_name_of_a_log(folder: FollowedFolder) -> None:
    os.mkfifo(folder.log)
    (folder.inside / "t.jsonl").mkdir()
    append(folder.inside / "u.jsonl", "aaa111")
    folder.tells("aaa111")
    folder.becomes(folder.log, "skipped", "a pipe")
