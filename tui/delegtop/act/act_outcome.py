"""What came of an act: judged by what the log and the kernel say next, never by an answer."""

import re
from contextlib import suppress
from datetime import tzinfo
from enum import StrEnum
from typing import NamedTuple

from delegtop import act_log
from delegtop.act.performing import SentStep, TakenRung
from delegtop.act.planned_steps import targets
from delegtop.act.process_identity import ProcessIdentity, is_same
from delegtop.act.stop_plan import Rung, RungPlan, StopPlan
from delegtop.base.clock import SECOND, Millis, wall
from delegtop.base.origin import Origin
from delegtop.base.secrets import mask
from delegtop.base.text import line
from delegtop.model.delegation import Delegation
from delegtop.model.forest import Forest
from delegtop.model.states import ACTIVE

PATIENCE = 30 * SECOND
"""So long something may take to show."""
_EXIT = re.compile(rb"""[Ee]xit(?:ed)?[ _]?(?:with )?(?:[Cc]ode|status)\\?["':= ]{1,4}(-?\d{1,3})\b""")
_READ = 256 * 1024
_TEXT = (".jsonl", ".ndjson", ".json", ".log")
"""How the names of logs end whose lines can be read one by one."""


class Upshot(StrEnum):
    """How an act stands."""

    WAITING = "waiting"
    SEEN = "seen"
    """What was asked for has happened."""
    UNSEEN = "not seen"
    """It was asked for, and nothing that can be seen has come of it."""
    REFUSED = "refused"


class _Heard(NamedTuple):
    """By what a log is known to have moved on."""

    origin: Origin | None
    at: Millis | None
    phase: str | None
    tool: str | None
    since: Millis | None
    doing: str | None


class ActWatch:
    """One act, from before it is done until it is known what came of it."""

    def __init__(self, plan: StopPlan, rung: RungPlan, forest: Forest, zone: tzinfo | None = None) -> None:
        self.plan, self.rung = plan, rung
        self.sent: list[SentStep] = []
        self.taken: TakenRung | None = None
        """Once all that was planned was done, or refused."""
        self.standing = Upshot.WAITING
        self._zone = zone
        self._targets: list[ProcessIdentity] = targets(rung.steps)
        handle = forest.find(plan.id)
        self._before = _heard(forest.delegation(handle)) if handle is not None else None
        self._gone_at: Millis | None = None
        self._log_words = ""
        self._shell_goes_on = False

    def look(self, forest: Forest, now: Millis, patience: int = PATIENCE) -> Upshot:
        """How it stands now; what it says then is in `words`. Once it is settled that is written down."""
        if self.standing is not Upshot.WAITING:
            return self.standing
        if self._targets and self._gone_at is None and self.taken is not None and not any(map(is_same, self._targets)):
            self._gone_at = self.taken.gone_at if self.taken is not None and self.taken.gone_at is not None else now
        handle = forest.find(self.plan.id)
        moved = self._hear(forest.delegation(handle)) if handle is not None and self.sent else False
        shell = self.rung.shell
        self._shell_goes_on = self._gone_at is not None and not moved and shell is not None and is_same(shell)
        at_rest = handle is not None and forest.state(handle) not in ACTIVE
        if self.taken is not None:
            if self._has_happened(moved, at_rest):
                self._settle(Upshot.SEEN, now)
            elif self.taken.refused and not self.sent:
                self._settle(Upshot.REFUSED, now)
            elif now >= self._last_sent(now) + patience:
                self._settle(Upshot.UNSEEN, now, patience)
        return self.standing

    def _last_sent(self, now: Millis) -> Millis:
        return self.sent[-1].at if self.sent else now

    def _has_happened(self, moved: bool, at_rest: bool) -> bool:
        if not self.sent:
            return False
        gone = self._gone_at is not None
        if self.rung.rung is Rung.TOOL:
            return gone and (moved or at_rest)
        if self.rung.rung in (Rung.PROCESS, Rung.KILL):
            return gone
        return gone or at_rest

    def _hear(self, facts: Delegation) -> bool:
        """Whether its log has moved on since; what it says is remembered."""
        now = _heard(facts)
        if self._before is None or now.at is None or now == self._before or now.at <= (self._before.at or 0):
            return False
        if not self._log_words:
            code = _exit_code(self._before.origin, now.origin)
            told = f"exit {code} seen" if code else "its log went on"
            self._log_words = f"{told} {wall(now.at, self._zone)}"
        return True

    def _settle(self, standing: Upshot, now: Millis, patience: int = 0) -> None:
        self.standing = standing
        if standing is Upshot.UNSEEN:
            still = f" {self._still()}" if self._gone_at is None and self._targets else ""
            self._log_words = f"nothing changed for {patience // SECOND} s;{still} take the next rung?"
        act = self.taken.act if self.taken is not None else ""
        if not act:
            return
        more = {"rung": self.rung.rung.value, "outcome": standing.value}
        words = line(mask(f"{self.rung.rung} rung: {self.words}"))
        with suppress(OSError):  # that it was done stands there already
            act_log.add(act_log.ActLine(now, act_log.OUTCOME, act, self.plan.id, words, self.plan.log, more))

    def _still(self) -> str:
        return f"pid {self._targets[0].pid} is still there:"

    @property
    def words(self) -> str:
        """`TERM sent 14:03:11; its process ended 14:03:12; exit 143 seen 14:03:12; the path moved on`."""
        refused = self.taken.refused if self.taken is not None else ""
        if self.standing is Upshot.REFUSED:
            return f"not done: {refused}"
        told = [f"{step.words} {wall(step.at, self._zone)}" for step in self.sent]
        if self._gone_at is not None and self.sent:
            told.append(f"its process ended {wall(self._gone_at, self._zone)}")
        if self._shell_goes_on:
            told.append(f"its shell ({self.rung.shell}) goes on")
        told += [self._log_words] if self._log_words else []
        if refused:
            told.append(f"then not done: {refused}")
        if self.standing is Upshot.SEEN:
            told.append(_MOVED.get(self.rung.rung, "it is stopped"))
        elif self.standing is Upshot.WAITING:
            told.append("looking at what log and kernel say")
        return "; ".join(told)


_MOVED = {Rung.TOOL: "the path moved on", Rung.PROCESS: "its process is gone", Rung.KILL: "its process is gone"}


def _heard(facts: Delegation) -> _Heard:
    return _Heard(facts.heard_origin, facts.heard_at, facts.phase, facts.tool, facts.phase_since, facts.doing)


def _exit_code(before: Origin | None, now: Origin | None) -> str:
    """The exit code that a log tells after what was known before; nothing if it tells none."""
    if before is None or now is None or before.source != now.source or not now.source.endswith(_TEXT):
        return ""
    try:
        with open(now.source, "rb") as file:  # noqa: PTH123 -- as the source is spelled
            file.seek(before.offset)
            _, *new = file.read(_READ).split(b"\n")
    except OSError:
        return ""
    found = [match[1].decode() for line in new if (match := _EXIT.search(line))]
    return found[0] if found else ""
