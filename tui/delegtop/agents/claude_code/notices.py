"""What the program tells an agent about others, amid its conversation: tasks that are over, mates that left."""

import re
from collections.abc import Iterator
from textwrap import dedent

from msgspec import Struct

from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.dialects.kit.coerce import clip
from delegtop.dialects.kit.tags import enclosed, inside, tagged
from delegtop.model.events import Ending, Fault, Outcome, Report

_NOTICE = lazy_pattern("<(task-notification)>")
_TAG = lazy_pattern("<(task-id|tool-use-id|status|summary)>")
_RESULT, _AFTER_RESULT = "<result>", "</result>"
_DURATION = lazy_pattern(r"<duration_ms>(\d{1,12})</duration_ms>")
_MATE = lazy_pattern("<(teammate-message)([^>]{0,1000})>")
_AFTER_MATE = "</teammate-message>"
_MATE_ID = lazy_pattern(r'teammate_id="([^"]*)"')
_LEFT = lazy_pattern(r'"type"\s*:\s*"(shutdown_approved|teammate_terminated)"')
_AGENT_ID = lazy_pattern(r"^agentId: ([\w@.-]+)", re.MULTILINE)
_POLL = lazy_pattern("<(task_id|task_type|status)>")
_TRAILER = lazy_pattern(r"^agentId: \S+ \((?:internal|use).*", re.MULTILINE | re.DOTALL)
_NAMED = "agentId: "
_ADDED = (_NAMED, "<tools-used-before-summary>")
_FRAME = "The report follows:\n"
_MASKED = ("API Error",)

NOTICE = "<task-notification>"
INTERRUPTED = "[Request interrupted by user"
LOCAL = ("<local-command-stdout>", "<local-command-stderr>", "<bash-input>", "<bash-stdout>", "<bash-stderr>")
"""What a person did without the model."""
_LAUNCHED = ("Async agent launched", "Remote agent launched", "Workflow launched", "Spawned successfully")
_REFUSED = ("The user doesn't want to proceed", "User rejected tool use", "[Request interrupted by user")

_ENDS = {
    "completed": (Outcome.COMPLETED, Ending.RETURN),
    "failed": (Outcome.FAILED, Ending.RETURN),
    "killed": (Outcome.INTERRUPTED, Ending.CANCEL),
    "stopped": (Outcome.INTERRUPTED, Ending.CANCEL),
}


class TaskNotice(Struct, frozen=True):
    """A task came to an end."""

    task: str
    tool_use: str | None
    outcome: Outcome
    by: Ending
    report: Report
    mark: int
    """Tells one notice from another, by whatever carrier it came."""


def notices(text: str) -> Iterator[TaskNotice]:
    """The ends of tasks that a text tells of."""
    if NOTICE not in text:  # as in nearly all: a pattern takes ten times as long to say so
        return
    for _, body in enclosed(text, _NOTICE):
        before, begun, rest = body.partition(_RESULT)
        result, whole, _ = rest.rpartition(_AFTER_RESULT)
        tags = tagged(before if begun and whole else body, _TAG)
        said = ended(tags.get("status"), result if whole else None, tags.get("summary"), _duration(body))
        if said is not None and "task-id" in tags:
            yield TaskNotice(tags["task-id"], tags.get("tool-use-id"), *said, mark=hash(body))


def ended(
    status: str | None, text: str | None, summary: str | None = None, duration: int | None = None
) -> tuple[Outcome, Ending, Report] | None:
    """How a task ended by the word for it; None if it has not."""
    if status not in _ENDS:
        return None
    outcome, by = _ENDS[status]
    if outcome is Outcome.COMPLETED and is_masked(text):
        outcome = Outcome.FAILED
    said = text or summary
    faults = (Fault(message=cut(said)),) if outcome is Outcome.FAILED and said else ()
    return outcome, by, Report(status=status, summary=cut(text), errors=faults, duration=duration)


def is_masked(text: str | None) -> bool:
    """Whether an answer is in truth an error of the model's service."""
    return text is not None and text.lstrip().startswith(_MASKED)


def is_refused(text: str) -> bool:
    return text.lstrip().startswith(_REFUSED)


def is_launched(text: str) -> bool:
    return text.lstrip().startswith(_LAUNCHED)


def agent_id(text: str) -> str | None:
    """The id of the agent that a result names. It stands below the report, which may say anything."""
    found = _AGENT_ID.findall(text) if _NAMED in text else ()
    return found[-1] if found else None


def answer(said: list[str]) -> str:
    """The text an agent came back with, without what the program adds to it."""
    pieces = []
    for piece in said:
        _, frame, framed = piece.partition(_FRAME)
        if frame:
            pieces.append(dedent(_without_trailer(framed)))
        elif not piece.lstrip().startswith(_ADDED):
            pieces.append(_without_trailer(piece))
    return "\n".join(pieces).strip()


def _without_trailer(text: str) -> str:
    return _TRAILER.sub("", text) if _NAMED in text else text


def poll(text: str) -> dict[str, str]:
    """The state of a task, as a poll told it in words."""
    return {name: told for name, told in tagged(text[:2_000], _POLL).items() if "\n" not in told}


def mates_who_left(text: str) -> Iterator[str]:
    if _AFTER_MATE not in text:
        return
    for head, body in enclosed(text, _MATE):
        mate = _MATE_ID.search(head[2])
        if mate and _LEFT.search(body):
            yield mate[1]


def plain_prompt(text: str) -> str:
    """A prompt without what the program wraps around it."""
    bare = text.strip()
    mate = _MATE.match(bare)
    if mate and bare.endswith(_AFTER_MATE):
        return bare[mate.end() : -len(_AFTER_MATE)].strip()
    command = inside(text, "command-name")
    if command is not None:
        return f"{command} {inside(text, 'command-args') or ''}".strip()
    return text


def cut(text: str | None) -> str | None:
    """The text as far as it is kept."""
    return clip(text.strip()) if text else None


def _duration(body: str) -> int | None:
    found = _DURATION.search(body)
    return int(found[1]) if found else None
