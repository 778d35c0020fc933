"""The processes of sessions whose logs do not name one: found as their programs' packages declare, or found missing.

What is found is told as the start of a process, with the system as its origin; from then on the process watch follows
it. That none is there is told as an end. Where it cannot be known, nothing is told but that: another user's, another
machine's, outside of a container, a log whose folder is not here, more than one that it may be.
"""

import fnmatch
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

from delegtop.base.clock import DAY, SECOND, Clock, Millis, monotonic, spent
from delegtop.base.origin import kernel
from delegtop.base.product import Basis, Product
from delegtop.dialects.products import product
from delegtop.feed.open_sessions import SessionFacts
from delegtop.feed.session_manners import SERVERS, seen
from delegtop.kernel.process_table import ProcessTable
from delegtop.kernel.program_process import ProgramProcess, programs
from delegtop.kernel.writer_sight import hidden
from delegtop.model.events import LOCALHOST, Ended, Ending, Event, Outcome, Started
from delegtop.sources import processes

EVERY = 2.0
"""Seconds between two looks for a process that was not found and may be."""
SELDOM = 10.0
"""Seconds between two looks where the last one did not tell."""
_SHARE, _LONGEST = 0.004, 30.0
"""Of one processor that looking again may take: where that is much it is done less often, but after so many seconds."""
OLD = DAY
"""Who was last heard of longer ago is lost by silence alone, and its process is not looked for."""
_SLACK = 5 * SECOND
"""Between the clock of a log and the kernel's word for when a process started."""
_WRAPPED = 5 * SECOND
"""A program that starts itself once more, in another process, does so at once."""
_BEGINNING = 60 * SECOND
"""A session begins so soon after the process that was started for it."""
_SEEN = (Basis.REAL, Basis.MADE)
"""Whose programs were seen to run: what their processes look like is not only documented."""
_TOLD = 5
"""Processes that are named at most."""


class Answer(NamedTuple):
    """What is known of the process of a session."""

    session: SessionFacts
    process: ProgramProcess | None = None
    """Its process; None if there is none, or if nobody can tell."""
    gone: bool = False
    """There is none."""
    why: str = ""
    """Why nobody can tell."""
    among: tuple[ProgramProcess, ...] = ()
    """Those of which it is one: once one of them goes, more can be told."""


class ProcessSearch:
    """Looks for the processes of the sessions at work, seldom, and at all processes in one go."""

    def __init__(self, clock: Clock, neighbours: Callable[[SessionFacts], Sequence[Millis]]) -> None:
        self._clock = clock
        self._neighbours = neighbours
        self._asked: dict[str, float] = {}
        """When to ask again, by session."""
        self._among: dict[str, tuple[float, tuple[ProgramProcess, ...]]] = {}
        """Of whom several processes may be their own: these, and when to look whether they are all there."""
        self._told: dict[str, tuple[object, ...]] = {}
        self._gone: dict[str, Millis] = {}
        """Of whom it was told that they are gone, and when."""
        self._outdated: set[str] = set()
        """Of whom more was read after they had been asked about."""

    def is_new(self, session: SessionFacts) -> bool:
        """Whether nobody has looked for its process yet, or more of it was read meanwhile."""
        return not self._asked.get(session.id) and self._is_worth_it(session)

    def is_due(self, session: SessionFacts) -> bool:
        """Whether it is time to look for its process; at once for one that is new."""
        due = monotonic() >= self._asked.get(session.id, 0.0) or self._are_fewer(session)
        return due and self._is_worth_it(session)

    def _are_fewer(self, session: SessionFacts) -> bool:
        """Whether one of the processes that may be its own went."""
        at, among = self._among.get(session.id, (0.0, ()))
        if not among or monotonic() < at:
            return False
        self._among[session.id] = monotonic() + EVERY, among
        return any(processes.is_gone(each.pid, each.started_at, each.ticks) for each in among)

    def _is_worth_it(self, session: SessionFacts) -> bool:
        return self._clock.now() - session.heard_at < OLD

    def ask(self, sessions: Sequence[SessionFacts]) -> list[Answer]:
        """What the system says of their processes now."""
        began = spent()
        answers: list[Answer] = []
        look: _Look | None = None
        for session in sessions:
            program = product(session.product)
            if program is None or not (program.executables or program.scripts):
                answer = Answer(session, why="nothing tells what those of its program are called")
            elif not _is_at_home(session.log, program):
                answer = Answer(session, why="its log does not lie where its program writes it")
            else:
                look = look or _Look(programs(ProcessTable()), self._neighbours)
                answer = look.find(session, program)
            answers.append(answer)
        now = monotonic()
        seldom = max(SELDOM, min((spent() - began) / _SHARE, _LONGEST))
        for answer in answers:
            told = answer.gone or answer.process is not None
            self._asked[answer.session.id] = now + (EVERY if told else seldom)
            self._among[answer.session.id] = now + EVERY, answer.among
        return answers

    def tell(self, answers: Sequence[Answer], still: Callable[[SessionFacts], bool]) -> Iterator[Event]:
        """What the answers mean; `still` tells whether what was asked about is as it was, now that all was read."""
        for answer in answers:
            session, process = answer.session, answer.process
            if process is not None:
                yield from self._found(session, process)
            elif answer.gone and not still(session):
                self._ask_again(session)
            elif answer.gone and self._is_believed(session):
                self._gone[session.id] = self._clock.now()
                for id in (session.id, *(member for member, _ in session.members if session.is_over)):
                    yield Ended(id, self._clock.now(), kernel(), Outcome.LOST, Ending.GONE)

    def _ask_again(self, session: SessionFacts) -> None:
        """At once, since whoever reads only once will not come again; of each only once, since it may go on writing."""
        if session.id not in self._outdated:
            self._outdated.add(session.id)
            self._asked[session.id] = 0.0

    def _is_believed(self, session: SessionFacts) -> bool:
        """Who was heard of after it was said to be gone runs in a way that is not known here: its log is right."""
        return session.id not in self._gone

    def _found(self, session: SessionFacts, process: ProgramProcess) -> Iterator[Event]:
        if not self._is_news(session.id, process.pid, process.ticks):
            return
        self._gone.pop(session.id, None)
        # What it did before the session is not of the session: a server may be days old.
        at = max(process.started_at, session.started_at or process.started_at)
        yield Started(
            session.id,
            at,
            kernel(process.pid),
            depth=0,
            pid=process.pid,
            host=LOCALHOST,
            refs=seen(process, product(session.product)),
            listed=True,
            product=session.product,
        )
        for member, heard_at in session.members:
            if heard_at and heard_at + _SLACK < process.started_at:  # it worked in a process before this one
                yield Ended(member, self._clock.now(), kernel(process.pid), Outcome.LOST, Ending.GONE)

    def _is_news(self, id: str, *told: object) -> bool:
        before, self._told[id] = self._told.get(id), told
        return before != told


