"""Synthetic session logs: the mix, line lengths and trees of a busy machine, the same bytes for the same seed.

Starts are 24 % of the lines, heartbeats 53 %, returns 23 %; the one delegation in twenty-four that never returns is
what becomes overdue or lost. Texts differ from line to line, so nothing is cheaper to keep than it would be for real.
"""

import json
import random
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

LINES_A_DELEGATION = 100 / 24
STEP = 50
"""Milliseconds between two lines."""
_POOL = 509
_OPEN = 150
_AGENTS = (
    ("task-executor", "researcher", "planner"),
    ("implementer", "reviewer"),
    ("linter", "tester", "writer"),
    ("searcher",),
)
"""Who works on which level: agents hand work to few others, so paths repeat."""
_COMMANDS = ("implement", "research", "plan", "review")
_TOOLS = ("bash", "read", "edit", "grep", "web", "task")
_TEXT = (
    "the proof of the second lemma needs a stronger induction hypothesis build cache and module graph were checked "
    "against notes in specs before any file changed while tests for parser lexer and printer ran twice on both cores"
)
_WORDS = _TEXT.split()


def _prose(random: random.Random, size: int) -> str:
    words: list[str] = []
    while size > 0:
        words.append(random.choice(_WORDS))
        size -= len(words[-1]) + 1
    return " ".join(words)


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":")).replace("%", "%%")


def _contexts(random: random.Random) -> list[str]:
    return [
        _json({"title": _prose(random, 40), "description": _prose(random, random.randint(200, 800)), "focus": "–"})
        for _ in range(_POOL)
    ]


def _activities(random: random.Random) -> list[str]:
    return [_json(_prose(random, random.choice((170, 210, 260, 330, 520))))[:-1] for _ in range(_POOL)]


def _returns(random: random.Random) -> list[str]:
    found: list[str] = []
    for _ in range(_POOL):
        status = random.choices(("completed", "partial", "failed", "blocked"), (88, 5, 5, 2))[0]
        artifacts = [
            {"type": "report", "path": f"specs/%d/reports/{name}.md", "summary": _prose(random, 60)}
            for name in range(random.randint(0, 3))
        ]
        errors = [
            {"type": "execution", "message": _prose(random, 90), "code": "E_BUILD", "recoverable": True,
             "recommendation": _prose(random, 60)}
        ] if status in ("failed", "partial") else []  # fmt: skip
        body = {"status": status, "summary": _prose(random, random.randint(150, 600)) + " (%d)"}
        text = json.dumps(body | {"artifacts": artifacts, "errors": errors}, separators=(",", ":"))
        found.append(text[:-1])
    return found


def register(id: str, at: int, *, parent: str | None = None, agent: str = "implementer") -> str:
    """A short start line, for logs that only need a delegation in them."""
    above = "" if parent is None else f'"parent_session_id":"{parent}",'
    return (
        f'{{"event":"register","at":"{_iso(at)}","session_id":"{id}",{above}"subagent":"{agent}","timeout":7200,'
        f'"delegation_depth":1,"delegation_path":["orchestrator","{agent}"]}}\n'
    )


def heartbeat(id: str, at: int, activity: str) -> str:
    """A short sign of life."""
    return f'{{"event":"heartbeat","at":"{_iso(at)}","session_id":"{id}","activity":"{activity}"}}\n'


class _Open:
    """A delegation that has not ended."""

    __slots__ = ("agent", "command", "id", "level", "path", "tokens")

    def __init__(self, id: str, level: int, path: str, agent: str, command: str) -> None:
        self.id, self.level, self.path, self.agent, self.command = id, level, path, agent, command
        self.tokens = 0


