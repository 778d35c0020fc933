"""The words all tabs share: moments, the dash for what is unknown, and the gate for foreign text."""

from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cached_property

from textual.content import Content

from delegtop.base import text
from delegtop.base.clock import SECOND, Millis, duration
from delegtop.diagnosis.assessment import Assessment
from delegtop.diagnosis.assessments import Assessments
from delegtop.model.delegation import Delegation
from delegtop.model.events import Ending, Phase
from delegtop.model.forest import Forest
from delegtop.model.store.ledger import Handle
from delegtop.report import privacy

PHASES = {
    Phase.MODEL: "waits for the model",
    Phase.PERMISSION: "waits until a person allows it",
    Phase.ANSWER: "waits for a person's answer",
    Phase.CHILD: "waits for its child",
    Phase.IDLE: "idle",
}
ENDINGS = {
    Ending.UNSEEN: "its log shows only what is over",
    Ending.ERROR: "a non-recoverable error without a return",
    Ending.GONE: "its process is gone",
    Ending.TIMEOUT: "a timeout was recorded",
    Ending.CANCEL: "it was cancelled",
    Ending.REGISTRY: "the registry said so",
    Ending.RETURN: "it returned",
}
"""What told that it ended."""
MUTED = "$row-muted"
DASH = Content.styled("–", MUTED)


@dataclass(frozen=True)
class PageSubject:
    """The delegation a tab speaks of."""

    assessments: Assessments
    handle: Handle
    zone: tzinfo | None = None
    """The zone moments are shown in; None is that of this machine."""
    ascii: bool = False
    masked: bool = True
    """Whether secrets in foreign text are hidden."""

    @property
    def forest(self) -> Forest:
        return self.assessments.forest

    @property
    def now(self) -> Millis:
        """The moment its host is known at."""
        return self.forest.now_of(self.handle)

    @cached_property
    def assessment(self) -> Assessment:
        """What is the matter with it."""
        return self.assessments.of(self.handle)

    @cached_property
    def delegation(self) -> Delegation:
        """Its facts, the secrets in them hidden."""
        return self.facts_of(self.handle)

    def facts_of(self, handle: Handle) -> Delegation:
        facts = self.forest.delegation(handle)
        return privacy.masked(facts) if self.masked else facts

    def moment(self, at: Millis | None) -> str:
        return moment(at, self.now, self.zone)

    def hide(self, text: str) -> str:
        """Foreign text that did not come with the facts, the secrets in it hidden."""
        return privacy.hiding(self.masked)(text)


def foreign(value: str | None, style: str = "") -> Content:
    """Foreign text of any length, made safe; newlines stay."""
    return Content.styled(text.safe(value, 16_000), style) if value else DASH


def one_line(value: str | None, style: str = "", limit: int = 2_000) -> Content:
    """Foreign text on one line."""
    return Content.styled(text.line(value, limit), style) if value else DASH


def heading(words: str) -> Content:
    return Content.styled(words, "bold $accent")


def said(*parts: Content | str) -> Content:
    """Parts of a sentence with a dot between them; empty ones are left out."""
    shown = [part if isinstance(part, Content) else Content.styled(part, MUTED) for part in parts if part]
    return Content.styled(" · ", MUTED).join(shown) if shown else DASH


def moment(at: Millis | None, now: Millis, zone: tzinfo | None) -> str:
    """`10:00:00`, with the day if it is another than today, in the operator's zone; nothing if unknown."""
    if at is None:
        return ""
    try:
        then = datetime.fromtimestamp(at / 1_000, zone)
        today = datetime.fromtimestamp(now / 1_000, zone).date()
    except (ValueError, OverflowError, OSError):
        return f"{at} ms"
    return then.strftime("%H:%M:%S" if then.date() == today else "%Y-%m-%d %H:%M:%S")


def ago(at: Millis | None, now: Millis) -> str:
    if at is None:
        return ""
    if abs(now - at) < SECOND:
        return "just now"
    return f"{duration(now - at)} ago" if at <= now else f"in {duration(at - now)}"


def path_of(delegation: Delegation, separator: str = " › ") -> str:
    """The path as claimed, as one safe line; nothing if none is known."""
    return separator.join(text.line(step, 200) for step in (delegation.own_path or ())[:64])


def named(subject: PageSubject, handle: Handle) -> Content:
    """Another delegation, by name and id."""
    other = subject.forest.delegation(handle)
    return Content.assemble(one_line(other.name, "bold", 80), " ", one_line(other.id, MUTED, 80))
