"""A home of Claude Code with a long history: hundreds of sessions, most of the bytes in what tools gave back."""

import json
import os
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

DAY = 86_400_000
AGENTS = 3
"""Sub-agents a session."""
_VERSION = "2.1.331"
_WORDS = ("the", "parser", "reads", "a", "token", "and", "keeps", "what", "cannot", "be", "placed", "until", "later")


def make_history(home: Path, sessions: int, size: int, now: int) -> int:
    """Fill the home with that many sessions of about `size` bytes each, the last one some days ago; their agents."""
    dice = random.Random(7)
    for number in range(sessions):
        project = home / "projects" / f"-srv-project-{number % 20:02d}"
        _session(project, _id(number), now - 3 * DAY - (sessions - number) * DAY // 10, size, dice)
    return sessions * AGENTS


def append_session(home: Path, number: int, now: int) -> None:
    """One more session, which begins now."""
    path = home / "projects" / "-srv-today" / f"{_id(number)}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_line(_Place(_id(number), None), now, _asked(f"NOWWORKING{number}")))


def _id(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-{number:012x}"


class _Place:
    """Whose transcript it is."""

    def __init__(self, session: str, agent: str | None) -> None:
        self.session, self.agent, self.lines = session, agent, 0


def _session(project: Path, session: str, at: int, size: int, dice: random.Random) -> None:
    main = _Place(session, None)
    agents = [f"a{session[:8]}{number:08x}" for number in range(AGENTS)]
    lines = [_line(main, at, _asked("Look at the parser and mend it"))]
    lines += _work(main, at, size // 2, dice)
    for number, agent in enumerate(agents):
        began = at + 600_000 + number * 300_000
        lines += _spawn(main, agent, began)
        _agent(project / session / "subagents", _Place(session, agent), began, size // 2 // AGENTS, dice)
    lines.append(_line(main, at + 2_000_000, _said({"type": "text", "text": "All done."}, "end_turn", 99_999)))
    _write(project / f"{session}.jsonl", lines, at + 2_000_000)


def _agent(folder: Path, place: _Place, at: int, size: int, dice: random.Random) -> None:
    lines = [_line(place, at + 100, _asked("Find out where tokens are lost"))]
    lines += _work(place, at + 200, size, dice)
    lines.append(_line(place, at + 200_000, _said({"type": "text", "text": "Nowhere."}, "end_turn", 77_777)))
    _write(folder / f"agent-{place.agent}.jsonl", lines, at + 200_000)
    about = {"agentType": "explorer", "description": "Find lost tokens", "toolUseId": f"toolu_{place.agent}"}
    _write(folder / f"agent-{place.agent}.meta.json", [json.dumps({**about, "spawnDepth": 1})], at)


def _work(place: _Place, at: int, size: int, dice: random.Random) -> Iterator[str]:
    written = number = 0
    while written < size:
        at, number = at + 900, number + 1
        call = f"toolu_{place.agent or 'm'}_{place.session[:8]}_{number}"
        use = {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": f"/srv/src/part_{number}.py"}}
        text = " ".join(dice.choices(_WORDS, k=dice.randint(200, 1_600)))
        result = {"type": "tool_result", "tool_use_id": call, "content": text}
        for line in (
            _line(place, at, _said(use, "tool_use", number)),
            _line(place, at + 400, {"type": "user", "message": {"role": "user", "content": [result]}}),
        ):
            written += len(line)
            yield line


def _spawn(place: _Place, agent: str, at: int) -> Iterator[str]:
    given = {"description": "Find lost tokens", "prompt": "Find out where tokens are lost", "subagent_type": "explorer"}
    call = f"toolu_{agent}"
    yield _line(place, at, _said({"type": "tool_use", "id": call, "name": "Agent", "input": given}, "tool_use", 1))
    back = {"type": "tool_result", "tool_use_id": call, "content": [{"type": "text", "text": "Nowhere."}]}
    told = {"status": "completed", "agentId": agent, "totalDurationMs": 200_000, "totalTokens": 77_777}
    message = {"role": "user", "content": [back]}
    yield _line(place, at + 200_100, {"type": "user", "message": message, "toolUseResult": told})


def _asked(text: str) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": text}}


def _said(content: dict[str, Any], stop: str, spent: int) -> dict[str, Any]:
    usage = {"input_tokens": spent, "output_tokens": 10}
    about = {"id": f"msg_{spent}", "type": "message", "role": "assistant", "model": "claude-opus-5-5"}
    return {"type": "assistant", "message": {**about, "content": [content], "stop_reason": stop, "usage": usage}}


def _line(place: _Place, at: int, more: dict[str, Any]) -> str:
    place.lines += 1
    uuid = f"{place.lines:08x}-{place.session[:4]}-4000-8000-{(place.agent or place.session)[-12:]}"
    moment = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    common = {"parentUuid": None, "isSidechain": place.agent is not None, "uuid": uuid, "timestamp": moment}
    common |= {"cwd": "/srv/project", "sessionId": place.session, "version": _VERSION, "userType": "external"}
    if place.agent is not None:
        common["agentId"] = place.agent
    return json.dumps({**common, **more}, separators=(",", ":")) + "\n"


def _write(path: Path, lines: list[str], at: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines))
    os.utime(path, (at / 1000, at / 1000))
