"""A hyper sub-agent's final message in a file: prose with one JSON block, or the block alone.

Nothing in it says when it was written, so its end has no moment. Only files that are named are looked at.
"""

from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import ClassVar

from delegtop.base.origin import Origin
from delegtop.dialects import About, Basis, Dialect, Sample, Unit
from delegtop.dialects.signature import Signature
from delegtop.model import notes as kinds
from delegtop.model.events import (
    PROMPT,
    Artifact,
    Ended,
    Ending,
    Event,
    Fault,
    Noted,
    Outcome,
    Report,
    Started,
)
from delegtop.protocols import protocol_drift as drifts
from delegtop.protocols.hyper import PRODUCT
from delegtop.protocols.hyper.outcomes import outcome_of
from delegtop.protocols.hyper.output_contract import (
    NO_BLOCK,
    Output,
    OutputBlock,
    blocks,
    is_output,
    is_return,
    place,
)
from delegtop.protocols.hyper.output_drift import drift_of
from delegtop.protocols.protocol_drift import Drift
from delegtop.sources.records import Line, Unreadable


class HyperOutput(Dialect):
    """Reads one agent output."""

    name: ClassVar[str] = "hyper-output"
    title: ClassVar[str] = "hyper agent output"
    product = PRODUCT
    surest: ClassVar[int] = 85
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((b"AGENT_OUTPUT_START",)),
        Signature((b'"artifacts"', b'"meta":')),
        Signature((b'"artifacts"', b'"next_steps":')),
    )
    about: ClassVar[About] = About(
        "hyper",
        "one answer in a text file",
        "how the agent says it ended, what blocks it",
        Basis.DOCUMENTED,
    )
    unit: ClassVar[Unit] = Unit.TEXT
    is_answer: ClassVar[bool] = True

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        head = sample.head
        if b"\0" in head or not (b"AGENT_OUTPUT_START" in head or b'"artifacts"' in head):
            return 0
        return max((_sureness(block) for block in blocks(head.decode("utf-8", "replace"))), default=0)

    def read(self, line: Line) -> Iterable[Event | Unreadable]:
        text = line.data.decode("utf-8-sig", "replace")
        found = blocks(text)
        if not found:
            yield from _without_block(text, line.origin)
            return
        fitting = [block for block in found if is_output(block.value)]
        block = (fitting or found)[-1]  # of several the last: it is the final message's
        before = text[: block.start]
        origin = Origin(line.origin.source, before.count("\n") + 1, len(before.encode("utf-8", "replace")))
        yield from _events(text, block, origin)


def _without_block(text: str, origin: Origin) -> Iterator[Event]:
    """An answer in mere words. Only a file that is said to be an answer is read as one."""
    id = f"agent-output@{PurePath(origin.source).name}"
    yield Started(id, None, origin, product=PRODUCT.name)
    yield Ended(id, None, origin, Outcome.UNKNOWN, Ending.RETURN, Report(summary=text.strip()[:PROMPT] or None))
    yield Noted(id, None, origin, drifts.NOTE, drifts.written([Drift(NO_BLOCK, "the answer has no block of JSON")]))


def _sureness(block: OutputBlock) -> int:
    if is_output(block.value):
        return 85 if block.marked else 70
    if not block.marked:
        return 0
    return 0 if is_return(block.value) else 50


def _events(text: str, block: OutputBlock, origin: Origin) -> Iterator[Event]:
    output = Output.of(block.value or {})
    drift = place(block) if block.value is None else [*place(block), *drift_of(block.value)]
    name = PurePath(origin.source).name
    id = f"{output.agent or 'agent-output'}@{name}"
    yield Started(id, None, origin, agent=output.agent, task=output.task, product=PRODUCT.name)
    yield Ended(id, None, origin, outcome_of(output.status), Ending.RETURN, _report(output, text, block))
    points = "\n".join(point for artifact in output.artifacts for point in artifact.key_points)
    for kind, told in (
        (kinds.FINDINGS, points),
        (kinds.BLOCKER, "\n".join(output.blockers)),
        (drifts.NOTE, drifts.written(drift)),
    ):
        yield Noted(id, None, origin, kind, told[:PROMPT])


def _report(output: Output, text: str, block: OutputBlock) -> Report:
    prose = f"{text[: block.start]}\n{text[block.end :]}".strip()
    error = output.error
    message = " ".join(part for part in (error.message, error.details) if part) if error else ""
    return Report(
        status=output.status,
        summary=prose[:PROMPT] or None,
        artifacts=tuple(Artifact(each.path, each.type, each.summary) for each in output.artifacts),
        errors=(Fault(message=message or None, code=error.code),) if error else (),
        next_steps="\n".join(output.next_steps)[:PROMPT] or None,
        agent=output.agent,
        duration=output.duration,
    )
