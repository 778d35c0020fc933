"""Sends changes of verdicts to a collector of OpenTelemetry: many at once, again if it was away, and never in the way.

What waits is bounded; of more the oldest are dropped, and how many is said. Where it goes is the user's word alone:
his command line or his own settings, and none of the variables that other programs take it from.
"""

import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from delegtop.base.clock import monotonic
from delegtop.base.secret_references import SecretError, resolve
from delegtop.diagnosis.verdict_changes import VerdictChange
from delegtop.notify import NotifyError, Say
from delegtop.notify.http_post import AddressError, HttpAnswer, Letter, checked
from delegtop.notify.letter_thread import LONGEST, LetterThread
from delegtop.notify.otlp_records import export
from delegtop.setting_tables import Notifications

AT_ONCE = 100
WAITING = 2_000
"""So many wait; of more the oldest are dropped."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds after which a collector that was away is asked again; twice as many each time."""
_LOGS = "/v1/logs"

Batch = tuple[VerdictChange, ...]


class OtlpBox:
    """What waits for the collector."""

    def __init__(self, at_once: int = AT_ONCE, most: int = WAITING, now: Callable[[], float] = monotonic) -> None:
        self._at_once, self._most, self._now = at_once, most, now
        self._waiting: deque[VerdictChange] = deque()
        self._dropped = 0
        self._pause, self._rests_until = 0.0, float("-inf")

    def put(self, items: Sequence[VerdictChange]) -> None:
        self._waiting.extend(items)
        self._bound()

    def _bound(self) -> None:
        while len(self._waiting) > self._most:
            self._waiting.popleft()
            self._dropped += 1

    def take(self) -> Batch | None:
        count = min(len(self._waiting), self._at_once)
        if self._rests_until == float("-inf"):  # the last one arrived
            self._pause = 0.0
        self._rests_until = float("-inf")
        return tuple(self._waiting.popleft() for _ in range(count)) if count else None

    def failed(self, load: Batch, answer: HttpAnswer) -> None:
        """What was refused is dropped; if the collector is away, or busy, it waits on."""
        if not answer.again:
            self._dropped += len(load)
            return
        self._waiting.extendleft(reversed(load))
        self._bound()
        self._pause = min(max(2 * self._pause, FIRST_PAUSE), LONGEST_PAUSE)
        self._rests_until = self._now() + max(self._pause, min(answer.retry_after, LONGEST))

    def delay(self) -> float:
        return max(self._rests_until - self._now(), 0.0)

    def clear(self) -> int:
        dropped, self._dropped = len(self._waiting) + self._dropped, 0
        self._waiting.clear()
        return dropped


class OtlpSender(LetterThread[VerdictChange, Batch]):
    """Tells one collector."""

    def __init__(self, url: str, headers: Mapping[str, str], say: Say, box: OtlpBox | None = None, **more: Any) -> None:
        super().__init__("otlp", box or OtlpBox(), say, **{"pauses": (), **more})
        self._url, self._headers = url, {"Content-Type": "application/json", **headers}

    def write(self, load: Batch) -> Letter:
        return Letter(self._url, export(load), self._headers)

    def accepts(self, status: int, body: bytes) -> bool:
        """Taken, and all of it: a collector may say that it refused a part."""
        return status == 200 and not _rejected(body)

    def count(self, load: Batch) -> int:
        return len(load)

    def left_over(self, count: int) -> str:
        return f"{count} change{'' if count == 1 else 's'} of a verdict did not arrive"


def _rejected(body: bytes) -> bool:
    try:
        told = json.loads(body or b"{}")["partialSuccess"]["rejectedLogRecords"]
        return int(told) > 0
    except (ValueError, TypeError, KeyError, RecursionError):
        return False


def otlp_sender(url: str, settings: Notifications, say: Say, environ: Mapping[str, str]) -> OtlpSender:
    """The one for that address; NotifyError if nothing may be sent there."""
    try:
        address = checked(resolve(url, environ), allow_http=settings.allow_http)
        headers = _headers(resolve(settings.otlp_headers, environ))
    except AddressError as error:
        raise NotifyError(f"the address {error}") from None
    except SecretError as error:
        raise NotifyError(str(error)) from None
    parts = urlsplit(address)
    if parts.path in ("", "/"):
        address = urlunsplit(parts._replace(path=_LOGS))
    return OtlpSender(address, headers, say)


def _headers(told: str) -> dict[str, str]:
    """`name=value,name=value`, as OpenTelemetry spells them."""
    headers: dict[str, str] = {}
    for part in filter(None, map(str.strip, told.split(","))):
        name, equals, value = part.partition("=")
        if not equals or not name.replace("-", "").isalnum() or not (part.isascii() and part.isprintable()):
            raise NotifyError("notifications.otlp_headers must look like name=value,name=value")
        headers[name] = value.strip()
    return headers
