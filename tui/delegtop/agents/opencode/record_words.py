"""What OpenCode's records say, read from values that may be anything."""

import re
from typing import Any

from delegtop.base.text import cut
from delegtop.dialects.kit.coerce import clip, dollars, moment, obj
from delegtop.dialects.kit.tags import enclosed
from delegtop.dialects.kit.tokens import Charge
from delegtop.dialects.kit.tokens import charge_of as charge_to
from delegtop.model.events import Fault, Outcome

TASK = "task"
_ASKING = frozenset({"question", "plan_exit"})
"""Tools that wait until a person answers."""

_SUBAGENT = re.compile(r"\(@(?P<agent>[^()@]+) subagent\)\Z")
_UNNAMED = re.compile(r"(New|Child) session - \d{4}-\d\d-\d\dT")
_TASK = re.compile(
    r"<task\s{1,9}(?=[^>]{0,400}?\bid=\"(?P<id>[^\"]{1,400})\")(?=[^>]{0,400}?\bstate=\"(?P<state>\w{1,40})\")[^>]{0,900}>"
)
_RESULT = re.compile("<(task_result|task_error)>")
_ONGOING = frozenset({"tool-calls", "unknown"})
"""A message with one of these finishes is followed by another of the same turn."""
_CUT_SHORT = frozenset({"length", "content-filter"})
_TELLING = ("command", "filePath", "path", "pattern", "query", "url", "description", "prompt", "name")
_DOING = 200
_LINES = 20_000
"""Characters of an output that are searched for the mark of a task."""


def word(value: Any) -> str | None:
    """A text with something in it."""
    return value if isinstance(value, str) and value.strip() else None


def title_of(text: Any) -> tuple[str | None, str | None]:
    """The title, and the agent it names. One that stands in until the real one is found is none."""
    title = word(text)
    if title is None or _UNNAMED.match(title):
        return None, None
    named = _SUBAGENT.search(title.rstrip())
    return (title[: named.start()].rstrip() or None, named["agent"]) if named else (title, None)


def model_of(value: dict[str, Any]) -> str | None:
    """The model of a session or a message; both spell it in several ways."""
    model = value.get("model")
    return word(value.get("modelID")) or word(obj(model).get("modelID")) or word(obj(model).get("id"))


def tokens_of(value: Any) -> int:
    """The tokens of one account of use that were new, without those that were read from a cache."""
    use = obj(value)
    written = obj(use.get("cache")).get("write")
    counts = (use.get("input"), use.get("output"), use.get("reasoning"), written)
    return int(sum(_amount(count) for count in counts))


def charge_of(value: dict[str, Any]) -> Charge | None:
    """What a message used, by kind and model: what is read from a cache is no part of its input, nor what it thought of
    its output."""
    use = obj(value.get("tokens"))
    cache = obj(use.get("cache"))
    told = use.get("input"), use.get("output"), use.get("reasoning"), cache.get("read"), cache.get("write")
    into, out, thought, read, written = (int(_amount(each)) for each in told)
    return charge_to(model_of(value), (into, out + thought, read, written, 0))


def cost_of(value: Any) -> float:
    return dollars(value) or 0.0


def _amount(value: Any) -> float:
    is_one = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e15
    return float(value) if is_one else 0.0


def is_asking(tool: str) -> bool:
    return tool in _ASKING


def doing_of(state: dict[str, Any]) -> str | None:
    """What a tool is at work on, in a few words."""
    given = obj(state.get("input"))
    found = next((text for key in _TELLING if (text := word(given.get(key)))), None) or word(state.get("title"))
    return cut(found, _DOING) if found else None


def fault_of(error: Any) -> Fault | None:
    """The error of a message."""
    told = obj(error)
    name = word(told.get("name"))
    message = word(obj(told.get("data")).get("message")) or word(told.get("message"))
    if name is None and message is None:
        return None
    return Fault(message=clip(message) or name, type=name)


def end_of(value: dict[str, Any]) -> Outcome | None:
    """How an assistant's message ended its turn; None if the turn goes on."""
    if fault_of(value.get("error")):
        return Outcome.INTERRUPTED if obj(value["error"]).get("name") == "MessageAbortedError" else Outcome.FAILED
    finish = word(value.get("finish"))
    if moment(obj(value.get("time")).get("completed")) is None or finish in _ONGOING or is_compaction(value):
        return None
    if finish == "error":
        return Outcome.FAILED
    return Outcome.PARTIAL if finish in _CUT_SHORT else Outcome.COMPLETED


def is_compaction(value: dict[str, Any]) -> bool:
    """A summary of what went before, made to save room: work goes on after it."""
    return value.get("summary") is True or "compaction" in (value.get("mode"), value.get("agent"))


def is_interruption(state: dict[str, Any]) -> bool:
    error = word(state.get("error")) or ""
    cancelled = error.startswith(("Tool execution aborted", "Task cancelled"))
    return cancelled or obj(state.get("metadata")).get("interrupted") is True


def task_told(text: Any) -> tuple[str, str, str | None] | None:
    """The session, the state and the answer that a text tells of a task."""
    if not isinstance(text, str) or not (mark := _TASK.search(text, 0, _LINES)):
        return None
    return mark["id"], mark["state"], answer_in(text)


def answer_in(text: Any) -> str | None:
    """The answer inside a task's output."""
    if not isinstance(text, str):
        return None
    found = next(enclosed(text, _RESULT), None)
    return clip(found[1].strip()) if found else None
