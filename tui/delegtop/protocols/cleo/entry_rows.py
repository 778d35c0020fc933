"""What the formats of CLEO have in common: the entry a subagent leaves, and rows that hold others together."""

import re
from collections.abc import Iterator

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects.kit.coerce import refs_of
from delegtop.model import notes as kinds
from delegtop.model.events import (
    PROMPT,
    Artifact,
    Described,
    Ended,
    Ending,
    Event,
    Fault,
    Noted,
    Outcome,
    Report,
    Started,
)
from delegtop.protocols.cleo import PRODUCT
from delegtop.protocols.cleo.manifest_contract import COMPLETE_WORDS
from delegtop.protocols.cleo.manifest_entry import ManifestEntry

OUTPUT = "output"
"""The type of the artifact that is the entry's own output file."""
_OUTCOMES = {"partial": Outcome.PARTIAL, "blocked": Outcome.BLOCKED, "failed": Outcome.FAILED}


def outcome_of(status: str | None) -> Outcome:
    """How it ended, by the word of the entry; a word that tells nothing of it (archived, deferred) leaves it open."""
    word = (status or "").strip().lower()
    return Outcome.COMPLETED if word in COMPLETE_WORDS else _OUTCOMES.get(word, Outcome.UNKNOWN)


def entry_events(id: str, entry: ManifestEntry, at: Millis | None, origin: Origin) -> Iterator[Event]:
    """One subagent that came back: what it was about, under which rows it hangs, and how it ended."""
    parent = entry.parent or entry.epic
    for above, its_parent in _above(entry):
        parent = above
        yield from holder(above, origin, its_parent)
    yield Started(
        id,
        None,
        origin,
        agent=entry.agent,
        task=entry.task,
        parent=parent if parent != id else None,
        product=PRODUCT.name,
        refs=refs_of(
            task_id=entry.task, epic=entry.epic, wave=entry.wave, session_id=entry.session, commit=entry.commit
        ),
    )
    yield Described(id, at, origin, title=entry.title, name=entry.name)
    yield Ended(id, at, origin, outcome_of(entry.status), Ending.RETURN, _report(entry))


def entry_notes(entry: ManifestEntry, at: Millis | None) -> Iterator[tuple[str, str]]:
    """What there is to note of it, by kind; a text may be empty."""
    yield kinds.DAY, "" if at is not None else entry.day or ""
    yield kinds.FINDINGS, "\n".join(entry.key_findings)
    yield kinds.FOLLOWUP, "\n".join(entry.needs_followup)
    yield kinds.LINKED, "\n".join(entry.linked)
    yield kinds.CHANGED, "\n".join(entry.changed)


def noted(id: str, at: Millis | None, origin: Origin, kind: str, text: str) -> Noted:
    return Noted(id, at, origin, kind, text[:PROMPT])


def holder(id: str, origin: Origin, parent: str | None = None) -> Iterator[Event]:
    """A task, an epic or a wave: a row to hang others under. Nothing here tells whether it is done."""
    yield Started(id, None, origin, task=id, parent=parent, product=PRODUCT.name, listed=True)
    yield Ended(id, None, origin, Outcome.UNKNOWN, Ending.UNSEEN)


def _above(entry: ManifestEntry) -> Iterator[tuple[str, str | None]]:
    """The rows the entry hangs under, each with the one above it, from the top."""
    if entry.parent:
        yield entry.parent, entry.epic if entry.epic != entry.parent else None
        return
    if entry.epic:
        yield entry.epic, None
        if entry.wave:
            yield f"{entry.epic}/wave-{entry.wave}", entry.epic


def _report(entry: ManifestEntry) -> Report:
    """What is in the way comes before what was found: that is what somebody has to act on. A task is no reason."""
    stuck = outcome_of(entry.status) in _OUTCOMES.values()
    reasons = [item for item in entry.needs_followup if not re.fullmatch(r"T\d+", item)] if stuck else []
    return Report(
        errors=(Fault("; ".join(reasons)[:PROMPT]),) if reasons else (),
        status=entry.status,
        summary=(entry.summary or "\n".join(entry.key_findings))[:PROMPT] or None,
        artifacts=(Artifact(entry.file, OUTPUT),) if entry.file else (),
        next_steps="\n".join(entry.needs_followup)[:PROMPT] or None,
        agent=entry.agent,
    )
