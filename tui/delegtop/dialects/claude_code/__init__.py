"""Claude Code's own files: every session of a project, its agents at any depth, as the program writes them.

One instance reads all files below `projects/<folder>/`. The files of one session refer to each other in ways that
changed with every version of the program; what holds them together is in `family` and `tree`, what the records mean in
`transcripts` and `spawns`, what stands beside the transcripts in `sidecars`.
"""

from collections.abc import Iterable
from datetime import UTC, tzinfo
from typing import ClassVar

from delegtop.clock import parse_time
from delegtop.dialects import About, Basis, Dialect, Sample, Unit
from delegtop.dialects.claude_code import places, shape, sidecars
from delegtop.dialects.claude_code.family import Family, File
from delegtop.dialects.claude_code.places import Kind
from delegtop.dialects.claude_code.spawns import Here
from delegtop.dialects.claude_code.transcripts import BEGINS, HANDLERS, titled
from delegtop.dialects.claude_code.tree import Row, Transcript
from delegtop.dialects.claude_code.wire import Entry, Meta, Snapshot, decode_entry, salvage
from delegtop.model.events import Described, Event
from delegtop.origin import Origin
from delegtop.sources.record import Line, Record, Unreadable, records

_LEAD = "team-lead"


class ClaudeCode(Dialect):
    """Reads the transcripts of Claude Code."""

    name: ClassVar[str] = "claude-code"
    title: ClassVar[str] = "Claude Code"
    surest: ClassVar[int] = 95
    about: ClassVar[About] = About(
        "Claude Code 1.0.98 to 2.1.325",
        "`~/.claude/projects/*/*.jsonl`, `agent-*.jsonl`, `<session>/subagents/**`",
        "tree, status, tool, tokens, cost, prompts, answers, model, folder",
        Basis.REAL,
    )

    def __init__(self, zone: tzinfo = UTC) -> None:
        super().__init__(zone)
        self._told: list[Event] = []
        self._family = Family(self._told.append)

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        return shape.sniff(sample)

    @classmethod
    def unit_of(cls, sample: Sample) -> Unit:
        return Unit.DOCUMENT if places.place(sample.path).kind in places.DOCUMENTS else Unit.LINES

    @classmethod
    def family(cls, path: str) -> str:
        return places.family(path)

    def read(self, line: Line) -> Iterable[Event | Unreadable]:
        source = line.origin.source
        file = self._family.files.get(source) or self._family.file(source)
        if file.is_document:
            return self._read_with_care(line)
        try:
            entry = decode_entry(line.data)
        except (ValueError, RecursionError):
            return self._read_with_care(line)
        self._enter(file, entry, line.origin)
        return self._take()

    def _read_with_care(self, line: Line) -> list[Event | Unreadable]:
        told: list[Event | Unreadable] = []
        for record in records(line):
            if isinstance(record, Unreadable):
                told.append(record)
            else:
                told.extend(self.translate(record))
        return told

    def translate(self, record: Record) -> list[Event]:
        file, origin = self._family.file(record.origin.source), record.origin
        if file.place.kind is Kind.META:
            meta, noted = salvage(Meta, record.value, origin)
            sidecars.meta(self._family, file.place, meta, origin)
        elif file.place.kind is Kind.SNAPSHOT:
            snapshot, noted = salvage(Snapshot, record.value, origin)
            sidecars.snapshot(self._family, file.place, snapshot, origin)
        else:
            entry, noted = salvage(Entry, record.value, origin)
            self._enter(file, entry, origin)
        return [*self._take(), *noted]

    def retell(self, line: Line) -> Iterable[Event | Unreadable]:
        """A line told once more: whose it is and what it refers to is known from the first reading."""
        again = type(self)(self.zone)
        again._family = Family(again._told.append, elder=self._family)
        return again.read(line)

    def forget(self, path: str) -> None:
        self._family.forget(path)

    def needle(self, id: str, path: str) -> bytes:
        file = self._family.files.get(path)
        if file is not None and file.transcript is not None and file.transcript.id == id:
            return b""
        return id.rpartition("/")[2].encode()

    def _take(self) -> tuple[Event, ...]:
        told = tuple(self._told)
        self._told.clear()
        return told

    # -- one record ------------------------------------------------------------------------------------------------

    def _enter(self, file: File, entry: Entry, origin: Origin) -> None:
        if file.place.kind is Kind.JOURNAL:
            return sidecars.journal(self._family, file.place, entry, origin)
        handler = HANDLERS.get(entry.type or "")
        if handler is None:
            return None
        who = self._who(file, entry)
        if who is None:
            if handler is titled:
                file.titles = (*file.titles[-1:], (entry, origin))
            return None
        at = parse_time(entry.timestamp, self.zone) if entry.timestamp else None
        here = Here(self._family, file, who, at, origin)
        if not (who.began and "place" in who.described) and entry.type in BEGINS:
            _begin(here, entry)
        return handler(here, entry)

    def _who(self, file: File, entry: Entry) -> Transcript | None:
        """Who wrote the record. None if it is an agent's of whom nothing is known."""
        known = file.transcript
        if known is not None and (file.place.kind is Kind.AGENT or not (entry.agent_id or entry.is_sidechain)):
            return known
        self._family.belongs(file, entry.session_id)
        session = file.name
        if file.place.kind is Kind.AGENT:
            if entry.session_id or file.place.session:
                file.transcript = self._family.agent(session, file.place.agent or "")
            return file.transcript
        if entry.agent_id:
            return self._family.agent(session, entry.agent_id)
        if entry.is_sidechain:
            return self._inline(file, session, entry)
        file.transcript = self._trunk(session, entry)
        return file.transcript

    def _trunk(self, session: str, entry: Entry) -> Transcript | None:
        """The writer of a session's own file: the session, or a mate that another session started."""
        if entry.type not in BEGINS:
            return None
        if entry.team_name and entry.agent_name and entry.agent_name != _LEAD:
            return self._family.mate(session, f"{entry.agent_name}@{entry.team_name}")
        return self._family.trunk(session)

    def _inline(self, file: File, session: str, entry: Entry) -> Transcript | None:
        """An agent that writes into its parent's file; its records are a chain of their own."""
        who = file.inline.get(entry.parent_uuid) if entry.parent_uuid else Transcript(session, None, is_trunk=False)
        if who is not None and entry.uuid:
            file.recall(entry.uuid, who)
        return who


def _begin(here: Here, entry: Entry) -> None:
    """The first record of a transcript says when and where it began."""
    who = here.who
    if not who.began and here.at is not None:
        if who.is_trunk:
            row = Row(who.session, here.family.emit, here.at, here.origin, "claude")
            row.start((("session_id", who.session),), "claude")
            row.show(None, 0)
            here.family.know(row)
            row.adopt(who)
        elif here.file.place.run and who.agent and here.file.session:
            sidecars.workflow_agent(
                here.family, here.file.session, here.file.place.run, who.agent, here.at, here.origin
            )
        who.began = True
        for title, origin in here.file.titles:
            titled(Here(here.family, here.file, who, here.at, origin), title)
        here.file.titles = ()
    if "place" not in who.described and (entry.cwd or entry.version):
        who.described += ("place",)
        who.say(Described(who.id, here.at, here.origin, cwd=entry.cwd, version=entry.version))
