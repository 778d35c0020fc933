"""Where a hub is: the address of NATS servers, and what is looked at there.

A key never stands in it: whatever is typed can be seen by every user of the machine.
"""

from typing import NamedTuple

from delegtop.base.lazy_pattern import lazy_pattern

SCHEMES = ("nats://", "tls://")
PORT = 4222
_SERVER = lazy_pattern(r"(\[[0-9A-Fa-f:.]{2,45}\]|(?!-)[A-Za-z0-9._-]{1,253})(?::(\d{1,5}))?")
_HOST = lazy_pattern(r"[A-Za-z0-9_-]{1,63}")
_PATTERN = lazy_pattern(r"[A-Za-z0-9_*?-]{1,63}")
_ASKED = ("since", "host", "credentials")
_LOOPBACK = ("localhost", "127.", "[::1]")


class HubAddressError(ValueError):
    """It is no address of a hub; the message says why."""


class HubAddress(NamedTuple):
    """One hub, or one cluster of servers."""

    servers: tuple[str, ...]
    """Each as `name:port`."""
    with_tls: bool = False
    """Whether the address itself asks for it; a key may, too."""
    since: str = "2h"
    host: str = "*"
    """Which of its hosts: a name, or a pattern of names."""
    credentials: str = ""
    """The file of the key; empty for the one that `delegtop hub join` keeps."""
    label: str = ""
    """What it is called in the user's settings."""

    @property
    def name(self) -> str:
        return self.label or self.servers[0]

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine."""
        return all(server.startswith(_LOOPBACK) for server in self.servers)

    def wants(self, host: str) -> bool:
        from fnmatch import fnmatchcase  # as below

        return fnmatchcase(host, self.host)


def is_hub(source: str) -> bool:
    """Whether a source is meant for a hub."""
    return source.startswith(SCHEMES)


def hub_address(text: str, since: str = "2h") -> HubAddress:
    """What an address means: `nats://hub:4222?since=2h&host=gpu*`; the servers of a cluster have commas between."""
    from urllib.parse import parse_qsl  # few name a hub

    scheme = next((each for each in SCHEMES if text.startswith(each)), None)
    place, _, asked = text.removeprefix(scheme or "").partition("?")
    if scheme is None:
        raise HubAddressError(f"{_shown(text)!r} is no address of a hub; write it like nats://hub.example:{PORT}")
    if "@" in place:
        raise HubAddressError(
            "a name or a password in the address of a hub can be seen by every user of this machine; put it into a "
            "file (docs/nats.md)"
        )
    servers = tuple(_server(each) for each in place.rstrip("/").split(","))
    wanted = dict(parse_qsl(asked, keep_blank_values=True))
    for key in wanted:
        if key not in _ASKED:
            raise HubAddressError(f"{_shown(key)!r}: an address of a hub takes {', '.join(_ASKED)}")
    host = wanted.get("host", "*")
    if not _PATTERN.fullmatch(host):
        raise HubAddressError(f"host={_shown(host)}: letters, digits, _ and - make a name, * and ? a pattern of names")
    return HubAddress(servers, scheme == "tls://", wanted.get("since") or since, host, wanted.get("credentials", ""))


def checked_hub_host(name: str) -> str:
    """The name of a host at a hub, if it is one: it is a part of subjects, and rights go by it."""
    if not _HOST.fullmatch(name):
        raise HubAddressError(f"{_shown(name)!r} is no name of a host at a hub: letters, digits, _ and - make one")
    return name


def _server(text: str) -> str:
    found = _SERVER.fullmatch(text)
    if found is None or not 0 < int(found[2] or PORT) < 65_536:
        raise HubAddressError(f"{_shown(text)!r} is no server; write it like hub.example:{PORT}")
    return f"{found[1]}:{found[2] or PORT}"


def _shown(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode()[:60]
