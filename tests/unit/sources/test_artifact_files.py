"""The files a delegation says it made are looked for where its project may be, and nowhere else."""

import os
from pathlib import Path

import pytest

from delegtop.sources.artifact_files import LogPlace, Presence, existence, look, reader


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project" / "claudedocs" / "agent-outputs"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("\ufeffwhat was found", encoding="utf-8")
    (tmp_path / "secret").write_text("not for you")
    return tmp_path / "project"


def test_a_file_is_found_from_the_root_and_beside_the_log(project: Path) -> None:
    folder = project / "claudedocs" / "agent-outputs"
    assert look(["claudedocs/agent-outputs/a.md"], [project])["claudedocs/agent-outputs/a.md"] is Presence.THERE
    assert look(["a.md"], [folder])["a.md"] is Presence.THERE


def test_a_log_in_the_folder_that_a_path_names_shows_where_the_project_is(project: Path) -> None:
    read = reader([project / "claudedocs" / "agent-outputs"])
    there = (str(project / "claudedocs" / "agent-outputs" / "a.md"), "what was found")
    assert read("claudedocs/agent-outputs/a.md") == there
    assert read("agent-outputs/a.md") == there
    assert read("other/agent-outputs/a.md") is None


@pytest.mark.parametrize(
    "path", ["../secret", "{root}/../secret", "link", "claudedocs/../../secret", "", "a\0b", "x" * 5_000]
)
def test_nothing_outside_of_the_project_is_read(project: Path, path: str) -> None:
    (project / "link").symlink_to(project.parent / "secret")
    assert reader([project])(path.replace("{root}", str(project))) is None
    assert look([path], [project])[path] is not Presence.THERE


def test_a_pipe_and_a_folder_are_not_read(project: Path) -> None:
    os.mkfifo(project / "pipe")
    read = reader([project])
    assert read("pipe") is None
    assert read("claudedocs") is None


def test_a_file_is_missing_whose_own_folder_is_there(tmp_path: Path) -> None:
    (tmp_path / ".opencode/specs/195_x/reports").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    report, page = ".opencode/specs/195_x/reports/report-001.md", "docs/page.md"
    exists = existence([report, page, "gone/reports/a.md"], [tmp_path])
    assert exists(report) is False
    assert exists(page) is None, "every project has such a folder"
    assert exists("gone/reports/a.md") is None


@pytest.mark.parametrize(
    ("mark", "log", "path", "is_missing"),
    [
        (".git", "", "specs/195_x/reports/a.md", True),
        ("specs", "", "docs/a.md", True),
        (".git", "tests/logs", "specs/195_x/reports/a.md", False),
        ("specs", "tests/logs", "specs/195_x/reports/a.md", True),
        ("specs", "tests/logs", "docs/a.md", False),
        (".system", ".system/logs", ".system/specs/a.md", True),
    ],
)
def test_a_log_in_the_root_of_its_project_or_below_its_folders_shows_what_is_missing(
    mark: str, log: str, path: str, is_missing: bool, tmp_path: Path
) -> None:
    """Below the root only what begins with a marked folder: a project may keep logs of another one."""
    (tmp_path / mark).mkdir()
    (tmp_path / log).mkdir(parents=True, exist_ok=True)
    place = LogPlace(tmp_path / log, (".system", "specs"))
    assert existence([path], [tmp_path / log], log=place)(path) is (False if is_missing else None)
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).touch()
    assert existence([path], [tmp_path / log], log=place)(path) is not False


def test_where_nothing_is_found_nothing_is_called_missing_unless_the_project_is_known(project: Path) -> None:
    assert existence(["gone.md"], [project])("gone.md") is None
    assert existence(["gone.md"], [project], sure=True)("gone.md") is False
    assert existence(["gone.md", "claudedocs/agent-outputs/a.md"], [project])("gone.md") is False
