"""All files of one project: who wrote what, and which transcript tells of which delegation.

Agents are known by (session, agent id): short ids repeat from session to session. What refers to an agent that nobody
has linked to a row yet waits here under that key. All that is known of a session alone goes with the last of its files.
"""

from collections.abc import Callable

import msgspec

from delegtop.agents.claude_code.agent_rows import AgentRow, Emit, Transcript, UsedAside
from delegtop.agents.claude_code.file_layout import DOCUMENTS, FileKind, FilePlace, place, stem
from delegtop.agents.claude_code.wire import TranscriptEntry
from delegtop.base.origin import Origin
from delegtop.model.events import Heard

Tell = Callable[[AgentRow], None]
TEAMS = ""
"""The name of no session: mates of a team go by `name@team` in all sessions."""
_COMPACTIONS = 100
_RECALLED = 512
_RUN = "run:"
"""Stands before the id of a workflow's run, which lives among the agents' ids."""


class TranscriptFile(msgspec.Struct):
    """What is remembered of one file while it is read."""

    path: str
    place: FilePlace
    is_document: bool
    """Whether it is read whole, and not line by line."""
    is_agents: bool
    """Whether an agent wrote all of it."""
    transcript: Transcript | None = None
    session: str | None = None
    heard: dict[int, None] = msgspec.field(default_factory=dict)
    """The notices that were told: each comes by up to three carriers."""
    ended: dict[str, None] = msgspec.field(default_factory=dict)
    """The rows whose end this file told and has not taken back. There may be thousands of files, and an empty set is
    three times as large as an empty dict."""
    titles: tuple[tuple[TranscriptEntry, Origin], ...] = ()
    """The last names for the session that stand before anybody spoke."""
    inline: dict[str, Transcript] = msgspec.field(default_factory=dict)
    """The transcripts of agents within this file, by the latest records of each."""

    @property
    def name(self) -> str:
        """The session it belongs to, by whatever name there is."""
        return self.session or stem(self.path)

    def recall(self, uuid: str, transcript: Transcript) -> None:
        self.inline[uuid] = transcript
        if len(self.inline) > _RECALLED:
            del self.inline[next(iter(self.inline))]


class Session:
    """What is known of one session while its files are read: agents by their ids, prompts by their hashes."""

    __slots__ = (
        "asked",
        "compacting",
        "files",
        "links",
        "prompted",
        "rows",
        "transcripts",
        "trunks",
        "unknown",
        "waiting",
    )

    def __init__(self) -> None:
        self.files = 0
        self.trunks: list[Transcript] = []
        """The session's own transcript, once for each file that claims to be it."""
        self.compacting: list[UsedAside] = []
        """What agents used to compact it."""
        self.rows: dict[str, AgentRow] = {}
        """The rows whose start its files tell; the copy of a session tells the same ones."""
        self.links: dict[str, AgentRow] = {}
        self.transcripts: dict[str, Transcript] = {}
        self.waiting: dict[str, list[Tell]] = {}
        self.unknown: list[str] = []
        """The rows that its files waited for."""
        self.prompted: dict[int, list[Transcript]] = {}
        self.asked: dict[int, list[AgentRow]] = {}


