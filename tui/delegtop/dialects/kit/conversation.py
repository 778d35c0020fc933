"""An agent's conversation as a delegation.

Chat-like logs spell it in many ways, but it is always this: a prompt, calls of tools and their results, turns that are
over, agents that are handed a part of the work, tokens, errors. What follows from these is the same for all and stands
here: a `Chat` reads the log and says what happened, and its `Conversation`s say it in events.

Of all that one record says of an agent's doing only the last is told: it is of one moment, and the last is what the
agent is in the middle of.
"""

import copy
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from datetime import UTC, tzinfo
from typing import Any, ClassVar, Self

import msgspec

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.base.product import Product
from delegtop.dialects import Dialect
from delegtop.dialects.kit.coerce import clip, gist, moment, refs_of, title
from delegtop.dialects.kit.loops import Repeats, words_of
from delegtop.dialects.kit.occupation import Call, Occupation, When
from delegtop.dialects.kit.tokens import Charge
from delegtop.model.events import (
    Described,
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Heard,
    Noted,
    Outcome,
    Phase,
    Report,
    Resumed,
    Started,
    Trust,
)
from delegtop.sources.records import Line, Record, Unreadable, records

ENDS = {
    "completed": Outcome.COMPLETED,
    "success": Outcome.COMPLETED,
    "failed": Outcome.FAILED,
    "error": Outcome.FAILED,
    "errored": Outcome.FAILED,
    "cancelled": Outcome.INTERRUPTED,
    "interrupted": Outcome.INTERRUPTED,
    "killed": Outcome.INTERRUPTED,
    "shutdown": Outcome.INTERRUPTED,
}
"""What programs call the ends of their agents."""
_BY = {Outcome.INTERRUPTED: Ending.CANCEL, Outcome.TIMEOUT: Ending.TIMEOUT, Outcome.LOST: Ending.GONE}
_CALLS = 32
"""Calls that may be told of again: records of one call stand close together."""

Refs = Mapping[str, str | None]
"""Foreign ids of an agent by their names; those that are not known are left out."""
_NO_REFS: Refs = {}


