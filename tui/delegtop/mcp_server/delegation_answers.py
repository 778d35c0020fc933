"""Which delegations there are, and why one of them is stuck."""

import msgspec

from delegtop.diagnosis.assessment import Assessment
from delegtop.diagnosis.recovery import salvage
from delegtop.mcp_server import untrusted_text
from delegtop.mcp_server.followed_scope import FollowedScope, QuestionError
from delegtop.mcp_server.row_words import MOST, RowWords
from delegtop.mcp_server.tool_contracts import (
    AdvisedStep,
    DelegationRow,
    EvidenceLine,
    ExplainAnswer,
    ExplainQuestion,
    ListAnswer,
    ListQuestion,
    SavedPiece,
)
from delegtop.model.query import QueryError, parse
from delegtop.model.states import ACTIVE

_TEXT, _WORDS, _LINE = 120, 300, 300
_EVIDENCE, _STEPS, _SAVED, _CHILDREN, _ABOVE = 3, 4, 4, 5, 5
_ROOM = 600
"""Characters that are left for what stands beside the rows."""
_RAW = 64 * 1024
"""Bytes of one line of a log that are looked at."""


def listed(followed: FollowedScope, asked: ListQuestion) -> ListAnswer:
    """The answer of `list_delegations`."""
    try:
        query = parse(asked.filter)
    except QueryError as error:
        raise QuestionError(f"filter: {error}") from None
    words, scope = RowWords(followed), followed.scope(asked.scope)
    fitting = [each for each in words.ranked(scope) if not query or query.matches(words.forest, each.handle)]
    rows = _as_many_as_fit(words, fitting[: asked.limit])
    return ListAnswer(
        at=words.now,
        scope=scope.scope,
        rows=rows,
        total=len(fitting),
        problems=sum(each.is_now for each in fitting),
        next=_after_listing(rows, fitting, scope.scope, followed.journal.cursor),
        left_out=len(fitting) - len(rows),
        note=scope.note or None,
    )


def _as_many_as_fit(words: RowWords, fitting: list[Assessment]) -> list[DelegationRow]:
    rows: list[DelegationRow] = []
    room = MOST - _ROOM
    for each in fitting:
        row = words.row(each)
        room -= len(msgspec.json.encode(row))
        if room < 0:
            break
        rows.append(row)
    return rows


def _after_listing(rows: list[DelegationRow], fitting: list[Assessment], scope: str, cursor: str) -> str:
    if rows and fitting[0].is_now:
        return f"explain(id={rows[0].id!r})"
    if any(each.state in ACTIVE for each in fitting):
        return f"wait(scope={scope!r}, until='problem', cursor={cursor!r})"
    return "Nothing is at work here, so there is nothing to wait for."


def explained(followed: FollowedScope, asked: ExplainQuestion) -> ExplainAnswer:
    """The answer of `explain`."""
    words = RowWords(followed)
    handle = words.meant(asked.id)
    found, facts = words.assessments.of(handle), words.forest.delegation(handle)
    steps = words.assessments.todo(handle) if found.problem else ()
    saved = salvage(facts) if found.problem else ()
    children = [words.assessments.of(child) for child in words.forest.offspring(handle)]
    undone = sorted((each for each in children if each.problem or each.state in ACTIVE), key=lambda each: each.key)
    return _fitted(
        ExplainAnswer(
            at=words.now,
            row=words.row(found),
            sentence=words.sentence(found),
            next=_after_explaining(words, found, undone, followed.journal.cursor),
            steps=[
                AdvisedStep(untrusted_text.line(step.words, _WORDS), _command(step.command)) for step in steps[:_STEPS]
            ],
            salvage=[
                SavedPiece(each.what, untrusted_text.line(each.text, _TEXT), _command(each.path))
                for each in saved[:_SAVED]
            ],
            evidence=[_evidence(followed, found, number) for number in range(len(found.evidence[:_EVIDENCE]))],
            holds_up=[words.id(above) for above in found.blocks[:_ABOVE]],
            children=[words.row(child) for child in undone[:_CHILDREN]],
        ),
        {
            "steps": len(steps),
            "salvage": len(saved),
            "evidence": len(found.evidence),
            "holds_up": len(found.blocks),
            "children": len(undone),
        },
    )


def _command(foreign: str | None) -> str | None:
    return None if foreign is None else untrusted_text.line(foreign, _WORDS)


def _evidence(followed: FollowedScope, found: Assessment, number: int) -> EvidenceLine:
    origin = found.evidence[number]
    raw = None if origin.is_kernel else followed.seen.feed.raw(origin)
    told = untrusted_text.line(raw[:_RAW].decode("utf-8", "replace"), _LINE) if raw else None
    return EvidenceLine(untrusted_text.line(str(origin), _WORDS), told)


def _after_explaining(words: RowWords, found: Assessment, undone: list[Assessment], cursor: str) -> str:
    if found.waits_on is not None:
        return f"explain(id={words.id(found.waits_on)!r})"
    if undone and undone[0].is_now:
        return f"explain(id={words.id(undone[0].handle)!r})"
    id = words.id(found.handle)
    if found.state in ACTIVE:
        return f"wait(ids=[{id!r}], until={'ended' if found.is_now else 'problem'!r}, cursor={cursor!r})"
    return f"evidence(id={id!r}, what='return')"


def _fitted(told: ExplainAnswer, there_are: dict[str, int]) -> ExplainAnswer:
    """The same within the bounds of an answer, with what is left out of it named: of the longest part, a piece less
    each time."""
    while len(msgspec.json.encode(told)) > MOST - _ROOM:
        parts = {name: getattr(told, name) for name in there_are}
        longest = max(parts, key=lambda name: len(msgspec.json.encode(parts[name])))
        if not parts[longest]:
            break
        told = msgspec.structs.replace(told, **{longest: parts[longest][:-1]})
    more = [
        f"{count - len(getattr(told, name))} more of {name}"
        for name, count in there_are.items()
        if count > len(getattr(told, name))
    ]
    return msgspec.structs.replace(told, left_out=more)


def tree(followed: FollowedScope) -> str:
    """All of this folder, as `delegtop tree` prints it."""
    from delegtop.report.table.drawing import SPOKEN  # few ask for it
    from delegtop.report.tree_text import Look
    from delegtop.report.tree_text import tree as lines

    scope = followed.scope("here")
    look = Look(drawing=SPOKEN, width=160, masked=True)
    return untrusted_text.lines("\n".join(lines(followed.seen.forest, (), matches=scope.handles, look=look)), MOST)
