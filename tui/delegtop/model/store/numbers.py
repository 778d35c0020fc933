"""Numbers in columns, and what stands there for one that nobody knows."""

from collections.abc import Iterable
from typing import Any

from delegtop.base.clock import Millis

UNSET = -(1 << 62)
NO_WORD = -1
"""Stands for the number of a word where there is none."""


def known(value: int) -> Millis | None:
    return None if value == UNSET else Millis(value)


class Numbering(dict[Any, int]):
    """Numbers of things, and things by number; a new one gets the next number."""

    def __init__(self) -> None:
        super().__init__()
        self.things: list[Any] = []

    def __missing__(self, thing: Any) -> int:
        self[thing] = number = len(self.things)
        self.things.append(thing)
        return number

    def learn(self, things: Iterable[Any]) -> None:
        """Number these, in this order."""
        for thing in things:
            self[thing]


class SharedWords(dict[str, str]):
    """The one copy of each word, for what was read from bytes: there every one is an object of its own."""

    def __missing__(self, word: str) -> str:
        self[word] = word
        return word


class WordNumbers(Numbering):
    """Words that many delegations have in common, as the names of tools."""

    def __init__(self) -> None:
        super().__init__()
        self[None] = NO_WORD

    def word(self, number: int) -> str | None:
        word: str | None = None if number == NO_WORD else self.things[number]
        return word
