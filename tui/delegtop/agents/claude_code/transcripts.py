"""What the records of a transcript mean for the agent that wrote them."""

from collections.abc import Callable

from delegtop.agents.claude_code import notices, spawns
from delegtop.agents.claude_code.agent_rows import AgentRow, Failure, UsedAside
from delegtop.agents.claude_code.pursuit import Pursuit
from delegtop.agents.claude_code.spawns import SpawnPlace
from delegtop.agents.claude_code.tools import LOOKS, OF_AGENTS, POLLS, SEND, Tool, tool
from delegtop.agents.claude_code.wire import (
    Attachment,
    ContentBlock,
    Message,
    TranscriptEntry,
    WireProgress,
    WireUsage,
    decode,
    string,
)
from delegtop.base.clock import MINUTE, Millis, parse_time
from delegtop.dialects.kit.tokens import charge_of
from delegtop.model.events import Described, Ended, Ending, Erred, Fault, Heard, Outcome, Phase, Report, Resumed

_IDLE, _MODEL = Phase.IDLE, Phase.MODEL  # to ask an enumeration for them costs as much as all else a result means
_GOES_ON = frozenset({"tool_use", "pause_turn"})
_MORE_COMES = 2 * MINUTE
"""Within that the next part of an answer comes: of 4,471 texts in the middle of one, in 1.0 to 2.1.114, it came within
1.3 seconds for half of them, within 22 for 99 of 100 and within 93 for all."""
_MADE_UP = "<synthetic>"
_TURN_OVER = frozenset({"stop_hook_summary", "turn_duration"})
_OWN_REQUESTS = ("sdk", "repl_main_thread", "agent:")
"""Where a request comes from that is the agent's own work, and not a title or a suggestion made on the side."""
_GOES_ON_AFTER = "max_output_tokens"
"""An error that the agent answers by itself, by going on."""
_REJECTED = "User rejected tool use"
_SHORT = 64
"""A structured result longer than this is not worth decoding for one phrase."""
_PASSING = frozenset({"rate_limit", "overloaded", "server_error"})
"""Errors of the model's service that pass."""


def user(here: SpawnPlace, entry: TranscriptEntry) -> bool:
    """Something was said to the agent: a prompt, the result of a tool, a notice."""
    message = entry.message
    content = None if message is None else message.content
    if isinstance(content, list):
        said, came_back = "", False
        for block in content:
            if block.type == "tool_result":
                came_back = True
                _result(here, block, entry)
            elif block.type == "text" and block.text:
                said = f"{said}\n{block.text}" if said else block.text
        if came_back and not said:
            here.who.turn_to(_IDLE if entry.tool_use_result and _is_rejected(entry) else _MODEL, here.at)
    else:
        said = content or ""
    if said:
        _said(here, said, entry)
    return True


def _is_rejected(entry: TranscriptEntry) -> bool:
    """Whether a person refused the tool and said nothing more: the agent stops and waits."""
    return len(entry.tool_use_result) < _SHORT and string(entry.tool_use_result) == _REJECTED


def _said(here: SpawnPlace, text: str, entry: TranscriptEntry) -> None:
    who = here.who
    if text.startswith(notices.INTERRUPTED):
        spawns.interrupted(here)
        return who.turn_to(Phase.IDLE, here.at)
    if text.startswith(notices.LOCAL):
        return who.turn_to(Phase.IDLE, here.at)
    spawns.noticed(here, text)
    spawns.left(here, text)
    if entry.is_meta:
        return None
    if who.rest is Phase.IDLE and who.began and not who.is_trunk and here.at is not None:
        who.say(Resumed(who.id, here.at, here.origin))
    who.turn_to(Phase.MODEL, here.at)
    who.open.clear()
    _did_else(here)
    if not entry.is_compact_summary and not text.startswith(notices.NOTICE):
        _prompted(here, notices.plain_prompt(text))
    return None


def _prompted(here: SpawnPlace, prompt: str) -> None:
    """The first prompt is what the whole session, or the agent, was asked to do."""
    who = here.who
    if who.has_prompt:
        return
    who.has_prompt = True
    if who.is_trunk:
        who.say(Described(who.id, here.at, here.origin, prompt=notices.cut(prompt)))
    else:
        here.family.prompted(who, prompt)


