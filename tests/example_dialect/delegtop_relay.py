"""Relay logs for delegtop: `{"t": 1770109200, "what": "start", "job": "b7", "who": "baker", "for": "a1"}` a line."""

from collections.abc import Iterable

from delegtop.clock import SECOND, Millis
from delegtop.dialects import Dialect, Sample
from delegtop.model.events import Deviation, Ended, Ending, Event, Heard, Outcome, Report, Started
from delegtop.sources.record import Record


class Relay(Dialect):
    name = "relay"
    title = "relay log"

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        first = sample.head.partition(b"\n")[0]
        return 90 if b'"job":' in first and b'"what":' in first else 0

    def translate(self, record: Record) -> Iterable[Event]:
        value, origin = record.value, record.origin
        job, time = value.get("job"), value.get("t")
        if not isinstance(job, str):
            yield Deviation(origin, "missing job", f"job: {job!r}")
            return
        at = Millis(int(time * SECOND)) if isinstance(time, int | float) else None
        match value.get("what"):
            case "start":
                yield Started(job, at, origin, agent=_text(value.get("who")), parent=_text(value.get("for")))
            case "say":
                yield Heard(job, at, origin, doing=_text(value.get("text")))
            case "done":
                outcome = Outcome.COMPLETED if value.get("ok") is True else Outcome.FAILED
                yield Ended(job, at, origin, outcome, Ending.RETURN, Report(summary=_text(value.get("text"))))
            case unknown:
                yield Deviation(origin, "unknown event", f"what: {unknown!r}")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
