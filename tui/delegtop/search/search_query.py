"""What somebody looks for, as the database is asked for it.

No word of it reaches the database but in quotes, so that nothing that is typed is a command to it.
"""

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from delegtop.base.clock import Millis
from delegtop.model import query
from delegtop.model.states import State

LONGEST = 1_000
"""Characters of what somebody looks for."""
MOST = 40
"""Terms of it."""
WORDS = {"title": "title", "prompt": "prompt", "error": "error", "file": "files", "answer": "answer"}
"""What text can be looked for in alone, and the column it stands in."""
FACTS = {
    "agent": "found.agent",
    "state": "found.state",
    "status": "found.state",
    "project": "found.folder",
    "host": "found.host",
    "product": "found.product",
    "id": "found.id",
}
"""What a session can be narrowed by, as in the filter."""
KEYS = (*WORDS, *FACTS)
_TERM = re.compile(
    r"""(?P<not>!?)(?:(?P<key>[A-Za-z_]+)(?P<how>[:=]))?(?P<value>(?:"[^"]*"?|[^\s"])+)""",
)
_ALTERNATIVE = re.compile(r'(?:"[^"]*"?|[^"|,])+')
_EITHER = re.compile(r'(?:"[^"]*"?|[^"|])+')
_OF_THE_FILTER = frozenset(key.name for key in query.KEYS)
_STATES = tuple(state.value for state in State)
_COMPARED = re.compile(r"!?([a-z]+)[<>]=?\S")


class SearchError(ValueError):
    """What is wrong with what was typed, for people."""


class SearchQuery(NamedTuple):
    """What is asked for."""

    match: str = ""
    """The words that must be there, as FTS5 takes them; empty if none must."""
    without: str = ""
    """Those that must not."""
    facts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Conditions on facts, each with its values."""
    marks: tuple[str, ...] = ()
    """The words to mark where they were found, in small letters."""
    phrases: tuple[str, ...] = ()
    """Of the words that must be there each by itself, as FTS5 takes it: the more of them, the better."""
    limit: int = 20
    since: Millis | None = None
    below: str | None = None
    """Only what worked in this folder or below it."""
    best: bool = False
    """Those first that say most of the words, not the newest."""


def understood(text: str, *, typing: bool = False) -> SearchQuery:
    """What the text asks for; SearchError if it asks for nothing. While somebody is `typing`, the last word may be only
    begun."""
    if len(text) > LONGEST:
        raise SearchError(f"that is too long to look for: {len(text):,} characters, and {LONGEST:,} are enough")
    text = "".join(each if each.isprintable() else " " for each in text)
    terms = list(_TERM.finditer(text))
    if len(terms) > MOST:
        raise SearchError(f"those are too many words to look for: {len(terms)}, and {MOST} are enough")
    must: list[str] = []
    must_not: list[str] = []
    facts: list[tuple[str, tuple[str, ...]]] = []
    marks: list[str] = []
    phrases: list[str] = []
    for number, term in enumerate(terms):
        key, value, is_not = (term["key"] or "").lower(), term["value"], bool(term["not"])
        _check(term[0], key)
        if key in FACTS:
            fact = _fact(FACTS[key], value, whole=term["how"] == "=", is_not=is_not)
            if fact and FACTS[key] == "found.state":
                _check_states(fact[1])
            facts += [fact] if fact else []
            continue
        if key and key not in WORDS:  # an address, or the name of an error: words like others
            key, value = "", term[0][is_not:]
        is_last = typing and number == len(terms) - 1 and not text[-1:].isspace()
        either = list(_phrases(value, begun=is_last))
        if not either:
            continue
        told = " OR ".join(phrase.expression for phrase in either)
        told = f"{{{WORDS[key]}}} : ({told})" if key else f"({told})"
        (must_not if is_not else must).append(told)
        if not is_not:
            marks += [word for phrase in either for word in phrase.words]
            phrases += [f"{{{WORDS[key]}}} : {each.expression}" if key else each.expression for each in either]
    if not (must or must_not or facts):
        raise SearchError("there is no word in it to look for")
    once = tuple(dict.fromkeys(marks)), tuple(dict.fromkeys(phrases))[:MOST]
    return SearchQuery(" AND ".join(must), " OR ".join(must_not), tuple(facts), *once)


def _check_states(patterns: Iterable[str]) -> None:
    """As in the filter: who mistypes a state is told so, and not that there is nothing."""
    for pattern in patterns:
        if not any(fnmatchcase(state, pattern if "*" in pattern else f"*{pattern}*") for state in _STATES):
            told = pattern.strip("*").replace("[[]", "[")
            raise SearchError(f"no state is named {told}: there are {', '.join(_STATES)}")


def _check(term: str, key: str) -> None:
    """A key of the filter that means nothing here is no word to look for."""
    compared = _COMPARED.match(term)
    wrong = compared[1] if compared and compared[1] in _OF_THE_FILTER else key if key in _OF_THE_FILTER else ""
    if wrong and wrong not in KEYS:
        raise SearchError(f"{wrong} is a key of the filter; here there are {', '.join(KEYS)}")


class _Phrase(NamedTuple):
    expression: str
    words: tuple[str, ...]


def _phrases(value: str, *, begun: bool) -> Iterator[_Phrase]:
    """`one|"two words"|thr*`, each as FTS5 takes it."""
    for found in _EITHER.findall(value):
        is_open = found.count('"') % 2 == 1
        is_begun = found.endswith("*") or (begun and (is_open or not found.endswith('"')))
        words = found.replace('"', " ").replace("*", " ")
        if any(each.isalnum() for each in words):  # else there is nothing that is kept of it
            expression = f'"{words.strip()}"' + (" *" if is_begun else "")
            yield _Phrase(expression, tuple(_tokens(words)))


def _tokens(text: str) -> Iterator[str]:
    """About what the database takes for words."""
    return iter("".join(each if each.isalnum() else " " for each in text.lower()).split())


def _fact(column: str, value: str, *, whole: bool, is_not: bool) -> tuple[str, tuple[str, ...]] | None:
    """`agent:impl*`, `state:failed,lost`: anywhere in it, all of it with `=` or `*`."""
    wanted = [told for each in _ALTERNATIVE.findall(value) if (told := each.replace('"', "").strip().lower())]
    if not wanted:
        return None
    either = " OR ".join(f"lower({column}) GLOB ?" for _ in wanted)
    return f"{'NOT ' if is_not else ''}({either})", tuple(_pattern(each, whole=whole) for each in wanted)


def _pattern(value: str, *, whole: bool) -> str:
    escaped = value.replace("[", "[[]")
    if whole:
        return escaped.replace("*", "[*]").replace("?", "[?]")
    return escaped if "*" in value or "?" in value else f"*{escaped}*"
