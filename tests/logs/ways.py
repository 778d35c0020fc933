"""The ways in which the same logs can be read, and what commands print in each of them."""

import gc
import io
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.fleet.host_stand_ins import FakeSsh
from tests.recorded_hosts import listen_to
from tests.samples import SAMPLES

from delegtop.base.clock import Millis, WallClock, iso, parse_time
from delegtop.cli import main, status_reading
from delegtop.feed import file_catalogue, lending, loaders, log_index
from delegtop.feed.live_feed import Feed
from delegtop.observation import observation

_NEVER = 1 << 60
_PASSING = ("usual.json", "status.json")
"""What commands keep in the cache folder that is no index: later commands would go by it."""
_THERE = "there"
"""What another host is called."""
_FOUND = "a*|b*|c*|d*|e*|i*|l*|m*|p*|r*|s*|t*"
"""Words that nearly everything has some of."""


class Way(NamedTuple):
    """One way."""

    name: str
    cache: str
    """The cache folder that it has; ways may share one."""
    is_indexed: bool = True
    is_block: bool = True
    """Whether lines are read in blocks, and signs of life may be left out; else somebody listens to every one."""
    is_lent: bool = False
    """Whether other processes read all that they can."""
    is_new: bool = False
    """Whether the cache is empty before."""


PLAIN = Way("without an index", "none", is_indexed=False, is_new=True)
ONE_BY_ONE = Way("line by line", "none", is_indexed=False, is_block=False, is_new=True)
MADE = Way("with an index that is made", "own", is_new=True)
THERE = Way("with the index that it made", "own")
SHARED = Way("with the index of other commands", "shared")
LENT = Way("with other processes", "lent", is_lent=True, is_new=True)
LENT_THERE = Way("with what other processes read", "lent", is_lent=True)


class Said(NamedTuple):
    """What a command said."""

    code: object
    out: str
    err: str
    kept: str
    """What it learned."""


class Commands(NamedTuple):
    """What is asked, of one source and of the home."""

    source: str
    at: str

    def all(self) -> list[list[str]]:
        return [*self.of_the_source(), *self.of_the_home()]

    def of_the_source(self) -> list[list[str]]:
        named = [self.source]
        return [
            ["tree", *named],
            ["tree", "--json", "--prompts", *named],
            ["tree", "--claims", "--sources", *named],
            ["tree", "--gantt", *named],
            ["tree", "--json", "--at", self.at, *named],
            ["check", *named],
            ["check", "--json", *named],
            ["stats", *named],
            ["stats", "--json", "--since", "2h", *named],
            ["report", *named],
            ["sources", *named],
            ["sources", "--json", *named],
            ["status", "--json", *named],
            ["find", "--json", "--limit", "1000", "--in", *named, _FOUND],
        ]

    def of_the_home(self) -> list[list[str]]:
        return [
            ["tree"],
            ["tree", "--all"],
            ["tree", "--all", "--json"],
            ["stats", "--all"],
            ["stats", "--json", "--since", "90d"],
            ["report", "--all"],
            ["sources", "--all"],
            ["status", "--read"],
            ["find", "--json", "--limit", "1000", _FOUND],
            ["find", "--best", "--since", "1h", _FOUND],
            ["learn", "--since", "all"],
        ]

    def of_hosts(self) -> list[list[str]]:
        """With another host, which tells of some sessions that may be here too."""
        named = [self.source, f"ssh://{_THERE}"]
        return [
            ["tree", "--json", *named],
            ["tree", "--all", "--hosts"],
            ["stats", "--all", "--hosts"],
            ["check", "--json", *named],
            ["sources", "--json", "--all", "--hosts"],
            ["find", "--json", "--hosts", "--limit", "1000", _FOUND],
        ]

    def few(self) -> list[list[str]]:
        """Those that are asked after each change: each kind of index, and all that a session can tell."""
        return [
            ["tree", "--json", "--prompts", self.source],
            ["tree", "--all"],
            ["stats", "--all"],
            ["report", self.source],
            ["sources", "--json", self.source],
            ["find", "--json", "--limit", "1000", _FOUND],
            ["learn", "--since", "all"],
        ]


