"""Relay logs for delegtop: `{"t": 1770109200, "what": "start", "job": "b7", "who": "baker", "for": "a1"}` a line."""

from collections.abc import Iterable

from delegtop.base.clock import SECOND, Millis
from delegtop.base.product import Basis, Home, Product
from delegtop.dialects import About, Dialect, Sample
from delegtop.model.events import Deviation, Ended, Ending, Event, Heard, Outcome, Report, Started
from delegtop.sources.records import Record

PRODUCT = Product(
    name="relay",
    title="Relay",
    basis=Basis.DOCUMENTED,
    homes=(Home("~/.relay", "runs", variable="RELAY_HOME"),),
    resume=("relay", "take-up"),
    words=("relay",),
)


class Relay(Dialect):
    name = "relay"
    title = "relay log"
    product = PRODUCT
    about = About("Relay", "`~/.relay/runs/*.jsonl`", "tree, status, answers", Basis.DOCUMENTED)

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
                who, whose = _text(value.get("who")), _text(value.get("for"))
                yield Started(job, at, origin, agent=who, parent=whose, product=PRODUCT.name)
            case "say":
                yield Heard(job, at, origin, doing=_text(value.get("text")))
            case "done":
                outcome = Outcome.COMPLETED if value.get("ok") is True else Outcome.FAILED
                yield Ended(job, at, origin, outcome, Ending.RETURN, Report(summary=_text(value.get("text"))))
            case unknown:
                yield Deviation(origin, "unknown event", f"what: {unknown!r}")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
