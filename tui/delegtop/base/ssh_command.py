"""What ssh is asked to do: to start the `delegtop` of another machine, with arguments that are all our own.

Nothing that a log or another host says is ever part of it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from delegtop.base.lazy_pattern import lazy_pattern

SCHEME = "ssh://"
BEAT = 5
"""Seconds between two beats that are asked for."""
MISSING = 127
"""The exit code of a shell that finds no such program."""
_HOST = lazy_pattern(r"(?!-)[A-Za-z0-9._@:%-]{1,255}")
_PORT = lazy_pattern(r"([^:]+):(\d{1,5})")
_WORD = lazy_pattern(r"[A-Za-z0-9_./@:+=,~-]{1,255}")
_OPTIONS = {
    "BatchMode": "yes",
    "ConnectTimeout": "10",
    "ServerAliveInterval": "5",
    "ServerAliveCountMax": "3",
    "ClearAllForwardings": "yes",
    "RemoteCommand": "none",  # one that is configured for people
    "LogLevel": "INFO",  # why it fails is told in its words
}
_PATH = "$HOME/.local/bin:$HOME/bin:/opt/homebrew/bin:/usr/local/bin:$PATH"
"""Where people install it; the path of a bare command has none of these."""


class HostNameError(ValueError):
    """It is no name of a host; the message says why."""


class SshAddress(NamedTuple):
    """A host as ssh knows it, and how delegtop is started there."""

    destination: str
    """As in the user's ssh configuration: `devbox`, `me@devbox`, `me@devbox:2222`."""
    name: str
    """What it is called here."""
    command: tuple[str, ...] = ("delegtop",)
    since: str = "2h"
    lines: str = "ask"
    """Whether lines of logs leave it: `never`, `ask` (one by one, when somebody looks) or `all`."""

    @property
    def target(self) -> tuple[str, ...]:
        """The host for ssh, with its port; nothing in it can be an option."""
        with_port = _PORT.fullmatch(self.destination)
        return ("-p", with_port[2], "--", with_port[1]) if with_port else ("--", self.destination)

    @property
    def shell_target(self) -> str:
        """The same for somebody who types it."""
        with_port = _PORT.fullmatch(self.destination)
        return f"{SCHEME}{self.destination}" if with_port else self.destination

    def stream(self) -> list[str]:
        """The command that tells what happens there."""
        lines = () if self.lines == "all" else ("--no-lines",)
        asked = ("record", "-o", "-", "--heartbeat", str(BEAT), *lines, "--mask", "--since", self.since)
        return self._ssh(asked)

    def version(self) -> list[str]:
        """The command that tells which version is there."""
        return self._ssh(("--version",))

    def _ssh(self, arguments: Sequence[str]) -> list[str]:
        options = [part for name, value in _OPTIONS.items() for part in ("-o", f"{name}={value}")]
        return ["ssh", "-C", "-T", *options, *self.target, self._wrapper(arguments)]

    def _wrapper(self, arguments: Sequence[str]) -> str:
        """One argument that any login shell understands: it begins a plain one, which finds the program."""
        first, words = self.command[0], " ".join(self.command)
        script = f'PATH="{_PATH}"; command -v {first} >/dev/null 2>&1 && exec {words} "$@"; exit {MISSING}'
        return " ".join(("sh", "-c", f"'{script}'", "sh", *arguments))


def checked_host(name: str) -> str:
    """The name of a host, if it is one."""
    if not _HOST.fullmatch(name):
        shown = name.encode("ascii", "backslashreplace").decode()[:60]
        raise HostNameError(
            f"{shown!r} is no name of a host: letters, digits and ._@:%- make one, and it begins with no -"
        )
    return name


def checked_command(words: Sequence[str]) -> tuple[str, ...]:
    """What starts delegtop there, if no shell can make anything else of it."""
    if not words or not all(_WORD.fullmatch(word) for word in words) or words[0].startswith("-"):
        raise HostNameError("it may have words of letters, digits and _./@:+=,~- only")
    return tuple(words)
