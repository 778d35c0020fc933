"""`delegtop run`: any command as a tracked delegation. It starts often, so it imports nothing heavy."""

import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

from delegtop.base.clock import SECOND, WallClock, iso, parse_span
from delegtop.base.paths import logs_folder
from delegtop.base.system_errors import place_and_reason
from delegtop.cli.diagnostics import fail, say
from delegtop.cli.exit_codes import Exit
from delegtop.delegate.artifact_search import ArtifactSearch
from delegtop.delegate.command_end import CommandEnd, end_alike
from delegtop.delegate.conclude import Conclusion
from delegtop.delegate.journal import Journal
from delegtop.delegate.prepare import (
    LOG_VARIABLE,
    REGISTRY_VARIABLE,
    ContextInvalid,
    DelegationContext,
    DelegationRefused,
    prepare_delegation,
)
from delegtop.delegate.registry import DelegationRegistry
from delegtop.delegate.registry_file import RegistryInvalid, SharedRegistryFile
from delegtop.delegate.started_command import CannotStart
from delegtop.delegate.supervise import Listener, supervise
from delegtop.protocols.standard.contract import own_words

DESCRIPTION = (
    "Run a command as a tracked delegation: `delegtop run [OPTION…] -- COMMAND [ARGUMENT…]`. "
    "A `delegtop run` inside of it becomes its child. Output and exit code are the command's own."
)
PAGE = "docs/make-your-orchestrator-visible.md"
EXAMPLES = {
    "delegtop run -- sh -c 'echo working; sleep 1'": "any command, named by its program",
    "delegtop run --agent tester --timeout 600 -- ls": "with a name and ten minutes",
}


def add(parser: ArgumentParser) -> None:
    parser.add_argument("--agent", type=_name, metavar="NAME", help="what it is called (default: the command's name)")
    parser.add_argument("--task", metavar="N", help="the task it works on (default: that of its caller)")
    parser.add_argument(
        "--timeout",
        type=_seconds,
        metavar="TIME",
        help="end it after so long, as 90, 5m or 1h30m (default: by its name)",
    )
    parser.add_argument("--artifacts", action="append", metavar="GLOB", help="files it may leave; may be repeated")
    parser.add_argument("--log", metavar="FILE", help="the session log (default: $DELEGTOP_LOG, else one file a day)")
    parser.add_argument("--registry", metavar="FILE", help="a registry to list it in (default: $DELEGTOP_REGISTRY)")
    parser.add_argument(
        "words", nargs="*", metavar="-- COMMAND", help="the command and its arguments, after two dashes"
    )
    parser.set_defaults(passed_on=())


def _name(text: str) -> str:
    if not text.strip():
        raise ArgumentTypeError("an agent needs a name")
    return text


def _seconds(text: str) -> float:
    span = parse_span(text)
    if not span:
        raise ArgumentTypeError(f"{text} is no time above 0; write it like 90, 5m or 1h30m")
    return span / SECOND


def run(arguments: Namespace) -> int:
    command = list(arguments.passed_on)
    if arguments.words:
        fail(f"run: put two dashes before the command: delegtop run -- {' '.join([*arguments.words, *command])}")
    if not command:
        fail("run: which command? Put it after two dashes: delegtop run -- COMMAND")
    clock = WallClock()
    log = Path(arguments.log or os.environ.get(LOG_VARIABLE) or logs_folder() / f"{iso(clock.now())[:10]}.jsonl")
    listed_in = arguments.registry or os.environ.get(REGISTRY_VARIABLE)
    journal = Journal(log)
    snapshot = SharedRegistryFile(Path(listed_in)) if listed_in else None
    try:
        parent = DelegationContext.from_environment(os.environ)
        _check(snapshot)
    except (ContextInvalid, RegistryInvalid) as error:
        fail(str(error))
    try:
        context = _prepare(arguments, command, parent)
    except DelegationRefused as refused:
        return _refuse(refused, parent, journal, clock)
    return _Tracked(context, command, journal, snapshot, clock).run(arguments.artifacts or ())


