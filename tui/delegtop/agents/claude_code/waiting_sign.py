"""Signs of life that are told of a block of lines only if no later one outdoes them.

Of the signs of one agent the last counts, with the most that was used, which only grows; of the others nothing is left
but the minute that something was heard in.
"""

from collections.abc import MutableSequence
from typing import TYPE_CHECKING

from delegtop.agents.claude_code.agent_rows import Transcript
from delegtop.agents.claude_code.spawns import SpawnPlace
from delegtop.base.clock import MINUTE, Millis
from delegtop.base.origin import Origin
from delegtop.dialects import Told
from delegtop.model.events import Heard
from delegtop.sources.records import LineBlock

if TYPE_CHECKING:
    from delegtop.model.call_counter import CallCounter, CallsHeard


class WaitingSign:
    """The last sign of life of a block, until it is known whether the next record outdoes it. Else it is told before
    anything changes what it would say."""

    __slots__ = ("_block", "_calls", "_found", "_heard", "_longest", "_until", "origin", "who")

    def __init__(
        self, block: LineBlock, found: MutableSequence[Told], longest: int, calls: "CallCounter | None"
    ) -> None:
        self._block = block
        self._found = found
        """What each line of the block told so far."""
        self._longest = longest
        self._calls = calls
        self._heard: CallsHeard | None = None
        """Where calls are counted by signs of life, whether or not they are told."""
        self.who: Transcript | None = None
        """Whose sign waits, which is that of the moment when it was heard of last; None while none does."""
        self._until = Millis(0)
        self.origin: Origin | None = None
        """Of the record that told the sign."""

    def renew(self, who: Transcript, at: Millis, origin: Origin) -> None:
        """Let a sign of the same transcript wait, which outdoes the one before."""
        before = who.heard_at
        if before is None or at > before:
            if at >= self._until:
                self.leave(at)
            who.heard_at = at
        else:
            at = before
        self.origin = origin
        if self._heard is None:
            return
        if who.open:  # as `_count`: this is done for nearly every record
            call = next(iter(who.open.values()))
            self._heard.hear(call.phase, call.name, call, at, call.at, 0)
        else:
            self._heard.hear(who.rest, None, None, at, who.since, who.asked)

    def leave(self, at: Millis) -> None:
        """It is outdone by a sign of that moment: if that is of another minute, nothing but its own time is told."""
        if at >= self._until and self.who is not None and self.origin is not None:
            self._put(Heard(self.who.id, self.who.heard_at, self.origin), self.origin)
            self._until = Millis(at - at % MINUTE + MINUTE)

    def begin(self, here: SpawnPlace) -> bool:
        """Let the sign that this record is wait, while no other does; False if it has to be told at once."""
        who, at = here.who, here.at
        if at is None or who.row is None or not who.row.is_shown:
            return False
        self.who, self.origin, at = who, here.origin, who.later(at)
        self._until = Millis(at - at % MINUTE + MINUTE)
        if self._calls is not None:
            self._heard = self._calls.of(here.origin.source, who.id)
            _count(self._heard, who, at)
        return True

    def tell(self) -> None:
        """Nothing outdoes it."""
        if self.who is not None and self.origin is not None:
            self._put(self.who.sign(self.who.heard_at, self.origin), self.origin)
            self.who = None

    def _put(self, sign: Heard, origin: Origin) -> None:
        number = origin.line - self._block.line
        told = self._found[number]
        if told is None:
            self._found[number] = (sign,) if len(self._block.raws[number]) > self._longest else sign
        else:
            self._found[number] = (*told, sign) if isinstance(told, tuple) else (told, sign)


def _count(heard: "CallsHeard", who: Transcript, at: Millis) -> None:
    """What a sign of that moment says of calls. Of several the first holds the others up."""
    if who.open:
        call = next(iter(who.open.values()))
        heard.hear(call.phase, call.name, call, at, call.at, 0)
    else:
        heard.hear(who.rest, None, None, at, who.since, who.asked)
