"""Redaction: what a person can be known by, and what opens doors, taken out of everything that is sent away.

First all of it is learnt from: whose home folders are named, which hosts, which secrets. Then each is replaced,
wherever it stands, by a stand-in that is the same for the same thing, so that what belongs together still does.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
from msgspec.structs import astuple, replace

from delegtop.base.secrets import MASKED, hide
from delegtop.dialects.products import products
from delegtop.model.events import Started
from delegtop.report.incident.incident_report import Incident

_HOME = re.compile(
    r"((?:(?<![\w.~-])|(?<=\\[nrt]))(?:(?:/var)?/home/|(?:/mnt/[a-z])?/Users/|[\\/]{1,2}Users\\{1,2}))"
    r"(\w(?:[\w.+-]{0,62}\w)?)"
)
_FOLDED = re.compile(r"(?:^|[/\\])-(?:home|Users)-(\w{1,64})")
"""A folder whose name is a path with dashes, as Claude Code names those of its projects."""
_MAIL = re.compile(
    r"(?<![\w.+\]-])(?!git@|no-session-id@)[^\W_][\w.+-]{0,63}@(?!masked\.invalid)(?:[^\W_][\w-]{0,62}\.){1,8}[^\W\d_]{2,24}"
)
_TAKEN = re.compile(r"(?:user|host)-\d+")
_BEFORE, _AFTER = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))", r"(?![A-Za-z0-9])"
_PLAIN = frozenset(
    (
        *("root", "user", "users", "ubuntu", "debian", "fedora", "admin", "administrator", "runner"),
        *("node", "app", "dev", "test", "tester", "shared", "public", "guest", "home"),
        *("work", "workspace", "vscode", "codespace", "git", "ec2-user", "azureuser", "jovyan", "linuxbrew"),
        *("default", "nobody", "www", "agent", "agents", "localhost", "raspberrypi", "archlinux"),
    )
)
"""Names that many machines have and that tell of nobody; so do the names of agent programs."""
SHORTEST = 3
"""A shorter name is also a part of words and codes, and is replaced only where it is surely a name."""
_TELLING = re.compile(r"(?=.*[^A-Za-z]).{6,200}", re.DOTALL)
"""A secret that is no word: it is replaced wherever it stands, also without what gave it away."""
_SHAPED = frozenset({"key", "private key"})
"""Secrets known by their own shape, which no session id has."""
MOST = 500
_MACHINE = "pid_domain"
"""The foreign id that names a machine."""
Refs = tuple[tuple[str, str], ...]

T = TypeVar("T")


class Redactor:
    """`learn` from everything first; then `redact`, or ask for a `text`."""

    def __init__(self, users: Iterable[str] = (), hosts: Iterable[str] = (), ids: Collection[str] = ()) -> None:
        self._plain = _PLAIN.union(*(product.words for product in products()))
        self._ids = ids
        """These stay: they are what everything is joined by."""
        self._names: dict[str, tuple[str, str]] = {}
        """The names to replace, in small letters: what kind each is, and its stand-in."""
        self._secrets: dict[str, str] = {}
        """Those that are replaced wherever they stand, with their kind."""
        self._numbers: dict[str, dict[str, int]] = {}
        self._seen: set[str] = set()
        self._clean: set[str] = set()
        self._known: re.Pattern[str] | None = None
        self._times: Counter[str] = Counter()
        for name in users:
            self._name("user", name)
        for name in hosts:
            self._name("host", name)

    def learn(self, value: object) -> None:
        """Take note of the names and secrets in a text, or in all texts of an event."""
        told_by = getattr(getattr(value, "origin", None), "host", "")
        for name in filter(None, (told_by, value.host if isinstance(value, Started) else "")):
            self._name("host", name)
        _each(value, self._learn)

    def redact(self, value: T) -> T:
        """The same text or event, every text in it redacted."""
        if isinstance(value, Started):
            value = replace(value, host=self._host(value.host), refs=self._refs(value.refs))
        redacted: T = _each(value, self.text)
        return redacted

    def text(self, text: str) -> str:
        if text in self._clean:
            return text
        if self._known is None:
            self._known = self._pattern()
        shown = hide(text, self._masked)
        if "@" in shown:
            shown = _MAIL.sub(self._mail, shown)
        shown = self._known.sub(self._replace, _HOME.sub(self._home, shown))
        if shown == text:
            self._clean.add(text)
        return shown

    def line(self, data: bytes) -> bytes:
        """A line of a log. Characters that JSON spells in numbers are spelled out first, so that names are seen."""
        text = data.decode("utf-8", "replace")
        with suppress(ValueError, RecursionError):
            text = json.dumps(json.loads(text), ensure_ascii=False)
        return self.text(text).encode("utf-8", "replace")

    def masked(self) -> dict[str, int]:
        """How often something of each kind was masked; never what it was."""
        return dict(sorted(self._times.items()))

    # -- what is known ---------------------------------------------------------------------------------------------

    def _learn(self, text: str) -> str:
        if text not in self._seen:
            self._seen.add(text)
            for found in _HOME.finditer(text):
                self._name("user", found[2])
            for found in _FOLDED.finditer(text):
                self._name("user", found[1])
            hide(text, self._remember)
        return text

    def _remember(self, kind: str, secret: str) -> str:
        if len(self._secrets) < MOST and not self._is_id(kind, secret) and _TELLING.fullmatch(secret):
            self._secrets.setdefault(secret, kind)
        return MASKED

    def _is_id(self, kind: str, secret: str) -> bool:
        return kind not in _SHAPED and secret in self._ids

    def _name(self, kind: str, name: str) -> None:
        known = name.lower()
        if known in self._plain or known in self._names or _TAKEN.fullmatch(known) or not known.strip("._- "):
            return
        self._names[known] = kind, f"{kind}-{self._number(kind, known)}"
        self._known = None

    def _number(self, kind: str, value: str) -> int:
        numbers = self._numbers.setdefault(kind, {})
        return numbers.setdefault(value, len(numbers) + 1)

    def _pattern(self) -> re.Pattern[str]:
        secrets = sorted(map(re.escape, self._secrets), key=len, reverse=True)
        names = sorted((re.escape(name) for name in self._names if len(name) >= SHORTEST), key=len, reverse=True)
        found = [*secrets, *([f"(?i:{_BEFORE}(?:{'|'.join(names)}){_AFTER})"] if names else [])]
        return re.compile("|".join(found) or r"(?!)")

    # -- what stands in its place ----------------------------------------------------------------------------------

    def _count(self, kind: str, stand_in: str) -> str:
        self._times[kind] += 1
        return stand_in

    def _masked(self, kind: str, secret: str) -> str:
        if self._is_id(kind, secret):
            return secret
        return self._count(kind, f"{MASKED}-{self._number('secret', secret)}")

    def _mail(self, found: re.Match[str]) -> str:
        return self._count("mail", f"mail-{self._number('mail', found[0].lower())}@masked.invalid")

    def _home(self, found: re.Match[str]) -> str:
        self._name("user", found[2])
        name = self._names.get(found[2].lower())
        return found[1] + self._count("home path", name[1]) if name else found[0]

    def _host(self, host: str | None) -> str | None:
        name = self._names.get(host.lower()) if host else None
        return self._count("host name", name[1]) if name else host

    def _refs(self, refs: Refs) -> Refs:
        return tuple((name, self._count("machine", MASKED) if name == _MACHINE else value) for name, value in refs)

    def _replace(self, found: re.Match[str]) -> str:
        secret = self._secrets.get(found[0])
        if secret is not None:
            return self._masked(secret, found[0])
        kind, stand_in = self._names[found[0].lower()]
        return self._count(f"{kind} name", stand_in)


def without_lines(incident: Incident, instead: str) -> Incident:
    """The incident with what the lines say left out; where they stand is still told."""
    return replace(
        incident,
        troubles=[
            replace(trouble, evidence=[replace(each, text=instead, cut=False) for each in trouble.evidence])
            for trouble in incident.troubles
        ],
    )


def _each(value: Any, change: Callable[[str], str]) -> Any:
    """The value with every text in it changed; the words of an enumeration are no text."""
    if type(value) is str:
        return change(value)
    if isinstance(value, tuple):
        return tuple(_each(item, change) for item in value)
    if isinstance(value, list):
        return [_each(item, change) for item in value]
    if isinstance(value, dict):
        return {_each(key, change): _each(item, change) for key, item in value.items()}
    if isinstance(value, msgspec.Struct):
        return type(value)(*(_each(item, change) for item in astuple(value)))
    return value