def _check(snapshot: SharedRegistryFile | None) -> None:
    """Raises RegistryInvalid for a file that is none: whoever names that has mistyped."""
    try:
        if snapshot is not None:
            snapshot.check()
    except RegistryInvalid:
        raise
    except OSError:
        return  # it is told when it cannot be written either


DIGITS = 18
"""What has more is no number of a task."""


def _prepare(arguments: Namespace, command: list[str], parent: DelegationContext | None) -> DelegationContext:
    name = arguments.agent or _unused_name(Path(command[0]).name or "command", parent)
    number = arguments.task
    task = {"task_number": int(number) if number.isdecimal() and len(number) <= DIGITS else number} if number else None
    if task and parent:
        task = {**parent.task_context, **task}
    return prepare_delegation(parent, name, timeout=arguments.timeout, task_context=task)


def _unused_name(name: str, parent: DelegationContext | None) -> str:
    """A name nobody gave is no sign of a cycle: a shell that runs a shell is `sh` and `sh-2`."""
    taken = parent.delegation_path if parent else ()
    unused, number = name, 1
    while unused in taken:
        number += 1
        unused = f"{name}-{number}"
    return unused


def _refuse(refused: DelegationRefused, parent: DelegationContext | None, journal: Journal, clock: WallClock) -> int:
    """It never began, so it is its caller that has an error. Without a caller there is nobody to note it for."""
    say(str(refused))
    if parent is not None:
        try:
            journal.error(clock.now(), parent.session_id, refused.error())
        except OSError as error:
            say(f"the log cannot be written: {place_and_reason(error)}")
    return Exit.REFUSED


class _Tracked(Listener):
    """One command and what is written of it. When writing fails it is said once, and the command goes on."""

    def __init__(
        self,
        context: DelegationContext,
        command: list[str],
        journal: Journal,
        snapshot: SharedRegistryFile | None,
        clock: WallClock,
    ) -> None:
        self._context = context
        self._command = command
        self._registry = DelegationRegistry(
            journal, snapshot, clock, lambda error: self.troubled(place_and_reason(error))
        )
        self._clock = clock
        self._complained = False

    def run(self, artifacts: Sequence[str]) -> int:
        self._registry.expect(self._context)
        conclusion = Conclusion(
            self._context, self._registry, ArtifactSearch(artifacts, self._clock.now()), own_words.RUN
        )
        ended = self._supervise()
        problems: list[str] = []
        self._write(lambda: problems.extend(conclusion.record(ended)))
        if problems:
            say(f"the return of {self._context.name} is not valid: {'; '.join(problems)}")
        if ended.timed_out:
            say(f"{self._context.name} ran out of time after {self._context.timeout:g}s and was ended")
        end_alike(ended)
        return Exit.TIMEOUT if ended.timed_out else ended.code

    def _supervise(self) -> CommandEnd:
        environ = {**os.environ, **self._registry.environment(self._context)}
        try:
            return supervise(self._command, self._context, environ, self)
        except CannotStart as problem:
            say(str(problem))
            code = Exit.NOT_FOUND if problem.missing else Exit.NOT_EXECUTABLE
            return CommandEnd(code)

    def begun(self, pid: int) -> str:
        """Written by the very process of the command: if we are killed, its number still tells that it runs."""
        now = self._clock.now()
        try:
            self._registry.note_start(now, self._context.entry(now, pid=pid, host=os.uname().nodename))
        except (OSError, ValueError) as error:
            return place_and_reason(error)
        return ""

    def troubled(self, words: str) -> None:
        if not self._complained:
            say(f"the log cannot be written, the command goes on: {words}")
        self._complained = True

    def heard(self, activity: str) -> None:
        self._write(lambda: self._registry.heartbeat(self._context.session_id, activity))

    def stopped(self, name: str) -> None:
        reason = "Ctrl-C" if name == "SIGINT" else f"ended by {name}"
        self._write(lambda: self._registry.cancel(self._context.session_id, reason))

    def _write(self, write: Callable[[], None]) -> None:
        try:
            write()
        except (OSError, ValueError, RecursionError) as error:
            self.troubled(place_and_reason(error))
