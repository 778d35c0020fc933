"""`delegtop notify`: one message by each way of telling, to see whether it arrives."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from delegtop.cli import diagnostics, options, output
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit

if TYPE_CHECKING:
    from delegtop.settings import Settings

DESCRIPTION = (
    "Send one test message by each way of telling that is set, or by those that are named, and say what was answered "
    "(docs/notifications.md)."
)
PAGE = "docs/notifications.md"
EXAMPLES = {
    "delegtop notify bell": "whether the terminal rings",
    "delegtop notify ntfy slack": "whether a phone and a chat can be reached, quiet hours or not",
}


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "ways", nargs="*", metavar="WAY", help="bell, desktop, command, ntfy, slack, discord or webhook"
    )
    options.add(parser, "notify_command", "config")


def run(arguments: Namespace) -> int:
    settings = options.load(arguments).settings
    from delegtop.settings import WAYS

    for name in arguments.ways:
        options.known(name, WAYS, "way")
    ways = arguments.ways or settings.notify
    if not ways:
        fail("no way of telling is set; set notify, or name one (docs/notifications.md)")
    outcomes = list(_tried(ways, settings))
    output.emit(line for _, line in outcomes)
    return Exit.OK if all(arrived for arrived, _ in outcomes) else Exit.FINDINGS


def _tried(names: Sequence[str], settings: "Settings") -> Iterator[tuple[bool, str]]:
    from delegtop.base import text
    from delegtop.base.clock import WallClock
    from delegtop.notify import NotifyError
    from delegtop.notify.notification import trial
    from delegtop.notify.notifier import way

    for name in dict.fromkeys(names):
        try:
            made = way(
                name,
                settings.notify_command,
                settings.notifications,
                ring=diagnostics.ring,
                say=diagnostics.say,
            )
            arrived, words = made.try_out(trial(WallClock().now()))
        except NotifyError as problem:
            arrived, words = False, str(problem)
        yield arrived, f"{name:<8} {'sent' if arrived else 'not sent'}: {text.line(words)}"
