"""`delegtop status`: how everything stands, in one line, for status bars and prompts.

Whoever shows that line asks every few seconds. So what a dashboard or a watch keeps in a file is enough, and nothing is
loaded that a file is not read with; only where nobody keeps it fresh the logs are read.
"""

import os
import sys
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from delegtop.base.clock import HOUR, WallClock
from delegtop.base.near_words import advice
from delegtop.cli import diagnostics, options, output
from delegtop.cli.checked_settings import what_is_wrong
from delegtop.cli.diagnostics import UsageError, fail
from delegtop.cli.exit_codes import Exit
from delegtop.report.status import status_file, status_form, status_words
from delegtop.report.status.machine_status import MachineStatus
from delegtop.report.status.status_places import PLACES, PLAIN, WAYBAR, shown_in

if TYPE_CHECKING:
    from delegtop.report.status.status_words import StatusLine

DESCRIPTION = (
    "Say in one line how everything stands on this machine: how much is at work, how many problems there are, and what "
    "blocks, in what, for how long and where (docs/status.md)."
)
PAGE = "docs/status.md"
EXAMPLES = {
    "delegtop status": "in words",
    "delegtop status --short --for tmux": "`▶8 !1 ◀bash 4:51 webapp`, in colour, for a status bar",
    "delegtop status --format '{running}{problems? !{problems} {in} {for}}'": "in a form of one's own",
}
_SHARE = 20
"""Reading the logs for this line alone takes one part in so many of a processor, at most."""
_WORTHLESS = HOUR
"""What is older says nothing any more."""
_READ = ("nice", "-n", "19", sys.executable, "-P", "-m", "delegtop", "status", "--read")
"""With -P nothing in the folder that it is started in can take the place of a module."""
_STDIN = 1 << 20
"""Bytes that are read of what Claude Code tells."""


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "sources", nargs="*", metavar="SOURCE", help="these logs instead, which are then read: a file, a folder, a glob"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--short", action="store_true", help="glyphs and figures: ▶8 !1 ◀bash 4:51 webapp")
    form.add_argument("--json", action="store_true", help="print it as JSON, a stable contract")
    form.add_argument("--format", dest="form", metavar="FORM", help="text with fields such as {running} and {for}")
    parser.add_argument(
        "--for",
        dest="place",
        choices=PLACES,
        default=PLAIN,
        metavar="PLACE",
        help=f"where it is shown: {', '.join(PLACES)}; colours it, and what is foreign in it means nothing there",
    )
    parser.add_argument(
        "--session", metavar="ID", help="only this session and all below it; - takes it from Claude Code's status JSON"
    )
    options.add(parser, "here")
    parser.add_argument(
        "--no-wait",
        action="store_true",
        help="say what is known, with its age, and have the logs read in the background if that is old",
    )
    parser.add_argument("--read", action="store_true", help="read the logs now, however fresh what is kept is")
    parser.add_argument("--exit-code", action="store_true", help="exit like `tree --exit-code`: 0, 1, 3 or 4")
    options.add(parser, "at", "since", "ascii", "no_color", "config")


def run(arguments: Namespace) -> int:
    form, scope = _form(arguments.form), _scope(arguments)
    others = _asks_for_others(arguments)
    wrong = _wrong_settings(arguments) if others else what_is_wrong()
    looked = Looked(None) if wrong else _looked(arguments, others=others)
    known = None if looked.status is None else scope.of(looked.status)
    now = WallClock().now() if looked.status is None or not others else looked.status.at
    is_old = looked.status is not None and not status_file.is_fresh(looked.status, now)
    if arguments.json:
        from delegtop.report.status.status_json import printed  # what it needs is loaded with the file

        output.emit([printed(known, now, is_old=is_old, wrong=wrong)])
    else:
        line = status_words.StatusLine(
            None if known is None else known.tally,
            now if known is None else known.at,
            now,
            is_old=is_old,
            glyphs=status_words.ASCII if arguments.ascii or not output.takes("▶◌◀") else status_words.UNICODE,
            shown=shown_in(arguments.place, colour=not (arguments.no_color or os.environ.get("NO_COLOR"))),
            wrong=wrong,
            unread=() if known is None else known.unread,
        )
        output.emit([_written(line, arguments, form)])
        if known is not None and not others and _is_for_people(arguments):
            _say_what_is_not_counted()
    if looked.is_unreadable:
        return Exit.UNREADABLE
    if arguments.exit_code and known is None:
        fail(wrong or scope.unknown)
    if arguments.exit_code and known is not None and known.unread:
        return Exit.UNREADABLE
    return Exit(known.tally.exit) if arguments.exit_code and known is not None else Exit.OK


# -- what is asked for -------------------------------------------------------------------------------------------------


class StatusScope(NamedTuple):
    """Of what the line is: of one session, of one folder, else of everything."""

    session: str | None = None
    folder: str | None = None

    def of(self, known: MachineStatus) -> MachineStatus | None:
        if self.session is not None:
            return known.of_session(self.session)
        return known if self.folder is None else known.of_folder(self.folder)

    @property
    def unknown(self) -> str:
        return "nobody knows yet" if self.session is None else f"no session {self.session} is at work or at rest"


