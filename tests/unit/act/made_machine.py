"""A machine as a test wants it, and sessions as logs and kernel tell of them."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.telling import handle_of

from delegtop.act.acting import Acting
from delegtop.act.plan_sight import PlanSight
from delegtop.act.planning import stop_plan
from delegtop.act.process_identity import ProcessIdentity
from delegtop.act.stop_plan import StopPlan
from delegtop.base.clock import Millis, WallClock
from delegtop.base.origin import Origin
from delegtop.base.product import Product
from delegtop.diagnosis.assessments import Assessments
from delegtop.model.delegation import Delegation
from delegtop.model.events import LOCALHOST, Event, Heard, Phase, Started
from delegtop.model.forest import Forest
from delegtop.model.session_manner import JOB, KERNEL, MANNER, PROC_START, SEEN, Manner

SESSION, CHILD = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
PID, TICKS = 3_999_999, "77"
NOW = WallClock().now()
LOG = Origin("/home/u/run.jsonl", 1, 0)


class MadeMachine(PlanSight):
    """It has the process of the session, and what else it is given."""

    def __init__(
        self,
        *,
        name: str = "claude",
        ports: Mapping[int, list[tuple[str, int]]] | None = None,
        socket: Path | None = None,
        listens: bool = True,
        commands: tuple[str, ...] = ("claude",),
        user: int | None = None,
        ignores: bool = False,
        runs: bool = True,
    ) -> None:
        me = os.getuid() if user is None else user
        self._process = ProcessIdentity(PID, TICKS, me, (name, "--model", "opus"))
        self._ports, self._socket, self._listens = ports or {}, socket, listens
        self._commands, self._ignores, self._runs = commands, ignores, runs

    def identity(self, pid: int) -> ProcessIdentity | None:
        return self._process if pid == PID else None

    def runs(self, process: ProcessIdentity, program: Product) -> bool:  # noqa: ARG002 -- the same for all
        return self._runs

    def is_written_by_others(self, facts: Delegation) -> bool:  # noqa: ARG002 -- it has no files
        return False

    def runs_us(self, pid: int) -> bool:  # noqa: ARG002 -- the same for all
        return False

    def ports(self, pid: int) -> list[tuple[str, int]]:
        return self._ports.get(pid, [])

    def ignores(self, pid: int, number: int) -> bool:  # noqa: ARG002 -- the same for all
        return self._ignores

    def command(self, name: str) -> str | None:
        return f"/usr/bin/{name}" if name in self._commands else None

    def socket_above(self, log: str, name: str) -> Path | None:  # noqa: ARG002 -- the same for all
        return self._socket

    def listens_at(self, pid: int, path: Path) -> bool:  # noqa: ARG002 -- the same for all
        return self._listens


def told(product: str | None, manner: Manner = Manner.TERMINAL, **more: Any) -> list[Event]:
    """A session of that program and an agent below it, both at work."""
    refs: tuple[tuple[str, str], ...] = ((PROC_START, more.pop("ticks", TICKS)), (SEEN, KERNEL), (MANNER, manner.value))
    refs += ((JOB, "b1c2"),) if manner is Manner.BACKGROUND else ()
    session, child = more.pop("ids", (SESSION, CHILD))
    facts: dict[str, Any] = {"pid": PID, "host": LOCALHOST, "refs": refs, "product": product, "agent": "main"} | more
    return [
        Started(session, NOW, LOG, **facts),
        Heard(session, NOW, LOG, phase=Phase.CHILD),
        Started(child, NOW, LOG, agent="worker", parent=session, product=product),
        Heard(child, Millis(NOW + 1), LOG, doing="make all", tool="Bash", phase=Phase.TOOL),
    ]


def planned(
    events: list[Event], id: str, machine: PlanSight | None = None, acting: Acting | None = None, refused: str = ""
) -> StopPlan:
    forest = Forest()
    forest.apply(events)
    forest.advance(Millis(NOW + 2))
    return stop_plan(
        Assessments(forest), handle_of(forest, id), machine or MadeMachine(), acting or Acting(True), refused
    )