class Stage:
    """A home of its own, and a time of its own, in which commands are run. Everything of this machine is kept out."""

    def __init__(self, folder: Path, patches: pytest.MonkeyPatch) -> None:
        self.folder, self._patches = folder, patches
        self.home, self._cache, self._caches = (folder / name for name in ("home", "cache", "caches"))
        self.now = Millis(0)
        self._way = PLAIN
        self._ssh = FakeSsh(folder / "ssh")
        for each in (self.home, self._caches, folder / "empty", folder / "config" / "delegtop"):
            each.mkdir(parents=True)
        self._enter()

    def _enter(self) -> None:
        for name in [name for name in os.environ if name.startswith(("XDG_", "DELEGTOP_"))]:
            self._patches.delenv(name)
        self._patches.setenv("HOME", str(self.home))
        self._patches.setenv("TZ", "UTC")
        self._patches.setenv("PATH", self._ssh.path)
        self._patches.setenv("XDG_CACHE_HOME", str(self._cache))
        self._patches.setenv("XDG_CONFIG_HOME", str(self.folder / "config"))
        self._patches.chdir(self.folder / "empty")
        self._patches.setattr(WallClock, "now", lambda _clock: self.now)
        self._patches.setattr(file_catalogue, "WORTH", 0)
        self._patches.setattr(log_index, "LEAST", 0)
        self._patches.setattr(lending, "PART", 2)
        self._patches.setattr(loaders, "processors", lambda: 1)
        self._patches.setattr(observation, "_LOOKS", (0.0,))
        self._patches.setattr(status_reading, "spent", lambda: 0)
        self._patches.setattr(Feed, "__init__", self._opened(Feed.__init__))
        self._patches.setattr(Feed, "tell_briefly", self._told_briefly(Feed.tell_briefly))

    def _opened(self, usual: Callable[..., None]) -> Callable[..., None]:
        def made(feed: Feed, *given: Any, **named: Any) -> None:
            if self._way.is_block:
                usual(feed, *given, **named)
                return
            usual(feed, *given, **{**named, "witness": lambda _line, _told: None})
            feed._tidies = True  # as who reads in blocks

        return made

    def _told_briefly(self, usual: Callable[[Feed], None]) -> Callable[[Feed], None]:
        return lambda feed: usual(feed) if self._way.is_block else None

    def look_into(self, folder: Path) -> None:
        """The settings name this folder."""
        self._set(f"sources = [{json.dumps(str(folder))}]")

    def meet_another_host(self) -> None:
        """The settings name one, and it tells of a sample."""
        listen_to(self._ssh, _THERE, SAMPLES / "claude-code", at=self.now)
        self._set(f'[[hosts]]\nssh = "{_THERE}"')

    def _set(self, line: str) -> None:
        with (self.folder / "config" / "delegtop" / "config.toml").open("a") as file:
            file.write(f"{line}\n")

    def said(self, command: Sequence[str], way: Way) -> Said:
        """What this command says in this way."""
        with self._in(way):
            out, err = io.StringIO(), io.StringIO()
            try:
                with redirect_stdout(out), redirect_stderr(err):
                    code: object = main([*command])
            except Exception as error:  # noqa: BLE001 -- whatever it is, no other way may differ in it
                code = repr(error)
            finally:
                gc.enable()  # a command leaves that to the end of its process
            usual = self._cache / "delegtop" / "usual.json"
            return Said(code, out.getvalue(), err.getvalue(), usual.read_text() if usual.exists() else "")

    def forget(self, way: Way) -> None:
        """Its cache folder is empty."""
        shutil.rmtree(self._caches / way.cache, ignore_errors=True)

    @contextmanager
    def _in(self, way: Way) -> Iterator[None]:
        kept = self._caches / way.cache
        if way.is_new:
            self.forget(way)
        if kept.exists():
            kept.rename(self._cache)
        self._way = way
        with pytest.MonkeyPatch.context() as patches:
            if not way.is_indexed:
                patches.setenv("DELEGTOP_INDEX", "false")
            patches.setattr(lending, "WORTH", 1 if way.is_lent else _NEVER)
            try:
                yield
            finally:
                for name in _PASSING:
                    (self._cache / "delegtop" / name).unlink(missing_ok=True)
                if self._cache.exists():
                    self._cache.rename(kept)

    def last_word(self, source: Path) -> Millis:
        """When something was last said in there, by the logs themselves or else by their files."""
        self.now = Millis(4_000_000_000_000)
        found = json.loads(self.said(["tree", "--json", str(source)], PLAIN).out)
        heard = [parse_time(each["last_heard_at"]) for each in found["delegations"] if each["last_heard_at"]]
        written = [int(path.stat().st_mtime * 1000) for path in source.rglob("*") if path.is_file()]
        return Millis(max([at for at in heard if at is not None], default=max(written)))

    def commands(self, source: Path) -> Commands:
        return Commands(str(source), iso(self.now))
