"""Which files the arguments mean."""

import os
import shutil
import socket
from pathlib import Path

import pytest
from tests.unprivileged import needs_closed_folders, python

from delegtop.base.clock import Millis, WallClock
from delegtop.sources import discover
from delegtop.sources.discover import Roots


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (
        "a.jsonl",
        "b/c.ndjson",
        "b/d/e.log",
        "b/registry.json",
        ".opencode/hidden.jsonl",
        ".git/no.jsonl",
        "node_modules/no.json",
        "b/__pycache__/no.log",
        ".venv/no.jsonl",
        "rotated.jsonl.1",
        "rotated.jsonl-20251226",
        "rotated.log.2025-12-26",
        "notes.txt",
        "a.jsonl.tmp",
        "x.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}\n")
    return tmp_path


def settle(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is some seconds later: no folder was changed just now."""
    later = Millis(WallClock().now() + 5_000)
    monkeypatch.setattr(WallClock, "now", lambda _clock: later)


def names(roots: Roots, tree: Path) -> list[str]:
    return [os.path.relpath(path, tree) for path in roots.scan().files]


def test_a_folder_gives_its_logs_and_their_rotated_forms_at_any_depth_and_nothing_else(tree: Path) -> None:
    assert sorted(names(Roots([str(tree)]), tree)) == sorted(
        [
            ".opencode/hidden.jsonl",
            "a.jsonl",
            "b/c.ndjson",
            "b/d/e.log",
            "b/registry.json",
            "rotated.jsonl-20251226",
            "rotated.jsonl.1",
            "rotated.log.2025-12-26",
        ]
    )
    assert Roots([str(tree)]).scan().skipped == {}


def test_the_order_is_the_same_at_every_scan(tree: Path) -> None:
    roots = Roots([str(tree)])
    assert roots.scan() == roots.scan() == Roots([str(tree)]).scan()


def test_a_named_file_is_taken_whatever_it_is_called(tree: Path) -> None:
    assert names(Roots([str(tree / "notes.txt")]), tree) == ["notes.txt"]


def test_a_file_named_twice_is_taken_once(tree: Path) -> None:
    found = names(Roots([str(tree / "a.jsonl"), str(tree), str(tree / "a.jsonl")]), tree)
    assert found.count("a.jsonl") == 1


def test_globs_are_expanded_also_over_folders(tree: Path) -> None:
    assert names(Roots([str(tree / "*.jsonl")]), tree) == ["a.jsonl"]
    assert "b/c.ndjson" in names(Roots([str(tree / "**" / "*.ndjson")]), tree)
    assert "b/c.ndjson" in names(Roots([str(tree / "[b]")]), tree)


def test_a_file_whose_name_looks_like_a_pattern_is_itself(tree: Path) -> None:
    (tree / "odd[1].jsonl").write_text("{}")
    assert names(Roots([str(tree / "odd[1].jsonl")]), tree) == ["odd[1].jsonl"]


def test_new_files_and_folders_turn_up_in_the_next_scan(tree: Path) -> None:
    roots = Roots([str(tree), str(tree / "*.tail")])
    before = roots.scan().files
    (tree / "b" / "new.jsonl").write_text("{}")
    (tree / "n1" / "n2").mkdir(parents=True)
    (tree / "n1" / "n2" / "deep.jsonl").write_text("{}")
    (tree / "x.tail").write_text("{}")
    new = {*roots.scan().files} - {*before}
    assert new == {str(tree / "b/new.jsonl"), str(tree / "n1/n2/deep.jsonl"), str(tree / "x.tail")}
    assert str(tree / "n1" / "n2") in roots.directories()


def test_an_unchanged_folder_is_not_listed_again(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(monkeypatch)
    roots = Roots([str(tree)])
    first = roots.scan()
    monkeypatch.setattr(os, "scandir", None)
    assert roots.scan() == first


def test_a_folder_whose_time_is_set_back_is_listed_again(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As whoever copies or unpacks does once all is in it: the second time it bears the time of the first."""
    settle(monkeypatch)
    os.utime(tree / "b", (1, 1))
    roots = Roots([str(tree)])
    before = names(roots, tree)
    at = (tree / "b").stat().st_ctime_ns
    while (tree / "b").stat().st_ctime_ns == at:  # its clock ticks every few milliseconds
        (tree / "b" / "new.jsonl").write_text("{}")
        os.utime(tree / "b", (1, 1))
    assert {*names(roots, tree)} - {*before} == {"b/new.jsonl"}


def test_what_cannot_be_read_is_skipped_with_a_reason(tree: Path, tmp_path: Path) -> None:
    os.mkfifo(tree / "pipe.jsonl")
    (tree / "session.key").write_text("a secret")
    (tree / "dangling.jsonl").symlink_to(tree / "nowhere")
    server = socket.socket(socket.AF_UNIX)
    server.bind(os.path.relpath(tree / "socket.jsonl"))
    try:
        skipped = Roots([str(tree), "/dev/null", str(tree / "session.key")]).scan().skipped
    finally:
        server.close()
    assert {os.path.relpath(path, tmp_path) if path != "/dev/null" else path: why for path, why in skipped.items()} == {
        "pipe.jsonl": "a pipe",
        "session.key": "holds credentials: never opened",
        "dangling.jsonl": "a broken link",
        "socket.jsonl": "a socket",
        "/dev/null": "a device",
    }


def test_a_link_that_begins_to_lead_somewhere_is_taken(tree: Path) -> None:
    (tree / "link.jsonl").symlink_to(tree / "target")
    roots = Roots([str(tree)])
    assert "link.jsonl" not in names(roots, tree)
    (tree / "target").write_text("{}")
    assert "link.jsonl" in names(roots, tree)


def test_links_to_folders_lead_in_no_circles(tree: Path) -> None:
    (tree / "b" / "up").symlink_to(tree)
    (tree / "b" / "folder.jsonl").symlink_to(tree)
    found = names(Roots([str(tree)]), tree)
    assert len(found) == len({*found})
    assert not any("up" in name for name in found)


def test_a_linked_folder_may_be_named(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tree / "b")
    assert "link/c.ndjson" in names(Roots([str(tmp_path / "link")]), tmp_path)


def test_what_never_was_there_is_missing_and_found_when_it_comes(tree: Path) -> None:
    late = tree / "late.jsonl"
    roots = Roots([str(late), str(tree / "no*match")])
    assert roots.scan().missing == (str(late),)
    late.write_text("{}")
    assert (names(roots, tree), roots.scan().missing) == (["late.jsonl"], ())


def test_a_vanished_root_keeps_its_files_until_it_is_back(tree: Path) -> None:
    root = tree / "b"
    roots = Roots([str(root), str(tree / "a.jsonl")])
    before = roots.scan().files
    root.rename(tree / "away")
    (tree / "a.jsonl").unlink()
    scan = roots.scan()
    assert (scan.files, scan.missing) == (before, ())
    assert scan.skipped == {str(root): "not there now"}
    (tree / "away").rename(root)
    assert roots.scan().skipped == {}


@pytest.mark.parametrize("listed", [True, False], ids=["listed before", "new"])
def test_a_folder_that_cannot_be_read_is_told_and_its_known_files_stay(
    tree: Path, monkeypatch: pytest.MonkeyPatch, listed: bool
) -> None:
    roots = Roots([str(tree)])
    if listed:
        roots.scan()
    real = os.stat

    def refuse(path: str, *, follow_symlinks: bool = True) -> os.stat_result:
        if str(path) == str(tree / "b"):
            raise PermissionError(13, "Permission denied")
        return real(path, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(os, "stat", refuse)
    scan = roots.scan()
    assert (scan.unreadable, scan.skipped) == ({str(tree / "b"): "permission denied"}, {})
    assert (str(tree / "b/c.ndjson") in scan.files) is listed
    assert str(tree / "a.jsonl") in scan.files


def test_the_folders_to_watch_are_those_of_files_globs_and_everything_walked(tree: Path) -> None:
    roots = Roots([str(tree / "a.jsonl"), str(tree / "b" / "d" / "*.log")])
    roots.scan()
    assert {*roots.directories()} == {str(tree), str(tree / "b/d")}


def test_an_awaited_place_is_not_missing_and_is_read_when_it_comes(tmp_path: Path) -> None:
    place = tmp_path / "home" / ".agent" / "logs"
    roots = Roots([], awaited=[str(place)])
    assert roots.scan().missing == ()
    assert roots.directories() == (str(tmp_path),)
    (tmp_path / "home").mkdir()
    roots.scan()
    assert roots.directories() == (str(tmp_path / "home"),)
    place.mkdir(parents=True)
    (place / "a.jsonl").write_text("{}\n")
    assert [*roots.scan().files] == [str(place / "a.jsonl")]


def test_of_an_awaited_pattern_only_what_is_new_counts(tmp_path: Path) -> None:
    (tmp_path / "old.jsonl").write_text("{}\n")
    roots = Roots([], awaited=[str(tmp_path / "*.jsonl")])
    assert [*roots.scan().files] == []
    (tmp_path / "new.jsonl").write_text("{}\n")
    assert [*roots.scan().files] == [str(tmp_path / "new.jsonl")]


def test_of_folders_that_are_gone_nothing_is_kept(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.jsonl").touch()
    roots = Roots([str(tmp_path)])
    assert len([*roots.scan().files]) == 2
    shutil.rmtree(tmp_path / "one")
    assert [*roots.scan().files] == [str(tmp_path / "two" / "run.jsonl")]
    assert {*roots._folders} == {str(tmp_path), str(tmp_path / "two")}


@pytest.mark.parametrize("odd", ["log.jsonl", "\udcff \n\u202e.jsonl"])
@pytest.mark.parametrize("count", [discover._PACKED - 1, 200])
def test_a_folder_tells_the_same_paths_and_keeps_their_names_and_of_many_few_bytes_of_each(
    count: int, odd: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [str(tmp_path / f"{number:04d}-{odd}") for number in range(count)]
    for path in paths:
        Path(path).touch()
    monkeypatch.chdir(tmp_path)
    assert [*Roots([str(tmp_path)]).scan().files] == paths
    assert [*Roots(["."]).scan().files] == [f"./{Path(path).name}" for path in paths]
    roots = Roots([paths[7], str(tmp_path), f"{tmp_path}/"])
    assert sorted(roots.scan().files) == paths
    Path(paths[3]).unlink()
    assert sorted(roots.scan().files) == [*paths[:3], *paths[4:]]
    assert len(roots._folders[str(tmp_path)].listed) < (8 if count == 200 else 6 + len(odd)) * len(paths)


@pytest.mark.parametrize(
    "name", ["id_rsa.jsonl", "ID_ED25519.jsonl", "id_ecdsa.meta.json", "İd_rsa.jsonl", "ıd_dsa.jsonl"]
)
def test_a_log_that_is_called_like_a_key_is_never_opened(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("a key")
    (tmp_path / f"a-{name}").write_text("{}")
    scan = Roots([str(tmp_path)]).scan()
    assert [*scan.files] == [f"{tmp_path}/a-{name}"]
    assert scan.skipped == {f"{tmp_path}/{name}": "holds credentials: never opened"}


@needs_closed_folders
@pytest.mark.parametrize("name", ["logs", "logs/a.jsonl", "logs/*.jsonl", "logs/below/more"])
def test_an_argument_behind_a_closed_folder_is_not_missing(tmp_path: Path, name: str) -> None:
    home = tmp_path / "home"
    (home / "logs").mkdir(parents=True)
    home.chmod(0)
    script = "import sys; from delegtop.sources.discover import Roots; print(Roots(sys.argv[1:]).scan())"
    done = python("-c", script, str(home / name))
    home.chmod(0o700)
    assert f"unreadable={{'{home}': 'permission denied'}}, missing=()" in done.stdout


def test_a_link_that_leads_in_a_circle_is_broken_and_no_place_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "a.jsonl")
    scan = Roots([str(tmp_path)]).scan()
    assert (scan.skipped, scan.unreadable) == ({str(tmp_path / "a.jsonl"): "a broken link"}, {})
