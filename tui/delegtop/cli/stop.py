"""`delegtop stop ID`: the plan for stopping one delegation, and with `--act` its mildest rung."""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from delegtop.base.clock import SECOND
from delegtop.cli import options, output, reading
from delegtop.cli.diagnostics import fail, say
from delegtop.cli.exit_codes import Exit
from delegtop.cli.watch import seconds
from delegtop.cli.watched_session import find

if TYPE_CHECKING:
    from delegtop.act.act_outcome import ActWatch
    from delegtop.act.acting import Acting
    from delegtop.act.aftermath import Aftermath
    from delegtop.act.stop_plan import RungPlan, StopPlan
    from delegtop.model.store.ledger import Handle
    from delegtop.observation.observation import Observation

DESCRIPTION = (
    "Show what can be done about one delegation that is stuck, mildest first: end its hung tool, abort it alone, "
    "interrupt its session, end its process. Nothing is done without --act or the user's own setting; with it the "
    "mildest rung that is possible is taken, or the one named, and what log and kernel say next is the outcome: 0 "
    "stopped and seen, 1 refused or impossible, 3 asked for and not seen (docs/acting.md)."
)
PAGE = "docs/acting.md"
EXAMPLES = {
    "delegtop stop sess_1772532120_h9w4dg logs/": "the plan; nothing is done",
    "delegtop stop sess_1772532120_h9w4dg logs/ --act": "the mildest rung",
    "delegtop stop sess_1772532120_h9w4dg logs/ --rung session --act": "its session",
}
RUNGS = ("tool", "child", "session", "process")
_PATIENCE = 30.0
_PACE = 0.5
_LOOKS = 10
_ITS_OWN = ("TOOL", "CHILD")
_IS_WELL = "nothing is the matter with it, and its session would be stopped: that is done only with --rung session"


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "id", metavar="ID", help="its id, the beginning of it, or a foreign one such as a tool_use_id or an agent_id"
    )
    reading.add(parser)
    parser.add_argument("--rung", choices=RUNGS, metavar="RUNG", help="how much to stop: tool, child, session, process")
    parser.add_argument("--kill", metavar="NAME", help="end its process by SIGKILL; NAME is that of its program")
    options.add(parser, "act", "readonly")
    parser.add_argument(
        "--timeout",
        type=seconds,
        default=_PATIENCE,
        metavar="TIME",
        help="how long to look for what comes of it, as 90 or 5m (default 30s)",
    )
    parser.add_argument("--json", action="store_true", help="print plan and outcome as JSON")
    options.add(parser, "format", "config")


def run(arguments: Namespace) -> int:
    if arguments.rung and arguments.kill:
        fail("--rung and --kill contradict each other: to kill is a rung of its own")
    settings = options.load(arguments).settings

    from delegtop.act.acting import acting

    with reading.followed(arguments, settings, waits=False) as seen:
        handle = find(seen.forest, arguments.id)
        is_unreadable = seen.places.named and bool(reading.complaints(seen.sources, seen.statuses))
        if handle is None or is_unreadable:  # with more known the plan might be another, so nothing is planned or done
            if handle is None:
                say(f"no delegation is known by {arguments.id} (delegtop tree lists them)")
            output.emit(["null"] if arguments.json else ())
            return Exit.UNREADABLE if is_unreadable else Exit.USAGE
        return _Stopping(seen, handle, acting(settings), arguments).run()


