"""The words of the file-based delegation system that grew out of the protocol documents.

Its agents leave their return in a file of the task's folder, under `specs/`. Its vocabulary is its own: `implemented`
instead of `completed`, and a return that says `in_progress` from the first minute on.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from delegtop.base.clock import DAY, MINUTE, SECOND, Millis
from delegtop.protocols.standard.contract.session_ids import Form, parse

STATUSES = ("in_progress", "researched", "planned", "implemented", "needs_research", "partial", "blocked", "failed")
"""The statuses its own standard knows."""
STOPS_WORK = frozenset({"completed", "done", "finished"})
"""Statuses that its standard forbids: on one of them the session takes all work for done, and stops before it has dealt
with the return."""

_MEANT = {
    "researched": "completed",
    "planned": "completed",
    "implemented": "completed",
    "revised": "completed",
    "done": "completed",
    "success": "completed",
    "finished": "completed",
    "tasks_created": "completed",
    "ready_for_postflight": "completed",
    "expanded": "completed",
    "error": "failed",
    "failure": "failed",
    "abandoned": "interrupted",
    "superseded": "interrupted",
    "cancelled": "interrupted",
    "paused": "interrupted",
    "on_hold": "blocked",
    "needs_research": "blocked",
}
_PLAIN = frozenset({"completed", "partial", "failed", "blocked", "timeout", "interrupted"})
_RUNNING = frozenset(
    {"in_progress", "implementing", "researching", "planning", "revising", "active", "running", "started"}
)
_SUCCEEDED = re.compile(r"(?:^|_)(?:done|completed|complete|ready|written|finished)$")
ASKS = frozenset({"awaiting_confirmation", "awaiting_user", "awaiting_review", "needs_confirmation"})
"""Statuses that wait for a person."""


def outcome(status: str | None) -> str | None:
    """The outcome the status amounts to; `running` if it says that the work goes on, None if nobody can tell."""
    word = (status or "").strip().lower().replace("-", "_").replace(" ", "_")
    if word in _PLAIN:
        return word
    if word in _RUNNING or word in ASKS:
        return "running"
    if word in _MEANT:
        return _MEANT[word]
    return "completed" if _SUCCEEDED.search(word) else None


OPERATIONS = ("research", "plan", "implement", "revise", "review", "spawn", "meta", "orchestrate")

_NAMED = (
    ("research", re.compile(r"research|findings|report")),
    ("plan", re.compile(r"\bplan(?:ner|ned|ning)?\b|plan")),
    ("implement", re.compile(r"implement")),
    ("revise", re.compile(r"revis")),
    ("spawn", re.compile(r"spawn|tasks_created")),
    ("meta", re.compile(r"\bmeta\b|meta-builder")),
    ("review", re.compile(r"review")),
)
UNNAMED = "work"
"""The operation of a delegation that names none."""


def operation(*names: str | None, path: Sequence[str] | None = None) -> str:
    """What kind of work it is: by the path's command, else by the first of the names that says so."""
    for name in (path or ())[1:]:
        if name.removeprefix("team-") in OPERATIONS and name != "orchestrate":
            return name.removeprefix("team-")
    for given in names:
        word = (given or "").lower().lstrip("/").removeprefix("team-")
        if word in OPERATIONS:
            return word
        for kind, pattern in _NAMED:
            if word and pattern.search(word):
                return kind
    return UNNAMED


NEXT_OPERATION = {"not_started": "research", "researched": "plan", "planned": "implement", "revised": "implement"}
"""What a task in this status is dispatched for next."""

USUAL = {
    "plan": 6 * MINUTE + 18 * SECOND,
    "research": 19 * MINUTE + 12 * SECOND,
    "implement": 43 * MINUTE + 12 * SECOND,
}
"""Nineteen of twenty of its delegations are done within this."""
MARKER_LIMIT = 60 * MINUTE
LOCK_LIMIT = 120 * MINUTE
SESSION_LIMIT = 240 * MINUTE
"""How old a marker, a lock and a session file may get before the system itself clears them away."""
STOPS = 3
"""How often the stop hook sends an agent back before it gives up."""


class Defect(NamedTuple):
    """One class of fault the system finds with itself."""

    meaning: str
    advice: str


