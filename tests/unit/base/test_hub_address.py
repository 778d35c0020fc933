"""What an address of a hub means, and what is none: nothing of it may be an option, a key or another subject."""

import pytest

from delegtop.base.hub_address import HubAddress, HubAddressError, checked_hub_host, hub_address


def test_an_address_says_where_what_and_since_when() -> None:
    found = hub_address("nats://hub.example?since=30m&host=gpu*&credentials=/k.toml", "2h")
    assert found == HubAddress(("hub.example:4222",), False, "30m", "gpu*", "/k.toml")
    assert found.wants("gpu1")
    assert not found.wants("dev")
    assert hub_address("tls://a:1,[::1]:2", "2h") == HubAddress(("a:1", "[::1]:2"), True, "2h")


@pytest.mark.parametrize(
    "text",
    [
        *("nats://", "nats://a b", "nats://-oX", "nats://a:99999", "nats://a:0", "nats://a/path", "nats://a;b"),
        *("http://a", "nats://a?x=1", "nats://a?host=a.b", "nats://a?host=>", "nats://a\r\nPUB x"),
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(HubAddressError):
        hub_address(text)


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(HubAddressError, match="can be seen by every user") as refused:
        hub_address("nats://me:hunter2@hub:4222")
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("name", ["", "a.b", "*", ">", "a b", "a\n", "ä", "x" * 64])
def test_a_name_that_would_be_another_subject_is_no_name_of_a_host(name: str) -> None:
    with pytest.raises(HubAddressError):
        checked_hub_host(name)


@pytest.mark.parametrize(
    ("server", "here"), [("127.0.0.1", True), ("localhost", True), ("[::1]", True), ("hub", False)]
)
def test_only_this_machine_may_be_spoken_to_without_tls(server: str, here: bool) -> None:
    assert hub_address(f"nats://{server}").is_loopback is here
