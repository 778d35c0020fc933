"""What is kept of one delegation so that it can be found: its words, masked as on a screen, and what became of it."""

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from delegtop.base.clock import Millis
from delegtop.base.product import SESSION_REFS
from delegtop.base.secrets import mask
from delegtop.base.text import as_utf8
from delegtop.diagnosis.session_commands import session_name
from delegtop.dialects.products import product
from delegtop.model import measures
from delegtop.model.delegation import Delegation
from delegtop.model.events import Ending, Fault, Phase
from delegtop.model.forest import Forest
from delegtop.model.notes import ACTED
from delegtop.model.states import ENDED_BADLY, State
from delegtop.model.store.ledger import Handle
from delegtop.search.error_shape import key_of, shape
from delegtop.search.stand_stills import Gathering

_ERRORS = 2_000
"""Characters of what went wrong."""
_ANSWER = 2_000
_KINDS = {Phase.TOOL: "tool", Phase.MODEL: "model", Phase.PERMISSION: "person", Phase.ANSWER: "person"}
_ERROR = "error"


class KeptWords(Struct, frozen=True, gc=False, array_like=True):
    """What it can be found by, and what is shown of it; every text is masked."""

    title: str = ""
    prompt: str = ""
    error: str = ""
    files: str = ""
    answer: str = ""
    name: str = ""
    """What a tree calls it."""
    place: bytes = b""
    """The path of the file that tells of it, which may be any bytes."""
    session: str = ""
    """The id of the session it belongs to."""
    cwd: str = ""
    named: str = ""
    """What its program calls that session; empty if that is not known."""

    @property
    def source(self) -> str:
        """The file that tells of it."""
        return self.place.decode("utf-8", "surrogatepass")


class PastTrouble(Struct, frozen=True, gc=False, array_like=True):
    """One time that something went wrong or stood still."""

    at: Millis
    exact: int
    """The same for all of its kind with the same words."""
    loose: int
    """The same for all of its kind in the same tool, or of the same agent."""
    lasted: int | None
    """Milliseconds; None if nobody knows."""
    ended: str
    """What became of it, in a few words."""


class SessionWords(Struct, frozen=True, gc=False):
    """One delegation as it is kept."""

    id: str
    at: Millis | None
    """When it started, else when it was last heard of; None if nothing says when it was."""
    heard: Millis | None
    took: int | None
    state: str
    agent: str
    product: str
    folder: str
    host: str
    words: KeptWords
    troubles: tuple[PastTrouble, ...] = ()
    told_in: tuple[str, ...] = ()
    """All files that tell of it."""
    names: tuple[int, ...] = ()
    """By what files that tell of it, or of what it has to do with, are known to belong together."""


pack = msgspec.msgpack.Encoder().encode
unpack = msgspec.msgpack.Decoder(KeptWords).decode


def names_in(words: SessionWords) -> tuple[str, ...]:
    """What of it is not masked, for it is what something is looked up by."""
    return words.id, words.words.source, words.words.session, words.words.named


def words_of(forest: Forest, handle: Handle, gathered: Gathering) -> SessionWords:
    facts, state = forest.delegation(handle), forest.state(handle)
    heard = facts.heard_at or facts.ended_at or facts.started_at
    errors = "\n".join(filter(None, (error.message or error.code or error.type for error in facts.errors)))
    root = _session(forest, handle)
    above = facts if root == handle else forest.delegation(root)
    program = product(above.product)
    ended = measures.ended_at(facts)
    return SessionWords(
        id=as_utf8(facts.id),
        at=facts.started_at or heard,
        heard=heard,
        took=max(ended - facts.started_at, 0) if ended is not None and facts.started_at is not None else None,
        state=state.value,
        agent=_hidden(measures.called(facts)),
        product=as_utf8(facts.product or ""),
        folder=_hidden(measures.folder(forest, handle)),
        host=as_utf8(measures.named_host(forest, handle)),
        words=KeptWords(
            title=_hidden(facts.title),
            prompt=_hidden(facts.prompt),
            error=_hidden(errors[:_ERRORS]),
            files=_hidden("\n".join((*_made(facts), *gathered.files.get(facts.id, ())))),
            answer=_hidden((facts.report.summary or "")[:_ANSWER]),
            name=_hidden(measures.label(facts)),
            place=_source(facts).encode("utf-8", "surrogatepass"),
            session=as_utf8(above.id),
            cwd=_hidden(above.cwd),
            named=as_utf8(session_name(above, program) or "") if program else "",
        ),
        troubles=tuple(_troubles(facts, state, gathered)),
        told_in=tuple({place.source for place in facts.origins if not place.is_kernel}),
        names=tuple(key_of(name) for name in (facts.id, facts.parent, *_sessions(facts)) if name),
    )


