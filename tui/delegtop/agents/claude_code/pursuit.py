"""What one agent is in the middle of: the calls that have not come back, else its model, else nothing."""

from delegtop.agents.claude_code.tools import Tool
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Heard, Phase
from delegtop.model.usage import Usage


class Pursuit:
    """Follows it from record to record."""

    __slots__ = ("asked", "message", "mode", "open", "rest", "since")

    def __init__(self) -> None:
        self.open: dict[str, Tool] = {}
        """Tools without a result, by the id of their use, in the order of the calls."""
        self.rest = Phase.MODEL
        """What it waits for while no tool is open."""
        self.since: Millis | None = None
        """Since when."""
        self.asked = 0
        """How often its model was asked since it last answered."""
        self.message: str | None = None
        """The answer that the model gave last, or gives."""
        self.mode: str | None = None
        """Its permission mode."""

    def answer(self, message: str | None) -> None:
        """The model says something. A new answer comes only when every call before it has come back, even those whose
        result could not be read."""
        if message and message != self.message:
            self.message = message
            self.open.clear()

    def come_back(self, id: str, at: Millis | None) -> Tool | None:
        """A call came back. Calls that are made at once begin one after the other, but for those that only look: the
        next may begin only now."""
        calls = self.open
        if len(calls) < 2:  # nearly always
            return calls.pop(id, None)
        was_first = id == next(iter(calls))
        tool = calls.pop(id, None)
        if was_first and at is not None:
            call = next(iter(calls.values()))
            call.at = at if call.at is None else max(call.at, at)
        return tool

    def turn_to(self, rest: Phase, at: Millis | None) -> None:
        """From now on it waits for that, once no tool is open."""
        self.rest, self.since, self.asked = rest, at, 0

    def ask(self, at: Millis | None) -> None:
        """Its model is asked: for the first time, or again, and then it waits for as long as it did before. Every call
        has come back by then."""
        self.open.clear()
        if self.rest is not Phase.MODEL:
            self.turn_to(Phase.MODEL, at)
        self.asked += 1

    def told(
        self,
        id: str,
        at: Millis | None,
        origin: Origin,
        note: str | None,
        tokens: int | None,
        used: tuple[Usage, ...] | None = None,
    ) -> Heard:
        """A sign of life. Of several calls the first holds the others up, or was at least made before them."""
        if not self.open:
            asked = self.asked or None
            return Heard(id, at, origin, note, None, tokens, None, self.rest, self.since, asked, None, self.mode, used)
        tool = next(iter(self.open.values()))
        doing, phase = note or tool.asked.doing, tool.asked.phase
        return Heard(id, at, origin, doing, tool.name, tokens, None, phase, tool.at, None, tool.due, self.mode, used)