def _result(here: SpawnPlace, block: ContentBlock, entry: TranscriptEntry) -> None:
    id = block.tool_use_id
    if id is None:
        return
    used = here.who.come_back(id, here.at)
    row = here.family.row(id)
    if row is not None:
        spawns.result(here, row, block, entry.tool_use_result, entry.tool_denial_kind)
    elif used is not None and used.name in POLLS:
        spawns.polled(here, used, block, entry.tool_use_result)
    elif used is not None and used.name == SEND:
        spawns.answered(here, id, block)


def assistant(here: SpawnPlace, entry: TranscriptEntry) -> bool:
    """The model answered: with words, or with tools to be used."""
    who, message = here.who, entry.message
    if message is None:
        return False
    copied, id, usage = bool(entry.forked_from), message.id, message.usage
    # Each record of an answer repeats what it used: mostly that is nothing new.
    if usage is not None and id and not copied and (who.counted is None or (id, usage) != who.counted):
        _spent(here, id, usage, message.model)
    if not who.has_model and message.model and message.model != _MADE_UP:
        who.has_model = True
        who.say(Described(who.id, here.at, here.origin, model=message.model))
    if not copied:
        who.answer(id)
    content, has_text = message.content, False
    if isinstance(content, list):
        for block in content:
            kind = block.type
            if kind == "tool_use" and not copied:
                _used(here, block)
            elif kind == "text":
                has_text = True
    if entry.is_api_error_message:
        _failed(here, entry, message)
    else:
        reason = message.stop_reason
        # Old versions do not say whether an answer ends the turn; there a text without a tool does.
        goes_on = not (has_text or isinstance(content, str)) if reason is None else reason in _GOES_ON
        if goes_on:
            who.turn_to(_MODEL, here.at)
        else:
            _paused(here, reason)
    return True


def _spent(here: SpawnPlace, id: str, usage: WireUsage, model: str | None) -> None:
    """Count what an answer used so far."""
    who = here.who
    new, counts = usage.spent()
    charge = charge_of(model, counts, usage.speed)
    new = who.tokens.add(id, new, charge)
    who.counted = (id, usage) if charge is not None else None
    if who.compacts and new and here.at is not None:
        charges = () if who.tokens.added is None else (who.tokens.added,)
        here.family.compacted(who.session, UsedAside(here.at, new, charges), here.origin)


def _used(here: SpawnPlace, block: ContentBlock) -> None:
    """A tool is used."""
    id, name, who = block.id, block.name, here.who
    if not (id and name):
        return
    given = bytes(block.input)
    used = who.open[id] = tool(name, given, here.at)
    if name in OF_AGENTS:
        spawns.used(here, block, used)
    if not who.repeats.is_other(name, given):
        _called(here, given, used)


def _called(here: SpawnPlace, given: bytes, used: Tool) -> None:
    """Count calls that are made again and again."""
    who, doing, waits = here.who, used.asked.doing, used.name in LOOKS
    for note in who.repeats.called(who.id, here.at, here.origin, used.name, given, doing, waits=waits):
        who.say(note)


def _did_else(here: SpawnPlace) -> None:
    """Something else is done than what was called again and again."""
    who = here.who
    for note in who.repeats.over(who.id, here.at, here.origin):
        who.say(note)


def _paused(here: SpawnPlace, reason: str | None) -> None:
    """The answer ends the turn; where it does not say so, unless more of it comes soon."""
    who, at = here.who, here.at
    who.turn_to(_IDLE, Millis(at + _MORE_COMES) if reason is None and at is not None else at)
    _did_else(here)
    if reason is not None and not who.open:
        _turned(here, Outcome.COMPLETED)


def _failed(here: SpawnPlace, entry: TranscriptEntry, message: Message) -> None:
    """The model's service failed for good, and with it the turn."""
    who = here.who
    said = message.content if isinstance(message.content, str) else _words(message.content or [])
    kind = string(entry.error)
    who.turn_to(Phase.IDLE, here.at)
    who.open.clear()
    if kind == _GOES_ON_AFTER:
        return
    fault = Fault(message=notices.cut(said), type=kind or "api error", recoverable=True if kind in _PASSING else None)
    if who.is_trunk or here.at is None:
        who.say(Erred(who.id, here.at, here.origin, fault))
        return
    who.say(Ended(who.id, here.at, here.origin, Outcome.FAILED, Ending.ERROR, Report(errors=(fault,))))
    who.fail(Failure(here.at, here.origin, fault))
    _turned(here, Outcome.FAILED)


def _words(blocks: list[ContentBlock]) -> str:
    return "\n".join(block.text for block in blocks if block.text)


