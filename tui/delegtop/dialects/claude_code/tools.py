"""What a tool is busy with, in one line."""

import msgspec
from msgspec import Raw, Struct

from delegtop.dialects.claude_code.wire import NOTHING, decode

_LINE = 200
SPAWNS = frozenset({"Task", "Agent"})
WORKFLOW = "Workflow"
POLLS = frozenset({"TaskOutput", "AgentOutputTool"})
SEND = "SendMessage"
LOOKS = POLLS | {"BashOutput", "Monitor"}
"""Tools that look how something in the background is coming on."""
_LEAVING = "shutdown_response"
ASKS = frozenset({"AskUserQuestion", "ExitPlanMode"})
"""Tools that are over only when a person has answered."""


class Question(Struct):
    """A question put to a person."""

    question: str | None = None


class Reply(Struct):
    """A mate's answer to the wish that it leave."""

    type: str | None = None
    approve: bool | None = None


class Input(Struct):
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


class Tool(Struct, frozen=True):
    """A tool whose result is still to come."""

    name: str
    doing: str | None
    given: Input

    @property
    def target(self) -> str | None:
        """The task or agent that it asks for or writes to."""
        given = self.given
        return given.task_id or given.agent_id or given.to or given.recipient

    @property
    def leaves(self) -> bool:
        """Whether a mate says with it that it leaves: in so many words, or in the message itself."""
        if self.name != SEND:
            return False
        said = decode(Reply, self.given.message) or Reply(self.given.type, self.given.approve)
        return said.type == _LEAVING and bool(said.approve)

    @property
    def asks(self) -> bool:
        return self.name in ASKS

    @property
    def waits_for_child(self) -> bool:
        return self.name in SPAWNS or self.name == WORKFLOW or (self.name in POLLS and self.given.block is not False)


def tool(name: str, raw: Raw) -> Tool:
    given = decode(Input, raw) or Input()
    return Tool(name, one_line(_about(given)), given)


def _about(given: Input) -> str | None:
    if given.pattern and given.path:
        return f"{given.pattern} in {given.path}"
    if given.questions:
        return given.questions[0].question
    words = (
        given.command,
        given.file_path,
        given.notebook_path,
        given.pattern,
        given.url,
        given.query,
        given.skill,
        given.task_id,
        given.agent_id,
        given.to,
        given.recipient,
        given.description,
        given.subject,
        given.path,
        given.name,
    )
    return next((word for word in words if word), None)


def one_line(text: str | None) -> str | None:
    """The text in one line of bounded length; None if there is none."""
    if not text:
        return None
    line = " ".join(text[: 4 * _LINE].split())
    return line if len(line) <= _LINE else line[: _LINE - 1] + "…"
