"""All files of one project: who wrote what, and which transcript tells of which delegation.

Agents are known by (session, agent id): short ids repeat from session to session. What refers to an agent that nobody
has linked to a row yet waits here under that key.
"""

from collections.abc import Callable

import msgspec

from delegtop.dialects.claude_code.places import Place, place
from delegtop.dialects.claude_code.tree import Emit, Row, Transcript

Key = tuple[str, str]
_RECALLED = 512
_RUN = "run:"
"""Stands before the id of a workflow's run, which lives among the agents' ids."""


class File(msgspec.Struct):
    """What is remembered of one file while it is read."""

    path: str
    place: Place
    transcript: Transcript | None = None
    session: str | None = None
    heard: dict[int, None] = msgspec.field(default_factory=dict)
    """The notices that were told: each comes by up to three carriers."""
    ended: dict[str, None] = msgspec.field(default_factory=dict)
    """The rows whose end this file told and has not taken back. There may be thousands of files, and an empty set is
    three times as large as an empty dict."""
    inline: dict[str, Transcript] = msgspec.field(default_factory=dict)
    """The transcripts of agents within this file, by the latest records of each."""

    def recall(self, uuid: str, transcript: Transcript) -> None:
        self.inline[uuid] = transcript
        if len(self.inline) > _RECALLED:
            del self.inline[next(iter(self.inline))]


class Family:
    """The rows and transcripts of a project."""

    def __init__(self, emit: Emit, elder: "Family | None" = None) -> None:
        self.emit = emit
        self.elder = elder
        """The family that read it all before, if lines are only told once more."""
        self.files: dict[str, File] = {}
        self.rows: dict[str, Row] = {}
        self.links: dict[Key, Row] = {}
        self._transcripts: dict[Key, Transcript] = {}
        self._waiting: dict[Key, list[Callable[[Row], None]]] = {}
        self._unknown: dict[str, list[Callable[[Row], None]]] = {}
        """What waits for a row, by the row's id."""
        self._prompted: dict[tuple[str, int], list[Transcript]] = {}
        self._asked: dict[tuple[str, int], list[Row]] = {}

    def file(self, path: str) -> File:
        file = self.files.get(path)
        if file is None:
            file = self.files[path] = File(path, place(path))
            before = self.elder.files.get(path) if self.elder else None
            if before is not None:
                self._inherit(file, before)
        return file

    def _inherit(self, file: File, before: File) -> None:
        """Know whose file it is, so that a single line of it can be told."""
        file.session = before.session
        known = before.transcript
        if known is None or known.row is None:
            return
        transcript = file.transcript = Transcript(known.session, known.agent, known.is_trunk)
        transcript.began = True
        transcript.described = ("place", "model", "prompt")
        self._shell(known.row).adopt(transcript)

    def _shell(self, known: Row) -> Row:
        """A row that was shown before, for lines that are told once more."""
        row = self.rows.get(known.id)
        if row is None:
            row = self.rows[known.id] = Row(known.id, self.emit, known.at, known.origin, known.agent)
            row.show(known.parent, known.depth)
        return row

    # -- rows ------------------------------------------------------------------------------------------------------

    def row(self, id: str) -> Row | None:
        row = self.rows.get(id)
        if row is None and self.elder is not None and id in self.elder.rows:
            return self._shell(self.elder.rows[id])
        return row

    def spawned(self, row: Row, by: Transcript, prompt: str | None) -> None:
        """A transcript tells that it started the row."""
        is_new = row.id not in self.rows
        by.spawn(row)
        if not is_new:  # a copy of the session tells it again
            return
        self.rows[row.id] = row
        for tell in self._unknown.pop(row.id, ()):
            tell(row)
        if prompt:
            key = (by.session, hash(prompt.strip()))
            self._asked.setdefault(key, []).append(row)
            self._match(key)

    def with_row(self, id: str, tell: Callable[[Row], None]) -> None:
        """Do something with the row, now or when it is known."""
        row = self.row(id)
        if row is not None:
            tell(row)
        else:
            self._unknown.setdefault(id, []).append(tell)

    # -- agents ----------------------------------------------------------------------------------------------------

    def agent(self, session: str, agent: str) -> Transcript:
        """The transcript of an agent; a new one waits until something links it to a row."""
        key = (session, agent)
        transcript = self._transcripts.get(key)
        if transcript is None:
            transcript = self._transcripts[key] = Transcript(session, agent, is_trunk=False)
            if key in self.links:
                self.links[key].adopt(transcript)
        return transcript

    def run(self, session: str, run: str) -> Transcript:
        """What stands for the run of a workflow: its agents hang below it."""
        return self.agent(session, _RUN + run)

    def link(self, session: str, agent: str, row: Row) -> bool:
        """The agent works for the row; True if that is news. The first word stays: it may be given more work later."""
        key = (session, agent)
        if key in self.links:
            return False
        self._tie(key, row)
        return True

    def link_run(self, session: str, run: str, row: Row) -> None:
        self.link(session, _RUN + run, row)

    def name(self, session: str, name: str, row: Row) -> None:
        """The agent goes by a name, until another takes it."""
        self._tie((session, name), row)

    def _tie(self, key: Key, row: Row) -> None:
        self.links[key] = row
        transcript = self._transcripts.get(key)
        if transcript is not None:
            row.adopt(transcript)
        for tell in self._waiting.pop(key, ()):
            tell(row)

    def with_agent(self, session: str, agent: str, tell: Callable[[Row], None]) -> None:
        """Do something with the row of an agent, now or when it is known."""
        row = self.links.get((session, agent))
        if row is None and self.elder is not None:
            known = self.elder.links.get((session, agent))
            row = self._shell(known) if known else None
        if row is not None:
            tell(row)
        elif self.elder is None:
            self._waiting.setdefault((session, agent), []).append(tell)

    # -- prompts ---------------------------------------------------------------------------------------------------

    def prompted(self, transcript: Transcript, prompt: str) -> None:
        """The first prompt of an agent: where nothing else links it, the one it was started with does."""
        if transcript.prompt is not None:
            return
        transcript.prompt = hash(prompt.strip())
        if transcript.row is not None:
            return
        key = (transcript.session, transcript.prompt)
        if transcript.agent is None:  # within its parent's file, where the order tells same prompts apart
            row = next((row for row in self._asked.get(key, ()) if not row.transcripts), None)
            if row is not None:
                row.adopt(transcript)
            return
        self._prompted.setdefault(key, []).append(transcript)
        self._match(key)

    def _match(self, key: tuple[str, int]) -> None:
        """Link the one transcript and the one row of a prompt; of several it is not said which is which."""
        transcripts, rows = self._prompted.get(key, ()), self._asked.get(key, ())
        if len(transcripts) == 1 and len(rows) == 1 and transcripts[0].row is None and not rows[0].transcripts:
            agent = transcripts[0].agent
            if agent is not None:
                self.link(key[0], agent, rows[0])
                rows[0].start((("agent_id", agent),))
