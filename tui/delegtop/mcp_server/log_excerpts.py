"""What a delegation wrote: what it returned, what it did last, the lines themselves."""

from collections.abc import Callable, Iterator, Mapping

import msgspec

from delegtop.mcp_server import untrusted_text
from delegtop.mcp_server.followed_scope import FollowedScope, QuestionError
from delegtop.mcp_server.row_words import MOST, RowWords
from delegtop.mcp_server.tool_contracts import EvidenceAnswer, EvidenceQuestion, What
from delegtop.model import phases, process_words
from delegtop.model.delegation import Delegation
from delegtop.model.events import Ended, Erred, Event, Heard, Noted, ProcessSeen, Started

_LINES = 60
"""The last so many lines of its log."""
_RAW = 64 * 1024
"""Bytes of one line that are looked at."""
_ROOM = 500
"""Characters that are left for what stands beside the text."""


def excerpt(followed: FollowedScope, asked: EvidenceQuestion) -> EvidenceAnswer:
    """The answer of `evidence`."""
    words = RowWords(followed)
    handle = words.meant(asked.id)
    facts, id = words.forest.delegation(handle), words.id(handle)
    told = list(_WRITTEN[asked.what](followed, facts))
    if not any(told):
        raise QuestionError(f"{id}: its log tells no {asked.what.replace('_', ' ')}; ask for something else of it")
    fenced, limit = _fenced(asked.what, told, asked.max_chars), asked.max_chars
    while (takes := len(msgspec.json.encode(fenced))) > MOST - _ROOM:  # much in it has to be escaped
        limit = limit * (MOST - _ROOM) // takes
        fenced = _fenced(asked.what, told, limit)
    other = "raw" if asked.what == "last_words" else "last_words"
    return EvidenceAnswer(
        at=words.now,
        id=id,
        what=asked.what,
        text=fenced,
        next=f"evidence(id={id!r}, what={other!r})",
        cut=len("\n".join(told)) > limit,
    )


def _fenced(what: What, told: list[str], limit: int) -> str:
    return untrusted_text.lines("\n".join(told), limit) if what == "return" else untrusted_text.last_lines(told, limit)


def _returned(_followed: FollowedScope, facts: Delegation) -> Iterator[str]:
    report = facts.report
    if report.status:
        yield f"status: {report.status}"
    if report.summary:
        yield report.summary
    for fault in facts.errors:
        yield f"error: {fault.message or fault.type or 'without a message'}"
    for artifact in facts.artifacts:
        yield f"made: {artifact.path}"
    if report.next_steps:
        yield f"next: {report.next_steps}"


def _last_words(followed: FollowedScope, facts: Delegation) -> Iterator[str]:
    before = ""
    for _, events in followed.seen.feed.history(facts, _LINES):
        for words in (_said(event, facts) for event in events):
            if words and words != before:
                yield words
                before = words


def _raw(followed: FollowedScope, facts: Delegation) -> Iterator[str]:
    for line, _ in followed.seen.feed.history(facts, _LINES):
        if line.data:
            yield line.data[:_RAW].decode("utf-8", "replace")


_WRITTEN: Mapping[What, Callable[[FollowedScope, Delegation], Iterator[str]]] = {
    "return": _returned,
    "last_words": _last_words,
    "raw": _raw,
}


def _said(event: Event, facts: Delegation) -> str:
    """What one event says, in a line; nothing if it says nothing of that delegation."""
    if getattr(event, "id", None) != facts.id:
        return ""
    match event:
        case Started():
            return "started"
        case Heard():
            words = ": ".join(filter(None, (event.tool, event.doing)))
            return words or (phases.word(event.phase))
        case Erred():
            return f"error: {event.fault.message or event.fault.type or 'without a message'}"
        case Noted():
            return f"{event.kind}: {event.text}" if event.text else ""
        case ProcessSeen():
            return f"kernel: {process_words.seen(event)}"
        case Ended():
            return f"ended: {event.outcome}" + (f": {event.report.summary}" if event.report.summary else "")
        case _:
            return ""