def _turned(here: SpawnPlace, outcome: Outcome) -> None:
    """A turn of a child is over; its sidecar says whether that was the last."""
    who = here.who
    if who.is_trunk:
        return
    who.turns.append((here.at, here.origin, outcome))
    if who.finished:
        who.say(Ended(who.id, here.at, here.origin, outcome, Ending.REGISTRY))


def system(here: SpawnPlace, entry: TranscriptEntry) -> None:
    """The program's own remarks."""
    who = here.who
    if entry.subtype == "api_error":
        count = f" {entry.retry_attempt} of {entry.max_retries}" if entry.retry_attempt and entry.max_retries else ""
        who.asked = max(who.asked, 1 + (entry.retry_attempt or 0))
        return who.hear(here.at, here.origin, f"API error, retry{count}")
    if entry.subtype in _TURN_OVER and not who.open:
        who.turn_to(Phase.IDLE, here.at)
    return who.hear(here.at, here.origin)


def request(here: SpawnPlace, entry: TranscriptEntry) -> None:
    """The model is asked, and has not answered yet; asked again, it waits for as long as it did before."""
    who = here.who
    if entry.query_source and entry.query_source.startswith(_OWN_REQUESTS):
        who.ask(here.at)
        who.hear(here.at, here.origin)


def queued(here: SpawnPlace, entry: TranscriptEntry) -> None:
    """A text waits for its turn: a notice stands here first."""
    spawns.noticed(here, string(entry.content))


def attached(here: SpawnPlace, entry: TranscriptEntry) -> None:
    attachment = decode(Attachment, entry.attachment)
    if attachment and attachment.prompt:
        spawns.noticed(here, attachment.prompt)


def progress(here: SpawnPlace, entry: TranscriptEntry) -> bool:
    """A sign of life from within a tool; that of an agent says which agent it is."""
    told = decode(WireProgress, entry.data)
    if told is None or told.type != "agent_progress":
        return told is not None and told.type == "bash_progress"
    row = here.family.row(entry.parent_tool_use_id) if entry.parent_tool_use_id else None
    if row is not None:
        if told.agent_id and here.family.link(here.who.session, told.agent_id, row):
            row.start((("agent_id", told.agent_id),))
        _progressed(here, row, told)
    return False


def _progressed(here: SpawnPlace, row: AgentRow, told: WireProgress) -> None:
    """What an agent does, told in its parent's file: all there is where its own is missing."""
    inner = told.message.message if told.message else None
    content = inner.content if inner and isinstance(inner.content, list) else []
    at = parse_time(told.message.timestamp) if told.message and told.message.timestamp else here.at
    now = row.progress = row.progress or Pursuit()
    now.turn_to(Phase.MODEL, at)
    if told.message and told.message.type == "assistant" and inner:
        now.answer(inner.id)
    for block in content:
        if block.type == "tool_use" and block.id and block.name:
            now.open[block.id] = tool(block.name, bytes(block.input), at)
        elif block.type == "tool_result" and block.tool_use_id:
            now.come_back(block.tool_use_id, at)
    row.say(now.told(row.id, at, here.origin, None, None))


def titled(here: SpawnPlace, entry: TranscriptEntry) -> None:
    """A name for the session. A person's word goes before the program's, so it counts from the start."""
    who = here.who
    if entry.custom_title:
        at: Millis | None = who.row.at if who.row else None
        who.say(Described(who.id, at, here.origin, title=notices.cut(entry.custom_title)))
    if entry.ai_title:
        who.say(Described(who.id, None, here.origin, title=notices.cut(entry.ai_title)))


def costed(here: SpawnPlace, entry: TranscriptEntry) -> None:
    """What the whole session has cost, its agents included: they have no account of their own."""
    if entry.total_cost is not None and entry.total_cost >= 0 and here.who.is_trunk and here.who.row:
        here.who.say(Heard(here.who.id, None, here.origin, cost=entry.total_cost, whole=True))


HEARD_APART = frozenset({system, request})
"""They say themselves that the agent was heard of, and with what."""
HANDLERS: dict[str | None, Callable[[SpawnPlace, TranscriptEntry], bool | None]] = {
    "user": user,
    "assistant": assistant,
    "system": system,
    "api-request": request,
    "queue-operation": queued,
    "attachment": attached,
    "progress": progress,
    "custom-title": titled,
    "ai-title": titled,
    "cost-state": costed,
}
"""What each record means; whether it is a sign of life besides, to be told when all else is."""
BEGINS = frozenset({"user", "assistant", "system", "api-request"})
"""The records of which the first says when a session began."""
