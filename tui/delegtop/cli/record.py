"""`delegtop record`: what the sources say, now and from now on, in one file that replays anywhere."""

import glob
import os
import signal
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from types import FrameType
from typing import TYPE_CHECKING, Any

from delegtop import __version__
from delegtop.base import machine
from delegtop.base.clock import SECOND, WallClock, duration, monotonic, parse_span
from delegtop.base.signals import SIGNALS, ToldToEnd
from delegtop.base.system_errors import reason_of
from delegtop.cli import diagnostics, kept_files, options, output, reading
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit

if TYPE_CHECKING:
    from delegtop.feed.recorder import Recorder, Tape
    from delegtop.observation.observation import Observation

DESCRIPTION = (
    "Record the sources, what they say now and from now on, until Ctrl-C (docs/recording.md). The recording is a "
    "SOURCE for every command, here and elsewhere. It holds what the logs hold; delegtop bundle makes a masked one."
)
PAGE = "docs/recording.md"
EXAMPLES = {
    "delegtop record logs/ -o run.delegtop": "until Ctrl-C",
    "delegtop record logs/ --once -o run.delegtop.gz": "what is there now",
    "delegtop record logs/ --once -o - --mask > run.delegtop": "through a pipe, secrets hidden",
}
PACE = 0.5
"""Seconds between two looks, at most."""
GRACE = 2.0
"""Seconds for what came last, once somebody asked to stop."""
STDIN = STDOUT = "-"


def add(parser: ArgumentParser) -> None:
    reading.add(parser)
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="write this file, such as run.delegtop or run.delegtop.gz; - for standard output",
    )
    parser.add_argument("--once", action="store_true", help="record what is there now, and do not wait for more")
    parser.add_argument("--timeout", type=_seconds, metavar="TIME", help="stop after so long, as 90, 5m or 1h30m")
    parser.add_argument("--no-lines", action="store_true", help="only what the lines tell, not the lines themselves")
    parser.add_argument("--mask", action="store_true", help="hide keys, tokens and passwords in what is recorded")
    parser.add_argument(
        "--heartbeat",
        type=_seconds,
        metavar="TIME",
        help="with -o -: say so often that all is told, take requests from standard input, and end with it",
    )
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")
    options.add(parser, "format", "config")


def _seconds(text: str) -> float:
    span = parse_span(text)
    if span is None:
        raise ArgumentTypeError(f"{text} is no time; write it like 90, 5m or 1h30m")
    return span / SECOND


def run(arguments: Namespace) -> int:
    settings = options.load(arguments).settings
    options.check_format(arguments.format)
    if arguments.output == STDOUT:
        from delegtop.cli import streaming  # as few need it as write to a pipe

        return streaming.run(arguments, settings)
    if arguments.heartbeat is not None:
        fail("--heartbeat goes with -o -: a file is not listened to")
    path = Path(arguments.output)
    kept_files.check(path, force=arguments.force)
    found = reading.settle(arguments, settings, waits=not arguments.once)
    if any(_is_same(path, source) for source in found.sources):
        fail(f"{path}: is a SOURCE as well; a recording cannot record itself")

    from delegtop.feed.outgoing_words import OutgoingWords
    from delegtop.feed.recorder import Recorder
    from delegtop.observation.observation import opened, policy_for
    from delegtop.sources.file_status import GAP

    tape = _new_tape(path, arguments.force)
    policy = policy_for(settings, found.sources)
    recorder = Recorder(
        WallClock(), f"delegtop {__version__}", policy.agents, lines=not arguments.no_lines, place=_this_place()
    )
    words = OutgoingWords(masked=arguments.mask)
    seen = opened(
        found.as_is() if arguments.once else found,
        settings,
        format=arguments.format,
        policy=policy,
        exclude=_itself(path, found.sources),
        witness=lambda line, events: tape.write(recorder.record(words.line(line), words.told(events))),
    )
    began = monotonic()
    with seen:
        try:
            asked = _record(seen, tape, recorder, arguments)
            tape.close()
        except OSError as error:
            if tape.records_nothing():
                diagnostics.say(f"{path}: nothing could be recorded, and no file is left: {reason_of(error)}")
            else:
                diagnostics.say(f"{path}: the recording ends here: {reason_of(error)}")
            return Exit.UNREADABLE
    unreadable = reading.complain(seen.sources, seen.statuses)
    if unreadable and not recorder.records:  # of nothing that can be read no file is made: the next try would find it
        path.unlink(missing_ok=True)
    else:
        output.emit([_summary(tape, recorder, monotonic() - began)])
    for status in seen.statuses:
        if status.detail.startswith(GAP):
            diagnostics.say(f"{status.path}: {status.detail}")
    if asked.number in SIGNALS:  # Ctrl-C is how a recording ends, but who was told to end says so
        raise ToldToEnd(asked.number)
    return Exit.UNREADABLE if unreadable else Exit.OK


