"""The state file of a hyper run, `.prose/runs/{run}/state.md`: where a program of agents stands now.

It is written by the agent that plays the machine, after every statement: its own times are a model's word, and the
time of the file is the clock, unless it lies so long after them that the file is a copy. The trace shows the sessions
that were started, the call stack which blocks are open. A block that is no longer on the stack has come back; how, the
file does not say.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, tzinfo
from pathlib import PurePath
from typing import ClassVar, NamedTuple

from delegtop.base.clock import Millis, parse_time
from delegtop.base.origin import Origin
from delegtop.dialects import About, Basis, Dialect, Sample, Unit
from delegtop.dialects.kit.clones import Copies, remark
from delegtop.dialects.signature import Signature
from delegtop.model import notes as kinds
from delegtop.model.events import (
    Artifact,
    Described,
    Deviation,
    Ended,
    Ending,
    Event,
    Heard,
    Noted,
    Outcome,
    Phase,
    Report,
    Started,
    Surveyed,
    Trust,
)
from delegtop.protocols.hyper import PRODUCT
from delegtop.sources.records import Line, Unreadable

_HEADER = re.compile(r"^(run|program|started|updated):[ \t]*(\S[^\n]*)$", re.MULTILINE)
_SESSION = re.compile(
    r"^[ \t]*(?:(?:let|const|output)[ \t]+)?(?:(?P<name>\w+)[ \t]*=[ \t]*)?(?P<verb>session|resume)\b"
    r"(?::[ \t]*(?P<agent>[\w-]+))?[ \t]*(?:\"(?P<prompt>[^\"\n]*)\")?[^#\n]*(?:#[ \t]*(?P<note>[^\n]*))?$"
)
_PROMPT = re.compile(r"^[ \t]+prompt:[ \t]*\"([^\"\n]+)\"")
_RETRYING = re.compile(r"RETRYING\s*\(attempt\s+(\d{1,4})\s*/\s*(\d{1,4})\)", re.IGNORECASE)
_BINDING = re.compile(r"-->\s*(\S+)")
_FAILED = re.compile(r"\((?:failed|error)\b", re.IGNORECASE)
_COMPLETE = re.compile(r"\(complete\b", re.IGNORECASE)
_ROW = re.compile(r"^\|(.+)\|[ \t\r]*$")
_COLUMNS = ("execution_id", "block", "depth", "status")
_ROOT = "(root)"
_LARGEST = 2_000_000


class Frame(NamedTuple):
    """One row of the call stack."""

    execution: str
    block: str
    depth: int | None
    status: str
    line: int


class HyperRun(Dialect):
    """Reads one state file."""

    name: ClassVar[str] = "hyper-run"
    title: ClassVar[str] = "hyper run state"
    product = PRODUCT
    surest: ClassVar[int] = 90
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((b"run:", b"program:", b"##ExecutionTrace")),
        Signature((b"run:", b"program:", b"##CallStack")),
    )
    about: ClassVar[About] = About(
        "hyper, runs of OpenProse",
        "`.prose/runs/*/state.md`",
        "tree and status of the run's steps",
        Basis.DOCUMENTED,
    )
    unit: ClassVar[Unit] = Unit.TEXT
    files: ClassVar[tuple[str, ...]] = ("state.md",)

    def __init__(self, zone: tzinfo = UTC) -> None:
        super().__init__(zone)
        self._copies = Copies()

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        head = sample.head.decode("utf-8", "replace")
        named = {match[1] for match in _HEADER.finditer(head[:4_000])}
        if not {"run", "program"} <= named:
            return 0
        return 90 if "\n## Execution Trace" in head or "\n## Call Stack" in head else 0

    def read(self, line: Line) -> Iterable[Event | Unreadable]:
        text = line.data[:_LARGEST].decode("utf-8-sig", "replace")
        lines = text.split("\n")
        header = {match[1]: match[2].rstrip() for match in _HEADER.finditer(text[:4_000])}
        source = line.origin.source
        run = _run_id(header.get("run"), source)
        latest = self._copies.told(source, [run, *header.values()], line.at, self.zone)
        at = line.at if latest is None else latest
        frames, deviations = _call_stack(lines, source)
        sessions = list(_sessions(lines))
        ids = [run]
        yield from self._run(run, header, line.origin, at, frames, sessions)
        copied = "" if latest is None or line.at is None else remark(line.at, latest)
        yield Noted(run, at, line.origin, kinds.COPIED, copied)
        for frame, parent in _descent(frames):
            id = f"{run}#{frame.execution}"
            ids.append(id)
            yield from _block(id, frame, f"{run}#{parent}" if parent else run, Origin(source, frame.line, 0), at)
        for session in sessions:
            yield from session.events(run, Origin(source, session.line, 0), at)
        if at is not None:
            yield Surveyed(at, line.origin, tuple(ids))
        yield from deviations

    def _run(
        self,
        run: str,
        header: dict[str, str],
        origin: Origin,
        at: Millis | None,
        frames: list[Frame],
        sessions: "list[_Session]",
    ) -> Iterator[Event]:
        program = header.get("program")
        started = parse_time(header.get("started", ""), self.zone)
        refs = (("run_id", run),)
        yield Started(run, started, origin, agent=program, refs=refs, trust=Trust.MODEL, product=PRODUCT.name)
        yield Described(run, None, origin, cwd=str(PurePath(origin.source).parent))
        open_now = [session for session in sessions if session.is_open]
        top = next((frame for frame in frames if frame.execution == _ROOT), None)
        busy = bool(open_now) or any(frame.status == "executing" for frame in frames)
        doing = open_now[-1].prompt or open_now[-1].agent if open_now else top.block if top else None
        waits = any(frame.execution != _ROOT for frame in frames) or bool(open_now)
        phase = Phase.CHILD if waits else None if busy else Phase.IDLE
        yield Heard(run, at, origin, doing=doing if doing != "-" else None, phase=phase)


class _Session(NamedTuple):
    """One statement of the trace that starts an agent, with the machine's remark on it."""

    name: str
    agent: str | None
    prompt: str | None
    note: str
    line: int

    @property
    def is_open(self) -> bool:
        return "EXECUTING" in self.note or _RETRYING.search(self.note) is not None

    def events(self, run: str, origin: Origin, at: Millis | None) -> Iterator[Event]:
        """What the remark says of it; nothing, if it was not reached yet."""
        outcome = self._outcome()
        if outcome is None and not self.is_open:
            return
        id = f"{run}:{self.name}"
        yield Started(id, None, origin, agent=self.agent or "session", parent=run, product=PRODUCT.name)
        yield Described(id, None, origin, title=self.prompt, prompt=self.prompt)
        retry = _RETRYING.search(self.note)
        yield Noted(id, at, origin, kinds.LOOP, f"attempt {retry[1]} of {retry[2]}" if retry else "")
        if outcome is None:
            yield Heard(id, at, origin, doing=f"attempt {retry[1]} of {retry[2]}" if retry else None)
            return
        written = _BINDING.search(self.note)
        report = Report(artifacts=(Artifact(written[1]),) if written else ())
        yield Ended(id, None, origin, outcome, Ending.RETURN, report)

    def _outcome(self) -> Outcome | None:
        if self.is_open:
            return None
        if _FAILED.search(self.note):
            return Outcome.FAILED
        return Outcome.COMPLETED if _COMPLETE.search(self.note) or _BINDING.search(self.note) else None


