"""Claude Code's own files: every session of a project, its agents at any depth, as the program writes them.

One instance reads all files below `projects/<folder>/`. The files of one session refer to each other in ways that
changed with every version of the program; what holds them together is in `project_files` and `agent_rows`, what the
records say in `wire`, what they mean in `transcripts` and `spawns`, what stands beside the transcripts in `sidecars`.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, tzinfo
from typing import Any, ClassVar

from delegtop.agents.claude_code import PRODUCT, claude_said, file_layout, shape, sidecars
from delegtop.agents.claude_code.agent_rows import AgentRow, Transcript
from delegtop.agents.claude_code.file_layout import FileKind
from delegtop.agents.claude_code.project_files import ProjectFiles, TranscriptFile
from delegtop.agents.claude_code.spawns import SpawnPlace
from delegtop.agents.claude_code.transcripts import BEGINS, HANDLERS, HEARD_APART, titled
from delegtop.agents.claude_code.waiting_sign import WaitingSign
from delegtop.agents.claude_code.wire import Meta, TranscriptEntry, WireSnapshot, decode, decode_entry, salvage
from delegtop.base.clock import parse_time
from delegtop.base.origin import Origin
from delegtop.dialects import About, Basis, Dialect, Sample, Told, Unit
from delegtop.dialects.kit.coerce import moment, word
from delegtop.dialects.signature import Signature
from delegtop.model.events import Event
from delegtop.model.spoken import Utterance
from delegtop.sources.records import Line, LineBlock, Record, Unreadable, failed, records

_LEAD = "team-lead"
_NOBODY = "?"
"""An agent of whom nothing is known."""


class ClaudeCode(Dialect):
    """Reads the transcripts of Claude Code."""

    name: ClassVar[str] = "claude-code"
    title: ClassVar[str] = "Claude Code"
    product = PRODUCT
    surest: ClassVar[int] = 95
    counts_calls: ClassVar[bool] = True
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((b'"parentUuid"',)),
        Signature((b'"uuid":', b'"timestamp":', b'"message":')),
        Signature((b'"sessionId":', b'"type":')),
        Signature((b'"leafUuid":',)),
        Signature((b'"snapshot":',)),
        Signature((b'"agentType":',)),
        Signature((b'"runId":',)),
        Signature((b'"type":',), "journal.jsonl"),
    )
    about: ClassVar[About] = About(
        "Claude Code 1.0.98 to 2.1.325",
        "`~/.claude/projects/*/*.jsonl`, `agent-*.jsonl`, `<session>/subagents/**`",
        "tree, status, tool, tokens, cost, prompts, answers, model, folder",
        Basis.REAL,
    )

    def __init__(self, zone: tzinfo = UTC) -> None:
        super().__init__(zone)
        self._told: list[Event] = []
        self._waiting: WaitingSign | None = None
        self._family = ProjectFiles(self._tell)

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        return shape.sniff(sample)

    @classmethod
    def unit_of(cls, sample: Sample) -> Unit:
        return Unit.DOCUMENT if file_layout.place(sample.path).kind in file_layout.DOCUMENTS else Unit.LINES

    @classmethod
    def family(cls, path: str) -> str:
        return file_layout.family(path)

    def read(self, line: Line) -> Iterable[Event | Unreadable]:
        source = line.origin.source
        file = self._family.files.get(source) or self._family.file(source)
        if file.place.kind is FileKind.META and (about := decode(Meta, line.data)) is not None:
            sidecars.meta(self._family, file.place, about, line.origin)
            return self._take()
        if file.is_document:
            return self._read_with_care(line)
        try:
            entry = decode_entry(line.data)
        except (ValueError, RecursionError):
            return self._read_with_care(line)
        told = self._told
        self._enter(file, entry, line.origin)
        if len(told) == 1:  # nearly all: a sign of life
            return (told.pop(),)
        return self._take()

    def read_block(self, block: LineBlock, longest: int) -> Sequence[Told | Line]:
        source, offset, told = block.source, block.offset, self._told
        file = self._family.file(source)
        if file.is_document:
            return [*block.lines()]
        found: list[Told] = []
        waiting = self._waiting = WaitingSign(block, found, longest, self.calls) if self.is_brief else None
        for number, raw in enumerate(block.take().raws, block.line):
            origin = Origin(source, number, offset)
            offset += len(raw)
            try:
                entry = decode_entry(raw)
            except (ValueError, RecursionError):
                entry = None
            try:  # what one record does to a family cannot be taken back, so nothing of it is read again
                if entry is None:
                    if waiting is not None:
                        waiting.tell()
                        self._waiting = None  # of several records in a line none has a place of its own
                    found.append(tuple(self._read_with_care(Line(origin, raw[:-1]))))
                    self._waiting = waiting
                    continue
                self._enter(file, entry, origin)
            except Exception as error:  # noqa: BLE001 - as for a line that is read alone
                found.append((failed(origin, error),))
                self._waiting = waiting
                continue
            if not told:  # if its sign of life waits and is told, that is in the place of its line
                found.append(None if waiting is not None and waiting.origin is origin else ())
            elif len(told) == 1 and len(raw) <= longest:  # nearly all: a sign of life
                found.append(told.pop())
            else:
                found.append(self._take())
        if waiting is not None:
            waiting.tell()
            self._waiting = None
        return found

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
        if file.place.kind is FileKind.META:
            meta, noted = salvage(Meta, record.value, origin)
            sidecars.meta(self._family, file.place, meta, origin)
        elif file.place.kind is FileKind.SNAPSHOT:
            snapshot, noted = salvage(WireSnapshot, record.value, origin)
            sidecars.snapshot(self._family, file.place, snapshot, origin)
        else:
            entry, noted = salvage(TranscriptEntry, record.value, origin)
            self._enter(file, entry, origin)
        return [*self._take(), *noted]

    def retell(self, line: Line) -> Iterable[Event | Unreadable]:
        """A line told once more: whose it is and what it refers to is known from the first reading."""
        again = type(self)(self.zone)
        again._family = ProjectFiles(again._tell, elder=self._family)
        return again.read(line)

    def forget(self, path: str) -> None:
        self._family.forget(path)

    def is_apart(self, path: str) -> bool:
        return self._family.is_apart(path)

    def needle(self, id: str, path: str) -> bytes:
        file = self._family.files.get(path)
        if file is not None and file.transcript is not None and file.transcript.id == id:
            return b""
        return id.rpartition("/")[2].encode()

    def said(self, records: Sequence[Record]) -> Iterator[Utterance]:
        """The words of a transcript. Of agents that write into the file of a session it is known whose a record is as
        long as it, or one before it in the chain, is remembered."""
        if not records or not (file := self._family.files.get(records[0].origin.source)) or file.is_document:
            return iter(())
        chain = {uuid: who.id for uuid, who in list(file.inline.items())}

        def whose(value: dict[str, Any]) -> str | None:
            if file.place.kind is FileKind.AGENT or not (value.get("isSidechain") or value.get("agentId")):
                return None
            if agent := word(value.get("agentId")):
                return self._family.row_of(file.name, agent) or _NOBODY
            id = chain.get(str(value.get("uuid"))) or chain.get(str(value.get("parentUuid"))) or _NOBODY
            chain[str(value.get("uuid"))] = id
            return id

        return claude_said.said(records, lambda at: moment(at, self.zone), whose)

    def _tell(self, event: Event) -> None:
        self._told.append(event)
        if self.calls is not None:
            self.calls.heed((event,))

    def _take(self) -> tuple[Event, ...]:
        told = tuple(self._told)
        self._told.clear()
        return told

    # -- one record ------------------------------------------------------------------------------------------------

    def _enter(self, file: TranscriptFile, entry: TranscriptEntry, origin: Origin) -> None:
        who, waiting, mode = file.transcript, self._waiting, entry.permission_mode
        if who is None:
            if file.place.kind is FileKind.JOURNAL:
                return sidecars.journal(self._family, file.place, entry, origin)
        elif mode:
            if waiting is not None:
                waiting.tell()
            who.mode = mode
        handler = HANDLERS.get(entry.type)
        if handler is None:
            return None
        if who is None or (not file.is_agents and (entry.agent_id or entry.is_sidechain)):
            who = self._who(file, entry)
            if who is None:
                if handler is titled:
                    file.titles = (*file.titles[-1:], (entry, origin))
                return None
        if not who.began and entry.is_meta and who.is_trunk:
            return None  # what the program wrote by itself may bear the time of another session
        if mode:
            who.mode = mode
        at = parse_time(entry.timestamp or "", self.zone)
        here = SpawnPlace(self._family, file, who, at, origin)
        if waiting is not None and (waiting.who is not who or at is None or handler in HEARD_APART):
            waiting.tell()
        if not (who.began and who.has_place) and entry.type in BEGINS:
            _begin(here, entry)
        if not handler(here, entry):
            return None
        if waiting is not None and waiting.who is who and at is not None:
            waiting.renew(who, at, origin)
        elif waiting is None or not waiting.begin(here):
            who.hear(at, origin)
        return None

    def _who(self, file: TranscriptFile, entry: TranscriptEntry) -> Transcript | None:
        """Who wrote a record that does not go without saying. None if it is an agent's of whom nothing is known."""
        self._family.belongs(file, entry.session_id)
        session = file.name
        if file.is_agents:
            if entry.session_id or file.place.session:
                file.transcript = self._family.agent(session, file.place.agent or "")
            return file.transcript
        if entry.agent_id:
            return self._family.agent(session, entry.agent_id)
        if entry.is_sidechain:
            return self._inline(file, session, entry)
        file.transcript = self._trunk(session, entry)
        return file.transcript

    def _trunk(self, session: str, entry: TranscriptEntry) -> Transcript | None:
        """The writer of a session's own file: the session, or a mate that another session started."""
        if entry.type not in BEGINS:
            return None
        if entry.team_name and entry.agent_name and entry.agent_name != _LEAD:
            return self._family.mate(session, f"{entry.agent_name}@{entry.team_name}")
        return self._family.trunk(session)

    def _inline(self, file: TranscriptFile, session: str, entry: TranscriptEntry) -> Transcript | None:
        """An agent that writes into its parent's file; its records are a chain of their own."""
        who = file.inline.get(entry.parent_uuid) if entry.parent_uuid else Transcript(session, None, is_trunk=False)
        if who is not None and entry.uuid:
            file.recall(entry.uuid, who)
        return who


def _begin(here: SpawnPlace, entry: TranscriptEntry) -> None:
    """The first record of a transcript says when and where it began."""
    who = here.who
    if not who.began and here.at is not None:
        if who.is_trunk:
            row = AgentRow(who.session, here.family.emit, here.at, here.origin, "claude")
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
            titled(SpawnPlace(here.family, here.file, who, here.at, origin), title)
        here.file.titles = ()
    if not who.has_place and (described := entry.described(who.id, here.at, here.origin)):
        who.has_place = True
        who.say(described)
