"""Doing what was planned: one rung, step by step, each checked at the moment it is done.

It is written down before it is done, and not done if that fails. What comes of it is not asked of the answer.
"""

import subprocess
from collections.abc import Callable
from secrets import token_hex
from typing import NamedTuple

from delegtop import act_log
from delegtop.act import control_socket, server_requests, signal_sending
from delegtop.act.acting import Acting
from delegtop.act.planned_steps import (
    PlannedCommand,
    PlannedInterrupt,
    PlannedRequest,
    PlannedSignal,
    PlannedStep,
    targets,
)
from delegtop.act.signal_sending import RefusalError
from delegtop.act.stop_plan import Rung, RungPlan, StopPlan
from delegtop.base.clock import Millis, WallClock
from delegtop.base.secrets import mask
from delegtop.base.system_errors import reason_of
from delegtop.base.text import folded, line

_PATIENCE = 30.0
_SHOWN = 160


class SentStep(NamedTuple):
    """What was done, and when."""

    at: Millis
    words: str
    """`TERM sent`."""


class TakenRung(NamedTuple):
    """What became of asking for one rung."""

    act: str
    """By what the act log knows it; nothing if it was refused before it was begun."""
    rung: Rung
    sent: tuple[SentStep, ...] = ()
    refused: str = ""
    """Why it was not done, or not all of it."""
    gone_at: Millis | None = None
    """When its process was seen to go, if that was soon."""


def take(
    plan: StopPlan,
    rung: RungPlan,
    acting: Acting,
    *,
    by: str,
    typed: str = "",
    tell: Callable[[SentStep], None] = lambda _sent: None,
) -> TakenRung:
    """Do it. It may take seconds: whoever has a screen asks for it from a thread. `tell` hears of each step."""
    act, sent = "", list[SentStep]()
    gone_at: Millis | None = None
    try:
        _check(plan, rung, acting, typed)
        act = _written_down(plan, rung, by)
        for step in rung.steps:
            if isinstance(step, PlannedSignal) and step.after and signal_sending.is_gone(step.target, step.after):
                gone_at = WallClock().now()
                continue
            _do(step, acting)
            sent.append(SentStep(WallClock().now(), _said(step)))
            tell(sent[-1])
    except RefusalError as refusal:
        return TakenRung(act, rung.rung, tuple(sent), str(refusal))
    return TakenRung(act, rung.rung, tuple(sent), gone_at=gone_at)


def _check(plan: StopPlan, rung: RungPlan, acting: Acting, typed: str) -> None:
    why = "" if acting.enabled else acting.why_not
    why = why or plan.refused or rung.why_not
    if not why and rung.typed and typed != rung.typed:
        why = f"to kill it, the name of its program must be typed: {rung.typed}"
    if not why and acting.only is not None and not all(isinstance(step, PlannedSignal) for step in rung.steps):
        why = acting.why_not_these
    if why:
        raise RefusalError(why)


def _written_down(plan: StopPlan, rung: RungPlan, by: str) -> str:
    """Put it into the act log; returns what it is called there."""
    act = token_hex(6)
    words = "; then ".join(step.words for step in rung.steps)
    more: dict[str, object] = {"rung": rung.rung.value, "by": by}
    more |= {
        "processes": [
            {"pid": each.pid, "started": each.started, "user": each.user, "command": each.words}
            for each in targets(rung.steps)
        ]
    }
    told = line(mask(f"{rung.rung} rung: {words}"))
    try:
        act_log.add(act_log.ActLine(WallClock().now(), act_log.ACT, act, plan.id, told, plan.log, more))
    except OSError as error:
        told = line(reason_of(error))
        raise RefusalError(f"{act_log.place()} cannot be written ({told}), so nothing was done") from None
    return act


def _do(step: PlannedStep, acting: Acting) -> None:
    match step:
        case PlannedSignal():
            signal_sending.send(step.target, step.number, acting.allows)
        case PlannedRequest():
            server_requests.post(step.server, step.host, step.port, step.path, step.program)
        case PlannedInterrupt():
            control_socket.interrupt(step.socket, step.thread)
        case PlannedCommand():
            _run(step.words_of_it)


def _said(step: PlannedStep) -> str:
    return f"{step.brief} sent" if isinstance(step, PlannedSignal) else f"{step.brief} asked for"


def _run(words: tuple[str, ...]) -> None:
    quiet = subprocess.DEVNULL
    try:
        done = subprocess.run(  # noqa: S603 -- a program's own command, which its product declares, and no shell
            words, stdin=quiet, capture_output=True, timeout=_PATIENCE, check=False, start_new_session=True
        )
    except subprocess.TimeoutExpired:
        raise RefusalError(f"{words[0]} did not answer within {_PATIENCE:g} s") from None
    except OSError as error:
        raise RefusalError(f"{words[0]} cannot be run: {reason_of(error)}") from None
    if done.returncode:
        told = (done.stderr or done.stdout).decode("utf-8", "replace")
        raise RefusalError(f"{words[0]} says no ({done.returncode}): {line(folded(mask(told)), _SHOWN)}")
