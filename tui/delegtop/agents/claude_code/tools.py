"""What a tool is busy with, in one line."""

import msgspec
from msgspec import Raw, Struct

from delegtop.agents.claude_code.wire import NOTHING, decode
from delegtop.base.clock import Millis
from delegtop.base.text import cut, folded
from delegtop.model.events import Phase

_LINE = 200
_KEPT = 32 * 1024
"""Bytes of an input that is kept until somebody asks what it says."""
SPAWNS = frozenset({"Task", "Agent"})
WORKFLOW = "Workflow"
POLLS = frozenset({"TaskOutput", "AgentOutputTool"})
SEND = "SendMessage"
OF_AGENTS = SPAWNS | POLLS | {WORKFLOW, SEND}
"""Tools that start an agent, ask for one or write to one."""
LOOKS = POLLS | {"BashOutput", "Monitor"}
"""Tools that look how something in the background is coming on."""
_LEAVING = "shutdown_response"
ASKS = frozenset({"AskUserQuestion", "ExitPlanMode"})
"""Tools that are over only when a person has answered."""


class Question(Struct, gc=False):
    """A question put to a person."""

    question: str | None = None


class Reply(Struct, gc=False):
    """A mate's answer to the wish that it leave."""

    type: str | None = None
    approve: bool | None = None


class Input(Struct, gc=False):
    """The words of a tool's input that say what it is about; tools have few of them each."""

    command: str | None = None
    file_path: str | None = None
    notebook_path: str | None = None
    pattern: str | None = None
    url: str | None = None
    query: str | None = None
    skill: str | None = None
    questions: list[Question] | None = None
    task_id: str | None = None
    agent_id: str | None = msgspec.field(default=None, name="agentId")
    to: str | None = None
    recipient: str | None = None
    description: str | None = None
    subject: str | None = None
    path: str | None = None
    name: str | None = None
    type: str | None = None
    approve: bool | None = None
    message: Raw = NOTHING
    block: bool | None = None
    timeout: float | None = None


class ToolRequest(Struct, frozen=True, gc=False):
    """What the input of a tool says."""

    doing: str | None
    phase: Phase = Phase.TOOL
    """What its agent is in the middle of meanwhile."""
    target: str | None = None
    """The task or agent that it asks for or writes to."""
    timeout: float | None = None
    """Milliseconds after which it is ended."""
    leaves: bool = False
    """Whether a mate says with it that it leaves."""


class Tool(Struct, gc=False):
    """A tool whose result is still to come."""

    name: str
    given: bytes | ToolRequest
    """Its input, which is read when somebody asks what it says: of most calls nobody does before they are over."""
    at: Millis | None = None
    """When it was called, or began."""

    @property
    def asked(self) -> ToolRequest:
        if isinstance(self.given, bytes):
            self.given = _asked(self.name, self.given)
        return self.given

    @property
    def doing(self) -> str | None:
        return self.asked.doing

    @property
    def phase(self) -> Phase:
        """What its agent is in the middle of meanwhile; of most tools that goes without reading."""
        return self.asked.phase if self.name in OF_AGENTS or self.name in ASKS else Phase.TOOL

    @property
    def due(self) -> Millis | None:
        """When it runs out of its time. Of one that waits for others that is no limit to them."""
        timeout = self.asked.timeout
        if self.at is None or not timeout or timeout < 0 or self.asked.phase is not Phase.TOOL:
            return None
        return Millis(self.at + int(timeout))


def tool(name: str, given: bytes, at: Millis | None = None) -> Tool:
    """A tool that is called now. A long input is not kept until somebody asks."""
    return Tool(name, given if len(given) <= _KEPT else _asked(name, given), at)


def _asked(name: str, raw: bytes) -> ToolRequest:
    given = decode(Input, raw) or Input()
    doing = one_line(_about(given))
    if name in OF_AGENTS:
        waits = name != SEND and (name not in POLLS or given.block is not False)
        target = given.task_id or given.agent_id or given.to or given.recipient
        return ToolRequest(doing, Phase.CHILD if waits else Phase.TOOL, target, given.timeout, _leaves(name, given))
    return ToolRequest(doing, Phase.ANSWER if name in ASKS else Phase.TOOL, timeout=given.timeout)


def _leaves(name: str, given: Input) -> bool:
    """Whether a mate leaves: it says so in so many words, or in the message itself."""
    if name != SEND:
        return False
    said = decode(Reply, given.message) or Reply(given.type, given.approve)
    return said.type == _LEAVING and bool(said.approve)


def _about(given: Input) -> str | None:
    if given.pattern and given.path:
        return f"{given.pattern} in {given.path}"
    if given.questions:
        return given.questions[0].question
    return (
        given.command
        or given.file_path
        or given.notebook_path
        or given.pattern
        or given.url
        or given.query
        or given.skill
        or given.task_id
        or given.agent_id
        or given.to
        or given.recipient
        or given.description
        or given.subject
        or given.path
        or given.name
    )


def one_line(text: str | None) -> str | None:
    """The text in one line of bounded length; None if there is none."""
    if not text:
        return None
    return cut(folded(text[: 4 * _LINE]), _LINE)
