"""The package as it is installed: its metadata, its formats, and everything that must be in the wheel."""

import importlib.util
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import yaml

import delegtop
from delegtop.cli import main
from delegtop.dialects import GROUP, Dialect

PROJECT = Path(__file__).parents[2]
PYPROJECT: dict[str, Any] = tomllib.loads((PROJECT / "pyproject.toml").read_text())
PACKAGE = Path(delegtop.__file__).parent


def test_the_installed_version_is_that_of_the_source() -> None:
    assert metadata.version("delegtop") == delegtop.__version__


def test_the_console_script_is_the_main_of_the_command_line() -> None:
    [script] = metadata.entry_points(group="console_scripts", name="delegtop")
    assert script.load() is main


def test_python_m_delegtop_is_the_same_program() -> None:
    told = subprocess.run([sys.executable, "-m", "delegtop", "--version"], capture_output=True, text=True, check=True)
    assert told.stdout == f"delegtop {delegtop.__version__}\n"


@pytest.mark.parametrize("name", ["session-log", "registry"])
def test_a_format_of_ours_is_registered_like_everybody_elses(name: str) -> None:
    [point] = metadata.entry_points(group=GROUP, name=name)
    dialect = point.load()
    assert issubclass(dialect, Dialect)
    assert dialect.name == name


def test_every_entry_point_of_the_project_file_is_installed() -> None:
    declared = PYPROJECT["project"]["entry-points"][GROUP]
    installed = {
        point.name: point.value for point in metadata.distribution("delegtop").entry_points.select(group=GROUP)
    }
    assert installed == declared
    assert all(isinstance(EntryPoint(name, value, GROUP).load(), type) for name, value in declared.items())


def test_the_package_says_that_it_is_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()


def test_it_asks_for_nothing_at_run_time_beyond_what_is_declared() -> None:
    required = [line for line in metadata.requires("delegtop") or [] if "extra ==" not in line]
    assert {line.split(">")[0].split("<")[0].split("[")[0] for line in required} == {
        "textual",
        "pydantic",
        "watchfiles",
        "msgspec",
        "backports-zstd",
        "psutil",
        "pyyaml",
    }


@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("build", "hatchling")),
    reason="build and hatchling are needed to build a wheel without the network",
)
def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(PROJECT)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    [wheel] = tmp_path.glob("delegtop-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
        licences = [name for name in archive.namelist() if name.endswith("LICENSE")]
    source = {
        str(path.relative_to(PACKAGE.parent))
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    shared = {name for name in packed if ".data/data/" in name}
    assert {name.partition(".data/data/")[2] for name in shared} == {
        "share/man/man1/delegtop.1",
        "share/bash-completion/completions/delegtop",
        "share/zsh/site-functions/_delegtop",
        "share/fish/vendor_completions.d/delegtop.fish",
    }
    assert packed - shared == source
    assert {"delegtop/py.typed", "delegtop/app/delegtop.tcss"} <= packed
    assert licences


def test_the_newest_entry_of_the_changelog_is_this_version_with_its_day() -> None:
    entries = [line for line in (PROJECT / "CHANGELOG.md").read_text("utf-8").splitlines() if line.startswith("## ")]
    assert re.fullmatch(rf"## {re.escape(delegtop.__version__)} – \d{{4}}-\d\d-\d\d", entries[0])
    assert all(re.fullmatch(r"## \d+\.\d+\.\d+ – \d{4}-\d\d-\d\d", entry) for entry in entries)


def test_the_workflow_tests_every_python_that_the_package_names() -> None:
    prefix = "Programming Language :: Python :: 3."
    named = {line.rpartition(" ")[2] for line in PYPROJECT["project"]["classifiers"] if line.startswith(prefix)}
    workflow = yaml.safe_load((PROJECT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    assert set(workflow["jobs"]["test"]["strategy"]["matrix"]["python"]) == named