class Conversation(Occupation):
    """One agent: the session itself, or one that was handed a part of its work."""

    chat: "Chat"

    def __init__(self, chat: "Chat", id: str, *, is_child: bool = False, depth: int | None = None) -> None:
        super().__init__(chat, id)
        self.is_child = is_child
        self.depth = depth if is_child else 0

    def _forget(self) -> None:
        super()._forget()
        self.calls: dict[str, Call] = {}
        self.ended: Ended | None = None
        """How it ended, if it was not given work again since."""
        self.is_titled = False
        self.is_prompted = False
        self._repeats = Repeats()
        self._counted: dict[str, None] = {}
        self._returned: dict[str, None] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A copy to tell any one record once more: who it is about is known, and nothing of what went before."""
        twin = memo[id(self)] = copy.copy(self)
        twin.chat = copy.deepcopy(self.chat, memo)
        twin._forget()
        return twin

    # -- who it is -------------------------------------------------------------------------------------------------

    def start(
        self,
        at: When = ...,
        *,
        agent: str | None = None,
        parent: str | None = None,
        trust: Trust = Trust.SCRIPT,
        guessed: bool = False,
        refs: Refs = _NO_REFS,
    ) -> None:
        """It was begun: by a person, or by another agent."""
        agent = agent if self.is_child else agent or self.chat.product.name
        self.chat.started(self.id, at, agent, self.depth, parent, refs, trust=trust, guessed=guessed)

    def describe(self, at: When = ..., /, **words: str | None) -> None:
        """What it is, as far as a record says so."""
        self.is_titled = self.is_titled or bool(words.get("title"))
        self.is_prompted = self.is_prompted or bool(words.get("prompt"))
        self.chat.events.append(Described(self.id, self.chat.moment_of(at), self.chat.origin, **words))

    def spawn(
        self,
        child: str,
        at: When = ...,
        /,
        call: str | None = None,
        kind: str | None = None,
        refs: Refs = _NO_REFS,
        trust: Trust = Trust.SCRIPT,
        **words: str | None,
    ) -> "Conversation":
        """It handed work to another agent by a call, which has some words for it."""
        if call in self.calls and self.calls[call].phase is Phase.TOOL:
            self.calls[call] = msgspec.structs.replace(self.calls[call], phase=Phase.CHILD)
            self.go_on()
        depth = None if self.depth is None else self.depth + 1
        self.chat.started(child, at, kind, depth, self.id, refs, trust=trust)
        made = Conversation(self.chat, child, is_child=True, depth=depth)
        if words:
            made.describe(**words)
        return made

    # -- what goes on in it ----------------------------------------------------------------------------------------

    def prompt(self, text: str | None) -> None:
        """It was asked for something. The first prompt is its title too, unless it has one; for an agent that another
        called this is the weaker word, because the call says in a few words what it is for."""
        self.calls.clear()
        self._go_elsewhere()
        self.resume()
        if text and not self.is_prompted:
            if not self.is_titled:
                self.describe(None if self.is_child else ..., title=title(text))
            self.describe(prompt=clip(text))
        self.hear(Phase.MODEL)

    def call(
        self,
        id: str | None,
        tool: str | None,
        arguments: dict[str, Any],
        *,
        doing: str | None = None,
        phase: Phase | None = None,
        given: object = None,
        timeout: int | None = None,
    ) -> Call:
        """It called a tool; `given` is its input as it stands in the log, where that is not the arguments, `timeout`
        the milliseconds after which it will be ended."""
        tool = tool or "tool"
        phase = phase or self.chat.phases.get(tool, Phase.TOOL)
        at = self.chat.at
        due = Millis(at + timeout) if at is not None and timeout and timeout > 0 else None
        call = Call(tool, doing or gist(arguments), phase, arguments, at, due)
        if id not in self._returned:
            self.calls[id or ""] = call
        if id not in self._counted:
            self._remember(self._counted, id)
            chat, words = self.chat, words_of(arguments if given is None else given)
            looks = tool in chat.looking
            for note in self._repeats.called(self.id, chat.at, chat.origin, tool, words, call.doing, waits=looks):
                chat.loops[self.id] = note
        self.go_on()
        return call

    def result(self, id: str | None) -> Call | None:
        """A call came back."""
        call = self.calls.pop(id or "", None)
        self._remember(self._returned, id)
        self.go_on()
        return call

    def go_on(self, said: str | None = None) -> None:
        """It goes on: with the call made last of those that have not come back, else with its model."""
        self._now(Phase.MODEL, said)

    def rest(self, said: str | None = None) -> None:
        """It said something after which nothing comes by itself, unless a call has not come back."""
        if not self.calls:
            self._go_elsewhere()
        self._now(Phase.IDLE, said)

    def _now(self, phase: Phase, said: str | None) -> None:
        if self.calls:
            call = next(reversed(self.calls.values()))
            self.hear(call.phase, call.doing, call.tool, call=call)
        else:
            self.hear(phase, said)

    def use(self, tokens: int, message: str | None = None, charge: Charge | None = None) -> None:
        """It used so many new tokens, for that message; of one without a name nothing is told twice. `charge` tells
        what it used of which model, where the log tells kinds of tokens apart."""
        if message is not None:
            self.tokens.add(message, tokens, charge)
        else:
            self.tokens.total = (self.tokens.total or 0) + tokens
            if charge is not None:
                self.tokens.charge(charge)
        self.spent(self.tokens.total)

    def spent(self, tokens: int | None, cost: float | None = None, *, whole: bool = False) -> None:
        """It has used so much in all; `whole` if the dollars are those of its agents, too. Without a time: this does
        not tell what is going on."""
        self.tokens.total = tokens
        chat = self.chat
        heard = chat.heard.get(self.id) or Heard(self.id, None, chat.origin)
        chat.heard[self.id] = msgspec.structs.replace(
            heard, tokens=tokens or None, cost=cost, used=self.tokens.used, whole=whole
        )

    def err(self, message: str | None, type: str | None = None, *, recoverable: bool | None = True) -> None:
        """An error that does not end it."""
        chat = self.chat
        chat.events.append(Erred(self.id, chat.at, chat.origin, Fault(clip(message), type, recoverable=recoverable)))

    # -- how it ends -----------------------------------------------------------------------------------------------

    def turn_over(self, doing: str | None = None) -> None:
        """Its turn is over, whatever had not come back."""
        self.calls.clear()
        self.rest(doing)

    def end(
        self,
        outcome: Outcome,
        summary: str | None = None,
        at: When = ...,
        *,
        fault: Fault | None = None,
        by: Ending | None = None,
    ) -> None:
        """It is over, with its last turn."""
        self.calls.clear()
        self._go_elsewhere()
        self.ended = self.chat.ending(self.id, outcome, summary, at, fault=fault, by=by)
        self.chat.events.append(self.ended)

    def resume(self, *, anew: bool = False) -> None:
        """It is given work, again if it had ended: by this log, or `anew` by what another says."""
        if (self.ended or anew) and self.chat.at is not None:
            self.ended = None
            self.chat.events.append(Resumed(self.id, self.chat.at, self.chat.origin))

    def _remember(self, ids: dict[str, None], id: str | None) -> None:
        if self.chat.rewrites and id is not None:
            ids[id] = None
            if len(ids) > _CALLS:
                del ids[next(iter(ids))]

    def _go_elsewhere(self) -> None:
        """Something else is done than what was called again and again, and no call of before is told of any more."""
        self._counted.clear()
        self._returned.clear()
        for note in self._repeats.over(self.id, self.chat.at, self.chat.origin):
            self.chat.loops[self.id] = note


class Chat(Dialect):
    """A format that tells of conversations."""

    product: ClassVar[Product]
    """The program that writes it."""
    phases: ClassVar[dict[str, Phase]] = {}
    """What an agent is in the middle of while it uses a tool that is no mere tool: that waits for another agent, or for
    a person."""

    looking: ClassVar[frozenset[str]] = frozenset()
    """The tools that look how something is coming on: they are used again and again by their nature."""
    rewrites: ClassVar[bool] = False
    """Whether a call may be told of several times. Elsewhere one with the id of another is still another."""

    def __init__(self, zone: tzinfo = UTC) -> None:
        super().__init__(zone)
        self.conversations: dict[str, Conversation] = {}
        """By the file that is about it, or by another name the format knows it by."""
        self.at: Millis | None = None
        self.origin = Origin("", 1, 0)
        """When and where the record that is read was written."""
        self.events: list[Event] = []
        self.heard: dict[str, Heard] = {}
        self.loops: dict[str, Noted] = {}

    @abstractmethod
    def tell(self, value: dict[str, Any]) -> None:
        """Say what one record tells."""

    def read(self, line: Line) -> Iterable[Event | Unreadable]:
        if not line.origin.offset:  # a file that is read again from its top is another conversation
            self.conversations.pop(line.origin.source, None)
        found: list[Event | Unreadable] = []
        for record in records(line):
            if isinstance(record, Unreadable):
                found.append(record)
            else:
                found += self.translate(record)
        return found

    def translate(self, record: Record) -> list[Event]:
        return self.told(record.value, record.origin, moment(record.value.get("timestamp"), self.zone))

    def told(self, value: dict[str, Any], origin: Origin, at: Millis | None) -> list[Event]:
        """What one record tells, in events."""
        self.origin, self.at = origin, at
        events: list[Event] = []
        self.events = events
        self.tell(value)
        if self.heard:
            events += self.heard.values()
            self.heard = {}
        if self.loops:
            events += self.loops.values()
            self.loops = {}
        return events

    def retell(self, line: Line) -> Iterable[Event | Unreadable]:
        return copy.deepcopy(self).read(line)

    def needle(self, id: str, path: str) -> bytes:
        own = self.conversations.get(path)
        return b"" if own is not None and own.id == id else id.rpartition("/")[2].encode()

    def conversation(
        self, id: str, *, key: str | None = None, is_child: bool = False, depth: int | None = None
    ) -> Conversation:
        """The conversation of that name, else the one that the file is about; a new one if it is not known yet."""
        key = key or self.origin.source
        if key not in self.conversations:
            self.conversations[key] = Conversation(self, id, is_child=is_child, depth=depth)
        return self.conversations[key]

    def moment(self, value: object) -> Millis | None:
        """The moment that a value names."""
        return moment(value, self.zone)

    def moment_of(self, at: When) -> Millis | None:
        return self.at if at is ... else at

    def started(
        self,
        id: str,
        at: When = ...,
        agent: str | None = None,
        depth: int | None = None,
        parent: str | None = None,
        refs: Refs = _NO_REFS,
        *,
        trust: Trust = Trust.SCRIPT,
        listed: bool = False,
        guessed: bool = False,
    ) -> None:
        """A row of the tree was begun."""
        self.events.append(
            Started(
                id,
                self.moment_of(at),
                self.origin,
                agent=agent,
                depth=depth,
                parent=parent,
                refs=refs_of(**refs),
                trust=trust,
                listed=listed,
                product=self.product.name,
                guessed=guessed,
            )
        )

    def ending(
        self,
        id: str,
        outcome: Outcome,
        summary: str | None = None,
        at: When = ...,
        *,
        fault: Fault | None = None,
        by: Ending | None = None,
    ) -> Ended:
        """The end of a row with that answer; if it failed, the answer says why."""
        summary = clip(summary)
        if fault is None and outcome is Outcome.FAILED and summary:
            fault = Fault(summary)
        report = Report(summary=summary, errors=(fault,) if fault else ())
        return Ended(id, self.moment_of(at), self.origin, outcome, by or _BY.get(outcome, Ending.RETURN), report)
