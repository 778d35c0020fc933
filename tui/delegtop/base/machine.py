"""Which place this is: what its machine is called, and a mark by which one user's home on it is known again.

The mark tells nobody anything: it is a hash of things that stay at home. Machines that were cloned have one mark, so
the name is compared as well.
"""

import os
from functools import cache
from pathlib import Path

_IDS = ("/etc/machine-id", "/var/lib/dbus/machine-id")
_LONGEST = 60
"""Characters of a host's name that are kept of what a recording says."""
_MANY = 500
"""Places that are told apart; what is beyond goes by one name."""
_REST = "other hosts"
_places: dict[tuple[str, str], str] = {}


def name() -> str:
    return os.uname().nodename


def mark() -> str:
    """By what this user's home on this machine is known."""
    return _mark(os.getuid(), str(Path.home()))


@cache
def _mark(user: int, home: str) -> str:
    from hashlib import blake2b  # who meets no recording needs none

    told = next((text for path in _IDS if (text := _text(path))), name())
    return blake2b(f"{told}\0{user}\0{home}".encode(), digest_size=8, person=b"delegtop").hexdigest()


def _text(path: str) -> str:
    try:
        return Path(path).read_text("ascii", "replace").strip()
    except OSError:
        return ""


def called(host: str, mark_: str) -> str:
    """What the host of that name and mark is called here: nothing if it is this place, or says no mark; its name, else
    with a number behind it where another place has that name already."""
    if not mark_ or (host, mark_) == (name(), mark()):
        return ""
    if (host, mark_) not in _places:
        if len(_places) >= _MANY:
            return _REST
        _places[host, mark_] = _unlike(plain(host) or mark_[:6], set(_places.values()))
    return _places[host, mark_]


def plain(host: str) -> str:
    """A name that somebody else gave a host, fit to be one."""
    return "".join(each if each.isprintable() and not each.isspace() else "�" for each in host[:_LONGEST])


def _unlike(name: str, taken: set[str]) -> str:
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}~{number}"
    return found
