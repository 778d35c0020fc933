"""Rows and transcripts, and what ties them together, in whatever order the files of a project are read.

A `Row` is a delegation: it is known from the record that started it, and shown once its parent is. A `Transcript` is
what one agent wrote: whose row it tells of is known only when something links the two. Until then both keep what they
have to say; of the many signs of life in a transcript only the latest is kept, because only the latest counts.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from delegtop.agents.claude_code import PRODUCT
from delegtop.agents.claude_code.pursuit import Pursuit
from delegtop.agents.claude_code.wire import WireUsage
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects.kit.loops import Repeats
from delegtop.dialects.kit.tokens import Charge, Tokens, together
from delegtop.model.events import Ended, Ending, Event, Fault, Heard, Noted, Outcome, Report, Started
from delegtop.model.notes import NO_LOG
from delegtop.model.usage import Usage

Emit = Callable[[Event], None]
_replace = msgspec.structs.replace
_COMPACTS = "acompact-"
"""How the ids of agents begin that sum up a session."""
_NO_LOG = "it works in the background, and its log is not here"


class UsedAside(NamedTuple):
    """What one used that is counted as another's, and when."""

    at: Millis
    tokens: int
    charges: tuple[Charge, ...]

    def after(self, other: "UsedAside") -> "UsedAside":
        """Both, as if they had been used at once."""
        used = together(None, (*other.charges, *self.charges)) or ()
        return UsedAside(self.at, other.tokens + self.tokens, tuple((each.account, each.counts) for each in used))


class AgentRow:
    """One delegation."""

    __slots__ = (
        "_emit",
        "_held",
        "agent",
        "at",
        "depth",
        "id",
        "is_shown",
        "origin",
        "parent",
        "progress",
        "sent_off",
        "tellers",
        "transcripts",
        "words",
    )

    def __init__(self, id: str, emit: Emit, at: Millis | None, origin: Origin, agent: str | None = None) -> None:
        self.id = id
        self.at = at
        self.origin = origin
        self.agent = agent
        """Its kind, if the record that started it says so."""
        self.parent: str | None = None
        self.depth = 0
        self.tellers = 0
        """The sessions that tell of its start and are read now."""
        self.progress: Pursuit | None = None
        """What it is in the middle of, as the file of its parent tells."""
        self.sent_off: tuple[Millis, Origin] | None = None
        """When it was sent to the background while its own transcript was not seen yet."""
        self.transcripts: list[Transcript] = []
        self.words: list[tuple[Millis, Ending]] = []
        """When others said that it was completed: its own transcript may know better."""
        self.is_shown = False
        self._emit = emit
        self._held: list[Event] | None = []

    def say(self, event: Event) -> None:
        """Tell something of it, now or as soon as it is shown."""
        if self._held is not None:
            self._held.append(event)
        elif type(event) is Started:
            self._emit(_replace(event, parent=self.parent, depth=self.depth))
        else:
            self._emit(event)

    def start(self, refs: tuple[tuple[str, str], ...], agent: str | None = None) -> None:
        """Tell that it was started, or more about it; always as the record that started it, whoever tells."""
        self.say(Started(self.id, self.at, self.origin, agent=agent, refs=refs, product=PRODUCT.name))

    def show(self, parent: str | None, depth: int) -> None:
        """Its place in the tree is known."""
        if self._held is None:
            return
        self.parent, self.depth, self.is_shown = parent, depth, True
        held, self._held = self._held, None
        for event in held:
            self.say(event)
        for transcript in self.transcripts:
            transcript.speak_up()

    def end(
        self,
        at: Millis | None,
        origin: Origin,
        outcome: Outcome,
        by: Ending = Ending.RETURN,
        report: Report | None = None,
    ) -> None:
        """Somebody says how it ended. That it was completed may be contradicted by its own transcript."""
        self.say(Ended(self.id, at, origin, outcome, by, report or Report()))
        if outcome is not Outcome.COMPLETED or at is None:
            return
        self.words.append((at, by))
        for transcript in self.transcripts:
            transcript.contradict(self, at, by)

    def send_off(self, at: Millis | None, origin: Origin) -> None:
        """It works in the background from now on: its parent's file tells no more, and its own may not be here."""
        self.progress = None
        if self.transcripts or at is None:
            return
        self.say(Heard(self.id, at, origin))
        self.say(Noted(self.id, at, origin, NO_LOG, _NO_LOG))
        self.sent_off = (at, origin)

    def adopt(self, transcript: "Transcript") -> None:
        """The transcript tells of this row."""
        if transcript.row is not None:
            return
        if self.sent_off is not None:
            at, origin = self.sent_off
            self.say(Noted(self.id, Millis(at + 1), origin, NO_LOG, ""))
        transcript.row = self
        self.transcripts.append(transcript)
        for at, by in self.words:
            transcript.contradict(self, at, by)
        if self.is_shown:
            transcript.speak_up()


class Failure(msgspec.Struct, frozen=True):
    """An error of the model's service that ended an agent's turn."""

    at: Millis
    origin: Origin
    fault: Fault


