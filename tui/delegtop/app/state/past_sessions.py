"""What is known of everything that ever was.

It is asked from threads, and brought up to date by a process of its own, when somebody first wants it.
"""

import subprocess
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from threading import Thread
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from delegtop.base.clock import SECOND, Millis, age, monotonic
from delegtop.model.delegation import Delegation

if TYPE_CHECKING:
    from delegtop.report.found_sessions import FoundSession
    from delegtop.search.passing_words import ReadWords
    from delegtop.search.seen_before import SeenBefore

_AGAIN = 60.0
"""Seconds until what is new is read again, if it is wanted again."""
_SHARE = 20
"""And so many times as long as it took."""
_PATIENCE = 2.0
"""Seconds that a search may take while somebody types."""
SHOWN = 200


class PastSessions:
    """One for the dashboard. With `updates` it lets what is new be read; else it knows what was kept before."""

    def __init__(self, *, kept: bool = False, updates: bool = False) -> None:
        self.is_kept = kept
        """Whether anything may be kept at all."""
        self._updates = kept and updates
        self._process: subprocess.Popen[bytes] | None = None
        self._listener: Thread | None = None
        self._unread: int | None = None
        """Sessions and logs that are not read yet; None if nobody has counted them."""
        self._read: ReadWords | None = None
        """What was read last and is kept nowhere."""
        self._begun_at = self._read_at = float("-inf")
        """When it was begun to be read last, and when that was of which all is known."""
        self._again_at = float("-inf")
        self.version = 0
        """Another one once more is known."""
        self._told: WeakKeyDictionary[object, int] = WeakKeyDictionary()

    @property
    def is_any(self) -> bool:
        """Whether there may be something to find."""
        from delegtop.base.paths import is_there
        from delegtop.search.search_file import place  # as below

        return self._updates or (self.is_kept and is_there(place()))

    @property
    def is_reading(self) -> bool:
        """Whether what is new is being read."""
        if self._process is not None and self._listener is not None and not self._listener.is_alive():
            self._process = self._listener = None
            self._again_at = monotonic() + max(_AGAIN, _SHARE * (monotonic() - self._begun_at))
            self.version += 1
        return self._process is not None

    @property
    def unread(self) -> str:
        """What a search does not look through, or of when its answer is, for people."""
        if self.is_reading:
            if self._unread is None:
                return "reading what is new …"
            return f"{self._unread:,} {'log is' if self._unread == 1 else 'logs are'} not read yet …"
        if self._read is None:
            return "new logs not read: `delegtop find`"
        closed = f", but for {self._read.closed:,} that cannot be read: `delegtop sources`" if self._read.closed else ""
        return f"as it was {age(int((monotonic() - self._read_at) * SECOND))} ago{closed}"

    def is_new_to(self, screen: object) -> bool:
        """Whether more is known than when the same one asked before."""
        is_new = not self.is_reading and self._told.get(screen, 0) != self.version
        if is_new:
            self._told[screen] = self.version
        return is_new

    def want(self) -> None:
        """Somebody looks: let what is new be read, if that was not done lately."""
        if not self._updates or self.is_reading or monotonic() < self._again_at:
            return
        from delegtop.feed.process_messages import begun  # as below

        self._begun_at, self._unread = monotonic(), None
        self._again_at = self._begun_at + _AGAIN
        try:
            self._process = begun("delegtop.search.past_process")
        except OSError:
            return
        self._listener = Thread(target=self._listen, args=(self._process,), daemon=True)
        self._listener.start()

    def _listen(self, process: "subprocess.Popen[bytes]") -> None:
        """A thread's work."""
        import msgspec

        from delegtop.feed.process_messages import received
        from delegtop.search.passing_words import ReadCount, ReadWords

        decoder = msgspec.msgpack.Decoder(ReadCount | ReadWords)
        with suppress(EOFError, ValueError, OSError), process:  # until it has ended
            while True:
                told = decoder.decode(received(process.stdout))
                if isinstance(told, ReadCount):
                    self._unread = told.units
                else:
                    self._read, self._read_at = told, self._begun_at

    def close(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()

    # What any thread may ask; what is imported for it nobody else waits for.

    def seen_before(self, facts: Delegation, now: Millis) -> "SeenBefore | None":
        """When this happened before; None if nothing can be said."""
        if not self.is_kept:
            return None
        from delegtop.search.search_file import SearchFile
        from delegtop.search.seen_before import seen_before

        return seen_before(SearchFile(), facts, now)

    def find(self, text: str) -> "Sequence[FoundSession]":
        """What has these words; SearchError if they are none."""
        from delegtop.search.finding_words import told
        from delegtop.search.passing_words import hits
        from delegtop.search.search_file import SearchFile, taken_over
        from delegtop.search.search_query import SearchError, understood

        query = understood(text, typing=True)._replace(limit=SHOWN)
        read = self._read
        with nullcontext() if read is None else taken_over(read.passing) as passing:
            found = hits(query, SearchFile(), passing, () if read is None else read.stale, _PATIENCE)
        if found is None:
            raise SearchError("that took too long: type more of it")
        return [told(hit, query.marks) for hit in found[:SHOWN]]
