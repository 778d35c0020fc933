"""The file of a key, the line it is given as, and who is trusted with it."""

from pathlib import Path

import pytest

from delegtop.base.hub_address import hub_address
from delegtop.hub.hub_key import HubKey, HubKeyError, accepted, invitation, keep, key_for, read_key

KEY = HubKey(address="tls://hub:4222", name="gpu1", can="ship", seed="SUAXX", certificate="TUlJ", keep="3d")


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def test_a_key_goes_through_a_line_into_a_file_that_nobody_else_can_read() -> None:
    line = invitation(KEY)
    assert "\n" not in line
    path = keep(accepted(line + "\n"))
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert key_for(hub_address("nats://hub"), "ship") == KEY


def test_a_file_that_others_can_read_is_refused() -> None:
    path = keep(KEY)
    path.chmod(0o640)
    with pytest.raises(HubKeyError, match="others can read"):
        read_key(path)


@pytest.mark.parametrize(
    "text", ["seed = [", "sead = 'x'", "name = 'a.b'", "can = 'all'", "stream = 'A.>'", "certificate = '§'", "seed = 1"]
)
def test_a_file_that_is_no_key_is_refused_without_its_values(text: str, tmp_path: Path) -> None:
    path = tmp_path / "k.toml"
    path.write_text(f"password = 'hunter2'\n{text}\n")
    path.chmod(0o600)
    with pytest.raises(HubKeyError) as refused:
        read_key(path)
    assert "hunter2" not in str(refused.value)


def test_without_a_key_another_machine_is_not_asked_and_what_to_do_is_said() -> None:
    with pytest.raises(HubKeyError, match="delegtop hub invite NAME --view"):
        key_for(hub_address("nats://hub"), "view")
    assert key_for(hub_address("nats://127.0.0.1"), "view") == HubKey()


def test_another_machine_is_not_spoken_to_without_tls(tmp_path: Path) -> None:
    path = tmp_path / "k.toml"
    path.write_text("user = 'me'\npassword = 'x'\n")
    path.chmod(0o600)
    with pytest.raises(HubKeyError, match="without TLS"):
        key_for(hub_address(f"nats://hub?credentials={path}"), "view")
    assert key_for(hub_address(f"tls://hub?credentials={path}"), "view").user == "me"
    path.write_text("user = 'me'\nallow_plain = true\n")
    assert key_for(hub_address(f"nats://hub?credentials={path}"), "view").allow_plain
