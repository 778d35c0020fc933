"""What is told of a session of the past that has the words: a row of one line or two, and all there is."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.content import Content

from delegtop.app.cell_width import cells, cut, fit
from delegtop.app.pages.inspector.page_words import MUTED
from delegtop.app.theme import state_content
from delegtop.base.clock import moment, parse_time
from delegtop.base.text import line
from delegtop.model.states import State
from delegtop.report.figures import span
from delegtop.report.found_sessions import short_path
from delegtop.search.finding_words import marked
from delegtop.search.search_query import SearchError, understood

if TYPE_CHECKING:
    from delegtop.report.found_sessions import FoundSession

_WHEN, _STATE, _WHO, _WHERE = 16, 13, 18, 24
LINES = 2
"""Of a row, at most."""
_LEAST = 100
"""Cells: with fewer, where it was stands in the second line."""


def row(each: "FoundSession", words: str, width: int, *, home: str, ascii: bool = False) -> Content:
    """When, how it ended, who, where and what; below it the words that were found."""
    mark = "..." if ascii else "…"
    where = _where(each, home)
    title = line(each.title or "", 400)
    first: list[Content | tuple[str, str]] = [
        (fit(_when(each), _WHEN, mark) + "  ", MUTED),
        _state(each.state, ascii),
        (fit(line(each.agent, 80), _WHO, mark) + "  ", "bold"),
    ]
    left = width - _WHEN - _STATE - _WHO - 4
    if width >= _LEAST and where:
        first.append((fit(where, _WHERE, mark) + "  ", MUTED))
        left -= _WHERE + 2
    match = next((each for each in each.matches if each.field != "title" and each.text != title), None)
    told = f"{match.field}: {line(match.text, 400)}" if match else ""
    below = "  ".join(filter(None, (where if width < _LEAST else "", told)))
    second = " " * (_WHEN + 2) + cut(
        below or ("its log is gone" if each.source is None else ""), width - _WHEN - 2, mark
    )
    top = Content.assemble(*first, emphasised(cut(title, max(left, 8), mark), words))
    return Content("\n").join([top, emphasised(second, words, MUTED)]) if second.strip() else top


def emphasised(text: str, words: str, style: str = "") -> Content:
    """The text with the words marked in it."""
    content = Content.styled(text, style) if style else Content(text)
    for begin, end in _places(text, words):
        content = content.stylize("bold $accent", begin, end)
    return content


def _places(text: str, words: str) -> Iterator[tuple[int, int]]:
    try:
        marks = understood(words, typing=True).marks
    except SearchError:
        return
    if marks:
        yield from (found.span() for found in marked(marks).finditer(text))


def details(each: "FoundSession", words: str, home: str) -> Iterator[Content]:
    """All there is to say of it."""
    took = "" if each.took_seconds is None else f" in {span(each.took_seconds)}"
    facts = filter(None, (_when(each), f"{each.state}{took}", line(each.agent, 80), _where(each, home)))
    yield Content.styled("  ".join(facts), MUTED)
    if each.title:
        yield emphasised(line(each.title, 400), words, "bold")
    for match in each.matches:
        if match.text != each.title:
            yield Content.assemble((f"{match.field:8}", MUTED), emphasised(line(match.text, 400), words))


def _state(state: str, ascii: bool) -> Content:
    known = next((each for each in State if each.value == state), None)
    told = state_content(known, ascii=ascii) if known is not None else Content(line(state, 20))
    return told + " " * max(_STATE - cells(told.plain), 1)


def _when(each: "FoundSession") -> str:
    at = parse_time(each.started_at or "")
    return "–" if at is None else moment(at)[:_WHEN]


def _where(each: "FoundSession", home: str) -> str:
    return line(" on ".join(filter(None, (short_path(each.project, home), each.host))), 200)
