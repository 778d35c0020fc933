"""The filter language: `state:overdue depth>1 left<5m agent:impl* !text`.

Terms are ANDed. A query is parsed once and asked of many delegations. What is only half typed (`state:`, `left<`, `!`,
an open quote) is not an error: it filters nothing yet.
"""

import operator
import re
from collections.abc import Callable
from difflib import get_close_matches
from fnmatch import translate
from typing import TYPE_CHECKING

import msgspec

from delegtop.clock import parse_span
from delegtop.model import measures
from delegtop.model.delegation import Link
from delegtop.model.events import Phase
from delegtop.model.states import State

if TYPE_CHECKING:
    from delegtop.model.forest import Forest
    from delegtop.model.ledger import Handle

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


def _path(forest: "Forest", handle: "Handle") -> str | None:
    path = forest.delegation(handle).own_path
    return "/".join(path) if path else None


def _agent(forest: "Forest", handle: "Handle") -> str | None:
    return forest.delegation(handle).agent


def _command(forest: "Forest", handle: "Handle") -> str | None:
    return forest.delegation(handle).command


def _task(forest: "Forest", handle: "Handle") -> str | None:
    return forest.delegation(handle).task


def _host(forest: "Forest", handle: "Handle") -> str | None:
    return forest.delegation(handle).host


def _doing(forest: "Forest", handle: "Handle") -> str | None:
    return forest.delegation(handle).doing


def _fact(field: str) -> Words:
    return lambda forest, handle: getattr(forest.delegation(handle), field)


def _notes(forest: "Forest", handle: "Handle") -> str | None:
    return " ".join(note.kind for note in forest.delegation(handle).notes) or None


def _tokens(forest: "Forest", handle: "Handle") -> int | None:
    return forest.delegation(handle).tokens


_PHASES = tuple(phase.value for phase in Phase)
KEYS: tuple[WordKey | FigureKey, ...] = (
    WordKey(
        "state",
        "Its state at the moment of looking; `status` is the same key.",
        "state:overdue,failed",
        words=lambda forest, handle: forest.state(handle).value,
        known=tuple(state.value for state in State),
    ),
    WordKey("agent", "The agent that does the work.", "agent:impl*", words=_agent),
    WordKey("command", "The command that asked for it.", "command:implement", words=_command),
    WordKey("task", "The number or name of the task.", "task=191", words=_task),
    WordKey("id", "Its session id.", "id:def456", words=lambda forest, handle: forest.delegation(handle).id),
    WordKey("path", "The delegation path, its steps joined by `/`.", "path:*/implement/*", words=_path),
    WordKey("doing", "What it said last that it is doing.", 'doing:"lake build"', words=_doing),
    FigureKey("depth", "How deep it is, as claimed, else as derived.", "depth>1", figure=measures.depth),
    FigureKey("left", "Time until its deadline; negative when overdue.", "left<5m", figure=measures.left, span=True),
    FigureKey("age", "Time since its start, or from start to end.", "age>=1h", figure=measures.age, span=True),
    FigureKey("quiet", "Time since it was last heard of.", "quiet>10m", figure=measures.quiet, span=True),
    FigureKey("tokens", "Tokens used so far.", "tokens>1000", figure=_tokens),
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
    WordKey("product", "The program whose files tell of it.", "product:claude-code", words=_fact("product")),
    WordKey("model", "The model it runs on.", "model:opus", words=_fact("model")),
    WordKey("title", "Its work in a few words.", "title:parser", words=_fact("title")),
    WordKey("phase", "What it is in the middle of.", "phase:permission", words=_fact("phase"), known=_PHASES),
    WordKey("note", "The kinds of notes it has, such as `review` or `blocker`.", "note:review", words=_notes),
    WordKey("host", "The machine it runs on.", "host:build-*", words=_host),
)
ALIASES = {"status": "state"}
_BY_NAME = {key.name: key for key in KEYS}
_BY_NAME |= {alias: _BY_NAME[name] for alias, name in ALIASES.items()}

_TERM = re.compile(r'(?:"[^"]*"?|[^\s"])+')
_KEYED = re.compile(r"([A-Za-z_]+)(<=|>=|[:=<>])")
_ALTERNATIVE = re.compile(r'(?:"[^"]*"?|[^"|,])+')
_WORD_ALTERNATIVE = re.compile(r'(?:"[^"]*"?|[^"|])+')
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Query(msgspec.Struct, frozen=True):
    """A parsed filter. An empty one matches everything and is false."""

    text: str
    tests: tuple[Test, ...]

    def __bool__(self) -> bool:
        return bool(self.tests)

    def matches(self, forest: "Forest", handle: "Handle") -> bool:
        return all(test(forest, handle) for test in self.tests)


def parse(text: str) -> Query:
    """The query that `text` means; QueryError if it means none."""
    tests = (_term(match.group(), match.start()) for match in _TERM.finditer(text))
    return Query(text, tuple(test for test in tests if test is not None))


def _term(term: str, position: int) -> Test | None:
    bare = term.lstrip("!")
    inverted = (len(term) - len(bare)) % 2 == 1
    position += len(term) - len(bare)
    keyed = _KEYED.match(bare)
    test = _keyed(keyed, bare[keyed.end() :], position) if keyed else _plain(bare)
    if test is None or not inverted:
        return test
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
        _path(forest, handle),
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
    near = get_close_matches(name.lower(), _BY_NAME, 1)
    advice = f"did you mean {near[0]}?" if near else f"there are {', '.join(key.name for key in KEYS)}."
    return f'no key is named {name}; {advice} To look for the text itself, quote it: "{_unquote(term)}"'


def _texts(key: WordKey, sign: str, value: str, position: int) -> Test | None:
    alternatives = [_unquote(part) for part in _ALTERNATIVE.findall(value)]
    matchers = [_matcher(part, whole=sign == "=") for part in alternatives if part]
    if not matchers:
        return None
    for part in alternatives:
        if key.known and not any(_matcher(part, whole=False)(known) for known in key.known):
            raise QueryError(f"no {key.name} is named {part}: there are {', '.join(key.known)}", position)

    def test(forest: "Forest", handle: "Handle") -> bool:
        text = key.words(forest, handle)
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
        return number is not None and number // unit * unit in wanted

    return test


def _number(key: FigureKey, text: str, position: int) -> int | None:
    """The number or span in `text`; None while only its sign is typed."""
    digits = text.removeprefix("-")
    if not digits:
        return None
    size = parse_span(digits) if key.span else _whole(digits)
    if size is None:
        kind = "a time such as 90s, 5m or 1h30m" if key.span else "a whole number such as 2 or 5k"
        raise QueryError(f"{key.name} needs {kind}, not {text}", position)
    return -size if text.startswith("-") else size


def _whole(text: str) -> int | None:
    match = re.fullmatch(r"([0-9]{1,15})([km]?)", text, re.IGNORECASE)
    if match is None:
        return None
    return int(match[1]) * {"": 1, "k": 1_000, "m": 1_000_000}[match[2].lower()]


def _unquote(text: str) -> str:
    return text.replace('"', "")
