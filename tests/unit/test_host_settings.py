"""Which hosts are known and how they are named: only by the user's own settings, and each once."""

from pathlib import Path

import pytest

from delegtop.base.hub_address import HubAddress
from delegtop.base.own_extras import what_to_type
from delegtop.base.ssh_command import SshAddress
from delegtop.cli import main
from delegtop.observation.source_discovery import OpenError, places
from delegtop.settings import ConfigError, Settings, load

HOSTS = """
since = "1h"
[[hosts]]
ssh = "me@devbox"
name = "dev"
since = "30m"
command = "uvx delegtop"
lines = "all"
[[hosts]]
ssh = "gpu1"
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    path = tmp_path / "config.toml"
    path.write_text(HOSTS)
    return load(path).settings


DEV = SshAddress("me@devbox", "dev", ("uvx", "delegtop"), "30m", "all")
GPU = SshAddress("gpu1", "gpu1", since="3600s")


def test_the_hosts_of_the_settings_are_looked_at_with_this_machine(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    found = places([], settings, hosts=True, start=tmp_path)
    assert found.hosts == (DEV, GPU)
    assert not found.named


def test_a_host_that_is_named_is_that_of_the_settings_and_comes_once(settings: Settings) -> None:
    found = places(["ssh://dev", "ssh://other", "ssh://dev/", "run.jsonl"], settings, since="2h")
    assert found.hosts == (DEV._replace(since="2h"), SshAddress("other", "other", since="2h"))
    assert (found.sources, found.named) == (["run.jsonl"], True)


def test_a_host_alone_leaves_this_machine_out(settings: Settings) -> None:
    found = places(["ssh://gpu1"], settings)
    assert (found.sources, found.named, found.hosts) == ([], True, (GPU,))


@pytest.mark.parametrize("name", ["ssh://-oProxyCommand=x", "ssh://", "ssh://a b", "ssh://host/path"])
def test_what_is_no_host_is_a_usage_error(name: str, settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(OpenError, match="is no name of a host"):
        places([name], settings)
    assert main(["tree", name]) == 2
    assert "is no name of a host" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('hosts = "devbox"', "hosts: 'devbox' will not do: it should be tables: [[hosts]]"),
        ("[[hosts]]\nname = 'x'", "hosts.ssh: {'name': 'x'} will not do: it should say how ssh reaches it"),
        ("[[hosts]]\nssh = '-oProxyCommand=x'", "hosts.ssh: '-oProxyCommand=x' will not do: "),
        ("[[hosts]]\nssh = 'a'\nname = 'a b'", "hosts.name: 'a b' will not do: "),
        ("[[hosts]]\nssh = 'a'\nsince = 'soon'", "hosts.since: 'soon' will not do: it must be a time"),
        (
            "[[hosts]]\nssh = 'a'\nlines = 'some'",
            "hosts.lines: 'some' will not do: it should be 'never', ",
        ),
        ("[[hosts]]\nssh = 'a'\ncommand = 'x; y'", "hosts.command: 'x; y' will not do: it may have words of letters"),
        (
            "[[hosts]]\nssh = 'a'\nport = 22",
            "hosts.port: 'port' will not do: a host has ssh, name, ",
        ),
        (
            "[[hosts]]\nssh = 'a'\n[[hosts]]\nssh = 'b'\nname = 'a'",
            "hosts.name: 'a' will not do: another host",
        ),
    ],
)
def test_a_host_that_is_wrong_is_named_with_file_and_key(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text + "\n")
    with pytest.raises(ConfigError) as error:
        load(path)
    assert words in str(error.value)
    assert str(path) in str(error.value)


def test_neither_a_project_nor_the_environment_makes_anybody_connect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "delegtop.toml").write_text("[[hosts]]\nssh = 'evil'\n")
    with pytest.raises(ConfigError, match="a project may not set this"):
        load()
    (tmp_path / "delegtop.toml").unlink()
    monkeypatch.setenv("DELEGTOP_HOSTS", "evil")
    with pytest.raises(ConfigError, match="DELEGTOP_HOSTS"):
        load()


def test_the_settings_are_shown_as_they_can_be_written(settings: Settings, tmp_path: Path) -> None:
    from delegtop.settings import toml

    path = tmp_path / "again.toml"
    path.write_text(toml("hosts", settings.hosts) + "\n")
    assert load(path).settings.hosts == settings.hosts


def test_without_hosts_it_is_said_where_they_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hosts"]) == 0
    assert "write [[hosts]] into your settings" in capsys.readouterr().err


def test_other_hosts_are_not_replayed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("delegtop.cli.replay.require_terminal", lambda _instead: None)
    monkeypatch.setattr("delegtop.cli.replay.free_the_keyboard", lambda _reads: None)
    assert main(["replay", "ssh://gpu1"]) == 2
    assert "a recording of them can be replayed" in capsys.readouterr().err


HUB = '[[hosts]]\nnats = "tls://hub:4222?host=gpu*"\nname = "lab"\nsince = "30m"\ncredentials = "/k.toml"\n'


def test_a_hub_of_the_settings_is_known_by_its_name_and_what_is_asked_for_goes_first(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(HUB)
    settings = load(path).settings
    lab = HubAddress(("hub:4222",), True, "30m", "gpu*", "/k.toml", "lab")
    assert places(["ssh://lab"], settings).hosts == (lab,)
    assert places(["ssh://lab"], settings, since="1h").hosts == (lab._replace(since="1h"),)
    assert places(["nats://other?since=5m"], settings).hosts == (HubAddress(("other:4222",), since="5m"),)


@pytest.mark.parametrize(
    "text",
    [
        '[[hosts]]\nnats = "tls://me:secret@hub"',
        '[[hosts]]\nnats = "hub"',
        '[[hosts]]\nnats = "tls://hub"\nssh = "hub"',
        '[[hosts]]\nnats = "tls://hub"\nlines = "all"',
        '[[hosts]]\nname = "hub"',
    ],
)
def test_a_hub_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ConfigError):
        load(path)


def test_a_project_cannot_name_a_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "delegtop.toml").write_text(HUB)
    with pytest.raises(ConfigError, match="a project may not set this"):
        load(environ={"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)})


@pytest.mark.parametrize(
    "command", [["tree", "nats://127.0.0.1"], ["ship", "--to", "nats://127.0.0.1"], ["hub"], ["hosts", "nats://h"]]
)
def test_without_the_extra_a_sentence_says_what_to_install(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("delegtop.cli.hub_extra.find_spec", lambda _name: None)
    assert main(command) == 2
    assert what_to_type("nats") in capsys.readouterr().err