class LogMaker:
    """Writes lines as a run would: work is handed out, shows signs of life and comes back."""

    def __init__(self, start: int, *, step: float = STEP, seed: int = 7) -> None:
        self._at: float = start
        self._step = step
        self.delegations = 0
        self._random = random.Random(seed)
        self._contexts = _contexts(self._random)
        self._activities = _activities(self._random)
        self._returns = _returns(self._random)
        self._open: list[_Open] = []
        self._n = 0

    @property
    def at(self) -> int:
        """The moment of the last line, in epoch milliseconds."""
        return int(self._at)

    def line(self) -> str:
        """The next line of the mix."""
        self._n += 1
        self._at += self._step
        draw = self._random.random()
        if draw < 0.24 or len(self._open) < 8:
            return self.start()
        if draw < 0.77:
            return self.heartbeat()
        return self.finish()

    def start(self, *, root: bool = False) -> str:
        choice = self._random
        parent = choice.choice(self._open) if self._open and not root and choice.random() > 0.06 else None
        if parent is not None and parent.level >= len(_AGENTS):
            parent = None
        self.delegations += 1
        id = f"sess_{self.at // 1000}_{self.delegations * 2654435761 % 2**32:08x}"
        task = 100 + self.delegations // 9 % 900
        if parent is None:
            command = choice.choice(_COMMANDS)
            born = _Open(id, 0, f'"orchestrator","{command}"', "", command)
            who = f'"command":"{command}","caller":"orchestrator"'
        else:
            agent = choice.choice(_AGENTS[parent.level])
            born = _Open(id, parent.level + 1, f'{parent.path},"{agent}"', agent, parent.command)
            who = (
                f'"parent_session_id":"{parent.id}","command":"{parent.command}","subagent":"{agent}",'
                f'"caller":"{parent.agent or "orchestrator"}"'
            )
        self._open.append(born)
        if len(self._open) > _OPEN:
            self._open.pop(0)  # this one is never heard of again
        seconds = choice.choice((300, 1800, 3600, 7200))
        context = self._contexts[self._n % _POOL]
        return (
            f'{{"schema_version":1,"event":"register","at":"{_iso(self.at)}","session_id":"{id}",{who},'
            f'"task_number":{task},"task_context":{context},"timeout":{seconds},'
            f'"deadline":"{_iso(self.at + seconds * 1000)}","delegation_depth":{born.level},'
            f'"delegation_path":[{born.path}]}}\n'
        )

    def heartbeat(self) -> str:
        one = self._random.choice(self._open)
        one.tokens += 731
        activity = self._activities[self._n % _POOL]
        return (
            f'{{"schema_version":1,"event":"heartbeat","at":"{_iso(self.at)}","session_id":"{one.id}",'
            f'"activity":"step {self._n}: {activity[1:]}","tool":"{_TOOLS[self._n % 6]}",'
            f'"tokens":{one.tokens}}}\n'
        )

    def finish(self) -> str:
        one = self._open.pop(self._random.randrange(len(self._open)))
        body = self._returns[self._n % _POOL].replace("%d", str(self._n))
        return (
            f'{{"schema_version":1,"event":"return","at":"{_iso(self.at)}","session_id":"{one.id}",'
            f'"return":{body},"metadata":{{"session_id":"{one.id}","duration_seconds":{self._n % 900},'
            f'"agent_type":"{one.agent or one.command}","delegation_depth":{one.level},'
            f'"delegation_path":[{one.path}]}}}}}}\n'
        )


def _iso(at: int) -> str:
    return f"{_seconds(at // 1000)}.{at % 1000:03d}Z"


@lru_cache(maxsize=64)
def _seconds(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def make_log(path: Path, delegations: int, ends_at: int, *, live: int = 0) -> int:
    """Write a log that ends at that moment (epoch ms) and say how many lines it has.

    The last `live` delegations are commands that have just begun.
    """
    maker = LogMaker(ends_at - int(delegations * LINES_A_DELEGATION * STEP))
    with path.open("w", buffering=1 << 20) as file:
        written = 0
        while maker.delegations < delegations - live:
            file.write(maker.line())
            written += 1
        for _ in range(live):
            file.write(maker.start(root=True))
            written += 1
    return written
