"""`delegtop watch`: one line for each change, for logs, scripts and people without a screen."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from delegtop.base.clock import SECOND, monotonic, parse_span
from delegtop.cli import diagnostics, options, output, reading
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit, outcome

if TYPE_CHECKING:
    from delegtop.diagnosis.assessments import Assessments
    from delegtop.diagnosis.news import Item
    from delegtop.model.forest import Forest
    from delegtop.model.query import FilterQuery
    from delegtop.model.store.ledger import Handle
    from delegtop.notify import Notifier
    from delegtop.observation.observation import Observation
    from delegtop.report.status.status_keeper import StatusKeeper
    from delegtop.settings import Settings

DESCRIPTION = (
    "Print one line for each change: a start, a change of state, a finding, an end, a whole tree that is done "
    "(docs/watch.md)."
)
PAGE = "docs/watch.md"
EXAMPLES = {
    "delegtop watch --notify desktop": "tells once when something hangs, fails or needs you",
    "delegtop watch logs/ --exit-when problem --timeout 10m": "the exit code says what happened",
}
CONDITIONS = ("done", "problem", "all-returned")
_PACE = 1.0
"""Seconds between two looks when nothing stirs: deadlines pass by themselves."""


def add(parser: ArgumentParser) -> None:
    reading.add(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object a line, a stable contract")
    parser.add_argument(
        "--exit-when",
        choices=CONDITIONS,
        metavar="WHEN",
        help="stop when nothing is open any more (done), something is wrong (problem), or all have come back "
        "(all-returned)",
    )
    add_timeout(parser)
    options.add(parser, "notify", "notify_command", "filter", "format", "config")


def add_timeout(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--timeout", type=seconds, metavar="TIME", help="stop after so long, as 90, 5m or 1h30m, with exit code 124"
    )


def seconds(text: str) -> float:
    span = parse_span(text)
    if span is None:
        raise ArgumentTypeError(f"{text} is no time; write it like 90, 5m or 1h30m")
    return span / SECOND


def run(arguments: Namespace) -> int:
    loaded = options.load(arguments)
    settings = loaded.settings
    options.query(arguments)  # a wrong filter is told before anything is read
    notifier = notifier_of(settings)

    with reading.followed(arguments, settings) as seen:
        from delegtop.cli.status_reading import keeping  # what it needs is loaded by now

        query = options.query(arguments, seen.places.only)
        keeps = keeping(arguments, loaded, "watch")
        watch = Watch(seen, query, notifier, keeps(seen.assessments) if keeps else None, as_json=arguments.json)
        try:
            return watch.run(arguments.exit_when, arguments.timeout)
        finally:
            notifier.close()


def notifier_of(settings: "Settings") -> "Notifier":
    """The ways of telling that are set; a usage error if one cannot work here."""
    from delegtop.notify import NotifyError, notifier

    try:
        return notifier(
            settings.notify,
            settings.notify_command,
            ring=diagnostics.ring,
            say=diagnostics.say,
            masked=settings.mask_secrets,
        )
    except NotifyError as problem:
        fail(f"--notify: {problem}")


class Watch:
    """Sources that are caught up with, watched from now on."""

    def __init__(
        self,
        seen: "Observation",
        query: "FilterQuery",
        notifier: "Notifier",
        keeper: "StatusKeeper | None" = None,
        *,
        as_json: bool = False,
        emit: Callable[[Iterable[str]], bool] = output.emit_now,
        is_read: Callable[[], bool] = output.is_read,
    ) -> None:
        from delegtop.diagnosis.alerts import Alerts
        from delegtop.diagnosis.news import NewsWatch

        self._seen, self._forest = seen, seen.forest
        self._query, self._notifier, self._keeper = query, notifier, keeper
        self._as_json, self._masked = as_json, seen.settings.mask_secrets
        self._emit, self._is_read = emit, is_read
        self._assessments = seen.assessments
        self._news = NewsWatch(self._forest, self._assessments)
        self._alerts = Alerts(self._forest, self._assessments)
        self._stirred = True

    def run(self, until: str | None, timeout: float | None) -> int:
        """Watch until the condition holds, the time is up, the input is over, or nobody reads any more."""
        end = None if timeout is None else monotonic() + timeout
        self._alerts.begin()
        read = self._print(self._news.begin())
        while read:
            code = met(self._assessments, until, self._shown()) if self._stirred and until else None
            if code is not None:
                diagnostics.say(f"{until}: {_summary(self._forest, self._shown())}")
                return code
            over = self._seen.is_over
            if not over:
                left = _PACE if end is None else end - monotonic()
                if left <= 0:
                    return self._give_up(until)
                self._seen.wait(min(left, _PACE))
            read = self.look() and self._is_read()
            if over:
                return self._end_of_input(until)
        return Exit.OK

    def look(self) -> bool:
        """Take in, print and tell what is new; False once nobody reads any more."""
        from delegtop.diagnosis.alerts import Cause
        from delegtop.report.news_lines import done

        changes = self._seen.look()
        touched, lives, assessed = changes
        items = self._news.look(touched, lives | assessed)
        alerts = [alert for alert in self._alerts.look(touched, assessed) if self._matches(alert.handle)]
        self._notifier.tell(alerts)
        self._stirred = bool(changes or alerts)
        if self._keeper is not None:
            self._keeper.look()
        return self._print([*items, *(done(alert) for alert in alerts if alert.cause is Cause.DONE)])

    def _print(self, items: "Iterable[Item]") -> bool:
        from delegtop.report import news_lines

        form = news_lines.as_json if self._as_json else news_lines.as_text
        return self._emit(form(self._forest, item, masked=self._masked) for item in items if self._matches(item.handle))

    def _matches(self, handle: "Handle") -> bool:
        return not self._query or self._query.matches(self._forest, handle)

    def _shown(self) -> "Collection[Handle] | None":
        """Those that the filter lets through; None for all."""
        if not self._query:
            return None
        return [handle for handle in range(len(self._forest)) if self._matches(handle)]

    def _give_up(self, until: str | None) -> int:
        if until is None:
            return Exit.OK
        diagnostics.say(f"the time is up, and not {until}: {_summary(self._forest, self._shown())}")
        return Exit.TIMEOUT

    def _end_of_input(self, until: str | None) -> int:
        """Nothing more comes. Whether the condition holds now is all that can be said."""
        if until is None:
            return Exit.OK
        code = met(self._assessments, until, self._shown())
        if code is not None:
            return code
        diagnostics.say(f"the input has ended, and not {until}: {_summary(self._forest, self._shown())}")
        return Exit.TIMEOUT


def met(assessments: "Assessments", until: str | None, shown: "Collection[Handle] | None" = None) -> Exit | None:
    """The exit code if the condition holds for all or for those shown; None if it does not."""
    from delegtop.observation.overall import all_returned, is_done

    if until is None:
        return None
    code = outcome(assessments, shown)
    if until == "problem":
        return code or None
    holds = is_done if until == "done" else all_returned
    return code if holds(assessments.forest, shown) else None


def _summary(forest: "Forest", shown: "Collection[Handle] | None") -> str:
    from delegtop.observation.overall import summary

    return summary(forest, shown)