class Transcript(Pursuit):
    """What one agent wrote, and what it is in the middle of."""

    __slots__ = (
        "_held",
        "_latest",
        "agent",
        "aside",
        "began",
        "below",
        "compacts",
        "counted",
        "failures",
        "finished",
        "has_model",
        "has_place",
        "has_prompt",
        "heard_at",
        "is_trunk",
        "prompt",
        "repeats",
        "row",
        "sent",
        "session",
        "tokens",
        "turns",
    )

    def __init__(self, session: str, agent: str | None, is_trunk: bool) -> None:
        super().__init__()
        self.session = session
        self.agent = agent
        self.is_trunk = is_trunk
        self.compacts = agent is not None and agent.startswith(_COMPACTS)
        """Nobody delegated to it: it sums up what the session said so far."""
        self.row: AgentRow | None = None
        self.below: list[AgentRow] = []
        """What it started before its own place was known."""
        self.repeats = Repeats()
        self.tokens = Tokens()
        self.counted: tuple[str, WireUsage] | None = None
        """The answer that was counted last, and what it used, if that is charged to a model."""
        self.aside: Sequence[UsedAside] = ()
        """What others used that is counted as its own."""
        self.began = False
        self.prompt: int | None = None
        """The hash of the first prompt."""
        self.has_place = self.has_model = self.has_prompt = False
        """Whether it was told where it works, with which model, and what it was asked to do."""
        self.sent: dict[str, tuple[str, Millis | None]] = {}
        """Messages to other agents, by the id of the tool use: to whom and when."""
        self.turns: list[tuple[Millis | None, Origin, Outcome]] = []
        self.finished = False
        """Its sidecar says that it is done."""
        self.failures: list[Failure] = []
        self._held: list[Event] = []
        self._latest: Heard | None = None
        self.heard_at: Millis | None = None
        """The latest moment of its signs of life."""

    @property
    def id(self) -> str:
        return self.row.id if self.row else ""

    def say(self, event: Event) -> None:
        """Tell something of the agent itself, now or as soon as its row is shown."""
        if self.row is not None and self.row.is_shown:
            self.row.say(event)
        else:
            self._held.append(event)

    def spawn(self, row: AgentRow) -> None:
        """It started another."""
        if self.row is not None and self.row.is_shown:
            row.show(self.row.id, self.row.depth + 1)
        else:
            self.below.append(row)

    def hear(self, at: Millis | None, origin: Origin, note: str | None = None) -> None:
        """A sign of life, with what it is doing."""
        if at is not None:
            at = self.later(at)
        row, heard = self.row, self.sign(at, origin, note)
        if row is not None and row.is_shown:
            row.say(heard)
        elif at is not None:
            self._latest = heard

    def later(self, at: Millis) -> Millis:
        """When that happened. Times step back now and then; what stands later happened later."""
        before = self.heard_at
        self.heard_at = at if before is None or at > before else before
        return self.heard_at

    def sign(self, at: Millis | None, origin: Origin, note: str | None = None) -> Heard:
        """A sign of life as it is told of that moment, with what it is doing now."""
        tokens, used = self.spent(at) if self.aside else (self.tokens.total, self.tokens.used)
        return self.told(self.id, at, origin, note, tokens, used)

    def spent(self, at: Millis | None) -> tuple[int | None, tuple[Usage, ...] | None]:
        """All tokens up to that moment: how many were new, and what was used of each model."""
        aside = [each for each in self.aside if at is None or each.at <= at]
        used = together(self.tokens.used, (charge for each in aside for charge in each.charges))
        return (self.tokens.total or 0) + sum(each.tokens for each in aside) or None, used

    def speak_up(self) -> None:
        """Its row is shown: tell what was kept, and show what it started."""
        held, self._held = self._held, []
        latest, self._latest = self._latest, None
        row = self.row
        if row is None:
            return
        for event in held:
            row.say(_replace(event, id=row.id))
        if latest is not None:
            tokens, used = self.spent(latest.at) if self.aside else (self.tokens.total, self.tokens.used)
            row.say(_replace(latest, id=row.id, tokens=tokens, used=used))
        below, self.below = self.below, []
        for spawned in below:
            spawned.show(row.id, row.depth + 1)

    def leave(self) -> None:
        """It is put away, and its row no longer speaks for it."""
        if self.row is not None:
            self.row.transcripts.remove(self)
            self.row = None

    def fail(self, failure: Failure) -> None:
        """An error ended its turn, whatever others say of it."""
        self.failures.append(failure)
        if self.row is None:
            return
        for at, by in self.row.words:
            self._overrule(self.row, failure, at, by)

    def contradict(self, row: AgentRow, at: Millis, by: Ending) -> None:
        """Others say that it was completed at that moment; it may have failed just before."""
        for failure in self.failures:
            self._overrule(row, failure, at, by)

    def _overrule(self, row: AgentRow, failure: Failure, at: Millis, by: Ending) -> None:
        first = min((word for word, _ in row.words if word >= failure.at), default=at)
        if failure.at <= at == first:
            row.say(Ended(row.id, at, failure.origin, Outcome.FAILED, by, Report(errors=(failure.fault,))))