def _this_place() -> tuple[str, str]:
    return machine.name(), machine.mark()


class Asked(Event):
    """Set when somebody asks to stop."""

    number = 0

    def by(self, number: int) -> None:
        self.number = number
        self.set()


def _record(seen: "Observation", tape: "Tape", recorder: "Recorder", arguments: Namespace) -> Asked:
    feed = seen.feed
    end = float("inf") if arguments.timeout is None else monotonic() + arguments.timeout
    tape.write(recorder.header())
    tape.flush(whole=True)
    with _asked_to_stop() as asked:
        while not (arguments.once or feed.is_over or asked.is_set() or monotonic() >= end):
            for _ in feed.poll():
                tape.flush()
                if asked.is_set() or monotonic() >= end:
                    break
            tape.flush()
            _show(tape, recorder)
            feed.wait(max(0.0, min(PACE, end - monotonic())))
        _take_the_rest(seen, tape, arguments, patient=not asked.is_set())
    tape.write(recorder.end())
    if diagnostics.is_terminal():
        diagnostics.status("")
    return asked


def _take_the_rest(seen: "Observation", tape: "Tape", arguments: Namespace, *, patient: bool) -> None:
    """What came since the last look, with last lines that lack their newline; a stream that goes on is not awaited."""
    endless = STDIN in seen.sources and not (arguments.once or seen.is_over)
    until = monotonic() + GRACE
    for _ in seen.feed.poll() if endless else seen.feed.read_all():
        tape.flush()
        if not patient and monotonic() > until:
            break


@contextmanager
def _asked_to_stop() -> Iterator[Asked]:
    """Set by Ctrl-C or by being told to end, so that no record is left half written. Who asks twice is in a hurry."""
    asked = Asked()
    before: dict[int, Any] = {number: signal.getsignal(number) for number in (signal.SIGINT, *SIGNALS)}

    def ask(number: int, _frame: FrameType | None) -> None:
        asked.by(number)
        signal.signal(number, before[number] or signal.SIG_DFL)

    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # nohup, or a shell that started it behind an &
            signal.signal(number, ask)
    try:
        yield asked
    finally:
        for asked_by, handler in before.items():
            signal.signal(asked_by, handler)


def _new_tape(path: Path, force: bool) -> "Tape":
    from delegtop.feed.recorder import Tape

    try:
        if force:
            path.unlink(missing_ok=True)
        return Tape(path)
    except OSError as error:
        fail(f"{path}: cannot be written: {reason_of(error)}")


def _is_same(path: Path, source: str) -> bool:
    try:
        return path.samefile(source)
    except OSError:
        return False


def _itself(path: Path, sources: Sequence[str]) -> list[str]:
    """The recording as a folder that is recorded names it: it must not read what it writes."""
    folders = [source for source in sources if Path(source).is_dir()]
    names = [(folder, os.path.relpath(path.resolve(), Path(folder).resolve())) for folder in folders]
    # Spelled as the walk through the folder spells it.
    return [glob.escape(os.path.join(folder, name)) for folder, name in names if not name.startswith("..")]  # noqa: PTH118


def _show(tape: "Tape", recorder: "Recorder") -> None:
    if diagnostics.is_terminal():
        diagnostics.status(f"recording  {recorder.records:,} records  {tape.size / 1e6:.1f} MB  Ctrl-C ends it")


def _summary(tape: "Tape", recorder: "Recorder", seconds: float) -> str:
    sources = f"{recorder.sources:,} source{'' if recorder.sources == 1 else 's'}"
    records = f"{recorder.records:,} record{'' if recorder.records == 1 else 's'}"
    span = duration(round(seconds * SECOND))
    return (
        f"recorded {records} with {recorder.events:,} events of {sources} in {span}: {tape.path}, {tape.size:,} bytes"
    )