def _run_id(told: str | None, source: str) -> str:
    """The run's id; a file that only says `current` is known by its folder."""
    folder = PurePath(source).parent.name
    return told if told and told not in ("current", "-") else folder or "run"


def _sessions(lines: list[str]) -> Iterator[_Session]:
    """The statements of the trace that start an agent."""
    inside = False
    for number, text in enumerate(lines, start=1):
        if text.startswith("## "):
            inside = text.startswith("## Execution Trace")
        elif inside and "#" in text and ("session" in text or "resume" in text):
            found = _SESSION.match(text[:2_000])
            if found is None:
                continue
            below = _PROMPT.match(lines[number][:2_000]) if number < len(lines) else None
            prompt = found["prompt"] or (below[1] if below else None)
            yield _Session(found["name"] or f"line-{number}", found["agent"], prompt, found["note"] or "", number)


def _call_stack(lines: list[str], source: str) -> tuple[list[Frame], list[Deviation]]:
    """The rows of the call stack, deepest as they stand; what is no row is named."""
    frames: list[Frame] = []
    odd: list[Deviation] = []
    columns: list[str] | None = None
    inside = False
    for number, text in enumerate(lines, start=1):
        if text.startswith("## "):
            inside = text.startswith("## Call Stack")
            continue
        row = _ROW.match(text.strip()) if inside else None
        if row is None:
            continue
        cells = [cell.strip() for cell in row[1].split("|")]
        if columns is None:
            columns = [cell.lower() for cell in cells]
            continue
        if all(cell and set(cell) <= set("-:") for cell in cells):
            continue  # the rule below the head
        named = dict(zip(columns, cells, strict=False))
        execution = named.get(_COLUMNS[0], "")
        if not execution:
            odd.append(Deviation(Origin(source, number, 0), "odd row", text.strip()[:200]))
            continue
        depth = named.get("depth", "")
        frames.append(
            Frame(
                execution,
                named.get("block", ""),
                int(depth) if depth.isascii() and depth.isdigit() and len(depth) < 6 else None,
                named.get("status", "").lower(),
                number,
            )
        )
    return frames, odd


def _descent(frames: list[Frame]) -> Iterator[tuple[Frame, str | None]]:
    """Every frame below the root with the one that called it: the nearest that is one less deep."""
    above: dict[int, str] = {}
    blocks = [frame for frame in frames if frame.execution != _ROOT]
    for frame in sorted(blocks, key=lambda frame: frame.depth or 0):
        depth = frame.depth
        yield frame, above.get(depth - 1) if depth is not None else None
        if depth is not None:
            above[depth] = frame.execution


def _block(id: str, frame: Frame, parent: str, origin: Origin, at: Millis | None) -> Iterator[Event]:
    block = frame.block if frame.block not in ("", "-") else "block"
    yield Started(id, None, origin, agent=block, parent=parent, depth=frame.depth, product=PRODUCT.name, listed=True)
    phase = Phase.CHILD if frame.status == "waiting" else None
    yield Heard(id, at, origin, doing=frame.status or None, phase=phase)