class _Look:
    """All processes of one moment, and whose they may be."""

    def __init__(
        self, processes: Sequence[ProgramProcess], neighbours: Callable[[SessionFacts], Sequence[Millis]]
    ) -> None:
        self._processes, self._neighbours = processes, neighbours

    def find(self, session: SessionFacts, program: Product) -> Answer:
        log = os.path.realpath(session.log)
        # Whoever started later did not write what was heard.
        able = [each for each in self._processes if each.started_at <= session.heard_at + _SLACK]
        named = _named(log, program, session.id)
        its = [each for each in self._of_program(program, log, able) if named.get(each.process.pid, True)]
        own = [each for each in its if named.get(each.process.pid) or each.holds_log]
        if program.open_log:  # whoever does not have it open is not at work on it
            its = [each for each in its if each.holds_log or not each.process.is_open]
        own = _without_wrappers(own or [each for each in its if each.may_work_in(session.cwd)])
        if len(own) == 1 and own[0].process.is_open:
            process = own[0].process
            if _began_with(self._neighbours(session), process, session):
                return Answer(session, why=f"the only one that fits (pid {process.pid}) began with another session")
            return Answer(session, process)
        if why := hidden(log):
            return Answer(session, why=why)
        if any(not each.process.is_open for each in its):
            return Answer(session, why="some of them are those of another user")
        if len(own) > 1:
            pids = ", ".join(str(each.process.pid) for each in own[:_TOLD])
            among = tuple(each.process for each in own)
            return Answer(session, why=f"{len(own)} processes may be its own (pid {pids})", among=among)
        if own:
            return Answer(session, why=f"the only one that fits (pid {own[0].process.pid}) is that of another user")
        if program.basis not in _SEEN or not _lists_its_processes(session, program, log):
            return Answer(session, why="none of its program was found, and that does not tell that there is none")
        if not _ran_here(session):
            return Answer(session, why="the folder it works in is not on this machine")
        return Answer(session, gone=True)

    def _of_program(self, program: Product, log: str, able: Sequence[ProgramProcess]) -> "list[_Candidate]":
        """The processes of that program: by its name, or by the files that only it keeps open."""
        found = [each for each in able if each.runs(program.executables, program.scripts)]
        found = [each for each in found if not any(word in program.helpers for word in each.words)]
        its = [_Candidate(each, log, program.holds) for each in found]
        if not program.holds:
            return its
        holders = [each for each in its if each.holds_any]
        if not holders:
            others = [_Candidate(each, log, program.holds) for each in able if each.is_open and each not in found]
            holders = [each for each in others if each.holds_any]
        # Who has not even its database open works on no session; of another user's nobody can say.
        return [*holders, *(each for each in its if not each.process.is_open)]


