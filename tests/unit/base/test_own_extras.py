"""What is missing is told as it can be typed, and no name on an index unless it came from there."""

import json
import shlex
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from delegtop.base import own_extras
from delegtop.base.own_extras import what_to_type


class Installed(metadata.PathDistribution):
    """As it is written down beside an installed package."""

    def __init__(self, origin: object, by: str = "pip") -> None:
        super().__init__(Path("/nowhere"))
        self._origin, self._by = origin, by

    def read_text(self, filename: Any) -> str | None:
        if filename == "METADATA":
            return (
                "Name: delegtop\nRequires-Dist: msgspec<1\nRequires-Dist: nats-py<3; extra == 'nats'\n"
                'Requires-Dist: nkeys; python_version > "3" and extra == "nats"\nRequires-Dist: mcp; extra == "mcp"\n'
            )
        if filename == "INSTALLER":
            return self._by or None
        if filename != "direct_url.json" or self._origin is None:
            return None
        return self._origin if isinstance(self._origin, str) else json.dumps(self._origin)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "the sources"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("")
    return folder


def wanted(monkeypatch: pytest.MonkeyPatch, origin: object, by: str = "pip") -> list[str]:
    """What is to be installed, of one that came from there."""
    monkeypatch.setattr(own_extras, "distribution", lambda _name: Installed(origin, by))
    words = shlex.split(what_to_type("nats"))
    return words[words.index("install") + 1 :]


def test_from_a_folder(monkeypatch: pytest.MonkeyPatch, sources: Path) -> None:
    origin: dict[str, Any] = {"url": sources.as_uri(), "dir_info": {}}
    assert wanted(monkeypatch, origin) == [f"{sources}[nats]"]
    assert wanted(monkeypatch, origin | {"dir_info": {"editable": True}}) == ["-e", f"{sources}[nats]"]


def test_from_a_wheel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wheel = tmp_path / "delegtop-0.2.0-py3-none-any.whl"
    wheel.touch()
    assert wanted(monkeypatch, {"url": wheel.as_uri(), "archive_info": {}}) == [f"{wheel}[nats]"]
    far = "https://files.example/delegtop-0.2.0-py3-none-any.whl"
    assert wanted(monkeypatch, {"url": far, "archive_info": {}}) == [f"delegtop[nats] @ {far}"]


def test_from_a_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    origin = {"url": "https://git.example/delegtop", "vcs_info": {"vcs": "git", "commit_id": "0badcafe"}}
    assert wanted(monkeypatch, origin) == ["delegtop[nats] @ git+https://git.example/delegtop@0badcafe"]


def test_from_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    assert wanted(monkeypatch, None) == wanted(monkeypatch, None, "uv\n") == ["delegtop[nats]"]


@pytest.mark.parametrize("by", ["", "debian", "conda"])
def test_from_the_packages_of_a_system(monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    assert wanted(monkeypatch, None, by) == ["nats-py<3", "nkeys"]


@pytest.mark.parametrize(
    "origin",
    [
        {"url": "file:///gone/delegtop", "dir_info": {"editable": True}},
        {"url": "file:///gone/delegtop.whl", "archive_info": {}},
        {"url": 7},
        "no JSON",
    ],
)
def test_where_that_is_gone_the_packages_are_named_and_not_delegtop(
    monkeypatch: pytest.MonkeyPatch, origin: object
) -> None:
    assert wanted(monkeypatch, origin) == ["nats-py<3", "nkeys"]


def test_sources_that_nobody_installed_name_their_folder(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    def none(_name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(own_extras, "distribution", none)
    assert shlex.split(what_to_type("mcp"))[-2:] == ["-e", f"{project}[mcp]"]


def test_where_there_is_no_pip_uv_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_extras, "find_spec", lambda _name: None)
    assert what_to_type("mcp").startswith("uv pip install --python ")
