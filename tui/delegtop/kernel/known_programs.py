"""What is known of programs by their names and options: those that never end by themselves, those that talk to a
person at a terminal, and how long those take that say so."""

import re
from collections.abc import Sequence

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_SPAN = re.compile(r"(\d+(?:\.\d*)?|\.\d+)([smhd]?)")
_FOLLOWS = frozenset({"tail", "journalctl", "dmesg", "stern"})
"""Not `docker logs` and its like: these end with the container."""
_UNTIL_SOMETHING = ("--chgexit", "--errexit", "--equexit")
_WITH_A_VALUE = ("-n", "--interval")
_EDITORS = frozenset(
    {"vi", "vim", "nvim", "view", "vimdiff", "nano", "pico", "emacs", "ed", "ex", "micro", "helix", "joe"}
)
_PAGERS = frozenset({"less", "more", "most", "pg"})
_ASK = frozenset(
    {
        "ssh",
        "scp",
        "sftp",
        "sudo",
        "su",
        "passwd",
        "doas",
        "gpg",
        "gpg2",
        "gpg-agent",
        "ssh-add",
        "ssh-askpass",
        "kinit",
    }
)
_BECOMES_ANOTHER = frozenset({"sudo", "su", "doas", "passwd", "pkexec", "chsh"})
"""Programs that run as another user, and ask the own one for a password."""
_ASK_PREFIXES = ("pinentry", "git-credential", "git-remote-http")
_FOREVER = frozenset({"inf", "infinity"})


def sleeps_for(command: Sequence[str]) -> float | None:
    """How many seconds a `sleep` takes, for ever included; None if it is none."""
    if not command or command[0].rpartition("/")[2] != "sleep" or len(command) < 2:
        return None
    total = 0.0
    for word in command[1:]:
        if word in _FOREVER:
            return float("inf")
        span = _SPAN.fullmatch(word)
        if span is None:
            return None
        total += float(span[1]) * _UNITS[span[2] or "s"]
    return total


def never_ends(command: Sequence[str]) -> str:
    """Why a command does not end by itself; nothing if it may."""
    if not command:
        return ""
    name, options = command[0].rpartition("/")[2], command[1:]
    if sleeps_for(command) == float("inf"):
        return "sleeps for ever"
    follows = any(re.fullmatch(r"-[a-zA-Z0-9]*[fF][0-9]*|--follow(=.*)?", word) for word in options)
    if any(word.startswith("--pid") for word in options):
        return ""  # until somebody else ends
    if name in _FOLLOWS and follows:
        followed = next((word for word in reversed(options) if not word.startswith("-")), "")
        return f"follows {followed or 'its input'} and never ends by itself"
    return "repeats its command for ever" if repeats(command) else ""


def repeats(command: Sequence[str]) -> bool:
    """Whether it is a `watch` that no change and no failure of its command ends."""
    if not command or command[0].rpartition("/")[2] != "watch":
        return False
    words = iter(command[1:])
    for word in words:
        if not word.startswith("-"):
            return True
        if word.startswith(_UNTIL_SOMETHING) or re.fullmatch(r"-[a-zA-Z]*[geq][a-zA-Z0-9]*", word):
            return False
        if word in _WITH_A_VALUE:
            next(words, "")
    return True


def talks_to_a_person(name: str) -> str:
    """What a program is that waits for somebody at a terminal; nothing if it is none of those."""
    name = name.lower()
    if name in _EDITORS:
        return "the editor"
    if name in _PAGERS:
        return "the pager"
    return "the prompt of" if name in _ASK or name.startswith(_ASK_PREFIXES) else ""


def asks_for_a_password(name: str) -> bool:
    """Whether a program that has become another user asks before it does anything."""
    return name in _BECOMES_ANOTHER
