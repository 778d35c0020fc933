"""Every text a reader knows, by its first line: those in files now, and those that were."""

from collections.abc import Collection, Iterator
from itertools import chain, islice

from delegtop.sources.text_identity.text_trace import HEAD, UNENDED, TextTrace, key_of

_REMEMBERED = 1_024
_ALIKE = 32
"""So many are compared with a file."""


class KnownTexts:
    """Traces by their first line, and by the very name object their lines carry."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        """Bytes: a longer line is not told."""
        self._by_key: dict[int, list[TextTrace]] = {}
        self._by_source: dict[int, TextTrace] = {}
        self._closed: dict[TextTrace, None] = {}

    def like(self, key: int, head: bytes) -> Iterator[TextTrace]:
        """The known texts with a first line of that digest that begin like this, newest first."""
        unended = self._by_key.get(UNENDED, ())[-_REMEMBERED:]
        newest = reversed((*unended, *self._by_key.get(key, ())[-_REMEMBERED:]))
        alike = (each for each in newest if _begin_alike(each.head, head))
        return islice(chain(alike, self._going_on_from(head)), _ALIKE)

    def _going_on_from(self, head: bytes) -> Iterator[TextTrace]:
        """If that is all of a first line and has no end: the texts in which it went on, so that its digest is another.
        Not those in which it may have become too long to be told."""
        if len(head) >= HEAD or b"\n" in head:
            return
        newest = chain.from_iterable(map(reversed, reversed(self._by_key.values())))
        for each in islice(newest, _REMEMBERED):
            is_kept = b"\n" in each.head or each.offset - each.start <= self._limit
            if is_kept and each.line and each.head.startswith(head):
                yield each

    def add(self, trace: TextTrace) -> None:
        self._by_key.setdefault(trace.key, []).append(trace)

    def end_first_line(self, trace: TextTrace) -> None:
        """Its first line was read without its end, and has it now."""
        if trace.key == UNENDED and trace.line:
            known = self._drop(trace)
            trace.key = key_of(trace.head)
            if known:
                self.add(trace)

    def knows_any(self, keys: Collection[int]) -> bool:
        """Whether a text with one of these first lines is known."""
        return not self._by_key.keys().isdisjoint(keys)

    def is_alone(self, trace: TextTrace) -> bool:
        """Whether no other text with that first line is known."""
        return len(self._by_key.get(trace.key, ())) == 1

    def close(self, trace: TextTrace) -> None:
        """Its file no longer holds it, or is gone."""
        trace.home = None
        self._closed[trace] = None
        if len(self._closed) > _REMEMBERED:
            self.forget(next(iter(self._closed)))

    def reopen(self, trace: TextTrace) -> None:
        """It was found again, and goes on: it is the newest of its kind."""
        self._closed.pop(trace, None)
        if self._drop(trace):
            self.add(trace)

    def name(self, trace: TextTrace, path: str) -> str:
        """The source name for lines of this text: equal to the path, but an object of its own for every text there.

        Two texts may stand at one path one after the other. Their lines carry equal names and perhaps equal line
        numbers and offsets; by the identity of the name a line still finds its own text.
        """
        for source in trace.sources:
            if source == path:
                return source
        source = path
        if id(source) in self._by_source:
            source = path.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
        trace.sources.append(source)
        self._by_source[id(source)] = trace
        return source

    def named(self, source: str) -> TextTrace | None:
        """The text whose lines carry this very name."""
        return self._by_source.get(id(source))

    def forget(self, trace: TextTrace) -> None:
        self._closed.pop(trace, None)
        self._drop(trace)
        for source in trace.sources:
            self._by_source.pop(id(source), None)

    def _drop(self, trace: TextTrace) -> bool:
        """Look it up no longer by its key; True if it was."""
        alike = self._by_key.get(trace.key, [])
        known = trace in alike
        if known:
            alike.remove(trace)
        if not alike:
            self._by_key.pop(trace.key, None)
        return known


def _begin_alike(one: bytes, other: bytes) -> bool:
    return one.startswith(other) or other.startswith(one)