def _scope(arguments: Namespace) -> StatusScope:
    if arguments.session == "-":
        return _told_by_claude()
    if arguments.session is not None:
        return StatusScope(session=arguments.session)
    if not arguments.here:
        return StatusScope()
    try:
        return StatusScope(folder=os.getcwd())  # noqa: PTH109 -- pathlib is not needed for this
    except OSError:
        fail("--here: this folder is gone; go to another one")


def _told_by_claude() -> StatusScope:
    """The session that asks, as Claude Code tells a command of its status line on standard input."""
    import json

    if sys.stdin is None or sys.stdin.isatty():
        fail("--session -: nothing is piped in; Claude Code tells its session on standard input")
    try:
        told = json.loads(sys.stdin.buffer.read(_STDIN))
        session, folder = told.get("session_id"), told.get("cwd")
    except (ValueError, AttributeError, RecursionError, OSError):
        fail("--session -: what was piped in is not the JSON of Claude Code's status line")
    if isinstance(session, str) and session:
        return StatusScope(session=session)
    if not (isinstance(folder, str) and folder):
        fail("--session -: what was piped in names no session_id")
    return StatusScope(folder=folder)


def _form(form: str | None) -> status_form.Form | None:
    if form is None:
        return None
    try:
        return status_form.parse(form)
    except status_form.FormError as error:
        names = status_words.FIELDS
        hint = f"; {advice(error.name, names, 'there are ' + ', '.join(names))}" if error.name else ""
        fail(f"--format: {error}{hint}")


# -- how things stand --------------------------------------------------------------------------------------------------


def _asks_for_others(arguments: Namespace) -> bool:
    """Whether other logs are meant, another moment or other settings, than those that are kept."""
    given = (arguments.sources, arguments.at, arguments.since, arguments.config)
    return any(each not in (None, []) for each in given)


def _wrong_settings(arguments: Namespace) -> str:
    """Why the settings that are asked for will not do; nothing if they will. The line says it: a bar shows nothing of a
    command that fails."""
    try:
        options.load(arguments)
    except UsageError as error:
        return str(error)
    return ""


def _looked(arguments: Namespace, *, others: bool) -> "Looked":
    return _named(arguments) if others else Looked(_kept(no_wait=arguments.no_wait, anew=arguments.read))


def _kept(*, no_wait: bool, anew: bool) -> MachineStatus | None:
    """What the file says; where it is old, what the logs say, if they were not read for this a moment ago."""
    known = status_file.read(_WORTHLESS)
    if no_wait:
        if known is None or not _will_do(known, status_file.FRESH - status_file.BEAT):
            _read_in_the_background()  # a little early: whoever asks again in a moment finds it fresh
        return known
    if known is not None and _will_do(known) and not anew:
        return known
    with status_file.alone() as alone:
        if not alone and known is not None:
            return known  # whoever reads them now writes it in a moment
        meanwhile = None if anew else status_file.read(_WORTHLESS)
        return meanwhile if meanwhile is not None and _will_do(meanwhile) else _read(keep=alone)


def _will_do(known: MachineStatus, fresh: int = status_file.FRESH) -> bool:
    """Whether it is how things stand, or it would cost too much to read the logs again already."""
    return WallClock().now() - known.at <= max(fresh, _SHARE * known.cost)


def _read(*, keep: bool) -> MachineStatus:
    from delegtop.cli.status_reading import read_everywhere  # whoever finds the file fresh needs none of it

    return read_everywhere(keep=keep)


class Looked(NamedTuple):
    """What was found."""

    status: MachineStatus | None
    is_unreadable: bool = False
    """Whether a source that was named could not be read."""


def _named(arguments: Namespace) -> Looked:
    from delegtop.cli.status_reading import read_named  # as above

    return Looked(*read_named(arguments))


def _read_in_the_background() -> None:
    """By a process of its own, unless there is one: whoever shows a prompt does not wait for it."""
    with status_file.alone() as alone:
        if not alone:
            return
    import subprocess  # as above

    quiet = subprocess.DEVNULL
    with suppress(OSError):  # where no process can be had the line stays old, and says so
        subprocess.Popen(_READ, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)  # noqa: S603 # our own command; `nice` stands in POSIX


def _is_for_people(arguments: Namespace) -> bool:
    """Whether somebody reads it who may be told more, and not a bar: at a terminal, or for the exit code."""
    is_plain = not arguments.short and arguments.form is None and arguments.place == PLAIN
    return is_plain and arguments.session is None and (output.is_terminal() or arguments.exit_code)


def _say_what_is_not_counted() -> None:
    from delegtop.cli.status_reading import uncounted  # as above
    from delegtop.report.figures import count

    if number := uncounted():
        are = "is" if number == 1 else "are"
        diagnostics.say(
            f"{count(number, 'delegation')} in logs of this folder {are} not counted; `delegtop tree` has them"
        )


# -- how it is said ----------------------------------------------------------------------------------------------------


def _written(line: "StatusLine", arguments: Namespace, form: status_form.Form | None) -> str:
    told = status_form.fill(form, line.fields()) if form is not None else _usual(line, arguments.short)
    if arguments.place != WAYBAR:
        return told
    import json  # few have such a bar

    tooltip = line._replace(shown=shown_in(WAYBAR, colour=False)).words()
    return json.dumps({"text": told, "tooltip": tooltip, "class": line.level})


def _usual(line: "StatusLine", short: bool) -> str:
    return line.short() if short else line.words()
