"""What was probably meant by a word that is not known: one that is nearly spelled so, and else nothing. A suggestion
that is far off leads astray."""

from collections.abc import Iterable

_LETTERS_A_SLIP = 4
"""In so many letters there may be one slip; in three there may be one, too, and in fewer none."""
_LEAST = 3
_LONGEST = 60


def advice(word: str, known: Iterable[str], otherwise: str) -> str:
    """`did you mean tree?`, or what is said instead."""
    near = nearest(word, known)
    return otherwise if near is None else f"did you mean {near}?"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The word that is nearest in letters: a slip or two away, or beginning so."""
    bare = _bare(word)
    if not _LEAST <= len(bare) <= _LONGEST:
        return None
    most = max(1, len(bare) // _LETTERS_A_SLIP)
    slips = {each: _begins(bare, _bare(each)) or _slips(bare, _bare(each), most) for each in known}
    return min((each for each, count in slips.items() if count <= most), key=lambda each: slips[each], default=None)


def _bare(word: str) -> str:
    """Without the dashes that all options have in common, and in small letters."""
    return word.lstrip("-").lower()


def _begins(word: str, known: str) -> int:
    """1 if the known word begins so, else 0."""
    return int(known != word and known.startswith(word))


def _slips(word: str, known: str, most: int) -> int:
    """How many letters are missing, too many, others, or where their neighbour should be; any number above `most`
    if there are more."""
    if abs(len(word) - len(known)) > most:
        return most + 1
    before: list[int] = []
    last: list[int] = [*range(len(known) + 1)]
    for row, letter in enumerate(word, 1):
        line: list[int] = [row]
        for column, other in enumerate(known, 1):
            least = min(last[column] + 1, line[-1] + 1, last[column - 1] + int(letter != other))
            if row > 1 and column > 1 and (letter, word[row - 2]) == (known[column - 2], other):
                least = min(least, before[column - 2] + 1)
            line.append(least)
        before, last = last, line
    return last[-1]