def _sessions(facts: Delegation) -> Iterator[str]:
    """What its session is called elsewhere. Other foreign ids are those of many: a terminal, the first agent in it."""
    return (ref for name, ref in facts.refs if name in SESSION_REFS)


def _hidden(text: str | None) -> str:
    """As the screen would show it."""
    return as_utf8(mask(text)) if text else ""


def _made(facts: Delegation) -> Iterator[str]:
    return (artifact.path for artifact in facts.artifacts)


def _session(forest: Forest, handle: Handle) -> Handle:
    """The topmost of its tree that the same program tells of: what can be opened again."""
    at = handle
    while (above := forest.parent(at)) is not None and forest.delegation(above).product == forest.delegation(
        at
    ).product:
        at = above
    return at


def _source(facts: Delegation) -> str:
    places = (facts.started_origin, *facts.origins[:1], facts.heard_origin, facts.ended_origin)
    return next((place.source for place in places if place is not None and not place.is_kernel), "")


def _troubles(facts: Delegation, state: State, gathered: Gathering) -> Iterator[PastTrouble]:
    """Its errors, and where it stood still."""
    stopped = any(note.kind == ACTED for note in facts.notes)
    for error in facts.errors:
        at = facts.ended_at or facts.heard_at or facts.started_at or Millis(0)
        yield PastTrouble(at, *error_keys(error, facts.agent), None, _end(state))
    for still in gathered.stills.get(facts.id, {}).values():
        ended = "was stopped with delegtop" if stopped and still.ended == "interrupted" else _after(still.ended)
        keys = still_keys(still.phase, still.tool, still.doing, facts.agent)
        yield PastTrouble(still.at, *keys, int(still.until - still.at), ended)
    last = gathered.last(facts.id)
    if last is not None and state is State.LOST:
        at, phase, tool, doing = last
        gone = facts.ended_by is Ending.GONE
        came = "its process was gone" if gone else "nothing was ever heard of it again"
        yield PastTrouble(at, *still_keys(phase, tool, doing, facts.agent), None, came)


def error_keys(error: Fault, agent: str | None) -> tuple[int, int]:
    """By what an error is found again: by its words, and by its code and who met it."""
    code = error.code or error.type or ""
    words = shape(" ".join(filter(None, (error.code, error.message))) or code)
    exact = key_of(_ERROR, words)
    return exact, key_of(_ERROR, agent or "", code) if code else exact


def still_keys(phase: Phase, tool: str, doing: str, agent: str | None) -> tuple[int, int]:
    """By what it is found again that something stands still: by tool and words, and by tool and agent."""
    kind = _KINDS.get(phase, "tool")
    words = shape(doing) if kind == "tool" else ""
    return key_of(kind, tool.lower(), words, "" if words else agent or ""), key_of(kind, tool.lower(), agent or "")


def _after(word: str) -> str:
    """What came after a silence."""
    return {"went on": "went on", "resumed": "was taken up again"}.get(word, f"ended {word}")


def _end(state: State) -> str:
    """What became of one that met an error."""
    if state is State.COMPLETED:
        return "went on and completed"
    if state in ENDED_BADLY:
        return f"ended {state.value}"
    return f"is {state.value}" if state is State.IDLE else f"was {state.value}"
