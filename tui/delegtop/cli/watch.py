"""`delegtop watch`: one line for each change, for logs, scripts and people without a screen."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from delegtop.base.clock import SECOND, monotonic, parse_span, stepped
from delegtop.cli import diagnostics, options, output, reading
from delegtop.cli.exit_codes import Exit, outcome
from delegtop.cli.telling import hook_of, notifier_of, otlp_of
from delegtop.cli.watched_session import WatchedSession

if TYPE_CHECKING:
    from delegtop.diagnosis.alerts import Alert
    from delegtop.diagnosis.assessment import Assessment
    from delegtop.diagnosis.assessments import Assessments
    from delegtop.diagnosis.news import Item
    from delegtop.diagnosis.verdict_changes import VerdictChange
    from delegtop.model.forest import Forest
    from delegtop.model.query import FilterQuery
    from delegtop.model.store.ledger import Handle
    from delegtop.notify.notifier import Hook, Notifier
    from delegtop.notify.otlp_sender import OtlpSender
    from delegtop.observation.observation import Observation
    from delegtop.report.status.status_keeper import StatusKeeper

DESCRIPTION = (
    "Print one line for each change: a start, a change of state, a finding, an end, a whole tree that is done "
    "(docs/watch.md)."
)
PAGE = "docs/watch.md"
EXAMPLES = {
    "delegtop watch --notify desktop": "tells once when something hangs, fails or needs you",
    "delegtop watch logs/ --exit-when problem --timeout 10m": "the exit code says what happened",
    "delegtop watch --for - --exec ./told.sh --notify ntfy": "of the session this runs in: a command, and a phone",
}
STUCK = "stuck-or-done"
CONDITIONS = ("done", "problem", "all-returned", STUCK)
_NAMED, _MENTIONED = 3, 10
"""Of those that it stopped for: so many are told with what to do, and so many more by their names."""
_PACE = 1.0
"""Seconds between two looks when nothing stirs: deadlines pass by themselves."""


def add(parser: ArgumentParser) -> None:
    reading.add(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object a line, a stable contract")
    parser.add_argument(
        "--exit-when",
        choices=CONDITIONS,
        metavar="WHEN",
        help="stop when nothing is open any more (done), something is wrong (problem), all have come back "
        "(all-returned), or it is stuck or done, whichever is first (stuck-or-done)",
    )
    parser.add_argument(
        "--for",
        dest="session",
        metavar="SESSION",
        help="only this session and all below it: an id, the beginning of one, or - for the one that this runs in",
    )
    parser.add_argument(
        "--exec",
        dest="hook",
        type=_command,
        metavar="COMMAND",
        help="run this for each problem, and when it is over, quoted as one argument; no shell is involved",
    )
    parser.add_argument(
        "--otlp",
        metavar="URL",
        help="send each change of a verdict as a log record of OpenTelemetry to this collector, by OTLP as JSON",
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


def _command(text: str) -> Sequence[str]:
    from delegtop.setting_kinds import COMMAND, Refused

    try:
        words: Sequence[str] = COMMAND.judge(text)
    except Refused as error:
        raise ArgumentTypeError(error.reason) from None
    return words


def run(arguments: Namespace) -> int:
    loaded = options.load(arguments)
    settings = loaded.settings
    options.query(arguments)  # a wrong filter is told before anything is read
    notifier = notifier_of(loaded)
    hook = None if arguments.hook is None else hook_of(arguments.hook, settings)
    otlp = otlp_of(arguments.otlp, loaded)

    with reading.followed(arguments, settings) as seen:
        from delegtop.cli.status_reading import keeping  # what it needs is loaded by now

        said = reading.complaints(seen.sources, seen.statuses)
        query = options.query(arguments, seen.places.only)
        keeps = keeping(arguments, loaded, "watch")
        watch = Watch(
            seen,
            query,
            notifier,
            keeps(seen.assessments) if keeps else None,
            session=arguments.session,
            hook=hook,
            otlp=otlp,
            as_json=arguments.json,
        )
        try:
            return reading.code_at_end(seen, said, watch.run(arguments.exit_when, arguments.timeout))
        finally:
            notifier.close()
            if hook is not None:
                hook.close()
            if otlp is not None:
                from delegtop.notify.notifier import LAST_TRY

                otlp.close(LAST_TRY)


class Watch:
    """Sources that are caught up with, watched from now on."""

    def __init__(
        self,
        seen: "Observation",
        query: "FilterQuery",
        notifier: "Notifier",
        keeper: "StatusKeeper | None" = None,
        *,
        session: str | None = None,
        hook: "Hook | None" = None,
        otlp: "OtlpSender | None" = None,
        as_json: bool = False,
        emit: Callable[[Iterable[str]], bool] = output.emit_now,
        is_read: Callable[[], bool] = output.is_read,
    ) -> None:
        from delegtop.diagnosis.alerts import Alerts
        from delegtop.diagnosis.news import NewsWatch
        from delegtop.diagnosis.verdict_changes import VerdictChanges
        from delegtop.observation.host_news import HostNews

        self._seen, self._forest = seen, seen.forest
        self._query, self._notifier, self._hook, self._keeper = query, notifier, hook, keeper
        self._session = None if session is None else WatchedSession(self._forest, session)
        self._as_json, self._masked = as_json, seen.settings.mask_secrets
        self._emit, self._is_read = emit, is_read
        self._assessments = seen.assessments
        self._news = NewsWatch(self._forest, self._assessments)
        self._alerts = Alerts(self._forest, self._assessments)
        self._otlp, self._verdicts = otlp, VerdictChanges(self._assessments)
        self._host_news = HostNews() if seen.places.hosts else None
        self._stirred = True

    def run(self, until: str | None, timeout: float | None) -> int:
        """Watch until the condition holds, the time is up, the input is over, or nobody reads any more."""
        end = None if timeout is None else monotonic() + timeout
        self._print_hosts()  # who is there now may be lost
        self._tell(self._alerts.begin(telling=self._session is not None))
        self._send(self._verdicts.begin)
        read = self._print(self._news.begin())
        while read:
            code = met(self._assessments, until, self._shown()) if self._stirred and until else None
            if code is not None:
                diagnostics.say(f"{until}: {_summary(self._forest, self._shown())}")
                self._say_why(until, code)
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

        steps = self._forest.clock_steps
        changes = self._seen.look()
        touched, lives, assessed = changes
        if self._forest.clock_steps is not steps:
            diagnostics.say(stepped(self._forest.clock_steps) or "the clock was set right again")
        if self._session is not None:
            self._session.look()
        items = self._news.look(touched, lives | assessed)
        if not self._print_hosts():
            return False
        alerts = self._tell(self._alerts.look(touched, assessed))
        self._send(lambda: self._verdicts.look(assessed))
        self._stirred = bool(changes or alerts)
        if self._keeper is not None:
            self._keeper.look(lambda: self._seen.statuses)
        return self._print([*items, *(done(alert) for alert in alerts if alert.cause is Cause.DONE)])

    def _print_hosts(self) -> bool:
        """Who is lost and who is back; False once nobody reads any more."""
        if self._host_news is None:
            return True
        from delegtop.report import news_lines

        changes, alerts = self._host_news.look(self._seen.hosts, self._seen.now)
        self._notifier.tell(alerts)
        if self._hook is not None:
            self._hook.tell(alerts)
        return self._emit(news_lines.of_host(*each, as_json=self._as_json) for each in changes)

    def _tell(self, alerts: "Sequence[Alert]") -> "list[Alert]":
        """Tell of those that are meant. That something is over is told to whoever was told that it was so, whatever
        fits now: each way knows that itself."""
        from delegtop.diagnosis.alerts import Cause

        meant = [each for each in alerts if each.cause is Cause.RESOLVED or self._matches(each.handle)]
        self._notifier.tell(meant)
        if self._hook is not None:
            self._hook.tell(meant)
        return meant

    def _send(self, changes: "Callable[[], Sequence[VerdictChange]]") -> None:
        """Hand the changes of verdicts that are meant to the collector, if there is one; nobody waits for it."""
        if self._otlp is not None:
            self._otlp.tell([each for each in changes() if self._matches(each.handle)])

    def _print(self, items: "Iterable[Item]") -> bool:
        from delegtop.report import news_lines

        form = news_lines.as_json if self._as_json else news_lines.as_text
        return self._emit(form(self._forest, item, masked=self._masked) for item in items if self._matches(item.handle))

    def _matches(self, handle: "Handle") -> bool:
        if self._session is not None and not self._session.holds(handle):
            return False
        return not self._query or self._query.matches(self._forest, handle)

    def _shown(self) -> "Collection[Handle] | None":
        """Those that the filter and the session let through; None for all."""
        if not self._query and self._session is None:
            return None
        return [handle for handle in range(len(self._forest)) if self._matches(handle)]

    def _say_why(self, until: str | None, code: int) -> None:
        """Which those are that it stopped for, the most pressing first."""
        if not (code == Exit.STUCK or (code and until == "problem")):
            return
        from delegtop.report.privacy import hiding

        book = self._assessments
        known = filter(None, map(book.known, book.in_order(earlier=code != Exit.STUCK)))
        found = [each for each in known if each.exit == code and self._matches(each.handle)]
        hide = hiding(self._masked)
        for each in found[:_NAMED]:
            steps = book.todo(each.handle)
            todo = f" What to do: {steps[0].words}" if steps else ""
            diagnostics.say(hide(f"{self._who(each)}: {each.sentence(self._forest.now_of(each.handle))}{todo}"))
        if rest := found[_NAMED:]:
            names = ", ".join(f"{self._who(each)} ({each.kind})" for each in rest[:_MENTIONED])
            others = f", and {len(rest) - _MENTIONED:,} others" if len(rest) > _MENTIONED else ""
            diagnostics.say(hide(f"and {len(rest):,} more: {names}{others}"))

    def _who(self, each: "Assessment") -> str:
        from delegtop.model.measures import label, told_host

        facts, host = self._forest.delegation(each.handle), told_host(self._forest, each.handle)
        names = dict.fromkeys((label(facts), facts.id))
        return f"{' '.join(names)}{f' on {host}' if host else ''}"

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
    if until == STUCK and code == Exit.STUCK:
        return code
    holds = all_returned if until == "all-returned" else is_done
    return code if holds(assessments.forest, shown) else None


def _summary(forest: "Forest", shown: "Collection[Handle] | None") -> str:
    from delegtop.observation.overall import summary

    return summary(forest, shown)
