"""What several places tell of one delegation, in a few bytes: the starts that differ.

As objects these would take more than all else of a delegation: a struct for each, with an origin and its numbers. Here
the numbers are pressed into one string of bytes; words stay the objects they are, as others have them too. A source
stays the very object it was: two texts may stand at one path, and that tells them apart.
"""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

import msgspec

from delegtop.base.origin import Origin
from delegtop.model.events import Started, Trust
from delegtop.model.session_manner import OF_PROCESS
from delegtop.model.store.numbers import SharedWords

Packed = tuple[Any, ...]
"""The bytes, and behind them the words they name by number; or what could not be packed, as it is."""


class _Told(msgspec.Struct, frozen=True, gc=False, array_like=True):
    agrees: bool
    """Nothing in them contradicts anything else, and none names a process."""
    rows: list[list[Any]]


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(_Told).decode
_NONE = -1
_words_of = attrgetter("agent", "command", "caller", "task", "parent", "host", "product")
"""The facts of a start that are words, and those that are numbers."""
_numbers_of = attrgetter("at", "depth", "timeout", "deadline", "pid", "listed", "guessed")
_COMPARED = 5
"""So many of the numbers are facts, of which two may contradict each other."""
_TRUSTS = {int(trust): trust for trust in Trust}


class _Words:
    """Words by number, each kept once."""

    def __init__(self) -> None:
        self.things: list[str] = []
        self._numbers: dict[str, int] = {}
        self._sources: dict[int, int] = {}

    def number(self, word: str | None) -> int:
        if word is None:
            return _NONE
        number = self._numbers.get(word)
        if number is None:
            number = self._numbers[word] = len(self.things)
            self.things.append(word)
        return number

    def source(self, source: str) -> int:
        """The same for this very object."""
        number = self._sources.get(id(source))
        if number is None:
            number = self._sources[id(source)] = len(self.things)
            self.things.append(source)
        return number

    def place(self, origin: Origin) -> tuple[int, int, int, int]:
        return self.source(origin.source), origin.line, origin.offset, self.number(origin.host or None)


def _origin(words: Sequence[str], source: int, line: int, offset: int, host: int) -> Origin:
    return Origin(words[source], line, offset, "" if host == _NONE else words[host])


def shared(packed: Packed, words: SharedWords) -> Packed:
    """The same with words that others have too."""
    return (packed[0], *map(words.__getitem__, packed[1:])) if packed and type(packed[0]) is bytes else packed


def pack_starts(claims: tuple[Started, ...]) -> Packed:
    """Starts of one delegation, but for its id."""
    words = _Words()
    number = words.number
    rows = [
        [
            *words.place(each.origin),
            int(each.trust),
            [*map(number, each.path)] if each.path is not None else None,
            [number(word) for ref in each.refs for word in ref],
            [*map(number, _words_of(each))],
            _numbers_of(each),
        ]
        for each in claims
    ]
    agrees = _agree(rows) and OF_PROCESS.isdisjoint([name for each in claims for name, _ in each.refs])
    try:
        return (_pack(_Told(agrees, rows)), *words.things)
    except OverflowError:  # a number past all use, let through by a format
        return claims


def _agree(rows: Iterable[Sequence[Any]]) -> bool:
    """Whether no two of their words or numbers differ, though they may mean the same."""
    known: list[Any] = []
    for *_, path, _, said, numbers in rows:
        told = [*said, *numbers[:_COMPARED], path]
        known = known or told
        for place, (word, before) in enumerate(zip(told, known, strict=True)):
            if before is None or before == _NONE:
                known[place] = word
            elif word != before and word is not None and word != _NONE:
                return False
    return True


AgreedStarts = tuple[list[Origin], list[tuple[str, str]]]
"""What is left of several starts where all that is told of them agrees: their places and foreign ids."""


def agreed(packed: Packed) -> AgreedStarts | None:
    """None where they do not plainly agree, or one names a process."""
    if type(packed[0]) is not bytes:
        return None
    told = _unpack(packed[0])
    if not told.agrees:
        return None
    origins: list[Origin] = []
    refs: list[tuple[str, str]] = []
    words = (*packed[1:], "")  # which is also the last, where no host is named
    for source, line, offset, host, _, _, own, _, _ in told.rows:
        origins.append(Origin(words[source], line, offset, words[host]))
        while own:
            value, name = own.pop(), own.pop()
            refs.append((words[name], words[value]))
    return origins, refs


def unpack_starts(packed: Packed, id: str) -> tuple[Started, ...]:
    """The same again, of the delegation of that id."""
    if type(packed[0]) is not bytes:
        return packed
    words = (*packed[1:], None)  # which is also the last, where none is named
    found: list[Started] = []
    for source, line, offset, host, trust, path, refs, said, numbers in _unpack(packed[0]).rows:
        agent, command, caller, task, parent, machine, product = [words[word] for word in said]
        at, depth, timeout, deadline, pid, listed, guessed = numbers
        start = Started(
            id,
            at,
            Origin(words[source], line, offset, words[host] or ""),
            agent,
            command,
            caller,
            task,
            path if path is None else tuple([words[each] for each in path]),
            depth,
            timeout,
            deadline,
            parent,
            pid,
            machine,
            tuple([(words[name], words[value]) for name, value in zip(refs[::2], refs[1::2], strict=True)]),
            _TRUSTS[trust],
            listed,
            product,
            guessed,
        )
        found.append(start)
    return tuple(found)