_REPROMPT = "Give the same dispatch to the agent once more and ask only for the missing file."
DEFECTS = {
    "OFF_SCHEMA_STATUS": Defect("the return has a status nobody acts on", "Put the status right in the file."),
    "ARTIFACTS_SHAPE_MISMATCH": Defect(
        "the return lists its files in a shape without a path", "Rewrite each as an object with type, path and summary."
    ),
    "HANDOFF_MISLOCATED": Defect(
        "the handoff lies outside the task's folder",
        "Move it into the folder of the task, and name it by its full path.",
    ),
    "META_MISSING_AFTER_NARRATION": Defect("the agent told what it found and wrote no return", _REPROMPT),
    "ARTIFACTS_MISSING_ON_SUCCESS": Defect(
        "the return says it succeeded and the files are not there", "Look for the files before the next operation."
    ),
    "HANDOFF_STALE_OR_ABSENT": Defect("the handoff is missing or of an earlier dispatch", _REPROMPT),
    "SOURCE_STORE_BOUNDARY_VIOLATION": Defect(
        "it wrote outside the part of the tree it may write", "Look at the changes before they are committed."
    ),
    "TASK_REFERENCE_IN_DELIVERABLE": Defect("a deliverable names a task number", "Take the number out of the file."),
    "ARTIFACT_FORMAT_VIOLATION": Defect("a file it made lacks parts of its format", "Have the agent add them."),
    "STATE_SYNC_DIVERGENCE": Defect("the lists of tasks contradict each other", "Bring them in line, then go on."),
    "SESSION_LOCK_CONTENTION": Defect(
        "two sessions want the same task", "Let one finish; clear the lock only when its holder is gone."
    ),
    "HOOK_REGEX_BOUNDARY_DEFECT": Defect("a hook looked at the wrong command", "Check the hook's pattern."),
    "DEPLOY_ORPHAN_DRIFT": Defect("installed files no longer match their source", "Install the files anew."),
    "AMBIENT_BINDING_MISMATCH": Defect("it worked in another folder or session than its own", "Check where it wrote."),
}

_SHELL = re.compile(r"\$\(\s*\w|\$\{?[A-Za-z_]\w*\}?|`\s*date")


def is_shell_text(value: object) -> bool:
    """True for a field that holds the shell command or variable that should have been its value."""
    return isinstance(value, str) and _SHELL.search(value) is not None


_BELIEVED = 2 * DAY


def begun(session: str, near: Millis | None) -> Millis | None:
    """The second in a session id, if it is no more than two days from a moment that can be believed.

    A child's id repeats the second of its parent, so it says nothing of the child.
    """
    parts = parse(session)
    if parts is None or parts.form is not Form.EPOCH or parts.child is not None or near is None:
        return None
    return parts.at if abs(parts.at - near) <= _BELIEVED else None


def parent(session: str) -> str | None:
    """The session that handed out this one: a child adds the number of its task to the id."""
    parts = parse(session)
    return parts.parent if parts is not None and parts.child is not None and parts.child.isdecimal() else None


class TaskPlace(NamedTuple):
    """What the path of a file says."""

    task: str | None
    slug: str | None
    folder: str
    """The name of the task's folder, or of the one the file lies in."""


_FOLDER = re.compile(r"0*([0-9]{1,6})_([^/]+)")
_INNER = frozenset({"progress", ".lock", ".meta", ".dispatch", "handoffs", ".sessions", ".orchestration"})


def place(path: str) -> TaskPlace:
    """The task by the name of its folder; a copy whose name spells out its path is understood as well."""
    *folders, name = path.replace("\\", "/").split("/")
    if "__specs__" in name:
        folders += [part for part in name.split("__")[:-1] if part]
    for folder in reversed(folders):
        if (match := _FOLDER.fullmatch(folder)) is not None:
            return TaskPlace(match[1], match[2], folder)
        if folder == "specs":
            break
    outer = next((folder for folder in reversed(folders) if folder and folder not in _INNER), "")
    return TaskPlace(None, None, outer)


def family(path: str) -> str:
    """The folder of all tasks, so that its files are read together; a loose copy stands for itself."""
    parts = path.replace("\\", "/").split("/")
    if "__specs__" in parts[-1] or "__" in parts[-1].partition(".json")[0]:
        return path
    for index in range(len(parts) - 2, -1, -1):
        if parts[index] == "specs":
            return "/".join(parts[: index + 1])
    for index in range(len(parts) - 2, -1, -1):
        if _FOLDER.fullmatch(parts[index]):
            return "/".join(parts[:index])
    inner = len(parts) - 1
    while inner > 0 and parts[inner - 1] in _INNER:
        inner -= 1
    return "/".join(parts[:inner])