class _Stopping:
    """One plan, and perhaps one act."""

    def __init__(self, seen: "Observation", handle: "Handle", acting: "Acting", arguments: Namespace) -> None:
        self._seen, self._handle, self._acting, self._arguments = seen, handle, acting, arguments

    def run(self) -> int:
        plan = self._plan()
        wanted = self._wanted(plan)
        if not self._arguments.json:
            from delegtop.act import plan_words

            output.emit(plan_words.lines(plan, self._acting))
        if self._acting.enabled and self._takes_more_than_asked(plan, wanted):
            say(_IS_WELL)
            return self._nothing_done(plan, None)
        if not self._acting.enabled or wanted is None or not wanted.is_possible:
            return self._nothing_done(plan, wanted)
        watch = self._act(plan, wanted)
        left = self._left() if watch.standing.name == "SEEN" and wanted.rung.name != "TOOL" else None
        self._tell(plan, watch, left)
        return _EXITS[watch.standing.name]

    def _plan(self) -> "StopPlan":
        from delegtop.act.plan_sight import PlanSight
        from delegtop.act.planning import stop_plan
        from delegtop.act.present_view import refusal

        forest, via = self._seen.forest, self._seen.forest.word_of(self._handle).via
        refused = refusal(forest.delegation(self._handle), self._seen.statuses, via)
        return stop_plan(self._seen.assessments, self._handle, PlanSight(), self._acting, refused)

    def _wanted(self, plan: "StopPlan") -> "RungPlan | None":
        from delegtop.act.stop_plan import Rung

        if self._arguments.kill:
            return plan.rung(Rung.KILL)
        return plan.rung(Rung(self._arguments.rung)) if self._arguments.rung else plan.mildest

    def _takes_more_than_asked(self, plan: "StopPlan", wanted: "RungPlan | None") -> bool:
        """Whether its whole session would be stopped, though nothing is the matter with it and nobody said so: whoever
        repeats the command that freed it does not mean that."""
        is_named = self._arguments.rung or self._arguments.kill
        return wanted is not None and not is_named and not plan.is_problem and wanted.rung.name not in _ITS_OWN

    def _nothing_done(self, plan: "StopPlan", wanted: "RungPlan | None") -> int:
        if self._arguments.json:
            from delegtop.act import plan_words

            output.emit([_json(plan_words.as_json(plan, self._acting))])
        elif wanted is not None and not wanted.is_possible:
            output.emit([f"Not possible: {wanted.rung}."])
        refused = self._arguments.act and not self._acting.enabled  # who asked for more than a plan is told that
        return Exit.OK if wanted is not None and wanted.is_possible and not refused else Exit.ENDED_BADLY

    def _act(self, plan: "StopPlan", rung: "RungPlan") -> "ActWatch":
        from delegtop.act.act_outcome import ActWatch, Upshot
        from delegtop.act.performing import take

        seen = self._seen
        watch = ActWatch(plan, rung, seen.forest)
        watch.taken = take(
            plan, rung, self._acting, by="delegtop stop", typed=self._arguments.kill or "", tell=watch.sent.append
        )
        patience = int(self._arguments.timeout * SECOND)
        while watch.look(seen.forest, seen.now, patience) is Upshot.WAITING:
            seen.wait(_PACE)
            seen.look()
        return watch

    def _left(self) -> "Aftermath":
        from delegtop.act.aftermath import aftermath

        for _ in range(_LOOKS):  # that its process is gone is told a moment later, and decides what resumes it
            left = aftermath(self._seen.assessments, self._handle)
            if left.command:
                break
            self._seen.wait(_PACE)
            self._seen.look()
        return left

    def _tell(self, plan: "StopPlan", watch: "ActWatch", left: "Aftermath | None") -> None:
        from delegtop.act import plan_words

        if self._arguments.json:
            output.emit([_json(plan_words.as_json(plan, self._acting, (watch,), left))])
            return
        output.emit([f"{watch.rung.rung}: {plan_words.shown(watch.words)}"])
        if left is not None:
            output.emit(plan_words.after(left))
        elif watch.standing.name != "SEEN" and (further := plan.above(watch.rung.rung)) is not None:
            output.emit([f"  the next rung: {plan_words.shown(plan_words.command(plan, further))}"])


_EXITS = {"SEEN": Exit.OK, "UNSEEN": Exit.STUCK, "REFUSED": Exit.ENDED_BADLY}
"""What an act amounts to, by how it stands in the end."""


def _json(told: object) -> str:
    import json

    return json.dumps(told, indent=2)  # in ASCII: an id is told as it is, and may hold what moves a terminal