class ProjectFiles:
    """The rows and transcripts of a project."""

    def __init__(self, emit: Emit, elder: "ProjectFiles | None" = None) -> None:
        self.emit = emit
        self.elder = elder
        """The family that read it all before, if lines are only told once more."""
        self.files: dict[str, TranscriptFile] = {}
        self.rows: dict[str, AgentRow] = {}
        self.sessions: dict[str, Session] = {}
        self._unknown: dict[str, list[Tell]] = {}
        """What waits for a row, by the row's id."""

    # -- files -----------------------------------------------------------------------------------------------------

    def file(self, path: str) -> TranscriptFile:
        file = self.files.get(path)
        if file is None:
            where = place(path)
            file = self.files[path] = TranscriptFile(path, where, where.kind in DOCUMENTS, where.kind is FileKind.AGENT)
            self.belongs(file, where.session)
            before = self.elder.files.get(path) if self.elder else None
            if before is not None:
                self._inherit(file, before)
        return file

    def belongs(self, file: TranscriptFile, session: str | None) -> None:
        """The file is one of that session's. The first word stays."""
        if file.session is None and session is not None:
            file.session = session
            self._session(session).files += 1

    def _session(self, name: str) -> Session:
        session = self.sessions.get(name)
        if session is None:
            session = self.sessions[name] = Session()
        return session

    def _inherit(self, file: TranscriptFile, before: TranscriptFile) -> None:
        """Know whose file it is, so that a single line of it can be told."""
        self.belongs(file, before.session)
        known = before.transcript
        if known is None or known.row is None:
            return
        transcript = file.transcript = Transcript(known.session, known.agent, known.is_trunk)
        transcript.began = True
        transcript.has_place = transcript.has_model = transcript.has_prompt = True
        self._shell(known.row).adopt(transcript)

    def _shell(self, known: AgentRow) -> AgentRow:
        """A row that was shown before, for lines that are told once more."""
        row = self.rows.get(known.id)
        if row is None:
            row = self.rows[known.id] = AgentRow(known.id, self.emit, known.at, known.origin, known.agent)
            row.show(known.parent, known.depth)
        return row

    # -- what is put away ------------------------------------------------------------------------------------------

    def forget(self, path: str) -> None:
        """The file is put away: what was counted in it counts from the start if it is ever read again."""
        file = self.files.pop(path, None)
        if file is None:
            return
        if file.transcript is not None:
            self._forget_transcript(file.transcript, file.name)
        session = self._session(file.name)
        session.trunks = [trunk for trunk in session.trunks if trunk is not file.transcript]
        session.compacting.clear()
        session.files -= 1
        if session.files <= 0:
            del self.sessions[file.name]
            self._forget_session(session)

    def _forget_transcript(self, who: Transcript, session: str) -> None:
        who.leave()
        for known in filter(None, (self.sessions.get(session), self.sessions.get(TEAMS))):
            if who.agent is not None and known.transcripts.get(who.agent) is who:
                del known.transcripts[who.agent]

    def _forget_session(self, session: Session) -> None:
        """Let go of a session, but not of rows that a copy of it tells too, nor of mates. What refers to each other is
        taken apart: no collection of garbage may ever look at it."""
        for id in session.unknown:
            self._unknown.pop(id, None)
        for transcript in session.transcripts.values():
            transcript.leave()
        for row in session.rows.values():
            row.tellers -= 1
            if row.tellers:
                continue
            self.rows.pop(row.id, None)
            for transcript in [each for each in row.transcripts if each.agent is None]:
                transcript.leave()

    def is_apart(self, path: str) -> bool:
        """Whether its session waits for no row of others. Mates of a team are told of by several sessions."""
        file = self.files.get(path)
        session = self.sessions.get(file.name) if file else None
        waits = session is not None and any(id in self._unknown for id in session.unknown)
        return TEAMS not in self.sessions and not waits

    # -- rows ------------------------------------------------------------------------------------------------------

    def row(self, id: str) -> AgentRow | None:
        row = self.rows.get(id)
        if row is None and self.elder is not None and id in self.elder.rows:
            return self._shell(self.elder.rows[id])
        return row

    def know(self, row: AgentRow) -> bool:
        """Keep the row as long as the session that tells of its start; True if it is new."""
        known = self.rows.setdefault(row.id, row)
        own = self._session(self.files[row.origin.source].name).rows
        if row.id not in own:
            own[row.id] = known
            known.tellers += 1
        return known is row

    def spawned(self, row: AgentRow, by: Transcript, prompt: str | None) -> None:
        """A transcript tells that it started the row."""
        is_new = self.know(row)
        by.spawn(row)
        if not is_new:  # a copy of the session tells it again
            return
        for tell in self._unknown.pop(row.id, ()):
            tell(row)
        if prompt:
            session, key = self._session(by.session), hash(prompt.strip())
            session.asked.setdefault(key, []).append(row)
            self._match(by.session, key)

    def with_row(self, session: str, id: str, tell: Tell) -> None:
        """Do something with the row, now or when it is known; a file of that session wants it."""
        row = self.row(id)
        if row is not None:
            tell(row)
        else:
            self._unknown.setdefault(id, []).append(tell)
            self._session(session).unknown.append(id)

    # -- agents ----------------------------------------------------------------------------------------------------

    def trunk(self, session: str) -> Transcript:
        """The transcript of the session itself."""
        known = self._session(session)
        trunk = Transcript(session, None, is_trunk=True)
        trunk.aside = known.compacting
        known.trunks.append(trunk)
        return trunk

    def compacted(self, session: str, aside: UsedAside, origin: Origin) -> None:
        """An agent that nobody delegated to used this to compact the session: it is the session's."""
        known = self._session(session)
        if len(known.compacting) == _COMPACTIONS:  # every sign of life adds them up
            aside = aside.after(known.compacting.pop())
        known.compacting.append(aside)
        for trunk in known.trunks:
            tokens, used = trunk.spent(None)
            trunk.say(Heard(trunk.id, None, origin, tokens=tokens, used=used))

    def agent(self, session: str, agent: str) -> Transcript:
        """The transcript of an agent; a new one waits until something links it to a row."""
        return self._transcript(self._session(session), session, agent)

    def row_of(self, session: str, agent: str) -> str:
        """The row of an agent, if it has one; asking changes nothing."""
        known = self.sessions.get(session)
        found = known.transcripts.get(agent) if known else None
        return found.id if found else ""

    def mate(self, session: str, mate: str) -> Transcript:
        """The transcript of a mate, whose session another one started."""
        return self._transcript(self._session(TEAMS), session, mate)

    def _transcript(self, known: Session, session: str, agent: str) -> Transcript:
        transcript = known.transcripts.get(agent)
        if transcript is None:
            transcript = known.transcripts[agent] = Transcript(session, agent, is_trunk=False)
            if agent in known.links:
                known.links[agent].adopt(transcript)
        return transcript

    def run(self, session: str, run: str) -> Transcript:
        """What stands for the run of a workflow: its agents hang below it."""
        return self.agent(session, _RUN + run)

    def link(self, session: str, agent: str, row: AgentRow) -> bool:
        """The agent works for the row; True if that is news. The first word stays: it may be given more work later."""
        known = self._session(session)
        if agent in known.links:
            return False
        _tie(known, agent, row)
        return True

    def link_run(self, session: str, run: str, row: AgentRow) -> None:
        self.link(session, _RUN + run, row)

    def link_mate(self, mate: str, row: AgentRow) -> None:
        """The link outlives the session that tells it: the mate's own may be read later, or again."""
        self.link(TEAMS, mate, row)

    def name(self, session: str, name: str, row: AgentRow) -> None:
        """The agent goes by a name, until another takes it."""
        _tie(self._session(session), name, row)

    def with_agent(self, session: str, agent: str, tell: Tell) -> None:
        """Do something with the row of an agent, now or when it is known."""
        row = self._session(session).links.get(agent)
        if row is None and self.elder is not None:
            elder = self.elder.sessions.get(session)
            known = elder.links.get(agent) if elder else None
            row = self._shell(known) if known else None
        if row is not None:
            tell(row)
        elif self.elder is None:
            self._session(session).waiting.setdefault(agent, []).append(tell)

    # -- prompts ---------------------------------------------------------------------------------------------------

    def prompted(self, transcript: Transcript, prompt: str) -> None:
        """The first prompt of an agent: where nothing else links it, the one it was started with does."""
        if transcript.prompt is not None:
            return
        key = transcript.prompt = hash(prompt.strip())
        if transcript.row is not None:
            return
        session = self._session(transcript.session)
        if transcript.agent is None:  # within its parent's file, where the order tells same prompts apart
            row = next((row for row in session.asked.get(key, ()) if not row.transcripts), None)
            if row is not None:
                row.adopt(transcript)
            return
        session.prompted.setdefault(key, []).append(transcript)
        self._match(transcript.session, key)

    def _match(self, name: str, key: int) -> None:
        """Link the one transcript and the one row of a prompt; of several it is not said which is which."""
        session = self._session(name)
        transcripts, rows = session.prompted.get(key, ()), session.asked.get(key, ())
        if len(transcripts) == 1 and len(rows) == 1 and transcripts[0].row is None and not rows[0].transcripts:
            agent = transcripts[0].agent
            if agent is not None:
                self.link(name, agent, rows[0])
                rows[0].start((("agent_id", agent),))


def _tie(session: Session, agent: str, row: AgentRow) -> None:
    session.links[agent] = row
    transcript = session.transcripts.get(agent)
    if transcript is not None:
        row.adopt(transcript)
    for tell in session.waiting.pop(agent, ()):
        tell(row)
