"""Parley chats for delegtop: a file for each agent, a line for each thing said or done in it."""

from typing import Any, ClassVar

from delegtop.base.product import Basis, Product
from delegtop.dialects import Sample
from delegtop.dialects.kit.coerce import number, obj, objects, title, word
from delegtop.dialects.kit.conversation import ENDS, Chat
from delegtop.model.events import Outcome, Phase

PRODUCT = Product(name="parley", title="Parley", basis=Basis.DOCUMENTED, resume=("parley", "--resume"))


class Parley(Chat):
    name = "parley"
    title = "parley chat"
    product = PRODUCT
    phases: ClassVar[dict[str, Phase]] = {"delegate": Phase.CHILD, "ask_user": Phase.ANSWER}

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        return 90 if {"parley", "session"} <= next(objects(sample), {}).keys() else 0

    def tell(self, value: dict[str, Any]) -> None:
        if session := word(value.get("session")):  # the first line says whose file it is
            caller = word(value.get("called_by"))
            begun = self.conversation(session, is_child=caller is not None)
            begun.start(agent=word(value.get("role")), parent=caller, refs={"session_id": session})
        agent = self.conversations.get(self.origin.source)
        if agent is None:
            return
        text, call = word(value.get("text")), word(value.get("call"))
        match value.get("type"):
            case "prompt":
                agent.prompt(text)
            case "call":
                agent.call(call, word(value.get("tool")), obj(value.get("input")))
            case "approval":
                agent.permission(title(text))
            case "result":
                agent.result(call)
            case "answer":
                agent.use(number(value.get("tokens")) or 0, word(value.get("message")))
                agent.rest(title(text))
            case "end":
                agent.end(ENDS.get(str(value.get("status")), Outcome.UNKNOWN), text)
