"""The filter language: `state:overdue depth>1 left<5m agent:impl* !text`.

Terms are ANDed. A query is parsed once and asked of many delegations. What is only half typed (`state:`, `left<`, `!`,
an open quote) is not an error: it filters nothing yet.
"""

import operator
import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from fnmatch import translate
from operator import attrgetter
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from delegtop.base.clock import parse_span
from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.model import measures
from delegtop.model.delegation import FACTS, Delegation, Link
from delegtop.model.facts import Fact
from delegtop.model.states import State

if TYPE_CHECKING:
    from delegtop.model.forest import Forest
    from delegtop.model.store.ledger import Handle

Test = Callable[["Forest", "Handle"], bool]
Words = Callable[["Forest", "Handle"], str | None]
Figure = Callable[["Forest", "Handle"], int | None]


class QueryError(ValueError):
    """The query cannot be understood. The message is for people; `position` counts characters from 0."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message} (at character {position + 1})")
        self.position = position


class Key(msgspec.Struct, frozen=True):
    """One `key:value` of the language."""

    name: str
    meaning: str
    example: str


class WordKey(Key, frozen=True):
    """A key whose value is text."""

    words: Words
    known: tuple[str, ...] = ()
    """All values there are, if they are few."""


class FigureKey(Key, frozen=True):
    """A key whose value is a number and can be compared."""

    figure: Figure
    span: bool = False
    """It is a span of time: `5m`, `1h30m`, or a bare number of seconds."""


def _source(forest: "Forest", handle: "Handle") -> str | None:
    facts = forest.delegation(handle)
    origin = facts.started_origin or facts.heard_origin or facts.ended_origin
    return origin.source if origin else None


def _path(facts: Delegation) -> str | None:
    return "/".join(facts.own_path) if facts.own_path else None


def _notes(facts: Delegation) -> str | None:
    return " ".join(note.kind for note in facts.notes) or None


_KEYED = lazy_pattern(r"([A-Za-z_]+)(?::(?=[<>]))?(<=|>=|[:=<>])")
_READ: dict[str, Callable[[Delegation], Any]] = {"path": _path, "notes": _notes}
"""How a fact is filtered for that is no plain text or number."""


def _of(fact: Fact) -> WordKey | FigureKey:
    """The key of a fact."""
    told = (_KEYED.split(fact.filter)[1], fact.filter_meaning or fact.meaning, fact.filter)
    read, kinds = _READ.get(fact.name) or attrgetter(fact.name), get_args(fact.type)
    if int in kinds or float in kinds:
        return FigureKey(*told, figure=lambda forest, handle: read(forest.delegation(handle)))
    enums = (kind for kind in kinds if isinstance(kind, type) and issubclass(kind, StrEnum))
    known = tuple(member.value for enum in enums for member in enum)
    return WordKey(*told, words=lambda forest, handle: read(forest.delegation(handle)), known=known)


def _in_order(*shown: str | WordKey | FigureKey) -> tuple[WordKey | FigureKey, ...]:
    """The keys of the facts where they are named, behind the last those that are not."""
    of_facts = {key.name: key for key in (_of(fact) for fact in FACTS.values() if fact.filter)}
    named = [of_facts[key] if isinstance(key, str) else key for key in shown]
    names = {key.name for key in named}
    return (*named, *(key for key in of_facts.values() if key.name not in names))


KEYS = _in_order(
    WordKey(
        "state",
        "Its state at the moment of looking; `status` is the same key.",
        "state:overdue,failed",
        words=lambda forest, handle: forest.state(handle),
        known=tuple(state.value for state in State),
    ),
    *("agent", "command", "task", "id", "path", "doing"),
    FigureKey("depth", "How deep it is, as claimed, else as derived.", "depth>1", figure=measures.depth),
    FigureKey("left", "Time until its deadline; negative when overdue.", "left<5m", figure=measures.left, span=True),
    FigureKey("age", "Time since its start, or from start to end.", "age>=1h", figure=measures.age, span=True),
    FigureKey("quiet", "Time since anything came of it: asking again is nothing.", "quiet>10m", measures.quiet, True),
    *("tokens", "cost"),
    WordKey("source", "The file that tells of it.", "source:*.jsonl", words=_source),
    WordKey(
        "link",
        "How sure its parent is.",
        "link:inferred,ambiguous",
        words=lambda forest, handle: forest.link(handle).value,
        known=tuple(link.value for link in Link),
    ),
    WordKey(
        "project", "The folder it works in, or that of the nearest above it.", "project:*/app", words=measures.folder
    ),
    *("product", "model", "title", "phase", "note"),
    WordKey("host", FACTS["host"].meaning, FACTS["host"].filter, words=measures.host),
)
ALIASES = {"status": "state"}
_BY_NAME = {key.name: key for key in KEYS}
_BY_NAME |= {alias: _BY_NAME[name] for alias, name in ALIASES.items()}

_TERM = lazy_pattern(r'(?:"[^"]*"?|[^\s"])+')
_ALTERNATIVE = lazy_pattern(r'(?:"[^"]*"?|[^"|,])+')
_WORD_ALTERNATIVE = lazy_pattern(r'(?:"[^"]*"?|[^"|])+')
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class StateTest(msgspec.Struct, frozen=True):
    """By state; asked of all at once, it needs one look through their column."""

    states: frozenset[State]

    def __call__(self, forest: "Forest", handle: "Handle") -> bool:
        return forest.state(handle) in self.states

    def among(self, forest: "Forest") -> "set[Handle]":
        return {handle for handle, _ in forest.in_states(self.states)} if self.states else set()


class FilterQuery(msgspec.Struct, frozen=True):
    """A parsed filter. An empty one matches everything and is false."""

    text: str
    tests: tuple[Test, ...]

    def __bool__(self) -> bool:
        return bool(self.tests)

    def matches(self, forest: "Forest", handle: "Handle") -> bool:
        return all(test(forest, handle) for test in self.tests)

    def among(self, forest: "Forest") -> "set[Handle]":
        """All that match."""
        in_states = [test.among(forest) for test in self.tests if isinstance(test, StateTest)]
        found: Iterable[Handle] = set.intersection(*in_states) if in_states else range(len(forest))
        for test in self.tests:
            if not isinstance(test, StateTest):
                found = [handle for handle in found if test(forest, handle)]
        return {*found}


def parse(text: str) -> FilterQuery:
    """The query that `text` means; QueryError if it means none."""
    tests = (_term(match.group(), match.start()) for match in _TERM.finditer(text))
    return FilterQuery(text, tuple(test for test in tests if test is not None))


def _term(term: str, position: int) -> Test | None:
    bare = term.lstrip("!")
    inverted = (len(term) - len(bare)) % 2 == 1
    position += len(term) - len(bare)
    keyed = _KEYED.match(bare)
    test = _keyed(keyed, bare[keyed.end() :], position) if keyed else _plain(bare)
    if test is None or not inverted:
        return test
    if isinstance(test, StateTest):
        return StateTest(frozenset(State) - test.states)
    return lambda forest, handle: not test(forest, handle)


def _plain(term: str) -> Test | None:
    words = [_unquote(part).lower() for part in _WORD_ALTERNATIVE.findall(term)]
    words = [word for word in words if word]
    if not words:
        return None

    def test(forest: "Forest", handle: "Handle") -> bool:
        haystack = _haystack(forest, handle)
        return any(word in haystack for word in words)

    return test


def _haystack(forest: "Forest", handle: "Handle") -> str:
    facts = forest.delegation(handle)
    texts = (
        facts.id,
        facts.agent,
        measures.label(facts),
        facts.command,
        facts.task,
        _path(facts),
        facts.doing,
        facts.report.summary,
        facts.title,
        measures.folder(forest, handle),
        forest.state(handle).value,
    )
    return "\n".join(text for text in texts if text).lower()


def _keyed(match: re.Match[str], value: str, position: int) -> Test | None:
    name, sign = match.groups()
    key = _BY_NAME.get(name.lower())
    if key is None:
        raise QueryError(_unknown_key(name, match.string), position)
    if not _unquote(value):
        return None
    position += match.end()
    if isinstance(key, FigureKey):
        return _figures(key, sign, value, position)
    if sign in _COMPARE:
        raise QueryError(f"{key.name} is a word and cannot be compared by {sign}: write {key.example}", position)
    return _texts(key, sign, value, position)


def _unknown_key(name: str, term: str) -> str:
    from delegtop.base.near_words import advice  # only who mistypes needs it

    meant = advice(name, _BY_NAME, f"there are {', '.join(key.name for key in KEYS)}.")
    return f'no key is named {name}; {meant} To look for the text itself, quote it: "{_unquote(term)}"'


def _texts(key: WordKey, sign: str, value: str, position: int) -> Test | None:
    alternatives = [_unquote(part) for part in _ALTERNATIVE.findall(value)]
    matchers = [_matcher(part, whole=sign == "=") for part in alternatives if part]
    if not matchers:
        return None
    for part in alternatives:
        if key.known and not any(_matcher(part, whole=False)(known) for known in key.known):
            raise QueryError(f"no {key.name} is named {part}: there are {', '.join(key.known)}", position)

    known = {word: any(matches(word) for matches in matchers) for word in key.known}
    if key.name == "state":
        return StateTest(frozenset(state for state in State if known[state]))

    def test(forest: "Forest", handle: "Handle") -> bool:
        text = key.words(forest, handle)
        if text in known:
            return known[text]
        return text is not None and any(matches(text) for matches in matchers)

    return test


def _matcher(pattern: str, whole: bool) -> Callable[[str], bool]:
    """A value with `*` or `?` must fit as a whole; one without may stand anywhere, unless `whole`."""
    if "*" in pattern or "?" in pattern:
        fits = re.compile(translate(pattern.replace("[", "[[]")), re.IGNORECASE).match
        return lambda text: fits(text) is not None
    lowered = pattern.lower()
    if whole:
        return lambda text: text.lower() == lowered
    return lambda text: lowered in text.lower()


def _figures(key: FigureKey, sign: str, value: str, position: int) -> Test | None:
    if sign in (":", "="):
        return _figure_among(key, value, position)
    limit = _number(key, _unquote(value), position)
    if limit is None:
        return None
    compare = _COMPARE[sign]

    def test(forest: "Forest", handle: "Handle") -> bool:
        number = key.figure(forest, handle)
        return number is not None and compare(number, limit)

    return test


def _figure_among(key: FigureKey, value: str, position: int) -> Test | None:
    """`depth:1,2` is any of these; `left:*` is any that is known."""
    parts = [_unquote(part) for part in _ALTERNATIVE.findall(value)]
    if "*" in parts:
        return lambda forest, handle: key.figure(forest, handle) is not None
    numbers = [_number(key, part, position) for part in parts]
    wanted = {number for number in numbers if number is not None}
    if not wanted:
        return None
    unit = 1_000 if key.span else 1

    def test(forest: "Forest", handle: "Handle") -> bool:
        number = key.figure(forest, handle)
        return number is not None and (number in wanted or number // unit * unit in wanted)

    return test


def _number(key: FigureKey, text: str, position: int) -> float | None:
    """The number or span in `text`; None while only its sign is typed."""
    digits = text.removeprefix("-")
    if not digits:
        return None
    size: float | None = parse_span(digits) if key.span else _figure(digits)
    if size is None:
        kind = "a time such as 90s, 5m or 1h30m" if key.span else "a number such as 2 or 5k"
        raise QueryError(f"{key.name} needs {kind}, not {text}", position)
    return -size if text.startswith("-") else size


def _figure(text: str) -> float | None:
    match = re.fullmatch(r"([0-9]{1,15})(\.[0-9]{1,9})?([km]?)", text, re.IGNORECASE)
    if match is None:
        return None
    size = float(match[1] + match[2]) if match[2] else int(match[1])
    return size * {"": 1, "k": 1_000, "m": 1_000_000}[match[3].lower()]


def _unquote(text: str) -> str:
    return text.replace('"', "")
