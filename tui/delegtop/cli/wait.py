"""`delegtop wait`: until one delegation has ended."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from typing import TYPE_CHECKING

from delegtop.base.clock import monotonic
from delegtop.cli import diagnostics, options, output, reading
from delegtop.cli.exit_codes import Exit, outcome
from delegtop.cli.watch import add_timeout
from delegtop.cli.watched_session import find

if TYPE_CHECKING:
    from delegtop.diagnosis.assessments import Assessments
    from delegtop.model.forest import Forest
    from delegtop.model.store.ledger import Handle
    from delegtop.observation.observation import Observation

DESCRIPTION = (
    "Wait until one delegation has ended, print its summary and exit by its outcome: 0 completed, 3 in need of a "
    "person or just lost, 1 ended in any other way (docs/watch.md)."
)
PAGE = "docs/watch.md"
EXAMPLES = {
    "delegtop wait sess_1772532120_h9w4dg logs/ --timeout 5m": "exits by its outcome",
    "delegtop wait toolu_01ABC --appear": "one that is not there yet",
}
_PACE = 1.0


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "id", metavar="ID", help="its id, the beginning of it, or a foreign one such as a tool_use_id or an agent_id"
    )
    reading.add(parser)
    add_timeout(parser)
    parser.add_argument("--appear", action="store_true", help="if it is not known yet, wait until it is")
    parser.add_argument("--idle", action="store_true", help="of an agent's session, the end of its turn is enough")
    parser.add_argument("--json", action="store_true", help="print it as `delegtop tree --json` does")
    options.add(parser, "format", "config")


def run(arguments: Namespace) -> int:
    settings = options.load(arguments).settings
    end = None if arguments.timeout is None else monotonic() + arguments.timeout
    with reading.followed(arguments, settings, waits=arguments.appear) as seen:
        said = reading.complaints(seen.sources, seen.statuses)
        return reading.code_at_end(seen, said, _waited(arguments, seen, end))


def _waited(arguments: Namespace, seen: "Observation", end: float | None) -> int:
    known = find(seen.forest, arguments.id)
    if known is None and not arguments.appear:
        diagnostics.say(f"no delegation is known by {arguments.id}; --appear waits for one (delegtop tree lists them)")
        output.emit(_report(seen, None) if arguments.json else ())
        return Exit.USAGE
    handle = until_ended(seen, arguments.id, end, idle=arguments.idle)
    if handle is None:
        diagnostics.say(f"the time is up, and {arguments.id} has not ended")
        output.emit(_report(seen, find(seen.forest, arguments.id)) if arguments.json else ())
        return Exit.TIMEOUT
    output.emit(_report(seen, handle) if arguments.json else _ending(seen, handle))
    return code(seen.assessments, handle)


def until_ended(seen: "Observation", id: str, end: float | None, *, idle: bool = False) -> "Handle | None":
    """The delegation of that id, once it is there and has ended; None if the time is up before."""
    forest = seen.forest
    handle = find(forest, id)
    while handle is None or not has_ended(forest, handle, idle=idle):
        left = _PACE if end is None else end - monotonic()
        if left <= 0 or seen.is_over:
            return None
        seen.wait(min(left, _PACE))
        changed = seen.look()
        if handle is None and changed:
            handle = find(forest, id)
    return handle


def has_ended(forest: "Forest", handle: "Handle", *, idle: bool = False) -> bool:
    """A session between two prompts has not, as long as its process is there, or nobody knows of one."""
    from delegtop.model.states import ACTIVE, State

    state = forest.state(handle)
    return state not in ACTIVE and (idle or state is not State.IDLE or forest.is_gone(handle))


def code(assessments: "Assessments", handle: "Handle") -> Exit:
    """The exit code of one that has ended. Where nothing tells how it ended, nobody can say that it went well."""
    from delegtop.model.states import State

    if assessments.forest.state(handle) is State.UNKNOWN:
        return Exit.ENDED_BADLY
    return outcome(assessments, (handle,))


def _ending(seen: "Observation", handle: "Handle") -> Iterable[str]:
    from delegtop.report import ending

    return ending.lines(seen.forest, handle, masked=seen.settings.mask_secrets)


def _report(seen: "Observation", handle: "Handle | None") -> Iterable[str]:
    """As the tree has it, with this one alone, however it stands; with none if it is not known."""
    from delegtop.report import tree_json

    matches = () if handle is None else (handle,)
    return tree_json.tree(seen.forest, seen.statuses, matches=matches, masked=seen.settings.mask_secrets)
