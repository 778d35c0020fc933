"""The model that stands in for real ones: it has an agent started, and never answers that agent."""

import json
import threading
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from tests.live.model_stand_in import AGAIN, LEAF, ROOT, ModelStandIn
from tests.patience import PATIENCE, until

SCHEMA = {
    "type": "object",
    "properties": {"description": {}, "prompt": {"type": "string"}, "subagent_type": {"type": "string"}},
    "required": ["description", "prompt", "subagent_type"],
}
TOOL = {"type": "function", "function": {"name": "task", "parameters": SCHEMA}}
PATHS = ("/v1/messages", "/v1/responses", "/v1/chat/completions", "/v1beta/models/m:generateContent")


@pytest.fixture
def model() -> Iterator[ModelStandIn]:
    made = ModelStandIn("general")
    yield made
    made.close()


def asks(*words: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": each} for each in words], "tools": [TOOL]}


def test_the_session_is_told_to_start_an_agent_as_its_tool_wants_it(model: ModelStandIn) -> None:
    said = model.answer(asks(f"{ROOT}: do it"))
    assert said is not None
    assert said.tool is not None
    assert said.input == {"description": "leaf", "prompt": f"{LEAF}: wait.", "subagent_type": "general"}


def test_the_agent_gets_no_answer_and_others_do(model: ModelStandIn) -> None:
    assert model.answer(asks(f"{LEAF}: wait.")) is None
    assert model.hung.is_set()
    for words in (["What is the title?"], [f"{ROOT}: do it", f"{LEAF}: wait.", f"{AGAIN}: {ROOT} goes on"]):
        said = model.answer(asks(*words))
        assert said is not None
        assert said.tool is None


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("stream", [False, True])
def test_it_answers_as_each_program_expects_it(model: ModelStandIn, path: str, stream: bool) -> None:
    for words, expected in ((f"{ROOT}: do it", LEAF), ("Hello", "All is done.")):
        assert expected in _sent(model, path, {**asks(words), "stream": stream})


def test_whoever_asks_for_the_agent_waits(model: ModelStandIn) -> None:
    asking = threading.Thread(target=_sent, args=(model, PATHS[2], asks(f"{LEAF}: wait.")), daemon=True)
    asking.start()
    until(model.hung.is_set, "the request")
    assert asking.is_alive()
    model.over.set()
    asking.join(PATIENCE)


def _sent(model: ModelStandIn, path: str, asked: dict[str, Any]) -> str:
    request = urllib.request.Request(f"{model.address}{path}", json.dumps(asked).encode())  # noqa: S310 (ours)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310 (ours)
        return bytes(answer.read()).decode()