class _Candidate:
    """A process that may be that of a session."""

    def __init__(self, process: ProgramProcess, log: str, holds: Sequence[str]) -> None:
        self.process = process
        self._log, self._holds = log, holds

    @property
    def holds_log(self) -> bool:
        """The very log is open in it, and it is the log of this session alone."""
        return bool(self._holds) and self._log in self.process.files and not self._is_held(self._log)

    @cached_property
    def holds_any(self) -> bool:
        return self._log in self.process.files or any(map(self._is_held, self.process.files))

    def _is_held(self, file: str) -> bool:
        folder, _, name = file.rpartition("/")
        return self._log.startswith(f"{folder}/") and any(fnmatch.fnmatchcase(name, each) for each in self._holds)

    def may_work_in(self, folder: str | None) -> bool:
        """Whether it works in that folder, was told to, or serves any."""
        its = self.process.folders
        if folder is None or not its:
            return True
        wanted = os.path.realpath(folder)
        if folder in its or wanted in its:
            return True
        for word in self.process.words[1:]:
            if word.lstrip("-") in SERVERS:
                return True
            path = word.partition("=")[2] if word.startswith("--") else word
            if path and os.path.normpath(os.path.join(its[0], path)) in (folder, wanted):  # noqa: PTH118 # strings
                return True
        return False


def _without_wrappers(found: list[_Candidate]) -> list[_Candidate]:
    """A program that runs in a process below its own is there once: it is the one that does the work."""
    below = {each.process.parent: each.process for each in found}
    return [each for each in found if not _wraps(each.process, below.get(each.process.pid))]


def _wraps(process: ProgramProcess, below: ProgramProcess | None) -> bool:
    """Whether it only started itself once more: at once, or, on a machine that is slow, with the very same words."""
    if below is None:
        return False
    words = process.words[1:]
    return below.started_at - process.started_at <= _WRAPPED or (bool(words) and below.words[-len(words) :] == words)


def _began_with(neighbours: Sequence[Millis], process: ProgramProcess, session: SessionFacts) -> bool:
    """Whether another session in the same folder began with that process, and this one had begun before it."""
    if session.started_at is None or session.started_at + _SLACK >= process.started_at:
        return False
    return any(-_SLACK <= at - process.started_at <= _BEGINNING for at in neighbours)


def _ran_here(session: SessionFacts) -> bool:
    """Whether its folder is one of this machine. If its log does not say, only where the program does not run at all
    nobody can be at work on it."""
    return session.cwd is None or os.path.isdir(session.cwd)  # noqa: PTH112 # strings, as above


def _is_at_home(log: str, program: Product) -> bool:
    """Whether the log lies where the program writes its logs, under that name: not in a pipe, or in a collection."""
    path = os.path.realpath(log)
    for home in program.homes:
        moved = os.environ.get(home.variable) if home.variable else None
        if moved and path.startswith(os.path.join(os.path.realpath(moved), "")):  # noqa: PTH118 # as above
            return True
        folder = "/".join(part for part in (home.folder.removeprefix("~/"), home.below) if part)
        if f"/{folder.partition('*')[0].rpartition('/')[0] if '*' in folder else folder}/" in path:
            return True
    return False


def _named(log: str, program: Product, session: str) -> dict[int, bool]:
    """The processes that locks beside logs and entries of the registry name, and whether it is for this session."""
    found: dict[int, bool] = {}
    with suppress(OSError):
        for folder in _session_folders(log) if program.lock else ():
            for name in os.listdir(folder):  # noqa: PTH208 # strings, as above
                if (lock := re.fullmatch(program.lock, name)) is not None:
                    pid = int(lock["pid"])
                    found[pid] = found.get(pid, False) or log.startswith(f"{folder}/")
    registry = _registry(log, program.registry) if program.registry else None
    with suppress(OSError):
        for name in os.listdir(registry) if registry else ():  # noqa: PTH208 # as above
            number = name.removesuffix(".json")
            if number.isdecimal() and number != name:
                found[int(number)] = session in _text(f"{registry}/{name}")
    return found


def _session_folders(log: str) -> Iterator[str]:
    """The folder of the session, and those of the others beside it."""
    with os.scandir(os.path.dirname(os.path.dirname(log))) as entries:  # noqa: PTH120 # as above
        yield from (entry.path for entry in entries if entry.is_dir(follow_symlinks=False))


def _registry(log: str, name: str) -> str | None:
    """The registry in the nearest folder above the log that has one."""
    folder = os.path.dirname(log)  # noqa: PTH120 # as above
    while folder != "/":
        if os.path.isdir(found := f"{folder}/{name}"):  # noqa: PTH112 # as above
            return found
        folder = os.path.dirname(folder)  # noqa: PTH120 # as above
    return None


def _lists_its_processes(session: SessionFacts, program: Product, log: str) -> bool:
    """Whether a program that lists its processes did so for this session: only then a missing entry tells."""
    if not program.registry:
        return True
    return _registry(log, program.registry) is not None and _version(session.version) >= program.registry_since


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 # as above
            return file.read(1 << 16)
    except OSError:
        return ""


_VERSION = 40
"""Characters of a version that say which it is."""


def _version(text: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"[0-9]{1,9}", (text or "")[:_VERSION].partition("-")[0])[:4])
