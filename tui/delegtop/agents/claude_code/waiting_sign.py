"""Signs of life that are told of a block of lines only if no later one of the same minute outdoes them.

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
from delegtop.sources.records import Line, LineBlock

if TYPE_CHECKING:
    from delegtop.model.call_counter import CallCounter, CallsHeard


class WaitingSign:
    """The last sign of life of a block, until it is known whether the next record outdoes it. Else it is told before
    anything changes what it would say."""

    __slots__ = ("_at", "_block", "_calls", "_found", "_heard", "_longest", "_until", "_who", "origin")

    def __init__(
        self, block: LineBlock, found: MutableSequence[Told | Line], longest: int, calls: "CallCounter | None"
    ) -> None:
        self._block = block
        self._found = found
        """What each line of the block told so far."""
        self._longest = longest
        self._calls = calls
        self._heard: CallsHeard | None = None
        """Where calls are counted by signs of life, whether or not they are told."""
        self._who: Transcript | None = None
        """None while no sign waits."""
        self._at = self._until = Millis(0)
        self.origin: Origin | None = None
        """Of the record that told the sign."""

    def is_outdone(self, who: Transcript, at: Millis | None) -> bool:
        """Whether nothing is left of it after a sign of that transcript."""
        return who is self._who and at is not None and at < self._until

    def renew(self, who: Transcript, at: Millis, origin: Origin) -> None:
        """Let a sign that outdoes the one before wait in its place."""
        self._at, self.origin = who.later(at), origin
        if self._heard is not None:
            _count(self._heard, who, self._at)

    def take(self, here: SpawnPlace, *, is_alone: bool) -> bool:
        """Let the sign that this record is wait in place of the one before; False if it has to be told at once."""
        who, at = here.who, here.at
        if not is_alone or at is None or who.row is None or not who.row.is_shown:
            self._who = None
            return False
        self._who, self._at, self.origin = who, who.later(at), here.origin
        self._until = Millis(self._at - self._at % MINUTE + MINUTE)
        if self._calls is not None:
            self._heard = self._calls.of(here.origin.source, who.id)
            _count(self._heard, who, self._at)
        return True

    def tell(self) -> None:
        """Nothing outdoes it."""
        if self._who is not None and self.origin is not None:
            sign = self._who.sign(self._at, self.origin)
            number = self.origin.line - self._block.line
            self._found[number] = (sign,) if len(self._block.raws[number]) > self._longest else sign
            self._who = None


def _count(heard: "CallsHeard", who: Transcript, at: Millis) -> None:
    """What a sign of that moment says of calls. Of several the first holds the others up."""
    if who.open:
        call = next(iter(who.open.values()))
        heard.hear(call.phase, call.name, call, at, call.at, 0)
    else:
        heard.hear(who.rest, None, None, at, who.since, who.asked)
